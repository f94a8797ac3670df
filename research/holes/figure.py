"""The suite in two panels: divergence by scenario and method, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from research.campaign import Line
from research.results import COLOURS, LINEAR_BELOW, draw

SHOWN = (  # what the left panel shows, with marker
    (("all-ones", "one"), "x"),
    (("published", "one"), "v"),
    (("kinds", "one"), "o"),
    (("steps-6", "one"), "^"),
    (("profiles", "one"), "<"),
    (("cohorts", "mean"), "D"),
    (("auto", "posterior"), "s"),
    (("oracle", "mixture"), "*"),
)
# stated much as another method states it, or before evidence
LEFT_OUT = ("structure", "steps-4", "cohorts posterior", "auto")


def draw_figure(path: Path, lines: Sequence[Line], calibration: Sequence[Line]) -> list[Path]:
    """Draw both panels."""
    scenarios = list(dict.fromkeys(line["scenario"] for line in lines))
    of = {(line["scenario"], line["method"], line["answers"]): line["kl_mean"] for line in lines}

    def panels(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for ((method, answers), marker), colour in zip(SHOWN, COLOURS, strict=True):
            values = [of.get((scenario, method, answers)) for scenario in scenarios]
            places = [place for place, value in enumerate(values) if value is not None]
            shown = [values[place] for place in places]
            look = {"color": colour, "label": f"{method}, {answers}", "markersize": 5}
            left.plot(shown, places, marker, **look)
        left.set_yticks(range(len(scenarios)), scenarios)
        left.invert_yaxis()
        left.set_xscale("symlog", linthresh=LINEAR_BELOW)
        left.set_xlim(left=0)
        left.set(title="mean divergence by scenario", xlabel="KL(truth ‖ answer) in nats")
        left.grid(axis="y", alpha=0.3)
        left.legend(fontsize=7, loc="upper left")
        calibration_panel(right, calibration)

    return draw(path, (11, 0.25 * len(scenarios) + 2), panels)


def calibration_panel(axes: Any, calibration: Sequence[Line]) -> None:
    """Draw how often tables were right against the confidence stated."""
    axes.plot([0, 1], [0, 1], ":", color="grey")
    methods = dict.fromkeys(
        line["method"] for line in calibration if line["method"] not in LEFT_OUT
    )
    for colour, method in zip(COLOURS, methods, strict=False):
        own = [line for line in calibration if line["method"] == method]
        stated, right = ([line[name] for line in own] for name in ("confidence", "right"))
        axes.plot(stated, right, "o-", color=colour, label=method)
    axes.set(title="stated confidence against right tables")
    axes.set(xlabel="share of agreement", ylabel="share of right tables")
    axes.legend(fontsize=7)
