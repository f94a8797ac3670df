"""How each class of shapes looks, light and dark, and the style sheet of all figures.

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


def _looks(
    page: str, ink: str, line: str, quiet: str, known: str, edge: str, loan: str
) -> dict[str, Look]:
    """The look of each class of shapes by the colours of a page."""
    return {
        "page": Look(page),
        "edge": Look("", line, 1.2),
        "faint": Look("", line, 0.6, opacity=0.45),
        "member": Look("", line, 1.2, (1.5, 3.5)),
        "variable": Look(page, ink, 1.3),
        "observed": Look("", ink, 1.1),
        "factor": Look(known, edge, 1.2),
        "unknown": Look(page, edge, 1.6, (3.5, 2.5)),
        "arrow": Look("", loan, 1.7),
        "head": Look(loan),
        "text": Look(ink),
        "outside": Look(ink),
        "mystery": Look(ink, bold=True),
        "inside": Look(ink, bold=True),
        "quiet": Look(quiet),
        "caption": Look(quiet),
        "share": Look(loan, bold=True),
        "sign": Look("#ffffff", bold=True),
    }


LIGHT = _looks(LIGHT_PAGE, LIGHT_INK, "#7d8590", "#57606a", "#cfd3d8", "#40464d", "#b3261e")
DARK = _looks(DARK_PAGE, DARK_INK, "#8b949e", "#a8b0ba", "#59626d", "#c3c9d1", "#ff8f85")
TEXTS = ("text", "outside", "mystery", "inside", "quiet", "caption", "share", "sign")
HALO = ("outside", "quiet", "share")  # texts that edges may run behind


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


def svg_styles() -> str:
    """The style sheet of figures: the looks of all classes, light, and dark where preferred.

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
