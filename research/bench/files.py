"""Models in and out: Parquet folders and JSON files, written and read back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import lifagu
from research.bench.measure import Tables, arranging, beside, duration, sized, timed
from research.bench.models import epidemic_by_arrays, epidemic_with_holes

ABOUT = (
    "By one stable argsort of as many integers as there are arguments; what is read back is "
    "compared with what was written."
)
HEAD = ["model", "arguments", "argsort", "written", "read", "bytes an argument"]


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "Parquet folders", HEAD, _rows("folder/", (10**3,) if small else (10**5, 10**6, 10**7))
    yield "JSON files", HEAD, _rows("model.json", (10**3,) if small else (10**4, 10**5, 10**6))


def _rows(name: str, sizes: tuple[int, ...]) -> Iterator[list[str]]:
    for size in sizes:
        people = size // 9
        for title, graph in {
            "numbers only": epidemic_by_arrays(people),
            "kinds, individuals, holes": epidemic_with_holes(people, individuals=True),
        }.items():
            arguments = len(graph.arguments)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / name
                _, writing = timed(lambda graph=graph, path=path: lifagu.write(graph, path))
                again, reading = timed(lambda path=path: lifagu.read(path))
                files = [each for each in Path(folder).rglob("*") if each.is_file()]
                weight = sum(each.stat().st_size for each in files)
            assert again == graph
            floor = arranging(arguments)
            cells = [beside(writing, floor), beside(reading, floor), f"{weight / arguments:.1f}"]
            yield [title, sized(arguments), duration(floor), *cells]
