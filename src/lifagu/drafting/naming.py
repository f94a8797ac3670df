"""Names of domains, logical variables and relations, made of the names of tables and columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_WORDS = re.compile(r"[^\W_]+")
LONGEST = 60


def capitalised(name: str) -> str:
    """A name as one word that begins with a capital letter, as logical variables do.

    >>> capitalised("order items"), capitalised("unit_type"), capitalised("2B"), capitalised("día")
    ('OrderItems', 'UnitType', 'X2B', 'Día')
    """
    words = _WORDS.findall(name.rpartition(".")[2] or name)
    joined = "".join(word[:1].upper() + word[1:] for word in words)
    return joined if joined[:1].isupper() else f"X{joined}"


def row_name(columns: Iterable[str]) -> str:
    """What the number of a row is called, where columns are called like this.

    >>> row_name(["a"]), row_name(["a", "Row_Number"])
    ('row_number', 'row_number_2')
    """
    return free_name("row_number", columns)


def free_name(name: str, columns: Iterable[str]) -> str:
    """A name that no column has, whatever the case of letters: this one, or with a number."""
    taken, offer, number = {each.lower() for each in columns}, name, 1
    while offer.lower() in taken:
        number += 1
        offer = f"{name}_{number}"
    return offer


@dataclass
class GivenNames:
    """Names that were given already; no two are the same, whatever the case of letters."""

    taken: set[str] = field(default_factory=set)

    def domain(self, table: str) -> str:
        """The name of a domain."""
        return self._free([capitalised(table)])

    def relation(self, column: str, subject: str, twice: bool) -> str:
        """The name of a relation: the column's, after the subject's where others are called so."""
        own, both = capitalised(column), f"{capitalised(subject)}{capitalised(column)}"
        return self._free([both] if twice else [own, both])

    def described(self, text: str) -> str:
        """The name of a relation that a few words describe."""
        plain = " ".join(re.sub(r'[()\[\]#"]', " ", text).split())
        return self._free([plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1].strip()}…"])

    def variables(self, domains: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
        """A logical variable for each column of a key, called as its domain, no two the same."""
        found: list[str] = []
        for domain, column in zip(domains, columns, strict=True):
            name = domain if domain not in found else capitalised(column)
            while name.lower() in (each.lower() for each in found):
                name += "_2"
            found.append(name)
        return tuple(found)

    def _free(self, offers: list[str]) -> str:
        for name in offers:
            if name.lower() not in self.taken:
                break
        number = 1
        while name.lower() in self.taken:
            number += 1
            name = f"{offers[-1]}_{number}"
        self.taken.add(name.lower())
        return name
