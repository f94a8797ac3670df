"""Tables of a draft: choices of both sides put together, named, and as a template writes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lifagu.drafting.asking import quoted
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.choosing import ChosenTables, TableChoice
from lifagu.drafting.paths import LinkPath


@dataclass(frozen=True, eq=False)
class DraftedTable:
    """A table to be learned: over one attribute by group, over two along a path perhaps, or given.

    others: attributes beside the first one; path: to the individuals whose these are, if others;
    is_given: whether the first is told by the others, so that its gaps say nothing about them.
    gain: what it adds to those chosen before it, in nats for all cells that it tells about.
    """

    name: str
    one: Attribute
    others: tuple[Attribute, ...]
    path: LinkPath | None
    by: tuple[str, ...]
    sql: str
    gain: float
    told: str
    is_given: bool = False

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Those that it is over."""
        return (self.one, *self.others)

    @property
    def is_listed(self) -> bool:
        """Whether it has a group for each value of a list, so that somebody is in several."""
        return self.path is not None and bool(self.by)

    def json(self) -> dict[str, Any]:
        """As an item of a template; what is told stands last."""
        path = self.path
        others = [each.atom if path is None else path.atom(each.name) for each in self.others]
        arguments = [*others, self.one.atom] if self.is_given else [self.one.atom, *others]
        item: dict[str, Any] = {"name": self.name, "args": arguments}
        if self.sql:
            item["rows"] = {"sql": self.sql}
        learned: dict[str, Any] = {"learn": True}
        if self.by:
            learned["by"] = list(self.by)
        if self.is_given:
            learned["given"] = others
        item["table"] = learned if len(learned) > 1 else "learn"
        return item


def drafted_tables(chosen: Iterable[ChosenTables], most: int) -> list[DraftedTable]:
    """One table for each pair and each grouping that was chosen, the most telling first.

    An attribute whose gaps must not tell has one table alone, given what tells about it.
    """
    gains: dict[tuple[Any, ...], float] = {}
    first: dict[tuple[Any, ...], TableChoice] = {}
    given = []
    for each in chosen:
        if each.is_given:
            given += [each] if each.choices else []
            continue
        levels = {name for choice in each.choices for name in choice.candidate.by}
        for choice in each.choices:
            if _is_level(choice, levels):
                continue
            key = _key(choice)
            gains[key] = gains.get(key, 0.0) + choice.gain * each.known
            first.setdefault(key, choice)
    for key, choice in list(first.items()):  # what differs by group has a common part itself
        by_group = choice.candidate.by and not choice.candidate.is_listed
        if by_group and choice.candidate.other is not None:
            plain = _pair(choice)
            gains[key] += gains.pop(plain, 0.0)
            first.pop(plain, None)
    taken: set[str] = set()
    found = [_table(first[key], gains[key], taken) for key in first]
    found += [_given(each, taken) for each in given]
    return sorted(found, key=lambda table: -table.gain)[:most]


def with_rest(tables: list[DraftedTable], asked: Sequence[Attribute]) -> list[DraftedTable]:
    """Tables, with one more for each attribute that none of them is about for everybody.

    And for each that a list tells about: who is listed with much would else be told so often how
    common its labels are.
    """
    taken = {each.name for each in tables}
    listed = {id(each.one) for each in tables if each.is_listed}
    bare = [each for each in asked if id(each) in listed or not is_covered(each, tables)]
    told = {id(each) for table in tables for each in table.attributes}
    return tables + [_alone(each, taken, id(each) not in told) for each in bare]


def is_covered(attribute: Attribute, tables: Sequence[DraftedTable]) -> bool:
    """Whether some table is about every individual that could have the attribute."""
    for table in tables:
        others = [each for each in table.attributes if each is not attribute]
        here = table.path is None and len(others) < len(table.attributes)
        if here and all(each.rows is None or each.base == attribute.base for each in others):
            return True
    return False


def _is_level(choice: TableChoice, levels: Collection[str]) -> bool:
    """Whether a table looks at a column that groups of another one have as a level already."""
    other, is_plain = choice.candidate.other, not choice.candidate.by and not choice.candidate.path
    return bool(other and other.column and is_plain and other.column[1] in levels)


def _key(choice: TableChoice) -> tuple[Any, ...]:
    candidate = choice.candidate
    if candidate.other is None:
        return id(choice.target), candidate.by
    return (*_pair(choice), candidate.by) if candidate.by else _pair(choice)


def _pair(choice: TableChoice) -> tuple[Any, ...]:
    pair = sorted([id(choice.target), id(choice.candidate.other)])
    return (*pair, id(choice.candidate.path))


def _table(choice: TableChoice, gain: float, taken: set[str]) -> DraftedTable:
    one, candidate = choice.target, choice.candidate
    other, path, by = candidate.other, candidate.path, candidate.by
    groups = " and ".join(by)
    if other is None:
        name = _free(f"{one.name} by {groups}", taken)
        told = f"{one.name} differs {candidate.told}"
        return DraftedTable(name, one, (), None, by, candidate.sql, gain, told)
    if candidate.is_listed:
        name = _free(f"{one.name} and {other.name}", taken)
        told = f"{one.name} goes with {other.name}, all of them together"
        return DraftedTable(name, one, (other,), path, by, candidate.sql, gain, told)
    if by:
        name = _free(f"{one.name} and {other.name} by {groups}", taken)
        told = f"{one.name} goes with {other.name}, otherwise by {groups}"
        return DraftedTable(name, one, (other,), None, by, candidate.sql, gain, told)
    if path is None:
        name = _free(f"{one.name} and {other.name}", taken)
        told = f"{one.name} goes with {other.name}"
        return DraftedTable(name, one, (other,), None, (), rows_of(one, other), gain, told)
    if candidate.backwards:
        one, other = other, one
    name = _free(f"{one.name} and {path.other.name} {other.name}", taken)
    told = f"{one.name} goes with {other.name} of {path.told}"
    return DraftedTable(name, one, (other,), path, (), path.sql, gain, told)


def _given(chosen: ChosenTables, taken: set[str]) -> DraftedTable:
    """The table of an attribute with many gaps: given a few others, by group perhaps."""
    one, candidates = chosen.target, [each.candidate for each in chosen.choices]
    groupings = [each for each in candidates if each.other is None]
    beside = [each.other for each in candidates if each.other is not None]
    gain = sum(each.gain for each in chosen.choices) * chosen.known
    words = " and ".join(each.name for each in beside)
    by, sql = ((), rows_of(one, *beside)) if not groupings else (groupings[0].by, groupings[0].sql)
    groups = f" by {' and '.join(by)}" if by else ""
    name = _free(f"{one.name}{f' given {words}' if beside else ''}{groups}", taken)
    told = f"{one.name} is told{f' by {words}' if beside else ''}{groups}"
    told += "; by themselves its gaps say nothing about others"
    return DraftedTable(name, one, tuple(beside), None, by, sql, gain, told, bool(beside))


def _alone(one: Attribute, taken: set[str], nothing: bool) -> DraftedTable:
    why = "nothing was found that tells about it"
    told = f"{one.name} by its frequencies: {why if nothing else 'for those that others leave out'}"
    name = _free(f"{one.name} alone", taken)
    return DraftedTable(name, one, (), None, (), rows_of(one), 0.0, told)


def rows_of(*attributes: Attribute) -> str:
    """The query for the individuals that a table is about, where these are not all constants.

    Tables beside the subject's own have rows of some individuals only; nothing is asked of others.
    """
    subject = attributes[0].subject
    besides = {each.base: each.key for each in attributes if each.rows is not None}
    if subject.is_single and not besides:
        return ""
    (base, key), *more = besides.items() or [(subject.base, subject.key)]
    chosen = ", ".join(
        f"a.{quoted(column)} AS {quoted(variable.lower())}"
        for column, variable in zip(key, subject.variables, strict=True)
    )
    joins = "".join(
        f" JOIN {further} AS {alias} ON {alias}.{quoted(there[0])} = a.{quoted(key[0])}"
        for alias, (further, there) in zip("bcd", more, strict=False)
    )
    return f"SELECT {chosen} FROM {base} AS a{joins}"


def _free(name: str, taken: set[str]) -> str:
    offer, number = name, 1
    while offer in taken:
        number += 1
        offer = f"{name} {number}"
    taken.add(offer)
    return offer
