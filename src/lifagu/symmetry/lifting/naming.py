"""Names of what lifting makes: relations after kinds or stems, letters for logical variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count

from lifagu.basics.arrays import Ints
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.terms import is_relation_name

MOST_READ = 1000  # names from which a common stem is found
RELATIONS = "RSTUPQABCDEFGHIJKLMNOVWXYZ"
# first names of logical variables, by domain
FAMILIES = ("XYZ", "MNO", "PQR", "STU", "VW", "ABC", "DEF", "GHI", "JKL")


def base_name(graph: FactorGraph, variables: Ints) -> str | None:
    """The kind, or else the stem of names, that variables share; None without one.

    A single variable keeps its name.
    """
    if len(variables) == 1:
        return graph.variable_names[int(variables[0])]
    kinds = graph.variable_kind[variables]
    if (kinds != kinds[0]).any():
        return None
    if kinds[0] >= 0:
        name = graph.kinds[int(kinds[0])].strip()
    else:
        chosen = variables[:: max(1, len(variables) // MOST_READ)].tolist()
        name = stem([graph.variable_names[each] for each in chosen])
    return name if is_relation_name(name) else None


def stem(names: Sequence[str]) -> str:
    """What names share at their beginning or else at their end, in whole words without numbers.

    >>> stem(["Sick.al", "Sick.ada"]), stem(["al.Sick", "hal.Sick"])
    ('Sick', 'Sick')
    >>> stem(["SickAl", "SickAda"]), stem(["x17", "x18"])
    ('Sick', 'x')
    """
    start = _common_start(names)
    if any(_inside_word(name, len(start)) for name in names):
        hump = re.search(r"(?<=[^\W\d_])[A-Z][^\W\d_A-Z]*$", start)
        start = start[: hump.start()] if hump else re.sub(r"[^\W\d_]+$", "", start)
    start = re.sub(r"[\W\d_]+$", "", start.lstrip())
    if start:
        return start
    end = _common_start([name[::-1] for name in names])[::-1]
    if any(_inside_word(name, len(name) - len(end)) for name in names):
        end = re.sub(r"^[^\W\d_]+", "", end)
    return re.sub(r"^[\W\d_]+", "", end.rstrip())


def _common_start(names: Sequence[str]) -> str:
    """What all names begin with; of the first and the last in alphabetical order, that is."""
    first, last = min(names), max(names)
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((place for place, (one, other) in pairs if one != other), len(first))]


def _inside_word(name: str, place: int) -> bool:
    """Whether a letter stands on both sides of a place in a name."""
    return 0 < place < len(name) and name[place - 1].isalpha() and name[place].isalpha()


def relation_names(bases: Sequence[str | None], free: Callable[[int, str], bool]) -> list[str]:
    """A name for each relation: its base, with a number if that is taken, or a letter.

    free: whether a relation, by number, may have a name.
    """
    attempts = {base: _attempts(base) for base in bases}
    taken: set[str] = set()
    result = []
    for number, base in enumerate(bases):
        name = next(each for each in attempts[base] if each not in taken and free(number, each))
        taken.add(name)
        result.append(name)
    return result


def _attempts(base: str | None) -> Iterator[str]:
    if base is None:
        yield from RELATIONS
        base = RELATIONS[0]
    else:
        yield base
    yield from (f"{base}_{number}" for number in count(2))


def letters(number: int) -> Iterator[str]:
    """The names of a domain's logical variables: X, Y, Z, X4, X5, …; the first is its own name."""
    family = FAMILIES[number % len(FAMILIES)]
    turn = number // len(FAMILIES)
    if not turn:
        yield from family
        yield from (f"{family[0]}{place}" for place in count(len(family) + 1))
    yield from (f"{letter}_{turn}" for letter in family)
    yield from (f"{family[0]}{place}_{turn}" for place in count(len(family) + 1))


def letter_families(relations: Sequence[str]) -> Iterator[int]:
    """The numbers of the families of letters that no relation is called by."""
    taken = set(relations)
    return (
        number for number in count() if number >= len(FAMILIES) or not taken & set(FAMILIES[number])
    )
