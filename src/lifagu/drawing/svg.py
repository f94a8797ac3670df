"""A scene as self-contained SVG text: our own elements, one style sheet, nothing from outside.

Pages find what they need by attributes: ``data-node``, ``data-kind`` and ``data-group`` on nodes,
``data-from`` and ``data-to`` on edges and arrows. A page whose content policy forbids inline styles
leaves the style sheet out (``styled=False``) and serves `svg_styles()` itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from lifagu.basics.inputs import instance
from lifagu.drawing.arranging import ROOM, factor_text
from lifagu.drawing.labels import clean, text_width
from lifagu.drawing.scene import BADGE, LABEL, MARGIN, SHIFT, SMALL, Arrow, Edge, Node, Scene
from lifagu.drawing.style import colour_of, pattern_of, svg_styles

MOST_IN_LEGEND = 24
NARROWEST = 280.0
HEAD = 8.0  # of an arrow
PATTERN_SHAPES = {
    "stripes": '<path class="c{}" d="M0 6L6 0" fill="none" '
    'stroke-width="1.2" stroke-opacity=".55"/>',
    "dots": '<circle class="c{}" cx="3" cy="3" r="1" stroke-opacity=".6" fill="none"/>',
    "grid": '<path class="c{}" d="M0 3H6M3 0V6" fill="none" '
    'stroke-width=".9" stroke-opacity=".5"/>',
}
Point = tuple[float, float]
__all__ = ["page_size", "svg_styles", "to_svg"]


def to_svg(scene: Scene, styled: bool = True) -> str:
    """A scene as an ``<svg>`` element, the same text for the same scene.

    styled: whether the style sheet is inside. Without it, the page that holds the figure serves
    `svg_styles()` itself.

    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> to_svg(lifagu.draw(graph)).count("<ellipse")
    1
    """
    instance("to_svg", scene, Scene)
    content = repr((scene.title, scene.description, scene.nodes, scene.edges, scene.arrows))
    # ids differ where several figures are on one page
    name = f"lifagu-{sha256(content.encode()).hexdigest()[:10]}"
    width, height = map(_number, page_size(scene))
    style = f"<style>{svg_styles()}</style>\n" if styled else ""
    parts = "\n".join(_elements(scene, name))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="lifagu" role="img" '
        f'data-what="{scene.what}" aria-labelledby="{name}-title {name}-about" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<title id="{name}-title">{_text(scene.title)}</title>\n'
        f'<desc id="{name}-about">{_text(scene.description)}</desc>\n'
        f'{style}{_patterns(scene, name)}<rect class="page" width="{width}" height="{height}"/>\n'
        f"{parts}\n</svg>\n"
    )


def page_size(scene: Scene) -> Point:
    """The width and height of a scene with its legend and notes."""
    width = max(scene.width, NARROWEST)
    legend, notes = len(_legend(scene, width)), len(_notes(scene, width))
    below = legend * 2 * (BADGE + 3) + notes * SMALL * 1.5
    return width, scene.height + below + (MARGIN / 2 if below else 0)


def _elements(scene: Scene, name: str) -> Iterator[str]:
    """Edges, arrows, nodes over them, then titles of panels, legend and notes."""
    nodes = {node.id: node for node in scene.nodes}
    size = (scene.width, scene.height)
    for edge in scene.edges:
        yield _edge(edge, nodes[edge.source], nodes[edge.target])
    for arrow in scene.arrows:
        yield _arrow(arrow, nodes[arrow.source], nodes[arrow.target], size)
    for node in scene.nodes:
        yield _node(scene, node, name)
    for x, y, text in scene.panels:
        yield _words(x, y + SMALL, text, SMALL, "quiet")
    width, y = max(scene.width, NARROWEST), scene.height
    for row in _legend(scene, width):
        y += BADGE + 3
        for left, group, text in row:
            words = _words(left + 2 * BADGE + 5, y, text, SMALL, "text start")
            yield _group(
                "legends", [("group", str(group))], _badge(scene, group, left + BADGE, y), words
            )
        y += BADGE + 3
    for line in _notes(scene, width):
        yield _words(MARGIN, y + SMALL * 0.75, line, SMALL, "quiet start")
        y += SMALL * 1.5


def _edge(edge: Edge, variable: Node, factor: Node) -> str:
    look = "member" if edge.dotted else "faint" if edge.faint else "edge"
    line = f"M{_at(variable.x, variable.y)}L{_at(factor.x, factor.y)}"
    middle = ((variable.x + factor.x) / 2, (variable.y + factor.y) / 2)
    words = _words(*middle, edge.label, SMALL, "quiet") if edge.label else ""
    group = -1 if edge.dotted else variable.group
    return _group(
        "edges", [("from", edge.source), ("to", edge.target)], _path(line, look, group), words
    )


def _node(scene: Scene, node: Node, name: str) -> str:
    about = [("node", node.id), ("kind", node.kind)]
    about += [("group", str(node.group))] if node.group >= 0 else []
    shapes = _variable(node, name) if node.kind == "variable" else _factor(node, name)
    return _group("nodes", about, *shapes, *_signs(scene, node), title=node.title)


def _variable(node: Node, name: str) -> Iterator[str]:
    yield from _patterned(_ellipse(node.x, node.y, node.width, node.height), "variable", node, name)
    if node.observed:
        inner = _ellipse(node.x, node.y, node.width - 6, node.height - 6)
        yield inner.format(_class("observed", node.group))
    if node.caption:
        yield _words(node.x, node.y - SMALL * ROOM / 2, node.label, LABEL)
        yield _words(node.x, node.y + LABEL * ROOM / 2, node.caption, SMALL, "caption")
    elif node.label:
        yield _words(node.x, node.y, node.label, LABEL)


def _factor(node: Node, name: str) -> Iterator[str]:
    shifts = (-SHIFT, 0.0, SHIFT) if node.stacked else (0.0,)
    for shift in shifts:
        left, top = node.x + shift - node.width / 2, node.y + shift - node.height / 2
        size = f'width="{_number(node.width)}" height="{_number(node.height)}"'
        box = f'<rect {{}} x="{_number(left)}" y="{_number(top)}" {size}/>'
        yield from _patterned(box, "unknown" if node.unknown else "factor", node, name)
    last = shifts[-1]
    if node.unknown:
        yield _words(node.x + last, node.y + last, "?", node.height * 0.72, "mystery")
    if node.label:
        away = node.height / 2 + last + SMALL * 0.75
        y = node.y + (away if node.below else -away)
        yield _words(node.x, y, factor_text(node), SMALL, "outside")


def _patterned(template: str, look: str, node: Node, name: str) -> Iterator[str]:
    """A shape, and the pattern of its group drawn over its colour."""
    yield template.format(_class(look, node.group))
    if look != "unknown" and (pattern := pattern_of(node.group)):
        yield template.format(f'fill="url(#{name}-{pattern}-{colour_of(node.group)})"')


def _signs(scene: Scene, node: Node) -> Iterator[str]:
    """The sign of the node's group, in a dot beside an ellipse or in a square; then its marks."""
    last = SHIFT if node.stacked else 0.0
    x, y = node.x + node.width / 2 + BADGE + 2 + last, node.y
    if node.kind == "variable":
        x, y = node.x + node.width / 2 * 0.74, node.y - node.height / 2 * 0.74
    sign = scene.groups[node.group].sign if node.group >= 0 else ""
    inside = node.kind != "variable" or not node.label
    if sign and inside and not node.unknown:
        yield _words(
            node.x + last, node.y + last, sign, _sign_size(sign) * node.height / 18, "inside"
        )
    elif sign and node.label:
        yield _badge(scene, node.group, x, y)
        x += 2 * BADGE + 1
    for place, group in enumerate(node.marks):
        yield _badge(scene, group, x + place * (2 * BADGE + 1), y)


def _badge(scene: Scene, group: int, x: float, y: float) -> str:
    sign = scene.groups[group].sign
    dot = _ellipse(x, y, 2 * BADGE, 2 * BADGE).format(_class("badge", group))
    return dot + _words(x, y, sign, _sign_size(sign), f"sign c{colour_of(group)}")


def _sign_size(sign: str) -> float:
    """A font size with which a sign fits into a dot."""
    return BADGE * (1.5 if len(sign) == 1 else 1.2 if len(sign) == 2 else 0.85)


def _arrow(arrow: Arrow, donor: Node, receiver: Node, page: Point) -> str:
    """A curve with a head at the receiver, left of the straight way unless that leaves the page."""
    across, down = receiver.x - donor.x, receiver.y - donor.y
    bend = min(0.16, 70.0 / max(math.hypot(across, down), 1e-9))
    x, y = (donor.x + receiver.x) / 2, (donor.y + receiver.y) / 2
    left, right = ((x + down * each, y - across * each) for each in (bend, -bend))
    on_page = 0 < (x + left[0]) / 2 < page[0] and 0 < (y + left[1]) / 2 < page[1]
    middle = left if on_page else right
    start = _towards((donor.x, donor.y), middle, donor.width * 0.85)
    comes_from_its_dot = middle[0] - receiver.x > abs(middle[1] - receiver.y)
    room = 2 * BADGE if receiver.group >= 0 and comes_from_its_dot else 0.0
    tip = _towards((receiver.x, receiver.y), middle, receiver.width * 0.85 + room)
    base = _towards(tip, middle, HEAD)
    aside = ((base[1] - tip[1]) * 0.42, (tip[0] - base[0]) * 0.42)
    sides = [_at(base[0] + each * aside[0], base[1] + each * aside[1]) for each in (1, -1)]
    shapes = [
        _path(f"M{_at(*start)}Q{_at(*middle)} {_at(*base)}", "arrow"),
        _path(f"M{_at(*tip)}L{'L'.join(sides)}Z", "head"),
    ]
    if arrow.label:
        at = ((start[0] + 2 * middle[0] + tip[0]) / 4, (start[1] + 2 * middle[1] + tip[1]) / 4)
        shapes.append(_words(*at, arrow.label, SMALL, "share"))
    about = [("from", arrow.source), ("to", arrow.target)]
    return _group("arrows", about, *shapes, title=arrow.title)


def _towards(start: Point, end: Point, length: float) -> Point:
    """The point a length away from the start, on the way to the end."""
    share = length / max(math.dist(start, end), 1e-9)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


# ---- below the figure


def _legend(scene: Scene, width: float) -> list[list[tuple[float, int, str]]]:
    """Place, number and text of each group, as many in a row as fit; nothing if they are too many.

    The nodes of a lifted model say it themselves.
    """
    if not scene.groups or scene.what == "lifted" or len(scene.groups) > MOST_IN_LEGEND:
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


# ---- elements


def _group(kind: str, about: Sequence[tuple[str, str]], *shapes: str, title: str = "") -> str:
    data = "".join(f" data-{key}={quoteattr(clean(value))}" for key, value in about)
    words = f"<title>{_text(title)}</title>" if title else ""
    return f'<g class="{kind}"{data}>{words}{"".join(shapes)}</g>'


def _class(look: str, group: int) -> str:
    return f'class="{look} c{colour_of(group)}"' if group >= 0 else f'class="{look}"'


def _path(way: str, look: str, group: int = -1) -> str:
    return f'<path {_class(look, group)} d="{way}"/>'


def _ellipse(x: float, y: float, width: float, height: float) -> str:
    """An ellipse with room for its class."""
    radii = f'rx="{_number(width / 2)}" ry="{_number(height / 2)}"'
    return f'<ellipse {{}} cx="{_number(x)}" cy="{_number(y)}" {radii}/>'


def _words(x: float, y: float, text: str, size: float, look: str = "text") -> str:
    """Text around (x, y), or to the right of it, which is the middle of its height."""
    place = f'x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}"'
    return f'<text class="{look}" {place}>{_text(text)}</text>'


def _patterns(scene: Scene, name: str) -> str:
    """The patterns that the figure uses."""
    groups = {node.group for node in scene.nodes}
    used = sorted({(pattern_of(group), colour_of(group)) for group in groups if pattern_of(group)})
    square = 'width="6" height="6" patternUnits="userSpaceOnUse"'
    made = [
        f'<pattern id="{name}-{pattern}-{colour}" {square}>'
        f"{PATTERN_SHAPES[pattern].format(colour)}</pattern>"
        for pattern, colour in used
    ]
    return f"<defs>{''.join(made)}</defs>\n" if made else ""


def _at(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """At most two digits after the point, and no minus before zero."""
    return f"{round(value, 2) + 0.0:g}" if abs(value) < 100_000 else f"{value:.0f}"


def _text(text: str) -> str:
    return escape(clean(text))
