"""Tables that come and go while rows are summed out, and the words statements are made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

from lifagu.errors import LifaguError
from lifagu.scale.engines.engine import Engine

PREFIX = "answer"


class Work:
    """Tables under names of their own; those that are left at the end of a ``with`` are dropped."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._made = 0
        self._names: list[str] = []

    def __enter__(self) -> Work:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Drop what is left; a failed engine may be unable to, an interruption does not wait."""
        if kind is None:
            self.sweep()
        elif issubclass(kind, Exception):
            with suppress(LifaguError):
                self.sweep()

    def store(self, stem: str, query: str) -> str:
        """Keep the rows of a query; returns the name of the table."""
        name = self._name(stem)
        self.engine.create(name, query)
        return name

    def view(self, stem: str, query: str) -> str:
        """A query under a name, looked up anew whenever it is read."""
        name = self._name(stem)
        self.engine.run(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")
        return name

    def register(self, stem: str, source: Any) -> str:
        """Files or arrays by column under a name."""
        name = self._name(stem)
        self.engine.register(name, source)
        return name

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        return self.engine.rows(query)

    def drop(self, *names: str) -> None:
        """Let go of tables and views, those made last first."""
        for name in sorted(set(names) & set(self._names), key=self._names.index, reverse=True):
            self._names.remove(name)
            self.engine.drop(name)

    def mark(self) -> int:
        """A moment, for `sweep`."""
        return self._made

    def sweep(self, kept: Collection[str] = (), since: int = 0) -> None:
        """Let go of everything that was made since a moment, but for what is kept."""
        made_since = (name for name in self._names if int(name.rpartition("_")[2]) > since)
        self.drop(*(name for name in made_since if name not in kept))

    def _name(self, stem: str) -> str:
        self._made += 1
        self._names.append(f"{PREFIX}_{stem}_{self._made}")
        return self._names[-1]


def columns(count: int, letter: str = "v") -> list[str]:
    """Names of numbered columns.

    >>> columns(3)
    ['v0', 'v1', 'v2']
    """
    return [f"{letter}{number}" for number in range(count)]


def listed(parts: Iterable[str]) -> str:
    """What stands between SELECT and FROM."""
    return ", ".join(parts)


def values(names: Sequence[str], rows: Iterable[Sequence[int]]) -> str:
    """A small table of whole numbers, at least one row of them, in parentheses.

    >>> values(["a", "b"], [(1, 2), (3, 4)])
    '(SELECT * FROM (VALUES (1, 2), (3, 4)) AS given(a, b))'
    """
    tuples = listed(f"({listed(map(str, row))})" for row in rows)
    return f"(SELECT * FROM (VALUES {tuples}) AS given({listed(names)}))"


def union(queries: Sequence[str]) -> str:
    """All rows of some queries."""
    return "\nUNION ALL\n".join(queries)


def among(expression: str, numbers: Iterable[int]) -> str:
    """Whether a number is one of some; of none, it never is.

    >>> among("v", [1, 2]), among("v", [])
    ('v IN (1, 2)', '1 = 0')
    """
    shown = listed(map(str, numbers))
    return f"{expression} IN ({shown})" if shown else "1 = 0"


def chosen(expression: str, results: dict[int, int], otherwise: int | str) -> str:
    """A number for each of some numbers, another one for all others.

    >>> chosen("v", {1: 7, 2: 7, 3: 8}, "v")
    'CASE WHEN v IN (1, 2) THEN 7 WHEN v IN (3) THEN 8 ELSE v END'
    """
    by_result: dict[int, list[int]] = {}
    for number, result in results.items():
        by_result.setdefault(result, []).append(number)
    cases = "".join(
        f" WHEN {among(expression, numbers)} THEN {result}" for result, numbers in by_result.items()
    )
    return f"CASE{cases} ELSE {otherwise} END" if cases else str(otherwise)
