"""Colour passing by partition refinement, in plain Python: the kernel's oracle and fallback.

Instead of rounds over the whole graph, a worklist holds the classes that others have not been
compared against yet; when a class splits, all its parts but the largest are enough (Hopcroft 1971;
Paige and Tarjan 1987). So every argument is looked at O(log n) times and a path of n variables
costs O(n log n), not O(n²).
"""

from __future__ import annotations

from collections import deque

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence
from lifagu.basics.progress import Tell
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.likeness.roles import argument_places


def refine(
    graph: FactorGraph,
    start: Colouring,
    positions: Ints | None = None,
    progress: Tell | None = None,
) -> Colouring:
    """The coarsest stable colouring that refines the start colours. O(e log n), exact.

    positions[e]: the position each argument sends, None for its place in the list; those that share
    one are not told apart. progress(done, total) is called for each class that others are compared
    against.
    """
    count = len(graph.variable_names)
    above = start.variable_colours.max(initial=-1) + 1
    partition = Partition(np.concatenate((start.variable_colours, above + start.factor_colours)))
    neighbours = _neighbours(graph, argument_places(graph) if positions is None else positions)
    total = partition.left
    waiting = deque(range(len(partition.first)))
    is_waiting = [True] * len(waiting)
    while waiting:
        splitter = waiting.popleft()
        is_waiting[splitter] = False
        if progress is not None:
            progress(total - partition.left, total)
        received = _received(partition.elements_of(splitter), neighbours)
        for parent, parts in partition.split_by(received):
            is_waiting.extend([False] * (len(partition.first) - len(is_waiting)))
            due = [parent, *parts]
            if not is_waiting[parent]:
                due.remove(max(due, key=partition.size.__getitem__))
            for part in due:
                if not is_waiting[part]:
                    is_waiting[part] = True
                    waiting.append(part)
    colours = np.array(partition.class_of, dtype=np.int64)
    return Colouring(by_first_occurrence(colours[:count]), by_first_occurrence(colours[count:]))


class Partition:
    """A partition of 0…n-1 whose classes split in time proportional to the elements moved out."""

    def __init__(self, classes: Ints) -> None:
        self.class_of: list[int] = classes.tolist()
        self.elements: list[int] = np.argsort(classes, kind="stable").tolist()
        self.place: list[int] = np.argsort(self.elements).tolist()
        sizes = np.bincount(classes)
        self.first: list[int] = (np.cumsum(sizes) - sizes).tolist()
        self.size: list[int] = sizes.tolist()
        self.left = sum(map(_bits, self.size))  # how much splitting is possible at most

    def elements_of(self, number: int) -> list[int]:
        """The elements of a class."""
        return self.elements[self.first[number] : self.first[number] + self.size[number]]

    def split_by(self, received: dict[int, tuple[int, ...]]) -> list[tuple[int, list[int]]]:
        """Split classes so that elements stay together iff they received the same.

        Elements that received nothing keep their class; where there are none, one of the parts
        does. Returns each class that was split, with the new classes cut from it.
        """
        touched: dict[int, dict[tuple[int, ...], list[int]]] = {}
        for element, message in received.items():
            touched.setdefault(self.class_of[element], {}).setdefault(message, []).append(element)
        splits = []
        for parent, by_message in touched.items():
            parts = list(by_message.values())
            if sum(map(len, parts)) == self.size[parent]:
                parts.pop()
            if parts:
                splits.append((parent, [self._cut(parent, part) for part in parts]))
        return splits

    def _cut(self, parent: int, part: list[int]) -> int:
        """Move these elements of a class into a new class at its end."""
        new = len(self.first)
        end = self.first[parent] + self.size[parent]
        for element in part:
            end -= 1
            other, here = self.elements[end], self.place[element]
            self.elements[here], self.place[other] = other, here
            self.elements[end], self.place[element] = element, end
            self.class_of[element] = new
        self.left -= _bits(self.size[parent])
        self.size[parent] -= len(part)
        self.first.append(end)
        self.size.append(len(part))
        self.left += _bits(self.size[parent]) + _bits(len(part))
        return new


def _bits(size: int) -> int:
    """Of a class: its size times how often it can be halved."""
    return size * (size.bit_length() - 1)


def _received(
    splitter: list[int], neighbours: list[list[tuple[int, int]]]
) -> dict[int, tuple[int, ...]]:
    """For each neighbour of the class, the sorted positions over which it meets the class."""
    positions: dict[int, list[int]] = {}
    for element in splitter:
        for neighbour, position in neighbours[element]:
            positions.setdefault(neighbour, []).append(position)
    return {neighbour: tuple(sorted(met)) for neighbour, met in positions.items()}


def _neighbours(graph: FactorGraph, positions: Ints) -> list[list[tuple[int, int]]]:
    """For each variable its (factor, position) pairs, for each factor its (variable, position).

    Factors are numbered after the variables.
    """
    count = len(graph.variable_names)
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(count + len(graph.factor_names))]
    sent, offsets = positions.tolist(), graph.offsets.tolist()
    for factor in range(len(graph.factor_names)):
        for position, variable in zip(
            sent[offsets[factor] : offsets[factor + 1]], graph.scope(factor), strict=True
        ):
            neighbours[variable].append((count + factor, position))
            neighbours[count + factor].append((variable, position))
    return neighbours
