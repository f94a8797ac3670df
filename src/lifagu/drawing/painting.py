"""A scene as PNG and PDF: the shapes that SVG has, painted with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from lifagu.arrays import Floats
from lifagu.drawing.canvas import images, shows
from lifagu.drawing.labels import clean
from lifagu.drawing.scene import Scene
from lifagu.drawing.shapes import Box, Drawing, Ellipse, Path, Shape, Words, drawing_of
from lifagu.drawing.style import LIGHT, LIGHT_PAGE, PALETTE, Look, bright, colour_of, pattern_of, sign_ink, tint
from lifagu.drawing.svg import HALO

INCH = 96.0  # pixels of a scene
POINT = 72 / INCH  # of a pixel
MOST_PIXELS = 8000  # of a side
HATCHES = {"": "", "stripes": "////", "dots": "....", "grid": "++++"}
ROUND = np.linspace(0, 2 * np.pi, 49)


def to_png(scene: Scene) -> bytes:
    """A scene as PNG, twice as many pixels as the scene has, or as many as are sensible."""
    drawing = drawing_of(scene)
    scale = min(2.0, MOST_PIXELS / max(drawing.width, drawing.height))
    return _image(drawing, "png", dpi=max(int(INCH * scale), 30))


def to_pdf(scene: Scene) -> bytes:
    """A scene as PDF."""
    return _image(drawing_of(scene), "pdf", dpi=int(INCH))


def _image(drawing: Drawing, ending: str, dpi: int) -> bytes:
    size = (drawing.width / INCH, drawing.height / INCH)

    def paint(figure: Any) -> None:
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, drawing.width)
        axes.set_ylim(drawing.height, 0)
        axes.axis("off")
        for order, shape in enumerate(shape for mark in drawing.marks for shape in mark.shapes):
            _paint(axes, shape, order)

    return images(size, paint, [ending], constrained=False, dpi=dpi)[0]


def _paint(axes: Any, shape: Shape, order: int) -> None:
    """One shape; order: what comes later lies above."""
    if isinstance(shape, Words):
        _write(axes, shape, order)
        return
    look = _look(shape)
    points = _points(shape)
    style = {"linewidth": look.width * POINT, "zorder": order, "solid_joinstyle": "miter"}
    dashes = (0, tuple(each / max(look.width, 0.1) for each in look.dashes)) if look.dashes else "solid"
    if look.fill:
        hatch = HATCHES[pattern_of(shape.group)] if shape.group >= 0 and shape.look in ("variable", "factor") else ""
        axes.fill(
            *points.T,
            facecolor=look.fill,
            edgecolor=look.line or "none",
            linewidth=look.width * POINT,
            linestyle=dashes,
            hatch=hatch or None,
            zorder=order,
        )
    else:
        axes.plot(*points.T, color=look.line, alpha=look.opacity, linestyle=dashes, **style)


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
            points = (1 - step) ** 2 * points[0] + 2 * step * (1 - step) * points[1] + step**2 * points[2]
            return points
    points = points * np.array([shape.width / 2, shape.height / 2]) + np.array([shape.x, shape.y])
    return points


def _look(shape: Ellipse | Box | Path) -> Look:
    """How a shape looks on a light page, in the colour of its group."""
    if shape.look == "badge":
        return Look(PALETTE[colour_of(shape.group)])
    look = LIGHT[shape.look]
    if shape.group < 0:
        return look
    colour = colour_of(shape.group)
    fill = tint(colour, shape.look) if shape.look in ("variable", "factor") else look.fill
    return Look(fill, bright(colour), look.width, look.dashes, opacity=look.opacity)


def _write(axes: Any, words: Words, order: int) -> None:
    look = LIGHT[words.look]
    halo = {"boxstyle": "square,pad=0.1", "facecolor": LIGHT_PAGE, "edgecolor": "none", "alpha": 0.8}
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
