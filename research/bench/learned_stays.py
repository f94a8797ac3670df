"""Stays drawn from known tables, as Parquet files with NULLs, and a template that is to learn them.

The tables are those of `made_stays`: one for each pair of columns, and for each column one of each
hospital. Cells are drawn in turn, each given all others; then some are lost.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from research.bench.made_stays import HIDDEN, HOSPITALS, PAIRS, SIZES, WIDTH, tables
from research.bench.own_models import Floats, Rows

CHUNK = 10_000  # stays that are drawn together, so that more stays begin with the same ones
SWEEPS = 15
LOST = 0.24  # the share of cells that is lost, more in few stays
COHORTS = 8


def drawn_stays(count: int, seed: int = 0) -> tuple[Rows, Rows, Rows]:
    """All cells of so many stays, what is seen of them (-1: nothing), and hospitals."""
    found = [_chunk(min(CHUNK, count - start), (seed, start)) for start in range(0, count, CHUNK)]
    cells, seen, hospital = zip(*found, strict=True)
    return np.concatenate(cells), np.concatenate(seen), np.concatenate(hospital)


def _chunk(count: int, seed: tuple[int, int]) -> tuple[Rows, Rows, Rows]:
    random = np.random.default_rng(seed)
    hospital = random.integers(0, HOSPITALS, count)
    cells = random.integers(0, SIZES, (count, WIDTH))
    around = _around()
    own = [np.log(each) for each in tables()[1]]
    for _ in range(SWEEPS):
        for column in range(WIDTH):
            logs = np.zeros((count, SIZES[column]))
            if column < HIDDEN:
                logs += own[column][hospital]
            for other, table in around[column]:
                logs += table[cells[:, other]]
            weights = np.exp(logs).cumsum(axis=1)
            at = random.random((count, 1)) * weights[:, -1:]
            cells[:, column] = (at >= weights[:, :-1]).sum(axis=1)
    careless = 0.6 * random.beta(0.5, 3.0, size=(count, 1))
    lost = random.random((count, WIDTH)) < np.maximum(careless, LOST)
    lost[:, HIDDEN:] = False
    return cells, np.where(lost, -1, cells), hospital


def _around() -> list[list[tuple[int, Floats]]]:
    """For each column the others that it is tied to, and logs: a row for each label of those."""
    found: list[list[tuple[int, Floats]]] = [[] for _ in range(WIDTH)]
    for (one, other), table in zip(PAIRS, tables()[0], strict=True):
        found[one].append((other, np.ascontiguousarray(np.log(table).T)))
        found[other].append((one, np.log(table)))
    return found


def write_stays(folder: Path, seen: Rows, hospital: Rows) -> None:
    """A Parquet file of stays: its number, its hospital, and its columns."""
    folder.mkdir(parents=True)
    columns = {f"c{column}": np.ascontiguousarray(seen[:, column]) for column in range(WIDTH)}
    stays = {"stay": np.arange(len(seen)), "hospital": hospital, **columns}
    asked = ", ".join(f"CASE WHEN {each} >= 0 THEN 'v' || {each} END AS {each}" for each in columns)
    with duckdb.connect() as made:
        made.register("stays", stays)
        made.execute(
            f"COPY (SELECT stay, 'h' || hospital AS hospital, {asked} FROM stays) "
            f"TO '{folder / 'stays.parquet'}'"
        )


def joint_template() -> dict[str, Any]:
    """All pairs of columns, and for each that may be hidden its tables by hospital."""
    here = {"sql": "SELECT stay AS s, hospital FROM stays"}
    by_hospital = {"learn": True, "by": ["hospital"]}
    own = [
        {"name": f"own{c}", "args": [f"C{c}(S)"], "rows": here, "table": by_hospital}
        for c in range(HIDDEN)
    ]
    pairs = [
        {"name": f"pair{a}_{b}", "args": [f"C{a}(S)", f"C{b}(S)"], "table": "learn"}
        for a, b in PAIRS
    ]
    return {**_columns(), "parfactors": [*own, *pairs]}


def latent_template() -> dict[str, Any]:
    """Latent classes: all columns, and the hospital's, given the cohort of a stay."""
    found = _columns()
    found["relations"].append({"name": "Cohort", "of": ["Stay"], "range": {"cohorts": COHORTS}})
    given = [{"name": "cohort", "args": ["Cohort(S)"], "table": "learn"}]
    given += [
        {
            "name": f"given{c}",
            "args": ["Cohort(S)", f"C{c}(S)"],
            "table": {"learn": True, "given": ["Cohort(S)"]},
        }
        for c in range(WIDTH)
    ]
    return {**found, "parfactors": given}


def _columns() -> dict[str, Any]:
    return {
        "format": "lifagu/1",
        "source": "stays",
        "domains": {"Stay": {"sql": "SELECT stay FROM stays"}},
        "relations": [
            {"name": f"C{c}", "of": ["Stay"], "range": [f"v{v}" for v in range(size)]}
            for c, size in enumerate(SIZES)
        ],
        "evidence": {f"C{c}": {"sql": f"SELECT stay, c{c} FROM stays"} for c in range(WIDTH)},
    }


def write_template(path: Path, template: dict[str, Any]) -> None:
    """As JSON."""
    path.write_text(json.dumps(template))
