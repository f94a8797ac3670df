"""What sort of values a column holds, by the type that it is declared with."""

from __future__ import annotations

import re

from lifagu.data.databases.catalogue import ColumnKind

_WORDS: dict[ColumnKind, str] = {
    "integer": "int integer bigint smallint tinyint mediumint hugeint uinteger ubigint usmallint "
    "utinyint uhugeint bignum varint int1 int2 int4 int8 int16 int32 int64 long short serial "
    "bigserial smallserial oid year",
    "number": "double real float float4 float8 decimal numeric number dec",
    "truth": "boolean bool logical",
    "text": "varchar char character text string bpchar nvarchar nchar varchar2 clob name citext "
    "uuid enum longtext mediumtext tinytext native varying",
    "date": "date",
    "time": "timestamp timestamptz datetime timestamp_s timestamp_ms timestamp_ns timestamp_us",
    "clock": "time timetz time_ns",
    "other": "blob bytea binary varbinary json jsonb struct map union list array interval bit "
    "xml money point geometry geography variant tsvector row",
}
_KINDS: dict[str, ColumnKind] = {
    word: kind for kind, words in _WORDS.items() for word in words.split()
}
# what SQLite looks for within a type, in this order
_AFFINITIES: tuple[tuple[str, ColumnKind], ...] = (
    ("int", "integer"),
    ("char", "text"),
    ("clob", "text"),
    ("text", "text"),
    ("blob", "other"),
    ("real", "number"),
    ("floa", "number"),
    ("doub", "number"),
    ("bool", "truth"),
    ("datetime", "time"),
    ("timestamp", "time"),
    ("date", "date"),
)
# types that databases have apart from bytes; to SQLite they are words, and values tell
_WORDS_ALONE = frozenset(_WORDS["other"].split()) - {"blob", "bytea", "binary", "varbinary"}
_FIRST_WORD = re.compile(r"\W*(\w*)")
_WHOLE = re.compile(r"\(\s*\d+\s*,\s*0\s*\)$")


def kind_of(declared: str) -> ColumnKind:
    """The kind by the first word of a type, whatever database it comes from.

    >>> [kind_of(each) for each in ("DECIMAL(9,2)", "NUMERIC(9,0)", "INTEGER[]", "mood")]
    ['number', 'integer', 'other', 'unknown']
    """
    text = declared.strip().lower()
    if text.endswith("]"):
        return "other"
    kind = _KINDS.get(_first_word(text), "unknown")
    return "integer" if kind == "number" and _WHOLE.search(text) else kind


def kind_by_affinity(declared: str) -> ColumnKind:
    """The same for SQLite, where any text may be a type: if no word is known, parts of it are.

    >>> [kind_by_affinity(each) for each in ("unsigned big int", "VARYING CHARACTER", "", "MONEY")]
    ['integer', 'text', 'unknown', 'unknown']
    """
    kind = kind_of(declared)
    if kind == "other" and _first_word(declared) in _WORDS_ALONE:
        return "unknown"
    if kind != "unknown":
        return kind
    text = declared.lower()
    return next((kind for part, kind in _AFFINITIES if part in text), "unknown")


def _first_word(declared: str) -> str:
    return _FIRST_WORD.match(declared.lower())[1]  # type: ignore[index]
