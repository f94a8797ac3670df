"""Marginals that are asked for, by array, each with how far it rests on tables that were lent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows
from lifagu.basics.inputs import items
from lifagu.basics.names import ChosenNames
from lifagu.basics.progress import Tell
from lifagu.errors import TooLargeError
from lifagu.filling.individuals import factor_owners, variable_owners
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer, Convergence
from lifagu.inference.marginals import prepare_marginals
from lifagu.inference.memory_limit import PlanTooLargeError
from lifagu.inference.question_checks import TooLarge
from lifagu.questions.competing_tables import PartsGiven
from lifagu.questions.findings import Distribution, Requested
from lifagu.questions.planning import completed_graph, prepare
from lifagu.relational.key_columns import variable_keys

# questions up to which each is asked for itself; beyond, all marginals are computed in one pass
FEW = 64


def near_unknown(moved: Transfer, evidence: Evidence, most: int) -> tuple[Ints, int]:
    """What one would ask: unobserved variables of individuals with unknown factors.

    Where such a factor belongs to no individual, its own arguments. Individuals in the order of
    their first unknown factor; at most so many variables, and beside them how many there are in
    all. `scale.near_unknown_factors` says the same in SQL, and a test asks both.
    """
    graph = moved.original
    groups, owners = _groups(graph), np.repeat(factor_owners(graph), np.diff(graph.offsets))
    unknown = np.repeat(graph.factor_table < 0, np.diff(graph.offsets))
    theirs = unknown & ((owners < 0) | (variable_owners(graph)[graph.arguments] == owners))
    met = groups[graph.arguments[theirs]]
    rank = np.full(int(groups.max(initial=-1)) + 1, len(met), dtype=np.int64)
    rank[met[::-1]] = np.arange(len(met))[::-1]  # of equal groups the first one stays
    asked = np.flatnonzero((rank[groups] < len(met)) & (evidence.value_of_each(len(groups)) < 0))
    asked = asked[np.argsort(rank[groups[asked]], kind="stable")]
    return asked[:most], len(asked)


def asked_numbers(graph: FactorGraph, queries: Sequence[str]) -> Ints:
    """The variables asked about, each once; a relation or kind stands for all of its own."""
    if isinstance(queries, ChosenNames) and queries.names is graph.variable_names:
        numbers = queries.numbers
    else:
        known, kinds, found = graph.variable_names, {*graph.kinds}, [np.zeros(0, dtype=np.int64)]
        for name in items("queries is a list of names", queries):
            whole = isinstance(name, str) and name in kinds and name not in known
            found.append(of_kind(graph, name) if whole else np.array([known.number(name)]))
        numbers = np.concatenate(found)
    return numbers[np.sort(np.unique(numbers, return_index=True)[1])]


def of_kind(graph: FactorGraph, kind: str) -> Ints:
    """The variables of a relation or a kind, by number."""
    if kind not in graph.kinds:  # no factor has one of them
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(graph.variable_kind == graph.kinds.index(kind))


def _groups(graph: FactorGraph) -> Ints:
    """The individual each variable belongs to, or a number of its own where it has none."""
    owners = variable_owners(graph)
    return np.where(owners >= 0, owners, len(graph.individuals) + np.arange(len(owners)))


def _receivers(moved: Transfer) -> Ints:
    """For each argument the place of its factor among the transferred ones, -1 for others."""
    place = np.full(len(moved.original.factor_names), -1, dtype=np.int64)
    place[moved.transferred] = np.arange(len(moved.transferred))
    return np.repeat(place, np.diff(moved.original.offsets))


def request(
    moved: Transfer,
    variables: Ints,
    evidence: Evidence,
    combine: str,
    settings: dict[str, Any],
    progress: Tell | None = None,
) -> Requested:
    """Answer questions about single variables; those without an answer are listed with the reason.

    There is none where unknown factors are connected to them, or where a connected part does not
    fit. Where none of several questions fits, that is refused.
    """
    graph = moved.original
    whole = completed_graph(moved, combine) if combine == "average" else graph
    given = PartsGiven.of(whole, evidence)
    part_of, left = given.part_of, np.setdiff1d(moved.unknown, moved.transferred)
    blocked = (part_of[variables] >= 0) & np.isin(part_of[variables], given.of_factors(left))
    said = _distributions(moved, variables[~blocked], evidence, combine, settings, progress)
    answered = said.variables
    parts = given.of_factors(moved.transferred)
    inside = np.flatnonzero(parts >= 0)
    most = int(part_of.max(initial=-1)) + 2  # the last one is for what was observed
    behind = _tally(moved, inside, parts[inside], most).of(part_of[answered])
    own = _own(moved, parts, part_of, answered)
    return Requested(
        ChosenNames(graph.variable_names, answered),
        said.of,
        tuple(said.distributions),
        own.count,
        own.weakest,
        behind.count,
        behind.weakest,
        behind.guesses if combine == "best" else np.zeros_like(behind.guesses),
        ChosenNames(graph.variable_names, variables[blocked]),
        said.convergence,
        said.too_large,
        variable_keys(graph, answered),
    )


def request_of_graph(
    graph: FactorGraph,
    variables: Ints,
    evidence: Evidence,
    settings: dict[str, Any],
    progress: Tell | None = None,
) -> Requested:
    """The same of a graph as it is, in which nothing was lent and holes stay."""
    blocked = np.zeros(len(variables), dtype=np.bool_)
    if len(graph.unknown):
        given = PartsGiven.of(graph, evidence)
        part_of = given.part_of[variables]
        blocked = (part_of >= 0) & np.isin(part_of, given.of_factors(graph.unknown))
    said = _of_one_graph(graph, graph, variables[~blocked], evidence, settings, progress)
    return Requested.plain(
        ChosenNames(graph.variable_names, said.variables),
        said.of,
        said.distributions,
        ChosenNames(graph.variable_names, variables[blocked]),
        said.convergence,
        said.too_large,
        variable_keys(graph, said.variables),
    )


class _Said(NamedTuple):
    """Variables that have an answer, the number of each one's distribution, and these, few where
    shared; of belief propagation how far it came; and what does not fit, part by part.
    """

    variables: Ints
    of: Ints
    distributions: Sequence[Distribution]
    convergence: Convergence | None = None
    too_large: tuple[TooLarge, ...] = ()


def _distributions(
    moved: Transfer,
    variables: Ints,
    evidence: Evidence,
    combine: str,
    settings: dict[str, Any],
    progress: Tell | None,
) -> _Said:
    """One by one where few are asked for, else from all marginals, without what does not fit."""
    if not len(variables):
        return _Said(variables, variables, ())
    whole = completed_graph(moved, combine)
    return _of_one_graph(whole, moved.original, variables, evidence, settings, progress)


def _of_one_graph(
    whole: FactorGraph,
    asked: FactorGraph,
    variables: Ints,
    evidence: Evidence,
    settings: dict[str, Any],
    progress: Tell | None,
) -> _Said:
    """The same of one completed graph; asked: the graph whose variables these are."""
    if not len(variables):
        return _Said(variables, variables, ())
    if settings.get("engine") == "bp" or len(variables) <= FEW:
        try:
            return _one_by_one(whole, asked, variables, evidence, settings, progress)
        except PlanTooLargeError:
            if len(variables) == 1:
                raise
    return _from_all(whole, variables, evidence, settings, progress)


def _one_by_one(
    whole: FactorGraph,
    asked: FactorGraph,
    variables: Ints,
    evidence: Evidence,
    settings: dict[str, Any],
    progress: Tell | None,
) -> _Said:
    """A question for each variable; what does not fit is refused."""
    names = [(name,) for name in asked.variable_names.of_nodes(variables)]
    answers = prepare(whole, names, evidence, **settings).run(progress).answers
    found = list(map(distribution_of, answers))
    return _Said(variables, np.arange(len(variables)), found, answers[0].convergence)


def _from_all(
    whole: FactorGraph,
    variables: Ints,
    evidence: Evidence,
    settings: dict[str, Any],
    progress: Tell | None,
) -> _Said:
    """Out of all marginals; refused is only where nothing that was asked for fits."""
    planned = prepare_marginals(whole, evidence, **settings)
    too_large = _asked_parts(whole, planned.too_large, variables)
    lost = [whole.variable_names.number(name) for part in too_large for name in part.variables]
    answered = variables[~np.isin(variables, lost)]
    if not len(answered):
        first = too_large[0]
        raise TooLargeError(f"P({first.variables[0]}) {first.estimate}", remedy=first.remedy)
    found = planned.run(progress)
    of, distributions = found.classes
    # those of what nobody asked for, such as what is hidden in the model, are left out
    kept, own = np.unique(of[np.searchsorted(found.variables, answered)], return_inverse=True)
    limited: list[Distribution] = [
        {label: (value, None, None) for label, value in distributions[each].items()}
        for each in kept.tolist()
    ]
    return _Said(answered, own, limited, None, too_large)


def _asked_parts(
    graph: FactorGraph, parts: Sequence[TooLarge], variables: Ints
) -> tuple[TooLarge, ...]:
    """Parts that do not fit, with those of their variables that were asked for, if any were."""
    asked = set(variables.tolist())
    found = []
    for part in parts:
        own = [name for name in part.variables if graph.variable_names.number(name) in asked]
        found += [replace(part, variables=tuple(own))] if own else []
    return tuple(found)


def distribution_of(answer: Answer) -> Distribution:
    """An answer about one variable by label."""
    labels = [label for (label,) in answer.values]
    nothing: Sequence[float | None] = [None] * len(labels)
    lower = nothing if answer.lower is None else answer.lower.tolist()
    upper = nothing if answer.upper is None else answer.upper.tolist()
    return dict(
        zip(labels, zip(answer.probabilities.tolist(), lower, upper, strict=True), strict=True)
    )


@dataclass(frozen=True, eq=False)
class LentTally:
    """For each of several groups: how many tables were lent, the smallest share, and guesses.

    weakest: nan where nothing was lent; guesses: how many are hardly better than a guess.
    """

    count: Ints
    weakest: Floats
    guesses: Ints

    def of(self, groups: Ints) -> LentTally:
        """The same of these groups, in this order."""
        return LentTally(self.count[groups], self.weakest[groups], self.guesses[groups])


def _own(moved: Transfer, parts: Ints, part_of: Ints, variables: Ints) -> LentTally:
    """What was lent to each variable's individual among all that the answer rests on.

    parts: of the transferred factors, part_of: of the variables, -1 for what was observed. Each
    pair of a transferred factor and an individual among its arguments counts once.
    """
    groups, receiver = _groups(moved.original), _receivers(moved)
    pairs = np.column_stack((receiver, groups[moved.original.arguments]))[receiver >= 0]
    pairs = pairs[first_places(group_rows(pairs))]
    pairs = pairs[parts[pairs[:, 0]] >= 0]
    lent = np.column_stack((pairs[:, 1], parts[pairs[:, 0]] + 1))
    asked = np.column_stack((groups[variables], part_of[variables] + 1))
    alike = group_rows(np.concatenate((asked, lent)))
    tally = _tally(moved, pairs[:, 0], alike[len(asked) :], int(alike.max(initial=-1)) + 1)
    return tally.of(alike[: len(asked)])


def _tally(moved: Transfer, receivers: Ints, groups: Ints, count: int) -> LentTally:
    """What was lent in each group, group by group; receivers: places among the transferred."""
    places = np.searchsorted(moved.unknown, moved.transferred)[receivers]
    counts, weakest = np.bincount(groups, minlength=count), np.full(count, np.inf)
    np.minimum.at(weakest, groups, moved.shares[places])
    guesses = np.bincount(groups[moved.guesses[places]], minlength=count)
    return LentTally(counts, np.where(counts > 0, weakest, np.nan), guesses)
