"""Marginals that are asked for, by array, each with how far it rests on tables that were lent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifagu.answers import prepare, prepare_marginals
from lifagu.arrays import Floats, Ints, first_places, group_rows
from lifagu.columns import Column, Columns, name_column, texts
from lifagu.errors import ModelError, NoAnswerError
from lifagu.evidence import Evidence
from lifagu.infer import AllMarginals, Answer, Convergence
from lifagu.model import FactorGraph
from lifagu.parts import parts_of_factors
from lifagu.symmetry.transfer import Transfer, factor_owners, variable_owners
from lifagu.unsure import parts_given
from lifagu.values import Frozen

FEW = 64  # questions up to which each is asked for itself; beyond, all marginals are computed in one pass
Progress = Callable[[int, int], None]
Distribution = dict[str, tuple[float, float | None, float | None]]  # label → probability, and its limits if there are


@dataclass(frozen=True, eq=False)
class Requested(Frozen):
    """The answers to n questions about single variables, and those without an answer.

    variables[n]: in the order asked; distributions[of[i]] is the answer to question i, label → (probability, lower,
    upper), the limits being None where they were not asked for. own[n]: how many tables were lent to the individual
    that the variable belongs to (to its own factors, where it belongs to none), own_weakest[n]: the smallest share of
    agreement among them, nan if there are none; lent[n], weakest[n]: the same of all tables that the answer depends on.
    unanswered: variables connected to factors that stay unknown. convergence: of belief propagation, if that answered.
    """

    graph: FactorGraph
    variables: Ints
    of: Ints
    distributions: tuple[Distribution, ...]
    own: Ints
    own_weakest: Floats
    lent: Ints
    weakest: Floats
    unanswered: Ints
    convergence: Convergence | None = None

    def __len__(self) -> int:
        return len(self.variables)

    def __getitem__(self, name: str) -> dict[str, float]:
        """The marginal of a variable: label → probability."""
        variable = self.graph.variable_names.number(name)
        place = np.flatnonzero(self.variables == variable)
        if len(place):
            return {label: each[0] for label, each in self.distributions[int(self.of[place[0]])].items()}
        if variable in self.unanswered:
            raise NoAnswerError(f"P({name}) has no answer: factors that stay unknown are connected to it")
        raise ModelError(f"nobody asked about '{name}'; name it among the queries")

    def columns(self) -> Columns:
        """One row per question and label; lower and upper only where they were asked for."""
        sizes = np.array([len(each) for each in self.distributions], dtype=np.int64)
        rows = np.repeat(np.arange(len(self.of)), sizes[self.of])
        starts = np.repeat(np.cumsum(sizes[self.of]) - sizes[self.of], sizes[self.of])
        places = (np.cumsum(sizes) - sizes)[self.of[rows]] + np.arange(len(rows)) - starts
        cells = [(label, *each) for one in self.distributions for label, each in one.items()]
        columns: dict[str, Column] = {
            "variable": name_column(self.graph.variable_names, self.variables[rows]),
            "value": texts([cell[0] for cell in cells], places),
            "probability": np.array([cell[1] for cell in cells], dtype=np.float64)[places],
        }
        for place, title in ((2, "lower"), (3, "upper")):
            if any(cell[place] is not None for cell in cells):
                columns[title] = np.array([cell[place] for cell in cells], dtype=np.float64)[places]
        columns |= {"own_transferred": self.own[rows], "own_weakest_share": self.own_weakest[rows]}
        columns |= {"transferred": self.lent[rows], "weakest_share": self.weakest[rows]}
        return columns


def near_unknown(moved: Transfer, evidence: Evidence, most: int) -> tuple[Ints, int]:
    """What one would ask without being told: the unobserved variables of individuals with unknown factors.

    Where such a factor belongs to no individual, its own arguments. Individuals in the order of their first unknown
    factor; at most so many variables, and beside them how many there are in all.
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


def _groups(graph: FactorGraph) -> Ints:
    """The individual each variable belongs to, and a number of its own for each that belongs to none."""
    owners = variable_owners(graph)
    return np.where(owners >= 0, owners, len(graph.individuals) + np.arange(len(owners)))


def _receivers(moved: Transfer) -> Ints:
    """For each argument of the graph the place of its factor among the transferred ones, -1 for other factors."""
    place = np.full(len(moved.original.factor_names), -1, dtype=np.int64)
    place[moved.transferred] = np.arange(len(moved.transferred))
    return np.repeat(place, np.diff(moved.original.offsets))


def request(
    moved: Transfer,
    variables: Ints,
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> Requested:
    """Answer questions about single variables; those connected to unknown factors are listed, not refused."""
    graph, part_of = moved.original, parts_given(moved, evidence)
    left = np.setdiff1d(moved.unknown, moved.transferred)
    blocked = (part_of[variables] >= 0) & np.isin(part_of[variables], parts_of_factors(graph, part_of, left))
    answered = variables[~blocked]
    of, distributions, convergence = _distributions(moved, answered, evidence, unknown, settings, progress)
    own, own_weakest = _own(moved, answered)
    parts = parts_of_factors(graph, part_of, moved.transferred)
    inside = np.flatnonzero(parts >= 0)
    most = int(part_of.max(initial=-1)) + 2  # the last one is for what was observed
    counts, weakest = _tally(moved, inside, parts[inside], most)
    return Requested(
        graph,
        answered,
        of,
        tuple(distributions),
        own,
        own_weakest,
        counts[part_of[answered]],
        weakest[part_of[answered]],
        variables[blocked],
        convergence,
    )


def _distributions(
    moved: Transfer,
    variables: Ints,
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
    progress: Progress | None,
) -> tuple[Ints, list[Distribution], Convergence | None]:
    """The number of each variable's distribution, and the distributions; few where many variables share one."""
    if not len(variables):
        return variables, [], None
    whole = moved if unknown in ("mixture", "bounds") else moved.averaged() if unknown == "mean" else moved.graph
    if isinstance(whole, Transfer) or settings.get("engine") == "bp" or len(variables) <= FEW:
        names = [(moved.original.variable_names[variable],) for variable in variables.tolist()]
        how = unknown if isinstance(whole, Transfer) else "one"
        result = prepare(whole, names, evidence, unknown=how, **settings).run(progress)
        return np.arange(len(variables)), list(map(_limited, result.answers)), result.answers[0].convergence
    found = prepare_marginals(whole, evidence, **settings).run(progress)
    assert isinstance(found, AllMarginals)
    if len(left := np.setdiff1d(variables, found.variables)):  # what does not fit is refused to those who ask for it
        raise found.refusal(moved.original.variable_names[int(left[0])])
    of, distributions = found.classes
    limited: list[Distribution] = [
        {label: (value, None, None) for label, value in each.items()} for each in distributions
    ]
    return of[np.searchsorted(found.variables, variables)], limited, None


def _limited(answer: Answer) -> Distribution:
    """An answer about one variable by label."""
    labels = [label for (label,) in answer.values]
    nothing: Sequence[float | None] = [None] * len(labels)
    lower = nothing if answer.lower is None else answer.lower.tolist()
    upper = nothing if answer.upper is None else answer.upper.tolist()
    return dict(zip(labels, zip(answer.probabilities.tolist(), lower, upper, strict=True), strict=True))


def _own(moved: Transfer, variables: Ints) -> tuple[Ints, Floats]:
    """How many tables were lent to each variable's individual, or to its factors where it has none; the weakest share.

    Each pair of a transferred factor and an individual among its arguments counts once.
    """
    groups, receiver = _groups(moved.original), _receivers(moved)
    pairs = np.column_stack((receiver, groups[moved.original.arguments]))[receiver >= 0]
    pairs = pairs[first_places(group_rows(pairs))]
    counts, weakest = _tally(moved, pairs[:, 0], pairs[:, 1], int(groups.max(initial=-1)) + 1)
    return counts[groups[variables]], weakest[groups[variables]]


def _tally(moved: Transfer, receivers: Ints, groups: Ints, count: int) -> tuple[Ints, Floats]:
    """How many transferred factors (by place) there are in each group, and the smallest share of them; nan if none."""
    shares = moved.shares[np.searchsorted(moved.unknown, moved.transferred)][receivers]
    counts, weakest = np.bincount(groups, minlength=count), np.full(count, np.inf)
    np.minimum.at(weakest, groups, shares)
    return counts, np.where(counts > 0, weakest, np.nan)
