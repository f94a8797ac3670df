"""Domains from queries, and from values in rows to the numbers of constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.cells import Cells, codes_of, joined
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import Batch, batches, check_width
from lifagu.errors import FormatError
from lifagu.relational.domains import Domain
from lifagu.relational.template import Query

CONSTANT = 160  # bytes of one: its text, and the table to look it up


def queried_domain(name: str, query: Query, database: Database, progress: Announce) -> Domain:
    """The domain that a query lists, in the order of numbers if all are whole, else of texts.

    So the order of rows, which databases choose as they like, means nothing.
    """
    check_width(query, database.columns(query), ["the constant"])
    found = []
    for batch in batches(database, query, progress):
        part = batch.cells(0)
        batch.refuse(
            part.missing, lambda _: f"NULL is no constant of domain {name}; leave it out with WHERE"
        )
        found.append(part)
    if not found:
        raise query_error(query, f"the query gives no row; domain {name} needs a constant at least")
    cells = joined(found)
    database.room.check(query, more=CONSTANT * len(cells))
    return _whole(name, query, cells) if cells.is_whole else _texts(name, query, cells)


def _whole(name: str, query: Query, cells: Cells, sort: str = "integer") -> Domain:
    """Whole numbers; those that are 1…n need no list. sort: what they are in the database."""
    ordered = np.sort(cells.values)
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(twice):
        constant = ordered[twice[0]]
        raise _repeated(name, query, str(constant), cells.values == constant)
    if ordered[0] == 1 and ordered[-1] == len(ordered):
        return Domain(name, len(ordered), sort=sort)
    return Domain(name, len(ordered), tuple(map(str, ordered.tolist())), sort)


def _texts(name: str, query: Query, cells: Cells) -> Domain:
    texts = [text or "" for text in cells.texts()]
    known = set(texts)
    if "" in known:
        raise query_error(
            query, f"row {texts.index('') + 1}: an empty text is no constant of domain {name}"
        )
    if len(known) < len(texts):
        twice = next(text for text, count in Counter(texts).items() if count > 1)
        raise _repeated(name, query, twice, np.array([text == twice for text in texts]))
    if all(map(_is_whole, texts)):
        numbers = np.array(list(map(int, texts)), dtype=np.int64)
        return _whole(name, query, Cells(numbers, cells.missing), cells.sort)
    return Domain(name, len(texts), tuple(sorted(texts)), cells.sort)


def in_order(texts: Iterable[str]) -> list[str]:
    """Distinct texts as constants are ordered: by number if all are whole numbers, else by text.

    >>> in_order(["10", "9"]), in_order(["10", "9", "b"])
    (['9', '10'], ['10', '9', 'b'])
    """
    given = list(texts)
    return sorted(given, key=int) if all(map(_is_whole, given)) else sorted(given)


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return (
        digits.isdecimal()
        and digits.isascii()
        and len(digits) <= 18
        and (digits[0] != "0" or text == "0")
    )


def _repeated(name: str, query: Query, constant: str, same: NDArray[np.bool_]) -> FormatError:
    rows = (np.flatnonzero(same)[:2] + 1).tolist()
    return query_error(
        query,
        f"rows {rows[0]} and {rows[1]}: '{constant}' is a constant of domain {name} twice; "
        "write SELECT DISTINCT",
    )


class Constants:
    """The way from values in rows, by their texts, to the numbers of a domain's constants."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @cached_property
    def _by_text(self) -> dict[str, int]:
        """All constants by text; those of numbered domains too, as only few values may be texts."""
        texts = self.domain.texts(range(self.domain.size))
        return {text: number for number, text in enumerate(texts)}

    @cached_property
    def _ordered(self) -> Ints | None:
        """The constants as numbers, ascending, where all are whole and they are in that order."""
        if self.domain.constants is None or not all(map(_is_whole, self.domain.constants)):
            return None
        numbers = np.array(list(map(int, self.domain.constants)), dtype=np.int64)
        return numbers if (numbers[1:] > numbers[:-1]).all() else None

    def numbers(self, batch: Batch, place: int) -> Ints:
        """The numbers of the constants in a column; NULL and other values are errors."""
        cells = batch.cells(place)
        name = batch.names[place]
        batch.refuse(
            cells.missing,
            lambda _: f"'{name}' is NULL; it must be a constant of domain {self.domain.name}",
        )
        found = self.found(cells)
        batch.refuse(found < 0, lambda row: self._missing(cells.text(row)))
        return found

    def found(self, cells: Cells) -> Ints:
        """The numbers of the constants in a column, -1 where it holds none of them."""
        if cells.is_whole and self.domain.constants is None:
            inside = (cells.values >= 1) & (cells.values <= self.domain.size)
            return np.where(inside, cells.values - 1, -1)
        if cells.is_whole and self._ordered is not None:
            places = np.minimum(
                np.searchsorted(self._ordered, cells.values), len(self._ordered) - 1
            )
            return np.where(self._ordered[places] == cells.values, places, -1)
        return codes_of(cells, self._by_text)

    def _missing(self, text: str) -> str:
        known = self.domain.what_there_is(text)
        return f"'{text}' is not a constant of domain {self.domain.name}{known}"
