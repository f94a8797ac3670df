"""A relational model as a scene: relations as ellipses, parfactors as stacked squares.

Sizes are counted exactly where that is cheap; what is larger shows the product of its domains as an
upper bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.drawing.arranging import arranged
from lifagu.drawing.graphs import MOST_EDGES, MOST_LABELLED, MOST_NODES, group_numbers, groups_of
from lifagu.drawing.labels import shortened
from lifagu.drawing.scene import ColourGroup, Edge, Node, Scene
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.relational.bound_parfactors import BoundParfactor
from lifagu.relational.ground_parts import variable_names
from lifagu.relational.grounding import GroundPieces, ground_pieces
from lifagu.relational.notation import parfactor_lines
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_COUNTED = 16_000_000  # arguments that are gone through to count what exists
MOST_COLUMNS = 2_000  # arguments of one factor, for the same
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
    so. source: of a lifted model, for groups and members.
    """
    pieces = ground_pieces(model) if _is_countable(model) else None
    part, shown = model.ground_part, _shown(model.ground_part)
    nodes = [*_relations(model, pieces), *_parfactors(model, pieces), *_ground_nodes(part, *shown)]
    present = {node.id for node in nodes}
    edges = [
        *(edge for edge in _edges(model) if edge.source in present),
        *_ground_edges(model, *shown),
    ]
    hidden = len(part.variable_names) + len(part.factor_names) - sum(map(len, shown))
    everything = len(nodes) + hidden
    nodes, groups = _grouped(nodes, model, pieces, source)
    nodes, edges = _excerpt(nodes, edges)
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
    return sum(map(_substitutions, model.bound)) <= 8 * MOST_NODES and _is_countable(model)


def _is_countable(model: ParfactorGraph) -> bool:
    """Whether the grounding is small enough to be made in numbers, for counting."""
    wide = [
        sum(
            bound.domains[each.counted].size if each.counted >= 0 else 1 for each in bound.arguments
        )
        for bound in model.bound
    ]
    rows = map(_substitutions, model.bound)
    made = sum(many * columns for many, columns in zip(rows, wide, strict=True))
    return max(wide, default=0) <= MOST_COLUMNS and made <= MOST_COUNTED


def _substitutions(bound: BoundParfactor) -> int:
    """At most how many substitutions a parfactor admits, and how many are tried to find them."""
    listed = [
        (variables, len(rows))
        for variables, rows, inside in bound.memberships
        if inside and len(variables) > 1
    ]
    joined = {variable for variables, _ in listed for variable in variables}
    free = (bound.domains[each].size for each in range(bound.free) if each not in joined)
    whole = math.prod(bound.domains[each].size for each in joined)
    return math.prod(free) * min(whole, math.prod(rows for _, rows in listed))


def _relations(model: ParfactorGraph, pieces: GroundPieces | None) -> Iterator[Node]:
    sizes = {domain.name: domain.size for domain in model.domains}
    whole = _whole_relations(model)
    for number, each in enumerate(model.relations):
        bound = math.prod(sizes[domain] for domain in each.of)
        size = bound if pieces is None else len(pieces.variables.existing[number])
        name = f"{each.name}({','.join(each.of)})" if each.of else each.name
        label, caption = shortened(name), _times(size, pieces is not None or number in whole)
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


def _parfactors(model: ParfactorGraph, pieces: GroundPieces | None) -> Iterator[Node]:
    lines, _ = parfactor_lines(model.parfactors)
    for number, (each, bound, line) in enumerate(
        zip(model.parfactors, model.bound, lines, strict=True)
    ):
        size = _substitutions(bound) if pieces is None else len(pieces.admitted[number])
        caption = _times(size, pieces is not None or not each.where)
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


def _edges(model: ParfactorGraph) -> Iterator[Edge]:
    """One edge per parfactor and relation or variable: ×2 for two arguments, # where counted."""
    for number, bound in enumerate(model.bound):
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


def _ground_nodes(
    part: FactorGraph, variables: Sequence[int], factors: Sequence[int]
) -> Iterator[Node]:
    for number in variables:
        label = shortened(part.variable_names[number])
        yield Node(f"v{number}", "variable", label, part.variable_names[number])
    for number in factors:
        each = part.factors[number]
        listed = ", ".join(each.arguments[:8]) + (", …" if len(each.arguments) > 8 else "")
        label, about = shortened(each.name, 16), f"{each.name}({listed})"
        yield Node(f"f{number}", "factor", label, about, unknown=not each.known)


def _ground_edges(
    model: ParfactorGraph, variables: Sequence[int], factors: Sequence[int]
) -> Iterator[Edge]:
    """Arguments of ground factors, and dotted lines from ground variables to their relations."""
    for factor in factors:
        for variable in model.ground_part.scope(factor):
            yield Edge(f"v{variable}", f"f{factor}")
    for variable in variables:
        if variable in model.places:
            yield Edge(f"r{model.places[variable][0]}", f"v{variable}", dotted=True)


def _shown(part: FactorGraph) -> tuple[list[int], list[int]]:
    """Variables and factors of a ground part: all, or the nearest to the busiest if too many."""
    variables, factors = len(part.variable_names), len(part.factor_names)
    if variables + factors <= MOST_NODES:
        return list(range(variables)), list(range(factors))
    order = np.argsort(part.arguments, kind="stable")
    owner = np.repeat(np.arange(factors), np.diff(part.offsets))[order]
    starts = offsets_of(part.degrees)
    found, taken = [int(np.argmax(part.degrees))], set[int]()
    for variable in found:
        for factor in owner[starts[variable] : starts[variable + 1]][:MOST_SHOWN].tolist():
            new = [each for each in part.scope(factor) if each not in found]
            if factor not in taken and len(found) + len(new) + len(taken) < MOST_SHOWN:
                taken.add(factor)
                found += new
    return sorted(found), sorted(taken)


def _excerpt(nodes: list[Node], edges: list[Edge]) -> tuple[list[Node], list[Edge]]:
    """All nodes and edges, or if there are too many those near the busiest node."""
    if len(nodes) <= MOST_NODES and len(edges) <= MOST_EDGES:
        return nodes, edges
    near: dict[str, list[str]] = {node.id: [] for node in nodes}
    for edge in edges:
        near[edge.source].append(edge.target)
        near[edge.target].append(edge.source)
    found = dict.fromkeys([max(near, key=lambda node: len(near[node]))])
    waiting = list(found)
    for node in waiting:
        new = [each for each in near[node] if each not in found][: MOST_SHOWN - len(found)]
        found |= dict.fromkeys(new)
        waiting += new
    kept = [edge for edge in edges if edge.source in found and edge.target in found]
    return [node for node in nodes if node.id in found], kept[:MOST_EDGES]


# ---- groups


def _grouped(
    nodes: list[Node], model: ParfactorGraph, pieces: GroundPieces | None, source: LiftedFrom | None
) -> tuple[list[Node], tuple[ColourGroup, ...]]:
    """Nodes with groups: those of the graph they come from if it is small, else one per ellipse."""
    if source is None or pieces is None or len(source.graph.arguments) > MOST_EDGES:
        ellipses = [node.id for node in nodes if node.kind == "variable"]
        ellipses = ellipses if len(ellipses) <= MOST_COLOURED else []
        number = {node: place for place, node in enumerate(ellipses)}
        own = [replace(node, group=number.get(node.id, -1)) for node in nodes]
        return own, tuple(ColourGroup("", node.label, 1) for node in nodes if node.id in number)
    groups = groups_of(source.graph, source.colouring)
    of_node = group_numbers(source.colouring)
    members = _members(model, pieces, source.graph)
    result = []
    for node in nodes:
        mine = members.get(node.id, [])
        colours = set(of_node[mine].tolist())
        group = colours.pop() if len(colours) == 1 else -1
        ids = tuple(_ground_id(source.graph, each) for each in mine)
        result.append(replace(node, group=group, members=ids))
    return result, groups


def _ground_id(graph: FactorGraph, number: int) -> str:
    variables = len(graph.variable_names)
    return f"v{number}" if number < variables else f"f{number - variables}"


def _members(
    model: ParfactorGraph, pieces: GroundPieces, graph: FactorGraph
) -> dict[str, list[int]]:
    """For each node of a lifted model the nodes (variables, then factors) it stands for."""
    names = variable_names(model, pieces.variables)
    number = graph.variable_names.find_each(list(names))
    found = {
        f"v{variable}": [int(number[of])]
        for variable, of in enumerate(pieces.variables.of_part.tolist())
        if of >= 0
    }
    starts = np.cumsum([len(pieces.variables.plain), *map(len, pieces.variables.existing)])
    for relation, (start, stop) in enumerate(pairwise(starts.tolist())):
        found[f"r{relation}"] = sorted(number[start:stop].tolist())
    waiting = _factors_by_look(graph)
    for place, block in enumerate(pieces.blocks):
        cuts = np.cumsum(block.lengths)[:-1]
        scopes = np.split(number[block.arguments], cuts) if len(block.lengths) else []
        for row, (scope, table) in enumerate(zip(scopes, block.table_of.tolist(), strict=True)):
            look = _look(scope, block.tables[table] if table >= 0 else None)
            node = f"p{place - 1}" if place else f"f{row}"
            found.setdefault(node, []).append(len(graph.variable_names) + waiting[look].pop(0))
    return {node: sorted(each) for node, each in found.items()}


def _factors_by_look(graph: FactorGraph) -> dict[tuple[bytes, bytes], list[int]]:
    """Factors by their variables and potentials, whatever the order of both."""
    found: dict[tuple[bytes, bytes], list[int]] = {}
    for factor in range(len(graph.factor_names)):
        look = _look(np.array(graph.scope(factor)), graph.table(factor))
        found.setdefault(look, []).append(factor)
    return found


def _look(scope: Ints, table: Floats | None) -> tuple[bytes, bytes]:
    variables = np.sort(np.asarray(scope, dtype=np.int64)).tobytes()
    if table is None:
        return variables, b""
    return variables, np.sort(np.asarray(table, dtype=np.float64).reshape(-1)).tobytes()


def _in_words(model: ParfactorGraph) -> str:
    lines, _ = parfactor_lines(model.parfactors)
    return "; ".join(lines[:8]) + ("; …" if len(lines) > 8 else ".")
