"""What somebody's factors sum to over their own variables, and factors that divide by it.

Divided by that sum, they are a distribution of their own variables for each state of the others:
whoever is admitted with it tells nothing of others before something is observed. A state of others
under which nothing is possible for them (all potentials are zero) leaves their variables uniform.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.errors import ModelError

MOST_ENTRIES = 2**22  # of one table
SAFE = 600.0  # |log| up to which plain numbers hold all products and sums without a loss
Axes = tuple[int, ...]


class OwnFactor(NamedTuple):
    """A factor: its variables, and its table with an axis for each; None if it is unknown."""

    axes: Axes
    table: Floats | None


class TooWide(Exception):
    """A table over these variables would be needed, with so many entries."""

    def __init__(self, axes: Axes, entries: int) -> None:
        super().__init__(axes, entries)
        self.axes, self.entries = axes, entries


def divided(
    pieces: Sequence[OwnFactor], own: Collection[int], sizes: Mapping[int, int]
) -> tuple[list[OwnFactor], list[OwnFactor]]:
    """Somebody's factors, and those that divide them by what they sum to over their own variables.

    The former are as they were, except where nothing is possible for them. Parts of their own
    variables that hang together only by others' are divided one by one.
    """
    factors, dividing = list(pieces), list[OwnFactor]()
    for part in _parts(pieces, own):
        mine = {axis for place in part.pieces for axis in pieces[place].axes} & {*own}
        some = [pieces[place] for place in part.pieces]
        if any(each.table is None for each in some):
            others = _union(some, mine)
            dividing += [OwnFactor(others, None)] if others else []
            continue
        changed, more = _divided(some, part.own, sizes)
        dividing += more
        for place, piece in zip(part.pieces, changed, strict=True):
            factors[place] = piece
    return factors, dividing


class _OwnPart(NamedTuple):
    """Some of somebody's own variables that hang together, and their factors by place."""

    own: Axes
    pieces: tuple[int, ...]


def _parts(pieces: Sequence[OwnFactor], own: Collection[int]) -> Iterator[_OwnPart]:
    """Own variables that hang together by factors, in the order of the first of them."""
    holders: dict[int, list[int]] = {axis: [] for axis in own}
    for place, piece in enumerate(pieces):
        for axis in piece.axes:
            if axis in holders:
                holders[axis].append(place)
    met: set[int] = set()
    for first in holders:
        if first in met:
            continue
        found, places, waiting = [first], dict[int, None](), [first]
        met.add(first)
        while waiting:
            for place in holders[waiting.pop()]:
                places[place] = None
                new = [a for a in pieces[place].axes if a in holders and a not in met]
                met.update(new)
                found += new
                waiting += new
        yield _OwnPart(tuple(found), tuple(sorted(places)))


def _divided(
    pieces: Sequence[OwnFactor], own: Axes, sizes: Mapping[int, int]
) -> tuple[Sequence[OwnFactor], list[OwnFactor]]:
    sums = _Sums(sizes, _logs_needed(pieces, own, sizes))
    found, constant = sums.summed_out(pieces, own)
    if any((each.values == sums.zero).any() for each in found) or constant == sums.zero:
        return _where_possible(pieces, own, sums, found, constant)
    if not found:
        whole = sums.inverse(np.full(sizes[own[0]], constant))
        return pieces, [] if _is_one(whole) else [OwnFactor((own[0],), whole)]
    first, *others = found
    scaled = first._replace(values=sums.times(first.values, constant))
    return pieces, [OwnFactor(each.axes, sums.inverse(each.values)) for each in (scaled, *others)]


def _where_possible(
    pieces: Sequence[OwnFactor], own: Axes, sums: _Sums, found: Sequence[_Values], constant: float
) -> tuple[Sequence[OwnFactor], list[OwnFactor]]:
    """The same where some states of others make everything impossible: uniform under these."""
    total = sums.product([*found, _Values((), np.asarray(constant))])
    never = total.values == sums.zero
    axes = tuple(axis for place, axis in enumerate(total.axes) if _varies(never, place))
    flat = never[tuple(slice(None) if axis in axes else 0 for axis in total.axes)]
    changed = [_one_where(piece, axes, flat, sums.sizes) for piece in pieces]
    alone = 1.0 / math.prod(sums.sizes[axis] for axis in own)
    possible = np.where(never, 0.0 if sums.logs else 1.0, total.values)
    table = np.where(never, alone, sums.inverse(possible))
    if not total.axes:
        return changed, [OwnFactor((own[0],), np.full(sums.sizes[own[0]], float(table)))]
    return changed, [OwnFactor(total.axes, table)]


def _varies(mask: NDArray[np.bool_], axis: int) -> bool:
    return bool((mask != np.take(mask, [0], axis=axis)).any())


def _one_where(
    piece: OwnFactor, axes: Axes, never: NDArray[np.bool_], sizes: Mapping[int, int]
) -> OwnFactor:
    """A factor that says nothing in some states of these variables."""
    whole = (*piece.axes, *(axis for axis in axes if axis not in piece.axes))
    _check(whole, sizes)
    shape = [sizes[axis] for axis in whole]
    table = np.broadcast_to(_spread(_Values(piece.axes, np.asarray(piece.table)), whole), shape)
    return OwnFactor(whole, np.where(_spread(_Values(axes, never), whole), 1.0, table))


def _union(pieces: Sequence[OwnFactor], without: Collection[int]) -> Axes:
    """The variables of some factors, in order, but for some."""
    every = dict.fromkeys(axis for piece in pieces for axis in piece.axes)
    return tuple(axis for axis in every if axis not in without)


def _logs_needed(pieces: Sequence[OwnFactor], own: Axes, sizes: Mapping[int, int]) -> bool:
    """Whether products and sums of these tables may be further apart than floats allow."""
    far = sum(math.log(sizes[axis]) for axis in own)
    for piece in pieces:
        logs = np.log(piece.table[piece.table > 0]) if piece.table is not None else np.zeros(1)
        far += float(np.abs(logs).max(initial=0.0))
    return far > SAFE


def _is_one(values: Floats) -> bool:
    return bool((np.abs(values - 1.0) <= 4 * np.finfo(np.float64).eps).all())


def _check(axes: Axes, sizes: Mapping[int, int]) -> None:
    entries = math.prod(sizes[axis] for axis in axes)
    if entries > MOST_ENTRIES:
        raise TooWide(axes, entries)


# ---- sums


class _Values(NamedTuple):
    axes: Axes
    values: NDArray[Any]


def _spread(given: _Values, axes: Axes) -> NDArray[Any]:
    """Values with axes in this order, those they lack having length one."""
    order = [given.axes.index(axis) for axis in axes if axis in given.axes]
    lengths = iter(np.asarray(given.values).transpose(order).shape)
    shape = [next(lengths) if axis in given.axes else 1 for axis in axes]
    return np.asarray(given.values).transpose(order).reshape(shape)


@dataclass(frozen=True)
class _Sums:
    """Products and sums of tables, in plain numbers or in logs where these are too far apart."""

    sizes: Mapping[int, int]
    logs: bool

    @property
    def zero(self) -> float:
        return -math.inf if self.logs else 0.0

    def summed_out(self, pieces: Sequence[OwnFactor], own: Axes) -> tuple[list[_Values], float]:
        """What is left without some variables, and a constant; cheapest variable first."""
        left, constant = [self._values(piece) for piece in pieces], 0.0 if self.logs else 1.0
        waiting = list(own)
        while waiting:
            chosen = min(waiting, key=lambda axis: self._entries(left, axis))
            waiting.remove(chosen)
            here = [each for each in left if chosen in each.axes]
            left = [each for each in left if chosen not in each.axes]
            summed = self._summed(self.product(here, (chosen,)), chosen)
            if self._is_constant(summed.values, self.sizes[chosen]):
                constant = float(self.times(np.asarray(constant), float(summed.values.flat[0])))
            else:
                left.append(summed)
        return left, constant

    def product(self, given: Sequence[_Values], also: Axes = ()) -> _Values:
        """All of some tables as one, over `also` in any case."""
        axes = tuple(dict.fromkeys([*also, *(axis for each in given for axis in each.axes)]))
        _check(axes, self.sizes)
        shape = [self.sizes[axis] for axis in axes]
        start = np.full(shape, 0.0 if self.logs else 1.0)
        spread = [_spread(each, axes) for each in given]
        return _Values(axes, reduce(np.add if self.logs else np.multiply, spread, start))

    def times(self, values: Floats, constant: float) -> Floats:
        """All of them times a constant."""
        return np.asarray(values + constant if self.logs else values * constant)

    def inverse(self, values: Floats) -> Floats:
        """One by each of them, as plain numbers."""
        if not self.logs:
            return np.asarray(1.0 / values)
        if np.abs(values).max(initial=0.0) > SAFE:
            raise ModelError(
                "potentials are too large or too small for what somebody is divided by when "
                "admitted; scale the tables, which changes no probability"
            )
        return np.asarray(np.exp(-values))

    def _values(self, piece: OwnFactor) -> _Values:
        table = np.asarray(piece.table)
        if not self.logs:
            return _Values(piece.axes, table)
        with np.errstate(divide="ignore"):
            return _Values(piece.axes, np.log(table))

    def _summed(self, given: _Values, axis: int) -> _Values:
        place = given.axes.index(axis)
        add = np.logaddexp if self.logs else np.add
        rest = (*given.axes[:place], *given.axes[place + 1 :])
        return _Values(rest, np.asarray(add.reduce(given.values, axis=place)))

    def _entries(self, left: Sequence[_Values], axis: int) -> int:
        met = {each for given in left if axis in given.axes for each in given.axes}
        return math.prod(self.sizes[each] for each in met)

    def _is_constant(self, values: Floats, size: int) -> bool:
        """Whether all are the same, but for what adding up so many numbers rounds."""
        first = float(values.flat[0])
        if (values == first).all():
            return True
        if not np.isfinite(first) or (values == self.zero).any():
            return False
        near = (size + 2) * np.finfo(np.float64).eps * (1.0 if self.logs else abs(first))
        return bool((np.abs(values - first) <= near).all())
