"""A factor graph as a scene: plain, coloured by groups, or with arrows from donors to receivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Ints, first_places
from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.drawing.arranging import arranged
from lifagu.drawing.labels import shortened
from lifagu.drawing.scene import Arrow, ColourGroup, Edge, Node, Scene
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import Colouring, FactorGraph

MOST_NODES = 2000
MOST_EDGES = 10_000
MOST_LABELLED = 320  # nodes up to which all have labels
MOST_LISTED = 6  # names in a sentence


@dataclass(frozen=True)
class Loan:
    """A factor takes the table of another: numbers of both, the share that agrees, and why.

    alone: whether it takes that table and no others beside it.
    """

    receiver: int
    donor: int
    share: float
    reason: str
    alone: bool = True


def fits(graph: FactorGraph) -> bool:
    """Whether a graph is small enough to be drawn node by node."""
    nodes = len(graph.variable_names) + len(graph.factor_names)
    return nodes <= MOST_NODES and len(graph.arguments) <= MOST_EDGES


def graph_scene(
    graph: FactorGraph,
    *,
    what: str = "graph",
    colouring: Colouring | None = None,
    evidence: Evidence | None = None,
    loans: Sequence[Loan] = (),
    reasons: Mapping[int, str] | None = None,
) -> Scene:
    """A graph that `fits`, with a place for every node.

    colouring: groups, shown by colour and sign. evidence: observed variables are marked. loans:
    arrows; reasons: what is said about unknown factors, by number.
    """
    many = len(graph.variable_names)
    small = many + len(graph.factor_names) > MOST_LABELLED
    groups: tuple[ColourGroup, ...] = ()
    of_node = [-1] * (many + len(graph.factor_names))
    if colouring is not None:
        groups, of_node = groups_of(graph, colouring), group_numbers(colouring).tolist()
    variables = _variables(graph, of_node[:many], groups, evidence, small)
    factors = _factors(graph, of_node[many:], groups, reasons or {}, small)
    return arranged(
        Scene(
            what,
            _title(graph),
            _description(graph, groups, loans),
            (*variables, *factors),
            _edges(graph),
            tuple(map(_arrow, loans)),
            groups,
            tuple(_notes(graph, loans, evidence, small)),
        )
    )


def _arrow(loan: Loan) -> Arrow:
    share = "" if loan.share >= 1 else f"{loan.share:.2g}"
    return Arrow(f"f{loan.donor}", f"f{loan.receiver}", share, loan.reason)


def recoloured(scene: Scene, graph: FactorGraph, colouring: Colouring, first: int) -> Scene:
    """A picture without colours with the groups of a colouring, for rounds: nothing moves.

    first: the number of the first group of factors, so that their colours stay while groups of
    variables are divided.
    """
    groups = groups_of(graph, colouring, first)
    nodes = (
        replace(node, group=number, title="; ".join([node.title, *_grouped(groups, number)]))
        for node, number in zip(scene.nodes, group_numbers(colouring, first).tolist(), strict=True)
    )
    return replace(scene, what="colours", nodes=tuple(nodes), groups=groups)


def with_messages(scene: Scene, kind: str) -> Scene:
    """The same picture after all variables, or all factors, have heard their neighbours' colours.

    Factors hear those of their arguments in order, variables those of their factors from the first
    group to the last.
    """
    group = {node.id: node.group for node in scene.nodes}
    heard: dict[str, list[int]] = {node.id: [] for node in scene.nodes}
    for edge in scene.edges:
        heard[edge.source].append(group[edge.target])
        heard[edge.target].append(group[edge.source])
    marks = {
        each: tuple(found if each.startswith("f") else sorted(found))
        for each, found in heard.items()
    }
    nodes = (
        replace(node, marks=marks[node.id] if node.kind == kind else ()) for node in scene.nodes
    )
    return replace(scene, nodes=tuple(nodes))


def group_numbers(colouring: Colouring, first: int | None = None) -> Ints:
    """The group of each variable and then of each factor, numbered after those of variables."""
    if first is None:
        first = int(colouring.variable_colours.max(initial=-1)) + 1
    return np.concatenate((colouring.variable_colours, first + colouring.factor_colours))


def groups_of(
    graph: FactorGraph, colouring: Colouring, first: int | None = None
) -> tuple[ColourGroup, ...]:
    """All groups: of variables with numbers as signs, of factors with letters.

    Those before the number `first` are empty.
    """
    variables = _groups(graph.variable_names, colouring.variable_colours, str)
    factors = _groups(graph.factor_names, colouring.factor_colours, letters)
    return (*variables, *[ColourGroup("", "", 0)] * ((first or 0) - len(variables)), *factors)


def _groups(names: Names, colours: Ints, sign: Callable[[int], str]) -> list[ColourGroup]:
    found = zip(first_places(colours).tolist(), np.bincount(colours).tolist(), strict=True)
    return [
        ColourGroup(sign(number), shortened(names[first]) + (" …" if size > 1 else ""), size)
        for number, (first, size) in enumerate(found, 1)
    ]


def letters(number: int) -> str:
    """a, b, …, z, aa, ab, … for 1, 2, ….

    >>> letters(1), letters(26), letters(27), letters(28)
    ('a', 'z', 'aa', 'ab')
    """
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(97 + rest) + text
    return text


def _variables(
    graph: FactorGraph,
    of_node: Sequence[int],
    groups: Sequence[ColourGroup],
    evidence: Evidence | None,
    small: bool,
) -> Iterator[Node]:
    observed = _observed(graph, evidence)
    for number, (name, group) in enumerate(zip(graph.variable_names, of_node, strict=True)):
        seen = observed.get(number, "")
        about = [name, *([f"observed: {seen}"] if seen else []), *_grouped(groups, group)]
        yield Node(
            id=f"v{number}",
            kind="variable",
            label="" if small else shortened(name),
            title="; ".join(about),
            caption=f"= {shortened(seen, 14)}" if seen and not small else "",
            group=group,
            observed=bool(seen),
        )


def _factors(
    graph: FactorGraph,
    of_node: Sequence[int],
    groups: Sequence[ColourGroup],
    reasons: Mapping[int, str],
    small: bool,
) -> Iterator[Node]:
    unknown = (graph.factor_table < 0).tolist()
    for number, (name, group) in enumerate(zip(graph.factor_names, of_node, strict=True)):
        scope = graph.scope(number)
        listed = ", ".join(graph.variable_names[each] for each in scope[:MOST_LISTED])
        about = [f"{name}({listed}{', …' if len(scope) > MOST_LISTED else ''})"]
        about += ["unknown"] if unknown[number] else []
        about += _grouped(groups, group)
        about += [reasons[number]] if number in reasons else []
        yield Node(
            id=f"f{number}",
            kind="factor",
            label="" if small else shortened(name, 16),
            title="; ".join(about),
            group=group,
            unknown=unknown[number],
        )


def _grouped(groups: Sequence[ColourGroup], number: int) -> list[str]:
    if number < 0:
        return []
    group = groups[number]
    return [f"group {group.sign}{', alone' if group.size == 1 else f' of {group.size}'}"]


def _observed(graph: FactorGraph, evidence: Evidence | None) -> dict[int, str]:
    """Labels of what was observed, by variable; "…" for soft evidence."""
    if evidence is None:
        return {}
    found = dict.fromkeys(evidence.soft_variables.tolist(), "…")
    for variable, value in zip(evidence.variables.tolist(), evidence.values.tolist(), strict=True):
        place = graph.declared_order(variable).tolist().index(value)
        found[variable] = graph.labels(variable)[place]
    return found


def _edges(graph: FactorGraph) -> tuple[Edge, ...]:
    owners = np.repeat(np.arange(len(graph.factor_names)), np.diff(graph.offsets))
    return tuple(
        Edge(f"v{variable}", f"f{factor}")
        for variable, factor in zip(graph.arguments.tolist(), owners.tolist(), strict=True)
    )


def _title(graph: FactorGraph) -> str:
    unknown = f" ({len(graph.unknown)} unknown)" if len(graph.unknown) else ""
    variables = counted(len(graph.variable_names), "variable")
    factors = counted(len(graph.factor_names), "factor")
    return f"A factor graph with {variables} and {factors}{unknown}"


def _description(graph: FactorGraph, groups: Sequence[ColourGroup], loans: Sequence[Loan]) -> str:
    parts = [f"{_title(graph)}: variables are ellipses, factors are squares."]
    if groups:
        parts.append(f"{counted(len(groups), 'group')} of what looks alike.")
    if loans:
        names = graph.factor_names
        shown = [f"{names[each.receiver]} from {names[each.donor]}" for each in loans[:5]]
        rest = f" and {len(loans) - 5} more" if len(loans) > 5 else ""
        parts.append(f"Tables taken: {', '.join(shown)}{rest}.")
    return " ".join(parts)


def _notes(
    graph: FactorGraph, loans: Sequence[Loan], evidence: Evidence | None, small: bool
) -> list[str]:
    found = []
    if len(graph.unknown):
        found.append("dashed, with a question mark: no table of its own")
    if loans:
        alone = all(each.alone for each in loans)
        takes = "takes the table of" if alone else "the best of the tables it takes is that of"
        found.append(f"arrow: {takes} the factor it comes from")
    if evidence is not None and len(evidence.about):
        found.append("double line: observed")
    if small:
        found.append("names are left out; in an SVG they appear when you point at a node")
    return found
