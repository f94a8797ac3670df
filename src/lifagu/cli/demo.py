"""``lifagu demo``: the paper's Figure 3 round by round, then a question, checked against enumeration."""

from __future__ import annotations

import argparse
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import lifagu
from lifagu.cli.output import say, table

if TYPE_CHECKING:
    from lifagu import FactorGraph


def demo(_: argparse.Namespace) -> None:
    """Walk through two small examples of the paper."""
    graph = example("figure3")
    say("Colour passing, as in Figure 3 of the paper\n")
    say("  A --[phi1]-- B --[phi2]-- C      phi1 and phi2 hold the same potentials\n")
    titles = ("start: equal ranges, equal tables", "round 1: B stands at the second place of two factors")
    for number, colouring in enumerate(lifagu.colour_rounds(graph)):
        say(f"{titles[number] if number < len(titles) else f'round {number}: nothing changes any more'}")
        say(
            table(
                (graph.variable_names[each], f"colour {colour}")
                for each, colour in enumerate(colouring.variable_colours)
            )
        )
    say("So A and C look alike, and phi1 and phi2: one of each stands for both.\n")
    _ask(example("epidemic"))


def _ask(graph: FactorGraph) -> None:
    say("A question to Figure 1: is alice sick, once bob has been found sick?\n")
    evidence = {"Sick.bob": "true"}
    for given, observed in (("", None), (" | Sick.bob=true", evidence)):
        answer = lifagu.query(graph, "Sick.alice", evidence=observed)
        oracle = lifagu.query(graph, "Sick.alice", evidence=observed, engine="enumerate")
        say(f"P(Sick.alice=true{given}) = {answer['true']:.6f}   (enumeration says {oracle['true']:.6f})")
    say("\nHow it was computed: " + lifagu.query(graph, "Sick.alice", evidence=evidence).plan)


def example(name: str) -> FactorGraph:
    """One of the models that come with the package."""
    with as_file(files("lifagu").joinpath(f"examples/{name}.json")) as path:
        return lifagu.read(path)
