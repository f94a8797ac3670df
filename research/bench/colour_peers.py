"""Peers that colour graphs or find symmetries, each asked how many groups a factor graph has.

Where edges cannot carry positions, every argument becomes a node of its own, coloured by its
position, between its factor and its variable; those nodes are not counted as groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from lifagu import FactorGraph

Ask = Callable[[], int]


@dataclass(frozen=True)
class Peer:
    """build(graph) makes the peer's own graph; calling what it returns counts the groups."""

    name: str
    package: str
    module: str
    differs: str
    build: Callable[[FactorGraph], Ask]


def installed(peer: Peer) -> bool:
    """Whether it can be imported."""
    return find_spec(peer.module) is not None


def _with_networkx(graph: FactorGraph) -> Ask:
    import networkx

    nodes = len(graph.variable_names)
    bipartite = networkx.Graph()
    bipartite.add_nodes_from((node, {"label": "variable"}) for node in range(nodes))
    tables = graph.factor_table.tolist()
    bipartite.add_nodes_from(
        (nodes + factor, {"label": f"table {table}"}) for factor, table in enumerate(tables)
    )
    owner, place = _owners(graph)
    bipartite.add_edges_from(
        (variable, nodes + factor, {"position": str(position)})
        for variable, factor, position in zip(
            graph.arguments.tolist(), owner.tolist(), place.tolist(), strict=True
        )
    )

    def ask() -> int:
        hashes = networkx.weisfeiler_lehman_subgraph_hashes(
            bipartite, "position", "label", iterations=ROUNDS
        )
        return len({found[-1] for found in hashes.values()})

    return ask


def _with_scikit_network(graph: FactorGraph) -> Ask:
    from scipy.sparse import csr_matrix
    from sknetwork.topology import color_weisfeiler_lehman

    nodes = len(graph.variable_names)
    owner, _ = _owners(graph)
    count = nodes + len(graph.factor_names)
    one, other = graph.arguments, nodes + owner
    ends = np.concatenate((one, other)), np.concatenate((other, one))
    adjacency = csr_matrix((np.ones(2 * len(one), dtype=np.bool_), ends), shape=(count, count))
    return lambda: int(color_weisfeiler_lehman(adjacency).max()) + 1


def _with_igraph(graph: FactorGraph) -> Ask:
    import igraph

    edges, colours, counted = _with_argument_nodes(graph)
    plain = igraph.Graph(n=len(colours), edges=edges.tolist())
    given = colours.tolist()

    def ask() -> int:
        generators = plain.automorphism_group(color=given)
        return _orbits(generators, len(given), counted)

    return ask


def _with_pynauty(graph: FactorGraph) -> Ask:
    import pynauty

    edges, colours, counted = _with_argument_nodes(graph)
    neighbours: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        neighbours.setdefault(one, []).append(other)
    cells = [set(np.flatnonzero(colours == colour).tolist()) for colour in np.unique(colours)]
    plain = pynauty.Graph(len(colours), adjacency_dict=neighbours, vertex_coloring=cells)
    return lambda: len(set(pynauty.autgrp(plain)[3][:counted]))


PEERS = (
    Peer(
        *("networkx", "networkx", "networkx"),
        "Weisfeiler–Lehman hashes after 4 rounds; equal hashes, not equal signatures, decide; on "
        "long graphs 4 rounds are not enough, and more would be as many passes over the graph.",
        _with_networkx,
    ),
    Peer(
        *("scikit-network", "scikit-network", "sknetwork"),
        "Weisfeiler–Lehman rounds until nothing changes, on the bare graph: it takes no start "
        "colours and no positions, so tables, variables and factors, and the order of arguments "
        "are not told apart; on large graphs its hashes merge nodes that the rounds would tell "
        "apart (random triples).",
        _with_scikit_network,
    ),
    Peer(
        *("igraph (bliss)", "igraph", "igraph"),
        "generators of the automorphism group; the groups are its orbits, a harder problem and "
        "sometimes finer.",
        _with_igraph,
    ),
    Peer(
        *("pynauty", "pynauty", "pynauty"),
        "the automorphism group by nauty; the groups are its orbits.",
        _with_pynauty,
    ),
)
ROUNDS = 4


def _owners(graph: FactorGraph) -> tuple[Any, Any]:
    """Factor and position of each argument."""
    arity = np.diff(graph.offsets)
    return np.repeat(np.arange(len(arity)), arity), np.arange(len(graph.arguments)) - np.repeat(
        graph.offsets[:-1], arity
    )


def _with_argument_nodes(graph: FactorGraph) -> tuple[Any, Any, int]:
    """Edges and start colours with a node for each argument, and how many nodes come before."""
    nodes, (owner, place) = len(graph.variable_names), _owners(graph)
    counted = nodes + len(graph.factor_names)
    arguments = counted + np.arange(len(graph.arguments))
    edges = np.concatenate(
        (np.stack((arguments, graph.arguments), 1), np.stack((arguments, nodes + owner), 1))
    )
    tables = 1 + graph.factor_table
    positions = 2 + int(tables.max(initial=0)) + place
    return edges, np.concatenate((np.zeros(nodes, dtype=np.int64), tables, positions)), counted


def _orbits(generators: list[list[int]], nodes: int, counted: int) -> int:
    """Number of orbits among the first nodes."""
    from lifagu.basics.arrays import connected_parts

    moved = [np.asarray(generator, dtype=np.int64) for generator in generators]
    places = [np.flatnonzero(generator != np.arange(nodes)) for generator in moved]
    first = np.concatenate([np.zeros(0, dtype=np.int64), *places])
    second = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(image[at] for image, at in zip(moved, places, strict=True))]
    )
    return len(np.unique(connected_parts(nodes, first, second)[:counted]))
