"""Templates: what a model file with a `source` says, before the database is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lifagu.basics.arrays import Ints
from lifagu.graph.evidence import Observation
from lifagu.relational.domains import Domain
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import Source

# by relation the numbers of the constants, a row for each cell that nobody is to have observed
HiddenCells = Mapping[str, Ints]


@dataclass(frozen=True)
class Query:
    """One query as written, and where in which template it stands."""

    sql: str
    place: str


@dataclass(frozen=True)
class Learned:
    """A table counted in the rows of a query.

    columns: one per argument, in order; given: those that the frequencies are conditional on; by: a
    table for each combination of values of these; prior: what is added to each count, one number or
    one per state; min_support: how many complete records a table needs to be known. key: columns
    that say whose record it is, called as logical variables of the parfactor; none at all if the
    records are of nobody in the model, None if the template does not say.
    """

    query: Query
    columns: tuple[str, ...]
    given: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    prior: tuple[float, ...] = (1.0,)
    min_support: int = 1
    key: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RowParfactor:
    """A parfactor whose substitutions, or whose table, come from the database.

    rows: the query for the substitutions, None if there is one ground factor for every
    substitution; column: the column that holds each row's table; learned: the name of a learned
    table; neither if all rows have the parfactor's own; support: the column that says how many
    records stand behind each row's table.
    """

    place: str
    rows: Query | None
    column: str | None = None
    learned: str | None = None
    support: str | None = None


@dataclass(frozen=True)
class Asked:
    """What marginals are requested: of a name, of a relation, or of what a query lists."""

    name: str
    query: Query | None
    place: str


@dataclass(frozen=True)
class Template:
    """All of a template; `model` gives what needs no database, once the constants are known.

    place: the file; domains: those that are queried; parfactors: by number, those that need the
    database; tables: the literal ones, flat, for rows that name them; evidence: queries by
    relation; observed: by name.
    """

    place: str
    source: Source
    domains: Mapping[str, Query]
    tables: Mapping[str, tuple[float, ...]]
    learned: Mapping[str, Learned]
    parfactors: Mapping[int, RowParfactor]
    evidence: Mapping[str, Query]
    observed: Mapping[str, Observation]
    queries: tuple[Asked, ...]
    model: Callable[[Mapping[str, Domain]], ParfactorGraph]
