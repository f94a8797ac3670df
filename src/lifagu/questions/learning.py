"""Tables that a template asks to be learned: learned from its own evidence, told, and written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.html import Shown
from lifagu.basics.words import counted
from lifagu.errors import ModelError
from lifagu.questions.place import Place
from lifagu.relational.learning_task import LearnedModel, LearnedTable, LearningSettings
from lifagu.relational.loaded import Loaded


def learned(loaded: Loaded, place: Place, settings: LearningSettings | None = None) -> Loaded:
    """What was loaded, with the tables that it asks to be learned; as it is if it asks for none."""
    task = loaded.task
    if task is None:
        return loaded
    from lifagu.inference.expected_counts import expectation
    from lifagu.learning.learn import Learner
    from lifagu.relational.learned_tables import with_tables

    how = settings or LearningSettings()
    prepare = partial(expectation, memory_limit=place.memory_limit)
    found = Learner(how, prepare, place.progress).learn(task)
    return with_tables(loaded, found)


@dataclass(frozen=True, eq=False, repr=False)
class Learning(Shown):
    """What was learned for a template: its tables, how, from how much, and how well.

    Attributes
    ----------
    loaded : Loaded
        The model with its learned tables, which `lifagu.open` opens to ask it.
    seconds : float
        How long it took.
    """

    loaded: Loaded
    seconds: float

    @property
    def model(self) -> LearnedModel:
        """All tables, in the order of the template."""
        if self.loaded.learned is None:
            raise ModelError("nothing was learned for this model; its template asks for nothing")
        return self.loaded.learned

    @property
    def score(self) -> float | None:
        """The mean log loss of cells that were hidden for it, in nats; None if none had to be."""
        return self.model.score

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, a line each."""
        return self.model.notes

    def __getitem__(self, name: str) -> LearnedTable:
        for table in self.model.tables:
            if table.name == name:
                return table
        raise ModelError(f"no table was learned for '{name}'")

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        model = self.model
        return {
            "score": model.score,
            "baseline": model.baseline,
            "tables": [_table_json(each) for each in model.tables],
            "notes": list(self.notes),
        }

    def write(self, path: PathLike) -> None:
        """Write the template with what was learned in place of what was to be learned.

        Parameters
        ----------
        path : path
            A .json file; where a table has many groups, these go into Parquet files beside it.
        """
        from lifagu.questions.writing_learned import write_learned

        write_learned(self.loaded, path)

    def __repr__(self) -> str:
        many = len(self.model.tables)
        told = "" if self.score is None else f", log loss {self.score:.4f}"
        return f"<Learning: {counted(many, 'table')}{told}>"


def _table_json(table: LearnedTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "method": table.method,
        "records": float(table.records.sum()),
        "groups": len(table.stack) - 1,
        "parameters": table.parameters,
        "scales": list(table.scales),
        "loss_without": table.loss_without,
    }
