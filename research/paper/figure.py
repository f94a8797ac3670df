"""The paper's figure: divergence with a ribbon of one deviation, and run times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from research.campaign import Line
from research.results import COLOURS, LINEAR_BELOW, draw


def draw_figure(path: Path, lines: Sequence[Line]) -> list[Path]:
    """Draw both panels, a colour for each generator."""
    generators = list(dict.fromkeys(line["generator"] for line in lines))

    def panels(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for colour, generator in zip(COLOURS, generators, strict=False):
            own = [line for line in lines if line["generator"] == generator]
            _divergences(left, own, generator, colour)
            _run_times(right, own, generator, colour)
        left.set_yscale("symlog", linthresh=LINEAR_BELOW)
        left.set_ylim(bottom=0)
        left.set(
            title="mean divergence, ± one standard deviation", ylabel="KL(truth ‖ answer) in nats"
        )
        right.set_yscale("log")
        right.set(title="run time of one query", ylabel="CPU seconds")
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xlabel("d")
            axes.legend(fontsize=7)

    return draw(path, (10, 4), panels)


def _divergences(axes: Any, lines: Sequence[Line], generator: str, colour: str) -> None:
    d, mean, deviation = (
        np.array([line[name] for line in lines], dtype=np.float64)
        for name in ("d", "kl_mean", "kl_deviation")
    )
    axes.plot(d, mean, color=colour, label=generator, linewidth=2)
    axes.fill_between(
        d, np.maximum(mean - deviation, 0), mean + deviation, color=colour, alpha=0.15, linewidth=0
    )


def _run_times(axes: Any, lines: Sequence[Line], generator: str, colour: str) -> None:
    d = [line["d"] for line in lines]
    for engine, style in (("ground", "--"), ("lifted", "-")):
        seconds = [line[f"seconds_{engine}"] for line in lines]
        axes.plot(d, seconds, style, color=colour, label=f"{generator}, {engine}")
