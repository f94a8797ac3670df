"""Where SQL differs from engine to engine, in one place; everything else is written once."""

from __future__ import annotations

from dataclasses import dataclass

from lifagu.data.duck import literal

MOST_BITS = 10**9  # that DuckDB sets at once


@dataclass(frozen=True)
class Dialect:
    """The words of one engine; values are SQL for whole numbers from 0 on unless told otherwise."""

    name: str

    def mixed(self, *values: str, salt: int = 0) -> str:
        """64 bits that depend on all values and their order; not the same from engine to engine.

        >>> SPARK.mixed("a", "b", salt=7)
        'xxhash64(7, a, b)'
        >>> DUCKDB.mixed("a", "b", salt=7)
        'hash(xor(hash(xor(hash(7), CAST(a AS UBIGINT))), CAST(b AS UBIGINT)))'
        """
        if self.name == "spark":
            return f"xxhash64({', '.join([str(salt), *values])})"
        mixed = f"hash({salt})"
        # nested, as hash(a, b) is an exclusive or of what belongs to a and what belongs to b
        for value in values:
            mixed = f"hash(xor({mixed}, CAST({value} AS UBIGINT)))"
        return mixed

    def length(self, items: str) -> str:
        """Length of a list."""
        return f"CAST({'size' if self.name == 'spark' else 'len'}({items}) AS BIGINT)"

    def first(self, items: str) -> str:
        """The first item of a list, null if there is none."""
        return f"get({items}, 0)" if self.name == "spark" else f"list_extract({items}, 1)"

    def rest(self, items: str) -> str:
        """A list without its first item.

        >>> DUCKDB.rest("names"), SPARK.rest("names")
        ('list_slice(names, 2, len(names))', 'slice(names, 2, size(names))')
        """
        if self.name == "spark":
            return f"slice({items}, 2, size({items}))"
        return f"list_slice({items}, 2, len({items}))"

    def filled(self, items: str) -> str:
        """How many items of a list are not null."""
        return (
            f"size(array_compact({items}))"
            if self.name == "spark"
            else f"list_aggregate({items}, 'count')"
        )

    def quotient(self, value: str, by: int) -> str:
        """Whole-number division.

        >>> DUCKDB.quotient("id", 8), SPARK.quotient("id", 8)
        ('((id) // 8)', '((id) div 8)')
        """
        return f"(({value}) {'div' if self.name == 'spark' else '//'} {by})"

    def different(self, column: str, beyond: int) -> str:
        """How many different numbers a column holds, all of them below a number.

        >>> SPARK.different("id", 9), DUCKDB.different("id", 9)
        ('count(DISTINCT id)', 'bit_count(bitstring_agg(CAST(id AS BIGINT), 0, 8))')
        """
        if self.name == "spark" or beyond > MOST_BITS:
            return f"count(DISTINCT {column})"
        return f"bit_count(bitstring_agg(CAST({column} AS BIGINT), 0, {beyond - 1}))"

    def text(self, value: str) -> str:
        """A text as SQL.

        >>> DUCKDB.text("it's"), SPARK.text("it's")
        ("'it''s'", "'it\\\\'s'")
        """
        if self.name == "spark":
            value = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{value}'"
        return literal(value)

    def array(self, texts: list[str]) -> str:
        """A list of texts as SQL.

        >>> DUCKDB.array(["a", "b"])
        "['a', 'b']"
        """
        return self.array_of(*map(self.text, texts))

    def array_of(self, *items: str) -> str:
        """A list of expressions."""
        return f"array({', '.join(items)})" if self.name == "spark" else f"[{', '.join(items)}]"

    def sliced(self, items: str, length: str) -> str:
        """The first so many items of a list."""
        return f"{'slice' if self.name == 'spark' else 'list_slice'}({items}, 1, {length})"

    def lists_of(self, item: str) -> str:
        """The type of lists, given the type of what they hold (BIGINT, DOUBLE or STRING)."""
        return f"ARRAY<{item}>" if self.name == "spark" else f"{item}[]"


DUCKDB = Dialect("duckdb")
SPARK = Dialect("spark")
