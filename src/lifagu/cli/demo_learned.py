"""The hospital's tables learned from its own data, in the demo: beside those that were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import lifagu
from lifagu.basics.words import counted
from lifagu.cli.output import say, table
from lifagu.examples.hospital import KITS, WARDS, Hospital

if TYPE_CHECKING:
    from lifagu import Case

Chances = Mapping[str, Mapping[str, float]]
ASKED = (
    "And had nobody given tables of risks, test kits and drug effects? "
    "A second template says only\nwhich arguments belong together."
)
SCORED = ["Age", "Test", "Stay", "Effect"]  # relations of both templates


def learned_beside_given(
    case: Case, template: Path, drawn: Hospital, truth: Chances, watched: Mapping[str, str]
) -> None:
    """What comes of learning the tables in place of having them given.

    case: that with given tables; template: that with learned ones; truth: marginals with the true
    tables; watched: the variables to show, each with a label.
    """
    blank = lifagu.open(template)
    found = blank.learn()
    tables = counted(len(found.model.tables), "table")
    say(ASKED)
    say(f"{tables} are learned from the same cells, though it was never observed who is sick;")
    say("only former stays tell what that does:\n")
    told = lifagu.open(found.loaded)
    given, learned = case.marginals(), told.marginals()
    rows: list[tuple[str, ...]] = [
        ("", "tables given, holes filled", "tables learned", "the true tables", "in truth")
    ]
    for name, label in watched.items():
        chances = [f"{each[name][label]:.3f}" for each in (given, learned, truth)]
        rows.append((f"{name} = {label}", *chances, drawn.world[name]))
    open_cells = [name for name in learned if name in truth and name not in case.graph_evidence]
    far = [f"{_mean_error(truth, each, open_cells):.3f}" for each in (given, learned)]
    rows.append((f"mean error of all {len(open_cells)}", *far, "0", ""))
    say(table(rows) + "\n")
    say(f"{_of_kits(told, drawn)}")
    say(f"{_on_hidden_cells(case, blank)}\n")


def _mean_error(truth: Chances, answer: Chances, names: Sequence[str]) -> float:
    """The mean, over variables, of the largest difference of a probability."""
    worst = [
        max(abs(truth[name][label] - answer[name][label]) for label in truth[name])
        for name in names
    ]
    return sum(worst) / len(worst)


def _of_kits(case: Case, drawn: Hospital) -> str:
    """What was learned of the test kits, beside what is so."""
    patients = drawn.tables["patient"]
    told = []
    for kit, (_, right) in KITS.items():
        wards = [ward for ward, about in WARDS.items() if about[1] == kit]
        who = next(
            name
            for name, ward in zip(patients["name"], patients["ward"], strict=True)
            if ward in wards
        )
        learned = case.graph.factor(f"lab({who})").table
        if learned is not None:
            told.append(f"{kit} {learned[1, 1]:.2f} (in truth {right:.2f})")
    return f"P(positive | sick) as learned: {', '.join(told)}."


def _on_hidden_cells(given: Case, learned: Case) -> str:
    """How well both tell cells that neither has seen."""
    scores = [each.validate(only=SCORED).json() for each in (given, learned)]
    usual = scores[0]["baseline"]["log_loss"]
    first, second = (each["log_loss"] for each in scores)
    hidden = counted(scores[0]["hidden"], "observed cell")
    return (
        f"Of {hidden}, hidden from both, the log loss is {first:.3f} with given tables,\n"
        f"{second:.3f} with learned ones, and {usual:.3f} by frequencies (lifagu validate)."
    )
