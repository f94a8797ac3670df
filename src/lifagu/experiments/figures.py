"""Figures of experiments and benchmarks, as SVG and PNG, drawn into by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lifagu.drawing.canvas import images
from lifagu.formats.files import write_bytes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
LINEAR_BELOW = 1e-4  # logarithmic axes of divergences show zero, too, so they are linear near it


def draw(
    path: Path,
    size: tuple[float, float],
    panels: Callable[[Any], None],
    endings: Sequence[str] = ("svg", "png"),
) -> list[Path]:
    """Write path.svg, path.png or both with what `panels` draws; return their names."""
    written = [path.with_suffix(f".{ending}") for ending in endings]
    for place, image in zip(written, images(size, panels, endings), strict=True):
        write_bytes(place, image)
    return written
