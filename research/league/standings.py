"""What was played so far, task by task: every way's cells of all seeds together, and who is ahead.

A way counts in a task if it told the cells of every seed that was played; else its failure is
shown. Differences are paired, cell by cell, and their intervals draw individuals (or whole groups,
where groups were hidden) with all their cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.league.matches import BY_HAND, DRAFTED, Result, read_match, read_result, result_path
from research.league.scores import calibration_error, interval
from research.league.tasks import TASKS, Task

OURS = (DRAFTED, BY_HAND)


@dataclass(frozen=True, eq=False)
class Told:
    """What one way told of all cells of a task, and what that cost for one seed in the mean."""

    losses: NDArray[np.float64]
    right: NDArray[np.bool_]
    tops: NDArray[np.float64]
    seconds: float
    memory: int

    @property
    def loss(self) -> float:
        """The mean log loss in nats."""
        return float(self.losses.mean())

    @property
    def accuracy(self) -> float:
        """The share of cells whose most probable label is right."""
        return float(self.right.mean())

    @property
    def calibration_error(self) -> float:
        """How far stated and true shares are apart."""
        return calibration_error(self.tops, self.right)

    def of(self, chosen: NDArray[np.bool_]) -> Told:
        """Only some of the cells."""
        arrays = (each[chosen] for each in (self.losses, self.right, self.tops))
        return Told(*arrays, self.seconds, self.memory)


@dataclass(frozen=True, eq=False)
class Standing:
    """A task, or what is known so much about within it: what each way told, and who failed how."""

    task: Task
    known: str
    seeds: int
    individuals: NDArray[np.str_]
    kinds: NDArray[np.str_]
    told: Mapping[str, Told]
    failures: Mapping[str, str]

    @property
    def cells(self) -> int:
        """How many were hidden, over all seeds."""
        return len(self.individuals)

    @cached_property
    def best(self) -> str:
        """The rival with the smallest loss."""
        return min(
            (way for way in self.told if way not in OURS), key=lambda way: self.told[way].loss
        )

    def difference(self, way: str, base: str) -> tuple[float, float, float]:
        """By how much the loss of a way is above another one's, and where that lies with 95 %."""
        apart = self.told[way].losses - self.told[base].losses
        return float(apart.mean()), *interval(apart, self.individuals.tolist())

    def parts(self) -> Iterator[Standing]:
        """The same by how much is known, where that differs."""
        for kind in sorted({*self.kinds.tolist()} - {""}, key=lambda kind: int(kind.split()[0])):
            chosen = self.kinds == kind
            yield Standing(
                *(self.task, kind, self.seeds, self.individuals[chosen], self.kinds[chosen]),
                {way: each.of(chosen) for way, each in self.told.items()},
                self.failures,
            )


def standings(folder: Path) -> list[Standing]:
    """All tasks of which something was played, in their order."""
    return [found for task in TASKS if (found := _standing(task, folder / task.name))]


def _standing(task: Task, folder: Path) -> Standing | None:
    seeds = sorted(path.parent for path in folder.glob(f"*/{DRAFTED}.npz"))
    if not seeds:
        return None
    cells = [read_match(each) for each in seeds]
    told, failures = {}, {}
    for way in sorted({path.stem for path in folder.glob("*/*.npz")} - {"cells"}):
        paths = [result_path(each, way) for each in seeds]
        if not all(path.exists() for path in paths):
            continue
        results = [read_result(path) for path in paths]
        failed = [each.failure for each in results if each.failure]
        if failed:
            failures[way] = failed[0]
        else:
            told[way] = _together(results)
    individuals = np.concatenate([each.individuals for each in cells])
    kinds = np.concatenate([each.kinds for each in cells])
    return Standing(task, task.left, len(seeds), individuals, kinds, told, failures)


def _together(results: list[Result]) -> Told:
    return Told(
        np.concatenate([each.losses for each in results]),
        np.concatenate([each.right for each in results]),
        np.concatenate([each.tops for each in results]),
        sum(each.seconds for each in results) / len(results),
        max(each.memory for each in results),
    )
