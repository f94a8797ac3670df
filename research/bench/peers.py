"""The engines that are measured, each asked about one variable, or all where it offers that.

An engine is a function (model, variable) → query that builds its own model from the neutral one;
calling the query does everything from there on, planning included, and returns (log Z or None,
probabilities), those of EVERY variable in one row. So building and asking are timed apart. Nothing
is kept from one call of a query to the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from lifagu import FactorGraph, queries
from research.bench.models import Network

Array = np.ndarray[Any, np.dtype[np.float64]]
Outcome = tuple[float | None, Array]
Query = Callable[[], Outcome]
EVERY = -1  # in place of a variable


@dataclass(frozen=True)
class Model:
    """A factor graph in nobody's format: sizes[v], scopes[f], tables[f] with one axis per argument.

    children[f] is the variable whose distribution table f gives, where the model is a Bayesian
    network.
    """

    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]
    children: tuple[int, ...] | None = None

    @classmethod
    def of(cls, source: FactorGraph | Network) -> Model:
        """The same model without names, labels as declared, rounded distributions normalised."""
        graph, children = (
            (source.graph, source.children) if isinstance(source, Network) else (source, None)
        )
        scopes = tuple(tuple(graph.scope(factor)) for factor in range(len(graph.factor_names)))
        tables = [np.ascontiguousarray(factor.table) for factor in graph.factors]
        for factor, child in enumerate(children or ()):
            tables[factor] = tables[factor] / tables[factor].sum(
                axis=scopes[factor].index(child), keepdims=True
            )
        return cls(tuple(graph.sizes.tolist()), scopes, tuple(tables), children)


def lifagu(model: Model, variable: int, engine: str = "auto") -> Query:
    """`lifagu.queries` on a graph built from arrays."""
    sizes = sorted(set(model.sizes))
    graph = FactorGraph.from_arrays(
        ranges=[[str(value) for value in range(size)] for size in sizes],
        variable_ranges=[sizes.index(size) for size in model.sizes],
        offsets=np.cumsum([0, *map(len, model.scopes)]),
        arguments=[variable for scope in model.scopes for variable in scope],
        tables=[table.reshape(-1) for table in model.tables],
        factor_tables=np.arange(len(model.tables)),
    )

    def ask() -> Outcome:
        answers = queries(graph, [f"x{each}" for each in _asked(model, variable)], engine=engine)
        return answers[0].log_partition, np.concatenate(
            [answer.probabilities for answer in answers]
        )

    return ask


def _asked(model: Model, variable: int) -> Sequence[int]:
    return range(len(model.sizes)) if variable == EVERY else [variable]


def pyagrum(model: Model, variable: int) -> Query:
    """Lazy propagation on a Bayesian network, Shafer–Shenoy on a Markov random field otherwise."""
    if model.children is not None:
        return _pyagrum_network(model, variable)
    import pyagrum
    import pyagrum.markov_random_field as field

    graph: Any = field.MarkovRandomField()
    for number, size in enumerate(model.sizes):
        graph.add(pyagrum.LabelizedVariable(f"x{number}", "", size))
    for scope, table in _merged(model).items():
        # its arrays reverse the axes of its names
        graph.addFactor(list(scope))[:] = np.ascontiguousarray(table.T)

    def ask() -> Outcome:
        return None, _pyagrum_posteriors(field.ShaferShenoyMRFInference(graph), model, variable)

    return ask


def _pyagrum_posteriors(inference: Any, model: Model, variable: int) -> Array:
    if variable != EVERY:  # otherwise all are targets
        inference.setTargets({f"x{variable}"})
    inference.makeInference()
    return np.concatenate(
        [inference.posterior(f"x{each}").toarray() for each in _asked(model, variable)]
    )


def _pyagrum_network(model: Model, variable: int) -> Query:
    import pyagrum

    network: Any = pyagrum.BayesNet()
    for number, size in enumerate(model.sizes):
        network.add(pyagrum.LabelizedVariable(f"x{number}", "", size))
    for child, scope, table in zip(model.children or (), model.scopes, model.tables, strict=True):
        for parent in scope:
            if parent != child:
                network.addArc(f"x{parent}", f"x{child}")
        order = [scope.index(int(name[1:])) for name in reversed(network.cpt(f"x{child}").names)]
        network.cpt(f"x{child}")[:] = np.ascontiguousarray(np.transpose(table, order))

    def ask() -> Outcome:
        return None, _pyagrum_posteriors(pyagrum.LazyPropagation(network), model, variable)

    return ask


def pgmpy(model: Model, variable: int) -> Query:
    """Variable elimination on a Markov network (answers not normalised) or a Bayesian network."""
    from pgmpy.inference import VariableElimination

    network = _pgmpy_markov(model) if model.children is None else _pgmpy_bayes(model)

    def ask() -> Outcome:
        values = VariableElimination(network).query([variable], show_progress=False).values
        return normalised(values) if model.children is None else (None, values)

    return ask


def _pgmpy_markov(model: Model) -> Any:
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    network = DiscreteMarkovNetwork()
    network.add_nodes_from(range(len(model.sizes)))
    for scope, table in zip(model.scopes, model.tables, strict=True):
        network.add_edges_from(
            (one, other) for place, one in enumerate(scope) for other in scope[:place]
        )
        network.add_factors(DiscreteFactor(list(scope), table.shape, table))
    return network


def _pgmpy_bayes(model: Model) -> Any:
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_nodes_from(range(len(model.sizes)))
    for child, scope, table in zip(model.children or (), model.scopes, model.tables, strict=True):
        parents = [each for each in scope if each != child]
        network.add_edges_from((parent, child) for parent in parents)
        rows = np.moveaxis(table, scope.index(child), 0).reshape(model.sizes[child], -1)
        network.add_cpds(
            TabularCPD(child, len(rows), rows, parents, [model.sizes[parent] for parent in parents])
        )
    return network


def opt_einsum(model: Model, variable: int) -> Query:
    """One contraction in linear space, the path found by ``auto``."""
    from opt_einsum import contract

    operands = [part for pair in zip(model.tables, model.scopes, strict=True) for part in pair]
    return lambda: normalised(contract(*operands, [variable], optimize="auto"))


def cotengra(model: Model, variable: int, path: str) -> Query:
    """One contraction, exponents aside; ``greedy`` finds a path at once, ``auto`` searches."""
    from cotengra import AutoOptimizer, array_contract

    def ask() -> Outcome:
        # the shared one would remember its path
        optimise = AutoOptimizer(cache=False) if path == "auto" else path
        values, exponent = array_contract(
            model.tables,
            model.scopes,
            (variable,),
            optimize=optimise,
            strip_exponent=True,
            cache_expression=False,
        )
        log_weight, probabilities = normalised(values)
        return None if log_weight is None else log_weight + float(exponent) * math.log(
            10
        ), probabilities

    return ask


def normalised(weights: Array) -> Outcome:
    """log of the total, and the shares; weights beyond floats come back as they are, or as nan."""
    total = float(np.sum(weights))
    if 0 < total < math.inf:
        return math.log(total), weights / total
    return None, np.asarray(weights) if total else np.full_like(weights, np.nan)


def _merged(model: Model) -> dict[tuple[int, ...], Array]:
    """One table per set of arguments, axes by variable number, as Markov random fields have it."""
    merged: dict[tuple[int, ...], Array] = {}
    for scope, table in zip(model.scopes, model.tables, strict=True):
        order = sorted(range(len(scope)), key=scope.__getitem__)
        place = tuple(scope[axis] for axis in order)
        merged[place] = merged.get(place, np.float64(1.0)) * np.transpose(table, order)
    return merged


@dataclass(frozen=True)
class Engine:
    """One column of the tables: its name, its package, and the modules to import beforehand.

    every: whether it answers about EVERY variable in one pass.
    """

    name: str
    package: str
    build: Callable[[Model, int], Query]
    modules: tuple[str, ...]
    every: bool = False


LIFAGU = Engine("lifagu", "lifagu", lifagu, ("lifagu.inference",), every=True)
PEERS = [
    Engine("pyAgrum", "pyagrum", pyagrum, ("pyagrum", "pyagrum.markov_random_field"), every=True),
    Engine("pgmpy", "pgmpy", pgmpy, ("pgmpy.inference", "pgmpy.models")),
    Engine("opt_einsum", "opt_einsum", opt_einsum, ("opt_einsum",)),
    Engine("cotengra greedy", "cotengra", partial(cotengra, path="greedy"), ("cotengra",)),
    Engine("cotengra auto", "cotengra", partial(cotengra, path="auto"), ("cotengra",)),
]


def installed(package: str) -> bool:
    """Whether the package is there."""
    return find_spec(package) is not None
