"""A relational model as a scene: relations as ellipses, parfactors as stacked squares.

What a node stands for is the product of its domains: an upper bound where constraints leave less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, first_places
from lifagu.drawing.arranging import arranged
from lifagu.drawing.graphs import MOST_EDGES, MOST_LABELLED, MOST_NODES, group_numbers, groups_of
from lifagu.drawing.labels import shortened
from lifagu.drawing.scene import ColourGroup, Edge, Node, Scene
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.notation import parfactor_lines
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_COLOURED = 24  # ellipses that have colours of their own
MOST_SHOWN = 300  # nodes where there are too many


@dataclass(frozen=True, eq=False)
class LiftedFrom:
    """The graph a model was lifted from, and its groups: both figures have the same colours."""

    graph: FactorGraph
    colouring: Colouring


def lifted_scene(model: ParfactorGraph, source: LiftedFrom | None = None) -> Scene:
    """A relational model with a place for every relation, parfactor, and node of its ground part.

    Of more relations, parfactors and ground nodes than can be drawn the first are, and a note says
    so. source: of a lifted model, for groups.
    """
    part, many = model.ground_part, len(model.parfactors)
    everything = len(model.relations) + many + len(part.variable_names) + len(part.factor_names)
    factors, most = len(part.factor_names), MOST_NODES
    if everything > MOST_NODES or len(part.arguments) > MOST_EDGES:
        most = MOST_SHOWN
        many, factors = min(many, most // 4), min(factors, most // 4)
    nodes = [*_parfactors(model, many), *_ground_factors(part, factors)]
    edges = [*_edges(model, many), *_ground_edges(part, factors)]
    touched = [edge.source for edge in edges]
    if most == MOST_NODES:
        touched += [*(f"r{each}" for each in range(len(model.relations)))]
        touched += [*(f"v{each}" for each in range(len(part.variable_names)))]
    touched = list(dict.fromkeys(touched))[: most - len(nodes)]
    numbers = sorted((each[0], int(each[1:])) for each in touched)
    relations = [number for sort, number in numbers if sort == "r"]
    variables = [number for sort, number in numbers if sort == "v"]
    nodes = [*_relations(model, relations), *nodes, *_ground_variables(part, variables)]
    edges += _members(model, variables)
    present = {node.id for node in nodes}
    edges = [each for each in edges if each.source in present][:MOST_EDGES]
    nodes, groups = _grouped(nodes, model, source)
    if len(nodes) > MOST_LABELLED:
        nodes = [replace(each, label="", caption="") for each in nodes]
    notes = []
    if any(each.caption for each in nodes):
        notes.append(
            "×: how many variables an ellipse and how many factors a stack of squares stands for"
        )
    if everything > len(nodes):
        notes.append(f"{everything - len(nodes):,} more nodes are left out")
    name = f"A lifted model with {model.summary}"
    about = f"{name}: relations are ellipses, parfactors are stacks of squares. {_in_words(model)}"
    return arranged(
        Scene("lifted", name, about, tuple(nodes), tuple(edges), (), groups, tuple(notes))
    )


def is_groundable(model: ParfactorGraph) -> bool:
    """Whether a model is small enough that its ground graph could perhaps be drawn."""
    return sum(map(_substitutions, model.bound)) <= 8 * MOST_NODES


def _substitutions(bound: BoundParfactor) -> int:
    """At most how many factors a parfactor stands for."""
    return math.prod(domain.size for domain in bound.domains[: bound.free])


def _relations(model: ParfactorGraph, chosen: Sequence[int]) -> Iterator[Node]:
    sizes = {domain.name: domain.size for domain in model.domains}
    whole = _whole_relations(model)
    for number in chosen:
        each = model.relations[number]
        size = math.prod(sizes[domain] for domain in each.of)
        name = f"{each.name}({','.join(each.of)})" if each.of else each.name
        label, caption = shortened(name), _times(size, number in whole)
        yield Node(
            id=f"r{number}",
            kind="variable",
            label=label,
            caption=caption,
            title=f"{name} ∈ {{{', '.join(each.range)}}}" + _stands_for(caption, "variables"),
        )


def _whole_relations(model: ParfactorGraph) -> set[int]:
    """Relations all of whose ground variables exist, as some parfactor has them all."""
    return {
        argument.relation
        for bound in model.bound
        if not (bound.comparisons or bound.memberships)
        for argument in bound.arguments
        if min(argument.codes, default=0) >= 0 and len(set(argument.codes)) == len(argument.codes)
    }


def _parfactors(model: ParfactorGraph, many: int) -> Iterator[Node]:
    lines, _ = parfactor_lines(model.parfactors[:many])
    for number, (each, line) in enumerate(zip(model.parfactors[:many], lines, strict=True)):
        size = _substitutions(model.bound[number])
        caption = _times(size, not each.where)
        yield Node(
            id=f"p{number}",
            kind="parfactor",
            label=shortened(each.name, 16),
            caption=caption,
            title=line + _stands_for(caption, "factors"),
            unknown=each.table is None,
            stacked=size > 1,
        )


def _stands_for(caption: str, what: str) -> str:
    return f"; {caption} {what}" if caption else ""


def _times(size: int, exact: bool) -> str:
    """``×1,000``, nothing for one, and ``≤`` before a bound.

    >>> _times(1000, True), _times(10**12, False), _times(1, True)
    ('×1,000', '≤ ×1e+12', '')
    """
    number = f"{size:,}" if size < 10**9 else f"{float(size):.3g}"
    return "" if size == 1 else f"×{number}" if exact else f"≤ ×{number}"


def _edges(model: ParfactorGraph, first: int) -> Iterator[Edge]:
    """One edge per parfactor and relation or variable: ×2 for two arguments, # where counted."""
    for number, bound in enumerate(model.bound[:first]):
        many = Counter[str]()
        counted_over = set()
        for argument in bound.arguments:
            node = f"r{argument.relation}" if argument.relation >= 0 else f"v{argument.variable}"
            many[node] += 1
            if argument.counted >= 0:
                counted_over.add(node)
        for node, times in many.items():
            label = ("#" if node in counted_over else "") + (f"×{times}" if times > 1 else "")
            yield Edge(node, f"p{number}", label)


def _ground_variables(part: FactorGraph, chosen: Sequence[int]) -> Iterator[Node]:
    for number in chosen:
        name = part.variable_names[number]
        yield Node(f"v{number}", "variable", shortened(name), name)


def _ground_factors(part: FactorGraph, many: int) -> Iterator[Node]:
    for number in range(many):
        each = part.factors[number]
        listed = ", ".join(each.arguments[:8]) + (", …" if len(each.arguments) > 8 else "")
        label, about = shortened(each.name, 16), f"{each.name}({listed})"
        yield Node(f"f{number}", "factor", label, about, unknown=not each.known)


def _ground_edges(part: FactorGraph, many: int) -> Iterator[Edge]:
    for factor in range(many):
        for variable in part.scope(factor):
            yield Edge(f"v{variable}", f"f{factor}")


def _members(model: ParfactorGraph, variables: Sequence[int]) -> Iterator[Edge]:
    """Dotted lines from ground variables to their relations."""
    for variable in variables:
        if variable in model.places:
            yield Edge(f"r{model.places[variable][0]}", f"v{variable}", dotted=True)


# ---- groups


def _grouped(
    nodes: list[Node], model: ParfactorGraph, source: LiftedFrom | None
) -> tuple[list[Node], tuple[ColourGroup, ...]]:
    """Nodes with groups: those of the graph they come from if it is small, else one per ellipse."""
    if source is None or len(source.graph.arguments) > MOST_EDGES:
        ellipses = [node.id for node in nodes if node.kind == "variable"]
        ellipses = ellipses if len(ellipses) <= MOST_COLOURED else []
        number = {node: place for place, node in enumerate(ellipses)}
        own = [replace(node, group=number.get(node.id, -1)) for node in nodes]
        return own, tuple(ColourGroup("", node.label, 1) for node in nodes if node.id in number)
    of_node = _groups_by_node(model, source)
    grouped = [replace(node, group=of_node.get(node.id, -1)) for node in nodes]
    return grouped, groups_of(source.graph, source.colouring)


def _groups_by_node(model: ParfactorGraph, source: LiftedFrom) -> dict[str, int]:
    """The group of each node: of the first variable it stands for, of the factors it looks like."""
    graph, many = source.graph, len(source.graph.variable_names)
    of_node = group_numbers(source.colouring)
    found = {}
    for number, each in enumerate(model.relations):
        name = each.names[0][-1] if each.names else each.name
        found[f"r{number}"] = graph.variable_names.find(name)
    for number, name in enumerate(model.ground_part.variable_names):
        found[f"v{number}"] = graph.variable_names.find(name)
    for number, name in enumerate(model.ground_part.factor_names):
        place = graph.factor_names.find(name)
        found[f"f{number}"] = None if place is None else many + place
    groups = {node: int(of_node[each]) for node, each in found.items() if each is not None}
    firsts = first_places(source.colouring.factor_colours).tolist()
    looks = {
        _look([int(of_node[each]) for each in graph.scope(factor)], graph.table(factor)): factor
        for factor in firsts
    }
    for number, bound in enumerate(model.bound):
        nodes = [
            f"r{each.relation}" if each.relation >= 0 else f"v{each.variable}"
            for each in bound.arguments
        ]
        factor = looks.get(_look([groups.get(node, -1) for node in nodes], bound.table))
        if factor is not None:
            groups[f"p{number}"] = int(of_node[many + factor])
    return groups


def _look(groups: Sequence[int], table: Floats | None) -> tuple[tuple[int, ...], bytes]:
    """A factor by the groups of its arguments and its potentials, whatever the order of both."""
    potentials = (
        b"" if table is None else np.sort(np.asarray(table, dtype=np.float64).reshape(-1)).tobytes()
    )
    return tuple(sorted(groups)), potentials


def _in_words(model: ParfactorGraph) -> str:
    lines, _ = parfactor_lines(model.parfactors)
    return "; ".join(lines[:8]) + ("; …" if len(lines) > 8 else ".")
