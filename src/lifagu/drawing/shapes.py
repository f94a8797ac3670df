"""A scene as simple shapes with classes, drawn in order: what SVG and matplotlib both draw.

Every shape of a node, an edge or an arrow belongs to an element, which carries ids and the sentence
about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lifagu.drawing.arranging import ROOM, factor_text
from lifagu.drawing.labels import text_width
from lifagu.drawing.scene import BADGE, LABEL, MARGIN, SHIFT, SMALL, Arrow, Edge, Node, Scene
from lifagu.drawing.style import pattern_of

MOST_IN_LEGEND = 24
HEAD = 8.0
Point = tuple[float, float]


@dataclass(frozen=True)
class _Sized:
    x: float
    y: float
    width: float
    height: float
    look: str
    group: int = -1


class Ellipse(_Sized):
    """An ellipse around (x, y)."""


class Box(_Sized):
    """A rectangle around (x, y)."""


@dataclass(frozen=True)
class Path:
    """A line through two points, or a curve drawn towards a point between; closed: filled."""

    points: tuple[Point, ...]
    look: str
    group: int = -1
    closed: bool = False


@dataclass(frozen=True)
class Text:
    """Text around or from (x, y), which is the middle of its height."""

    x: float
    y: float
    text: str
    size: float
    look: str = "text"
    anchor: Literal["start", "middle"] = "middle"
    group: int = -1


Shape = Ellipse | Box | Path | Text


@dataclass(frozen=True)
class Element:
    """Shapes that belong together. about: what pages find them by."""

    kind: Literal["page", "edge", "node", "arrow", "legend", "words"]
    shapes: tuple[Shape, ...]
    about: tuple[tuple[str, str], ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Drawing:
    """All elements of a scene in drawing order, and the size of the page."""

    elements: tuple[Element, ...]
    width: float
    height: float


def pattern_over(shape: Shape) -> str:
    """The pattern of its group that is drawn over a shape."""
    return pattern_of(shape.group) if shape.look in ("variable", "factor") else ""


def drawing_of(scene: Scene) -> Drawing:
    """The shapes of a scene: edges, arrows, nodes over them, then panels, legend and notes."""
    nodes = {node.id: node for node in scene.nodes}
    page = (scene.width, scene.height)
    elements = [
        *(_edge(each, nodes[each.source], nodes[each.target]) for each in scene.edges),
        *(_arrow(each, nodes[each.source], nodes[each.target], page) for each in scene.arrows),
        *(_node(scene, node) for node in scene.nodes),
        *(_line(x, y + SMALL, text) for x, y, text in scene.panels),
    ]
    width = max(scene.width, 280.0)
    below, bottom = _words_below(scene, width)
    paper = Element("page", (Box(width / 2, bottom / 2, width, bottom, "page"),))
    return Drawing((paper, *elements, *below), width, bottom)


def _line(x: float, y: float, text: str, anchor: Literal["start", "middle"] = "middle") -> Element:
    """A line of text that belongs to nothing else."""
    return Element("words", (Text(x, y, text, SMALL, "quiet", anchor),))


def _edge(edge: Edge, variable: Node, factor: Node) -> Element:
    look = "member" if edge.dotted else "faint" if edge.faint else "edge"
    group = -1 if edge.dotted else variable.group
    line = Path(((variable.x, variable.y), (factor.x, factor.y)), look, group)
    middle = ((variable.x + factor.x) / 2, (variable.y + factor.y) / 2)
    words = (Text(*middle, edge.label, SMALL, "quiet"),) if edge.label else ()
    return Element("edge", (line, *words), (("from", edge.source), ("to", edge.target)))


def _node(scene: Scene, node: Node) -> Element:
    shape = _variable if node.kind == "variable" else _factor
    about = [("node", node.id), ("kind", node.kind)]
    about += [("group", str(node.group))] if node.group >= 0 else []
    about += [("members", " ".join(node.members))] if node.members else []
    return Element("node", (*shape(node), *_signs(scene, node)), tuple(about), node.title)


def _variable(node: Node) -> Iterator[Shape]:
    yield Ellipse(node.x, node.y, node.width, node.height, "variable", node.group)
    if node.observed:
        yield Ellipse(node.x, node.y, node.width - 6, node.height - 6, "observed", node.group)
    if node.caption:
        yield Text(node.x, node.y - SMALL * ROOM / 2, node.label, LABEL)
        yield Text(node.x, node.y + LABEL * ROOM / 2, node.caption, SMALL, "caption")
    elif node.label:
        yield Text(node.x, node.y, node.label, LABEL)


def _factor(node: Node) -> Iterator[Shape]:
    look = "unknown" if node.unknown else "factor"
    shifts = (-SHIFT, 0.0, SHIFT) if node.stacked else (0.0,)
    for shift in shifts:
        yield Box(node.x + shift, node.y + shift, node.width, node.height, look, node.group)
    if node.unknown:
        yield Text(node.x + shifts[-1], node.y + shifts[-1], "?", node.height * 0.72, "mystery")
    if node.label:
        away = node.height / 2 + shifts[-1] + SMALL * 0.75
        y = node.y + (away if node.below else -away)
        yield Text(node.x, y, factor_text(node), SMALL, "outside")


def _signs(scene: Scene, node: Node) -> Iterator[Shape]:
    """The sign of the node's group, in a dot beside an ellipse or in a square; then its marks."""
    inside = node.kind != "variable" or not node.label
    x, y = _corner(node)
    sign = scene.groups[node.group].sign if node.group >= 0 else ""
    if sign and inside and not node.unknown:
        last, size = SHIFT if node.stacked else 0.0, _sign_size(sign) * node.height / 18
        yield Text(node.x + last, node.y + last, sign, size, "inside")
    elif sign and node.label:
        yield from _badge(scene, node.group, x, y)
        x += 2 * BADGE + 1
    for place, group in enumerate(node.marks):
        yield from _badge(scene, group, x + place * (2 * BADGE + 1), y)


def _corner(node: Node) -> tuple[float, float]:
    """Where the first dot stands."""
    if node.kind == "variable":
        return node.x + node.width / 2 * 0.74, node.y - node.height / 2 * 0.74
    return node.x + node.width / 2 + BADGE + 2 + (SHIFT if node.stacked else 0), node.y


def _badge(scene: Scene, group: int, x: float, y: float) -> Iterator[Shape]:
    sign = scene.groups[group].sign
    yield Ellipse(x, y, 2 * BADGE, 2 * BADGE, "badge", group)
    yield Text(x, y, sign, _sign_size(sign), "sign", group=group)


def _sign_size(sign: str) -> float:
    """A font size with which a sign fits into a dot."""
    return BADGE * (1.5 if len(sign) == 1 else 1.2 if len(sign) == 2 else 0.85)


def _arrow(arrow: Arrow, donor: Node, receiver: Node, page: Point) -> Element:
    """A curve with a head at the receiver, left of the straight way unless that leaves the page."""
    across, down = receiver.x - donor.x, receiver.y - donor.y
    length = max(math.hypot(across, down), 1e-9)
    bend = min(0.16 * length, 70.0) / length
    x, y = (donor.x + receiver.x) / 2, (donor.y + receiver.y) / 2
    left, right = ((x + down * each, y - across * each) for each in (bend, -bend))
    on_page = 0 < (x + left[0]) / 2 < page[0] and 0 < (y + left[1]) / 2 < page[1]
    middle = left if on_page else right
    start = _towards((donor.x, donor.y), middle, donor.width * 0.85)
    tip = _towards((receiver.x, receiver.y), middle, receiver.width * 0.85)
    base = _towards(tip, middle, HEAD)
    side = ((base[1] - tip[1]) * 0.42, (tip[0] - base[0]) * 0.42)
    head = (tip, (base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1]))
    shapes: list[Shape] = [Path((start, middle, base), "arrow"), Path(head, "head", closed=True)]
    if arrow.label:
        at = ((start[0] + 2 * middle[0] + tip[0]) / 4, (start[1] + 2 * middle[1] + tip[1]) / 4)
        shapes.append(Text(*at, arrow.label, SMALL, "share"))
    return Element(
        "arrow", tuple(shapes), (("from", arrow.source), ("to", arrow.target)), arrow.title
    )


def _towards(start: Point, end: Point, length: float) -> Point:
    """The point a length away from the start, on the way to the end."""
    whole = max(math.dist(start, end), 1e-9)
    x, y = (one + (two - one) * length / whole for one, two in zip(start, end, strict=True))
    return x, y


def _words_below(scene: Scene, width: float) -> tuple[list[Element], float]:
    """Legend and notes, and where they end."""
    elements, y = [], scene.height
    for row in _legend(scene, width):
        y += BADGE + 3
        for left, group, text in row:
            words = Text(left + 2 * BADGE + 5, y, text, SMALL, "text", "start")
            shapes = (*_badge(scene, group, left + BADGE, y), words)
            elements.append(Element("legend", shapes, (("group", str(group)),)))
        y += BADGE + 3
    for line in _notes(scene, width):
        elements.append(_line(MARGIN, y + SMALL * 0.75, line, "start"))
        y += SMALL * 1.5
    return elements, y + (MARGIN / 2 if elements else 0)


def _legend(scene: Scene, width: float) -> list[list[tuple[float, int, str]]]:
    """Place, number and text of each group, as many in a row as fit; nothing if they are too many.

    The nodes of a lifted model say it themselves.
    """
    if scene.what == "lifted" or len(scene.groups) > MOST_IN_LEGEND:
        return []
    rows: list[list[tuple[float, int, str]]] = [[]]
    left = MARGIN
    for number, group in enumerate(scene.groups):
        if not group.size:
            continue
        text = f"{group.label}  ×{group.size:,}" if group.size > 1 else group.label
        room = 2 * BADGE + 22 + text_width(text, SMALL)
        if left + room > width and rows[-1]:
            rows.append([])
            left = MARGIN
        rows[-1].append((left, number, text))
        left += room
    return rows


def _notes(scene: Scene, width: float) -> list[str]:
    """The notes as sentences, broken into lines that fit."""
    lines: list[str] = []
    for note in scene.notes:
        line = ""
        for word in note.split(" "):
            if line and text_width(f"{line} {word}", SMALL) > width - 2 * MARGIN:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return lines
