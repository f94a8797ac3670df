"""Figures as SVG and PNG: the one door to matplotlib. Equal numbers give equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from lifagu.errors import MissingExtraError
from lifagu.formats.files import write_bytes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
LINEAR_BELOW = 1e-4  # logarithmic axes of divergences show zero, too, so they are linear near it
STYLE = {"svg.hashsalt": "lifagu", "svg.fonttype": "none", "font.size": 9, "font.sans-serif": ["DejaVu Sans"]}
METADATA: dict[str, dict[str, None]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def draw(
    path: Path, size: tuple[float, float], panels: Callable[[Any], None], endings: Sequence[str] = ("svg", "png")
) -> list[Path]:
    """Write path.svg, path.png or both with what `panels` draws into a matplotlib figure; return their names."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "drawing figures", extra="plot") from None
    written = []
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **STYLE}):
        figure = Figure(figsize=size, layout="constrained")
        panels(figure)
        for ending in endings:
            image = BytesIO()
            figure.savefig(image, format=ending, dpi=150, metadata=METADATA[ending])
            written.append(path.with_suffix(f".{ending}"))
            write_bytes(written[-1], image.getvalue())
    return written
