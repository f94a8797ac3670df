"""Plain charts as self-contained SVG, light and dark: bars beside one another, and reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from lifagu.drawing.style import DARK_INK, DARK_PAGE, FONT, LIGHT_INK, LIGHT_PAGE, PALETTE, bright

ROW, GAP, LEFT, WIDE = 16, 10, 190, 420  # of bars: height, room between groups, labels, length
SIDE, EDGE = 320, 60  # of a square plot, and the room around it


class Bar(NamedTuple):
    """A bar: whose it is, how long, and its standard error if it has one."""

    name: str
    length: float
    error: float | None


class Curve(NamedTuple):
    """Points (x, y, standard error of y or None, how many stand behind it), under a name."""

    name: str
    points: Sequence[tuple[float, float, float | None, int]]


def bar_chart(groups: Mapping[str, Sequence[Bar]], caption: str) -> str:
    """Horizontal bars, some for each group, in the same order in each; the first ones are grey.

    >>> bar_chart({"Age": [Bar("frequencies", 1.5, None), Bar("one", 0.5, 0.1)]}, "loss")[:4]
    '<svg'
    """
    names = [bar.name for bar in next(iter(groups.values()))]
    longest = max(bar.length + (bar.error or 0.0) for bars in groups.values() for bar in bars)
    scale = WIDE / (longest or 1.0)
    parts, top = _legend(names, LEFT), 34.0
    for title, bars in groups.items():
        middle = top + ROW * len(bars) / 2 + 4
        parts.append(_text(LEFT - 10, middle, title, "end"))
        for place, bar in enumerate(bars):
            parts += _bar(bar, place, top + ROW * place, scale)
        top += ROW * len(bars) + GAP
    parts.append(_text(LEFT, top + 14, caption, "start", "quiet"))
    return _svg(LEFT + WIDE + 70, top + 26, parts)


def _bar(bar: Bar, place: int, top: float, scale: float) -> list[str]:
    length = bar.length * scale
    shape = (
        f'<rect class="c{place}" x="{LEFT}" y="{top + 1:.1f}" '
        f'width="{length:.2f}" height="{ROW - 3}"/>'
    )
    middle, end = top + ROW / 2, LEFT + length
    whisker = []
    if bar.error:
        low, high = end - bar.error * scale, end + bar.error * scale
        whisker = [_line(low, middle, high, middle, "error")]
        end = high
    return [shape, *whisker, _text(end + 6, middle + 4, f"{bar.length:.3f}", "start", "small")]


def reliability_diagram(curves: Sequence[Curve], across: str, up: str) -> str:
    """How often something was right over how sure it was said to be; the diagonal is as stated."""
    parts = _legend(["", *(curve.name for curve in curves)], EDGE)
    bottom = EDGE + SIDE
    for tenth in range(0, 11, 2):
        x, y = EDGE + SIDE * tenth / 10, bottom - SIDE * tenth / 10
        parts += [_line(x, EDGE, x, bottom, "grid"), _line(EDGE, y, EDGE + SIDE, y, "grid")]
        parts += [_text(x, bottom + 18, f"{tenth / 10:g}", "middle", "small")]
        parts += [_text(EDGE - 8, y + 4, f"{tenth / 10:g}", "end", "small")]
    parts.append(_line(EDGE, bottom, EDGE + SIDE, EDGE, "stated"))
    for number, curve in enumerate(curves, start=1):
        parts += _points(curve, number)
    parts.append(_text(EDGE + SIDE / 2, bottom + 40, across, "middle", "quiet"))
    turned = f'transform="rotate(-90 16 {EDGE + SIDE / 2})"'
    parts.append(_text(16, EDGE + SIDE / 2, up, "middle", "quiet", turned))
    return _svg(EDGE + SIDE + 30, bottom + 54, parts)


def _points(curve: Curve, number: int) -> list[str]:
    most = max((count for *_, count in curve.points), default=1)
    parts = []
    for x, y, error, count in curve.points:
        across, up = EDGE + SIDE * x, EDGE + SIDE * (1 - y)
        if error:
            low, high = (
                EDGE + SIDE * (1 - min(1.0, max(0.0, y + sign * error))) for sign in (-1, 1)
            )
            parts.append(_line(across, low, across, high, "error"))
        size = 2.5 + 5.5 * (count / most) ** 0.5
        parts.append(
            f'<circle class="c{number}" cx="{across:.2f}" cy="{up:.2f}" r="{size:.2f}">'
            f"<title>{count}: stated {x:.3f}, right {y:.3f}</title></circle>"
        )
    return parts


def _legend(names: Sequence[str], left: float) -> list[str]:
    parts = []
    for place, name in enumerate(names):
        if name:
            parts.append(f'<rect class="c{place}" x="{left:.0f}" y="10" width="11" height="11"/>')
            parts.append(_text(left + 16, 20, name, "start", "small"))
            left += 34 + 7 * len(name)
    return parts


def _text(x: float, y: float, text: str, anchor: str, style: str = "label", more: str = "") -> str:
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>'
        f"{escape(shown)}</text>"
    )


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f'<line class="{style}" x1="{x:.2f}" y1="{y:.2f}" x2="{to_x:.2f}" y2="{to_y:.2f}"/>'


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n'
        f"<style>{chart_styles()}</style>\n"
        f'<rect class="page" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )


def chart_styles() -> str:
    """The style sheet of charts, and the colours that a page around them may use."""
    light = {"page": LIGHT_PAGE, "ink": LIGHT_INK, "quiet": "#57606a", "line": "#d0d7de"}
    dark = {"page": DARK_PAGE, "ink": DARK_INK, "quiet": "#a8b0ba", "line": "#3a414b"}
    grey = {"c0": "#9aa3ad"}, {"c0": "#6c7580"}
    colours = range(len(PALETTE))
    light |= grey[0] | {f"c{each + 1}": bright(each) for each in colours}
    dark |= grey[1] | {f"c{each + 1}": bright(each, dark=True) for each in colours}
    listed = (
        "".join(f"--{name}:{value};" for name, value in each.items()) for each in (light, dark)
    )
    first, second = listed
    fills = "".join(f".chart .c{each}{{fill:var(--c{each})}}" for each in range(len(PALETTE) + 1))
    return (
        f":root{{color-scheme:light dark;{first}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{second}}}}}"
        f".chart text{{font-family:{FONT};fill:var(--ink);font-size:13px}}"
        ".chart .small{font-size:11px}.chart .quiet{fill:var(--quiet)}"
        ".chart .page{fill:var(--page)}.chart .grid{stroke:var(--line);stroke-width:1}"
        ".chart .stated{stroke:var(--quiet);stroke-dasharray:4 4}"
        f".chart .error{{stroke:var(--ink);stroke-width:1.4}}{fills}"
    )
