"""Figures of experiments, as SVG and PNG: written from what panels draw into a matplotlib figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lifagu.drawing.canvas import images
from lifagu.formats.files import write_bytes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
LINEAR_BELOW = 1e-4  # logarithmic axes of divergences show zero, too, so they are linear near it
ENDINGS = ("svg", "png")


def draw(path: Path, size: tuple[float, float], panels: Callable[[Any], None]) -> list[Path]:
    """Write path.svg and path.png with what `panels` draws into a matplotlib figure; return their names."""
    written = [path.with_suffix(f".{ending}") for ending in ENDINGS]
    for place, image in zip(written, images(size, panels, ENDINGS), strict=True):
        write_bytes(place, image)
    return written
