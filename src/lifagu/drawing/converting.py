"""A figure as PNG and PDF: its SVG, converted by the optional library vl-convert."""

from __future__ import annotations

from typing import Any

from lifagu.basics.inputs import instance
from lifagu.drawing.scene import Scene
from lifagu.drawing.svg import page_size, to_svg
from lifagu.errors import MissingExtraError

MOST_PIXELS = 8000  # of a side


def to_png(scene: Scene) -> bytes:
    """A scene as PNG, twice as many pixels as it has, or as many as are sensible.

    Equal scenes give equal bytes. Needs the extra ``plot``.
    """
    instance("to_png", scene, Scene)
    scale = min(2.0, MOST_PIXELS / max(page_size(scene)))
    image: bytes = _converter().svg_to_png(to_svg(scene), scale=scale)
    return image


def to_pdf(scene: Scene) -> bytes:
    """A scene as PDF, one page with text that can be searched. Needs the extra ``plot``."""
    document: bytes = _converter().svg_to_pdf(to_svg(scene))
    return document


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("vl-convert-python", "PNG and PDF figures", extra="plot") from None
    return vl_convert
