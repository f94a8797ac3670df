"""Stays in intensive care as independent individuals of sixteen variables, each with other gaps.

The stays are those of the eICU Collaborative Research Database Demo 2.0 (PhysioNet, open access,
ODbL 1.0), read from ``stay.csv.gz`` and ``hospital.csv.gz`` in a folder ``shared/data/real/eicu``
beside the project, if there is one. Numbers are cut at quantiles, rare diagnoses are one. All stays
share one table for each of the 120 pairs of variables, but what is known of a stay makes the tables
that are left its own.
"""

from __future__ import annotations

import csv
import gzip
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from research.bench.own_models import Floats, Known, Model, Rows, Tie, looked_at, spread

FOLDER = Path(__file__).parents[3] / "shared/data/real/eicu"
BINS = {"age": 5, "admissionheight": 4, "admissionweight": 4, "unitdischargeoffset": 4}
COLUMNS = (
    *(
        "age",
        "gender",
        "ethnicity",
        "unittype",
        "unitadmitsource",
        "unitstaytype",
        "hospitaladmitsource",
    ),
    *(
        "apacheadmissiondx",
        "admissionheight",
        "admissionweight",
        "unitdischargeoffset",
        "unitdischargelocation",
    ),
    "hospitaldischargestatus",
)
OF_HOSPITAL = ("region", "numbedscategory", "teachingstatus")  # never hidden
WIDTH = len(COLUMNS) + len(OF_HOSPITAL)
RARE, HIDDEN = 25, 0.2
MOST_STATES = 200_000  # of a stay whose marginals are checked
PAIRS = tuple(combinations(range(WIDTH), 2))


def at_hand() -> bool:
    """Whether the data is there."""
    return all((FOLDER / name).exists() for name in ("stay.csv.gz", "hospital.csv.gz"))


@cache
def stays() -> tuple[Rows, tuple[int, ...]]:
    """For each stay and column the number of its value, -1 if missing; how many there are."""
    hospitals = {row["hospital"]: row for row in _read("hospital.csv.gz")}
    rows = [{**hospitals[row["hospital"]], **row} for row in _read("stay.csv.gz")]
    columns = [
        _numbered(name, [row[name].strip() for row in rows]) for name in (*COLUMNS, *OF_HOSPITAL)
    ]
    return np.stack(columns, 1), tuple(int(each.max()) + 1 for each in columns)


def _read(name: str) -> list[dict[str, str]]:
    with gzip.open(FOLDER / name, "rt", newline="") as file:
        return list(csv.DictReader(file))


def _numbered(name: str, texts: list[str]) -> Rows:
    """Bins of numbers, or labels in the order of the alphabet; rare diagnoses are one."""
    known = np.array([text != "" for text in texts])
    found = np.full(len(texts), -1)
    if name in BINS:
        numbers = np.array(
            [90.0 if text.startswith(">") else float(text) for text in texts if text]
        )
        edges = np.unique(np.quantile(numbers, np.arange(1, BINS[name]) / BINS[name]))
        found[known] = np.searchsorted(edges, numbers, side="left")
        return found
    labels, counts = np.unique([text for text in texts if text], return_counts=True)
    if name == "apacheadmissiondx":
        often = set(labels[counts >= RARE].tolist())
        texts = ["" if not text else text if text in often else "other" for text in texts]
    found[known] = np.unique([text for text in texts if text], return_inverse=True)[1]
    return found


@cache
def tables() -> tuple[Floats, ...]:
    """How often the values of each pair occur together, smoothed, to a small power."""
    values, sizes = stays()
    found = []
    for one, other in PAIRS:
        both = values[(values[:, one] >= 0) & (values[:, other] >= 0)]
        counts = np.ones((sizes[one], sizes[other]))
        np.add.at(counts, (both[:, one], both[:, other]), 1)
        found.append((counts / counts.sum()) ** (1 / (WIDTH - 1)))
    return tuple(found)


def observed(count: int) -> Rows:
    """What is seen of so many stays: those of the file, again and again with other cells hidden."""
    values, _ = stays()
    seen = []
    for seed in range(-(-count // len(values))):
        hidden = np.random.default_rng(seed).random(values.shape) < HIDDEN
        hidden[:, len(COLUMNS) :] = False
        seen.append(np.where(hidden, -1, values))
    return np.concatenate(seen)[:count]


def model(count: int) -> Model:
    """So many stays; variable x(16 s + c) is column c of stay s."""
    variables = np.arange(count * WIDTH).reshape(count, WIDTH)
    pairs = zip(PAIRS, tables(), strict=True)
    ties = [Tie(variables[:, list(pair)], table[None]) for pair, table in pairs]
    return Model(np.tile(stays()[1], count), tuple(ties), observed(count).reshape(-1))


def known(count: int) -> Known:
    """The marginals of some stays, by visiting all their states."""
    seen, (_, sizes) = observed(count), stays()
    states = np.where(seen < 0, sizes, 1).prod(1)
    possible = np.flatnonzero(states <= MOST_STATES)
    marginals: dict[int, Floats] = {}
    for place in looked_at(len(possible)):
        stay = int(possible[place])
        weights = _states(seen[stay])
        for column in np.flatnonzero(seen[stay] < 0).tolist():
            others = tuple(each for each in range(WIDTH) if each != column)
            marginals[WIDTH * stay + column] = weights.sum(others)
    return Known(None, None, marginals)


def _states(seen: Rows) -> Floats:
    """The probabilities of all states of a stay: an axis for each column, of length 1 if seen."""
    left = [slice(None) if value < 0 else slice(value, value + 1) for value in seen.tolist()]
    logs = np.zeros([1] * (WIDTH + 1))
    for (one, other), table in zip(PAIRS, tables(), strict=True):
        logs = logs + spread(
            np.log(table[left[one], left[other]])[None], [1 + one, 1 + other], WIDTH + 1
        )
    weights: Floats = np.exp(logs[0] - logs.max())
    return np.asarray(weights / weights.sum())
