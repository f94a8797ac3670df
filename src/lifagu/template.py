"""Templates: what a model file with a `source` says, before the database is asked; and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lifagu.arrays import Ints, as_ids
from lifagu.domains import Domain
from lifagu.evidence import Observation
from lifagu.model import FactorGraph
from lifagu.names import ChosenNames
from lifagu.relational import ParfactorGraph


@dataclass(frozen=True)
class Source:
    """Where the data is: a path or URL as written, or files by the name of the table each is to be.

    folder: what relative paths are relative to. place: where in which template it stands, for errors.
    """

    address: str | Mapping[str, str]
    folder: str = "."
    place: str = "source"


@dataclass(frozen=True)
class Query:
    """One query as written, and where in which template it stands."""

    sql: str
    place: str


@dataclass(frozen=True)
class Learned:
    """A table counted in the rows of a query.

    columns: one per argument, in order; given: those that the frequencies are conditional on; by: a table for each
    combination of values of these; prior: what is added to each count, one number or one per state; min_support:
    how many complete records a table needs to be known.
    """

    query: Query
    columns: tuple[str, ...]
    given: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    prior: tuple[float, ...] = (1.0,)
    min_support: int = 1


@dataclass(frozen=True)
class RowParfactor:
    """A parfactor whose substitutions, or whose table, come from the database.

    rows: the query for the substitutions, None if there is one ground factor for every substitution; column: the
    column that holds each row's table; learned: the name of a learned table; neither if all rows have the
    parfactor's own.
    """

    place: str
    rows: Query | None
    column: str | None = None
    learned: str | None = None


@dataclass(frozen=True)
class Asked:
    """What marginals are requested: the variable of a name, all of a relation, or those that a query lists."""

    name: str
    query: Query | None
    place: str


@dataclass(frozen=True)
class Template:
    """All of a template. Whatever needs no database is in `model`, which gives the rest once the constants are known.

    place: the file; domains: those that are queried; parfactors: by number, those that need the database; tables: the
    literal ones, flat, for rows that name them; evidence: queries by relation; observed: by name.
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


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model with its own evidence and its own questions, read once.

    evidence: by name; that of a template is bound to its graph already, which `graph.evidence(…)` then gives at once.
    queries: names of the variables asked about; those of a template are made on demand. source: the database that a
    template was read from.
    """

    model: FactorGraph | ParfactorGraph
    evidence: Mapping[str, Observation]
    queries: Sequence[str] = ()
    source: Source | None = None

    def query_numbers(self) -> Ints:
        """The numbers of the variables asked about, in the graph of a template."""
        if isinstance(self.queries, ChosenNames):
            return self.queries.numbers
        assert isinstance(self.model, FactorGraph), "variables of relational models have no numbers"
        return as_ids([self.model.variable_names.number(name) for name in self.queries], "queries")
