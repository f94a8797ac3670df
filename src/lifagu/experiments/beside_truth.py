"""Ways to fill the example hospital's holes, and how far their answers are from the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import lifagu
from lifagu.basics.choices import Unknown
from lifagu.experiments.divergence import divergence
from lifagu.experiments.drafts import Floats

Distributions = Mapping[str, Mapping[str, float]]
DRAWN = 16  # completions that a mixture is averaged over


class Way(NamedTuple):
    """A way to fill and to answer: in words, the options of `transfer`, and how tables are used."""

    summary: str
    filling: Mapping[str, Any]
    unknown: Unknown = "one"
    individuals: bool = True


WAYS: dict[str, Way] = {
    "published": Way("the paper to the letter", {"published": True}),
    "share": Way("largest share, with kinds", {}, individuals=False),
    "steps": Way("neighbourhoods of 4 steps", {"steps": 4}),
    "individuals": Way("whole individuals, as LIFAGU", {}),
    "profiles": Way("profiles of individuals", {"profiles": True}),
    "mean": Way("profiles, mean of competing tables", {"profiles": True}, "mean"),
    "auto": Way("the default: all agree, or cohorts summed over", {"by": "auto"}, "posterior"),
    "cohorts": Way("hidden cohorts, mean over them", {"by": "cohorts"}, "mean"),
    "mixture": Way(f"profiles, average over {DRAWN} completions", {"profiles": True}, "mixture"),
}


class Off(NamedTuple):
    """Distance from the truth: mean and largest KL(truth ‖ answer) in nats, and difference."""

    variables: int
    mean_divergence: float
    largest_divergence: float
    mean_difference: float
    largest_difference: float


def true_graph(
    graph: lifagu.FactorGraph, truth: Mapping[str, Sequence[float]]
) -> lifagu.FactorGraph:
    """The graph with the true tables in the holes; all others stay."""
    tables = [
        np.array(truth[each.name]) if each.table is None else each.table.reshape(-1)
        for each in graph.factors
    ]
    return lifagu.FactorGraph.from_arrays(
        ranges=graph.ranges.declared,
        variable_ranges=graph.variable_declared,
        offsets=graph.offsets,
        arguments=graph.arguments,
        tables=tables,
        factor_tables=np.arange(len(tables)),
        variable_names=graph.variable_names,
        factor_names=graph.factor_names,
    )


def answers(graph: lifagu.FactorGraph, evidence: Any, way: Way, seed: int = 0) -> Distributions:
    """All marginals that a way to fill gives."""
    if not way.individuals:
        owners = np.zeros(len(graph.variable_names) + 1, dtype=np.int64)
        graph = replace(graph, individuals=(), individual_offsets=owners, individual_ids=owners[:0])
    moved = lifagu.transfer(graph, 0.0, evidence, **way.filling)
    if way.unknown != "mixture":
        return lifagu.marginals(moved, evidence=evidence, unknown=way.unknown)
    completions = _drawn(moved, np.random.default_rng(seed))
    return _averaged([lifagu.marginals(each, evidence=evidence) for each in completions])


def _drawn(moved: lifagu.Transfer, rng: np.random.Generator) -> Iterator[lifagu.FactorGraph]:
    """Completions in which each class takes its competing tables as often as their shares say."""
    for _ in range(DRAWN):
        chosen = []
        for each in moved.open_classes:
            place = np.searchsorted(np.cumsum(each.shares)[:-1], rng.random(), side="right")
            chosen.append((each, int(each.alternatives[place])))
        yield moved.completed(chosen)


def _averaged(found: Sequence[Distributions]) -> Distributions:
    def mean(name: str, label: str) -> float:
        return sum(each[name][label] for each in found) / len(found)

    return {name: {label: mean(name, label) for label in found[0][name]} for name in found[0]}


def off(truth: Distributions, answer: Distributions, names: Iterable[str]) -> Off:
    """How far an answer is from the truth, over those of the variables that have one."""
    kept = [name for name in names if name in answer]
    pairs = [_pair(truth[name], answer[name]) for name in kept]
    divergences = np.array([divergence(*pair) for pair in pairs])
    differences = np.array([np.abs(true - given).max() for true, given in pairs])
    measured = (divergences.mean(), divergences.max(), differences.mean(), differences.max())
    return Off(len(kept), *map(float, measured))


def _pair(truth: Mapping[str, float], answer: Mapping[str, float]) -> tuple[Floats, Floats]:
    return np.array([*truth.values()]), np.array([answer[label] for label in truth])


def near_holes(graph: lifagu.FactorGraph, evidence: lifagu.Evidence) -> list[str]:
    """The unobserved arguments of unknown factors."""
    unknown = np.repeat(graph.factor_table < 0, np.diff(graph.offsets))
    met = np.setdiff1d(graph.arguments[unknown], evidence.variables)
    return [graph.variable_names[variable] for variable in met.tolist()]
