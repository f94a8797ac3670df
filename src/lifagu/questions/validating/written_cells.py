"""Every hidden cell with its true value and what was predicted, as a CSV file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lifagu.basics.atomic_files import PathLike
from lifagu.errors import FormatError
from lifagu.formats.csv_table import write_csv
from lifagu.formats.files import ending
from lifagu.questions.validating.predictions import Predictions


def check_cells(path: PathLike) -> None:
    """Refuse now, before long work, a file that `write_cells` would refuse."""
    if ending(path) != ".csv":
        raise FormatError(f"{path}: hidden cells are written as .csv (or .csv.gz)")
    parent = Path(path).parent
    if not parent.is_dir():
        raise FormatError(f"{path}: there is no folder {parent}; make it, or name another place")


def write_cells(found: Predictions, path: PathLike) -> None:
    """One row per hidden cell, and per method where there are several."""
    check_cells(path)
    several = ["method"] if len(found.methods) > 1 else []
    header = ["relation", "individual", "value", "probability", "distribution", *several]
    write_csv(path, header, _cell_rows(found, bool(several)))


def _cell_rows(found: Predictions, several: bool) -> Iterator[Sequence[Any]]:
    cells, individuals = found.cells, found.cells.individuals(found.hidden_cells)
    hidden = list(zip(found.hidden_cells.tolist(), individuals, strict=True))
    for name, said in found.methods.items():
        title = [name] if several else []
        for row, (place, individual) in enumerate(hidden):
            labels = cells.labels(place)
            given = said.probabilities[row, : len(labels)].tolist()
            true = int(cells.values[place])
            relation = cells.relations[int(cells.relation_of[place])]
            distribution = json.dumps(dict(zip(labels, given, strict=True)), ensure_ascii=False)
            yield [relation, individual, labels[true], given[true], distribution, *title]
