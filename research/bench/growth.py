"""Growth curves as figures: time against size, both axes logarithmic, one panel beside the other.

python -m research.bench.growth [FOLDER]      draws them again from FOLDER/points.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from lifagu.drawing.canvas import images
from lifagu.formats.files import write_bytes
from research.bench.part import COLUMNS, FLOOR

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
Point = dict[str, str]  # by the names in part.COLUMNS, and "part"
IN_A_ROW, WIDTH, HEIGHT = 3, 3.5, 4.0  # panels, inches
NARROW = 30  # below this ratio of the largest size to the smallest, each size has a tick


@dataclass(frozen=True)
class Curve:
    """Sizes and seconds, by size, and where the curve ended in a failure, if it did."""

    name: str
    sizes: list[float]
    seconds: list[float]
    failure: str

    @property
    def label(self) -> str:
        """Its name, and how it ended."""
        return f"{self.name} ({self.failure})" if self.failure else self.name


def read_points(path: Path) -> list[Point]:
    """The points in a file; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_points(path: Path, points: Iterable[Point]) -> None:
    """Write them, with a head."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ("part", *COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(points)


def curves(points: Sequence[Point]) -> list[Curve]:
    """The curves of a panel, in the order of their first points.

    >>> point = {"curve": "a", "size": "10", "seconds": "1e-3", "failure": ""}
    >>> curves([point, {**point, "size": "100", "seconds": "", "failure": "nan"}])
    [Curve(name='a', sizes=[10.0], seconds=[0.001], failure='nan at 100')]
    """
    found = []
    for name in dict.fromkeys(point["curve"] for point in points):
        mine = sorted(
            (point for point in points if point["curve"] == name),
            key=lambda point: float(point["size"]),
        )
        good = [point for point in mine if not point["failure"]]
        failed = [
            f"{point['failure']} at {float(point['size']):,.0f}"
            for point in mine
            if point["failure"]
        ]
        sizes, seconds = (
            [float(point[column]) for point in good] for column in ("size", "seconds")
        )
        found.append(Curve(name, sizes, seconds, failed[0] if failed else ""))
    return found


def redraw(folder: Path) -> None:
    """Draw all figures again from the points that are there."""
    points = read_points(folder / "points.csv")
    for part in dict.fromkeys(point["part"] for point in points):
        figure(folder / part, [point for point in points if point["part"] == part])


def figure(path: Path, points: Sequence[Point]) -> None:
    """Write the panels of one part as an SVG file."""
    panels = list(dict.fromkeys(point["panel"] for point in points))
    across = min(len(panels), IN_A_ROW)
    down = -(-len(panels) // across)

    names = dict.fromkeys(
        point["curve"] for point in points if not point["curve"].startswith(FLOOR)
    )
    colours = dict(zip(names, cycle(COLOURS), strict=False))

    def paint(canvas: Any) -> None:
        grid = canvas.subplots(down, across, squeeze=False)
        for place, axes in enumerate(grid.flat):
            if place < len(panels):
                _panel(
                    axes, [point for point in points if point["panel"] == panels[place]], colours
                )
            else:
                axes.set_visible(False)

    (image,) = images((WIDTH * across, HEIGHT * down), paint, ("svg",))
    write_bytes(path.with_suffix(".svg"), image)


def _panel(axes: Any, points: Sequence[Point], colours: Mapping[str, str]) -> None:
    for curve in curves(points):
        if curve.name in colours:
            width = 2.0 if curve.name.startswith("lifagu") else 1.0
            style = {
                "color": colours[curve.name],
                "linewidth": width,
                "marker": "o",
                "markersize": 3,
            }
        else:
            style = {"color": "#777777", "linewidth": 1.0, "linestyle": "--"}
        axes.plot(curve.sizes, curve.seconds, label=curve.label, **style)
    axes.set(xscale="log", yscale="log", xlabel=points[0]["unit"], ylabel="seconds")
    axes.set_title(points[0]["panel"], fontsize=9)
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.minorticks_off()
    sizes = sorted({float(point["size"]) for point in points})
    if sizes[-1] < NARROW * sizes[0]:
        axes.set_xticks(sizes, labels=[f"{size:,.0f}" for size in sizes])
    axes.legend(
        fontsize=6.5, frameon=False, loc="upper left", bbox_to_anchor=(0, -0.18), labelspacing=0.3
    )


if __name__ == "__main__":
    redraw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "figures")
