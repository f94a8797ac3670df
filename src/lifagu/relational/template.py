"""Templates: what a model file with a `source` says, before the database is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifagu.basics.arrays import Ints
from lifagu.graph.evidence import Observation
from lifagu.graph.ranges import Labels
from lifagu.relational.domains import Domain
from lifagu.relational.parameters import ParameterValue
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import Source

# by relation the numbers of the constants, a row for each cell that nobody is to have observed
HiddenCells = Mapping[str, Ints]


@dataclass(frozen=True)
class Query:
    """One query as written, and where in which template it stands; values: of its parameters."""

    sql: str
    place: str
    values: tuple[tuple[str, ParameterValue], ...] = ()


@dataclass(frozen=True)
class Counted:
    """A table to be learned that is counted, where records are complete.

    records: the query that gives them, a column for each argument first; None if they are the rows
    of the parfactor, as observed; by: columns whose groups have tables of their own; given: the
    arguments it is conditional on, by place; prior: what is added to each count, one number or one
    per state; min_support: how many records a table needs to be known, each group counted for
    itself; None if groups are drawn to what they have in common, level by level.
    """

    records: Query | None
    by: tuple[str, ...] = ()
    given: tuple[int, ...] = ()
    prior: tuple[float, ...] = (1.0,)
    min_support: int | None = None

    @property
    def is_pooled(self) -> bool:
        """Whether tables of groups are drawn together."""
        return bool(self.by) and self.min_support is None


@dataclass(frozen=True)
class ToLearn:
    """A table to be learned from evidence.

    by: columns of rows, from coarse to fine, whose groups have tables of their own; given: the
    arguments it is conditional on, by place.
    """

    by: tuple[str, ...] = ()
    given: tuple[int, ...] = ()


@dataclass(frozen=True)
class TableOfGroup:
    """A literal table of one group; key: values of the first of the columns that tell groups."""

    key: tuple[str, ...]
    table: tuple[float, ...]
    support: tuple[float, ...] | None = None


@dataclass(frozen=True)
class GroupedTables:
    """Literal tables by group: a row has that of the finest of its groups that is listed.

    by: columns of rows, from coarse to fine; common: of rows in no listed group, None if unknown;
    file: where the groups are listed instead, a Parquet file; place: where this stands.
    conditions: arguments, by place, that tables tell from and not about; each has one more label
    there, the last, which stands for not having been observed.
    """

    place: str
    by: tuple[str, ...]
    common: TableOfGroup | None
    groups: tuple[TableOfGroup, ...] = ()
    file: Path | None = None
    conditions: tuple[int, ...] = ()


@dataclass(frozen=True)
class RangeToFind:
    """A range that the data decides on: bins of about equally many numbers, or labels by a query.

    relations: those that have it, whose evidence the bins come from, and the domains of each.
    within: the edges of bins that each are parted into so many, or where their range stands; then
    relations are those that have these; labels: the finer ones, where the file says them.
    """

    place: str
    relations: Mapping[str, tuple[str, ...]]
    bins: int = 0
    query: Query | None = None
    within: Sequence[float] | str | None = None
    labels: Labels | None = None


@dataclass(frozen=True)
class RowParfactor:
    """A parfactor whose substitutions, or whose table, come from the database.

    rows: the query for the substitutions, None if there is one ground factor for every
    substitution; column: the column that holds each row's table, None if all rows have the
    parfactor's own; support: the column that says how many records stand behind each row's table;
    learn: how its table is learned from evidence; counted: how it is counted; grouped: literal
    tables by group; is_within: whether it says in which bin each finer one lies.
    """

    place: str
    rows: Query | None
    column: str | None = None
    support: str | None = None
    learn: ToLearn | None = None
    counted: Counted | None = None
    grouped: GroupedTables | None = None
    is_within: bool = False

    @property
    def is_literal(self) -> bool:
        """Whether the file has its table, one for all rows."""
        return not (self.column or self.learn or self.counted or self.grouped or self.is_within)

    @property
    def by(self) -> tuple[str, ...]:
        """The columns of rows that tell groups."""
        found = self.learn or self.counted or self.grouped
        return found.by if found else ()

    @property
    def counts_evidence(self) -> bool:
        """Whether its table is counted in what was observed."""
        return self.counted is not None and self.counted.records is None

    @property
    def is_told_later(self) -> bool:
        """Whether tables are known only once evidence is: learned, or with conditions."""
        has_conditions = bool(self.grouped and self.grouped.conditions)
        return self.learn is not None or self.counts_evidence or has_conditions


@dataclass(frozen=True)
class Drafted:
    """How a template was drafted: with which settings, by which version of lifagu.

    is_unedited: whether it still means what it meant then.
    """

    settings: Mapping[str, Any]
    version: str
    is_unedited: bool


@dataclass(frozen=True)
class Asked:
    """What marginals are requested: of a name, of a relation, or of what a query lists."""

    name: str
    query: Query | None
    place: str


@dataclass(frozen=True)
class Template:
    """All of a template; `model` gives what needs no database, once constants and ranges are known.

    place: the file; source: None where it reads no database; domains: those that are queried;
    given_domains: the others; parfactors: by number, those that need the database or are learned;
    tables: the literal ones, flat, for rows that name them; evidence: queries by relation;
    observed: by name; ranges: those to be found, by where they stand; cohorts: relations that
    nobody observes; warnings: what a user should know about the file, a line each; text: all of it;
    finer: by relation in finer bins the one whose numbers it has; parameters: the values of those
    that queries name;
    were_learned: parfactors whose literal tables were learned, from data like this or from this;
    drafted: how it was drafted, None if it does not say.
    """

    place: str
    text: str
    source: Source | None
    domains: Mapping[str, Query]
    given_domains: Mapping[str, Domain]
    tables: Mapping[str, tuple[float, ...]]
    parfactors: Mapping[int, RowParfactor]
    evidence: Mapping[str, Query]
    observed: Mapping[str, Observation]
    queries: tuple[Asked, ...]
    ranges: Mapping[str, RangeToFind]
    cohorts: frozenset[str]
    finer: Mapping[str, str]
    warnings: tuple[str, ...]
    were_learned: tuple[str, ...]
    parameters: Mapping[str, ParameterValue]
    drafted: Drafted | None
    model: Callable[[Mapping[str, Domain], Mapping[str, Labels]], ParfactorGraph]

    @property
    def has_quantiles(self) -> bool:
        """Whether some bins come from the data."""
        return any(each.bins for each in self.ranges.values())
