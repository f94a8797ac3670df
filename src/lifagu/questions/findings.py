"""What filling a model finds: groups, who lent what, answers; the same in memory and by SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.cached import cached_property
from lifagu.basics.columns import (
    Column,
    Columns,
    Lists,
    ResultTable,
    name_column,
    texts,
    used_names,
)
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Framed, Shown
from lifagu.basics.inputs import LabelShares, LookedUp
from lifagu.basics.names import ChosenNames, Names
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NoAnswerError, Remedy, TooLargeError
from lifagu.filling.filled_by import by_cohorts, filled_in_words
from lifagu.filling.record import Record
from lifagu.filling.record_columns import RecordColumns, record_columns
from lifagu.filling.result import Transfer
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.graph.views import View
from lifagu.inference.answer import Convergence
from lifagu.inference.question_checks import TooLarge
from lifagu.likeness.tolerance_bound import Bound, Merging
from lifagu.questions.transfer_summary import Left, Lent, summary
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.key_columns import NO_KEYS, Keys, keys_of
from lifagu.relational.marginal_tables import LONG, MarginalTables
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.questions.told_table import ToldTable

MOST_GROUPS = 40  # of each sort that are described
MOST_MEMBERS = 8  # of each group that are named
# label → probability, and its limits if there are
Distribution = dict[str, tuple[float, float | None, float | None]]


@dataclass(frozen=True)
class Group:
    """One of many groups of "variables" or "factors": its size, and the first few members."""

    sort: str
    size: int
    members: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Frozen, Shown):
    """What looks alike: how many nodes of each sort, in how many groups, and the largest ones.

    largest: the largest groups of each sort, equal ones by their first member. within: which node
    is in which group; None where the work was done on an engine, which writes that into files.
    """

    variable_count: int
    variables: int
    factor_count: int
    factors: int
    largest: tuple[Group, ...]
    within: Colouring | None = None

    @classmethod
    def of(cls, graph: FactorGraph, colouring: Colouring) -> Groups:
        """The groups of a graph in memory; only what is described is named."""
        sorts = (
            ("variables", graph.variable_names, colouring.variable_colours),
            ("factors", graph.factor_names, colouring.factor_colours),
        )
        largest = tuple(group for each in sorts for group in _largest(*each))
        counts = [int(colours.max(initial=-1)) + 1 for _, _, colours in sorts]
        return cls(
            len(graph.variable_names),
            counts[0],
            len(graph.factor_names),
            counts[1],
            largest,
            colouring,
        )

    @property
    def colouring(self) -> Colouring:
        """Which node is in which group."""
        if self.within is None:
            raise ModelError(
                "on an engine, groups are not held in memory", remedy=Remedy.WRITE_GROUPS
            )
        return self.within

    def __repr__(self) -> str:
        variables, factors = (
            counted(self.variables, "variable group"),
            counted(self.factors, "factor group"),
        )
        return f"<Groups: {variables}, {factors}>"


def _largest(sort: str, names: Names, colours: Ints) -> list[Group]:
    sizes = np.bincount(colours)
    found = []
    for group in np.argsort(-sizes, kind="stable")[:MOST_GROUPS].tolist():
        first = np.flatnonzero(colours == group)[:MOST_MEMBERS]
        found.append(Group(sort, int(sizes[group]), tuple(names.of_nodes(first))))
    return found


@dataclass(frozen=True, eq=False, repr=False)
class Lift(Frozen, Shown):
    """What was unknown in a model, what was lent by whom, and what looks alike then.

    transfer: a record for each unknown factor; on an engine one factor stands for all that are
    treated alike, factor f for sizes[f] of them. way: how competing tables are used, as in
    `Filling.combine`. coloured: what looks alike, where somebody looked. evidence: what was
    observed, bound to the transfer's graph; None on an engine.
    """

    transfer: Transfer
    sizes: Ints
    way: str
    coloured: Groups | None
    evidence: Evidence | None

    @cached_property
    def groups(self) -> Groups:
        """What looks alike in the completed graph."""
        if self.coloured is not None:
            return self.coloured
        from lifagu.symmetry.colour import colour

        moved = self.transfer
        return Groups.of(moved.shown, colour(moved.graph, self.evidence, **moved.start))

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return int(self.sizes[self.transfer.unknown].sum())

    @property
    def filled(self) -> int:
        """How many of them got one."""
        return int(self.sizes[self.transfer.transferred].sum())

    @property
    def how_filled(self) -> str:
        """How many were filled in which way, in words; empty where the rule is another one."""
        moved = self.transfer
        if not self.filled or not moved.filling.uses_cohorts:
            return ""
        cohorts = by_cohorts(moved, moved.transferred)
        return filled_in_words(self.filled, cohorts, moved.way)

    @property
    def lent(self) -> tuple[Lent, ...]:
        """Who lent what to whom, one entry for what is alike."""
        return self._summary[0]

    @property
    def left(self) -> tuple[Left, ...]:
        """What stays unknown and why, one entry for what is alike."""
        return self._summary[1]

    @cached_property
    def _summary(self) -> tuple[tuple[Lent, ...], tuple[Left, ...]]:
        return summary(self.transfer, self.sizes)

    @cached_property
    def posteriors(self) -> Floats:
        """How likely the table of each unknown factor is once observations count; nan if unknown.

        Where cohorts fill holes and answers sum over them; computed for all when first asked for.
        """
        if not self.is_in_memory:
            return np.full(len(self.transfer.unknown), np.nan)
        from lifagu.questions.table_posteriors import table_posteriors

        return table_posteriors(self.transfer, self.evidence)

    @property
    def record(self) -> View[Record]:
        """Why, for each unknown factor in input order, with how likely its table is now."""
        return View(len(self.transfer.unknown), self._record)

    def _record(self, number: int) -> Record:
        posterior = float(self.posteriors[number])
        known = None if np.isnan(posterior) else posterior
        return replace(self.transfer.record[number], posterior=known)

    def most_told(self, most: int = 3) -> list[ToldTable]:
        """What observations say about holes, where they say most: one hole of each individual.

        Parameters
        ----------
        most : int
            How many at most.

        Returns
        -------
        list of ToldTable
        """
        from lifagu.questions.told_by_evidence import most_told

        return most_told(self.transfer, self.posteriors, self.evidence, most)

    @property
    def is_in_memory(self) -> bool:
        """Whether the whole model is in memory, so that it can be looked at factor by factor."""
        return self.evidence is not None

    @cached_property
    def model(self) -> ParfactorGraph:
        """The lifted model: what looks alike said once."""
        if not self.is_in_memory:
            raise ModelError("on an engine, no lifted model is made", remedy=Remedy.WRITE_GROUPS)
        from lifagu.symmetry.lifting import lift

        return lift(self.transfer)

    @property
    def merging(self) -> Merging | None:
        """How tables were compared; None where that was done exactly."""
        equality = self.transfer.equality
        return None if equality == "exactly" else Merging(equality, self.bound)

    @property
    def bound(self) -> Bound | None:
        """How far answers can be off because tables were merged; None if none were, or unknown."""
        return self.transfer.bound(self.evidence) if self.way == "best" else None

    def __repr__(self) -> str:
        left = self.unknown - self.filled
        filled = f"{counted(self.filled, 'factor')} filled, {left} left unknown"
        return f"<{type(self).__name__}: {filled}{self._more}>"

    @property
    def _more(self) -> str:
        return f", {counted(self.groups.variables, 'variable group')}"


@dataclass(frozen=True, eq=False, repr=False)
class Requested(Framed, Frozen, Shown, LookedUp[str, dict[str, float]]):
    """The answers to n questions about single variables, and those without an answer.

    names: in the order asked; distributions[of[i]] is the answer to question i, label →
    (probability, lower, upper), the limits being None where they were not asked for. lent[n]: how
    many lent tables the answer rests on, weakest[n]: the smallest share of agreement among them,
    nan if there are none; own[n], own_weakest[n]: the same of those among them that were lent to
    the individual that the variable belongs to (to its own factors, where it belongs to none).
    guesses[n]: how many of all are winning tables that are hardly better than a guess.
    unanswered: variables connected to factors that stay unknown. convergence: of belief
    propagation, if that answered. too_large: those in connected parts that do not fit, part by part
    with the estimate. about: who each question is about, by column.
    """

    names: Names
    of: Ints
    distributions: tuple[Distribution, ...]
    own: Ints
    own_weakest: Floats
    lent: Ints
    weakest: Floats
    guesses: Ints
    unanswered: Names
    convergence: Convergence | None = None
    too_large: tuple[TooLarge, ...] = ()
    about: Keys = NO_KEYS

    @classmethod
    def plain(
        cls,
        names: Names,
        of: Ints,
        distributions: Sequence[Distribution],
        unanswered: Names,
        convergence: Convergence | None = None,
        too_large: tuple[TooLarge, ...] = (),
        about: Keys = NO_KEYS,
    ) -> Requested:
        """Answers that rest on nothing that was lent."""
        none, nothing = np.zeros(len(of), dtype=np.int64), np.full(len(of), np.nan)
        lent = none, nothing, none, nothing, none
        more = unanswered, convergence, too_large, about
        return cls(names, of, tuple(distributions), *lent, *more)

    def taken(self, places: Ints) -> Requested:
        """The answers to some of the questions, in another order."""
        names: Names = ChosenNames(self.names, places)
        columns = ("of", "own", "own_weakest", "lent", "weakest", "guesses")
        taken = {each: getattr(self, each)[places] for each in columns}
        return replace(self, names=names, about=self.about.taken(places), **taken)

    def certain(self) -> Requested:
        """The same with limits, where nothing competes: these are the probabilities themselves."""
        limited: list[Distribution] = [
            {label: (share, share, share) for label, (share, _, _) in each.items()}
            for each in self.distributions
        ]
        return replace(self, distributions=tuple(limited))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        left = len(self.left_out)
        without = f", {left} left out" if left else ""
        return f"<Requested: {counted(len(self), 'marginal')}{without}>"

    def __getitem__(self, name: str) -> dict[str, float]:
        """The marginal of a variable: label → probability."""
        place = self.names.find(name)
        if place is not None:
            answer = self.distributions[int(self.of[place])]
            return LabelShares((label, share) for label, (share, _, _) in answer.items())
        if self.unanswered.find(name) is not None:
            raise NoAnswerError(
                f"P({name}) has no answer: factors that stay unknown are connected to it"
            )
        for part in self.too_large:
            if name in part.variables:
                raise TooLargeError(f"P({name}) {part.estimate}", remedy=part.remedy)
        raise ModelError(f"nobody asked about '{name}'; name it among the queries")

    @property
    def left_out(self) -> list[str]:
        """The variables without an answer, for one reason or the other."""
        return [*self.unanswered, *(name for part in self.too_large for name in part.variables)]

    def columns(self) -> Columns:
        """One row per question and label; lower and upper only where they were asked for."""
        return self.tables()[LONG]

    def tables(self) -> dict[str, Columns]:
        """The same, and beside it a table for each relation with a row for each individual."""
        found = self._by_label(0)
        rows, columns = found.rows, found.long()
        for place, title in ((1, "lower"), (2, "upper")):
            if any(cell[place] is not None for one in self.distributions for cell in one.values()):
                columns[title] = self._by_label(place).long()["probability"]
        columns |= {"own_transferred": self.own[rows], "own_weakest_share": self.own_weakest[rows]}
        columns |= {"transferred": self.lent[rows], "weakest_share": self.weakest[rows]}
        columns |= {"guesses": self.guesses[rows]}
        return {LONG: ResultTable(columns), **found.wide()}

    def _by_label(self, place: int) -> MarginalTables:
        """The probabilities, or their lower or upper limits, nan where there is none."""
        chosen = [
            {label: _number(cell[place]) for label, cell in one.items()}
            for one in self.distributions
        ]
        names = name_column(self.names, np.arange(len(self)))
        return MarginalTables(names, self.about, self.of, chosen)


def _about(graph: FactorGraph, factors: Ints, columns: Mapping[str, Column]) -> Columns:
    """Columns about factors, with those that say of which parfactor and about whom each is."""
    fixed = ("factor", "parfactor", "donor", "arguments", "potentials")
    records = tuple(field.name for field in fields(RecordColumns))
    keys = keys_of(graph.factor_names, factors, "parfactor", (*fixed, *records))
    return ResultTable({"factor": columns["factor"], **keys.columns, **columns})


def _number(value: float | None) -> float:
    return np.nan if value is None else value


@dataclass(frozen=True, eq=False, repr=False)
class Imputed(Lift):
    """The same with the marginals that were asked for, given the evidence.

    offered: how many variables could have been asked about where nobody said which, else None.
    """

    marginals: Requested
    offered: int | None

    def tables(self) -> dict[str, Columns]:
        """Everything by column, ready to be written: `transfers`, `tables` and `marginals`.

        Rows are known by names, and by relation and constants as the database has them; they come
        in the order of the model, so that what did not change stays as it was. Beside `marginals`
        there is a table ``wide_…`` for each relation that was asked about.
        """
        if not self.is_in_memory:
            raise ModelError(
                "on an engine, tables are not held in memory", remedy=Remedy.WRITE_GROUPS
            )
        return {"transfers": self._transfers(), "tables": self._tables(), **self.marginals.tables()}

    def _transfers(self) -> Columns:
        """One row per unknown factor: status, donor, share and reason; factors by name."""
        moved = self.transfer
        records = record_columns(moved, self.posteriors).by_name(moved.original.factor_names)
        return _about(moved.original, moved.original.unknown, records)

    def _tables(self) -> Columns:
        """One row per filled factor: its arguments in the order of its table, and potentials."""
        moved = self.transfer
        graph = moved.graph
        arguments, ends = taken_lists(graph.offsets, graph.arguments, moved.transferred)
        tables, table_of = declared_tables(graph)
        lengths = np.array([len(each) for each in tables], dtype=np.int64)
        potentials = np.concatenate(tables) if tables else np.zeros(0)
        columns: dict[str, Column] = {
            "factor": name_column(graph.factor_names, moved.transferred),
            "arguments": Lists(
                np.concatenate(([0], ends - graph.offsets[-1])),
                texts(*used_names(graph.variable_names, arguments)),
            ),
            "potentials": Lists(offsets_of(lengths), potentials, table_of[moved.transferred]),
        }
        return _about(graph, moved.transferred, columns)

    @property
    def _more(self) -> str:
        return f", {counted(len(self.marginals), 'marginal')}"
