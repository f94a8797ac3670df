"""``lifagu demo paper``: the paper's examples, and a new patient; checked on screen."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import lifagu
from lifagu.cli.output import say, table
from lifagu.cli.results import groups_table, transfers_table

if TYPE_CHECKING:
    from lifagu import Case, FactorGraph

ALIKE = """Figure 3 of the paper: who looks alike?

  A --[phi1]-- B --[phi2]-- C      phi1 and phi2 hold the same potentials
"""
MISSING = (
    "Figure 1 of the paper: an epidemic (Epid), and for each patient whether they travel, "
    "are sick, and are\ntreated with two medications. alice and bob have been measured. "
    "eve is new: she gets the same variables, and no tables.\n"
)
LENT = "Who can lend eve a table? Somebody whose factors stand in the same places:\n"
LITERAL = (
    "What would the first paper have done? It sees structure only, "
    "so eve's factors all look alike:\n"
)
TRY = "Try it with a model of yours: lifagu query MODEL VARIABLE --add NEW=LIKE"


def demo_paper() -> None:
    """Walk through two small examples of the paper."""
    _colours(example("figure3").graph)
    case = example("epidemic").add("eve", like="alice")
    say(MISSING)
    names = case.graph.factor_names
    say(f"  unknown: {', '.join(names[factor] for factor in case.graph.unknown)}\n")
    found, literal = case.lift(), case.fill(by="lifagu")
    say(f"{LENT}\n{transfers_table(found)}\n")
    say(f"So eve joins alice and bob:\n\n{groups_table(found.groups)}\n")
    say(f"{LITERAL}\n{transfers_table(literal.lift())}\n")
    say("P(Sick.eve = true), each checked by adding up all assignments:\n")
    _compare(
        [
            ("with donors matched as individuals", case),
            ("with the rule of the first paper", literal),
        ]
    )
    say("Now a test result arrives: alice is sick.\n")
    _compare([("with donors matched as individuals", case.observe({"Sick.alice": "true"}))])
    say(TRY)


def _colours(graph: FactorGraph) -> None:
    say(ALIKE)
    titles = {
        0: "start: equal ranges, equal tables",
        1: "round 1: B stands at the second place of two factors",
    }
    for number, colouring in enumerate(lifagu.open(graph).colour_rounds()):
        pairs = zip(graph.variable_names, colouring.variable_colours.tolist(), strict=True)
        colours = ", ".join(f"{name} {colour}" for name, colour in pairs)
        say(f"  {titles.get(number, f'round {number}: nothing changes any more')}: {colours}")
    say("\nSo A and C look alike, and phi1 and phi2: one of each stands for both.\n")


def _compare(rows: list[tuple[str, Case]]) -> None:
    """Answers by two engines; a difference would be an error of ours, so it is shown."""
    lines = [("", "elimination", "lifted")]
    for title, case in rows:
        ground, other = (case.ask("Sick.eve", engine=engine) for engine in ("ground", "lifted"))
        lines.append((title, f"{ground['true']:.6f}", f"{other['true']:.6f}"))
    say(table(lines) + "\n")


def example(name: str) -> Case:
    """One of the models that come with the package."""
    with as_file(files("lifagu").joinpath(f"examples/{name}.json")) as path:
        return lifagu.open(path)
