"""The parts, and how one is run: a cell of the campaign, which keeps its tables as they are."""

from __future__ import annotations

import time
from importlib import import_module

from research.harness import Cell, Outcome, Settings

PARTS = {  # files beside this
    "ground": "Ground inference beside peers",
    "lifted": "Lifted inference on ground graphs",
    "relational": "Relational models over cells",
    "own_tables": "Rows with their own tables",
    "colour": "Colour passing",
    "transfer": "Filling holes",
    "posterior": "Tables summed out",
    "lifting": "Lifting",
    "files": "Models in and out",
    "hospital": "From a database to answers",
    "learning": "Drafting and learning",
    "scale": "Lifting where the data is",
    "startup": "Start-up",
}


def run(settings: Settings, cell: Cell) -> Outcome:
    """All tables of a part."""
    part, start = import_module(f"research.bench.{cell.group}"), time.perf_counter()
    rows = [
        {"title": title, "head": list(head), "rows": [list(row) for row in shown]}
        for title, head, shown in part.tables(settings["small"], settings["limit"])
    ]
    return Outcome(cell, {"about": part.ABOUT, "seconds": time.perf_counter() - start}, rows)
