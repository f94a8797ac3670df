"""The small network that each individual has, and its exact marginals under any tables.

Age → Travel → Sick → TreatA, TreatB, Stay and Test; Sick may depend on Epid, too, which is shared
by all. Tables of place p are arrays individuals × combinations of the given × values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from research.harness import Floats

SIZES = {"Age": 3, "Travel": 2, "Sick": 2, "TreatA": 2, "TreatB": 2, "Stay": 3, "Test": 2}
VARIABLES = tuple(SIZES)
WIDTH = max(SIZES.values())
SHARED = "Epid"
EPIDEMIC = np.array([0.5, 0.5])
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class TablePlace(NamedTuple):
    """A place for a table in every individual: P(child | given), and how many tables there are."""

    name: str
    given: tuple[str, ...]
    child: str
    tables: int

    @property
    def shape(self) -> tuple[int, int]:
        """Combinations of the given × values."""
        return int(np.prod([_size(name) for name in self.given])), SIZES[self.child]


def places(shared: bool) -> tuple[TablePlace, ...]:
    """The seven places, fSick with the shared variable or without."""
    return (
        TablePlace("fAge", (), "Age", 4),
        TablePlace("fTravel", ("Age",), "Travel", 3),
        TablePlace("fSick", ("Travel", SHARED) if shared else ("Travel",), "Sick", 3),
        TablePlace("fTreatA", ("Sick",), "TreatA", 3),
        TablePlace("fTreatB", ("Sick",), "TreatB", 2),
        TablePlace("fStay", ("Sick",), "Stay", 3),
        TablePlace("fTest", ("Sick",), "Test", 3),
    )


def _size(name: str) -> int:
    return len(EPIDEMIC) if name == SHARED else SIZES[name]


def joints(tables: Sequence[Floats], weights: Floats) -> Floats:
    """P(values | Epid) of every individual: individuals × Epid (1 if none) × a value axis each.

    tables[p]: individuals × alternatives × given × values; weights: individuals × alternatives.
    All places of an individual have the same alternative at a time.
    """
    age, travel, sick, *others = tables
    people, ways = weights.shape
    sick = sick.reshape(people, ways, SIZES["Travel"], -1, SIZES["Sick"])
    joint: Floats = np.einsum(
        "nk,nka,nkat,nktes,nksx,nksy,nksz,nksw->neatsxyzw",
        *(weights, age[:, :, 0], travel, sick, *others),
        optimize="greedy",
    )
    return joint


def marginals(joint: Floats, values: Ints, observed: Bools) -> tuple[Floats, Floats]:
    """Every individual's single marginals, individuals × variables × values, and that of Epid.

    values: individuals × variables, which count where observed. Shorter ranges end with zeros.
    """
    people, states = joint.shape[:2]
    fitting = np.where(_agreeing(values, observed)[:, None], joint, 0.0)
    happened = fitting.reshape(people, states, -1).sum(axis=2)
    logs = np.log(np.maximum(happened, 1e-300)).sum(axis=0) + np.log(EPIDEMIC[:states])
    epidemic = np.exp(logs - logs.max())
    epidemic /= epidemic.sum()
    weights = epidemic / np.maximum(happened, 1e-300)
    answer = np.einsum("ne,ne...->n...", weights, fitting)
    found = np.zeros((people, len(VARIABLES), WIDTH))
    for place, (name, size) in enumerate(SIZES.items()):
        others = tuple(1 + other for other in range(len(SIZES)) if VARIABLES[other] != name)
        found[:, place, :size] = answer.sum(axis=others)
    return found, epidemic


def _agreeing(values: Ints, observed: Bools) -> Bools:
    """Which values agree with what was observed: individuals × a value axis each."""
    people = len(values)
    agreeing = np.ones((people, *SIZES.values()), dtype=np.bool_)
    for place, size in enumerate(SIZES.values()):
        fits = (values[:, place, None] == np.arange(size)) | ~observed[:, place, None]
        shape = [people, *(size if other == place else 1 for other in range(len(SIZES)))]
        agreeing &= fits.reshape(shape)
    return agreeing
