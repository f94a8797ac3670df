"""Bayesian networks with learned structure: pyAgrum and pgmpy.

Structure is learned from rows whose gaps hold their column's commonest label, since neither library
learns it from rows with gaps. Answers are those of the network, given all other cells of the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from research.league.features import Floats, Ints
from research.league.rivals.whole import Gaps, normalised

MOST_PARENTS = 3
MOST_ROWS = 20_000  # to learn from
AGRUM_WEIGHTS = (0.1, 1.0)  # of each cell of a table, before any record
PGMPY_WEIGHTS = (5.0, 50.0)  # of each table as a whole, before any record
Evidence = Mapping[int, int]


# ---- pyAgrum


def agrum_network(gaps: Gaps, weight: float) -> list[Floats]:
    """Greedy hill climbing by BIC, tables by EM with a smoothing prior, lazy propagation."""
    import pyagrum

    pyagrum.initRandom(1)  # EM starts by chance
    pyagrum.setNumberOfThreads(1)
    rows, empty = gaps.some(MOST_ROWS), pyagrum.BayesNet()
    for place, size in enumerate(gaps.sizes):
        empty.add(pyagrum.LabelizedVariable(_name(place), "", [str(each) for each in range(size)]))
    searched = pyagrum.BNLearner(_frame(_filled(gaps.codes)[rows]), empty)
    searched.useGreedyHillClimbing()
    searched.useScoreBIC()
    searched.setMaxIndegree(MOST_PARENTS)
    structure = searched.learnDAG()
    learner = pyagrum.BNLearner(_frame(gaps.codes[rows]), empty, ["?"])
    learner.useSmoothingPrior(weight)
    learner.useEM(1e-3)
    engine = pyagrum.LazyPropagation(learner.learnParameters(structure))

    def told(target: int, evidence: Evidence) -> Floats:
        engine.setEvidence({_name(place): label for place, label in evidence.items()})
        engine.setTargets({_name(target)})
        engine.makeInference()
        found: Floats = engine.posterior(_name(target)).toarray()
        return found

    return _answers(gaps, structure.arcs(), told)


# ---- pgmpy


def pgmpy_network(gaps: Gaps, weight: float) -> list[Floats]:
    """Hill climbing by BIC, Bayesian estimates from complete families, variable elimination."""
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteBayesianEstimator

    rows = gaps.some(MOST_ROWS)
    search = HillClimbSearch(
        "bic-d", max_indegree=MOST_PARENTS, return_type="dag", show_progress=False
    )
    structure = search.fit(_frame(_filled(gaps.codes)[rows])).causal_graph_
    network = DiscreteBayesianNetwork(structure.edges())
    network.add_nodes_from(structure.nodes())
    labels = {
        _name(place): [str(each) for each in range(size)] for place, size in enumerate(gaps.sizes)
    }
    estimator = DiscreteBayesianEstimator(labels, "BDeu", weight)
    network = network.fit(_frame(gaps.codes[rows]).replace("?", None), estimator)
    engine = VariableElimination(network)

    def told(target: int, evidence: Evidence) -> Floats:
        given = {_name(place): str(label) for place, label in evidence.items()}
        found: Floats = engine.query([_name(target)], given, show_progress=False).values
        return found

    return _answers(gaps, [(_place(one), _place(other)) for one, other in network.edges()], told)


# ---- what both need


def _name(place: int) -> str:
    return f"c{place}"


def _place(name: str) -> int:
    return int(name[1:])


def _filled(codes: Ints) -> Ints:
    """Each gap filled with its column's commonest label."""
    commonest = [np.bincount(column[column >= 0]).argmax() for column in codes.T]
    return np.where(codes < 0, commonest, codes)


def _frame(codes: Ints) -> Any:
    """Labels as texts, gaps as question marks."""
    texts = np.where(codes < 0, "?", codes.astype(str)).astype(object)
    return pd.DataFrame(texts, columns=[_name(place) for place in range(codes.shape[1])])


def _answers(
    gaps: Gaps, arcs: Iterable[tuple[int, int]], told: Callable[[int, Evidence], Floats]
) -> list[Floats]:
    """What a network tells of each asked cell; of cells with the same evidence only once."""
    blankets = _blankets(len(gaps.sizes), arcs)
    found = []
    for target, asked in enumerate(gaps.asked):
        once: dict[tuple[tuple[int, int], ...], Floats] = {}
        answers = np.zeros((len(asked), gaps.sizes[target]))
        for place, row in enumerate(gaps.codes[asked]):
            evidence = _evidence(target, row, blankets)
            key = tuple(evidence.items())
            if key not in once:
                once[key] = told(target, evidence)
            answers[place] = once[key]
        found.append(normalised(answers))
    return found


def _blankets(count: int, arcs: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Of each node its parents, children, and their other parents."""
    families = [{node} for node in range(count)]
    for parent, child in arcs:
        families[child].add(parent)
    return [set().union(*(each for each in families if node in each)) for node in range(count)]


def _evidence(target: int, row: Ints, blankets: list[set[int]]) -> dict[int, int]:
    """The known cells of a row that matter: those around the target and unknown ones about it."""
    reached, waiting, known = {target}, [target], set()
    while waiting:
        for node in blankets[waiting.pop()] - reached:
            if row[node] >= 0:
                known.add(node)
            else:
                reached.add(node)
                waiting.append(node)
    return {node: int(row[node]) for node in sorted(known)}
