"""Two results compared, by arrays: answers, transfers, evidence, and what the runs were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.basics.cached import cached_property
from lifagu.basics.inputs import whole
from lifagu.errors import FormatError
from lifagu.questions.comparing.changes import AnswerChange, Changes, EvidenceChange, RunChange
from lifagu.questions.comparing.loans import ALMOST, WHAT_CHANGED, Loans, numbered
from lifagu.questions.comparing.results import ComparedResult, result_of


def compare(before: Any, after: Any, *, top: int = 10) -> Changes:
    """What changed between two results, and why.

    Parameters
    ----------
    before, after : path, Imputed, or marginals
        A folder that ``impute`` wrote, or what the verbs gave.
    top : int
        How many changes of each sort to name.

    Returns
    -------
    Changes
        A frozen value; `str` says it in words, `json` as plain values.

    Examples
    --------
    >>> import lifagu
    >>> case = lifagu.open(lifagu.FactorGraph.build().variables(["A", "B"])
    ...     .factor("f", ["A", "B"], [4, 1, 1, 3]).graph())
    >>> found = compare(case.marginals(), case.observe({"B": "true"}).marginals())
    >>> found
    <Changes: 2 of 2 answers changed>
    >>> found.answers[0].variable, round(found.answers[0].distance, 3)
    ('B', 0.556)
    """
    most = whole("top", top, 0)
    pair = _Pair(result_of(before), result_of(after))
    return pair.changes(most)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two results whose variables and labels are numbered alike, in the order they are met."""

    before: ComparedResult
    after: ComparedResult

    @property
    def _both(self) -> tuple[ComparedResult, ComparedResult]:
        return self.before, self.after

    @cached_property
    def _variables(self) -> tuple[list[str], tuple[Ints, Ints]]:
        return numbered(self.before.variables, self.after.variables)

    @cached_property
    def _labels(self) -> tuple[list[str], tuple[Ints, Ints]]:
        return numbered(self.before.labels, self.after.labels)

    @cached_property
    def _cells(self) -> tuple[Ints, Floats, Floats]:
        """Each pair of variable and label that one of them has, and both probabilities."""
        width = max(len(self._labels[0]), 1)
        keys = [v * width + k for v, k in zip(self._variables[1], self._labels[1], strict=True)]
        every = distinct(np.concatenate(keys))
        found = []
        for result, key in zip(self._both, keys, strict=True):
            values, place = np.zeros(len(every)), np.searchsorted(every, key)
            if (np.bincount(place) > 1).any():
                _refuse_twice(result, place)
            values[place] = result.probabilities
            found.append(values)
        return every, found[0], found[1]

    @cached_property
    def _there(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which variables each result answers about."""
        found = []
        for numbers in self._variables[1]:
            there = np.zeros(len(self._variables[0]), dtype=np.bool_)
            there[numbers] = True
            found.append(there)
        return found[0], found[1]

    @cached_property
    def _distance(self) -> Floats:
        """The total variation between both answers about each variable."""
        every, before, after = self._cells
        of = every // max(len(self._labels[0]), 1)
        return np.bincount(of, np.abs(before - after), len(self._variables[0])) / 2

    def _tops(self, which: int) -> Ints:
        """The number of the most probable label of each variable; of equal ones the first."""
        variables, labels = self._variables[1][which], self._labels[1][which]
        order = np.lexsort((-self._both[which].probabilities, variables))
        first = order[np.flatnonzero(np.diff(variables[order], prepend=-1))]
        tops = np.full(len(self._variables[0]), -1, dtype=np.int64)
        tops[variables[first]] = labels[first]
        return tops

    # ---- all of it

    def changes(self, most: int) -> Changes:
        """Everything, at most so many of each sort."""
        names, there = self._variables[0], self._there
        common = there[0] & there[1]
        distance = np.where(common, self._distance, 0.0)
        tops = self._tops(0), self._tops(1)
        changed = common & (distance > ALMOST)
        own, observed, lent = self._reasons
        order = np.flatnonzero(changed)
        order = order[np.argsort(-distance[order], kind="stable")][:most]
        new, gone = np.flatnonzero(~there[0]), np.flatnonzero(~there[1])
        kinds = self._loans.kinds
        return Changes(
            titles=(self.before.title, self.after.title),
            compared=int(common.sum()),
            changed=int(changed.sum()),
            flipped=int((common & (tops[0] != tops[1])).sum()),
            mean=float(distance[common].mean()) if common.any() else 0.0,
            largest=float(distance.max(initial=0.0)),
            answers=tuple(self._answer(each, tops, distance) for each in order.tolist()),
            new=tuple(names[each] for each in new[:most].tolist()),
            gone=tuple(names[each] for each in gone[:most].tolist()),
            new_count=len(new),
            gone_count=len(gone),
            transfers=tuple(self._loans.first(most)),
            transfer_counts={
                what: n for p, what in enumerate(WHAT_CHANGED) if (n := int((kinds == p).sum()))
            },
            evidence=tuple(self._evidence[:most]),
            evidence_count=len(self._evidence),
            run=tuple(_run_changes(self.before.run, self.after.run)),
            by_own_tables=int((changed & own).sum()),
            by_evidence=int((changed & ~own & observed).sum()),
            by_lent=int((changed & ~own & ~observed & lent).sum()),
            unknown=tuple(self._unknown()),
        )

    def _answer(self, number: int, tops: tuple[Ints, Ints], distance: Floats) -> AnswerChange:
        own, observed, lent = self._reasons
        name, labels = self._variables[0][number], self._labels[0]
        shares = []
        for which, result in enumerate(self._both):
            rows = np.flatnonzero(self._variables[1][which] == number)
            pairs = zip(result.labels[rows].tolist(), result.probabilities[rows], strict=True)
            shares.append({label: float(value) for label, value in pairs})
        first, second = int(tops[0][number]), int(tops[1][number])
        return AnswerChange(
            name,
            float(distance[number]),
            shares[0],
            shares[1],
            labels[first],
            labels[second],
            first != second,
            tuple(self._own_tables(name)) if own[number] else (),
            bool(observed[number]),
            bool(lent[number]),
        )

    # ---- why

    @cached_property
    def _loans(self) -> Loans:
        return Loans(*((each.transfers, each.tables) for each in self._both))

    @cached_property
    def _reasons(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Of which variables own lent tables changed, evidence changed; which rest on any."""
        names = self._variables[0]
        place = dict(zip(names, count(), strict=False))
        own, observed, lent = (np.zeros(len(names), dtype=np.bool_) for _ in range(3))
        for _, argument in self._changed_scopes():
            if (number := place.get(argument)) is not None:
                own[number] = True
        for each in self._evidence:
            if (number := place.get(each.variable)) is not None:
                observed[number] = True
        for result, numbers in zip(self._both, self._variables[1], strict=True):
            if result.lent is not None:
                lent[numbers[result.lent > 0]] = True
        return own, observed, lent

    def _changed_scopes(self) -> Iterator[tuple[str, str]]:
        """The factors whose lent tables changed, with each of their arguments."""
        changed = set(self._loans.changed)
        for result in self._both:
            if result.scopes is not None and changed:
                factors, arguments = result.scopes
                here = np.fromiter(map(changed.__contains__, factors), np.bool_, len(factors))
                yield from zip(factors[here].tolist(), arguments[here].tolist(), strict=True)

    def _own_tables(self, variable: str) -> list[str]:
        every = (factor for factor, argument in self._changed_scopes() if argument == variable)
        return list(dict.fromkeys(every))

    @cached_property
    def _evidence(self) -> list[EvidenceChange]:
        """What was observed otherwise, in the order of the first result, then of the second."""
        if self.before.evidence is None or self.after.evidence is None:
            return []
        first, second = (
            dict(zip(*map(list, each), strict=True))
            for each in (self.before.evidence, self.after.evidence)
        )
        same = first.items() & second.items()
        names = chain(first, (name for name in second if name not in first))
        return [
            EvidenceChange(name, first.get(name), second.get(name))
            for name in names
            if (name, first.get(name)) not in same
        ]

    def _unknown(self) -> Iterator[str]:
        """What the results do not tell."""
        if self.before.transfers is None or self.after.transfers is None:
            yield "who lent what to whom"
        if self.before.evidence is None or self.after.evidence is None:
            yield "what was observed"


def _refuse_twice(result: ComparedResult, keys: Ints) -> None:
    order = np.argsort(keys, kind="stable")
    row = int(order[1:][np.diff(keys[order]) == 0][0])
    about = f"'{result.variables[row]}' with the value '{result.labels[row]}'"
    raise FormatError(f"{result.title}: there are two answers about {about}")


def _run_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[RunChange]:
    """What differs of what both runs tell, settings one by one."""
    for name in before:
        if name not in after or before[name] == after[name]:
            continue
        if isinstance(before[name], Mapping) and isinstance(after[name], Mapping):
            for each in _run_changes(before[name], after[name]):
                yield RunChange(f"{name} {each.what}", each.before, each.after)
        else:
            yield RunChange(name.replace("_", " "), before[name], after[name])
