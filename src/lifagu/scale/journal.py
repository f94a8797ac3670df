"""What a long run has finished, kept beside its tables: interrupted, it goes on from there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.atomic_files import replaced_file
from lifagu.scale.engines.engine import Engine

FILE = "journal.json"
Fact = TypeVar("Fact")


class Journal:
    """Steps that are over, by name, with the plain values they gave; written after each step."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._file = Path(engine.folder) / FILE
        self._facts: dict[str, Any] = (
            json.loads(self._file.read_text()) if self._file.exists() else {}
        )

    def once(self, step: str, work: Callable[[], Fact]) -> Fact:
        """The value of a step, computed now or before: one that JSON can hold, so no tuple."""
        if step not in self._facts:
            value = work()
            self._facts[step] = value
            with replaced_file(self._file) as temporary:
                temporary.write_text(json.dumps(self._facts))
        found: Fact = self._facts[step]
        return found

    def create(self, name: str, query: str) -> None:
        """Store the rows of a query as a table, unless that was done."""
        self.once(f"table {name}", lambda: self.engine.create(name, query))

    def register(self, name: str, arrays: dict[str, Any]) -> None:
        """Store arrays as a table, unless that was done."""
        self.once(f"table {name}", lambda: self.engine.register(name, arrays))

    def drop(self, *names: str) -> None:
        """Remove tables that no later step needs."""
        stored = self.engine.names()
        for name in names:
            if name in stored:
                self.engine.drop(name)

    def value(self, query: str) -> Any:
        """The only value of a query that gives one."""
        ((found,),) = self.engine.rows(query)
        return found

    def count(self, table: str) -> int:
        """How many rows a table has, or what else may follow FROM."""
        return int(self.value(f"SELECT count(*) FROM {table}"))

    def integers(self, query: str) -> list[Ints]:
        """The columns of a result that fits in memory, where all are whole numbers."""
        return [np.ma.getdata(each).astype(np.int64) for each in self.engine.columns(query)]
