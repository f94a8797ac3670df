"""Variables such as ``Sick(eve)`` found by the beginning of what stands in the parentheses.

Their names are never listed: constants are looked up domain by domain, as they are typed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.basics.searched_texts import (
    EXACT,
    INSIDE,
    PREFIX,
    WORD_START,
    SearchedTexts,
    folded_text,
)
from lifagu.relational.domains import Domain
from lifagu.relational.terms import constant_text

MOST_LISTED = 2_000_000  # constants without names that are looked through one by one
FEW_ROWS = 5000  # variables that are looked through one by one


class ConstantTexts:
    """The constants of a domain as texts: as they are, after a prefix, or quoted where need be."""

    def __init__(self, domain: Domain, prefix: str = "", quoted: bool = False) -> None:
        self.domain, self.prefix, self.quoted = domain, prefix, quoted

    def __len__(self) -> int:
        return self.domain.size

    def text(self, number: int) -> str:
        """The text of a constant."""
        own = self.domain.constant(number)
        return self.prefix + (constant_text(own) if self.quoted else own)

    @cached_property
    def _listed(self) -> SearchedTexts | None:
        """All of them; None where they are numbers, and too many."""
        if self.domain.constants is None and self.domain.size > MOST_LISTED:
            return None
        return SearchedTexts(list(map(self.text, range(self.domain.size))))

    def search(self, typed: str) -> Iterator[tuple[int, int]]:
        """The constants in which something is found, and how; of very many the first two ways."""
        if self._listed is not None:
            yield from self._listed.search(typed)
            return
        for number in self.with_prefix(folded_text(typed)):
            yield number, EXACT if folded_text(self.text(number)) == folded_text(typed) else PREFIX

    def with_prefix(self, text: str) -> Iterator[int]:
        """The constants that begin with a text, which is casefolded, ascending."""
        if self._listed is not None:
            yield from self._listed.with_prefix(text)
        elif self.prefix.casefold().startswith(text):
            yield from range(self.domain.size)
        else:
            yield from self._numbers_from(text.removeprefix(self.prefix.casefold()))

    def _numbers_from(self, digits: str) -> Iterator[int]:
        """The numbers 1, … that begin with some digits, as constants."""
        if not digits.isascii() or not digits.isdigit() or digits[0] == "0":
            return
        first, many = int(digits), 1
        while first <= self.domain.size:
            yield from range(first - 1, min(first + many - 1, self.domain.size))
            first, many = first * 10, many * 10

    def equal_to(self, text: str) -> Iterator[int]:
        """The constants that are a text, which is casefolded, ascending."""
        if self._listed is not None:
            return self._listed.equal_to(text)
        number = self.domain.find(text.removeprefix(self.prefix.casefold()))
        return iter(() if number is None else (number,))


class GroundAtoms:
    """The variables of a relation; rows: the constants of each, in order, None for all there are.

    >>> people, drugs = Domain.of("Person", ["al", "eve"]), Domain("Drug", 30)
    >>> atoms = GroundAtoms("Treat", [ConstantTexts(people), ConstantTexts(drugs)])
    >>> list(atoms.search("treat(eve,3"))
    [(1, 'Treat(eve,3)'), (1, 'Treat(eve,30)')]
    >>> list(atoms.search("treat(eve,3)"))
    [(0, 'Treat(eve,3)')]
    """

    def __init__(
        self, relation: str, domains: Sequence[ConstantTexts], rows: Ints | None = None
    ) -> None:
        self.relation, self.domains, self.rows = relation, domains, rows

    def __len__(self) -> int:
        return 0 if self.rows is None else len(self.rows)

    def search(self, typed: str) -> Iterator[tuple[int, str]]:
        """How variables are found, and their names; a parenthesis must stand in what was typed."""
        head, parenthesis, inside = typed.partition("(")
        relation = self.relation.casefold()
        if not parenthesis or not relation.endswith(head):
            return
        before = relation[: len(relation) - len(head)]
        for numbers in self._from(inside, (), 0, len(self)):
            texts = [each.text(number) for each, number in zip(self.domains, numbers, strict=True)]
            inner = ",".join(texts)
            if before:
                begins = head[:1].isalnum() and not before[-1].isalnum()
                how = WORD_START if begins else INSIDE
            else:
                how = EXACT if folded_text(f"{inner})") == inside else PREFIX
            yield how, f"{self.relation}({inner})"

    def _from(
        self, left: str, before: tuple[int, ...], low: int, high: int
    ) -> Iterator[tuple[int, ...]]:
        """The constants of variables whose names go on with what is left to be read, in order.

        low, high: the rows that begin with the constants before.
        """
        place = len(before)
        if place == len(self.domains):
            if not left:
                yield before
            return
        for number, rest in self._next(place, left, low, high):
            start, stop = self._within(place, number, low, high)
            if start < stop or self.rows is None:
                yield from self._from(rest, (*before, number), start, stop)

    def _next(self, place: int, left: str, low: int, high: int) -> Iterator[tuple[int, str]]:
        """The next constants that fit, ascending, and what is left to be read after each."""
        domain, ends = self.domains[place], "," if place + 1 < len(self.domains) else ")"
        if self.rows is not None and (not left or high - low <= FEW_ROWS):
            column = self.rows[low:high, place]
            for number in column[np.diff(column, prepend=-1) > 0].tolist():
                whole = folded_text(domain.text(number)) + ends
                if whole.startswith(left) or left.startswith(whole):
                    yield number, left[len(whole) :]
            return
        read = [at for at, sign in enumerate(left) if sign == ends]
        yield from merge(
            ((number, "") for number in domain.with_prefix(left)),
            *(_each_with(domain.equal_to(left[:at]), left[at + 1 :]) for at in read),
        )

    def _within(self, place: int, number: int, low: int, high: int) -> tuple[int, int]:
        """The rows among some that have a constant in a place."""
        if self.rows is None:
            return low, high
        column = self.rows[low:high, place]
        start, stop = np.searchsorted(column, [number, number + 1]).tolist()
        return low + start, low + stop


def _each_with(numbers: Iterator[int], rest: str) -> Iterator[tuple[int, str]]:
    return ((number, rest) for number in numbers)
