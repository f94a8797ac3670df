"""pgmpy: discrete Bayesian networks, Markov networks and factor graphs in, Markov networks out."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.errors import MissingExtraError, ModelError
from lifagu.formats.merged import one_table_per_scope
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels

if TYPE_CHECKING:
    import pgmpy.models


def from_pgmpy(
    model: pgmpy.models.DiscreteBayesianNetwork
    | pgmpy.models.DiscreteMarkovNetwork
    | pgmpy.models.FactorGraph,
) -> FactorGraph:
    """Return the factor graph of a pgmpy model.

    Cost: linear in the potentials.

    Parameters
    ----------
    model
        A pgmpy DiscreteBayesianNetwork, DiscreteMarkovNetwork or FactorGraph.

    Returns
    -------
    FactorGraph
        Names and states become texts; variables without state names have the labels 0, 1, …. The
        conditional table of a network's variable X becomes the factor ``P(X)`` with the arguments X
        and its parents, other tables ``f0``, ``f1``, … in pgmpy's order.

    Examples
    --------
    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> graph = build.factor("f", ["B", "A"], [[1, 2], [3, 4]]).graph()
    >>> from_pgmpy(to_pgmpy(graph)).factor("f0")
    Factor(name='f0', arguments=('B', 'A'), table=array([[1., 2.],
           [3., 4.]]), support=None)
    """
    models = _pgmpy("from_pgmpy", "models")
    if isinstance(model, models.DiscreteBayesianNetwork):
        conditionals = {f"P({node})": model.get_cpds(node) for node in model.nodes()}
        return _graph(list(model.nodes()), conditionals)
    if isinstance(model, models.DiscreteMarkovNetwork | models.FactorGraph):
        factors = {f"f{place}": factor for place, factor in enumerate(model.factors)}
        nodes = list(model.nodes())
        if isinstance(model, models.FactorGraph):
            inside = {variable for factor in model.factors for variable in factor.variables}
            # pgmpy has factors among the nodes, sometimes by a name; what has neighbours and is in
            # no scope is one
            nodes = [node for node in nodes if node in inside or not model.degree(node)]
        return _graph(nodes, factors)
    raise ModelError(
        "from_pgmpy takes a pgmpy DiscreteBayesianNetwork, DiscreteMarkovNetwork or FactorGraph, "
        f"not {type(model).__name__}"
    )


def to_pgmpy(graph: FactorGraph) -> pgmpy.models.DiscreteMarkovNetwork:
    """Return a pgmpy DiscreteMarkovNetwork with the same variables, labels, distribution and log Z.

    A Markov network and not pgmpy's FactorGraph, which its VariableElimination does not answer
    about. Its answers on Markov networks are weights: normalise them.

    Parameters
    ----------
    graph
        A factor graph without unknown factors. Products of its tables that plain numbers do not
        hold are refused; pgmpy itself multiplies plain numbers when it is asked.

    Returns
    -------
    pgmpy.models.DiscreteMarkovNetwork
        Tables of factors on the same variables are multiplied, as pgmpy counts equal factors once;
        factors without arguments are multiplied into the first table (and dropped from a graph
        without variables), and a variable in no factor gets a table of ones, which is where pgmpy
        keeps its states.

    Examples
    --------
    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> graph = build.factor("f", ["A"], [1, 3]).factor("g", [], [2]).graph()
    >>> [(factor.variables, factor.values.tolist()) for factor in to_pgmpy(graph).factors]
    [(['A'], [2.0, 6.0]), (['B'], [1.0, 1.0])]
    """
    models, discrete = _pgmpy("to_pgmpy", "models"), _pgmpy("to_pgmpy", "factors.discrete")
    tables = one_table_per_scope(graph, "to_pgmpy")
    network = models.DiscreteMarkovNetwork()
    network.add_nodes_from(list(graph.variable_names))
    for arguments, table in tables:
        states = {argument: list(graph.variable(argument).range) for argument in arguments}
        network.add_edges_from(combinations(arguments, 2))
        network.add_factors(
            discrete.DiscreteFactor(list(arguments), table.shape, table, state_names=states)
        )
    return network


def _pgmpy(what: str, part: str) -> Any:
    """A part of the package."""
    try:
        import_module("pgmpy")  # parts that are loaded would be found without it
        return import_module(f"pgmpy.{part}")
    except ImportError:
        raise MissingExtraError("pgmpy", what) from None


def _graph(variables: list[Any], factors: dict[str, Any]) -> FactorGraph:
    """A graph of pgmpy's variables and factors, by name."""
    for name, factor in factors.items():
        if not hasattr(factor, "state_names"):
            raise ModelError(
                f"from_pgmpy found no table for {name}; give every variable a TabularCPD"
            )
    labels = _labels(factors.values())
    builder = FactorGraph.build()
    for variable in variables:
        if variable not in labels:
            raise ModelError(
                f"variable '{variable}' is in no factor, so its states are not known; add a factor"
            )
        builder.variable(str(variable), labels[variable])
    for name, factor in factors.items():
        builder.factor(
            name, map(str, factor.variables), np.asarray(factor.values, dtype=np.float64)
        )
    return builder.graph()


def _labels(factors: Iterable[Any]) -> dict[Any, Labels]:
    """The labels of each variable: the states its factors name, else their numbers."""
    labels: dict[Any, Labels] = {}
    for factor in factors:
        for variable, size in zip(factor.variables, factor.cardinality, strict=True):
            numbers = tuple(map(str, range(size)))
            named = tuple(map(str, factor.state_names.get(variable, numbers)))
            known = labels.get(variable, numbers)
            unnamed = numbers in (named, known) and sorted(named) != sorted(known)
            if named != known and not unnamed:
                raise ModelError(
                    f"variable '{variable}' has the states {', '.join(known)} in one factor "
                    f"and {', '.join(named)} in another; name them alike, in one order"
                )
            labels[variable] = named if known == numbers else known
    return labels
