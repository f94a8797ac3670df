"""Images by matplotlib: its one door. Equal pictures give equal bytes (no date, no version)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from io import BytesIO
from typing import Any

from lifagu.errors import MissingExtraError

METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}
SETTINGS = {
    **{"svg.hashsalt": "lifagu", "svg.fonttype": "none", "pdf.fonttype": 42},
    **{"font.size": 9, "font.sans-serif": ["DejaVu Sans"]},
}


def images(
    size: tuple[float, float],
    paint: Callable[[Any], None],
    endings: Iterable[str],
    constrained: bool = True,
    dpi: int = 150,
) -> list[bytes]:
    """One image per ending (svg, png or pdf) of what `paint` draws into a matplotlib figure.

    size: in inches; constrained: whether matplotlib makes room for titles and labels.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "drawing figures", extra="plot") from None
    made = []
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **SETTINGS}):
        figure = Figure(figsize=size, layout="constrained" if constrained else None)
        paint(figure)
        for ending in endings:
            image = BytesIO()
            figure.savefig(image, format=ending, dpi=dpi, metadata=METADATA[ending])
            made.append(image.getvalue())
    return made


def shows(text: str) -> str:
    """The text with a sign for each character that matplotlib's own font lacks."""
    known = _known()
    return "".join(each if ord(each) in known else "\N{WHITE SQUARE}" for each in text)


@cache
def _known() -> frozenset[int]:
    """The characters that matplotlib's own font has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties())).get_charmap())
