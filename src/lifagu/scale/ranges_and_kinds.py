"""The different ranges and kinds of variables: looked at in memory, coded in tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from lifagu.errors import FormatError, ModelError, Remedy, TooLargeError
from lifagu.graph.ranges import BOOLEAN, Labels, check_labels
from lifagu.scale.engines.engine import Engine
from lifagu.scale.folder_contents import Given

MOST_WORDS = 1_000_000  # different ranges or kinds, which are looked at in memory


def declared_ranges(engine: Engine, given: Given) -> list[Labels]:
    """The different label orders by first use; stores ranges_coded (word, code) with a column."""
    if "range" not in given.columns["variables"]:
        return [BOOLEAN] if given.counts["variables"] else []
    lists = engine.dialect.lists_of("STRING")
    boolean = engine.dialect.array(["false", "true"])
    word = f"coalesce(CAST(range AS {lists}), {boolean})"
    words = _coded(engine, given, word, "ranges")
    engine.create(
        "ranges_filled",
        f"""
        WITH filled AS (
            SELECT {word} AS word, number FROM {given.numbered("variables")} v
        )
        SELECT f.number, c.code
        FROM filled f
        JOIN ranges_coded c ON c.word = f.word
        """,
    )
    where, found = f"{given.file('variables')}: column range", []
    for word in words:
        if any(label is None for label in word):
            raise FormatError(f"{where}: a null in a list; leave it out")
        try:
            found.append(check_labels(word, "a variable"))
        except ModelError as error:
            raise FormatError(f"{where}: {error}") from None
    return found


def declared_kinds(engine: Engine, given: Given) -> list[str]:
    """The different kinds by first use; stores kinds_coded (word, code) if there is a column."""
    if "kind" not in given.columns["variables"]:
        return []
    words = _coded(engine, given, "CAST(kind AS STRING)", "kinds")
    if "" in words:
        raise FormatError(
            f"{given.file('variables')}: column kind: an empty text; give a name, or null for none"
        )
    return words


def _coded(engine: Engine, given: Given, word: str, name: str) -> list[Any]:
    """The different words of a column of the variables by first use, and a table (word, code)."""
    engine.create(
        f"{name}_found",
        f"""
        WITH words AS (
            SELECT {word} AS word, number FROM {given.numbered("variables")} s
        )
        SELECT word, min(number) AS first
        FROM words
        WHERE word IS NOT NULL
        GROUP BY word
        """,
    )
    found = engine.rows(
        f"""
        SELECT word, first
        FROM {name}_found
        ORDER BY first
        LIMIT {MOST_WORDS + 1}
        """
    )
    if len(found) > MOST_WORDS:
        raise TooLargeError(
            f"{given.file('variables')}: more than {MOST_WORDS} different {name}, "
            "which are looked at in memory",
            remedy=Remedy.IN_MEMORY,
        )
    firsts = np.array([first for _, first in found], dtype=np.int64)
    engine.register(f"{name}_codes", {"first": firsts, "code": np.arange(len(firsts))})
    engine.create(
        f"{name}_coded",
        f"""
        SELECT f.word, c.code
        FROM {name}_found f
        JOIN {name}_codes c ON c.first = f.first
        """,
    )
    return [list(word) if not isinstance(word, str) else word for word, _ in found]
