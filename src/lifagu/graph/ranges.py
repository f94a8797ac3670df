"""Ranges: the labels a variable can take, and the one canonical order behind every declared order.

Two ranges with the same set of labels are the same range. The order declared first is canonical and
used inside; a variable declared with another order is shown, read and written in its own order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints, frozen
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import NO_TEXT, is_text, items, label_text
from lifagu.errors import ModelError, did_you_mean, listed
from lifagu.graph.bins import BinLabels

Labels = tuple[str, ...]
BOOLEAN: Labels = ("false", "true")


def check_labels(labels: Iterable[str], owner: str) -> Labels:
    """Labels as a tuple; no label, an empty one or one given twice is an error naming the owner."""
    if not isinstance(labels, BinLabels):  # those know more than a tuple does
        labels = tuple(items(f"{owner} has a range that is a list of labels", labels))
    if not labels:
        raise ModelError(f"{owner} has an empty range; give it at least one label")
    met: set[str] = set()
    for label in labels:
        if not isinstance(label, str) or not label:
            raise ModelError(
                f"{owner} has the label {label!r} in its range; labels are non-empty texts"
            )
        if not is_text(label):
            raise ModelError(f"{owner} has the label {label!r} in its range; {NO_TEXT}")
        if label in met:
            raise ModelError(
                f"{owner} has the label '{label}' twice in its range; labels must differ"
            )
        met.add(label)
    return labels


@dataclass(frozen=True)
class Ranges(Frozen):
    """The distinct declared label orders of a graph, by first use.

    >>> ranges = Ranges((("false", "true"), ("true", "false"), ("low", "high")))
    >>> ranges.canonical, ranges.range_of.tolist()
    ((('false', 'true'), ('low', 'high')), [0, 0, 1])
    """

    declared: tuple[Labels, ...]

    @cached_property
    def _first(self) -> dict[frozenset[str], int]:
        first: dict[frozenset[str], int] = {}
        for labels in self.declared:
            first.setdefault(frozenset(labels), len(first))
        return first

    @cached_property
    def range_of(self) -> Ints:
        """For each declared order, the number of its range."""
        return frozen(
            np.array([self._first[frozenset(labels)] for labels in self.declared], dtype=np.int64)
        )

    @cached_property
    def canonical(self) -> tuple[Labels, ...]:
        """For each range, its labels in canonical order."""
        found: dict[int, Labels] = {}
        for labels, number in zip(self.declared, self.range_of, strict=True):
            found.setdefault(int(number), labels)
        return tuple(found.values())

    @cached_property
    def sizes(self) -> Ints:
        """For each range, its number of labels."""
        return frozen(np.array([len(labels) for labels in self.canonical], dtype=np.int64))

    def to_canonical(self, declared: int) -> Ints:
        """For each canonical value, its position in the declared order."""
        place = {label: place for place, label in enumerate(self.declared[declared])}
        canonical = self.canonical[self.range_of[declared]]
        return np.array([place[label] for label in canonical], dtype=np.int64)

    def to_declared(self, declared: int) -> Ints:
        """For each position in the declared order, its canonical value."""
        return self._orders[declared]

    @cached_property
    def _orders(self) -> list[Ints]:
        return [
            frozen(np.argsort(self.to_canonical(number))) for number in range(len(self.declared))
        ]


def value_of(label: Any, labels: Sequence[str], variable: str) -> int:
    """Return the position of a label; a missing one is an error that lists what there is.

    Where labels are bins of numbers, a number, or a text that is one, falls into its bin; else
    truth values and whole numbers stand for their texts.
    """
    if isinstance(labels, BinLabels) and not _is_label(label, labels):
        place = labels.place(label)
        if place is None:
            raise ModelError(
                f"variable '{variable}' has no value '{label}'; "
                f"give a number, or one of {listed(labels)}"
            )
        return place
    text = label_text(label)
    place = None if text is None else place_of(text, labels)
    if place is None:
        raise ModelError(
            f"variable '{variable}' has no value '{label}'; its range is {listed(labels)}"
            f"{did_you_mean(str(label), labels)}"
        )
    return place


def _is_label(label: Any, labels: Sequence[str]) -> bool:
    return isinstance(label, str) and place_of(label, labels) is not None


LONG = 64  # labels in a row that are looked through


class _Looked:
    """Labels by identity: equal ones may be compared for long."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels

    def __hash__(self) -> int:
        return id(self.labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Looked) and self.labels is other.labels


@lru_cache(maxsize=16)
def _places(looked: _Looked) -> dict[str, int]:
    return {label: place for place, label in enumerate(looked.labels)}


def place_of(label: str, labels: Sequence[str]) -> int | None:
    """The position of a label, None where it is missing; the places of long ranges are kept."""
    if len(labels) > LONG and isinstance(labels, tuple):
        return _places(_Looked(labels)).get(label)
    return labels.index(label) if label in labels else None
