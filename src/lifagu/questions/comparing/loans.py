"""Transfers of two results compared, factor by factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.questions.comparing.changes import LoanState, TransferChange
from lifagu.questions.comparing.results import Texts

_Transfers = dict[str, NDArray[Any]]
_Tables = tuple[Texts, Floats]
_Lent = tuple[_Transfers | None, _Tables | None]
ALMOST = 1e-9  # by which numbers may differ that are the same
WHAT_CHANGED = (
    "became unknown",
    "no longer unknown",
    "status",
    "donor",
    "table",
    "share",
    "posterior",
)


@dataclass(frozen=True, eq=False)
class Loans:
    """The transfers of two results, by factor."""

    first_result: _Lent
    second_result: _Lent

    @property
    def _both(self) -> tuple[_Transfers, _Transfers] | None:
        first, second = self.first_result[0], self.second_result[0]
        return None if first is None or second is None else (first, second)

    @cached_property
    def _matched(self) -> tuple[list[str], Ints, Ints]:
        """The factors that are unknown in either, and the row of each in both, -1 where in none."""
        if self._both is None:
            nothing = np.zeros(0, dtype=np.int64)
            return [], nothing, nothing
        names, numbers = numbered(*(each["factor"] for each in self._both))
        rows = []
        for each in numbers:
            row = np.full(len(names), -1, dtype=np.int64)
            row[each] = np.arange(len(each))
            rows.append(row)
        return names, rows[0], rows[1]

    @cached_property
    def kinds(self) -> Ints:
        """The first thing that changed about each, a place in WHAT_CHANGED; -1 if nothing did."""
        names, first, second = self._matched
        kinds = np.full(len(names), -1, dtype=np.int64)
        if self._both is None:
            return kinds
        both = np.flatnonzero((first >= 0) & (second >= 0))
        for place in (6, 5, 4, 3, 2):  # what comes first is said last
            kinds[both[self._differs(WHAT_CHANGED[place], both)]] = place
        kinds[first < 0], kinds[second < 0] = 0, 1
        return kinds

    def _differs(self, what: str, some: Ints) -> NDArray[np.bool_]:
        """Of which of some factors, unknown in both, this differs."""
        names, first, second = self._matched
        if what == "table" or self._both is None:
            return _other_tables(names, self.first_result[1], self.second_result[1])[some]
        old, new = self._both[0][what][first[some]], self._both[1][what][second[some]]
        if what in ("share", "posterior"):
            off = np.abs(old - new) > ALMOST
            return np.asarray(off | (np.isnan(old) != np.isnan(new)))
        return np.asarray(_said(old) != _said(new), dtype=np.bool_)

    @property
    def changed(self) -> list[str]:
        """The factors about which something changed."""
        return [self._matched[0][each] for each in np.flatnonzero(self.kinds >= 0).tolist()]

    def first(self, most: int) -> Iterator[TransferChange]:
        """The first of these, by what changed, then in the order of the results."""
        names, before, after = self._matched
        changed = np.flatnonzero(self.kinds >= 0)
        order = changed[np.argsort(self.kinds[changed], kind="stable")]
        for each in order[:most].tolist():
            yield TransferChange(
                names[each],
                WHAT_CHANGED[int(self.kinds[each])],
                _loan(self.first_result[0], int(before[each])),
                _loan(self.second_result[0], int(after[each])),
            )


def _loan(transfers: _Transfers | None, row: int) -> LoanState | None:
    if transfers is None or row < 0:
        return None
    share, posterior = (float(transfers[name][row]) for name in ("share", "posterior"))
    return LoanState(
        str(transfers["status"][row]),
        transfers["donor"][row] or None,
        None if np.isnan(share) else share,
        None if np.isnan(posterior) else posterior,
    )


def _other_tables(
    names: list[str], first: _Tables | None, second: _Tables | None
) -> NDArray[np.bool_]:
    """Which factors took a table with other potentials."""
    found = np.zeros(len(names), dtype=np.bool_)
    if first is None or second is None:
        return found
    place, ordered = dict(zip(names, count(), strict=False)), []
    for factors, values in (first, second):
        number = np.fromiter((place.get(each, -1) for each in factors), np.int64, len(factors))
        order = np.argsort(number, kind="stable")[(number < 0).sum() :]
        ordered.append((number[order], values[order]))
    sizes = [np.bincount(number, minlength=len(names)) for number, _ in ordered]
    there, alike = (sizes[0] > 0) & (sizes[1] > 0), sizes[0] == sizes[1]
    (number, old), (_, new) = ((n[alike[n]], v[alike[n]]) for n, v in ordered)
    found[number[np.abs(old - new) > ALMOST * np.maximum(np.abs(old), 1)]] = True
    return np.asarray(found | (there & ~alike))


def _said(values: Texts) -> Texts:
    """Texts in which nothing said is always empty."""
    return np.where(values == None, "", values)  # noqa: E711


def numbered(first: Texts, second: Texts) -> tuple[list[str], tuple[Ints, Ints]]:
    """All different texts in the order in which they are met, and the number of each one's."""
    names = list(dict.fromkeys(chain(first, second)))
    number = dict(zip(names, count(), strict=False)).__getitem__
    return names, (
        np.fromiter(map(number, first), np.int64, len(first)),
        np.fromiter(map(number, second), np.int64, len(second)),
    )
