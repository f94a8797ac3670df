"""A scene as self-contained SVG text: our own elements, one style sheet, nothing from outside.

Pages find what they need by attributes: ``data-node``, ``data-kind``, ``data-group`` and
``data-members`` on nodes, ``data-from`` and ``data-to`` on edges and arrows. A page whose content
policy forbids inline styles leaves the style sheet out (``styled=False``) and serves `svg_styles()`
itself.
"""

from __future__ import annotations

from hashlib import sha256
from xml.sax.saxutils import escape, quoteattr

from lifagu.basics.inputs import instance
from lifagu.drawing.labels import clean
from lifagu.drawing.scene import Scene
from lifagu.drawing.shapes import (
    Box,
    Drawing,
    Element,
    Ellipse,
    Path,
    Shape,
    Text,
    drawing_of,
    pattern_over,
)
from lifagu.drawing.style import (
    DARK,
    FONT,
    LIGHT,
    PALETTE,
    Look,
    bright,
    colour_of,
    pattern_of,
    sign_ink,
    tint,
)

TEXTS = ("text", "outside", "mystery", "inside", "quiet", "caption", "share", "sign")
HALO = ("outside", "quiet", "share")  # texts that edges may run behind


def to_svg(scene: Scene, styled: bool = True) -> str:
    """A scene as SVG, the same text for the same scene.

    Parameters
    ----------
    scene
        What is drawn.
    styled
        Whether the style sheet is inside. A page whose content policy forbids that serves
        `svg_styles()` itself.

    Returns
    -------
    str
        A self-contained ``<svg>`` element.

    Examples
    --------
    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> to_svg(lifagu.draw(graph)).count("<ellipse")
    1
    """
    instance("to_svg", scene, Scene)
    drawing = drawing_of(scene)
    content = repr((scene.title, scene.description, scene.nodes, scene.edges, scene.arrows))
    # ids differ where several figures are on one page
    name = f"lifagu-{sha256(content.encode()).hexdigest()[:10]}"
    parts = [_element(element, name) for element in drawing.elements]
    style = f"<style>{svg_styles()}</style>\n" if styled else ""
    width, height = _number(drawing.width), _number(drawing.height)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="lifagu" role="img" '
        f'data-what="{scene.what}" aria-labelledby="{name}-title {name}-about" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<title id="{name}-title">{_text(scene.title)}</title>\n'
        f'<desc id="{name}-about">{_text(scene.description)}</desc>\n'
        f"{style}{_patterns(drawing, name)}{''.join(parts)}</svg>\n"
    )


def svg_styles() -> str:
    """The style sheet of figures: the looks of all classes, light, and dark where preferred.

    Returns
    -------
    str
        CSS whose rules are all below the class ``lifagu``.

    Examples
    --------
    >>> "@media (prefers-color-scheme:dark)" in svg_styles()
    True
    """
    dark = "".join(_rules(DARK, dark=True))
    text = "text-anchor:middle;dominant-baseline:central;unicode-bidi:isolate"
    return (
        f".lifagu text{{font-family:{FONT};{text}}}"
        ".lifagu .start{text-anchor:start}.lifagu .edge{stroke-linecap:round}"
        f"{''.join(_rules(LIGHT, dark=False))}@media (prefers-color-scheme:dark){{{dark}}}"
    )


def _rules(looks: dict[str, Look], dark: bool) -> list[str]:
    """One rule per class; those of groups come later and win."""
    page = looks["page"].fill
    rules = [
        f".lifagu .{name}{{{_declarations(look, name in TEXTS)}}}" for name, look in looks.items()
    ]
    halo = f"paint-order:stroke;stroke:{page};stroke-width:3px;stroke-linejoin:round"
    rules.append(f"{','.join(f'.lifagu .{name}' for name in HALO)}{{{halo}}}")
    for number in range(len(PALETTE)):
        line, own = bright(number, dark), f".lifagu .c{number}"
        rules += [
            f"{own}{{stroke:{line}}}",
            f"{own}.variable{{fill:{tint(number, 'variable', dark)}}}",
            f"{own}.factor{{fill:{tint(number, 'factor', dark)}}}",
            f"{own}.badge{{fill:{PALETTE[number]}}}",
            f"{own}.badge,{own}.sign{{stroke:none}}",
            f"{own}.sign{{fill:{sign_ink(number)}}}",
        ]
    return rules


def _declarations(look: Look, text: bool) -> str:
    parts = [f"fill:{look.fill or 'none'}"]
    if not text:
        parts.append(f"stroke:{look.line or 'none'}")
        if look.line:
            parts.append(f"stroke-width:{look.width:g}")
        if look.dashes:
            parts.append(f"stroke-dasharray:{' '.join(f'{each:g}' for each in look.dashes)}")
        if look.opacity < 1:
            parts.append(f"stroke-opacity:{look.opacity:g}")
    if look.bold:
        parts.append("font-weight:600")
    return ";".join(parts)


def _element(element: Element, name: str) -> str:
    """One mark as an element, a group where it has several shapes or a title."""
    shapes = [_shape(each, name) for each in element.shapes]
    if element.kind in ("page", "words"):
        return "".join(shapes) + "\n"
    about = "".join(f" data-{key}={quoteattr(clean(value))}" for key, value in element.about)
    title = f"<title>{_text(element.title)}</title>" if element.title else ""
    return f'<g class="{element.kind}s"{about}>{title}{"".join(shapes)}</g>\n'


def _shape(shape: Shape, name: str) -> str:
    colour = f" c{colour_of(shape.group)}" if shape.group >= 0 else ""
    classes = f'class="{shape.look}{colour}"'
    match shape:
        case Ellipse():
            radii = f'rx="{_number(shape.width / 2)}" ry="{_number(shape.height / 2)}"'
            ellipse = f'<ellipse {{}} cx="{_number(shape.x)}" cy="{_number(shape.y)}" {radii}/>'
            return ellipse.format(classes) + _overlay(shape, ellipse, name)
        case Box():
            left, top = shape.x - shape.width / 2, shape.y - shape.height / 2
            size = f'width="{_number(shape.width)}" height="{_number(shape.height)}"'
            box = f'<rect {{}} x="{_number(left)}" y="{_number(top)}" {size}/>'
            return box.format(classes) + _overlay(shape, box, name)
        case Path():
            return f'<path {classes} d="{_way(shape)}"/>'
        case Text():
            start = " start" if shape.anchor == "start" else ""
            place = f'x="{_number(shape.x)}" y="{_number(shape.y)}"'
            return (
                f'<text class="{shape.look}{colour}{start}" {place} '
                f'font-size="{_number(shape.size)}">{_text(shape.text)}</text>'
            )


def _overlay(shape: Ellipse | Box, template: str, name: str) -> str:
    """The pattern of a group, drawn over its colour."""
    pattern = pattern_over(shape)
    fill = f'fill="url(#{name}-{pattern}-{colour_of(shape.group)})"'
    return template.format(fill) if pattern else ""


_PATTERN_SHAPES = {
    "stripes": '<path class="c{}" d="M0 6L6 0" fill="none" '
    'stroke-width="1.2" stroke-opacity=".55"/>',
    "dots": '<circle class="c{}" cx="3" cy="3" r="1" stroke-opacity=".6" fill="none"/>',
    "grid": '<path class="c{}" d="M0 3H6M3 0V6" fill="none" '
    'stroke-width=".9" stroke-opacity=".5"/>',
}


def _patterns(drawing: Drawing, name: str) -> str:
    """The patterns that the figure uses."""
    shapes = (shape for element in drawing.elements for shape in element.shapes)
    groups = {shape.group for shape in shapes if shape.group >= 0}
    used = sorted({(pattern_of(group), colour_of(group)) for group in groups if pattern_of(group)})
    square = 'width="6" height="6" patternUnits="userSpaceOnUse"'
    made = [
        f'<pattern id="{name}-{pattern}-{colour}" {square}>'
        f"{_PATTERN_SHAPES[pattern].format(colour)}</pattern>"
        for pattern, colour in used
    ]
    return f"<defs>{''.join(made)}</defs>\n" if made else ""


def _way(path: Path) -> str:
    first, *rest = [f"{_number(x)} {_number(y)}" for x, y in path.points]
    if path.closed:
        return f"M{first}L{'L'.join(rest)}Z"
    return f"M{first}{'Q' if len(rest) == 2 else 'L'}{' '.join(rest)}"


def _number(value: float) -> str:
    """At most two digits after the point, and no minus before zero."""
    return f"{round(value, 2) + 0.0:g}" if abs(value) < 100_000 else f"{value:.0f}"


def _text(text: str) -> str:
    return escape(clean(text))
