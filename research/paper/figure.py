"""The paper's figure: divergence with a ribbon of one deviation, and run times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from research.harness import Line

NEAR_ZERO = 1e-4  # below it the axis is linear, so that zero can be shown


def draw_figure(path: Path, lines: Sequence[Line]) -> bool:
    """Draw both panels, a colour for each generator; False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure((10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for place, generator in enumerate(dict.fromkeys(line["generator"] for line in lines)):
        colour = f"C{place}"
        own = [line for line in lines if line["generator"] == generator]
        d = [line["d"] for line in own]
        mean, deviation = (np.array([line[name] for line in own]) for name in ("mean", "deviation"))
        left.plot(d, mean, color=colour, label=generator, linewidth=2)
        low = np.maximum(mean - deviation, 0)
        left.fill_between(d, low, mean + deviation, color=colour, alpha=0.15, linewidth=0)
        for engine, style in (("ground", "--"), ("lifted", "-")):
            seconds = [line[f"seconds_{engine}"] for line in own]
            right.plot(d, seconds, style, color=colour, label=f"{generator}, {engine}")
    left.set(title="mean divergence, ± one standard deviation", ylabel="KL(truth ‖ answer) in nats")
    left.set_yscale("symlog", linthresh=NEAR_ZERO)
    left.set_ylim(bottom=0)
    right.set(title="run time of one query", ylabel="CPU seconds", yscale="log")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("d")
        axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
    return True
