"""Both suites under one name: which scenarios there are, how large, and how a cell is run."""

from __future__ import annotations

from research.harness import Cell, Outcome, Settings
from research.holes import runs
from research.holes.estimated import runs as estimated
from research.holes.estimated.scenarios import NOISY
from research.holes.scenarios import SCENARIOS

SUITES = {"exact": tuple(SCENARIOS), "estimated": tuple(NOISY)}
USUAL = {"exact": 200, "estimated": 400}


def size_of(scenario: str, individuals: int | None) -> int:
    """How many individuals a scenario has."""
    if scenario in NOISY:
        return individuals or USUAL["estimated"]
    return SCENARIOS[scenario].individuals or individuals or USUAL["exact"]


def run(settings: Settings, cell: Cell) -> Outcome:
    """A cell of either suite."""
    return (estimated.run if cell.group in NOISY else runs.run)(settings, cell)
