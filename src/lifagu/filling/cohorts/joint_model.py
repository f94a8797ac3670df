"""The joint model of cohorts, tables and variables, in which a hole is hidden, not chosen.

Every individual has a hidden cohort and, given the cohort, each of its holes a hidden table. Both
become variables of a larger graph: a hole has its table as first argument, a factor between both
says how likely each table is in each cohort, and single factors say how likely each cohort is.
Estimated known factors have their owner's cohort as first argument, with the table to be expected
behind the estimate in each. Who has one open factor alone needs no cohort: it is summed out. So an
engine that knows nothing of cohorts answers, and what was observed of an individual tells which
cohort it is in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, frozen, offsets_of
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.names import JoinedNames, Names, NumberedNames
from lifagu.filling.cohorts.draft import GraphDraft
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices, hidden_cohorts
from lifagu.filling.cohorts.hidden_names import with_hidden_names
from lifagu.filling.cohorts.hidden_tables import HiddenTables
from lifagu.filling.cohorts.posterior import CohortPosterior
from lifagu.graph.assembly import scopes_of
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Ranges
from lifagu.graph.tables import GivenTables, intern_tables

_Made = TypeVar("_Made")


class Weights(NamedTuple):
    """Factors about hidden choices: of row i about choices[i] (f, k) tables[table_of[i]]."""

    choices: Ints
    tables: Floats
    table_of: Ints


@dataclass(frozen=True, eq=False)
class JointModel(Frozen):
    """A graph with hidden variables, and what they are about.

    graph: variables and factors of the model come first, numbered as there; then a variable and a
    factor of its own for the cohort of each individual in `cohorts` and the table of each hole in
    `tables`; then factors between both.
    prior: the potentials of these single factors, cohorts first, flat.
    opened: for each factor of the model its hidden variable, by its place among them, -1 for none;
    holes in which one table is hidden (`CohortPlace.steady`) have the same.
    owners: whose each factor is, as a number of an individual; first_factor: the first single one.
    single: once weighed, the choices (by their place among all) of which only each table by itself,
    or with its cohort, is as likely as it should be, and not all of them jointly, and how far that
    is off at most (gap); left: choices that are not weighed, as that takes too much memory.
    """

    graph: FactorGraph
    cohorts: HiddenChoices
    tables: HiddenChoices
    prior: Floats
    opened: Ints
    owners: Ints
    first_factor: int
    single: tuple[int, ...] = ()
    gap: float = 0.0
    left: tuple[int, ...] = ()

    @cached_property
    def hidden(self) -> HiddenChoices:
        """Cohorts and tables, in the order of their variables."""
        return HiddenChoices.joined([self.cohorts, self.tables])

    @property
    def first_variable(self) -> int:
        """The number of the first hidden variable."""
        return len(self.graph.variable_names) - len(self.hidden)

    @cached_property
    def between(self) -> Ints:
        """The factor that says how likely each table is by cohort, by its place in `tables`.

        -1 for tables whose owner has no hidden cohort.
        """
        graph, first = self.graph, self.first_factor + len(self.hidden)
        found = np.full(len(self.tables), -1, dtype=np.int64)
        factors = np.arange(first, len(graph.factor_names))
        table = graph.arguments[graph.offsets[factors] + 1] - self.first_variable
        found[table - len(self.cohorts)] = factors
        return found

    def weighed(self, prior: Floats, more: Sequence[Weights]) -> JointModel:
        """The same with other potentials of cohorts and tables, and further factors about them."""
        graph, tables = self.graph, self.graph.tables
        sizes = [np.diff(tables.offsets), self.hidden.sizes]
        sizes += [np.full(len(each.tables), each.tables[0].size) for each in more]
        first = len(tables) + len(self.hidden)
        numbers = graph.factor_table.copy()
        hidden = np.arange(len(self.hidden))
        numbers[self.first_factor + hidden] = len(tables) + hidden
        lengths, arguments, factors = [np.diff(graph.offsets)], [graph.arguments], [numbers]
        for each in more:
            lengths.append(np.full(len(each.choices), each.choices.shape[1]))
            arguments.append((self.first_variable + each.choices).reshape(-1))
            factors.append(first + each.table_of)
            first += len(each.tables)
        given = [tables.values, prior, *(each.tables.reshape(-1) for each in more)]
        count = sum(len(each.choices) for each in more)
        wider = replace(
            graph,
            factor_names=_more_names(graph.factor_names, count, "weight ")
            if count
            else graph.factor_names,
            factor_table=np.concatenate(factors),
            offsets=frozen(offsets_of(np.concatenate(lengths))),
            arguments=frozen(np.concatenate(arguments)),
        )
        whole = GivenTables(np.concatenate(given), offsets_of(np.concatenate(sizes)))
        return replace(self, graph=wider.refilled(whole, wider.factor_table), prior=prior)

    def once(self, make: Callable[[JointModel], _Made]) -> _Made:
        """What a function makes of this model alone, made on first use and kept with it."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(_Made, self._made[make])

    @cached_property
    def _made(self) -> dict[Callable[[JointModel], Any], Any]:
        return {}


def joint_model(
    posterior: CohortPosterior, draft: GraphDraft, filled: Sequence[Ints], cleaned: Sequence[Ints]
) -> JointModel:
    """The joint model of what cohorts leave open in a graph.

    draft: the graph with all tables that are no longer open. filled, cleaned: for each place the
    holes that get a table and the known factors that are cleaned, by their numbers there.
    """
    return _Making(posterior, draft, filled, cleaned).joint()


class _Making:
    """A joint model in the making.

    The graph's holes get stacks of tables in a draft; opened then says which hidden variable each
    factor has as its first argument.
    """

    def __init__(
        self,
        posterior: CohortPosterior,
        draft: GraphDraft,
        filled: Sequence[Ints],
        cleaned: Sequence[Ints],
    ) -> None:
        self._posterior, self._draft = posterior, draft
        self._filled, self._cleaned = filled, cleaned
        places = posterior.places
        many = np.zeros(places.count, dtype=np.int64)
        for place, holes, known in zip(places.places, filled, cleaned, strict=True):
            apart, _ = place.apart(holes)
            many += np.bincount(place.owner_of_hole[apart], minlength=len(many))
            many += np.bincount(place.shown.evidence.owners.of[known], minlength=len(many))
        self._cohorts = hidden_cohorts(self._posterior, np.flatnonzero(many > 1))
        self._place = np.full(places.count, -1, dtype=np.int64)  # among those with a hidden cohort
        self._place[self._cohorts.who] = np.arange(len(self._cohorts))
        self._opened = np.full(len(draft.numbers), -1, dtype=np.int64)
        self._hidden = [self._cohorts]
        self._between: list[tuple[Ints, Ints, Ints]] = []  # cohorts, hidden tables, table numbers

    def joint(self) -> JointModel:
        """The finished model."""
        for number in range(len(self._posterior.places.places)):
            self._fill(number, self._filled[number])
            self._clean(number, self._cleaned[number])
        tables = HiddenChoices.joined(self._hidden[1:])
        owner = self._posterior.places.owners
        with_cohort = self._place[owner[tables.who]] >= 0
        one = np.where(with_cohort[tables.owners], 1.0, tables.shares)
        prior = np.concatenate((self._cohorts.shares, one))
        between = [owner[tables.who[hidden - len(self._cohorts)]] for _, hidden, _ in self._between]
        owners = np.concatenate((owner, self._cohorts.who, owner[tables.who], *between))
        graph, first = self._graph(prior), len(self._opened)
        return JointModel(graph, self._cohorts, tables, prior, self._opened, owners, first)

    def _fill(self, number: int, filled: Ints) -> None:
        """Give the holes of a place stacks of tables, and say how likely each is by cohort."""
        if not len(filled):
            return
        place, hidden = self._posterior.places.places[number], sum(map(len, self._hidden))
        apart, of = place.apart(filled)
        tables = HiddenTables(self._posterior, number, apart)
        choices = tables.choices
        one = first_places(choices.sets)
        first = self._draft.add_flat(tables.stacked(one), choices.sizes[one] * place.shown.size)
        self._draft.give(place, place.holes[filled], first + choices.sets[of])
        self._opened[place.holes[filled]] = hidden + of
        self._hidden.append(tables.by_origin)
        at = self._place[place.owner_of_hole[apart]]
        some = np.flatnonzero(at >= 0)
        if len(some):
            alike = tables.alike(some, self._cohorts.sets[at[some]])
            one = some[first_places(alike)]
            flat = tables.by_cohort(one, self._cohorts, at[one])
            lengths = choices.sizes[one] * self._cohorts.sizes[at[one]]
            first = self._draft.add_flat(flat, lengths)
            self._between.append((at[some], hidden + some, first + alike))

    def _clean(self, number: int, known: Ints) -> None:
        """Give estimated factors of a place the tables to be expected behind them."""
        if not len(known):
            return
        place = self._posterior.places.places[number]
        at = self._place[place.shown.evidence.owners.of[known]]
        single, several = known[at < 0], known[at >= 0]
        if len(single):
            factors, of = place.having(single)
            tables = self._posterior.cleaned(number)[single[of]]
            self._draft.replace_known(place, factors, tables)
        if len(several):
            factors, of = place.having(several)
            at = at[at >= 0][of]
            pair, cohort = self._cohorts.pairs(at)
            tables = self._posterior.cleaned_in(number, several[of[pair]], cohort)
            self._draft.replace_known(place, factors[pair], tables, self._cohorts.sizes[at])
            self._opened[factors] = at

    def _graph(self, prior: Floats) -> FactorGraph:
        """The graph with its further variables and factors."""
        draft = self._draft
        graph = draft.original
        count, sizes = len(graph.variable_names), np.concatenate([h.sizes for h in self._hidden])
        single = draft.add_flat(prior, sizes) + np.arange(len(sizes))
        opened = self._opened >= 0
        whole = np.insert(draft.arguments, graph.offsets[:-1][opened], count + self._opened[opened])
        nothing = np.zeros((3, 0), dtype=np.int64)
        between = np.hstack([nothing, *map(np.vstack, self._between)])
        lengths = (np.diff(graph.offsets) + opened, np.ones_like(sizes), 2 + 0 * between[2])
        return _enlarged(
            graph,
            sizes,
            offsets_of(np.concatenate(lengths)),
            np.concatenate((whole, count + np.arange(len(sizes)), count + between[:2].T.ravel())),
            draft.given(),
            np.concatenate((draft.numbers, single, between[2])),
            with_hidden_names(graph, self._posterior.places, self._hidden),
        )


def _enlarged(
    graph: FactorGraph,
    sizes: Ints,
    offsets: Ints,
    arguments: Ints,
    given: GivenTables,
    numbers: Ints,
    names: Names,
) -> FactorGraph:
    """A graph with further variables of these sizes, and other factors with these tables."""
    few, of_size = np.unique(sizes, return_inverse=True)
    labels = [tuple(f"hidden {value}" for value in range(size)) for size in few.tolist()]
    ranges = Ranges((*graph.ranges.declared, *labels))
    declared = np.concatenate((graph.variable_declared, len(graph.ranges.declared) + of_size))
    canonical = first_places(ranges.range_of)[ranges.range_of[declared]]
    scopes = [(rows, canonical[matrix]) for rows, matrix in scopes_of(offsets, arguments)]
    tables, factor_table = intern_tables(given, numbers, scopes, ranges)
    individuals = np.full(len(sizes), graph.individual_offsets[-1])
    return replace(
        graph,
        ranges=ranges,
        variable_names=names,
        variable_declared=frozen(declared),
        variable_kind=frozen(np.concatenate((graph.variable_kind, np.full(len(sizes), -1)))),
        individual_offsets=frozen(np.concatenate((graph.individual_offsets, individuals))),
        factor_names=_more_names(graph.factor_names, len(offsets) - 1 - len(graph.factor_names)),
        tables=tables,
        factor_table=frozen(factor_table),
        offsets=frozen(offsets),
        arguments=frozen(arguments),
        support=None,
    )


def _more_names(names: Names, count: int, prefix: str = "hidden ") -> Names:
    """Names, followed by so many others that are not among them."""
    more = NumberedNames(names.sort, prefix, count)
    if (names.find_each(more[:]) >= 0).any():
        return _more_names(names, count, f"{prefix}again ")
    return JoinedNames(names, more)
