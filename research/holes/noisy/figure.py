"""The suite of estimated tables in three panels: tables, marginals, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from research.campaign import Line
from research.holes.figure import calibration_panel
from research.holes.noisy.summary import by_way
from research.results import COLOURS, LINEAR_BELOW, draw

SHOWN = (  # ways to fill and answer, with marker
    (("uniform", "one"), "x"),
    (("pooled", "mean"), "o"),
    (("individuals", "one"), "v"),
    (("profiles", "mean"), "<"),
    (("cohorts", "mean"), "D"),
    (("auto", "posterior"), "s"),
    (("oracle", "mixture"), "*"),
)
PANELS = {"kl_tables": "filled tables", "kl_marginals": "single marginals"}


def draw_noisy(path: Path, lines: Sequence[Line], calibration: Sequence[Line]) -> list[Path]:
    """Draw all panels."""
    of = by_way(lines)
    scenarios = list(dict.fromkeys(line["scenario"] for line in lines))

    def panels(figure: Any) -> None:
        *both, right = figure.subplots(1, 3)
        for axes, (name, title) in zip(both, PANELS.items(), strict=True):
            for (way, marker), colour in zip(SHOWN, COLOURS, strict=False):
                there = [place for place, each in enumerate(scenarios) if (each, *way) in of]
                if not there:
                    continue
                values = [of[scenarios[place], *way][name] for place in there]
                look = {"color": colour, "label": ", ".join(way), "markersize": 5}
                axes.plot(values, there, marker, **look)
            axes.set_yticks(range(len(scenarios)), scenarios if name == "kl_tables" else [])
            axes.invert_yaxis()
            axes.set_xscale("symlog", linthresh=LINEAR_BELOW)
            axes.set_xlim(left=0)
            axes.set(title=title, xlabel="KL(truth ‖ answer) in nats")
            axes.grid(axis="y", alpha=0.3)
        both[0].legend(fontsize=7, loc="upper left")
        calibration_panel(right, calibration)

    return draw(path, (13, 0.25 * len(scenarios) + 2), panels)
