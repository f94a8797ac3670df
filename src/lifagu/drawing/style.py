"""How each class of shapes looks, light and dark: one table for SVG and for matplotlib.

Colours of groups are those of Okabe and Ito (2008), which people with any colour vision tell apart;
every further round through them has another pattern, and each group has a sign, so that colour is
never the only one.
"""

from __future__ import annotations

from dataclasses import dataclass

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#6b7b00")
PATTERNS = ("", "stripes", "dots", "grid")
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#14171c"
LIGHT_INK, DARK_INK = "#1b1f24", "#e6e9ee"
FONT = "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Look:
    """Fill, line, its width and its dashes, and whether it is text; "" means none."""

    fill: str = ""
    line: str = ""
    width: float = 0.0
    dashes: tuple[float, ...] = ()
    bold: bool = False
    opacity: float = 1.0


LIGHT: dict[str, Look] = {
    "page": Look(LIGHT_PAGE),
    "edge": Look("", "#7d8590", 1.2),
    "faint": Look("", "#7d8590", 0.6, opacity=0.45),
    "member": Look("", "#7d8590", 1.2, (1.5, 3.5)),
    "variable": Look("#ffffff", LIGHT_INK, 1.3),
    "observed": Look("", LIGHT_INK, 1.1),
    "factor": Look("#cfd3d8", "#40464d", 1.2),
    "unknown": Look("#ffffff", "#40464d", 1.6, (3.5, 2.5)),
    "arrow": Look("", "#b3261e", 1.7),
    "head": Look("#b3261e"),
    "text": Look(LIGHT_INK),
    "outside": Look(LIGHT_INK),
    "mystery": Look(LIGHT_INK, bold=True),
    "inside": Look(LIGHT_INK, bold=True),
    "quiet": Look("#57606a"),
    "caption": Look("#57606a"),
    "share": Look("#b3261e", bold=True),
    "sign": Look("#ffffff", bold=True),
}
DARK: dict[str, Look] = {
    "page": Look(DARK_PAGE),
    "edge": Look("", "#8b949e", 1.2),
    "faint": Look("", "#8b949e", 0.6, opacity=0.45),
    "member": Look("", "#8b949e", 1.2, (1.5, 3.5)),
    "variable": Look("#1d222a", DARK_INK, 1.3),
    "observed": Look("", DARK_INK, 1.1),
    "factor": Look("#59626d", "#c3c9d1", 1.2),
    "unknown": Look("#1d222a", "#c3c9d1", 1.6, (3.5, 2.5)),
    "arrow": Look("", "#ff8f85", 1.7),
    "head": Look("#ff8f85"),
    "text": Look(DARK_INK),
    "outside": Look(DARK_INK),
    "mystery": Look(DARK_INK, bold=True),
    "inside": Look(DARK_INK, bold=True),
    "quiet": Look("#a8b0ba"),
    "caption": Look("#a8b0ba"),
    "share": Look("#ff8f85", bold=True),
    "sign": Look("#ffffff", bold=True),
}


def colour_of(group: int) -> int:
    """The place in the palette of a group."""
    return group % len(PALETTE)


def pattern_of(group: int) -> str:
    """The pattern of a group: none in the first round through the palette, or without a group."""
    return "" if group < 0 else PATTERNS[group // len(PALETTE) % len(PATTERNS)]


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with a share of another.

    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + "".join(f"{round(one * (1 - share) + two * share):02x}" for one, two in pairs)


def tint(colour: int, kind: str, dark: bool = False) -> str:
    """The fill of a node of a group: paper with some of its colour, more in a factor."""
    share = 0.42 if kind == "factor" else 0.74 if dark else 0.86
    return mixed(PALETTE[colour], DARK_PAGE if dark else LIGHT_PAGE, share)


def bright(colour: int, dark: bool = False) -> str:
    """The colour of lines of a group, lighter on a dark page."""
    return mixed(PALETTE[colour], "#ffffff", 0.3) if dark else PALETTE[colour]


def sign_ink(colour: int) -> str:
    """Black or white, whichever is easier to read on a colour of the palette."""
    red, green, blue = bytes.fromhex(PALETTE[colour][1:])
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"
