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
from lifagu.drawing.shapes import Box, Drawing, Ellipse, Mark, Path, Shape, Words, drawing_of
from lifagu.drawing.style import (
    DARK,
    FONT,
    LIGHT,
    PALETTE,
    PATTERNS,
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
    """A scene as SVG, the same text for the same scene. styled: with the style sheet inside."""
    instance("to_svg", scene, Scene)
    drawing = drawing_of(scene)
    content = repr((scene.title, scene.description, scene.nodes, scene.edges, scene.arrows))
    # ids differ where several figures are on one page
    name = f"lifagu-{sha256(content.encode()).hexdigest()[:10]}"
    parts = [_element(mark, name) for mark in drawing.marks]
    style = f"<style>{svg_styles()}</style>\n" if styled else ""
    width, height = _number(drawing.width), _number(drawing.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="lifagu" role="img" data-what="{scene.what}" '
        f'aria-labelledby="{name}-title {name}-about" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
        f'<title id="{name}-title">{_text(scene.title)}</title>\n'
        f'<desc id="{name}-about">{_text(scene.description)}</desc>\n'
        f"{style}{_patterns(drawing, name)}{''.join(parts)}</svg>\n"
    )


def svg_styles() -> str:
    """The looks of all classes, light, and dark where that is preferred."""
    dark = "".join(_rules(DARK, dark=True))
    fonts = f".lifagu text{{font-family:{FONT};text-anchor:middle;dominant-baseline:central;unicode-bidi:isolate}}"
    return (
        f"{fonts}.lifagu .start{{text-anchor:start}}.lifagu .edge{{stroke-linecap:round}}"
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
        rules.append(
            f"{own}{{stroke:{line}}}{own}.variable{{fill:{tint(number, 'variable', dark)}}}"
        )
        rules.append(
            f"{own}.factor{{fill:{tint(number, 'factor', dark)}}}{own}.badge{{fill:{PALETTE[number]}}}"
        )
        rules.append(f"{own}.badge,{own}.sign{{stroke:none}}{own}.sign{{fill:{sign_ink(number)}}}")
    return rules


def _declarations(look: Look, text: bool) -> str:
    parts = [f"fill:{look.fill or 'none'}"]
    if not text:
        parts += [f"stroke:{look.line or 'none'}"] + (
            [f"stroke-width:{look.width:g}"] if look.line else []
        )
        parts += (
            [f"stroke-dasharray:{' '.join(f'{each:g}' for each in look.dashes)}"]
            if look.dashes
            else []
        )
        parts += [f"stroke-opacity:{look.opacity:g}"] if look.opacity < 1 else []
    return ";".join([*parts, *(["font-weight:600"] if look.bold else [])])


def _element(mark: Mark, name: str) -> str:
    """One mark as an element, a group where it has several shapes or a title."""
    shapes = [_shape(each, name) for each in mark.shapes]
    if mark.kind in ("page", "words"):
        return "".join(shapes) + "\n"
    about = "".join(f" data-{key}={quoteattr(clean(value))}" for key, value in mark.about)
    title = f"<title>{_text(mark.title)}</title>" if mark.title else ""
    return f'<g class="{mark.kind}s"{about}>{title}{"".join(shapes)}</g>\n'


def _shape(shape: Shape, name: str) -> str:
    colour = f" c{colour_of(shape.group)}" if shape.group >= 0 else ""
    classes = f'class="{shape.look}{colour}"'
    match shape:
        case Ellipse():
            ellipse = (
                f'<ellipse {{}} cx="{_number(shape.x)}" cy="{_number(shape.y)}" rx="{_number(shape.width / 2)}" '
                f'ry="{_number(shape.height / 2)}"/>'
            )
            return ellipse.format(classes) + _overlay(shape, ellipse, name)
        case Box():
            box = (
                f'<rect {{}} x="{_number(shape.x - shape.width / 2)}" y="{_number(shape.y - shape.height / 2)}" '
                f'width="{_number(shape.width)}" height="{_number(shape.height)}"/>'
            )
            return box.format(classes) + _overlay(shape, box, name)
        case Path():
            return f'<path {classes} d="{_way(shape)}"/>'
        case Words():
            start = " start" if shape.anchor == "start" else ""
            return (
                f'<text class="{shape.look}{colour}{start}" x="{_number(shape.x)}" y="{_number(shape.y)}" '
                f'font-size="{_number(shape.size)}">{_text(shape.text)}</text>'
            )


def _overlay(shape: Ellipse | Box, template: str, name: str) -> str:
    """The pattern of a group, drawn over its colour."""
    pattern = (
        pattern_of(shape.group) if shape.group >= 0 and shape.look in ("variable", "factor") else ""
    )
    return (
        template.format(f'fill="url(#{name}-{pattern}-{colour_of(shape.group)})"')
        if pattern
        else ""
    )


def _patterns(drawing: Drawing, name: str) -> str:
    """The patterns that the figure uses."""
    groups = {shape.group for mark in drawing.marks for shape in mark.shapes if shape.group >= 0}
    used = sorted({(pattern_of(group), colour_of(group)) for group in groups if pattern_of(group)})
    drawn = {
        PATTERNS[
            1
        ]: '<path class="c{0}" d="M0 6L6 0" fill="none" stroke-width="1.2" stroke-opacity=".55"/>',
        PATTERNS[2]: '<circle class="c{0}" cx="3" cy="3" r="1" stroke-opacity=".6" fill="none"/>',
        PATTERNS[
            3
        ]: '<path class="c{0}" d="M0 3H6M3 0V6" fill="none" stroke-width=".9" stroke-opacity=".5"/>',
    }
    made = [
        f'<pattern id="{name}-{pattern}-{colour}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f"{drawn[pattern].format(colour)}</pattern>"
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
