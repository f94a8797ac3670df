"""Lifting where the data is: growing folders, in memory and by DuckDB within 4 GiB."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb

from research.apart import command, run_apart
from research.bench.measure import Tables, arranging, beside, duration, mebibytes, sized

ABOUT = (
    "The paper's epidemic as a folder of Parquet tables, coloured, and all results written by "
    "`lifagu lift`; by one stable argsort of as many integers as there are arguments."
)
HEAD = ["arguments", "on", "argsort", "time", "of threads", "memory"]
LIMIT, PATIENCE = "4G", 1_200.0
EPIDEMIC = ([1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2])


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    yield "An epidemic, lifted", HEAD, _rows(small)


def _rows(small: bool) -> Iterator[list[str]]:
    for size in (10**3, 10**4) if small else (10**6, 10**7, 10**8):
        people = size // 9
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            run_apart(partial(write_epidemic, folder / "epidemic", people))
            floor = arranging(9 * people + 1)
            for on in ("memory", "duckdb"):
                asked = ["lift", str(folder / "epidemic"), "--out", str(folder / on), "--quiet"]
                if on == "duckdb":
                    asked += ["--on", "duckdb", "--memory-limit", LIMIT]
                done = command(*asked, wait=PATIENCE)
                head = [sized(9 * people + 1), on, duration(floor)]
                if isinstance(done, str):
                    yield [*head, done, "–", "–"]
                    continue
                times = [beside(done.seconds, floor), duration(done.busy)]
                yield [*head, *times, mebibytes(done.memory)]


def write_epidemic(folder: Path, people: int) -> None:
    """The paper's Figure 1 for so many persons, by SQL: x0 is Epid, then four variables each."""
    of_person = "1 + 4 * (range // 9) + [0, 2, 3][1 + (range // 3) % 3]"
    variable = f"CASE range % 3 WHEN 2 THEN 0 WHEN 1 THEN 2 + 4 * (range // 9) ELSE {of_person} END"
    queries = {
        "variables": f"SELECT range AS id FROM range({4 * people + 1})",
        "factors": "SELECT range AS id, CASE WHEN range = 0 THEN 0 WHEN range % 3 = 1 THEN 1 "
        f"ELSE 2 END AS table_id FROM range({3 * people + 1})",
        "arguments": "SELECT 0 AS factor_id, 0 AS position, 0 AS variable_id UNION ALL "
        f"SELECT 1 + range // 3, range % 3, {variable} FROM range({9 * people})",
        "tables": f"SELECT * FROM (VALUES (0, {EPIDEMIC[0]}), (1, {EPIDEMIC[1]}), "
        f"(2, {EPIDEMIC[2]})) AS t(id, potentials)",
    }
    folder.mkdir()
    for name, query in queries.items():
        duckdb.sql(f"COPY ({query}) TO '{folder}/{name}.parquet' (COMPRESSION zstd)")
