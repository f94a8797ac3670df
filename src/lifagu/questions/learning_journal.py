"""What learning has finished, kept in a folder: interrupted, it goes on from there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.atomic_files import PathLike, failing, replaced_file
from lifagu.relational.learning_task import LearningSettings, LearningTask


class NothingKept:
    """A journal of nobody: every stage is computed."""

    def once(self, stage: str, compute: Callable[[], dict[str, Floats]]) -> dict[str, Floats]:
        """Compute a stage."""
        return compute()


class KeptInFolder:
    """Stages that are over, each in a file of a folder, told by what is learned and how.

    Whatever was kept for other data or settings is left alone. resume: whether to use what an
    earlier run has kept.
    """

    def __init__(
        self, folder: PathLike, task: LearningTask, settings: LearningSettings, resume: bool
    ) -> None:
        self._folder, self._resume = Path(folder), resume
        with failing(folder, "cannot be made"):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._key = _fingerprint(task, settings)

    def once(self, stage: str, compute: Callable[[], dict[str, Floats]]) -> dict[str, Floats]:
        """What a stage gives: computed now, or kept from a run that got further."""
        name = hashlib.sha256(f"{self._key} {stage}".encode()).hexdigest()[:32]
        file = self._folder / f"learning-{name}.npz"
        if self._resume and file.exists():
            with np.load(file) as kept:
                return {each: kept[each] for each in kept.files}
        found = compute()
        with replaced_file(file) as temporary, temporary.open("wb") as into:
            np.savez(into, **found)  # type: ignore[arg-type]
        return found


def _fingerprint(task: LearningTask, settings: LearningSettings) -> str:
    """Equal for equal tasks and settings."""
    found = hashlib.sha256(repr((settings, sorted(task.asked))).encode())

    def add(*arrays: object) -> None:
        for each in arrays:
            found.update(each.tobytes() if isinstance(each, np.ndarray) else repr(each).encode())

    for relation in task.relations:
        add(relation.relation, relation.labels, relation.values)
    for table in task.tables:
        add(table.name, table.given, *(part for slot in table.slots for part in slot))
        add(*(part for level in table.levels for part in (level.of_row, level.parent)))
    for fixed in task.fixed:
        add(fixed.tables, fixed.table_of, *(part for slot in fixed.slots for part in slot))
    return found.hexdigest()
