"""Names that BLOG can read: letters, digits, underscores, a letter first, and no keyword."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

_KEYWORDS = """
    type random nonrandom fixed generating origin guaranteed distinct factor parfactor
    then else for elseif if query obs param exists forall true false null
    boolean integer naturalnum real string character timestep
"""
RESERVED = frozenset(_KEYWORDS.split())  # whatever the case of their letters


class Identifiers:
    """Hands out identifiers, each once: the wanted name where it can be had, else a similar one.

    Other characters become underscores, a letter is put before what does not begin with one, and
    what is taken or reserved gets a number behind it.

    >>> names = Identifiers()
    >>> [names.new(each, "v") for each in ("Sick", "Sick(eve)", "Sick_eve", "7", "type", "?")]
    ['Sick', 'Sick_eve', 'Sick_eve_2', 'v7', 'type_2', 'v']
    >>> names.stem("person", "c"), names.new("person12", "c")
    ('person', 'person12_2')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._stems: list[str] = []
        self._next: dict[str, int] = {}

    def new(self, wanted: str, letter: str) -> str:
        """An identifier of its own."""
        found = self._free(_spelt(wanted, letter), frozenset())
        self._taken.add(found)
        return found

    def stem(self, wanted: str, letter: str) -> str:
        """An identifier to which all numbers 1, 2, … may be appended."""
        base = _spelt(wanted, letter)
        for number in count(1):
            found = base if number == 1 else f"{base}_{number}_"
            others = any(
                found == each or _is_numbered(found, each) or _is_numbered(each, found)
                for each in self._stems
            )
            if not others and not any(_is_numbered(each, found) for each in self._taken):
                break
        self._stems.append(found)
        return found

    def local(self, wanted: Iterable[str], letter: str) -> dict[str, str]:
        """Identifiers for names with a scope of their own, as a parfactor's logical variables."""
        result: dict[str, str] = {}
        for name in wanted:
            result[name] = self._free(_spelt(name, letter), frozenset(result.values()))
        return result

    def _free(self, base: str, also_taken: frozenset[str]) -> str:
        if self._is_free(base) and base not in also_taken:
            return base
        for number in count(self._next.get(base, 2)):
            found = f"{base}_{number}"
            if self._is_free(found) and found not in also_taken:
                break
        if not also_taken:
            self._next[base] = number
        return found

    def _is_free(self, word: str) -> bool:
        return (
            word.lower() not in RESERVED
            and word not in self._taken
            and not any(_is_numbered(word, stem) for stem in self._stems)
        )


def _spelt(name: str, letter: str) -> str:
    word = name
    if not re.fullmatch(r"\w+", name, re.ASCII):
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return word if re.match(r"[A-Za-z]", word) else letter + word


def _is_numbered(word: str, stem: str) -> bool:
    return word.startswith(stem) and word[len(stem) :].isdigit()
