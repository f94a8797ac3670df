"""Individuals for whom a condition holds, looked up in the table that a domain was read from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.data.databases import opened
from lifagu.data.databases.queries import plain
from lifagu.data.snapshots import until_settled
from lifagu.data.templates.batches import batches, check_width
from lifagu.data.templates.constants import Constants
from lifagu.errors import ModelError
from lifagu.relational.domains import Domain
from lifagu.relational.parameters import PIECES
from lifagu.relational.source import Source
from lifagu.relational.template import Query

_AFTER_FROM = ("where", "group", "having", "window", "qualify", "order", "limit", "offset", "fetch")
# of such queries a row is no row of one table
_NOT_BY_ROW = {"union", "intersect", "except", "group", "having", "window", "qualify", "on"}


class _Piece(NamedTuple):
    """A piece of SQL in lower case, what it is, in how many parentheses, and where it stands."""

    text: str
    sort: str
    depth: int
    start: int
    end: int


def individuals_where(source: Source, domain: Domain, query: Query, condition: str) -> Ints:
    """The numbers of the constants of a domain for whom a condition holds, ascending.

    query: that the domain was read by. Constants of several rows are among them if it holds for
    one of their rows; new rows of the table, which are no constants, are left out.
    """
    _check_condition(condition)
    asked = Query(_with(query.sql, condition), f"where {condition}", query.values)

    def attempt() -> Ints:
        with opened(source) as database:
            check_width(asked, database.columns(asked), ["the constant"])
            constants, found = Constants(domain), [np.zeros(0, dtype=np.int64)]
            for batch in batches(database, asked, lambda _: None):
                found.append(constants.found(batch.cells(0)))
        numbers = np.unique(np.concatenate(found))
        return np.asarray(numbers[numbers >= 0])

    return until_settled(attempt)


def _with(sql: str, condition: str) -> str:
    """The query of a domain with one more condition about the rows of its table.

    >>> _with("SELECT id FROM machine ORDER BY id", "hall = 'B'")
    "SELECT DISTINCT id\\nFROM machine\\nWHERE (hall = 'B'\\n)"
    >>> _with("SELECT id FROM a UNION SELECT id FROM b", "id > 3")
    'SELECT * FROM (SELECT id FROM a UNION SELECT id FROM b\\n) AS domain WHERE (id > 3\\n)'
    """
    text = plain(sql)
    outer = [each for each in _pieces(text) if each.depth == 0 and each.sort == "word"]
    words = [each.text for each in outer]
    after = words.index("from") if "from" in words else len(words)
    joined_on = {"on"} if after < len(words) and "on" in words[after:] else set()
    is_plain = (
        words[:1] == ["select"]
        and after < len(words)
        and not (_NOT_BY_ROW - joined_on) & set(words)
        and "on" not in words[:after]
    )
    if not is_plain:
        return f"SELECT * FROM ({text}) AS domain WHERE ({condition}\n)"
    ends = [each for each in outer[after:] if each.text in _AFTER_FROM]
    first = 1 + (words[1] in ("distinct", "all"))
    column = text[outer[first - 1].end : outer[after].start].strip()
    table = text[outer[after].end : ends[0].start if ends else len(text)].strip()
    own = ""
    if ends and ends[0].text == "where":
        stop = ends[1].start if len(ends) > 1 else len(text)
        own = f"({text[ends[0].end : stop].strip()}\n) AND "
    return f"SELECT DISTINCT {column}\nFROM {table}\nWHERE {own}({condition}\n)"


def _check_condition(condition: str) -> None:
    """One condition and nothing else: what is opened in it is closed in it."""
    pieces = list(_pieces(condition))
    if not pieces:
        raise ModelError("where needs a condition in SQL, such as hall = 'B'")
    depth = 0
    for each in pieces:
        depth += {"(": 1, ")": -1}.get(each.text, 0)
        if each.text in ("'", '"', "`"):
            raise ModelError(f"where {condition}: a quote is not closed")
        if depth < 0 or each.text == ";":
            raise ModelError(
                f"where {condition}: this is not one condition; write what stands after WHERE"
            )
    if depth:
        raise ModelError(f"where {condition}: a parenthesis is not closed")


def _pieces(sql: str) -> Iterator[_Piece]:
    """The pieces of some SQL, comments left out."""
    depth = 0
    for match in PIECES.finditer(sql):
        text, sort = match[0], str(match.lastgroup)
        if sort == "comment":
            continue
        depth -= text == ")"
        yield _Piece(text.lower(), sort, depth, *match.span())
        depth += text == "("
