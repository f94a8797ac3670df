"""Queries as drivers take them; parameters are bound beside a statement, never written into it.

SQLite knows ``:ward`` itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifagu.relational.parameters import PIECES, ParameterValue, named_in, respelt

Values = Sequence[tuple[str, ParameterValue]]


def for_duckdb(sql: str, values: Values) -> tuple[str, dict[str, ParameterValue] | None]:
    """A statement and what is bound; names are DuckDB's own, which knows no upper case in them.

    >>> for_duckdb("SELECT id FROM s WHERE ward = :ward AND at <> ':ward'", [("ward", 3)])
    ("SELECT id FROM s WHERE ward = $lifagu_0 AND at <> ':ward'", {'lifagu_0': 3})
    """
    used = _used(sql, values)
    own = {name: f"lifagu_{number}" for number, name in enumerate(used)}
    spelt = respelt(sql, {name: f"${each}" for name, each in own.items()}) if used else sql
    return spelt, {own[name]: value for name, value in used.items()} or None


def for_psycopg(sql: str, values: Values) -> tuple[str, dict[str, ParameterValue] | None]:
    """The same for PostgreSQL; where something is bound, its driver wants other signs doubled.

    >>> for_psycopg("SELECT id % 2 FROM s WHERE ward = :ward", [("ward", 3)])
    ('SELECT id %% 2 FROM s WHERE ward = %(ward)s', {'ward': 3})
    """
    used = _used(sql, values)
    if not used:
        return sql, None
    spelt = {name: f"%({name})s" for name in used}
    return respelt(sql, spelt, lambda text: text.replace("%", "%%")), used


def for_sqlite(sql: str) -> str:
    """A statement in which quoted names are nothing else.

    SQLite takes what stands in double quotes and is no column for a text, so that a condition about
    a misspelt one holds for nobody; in the quotes of MySQL it is an error, as in other databases.

    >>> for_sqlite('SELECT "a ""b" FROM t -- "no"')
    'SELECT `a "b` FROM t -- "no"'
    """

    def named(piece: re.Match[str]) -> str:
        name = piece[0][1:-1].replace('""', '"').replace("`", "``")
        return f"`{name}`" if piece[0].startswith('"') and len(piece[0]) > 1 else piece[0]

    return PIECES.sub(named, sql)


def _used(sql: str, values: Values) -> dict[str, ParameterValue]:
    """The values of the parameters that a statement names."""
    given = dict(values)
    return {name: given[name] for name in named_in(sql) if name in given} if given else {}
