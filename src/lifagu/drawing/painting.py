"""A scene as PNG and PDF: the shapes that SVG has, painted with matplotlib."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.inputs import instance
from lifagu.drawing.canvas import images, shows
from lifagu.drawing.labels import clean
from lifagu.drawing.scene import Scene
from lifagu.drawing.shapes import Box, Drawing, Ellipse, Path, Shape, Text, drawing_of, pattern_over
from lifagu.drawing.style import LIGHT, LIGHT_PAGE, PALETTE, Look, bright, colour_of, sign_ink, tint
from lifagu.drawing.svg import HALO

INCH = 96.0  # pixels of a scene
POINT = 72 / INCH  # of a pixel
MOST_PIXELS = 8000  # of a side
HATCHES = {"": None, "stripes": "////", "dots": "....", "grid": "++++"}
GAP = np.array([[np.nan, np.nan]])
ROUND = np.linspace(0, 2 * np.pi, 49)


def to_png(scene: Scene) -> bytes:
    """A scene as PNG; needs the extra ``plot``.

    Parameters
    ----------
    scene
        What is drawn.

    Returns
    -------
    bytes
        The image, with twice as many pixels as the scene has, or as many as are sensible; equal
        scenes give equal bytes.

    Examples
    --------
    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> to_png(lifagu.draw(graph))[1:4]
    b'PNG'
    """
    instance("to_png", scene, Scene)
    drawing = drawing_of(scene)
    scale = min(2.0, MOST_PIXELS / max(drawing.width, drawing.height))
    return _image(drawing, "png", dpi=max(int(INCH * scale), 30))


def to_pdf(scene: Scene) -> bytes:
    """A scene as PDF; needs the extra ``plot``.

    Parameters
    ----------
    scene
        What is drawn.

    Returns
    -------
    bytes
        The document, one page with text that can be searched; equal scenes give equal bytes.

    Examples
    --------
    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> to_pdf(lifagu.draw(graph))[:4]
    b'%PDF'
    """
    instance("to_pdf", scene, Scene)
    return _image(drawing_of(scene), "pdf", dpi=int(INCH))


def _image(drawing: Drawing, ending: str, dpi: int) -> bytes:
    size = (drawing.width / INCH, drawing.height / INCH)

    def paint(figure: Any) -> None:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, drawing.width)
        axes.set_ylim(drawing.height, 0)
        axes.axis("off")
        page, *others = [shape for element in drawing.elements for shape in element.shapes]
        lines, rest = _lines(others)
        _paint(axes, page, 0)
        for (look, group), points in lines.items():
            _stroke(axes, points, _coloured(look, group), 1)
        for order, shape in enumerate(rest, start=2):
            _paint(axes, shape, order)

    return images(size, paint, [ending], constrained=False, dpi=dpi)[0]


def _lines(shapes: list[Shape]) -> tuple[dict[tuple[str, int], Floats], list[Shape]]:
    """Straight lines that look alike as one with gaps (much faster to draw), and other shapes."""
    found: dict[tuple[str, int], list[Floats]] = {}
    rest = []
    for shape in shapes:
        if isinstance(shape, Path) and len(shape.points) == 2:
            found.setdefault((shape.look, shape.group), []).extend((_points(shape), GAP))
        else:
            rest.append(shape)
    return {key: np.concatenate(pieces) for key, pieces in found.items()}, rest


def _paint(axes: Any, shape: Shape, order: int) -> None:
    """One shape; order: what comes later lies above."""
    if isinstance(shape, Text):
        _write(axes, shape, order)
        return
    look = _coloured(shape.look, shape.group)
    if not look.fill:
        _stroke(axes, _points(shape), look, order)
        return
    axes.fill(
        *_points(shape).T,
        facecolor=look.fill,
        edgecolor=look.line or "none",
        linewidth=look.width * POINT,
        linestyle=_dashes(look),
        hatch=HATCHES[pattern_over(shape)],
        zorder=order,
    )


def _stroke(axes: Any, points: Floats, look: Look, order: int) -> None:
    line = {"color": look.line, "alpha": look.opacity, "linewidth": look.width * POINT}
    axes.plot(*points.T, linestyle=_dashes(look), zorder=order, **line)


def _dashes(look: Look) -> Any:
    if not look.dashes:
        return "solid"
    return (0, tuple(each / max(look.width, 0.1) for each in look.dashes))


def _points(shape: Ellipse | Box | Path) -> Floats:
    """The outline of a shape as points."""
    points: Floats
    match shape:
        case Ellipse():
            points = np.column_stack((np.cos(ROUND), np.sin(ROUND)))
        case Box():
            points = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
        case Path():
            points = np.array(shape.points)
            if shape.closed or len(points) < 3:
                return points
            step = np.linspace(0, 1, 25)[:, None]
            start, middle, end = points
            points = (1 - step) ** 2 * start + 2 * step * (1 - step) * middle + step**2 * end
            return points
    points = points * np.array([shape.width / 2, shape.height / 2]) + np.array([shape.x, shape.y])
    return points


def _coloured(name: str, group: int) -> Look:
    """How a class of shapes looks on a light page, in the colour of a group."""
    if name == "badge":
        return Look(PALETTE[colour_of(group)])
    look = LIGHT[name]
    if group < 0:
        return look
    colour = colour_of(group)
    fill = tint(colour, name) if name in ("variable", "factor") else look.fill
    return replace(look, fill=fill, line=bright(colour))


def _write(axes: Any, words: Text, order: int) -> None:
    look = LIGHT[words.look]
    halo = {"boxstyle": "square,pad=0.1", "fc": LIGHT_PAGE, "ec": "none", "alpha": 0.8}
    axes.text(
        words.x,
        words.y,
        shows(clean(words.text)),
        fontsize=words.size * POINT * 0.95,
        color=sign_ink(colour_of(words.group)) if words.look == "sign" else look.fill,
        fontweight="bold" if look.bold else "normal",
        ha="left" if words.anchor == "start" else "center",
        va="center_baseline",
        zorder=order,
        bbox=halo if words.look in HALO else None,
        parse_math=False,
    )
