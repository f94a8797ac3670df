"""Evidence: what was observed. It belongs to the question, never to the graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import is_
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, as_ids, first_places, frozen, group_rows
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import items, label_text, named_values
from lifagu.basics.names import Names
from lifagu.errors import ModelError, listed
from lifagu.graph.ranges import Labels, Ranges, value_of
from lifagu.graph.tables import as_floats, potential_fault

# a label; label → likelihood; or likelihoods in the order of the labels
Observation = str | Mapping[str, float] | tuple[float, ...]


def _none() -> Ints:
    return frozen(np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Bearers(Frozen):
    """The variables that evidence is about: their names, and the declared label order of each."""

    names: Names
    ranges: Ranges
    declared: Ints

    def is_same(self, other: Bearers) -> bool:
        """Whether these are the very variables of another graph, whose tables may differ."""
        mine = (self.names, self.ranges, self.declared)
        return all(map(is_, mine, (other.names, other.ranges, other.declared)))

    def labels_and_values(self, variable: int) -> tuple[Labels, Ints]:
        """The declared labels of a variable, and the canonical value of each."""
        declared = int(self.declared[variable])
        return self.ranges.declared[declared], self.ranges.to_declared(declared)

    def canonical(self, variable: int) -> Labels:
        """The labels of a variable by canonical value."""
        return self.ranges.canonical[self.ranges.range_of[self.declared[variable]]]


@dataclass(frozen=True, eq=False)
class Evidence(Frozen):
    """What was observed of which variables: values, and soft evidence as likelihoods.

    Give evidence by name wherever you can; this is what `FactorGraph.evidence` makes of it.
    Likelihoods that leave one value possible are an observation of that value. They are listed as
    soft evidence as well only where they weigh it by something else than 1, for log Z.

    Parameters
    ----------
    variables : ndarray of int
        Numbers of the observed variables, ascending.
    values : ndarray of int
        The canonical value of each.
    soft_variables : ndarray of int
        Numbers of the variables with soft evidence, ascending.
    likelihoods : tuple of ndarray
        For each of these the likelihoods of its canonical values.
    of : Bearers, optional
        The variables that the numbers stand for; None fits whatever they are used with.

    Examples
    --------
    >>> bool(Evidence()), bool(Evidence(np.array([0]), np.array([1])))
    (False, True)
    """

    variables: Ints = field(default_factory=_none)
    values: Ints = field(default_factory=_none)
    soft_variables: Ints = field(default_factory=_none)
    likelihoods: tuple[Floats, ...] = ()
    of: Bearers | None = None

    def __bool__(self) -> bool:
        return bool(len(self.variables) or len(self.soft_variables))

    @property
    def about(self) -> Ints:
        """The variables about which it says something, those with a value first."""
        return np.concatenate((self.variables, self.soft_variables[self.unsure]))

    @property
    def unsure(self) -> Ints:
        """Which of the likelihoods leave several values possible, by place."""
        return np.flatnonzero(~np.isin(self.soft_variables, self.variables))

    @property
    def log_weight(self) -> float:
        """The log of what likelihoods weigh observed values by; 0 where all weigh 1."""
        weighed = np.setdiff1d(np.arange(len(self.soft_variables)), self.unsure)
        values = self.values[np.searchsorted(self.variables, self.soft_variables[weighed])]
        with np.errstate(divide="ignore"):
            logs = [
                float(np.log(self.likelihoods[place][value]))
                for place, value in zip(weighed.tolist(), values.tolist(), strict=True)
            ]
        return math.fsum(logs)

    def value_of_each(self, count: int) -> Ints:
        """The observed value of each variable.

        Parameters
        ----------
        count : int
            How many variables there are.

        Returns
        -------
        ndarray of int, shape (count,)
            Canonical values, -1 where there is none.
        """
        values = np.full(count, -1, dtype=np.int64)
        values[self.variables] = self.values
        return values

    def renumbered(self, number: Ints) -> Evidence:
        """The same evidence with variables renumbered in order.

        Parameters
        ----------
        number : ndarray of int
            The new number of each variable, -1 where its evidence is dropped.

        Returns
        -------
        Evidence
        """
        hard, soft = number[self.variables] >= 0, number[self.soft_variables] >= 0
        return Evidence(
            frozen(number[self.variables][hard]),
            frozen(self.values[hard]),
            frozen(number[self.soft_variables][soft]),
            tuple(compress(self.likelihoods, soft.tolist())),
        )

    def without(self, left_out: Ints, count: int) -> Evidence:
        """The same evidence as if nothing had been observed of some variables.

        Parameters
        ----------
        left_out : ndarray of int
            Their numbers.
        count : int
            How many variables there are.

        Returns
        -------
        Evidence
        """
        number = np.arange(count)
        number[left_out] = -1
        return self.renumbered(number)

    def overridden(self, later: Evidence) -> Evidence:
        """This evidence where the later one says nothing, and the later one.

        Parameters
        ----------
        later : Evidence
            What counts more.

        Returns
        -------
        Evidence

        Examples
        --------
        >>> first = Evidence(np.array([1, 2]), np.array([0, 0]))
        >>> first.overridden(Evidence(np.array([2]), np.array([1]))).values.tolist()
        [0, 1]
        """
        if self.of and later.of and not self.of.is_same(later.of):
            raise ModelError(
                "evidence of two graphs cannot be put together by number; pass evidence by name"
            )
        if not self:
            return replace(later, of=later.of or self.of)
        again = np.concatenate((later.variables, later.soft_variables))
        hard, soft = ~np.isin(self.variables, again), ~np.isin(self.soft_variables, again)
        return _ascending(
            np.concatenate((self.variables[hard], later.variables)),
            np.concatenate((self.values[hard], later.values)),
            np.concatenate((self.soft_variables[soft], later.soft_variables)),
            [*compress(self.likelihoods, soft.tolist()), *later.likelihoods],
            later.of or self.of,
        )

    def bound_to(self, bearers: Bearers) -> Evidence:
        """The same evidence on these variables, by name if it was another graph's.

        Parameters
        ----------
        bearers : Bearers
            The variables of a graph.

        Returns
        -------
        Evidence
        """
        if self.of is None:
            return replace(_checked(self, bearers), of=bearers)
        return self if self.of.is_same(bearers) else _moved(self, self.of, bearers)


def _ascending(
    variables: Ints,
    values: Ints,
    soft_variables: Ints,
    likelihoods: Sequence[Floats],
    of: Bearers | None = None,
) -> Evidence:
    """Evidence with its variables put in order."""
    # nearly in order, which a stable sort makes use of
    hard, soft = (np.argsort(each, kind="stable") for each in (variables, soft_variables))
    return _settled(
        Evidence(
            frozen(variables[hard]),
            frozen(values[hard]),
            frozen(soft_variables[soft]),
            tuple(likelihoods[place] for place in soft.tolist()),
            of,
        )
    )


def _settled(evidence: Evidence) -> Evidence:
    """The same with likelihoods that leave one value possible as an observation of that value.

    All evidence comes by here when it is bound. Where such a likelihood is 1, nothing else is left
    of it.
    """
    certain = [np.count_nonzero(each) == 1 for each in evidence.likelihoods]
    if not any(certain):
        return evidence
    found = list(compress(evidence.likelihoods, certain))
    places = np.flatnonzero(certain)
    told = evidence.soft_variables[places]
    possible = np.array([int(each.argmax()) for each in found], dtype=np.int64)
    new = ~np.isin(told, evidence.variables)
    variables = np.concatenate((evidence.variables, told[new]))
    order = np.argsort(variables, kind="stable")
    variables = variables[order]
    values = np.concatenate((evidence.values, possible[new]))[order]
    agrees = values[np.searchsorted(variables, told)] == possible  # else both are impossible
    kept = np.ones(len(certain), dtype=np.bool_)
    kept[places[agrees & [each.max() == 1.0 for each in found]]] = False
    return replace(
        evidence,
        variables=frozen(variables),
        values=frozen(values),
        soft_variables=frozen(evidence.soft_variables[kept]),
        likelihoods=tuple(compress(evidence.likelihoods, kept.tolist())),
    )


def _checked(evidence: Evidence, bearers: Bearers) -> Evidence:
    """Evidence by number that fits these variables; anything else is an error."""
    sizes = bearers.ranges.sizes[bearers.ranges.range_of[bearers.declared]]
    hard, values, soft = (
        as_ids(getattr(evidence, name), f"{name} of evidence")
        for name in ("variables", "values", "soft_variables")
    )
    likelihoods = tuple(
        map(as_floats, items("likelihoods of evidence are a tuple of arrays", evidence.likelihoods))
    )
    for variables in (hard, soft):
        inside = (variables >= 0) & (variables < len(sizes))
        if (np.diff(variables) <= 0).any() or not inside.all():
            raise ModelError(
                f"evidence by number names ascending variables below {len(sizes)}, each once"
            )
    if len(values) != len(hard) or (values < 0).any() or (values >= sizes[hard]).any():
        raise ModelError(
            "evidence by number has one value per variable, each below the size of its range"
        )
    kept = tuple(
        frozen(each) for each in likelihoods if each is not None and potential_fault(each) is None
    )
    if len(kept) < len(likelihoods) or list(map(len, kept)) != sizes[soft].tolist():
        raise ModelError(
            "soft evidence by number has one likelihood, 0 or more, per value of each variable"
        )
    return _settled(Evidence(frozen(hard), frozen(values), frozen(soft), kept))


def _moved(evidence: Evidence, old: Bearers, new: Bearers) -> Evidence:
    """Evidence of another graph by name: equal labels are needed, equal numbers are not."""
    observed = np.concatenate((evidence.variables, evidence.soft_variables))
    names = old.names.of_nodes(observed)
    number = new.names.find_each(names)
    if (number < 0).any():
        name = names[int(np.argmax(number < 0))]
        raise ModelError(
            f"the evidence belongs to another graph: it observes '{name}', which this one does not "
            "have; pass evidence by name, for variables that are here"
        )
    order_of, order = _value_orders(old, observed, new, number, names)
    count = len(evidence.variables)
    values = order[order_of[:count], evidence.values]
    likelihoods = [
        frozen(each[np.argsort(order[which, : len(each)])])
        for each, which in zip(evidence.likelihoods, order_of[count:].tolist(), strict=True)
    ]
    return _ascending(number[:count], values, number[count:], likelihoods, new)


def _value_orders(
    old: Bearers, mine: Ints, new: Bearers, theirs: Ints, names: Sequence[str]
) -> tuple[Ints, Ints]:
    """For each variable a row of a matrix: the canonical value there of each one here."""
    kind_of = group_rows(np.column_stack((old.declared[mine], new.declared[theirs])))
    first = first_places(kind_of)
    order = np.zeros((len(first), int(old.ranges.sizes.max(initial=0))), dtype=np.int64)
    for kind, place in enumerate(first.tolist()):
        before, after = old.canonical(int(mine[place])), new.canonical(int(theirs[place]))
        if sorted(before) != sorted(after):
            raise ModelError(
                f"the evidence belongs to another graph, where '{names[place]}' has the range "
                f"{', '.join(before)} and not {', '.join(after)}; pass evidence by name"
            )
        order[kind, : len(before)] = [after.index(label) for label in before]
    return kind_of, order


class NamedEvidence(Frozen, Mapping[str, Observation]):
    """Evidence by name that is bound already: millions of observations without a text each."""

    def __init__(self, bound: Evidence, of: Bearers) -> None:
        self.bound, self.of = bound, of

    def __len__(self) -> int:
        return len(self.bound.about)

    def __iter__(self) -> Iterator[str]:
        return map(self.of.names.__getitem__, self.bound.about.tolist())

    def __getitem__(self, name: str) -> Observation:
        variable = self.of.names.find(name) if isinstance(name, str) else None
        if variable is None:
            raise KeyError(name)
        labels, canonical = self.of.labels_and_values(variable)
        if (place := _place(self.bound.soft_variables, variable)) is not None:
            return dict(zip(labels, self.bound.likelihoods[place][canonical].tolist(), strict=True))
        if (place := _place(self.bound.variables, variable)) is not None:
            return labels[int(np.flatnonzero(canonical == self.bound.values[place])[0])]
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<{len(self)} observations>"


def _place(ascending: Ints, wanted: int) -> int | None:
    place = int(np.searchsorted(ascending, wanted))
    return place if place < len(ascending) and ascending[place] == wanted else None


EvidenceLike = Evidence | Mapping[str, Observation] | None


def by_name(evidence: EvidenceLike) -> Mapping[str, Observation]:
    """Evidence by name, as relational models take it; that of a graph is spelt out on demand.

    >>> by_name(None)
    {}
    """
    if isinstance(evidence, Evidence):
        if evidence.of is None:
            raise ModelError(
                "evidence by number belongs to a graph; pass evidence by name to a relational model"
            )
        return NamedEvidence(evidence, evidence.of)
    if evidence is None or isinstance(evidence, NamedEvidence):
        return evidence or {}
    named = named_values(evidence)
    if named is None:
        raise ModelError(
            f"evidence is a mapping from variable to label, not {type(evidence).__name__}"
        )
    return {name: _as_text(name, observed) for name, observed in named.items()}


def _as_text(name: str, observed: Any) -> Any:
    """A label or likelihoods as handed in, such as True, 5 or an array, with labels as texts.

    >>> [_as_text("A", each) for each in (np.bool_(True), {5: 0.5, 6: 1}, np.array([1, 0]))]
    ['true', {'5': 0.5, '6': 1}, (1.0, 0.0)]
    """
    found = label_text(observed)
    if found is not None:
        return found
    likelihoods = named_values(observed)
    if likelihoods is not None:
        texts = {label_text(label): value for label, value in likelihoods.items()}
        if None not in texts and len(texts) == len(likelihoods):
            return {str(label): value for label, value in texts.items()}
        raise ModelError(f"soft evidence for '{name}' has labels that are none or the same")
    if hasattr(observed, "__array__") or isinstance(observed, list | tuple):
        values = as_floats(list(observed)) if np.ndim(observed) == 1 else None
        if values is None:
            raise ModelError(
                f"soft evidence for '{name}' is no list of numbers, one for each label"
            )
        return tuple(values.tolist())
    return observed  # refused with the range of the variable, or a number for a bin


def bind_evidence(
    evidence: Mapping[str, Observation],
    names: Names,
    labels_of: Callable[[int], tuple[Labels, Ints]],
) -> Evidence:
    """Names and labels as numbers; labels_of(v): declared labels and their canonical values."""
    hard: dict[int, int] = {}
    soft: dict[int, Floats] = {}
    for name, observed in evidence.items():
        variable = names.number(name)
        labels, canonical = labels_of(variable)
        if isinstance(observed, Mapping | tuple):
            soft[variable] = frozen(likelihood_of(name, observed, labels)[np.argsort(canonical)])
        else:
            hard[variable] = int(canonical[value_of(observed, labels, name)])
    variables, values, soft_variables = (
        np.array(list(each), dtype=np.int64) for each in (hard, hard.values(), soft)
    )
    return _ascending(variables, values, soft_variables, list(soft.values()))


def likelihood_of(
    name: str, observed: Mapping[str, float] | tuple[float, ...], labels: Labels
) -> Floats:
    """Likelihoods of one variable in its declared order."""
    if isinstance(observed, tuple):
        if len(observed) != len(labels):
            raise ModelError(
                f"soft evidence for '{name}' has {len(observed)} numbers for {len(labels)} labels; "
                f"give one for each of {listed(labels)}"
            )
        observed = dict(zip(labels, observed, strict=True))
    for label in observed:
        value_of(label, labels, name)
    missing = [label for label in labels if label not in observed]
    if missing:
        raise ModelError(
            f"soft evidence for '{name}' lacks a likelihood for {listed(missing)}; "
            "give one per label"
        )
    values = as_floats([observed[label] for label in labels])
    if values is None or len(values) != len(labels):
        raise ModelError(f"soft evidence for '{name}' holds something that is not a number")
    values = values + 0.0
    if fault := potential_fault(values):
        raise ModelError(f"soft evidence for '{name}' has {fault}")
    return values
