"""Pictures of the league: curves over rows and over own cells, and how far stated shares hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from research.league.standings import OURS, Standing

STEPS = 10  # of the top probability, in a reliability diagram
SETTINGS = {"svg.hashsalt": "lifagu", "svg.fonttype": "none", "font.size": 9}


def draw_curves(path: Path, panels: Sequence[tuple[str, Sequence[Standing]]]) -> None:
    """Log loss by how much is known: lifagu, its best rivals, and frequencies."""
    figure, axes = _panels(len(panels))
    for axis, (title, points) in zip(axes, panels, strict=True):
        places = range(len(points))
        for way in _shown(points):
            style = {"linewidth": 2.2, "zorder": 3} if way in OURS else {"linewidth": 1.1}
            losses = [point.told[way].loss for point in points]
            axis.plot(places, losses, marker="o", markersize=3, label=way, **style)
        axis.set_xticks(list(places), [point.known for point in points])
        axis.set_title(title)
        axis.legend(fontsize=6.5, frameon=False)
    axes[0].set_ylabel("log loss in nats a cell")
    _save(figure, path)


def _shown(points: Sequence[Standing]) -> list[str]:
    """Those that told all points: frequencies, ours, and the best rivals of some point."""
    everywhere = set.intersection(*(set(point.told) for point in points))
    wanted = ["frequencies", *dict.fromkeys(point.best for point in points), *OURS]
    return [way for way in dict.fromkeys(wanted) if way in everywhere]


def draw_reliability(path: Path, found: Iterable[Standing]) -> None:
    """How often the most probable label is right, by how probable it was said to be."""
    several = list(found)
    figure, axes = _panels(len(several))
    for axis, each in zip(axes, several, strict=True):
        axis.plot([0, 1], [0, 1], color="0.75", linewidth=1)
        for way in (each.best, OURS[0]):
            said, true = _reliability(each, way)
            axis.plot(said, true, marker="o", markersize=3, label=way)
        axis.set_title(f"{each.task.database}, {each.task.kind}")
        axis.set_xlabel("probability of the top label")
        axis.legend(fontsize=6.5, frameon=False)
    axes[0].set_ylabel("share that is right")
    _save(figure, path)


def _reliability(each: Standing, way: str) -> tuple[list[float], list[float]]:
    told = each.told[way]
    place = np.minimum((told.tops * STEPS).astype(int), STEPS - 1)
    steps = [step for step in range(STEPS) if (place == step).sum() >= 20]
    return (
        [float(told.tops[place == step].mean()) for step in steps],
        [float(told.right[place == step].mean()) for step in steps],
    )


def _panels(count: int) -> tuple[Any, list[Any]]:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(SETTINGS)
    from matplotlib import pyplot

    columns = min(3, count)
    rows = -(-count // columns)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(3.6 * columns, 3.1 * rows), squeeze=False
    )
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    return figure, list(axes.flat[:count])


def _save(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
