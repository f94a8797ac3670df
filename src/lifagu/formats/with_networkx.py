"""networkx: the bipartite graph of variables and factors, for drawing and for graph algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifagu.errors import MissingExtraError, ModelError
from lifagu.graph.factor_graph import FactorGraph

if TYPE_CHECKING:
    import networkx


def to_networkx(graph: FactorGraph) -> networkx.Graph:
    """Return the bipartite graph of variables and factors, with an edge for each argument.

    Cost: linear in arguments and potentials.

    Parameters
    ----------
    graph
        The factor graph, with or without unknown factors.

    Returns
    -------
    networkx.Graph
        Nodes are pairs, as a variable and a factor may share a name: ``("variable", name)`` with
        the attributes bipartite=0, name, range, kind and individuals, and ``("factor", name)`` with
        bipartite=1, name, arguments and table (nested lists in declared label order, a number
        without arguments, None if unknown). An edge has the position of the variable among the
        arguments.

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B"]).factor("A", ["B", "A"], None).graph()
    >>> bipartite = to_networkx(graph)
    >>> bipartite.edges[("factor", "A"), ("variable", "A")]
    {'position': 1}
    >>> bipartite.nodes[("factor", "A")]
    {'bipartite': 1, 'name': 'A', 'arguments': ('B', 'A'), 'table': None}
    """
    try:
        import networkx
    except ImportError:
        raise MissingExtraError("networkx", "to_networkx") from None
    if not isinstance(graph, FactorGraph):
        raise ModelError(f"to_networkx takes a lifagu FactorGraph, not {type(graph).__name__}")
    result = networkx.Graph()
    for variable in graph.variables:
        result.add_node(
            ("variable", variable.name),
            bipartite=0,
            name=variable.name,
            range=variable.range,
            kind=variable.kind,
            individuals=variable.individuals,
        )
    for factor in graph.factors:
        node = ("factor", factor.name)
        table = None if factor.table is None else factor.table.tolist()
        result.add_node(
            node, bipartite=1, name=factor.name, arguments=factor.arguments, table=table
        )
        for position, argument in enumerate(factor.arguments):
            result.add_edge(("variable", argument), node, position=position)
    return result
