"""Answers by visiting every state, in numpy, for relational and ground models, by their meaning.

A model's meaning is its grounding: one ground factor for every admitted substitution of the logical
variables. The weights of all states are one array of logs with an axis for each variable that is
neither observed nor has one label. Where that array would be too large but the graph is thin,
`Elimination` sums out one variable after the other instead. Nothing of lifagu is used.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

Model = dict[str, Any]
Observation = str | Mapping[str, float]
LARGEST = 2**18
LARGEST_PART = 2**13


class TooManyStatesError(Exception):
    """More states than this oracle wants to visit."""


@dataclass(frozen=True)
class Argument:
    """A variable `relation(terms)`, or with `counted` the histogram over that logical variable."""

    relation: str
    terms: tuple[str, ...]
    counted: str | None = None


@dataclass(frozen=True)
class Factor:
    """A ground factor: for each slot a variable, or members of a count; the table holds logs."""

    slots: tuple[tuple[str, ...], ...]
    counts: tuple[bool, ...]
    logs: np.ndarray


@dataclass(frozen=True)
class Ground:
    """All variables that exist with their labels, and all ground factors."""

    labels: dict[str, tuple[str, ...]]
    factors: list[Factor]


# ---- reading


@cache
def parse(text: str) -> Argument:
    """`E`, `A(X,eve)` or `#X[A(X)]`."""
    if found := re.fullmatch(r"#(\w+)\[(.*)\]", text):
        inner = parse(found[2])
        return Argument(inner.relation, inner.terms, found[1])
    name, _, terms = text.partition("(")
    return Argument(name, tuple(term.strip() for term in terms[:-1].split(",")) if terms else ())


def is_logical(term: str) -> bool:
    """Words that begin with an upper-case letter are logical variables."""
    return term[0].isupper()


def constants_of(model: Model) -> dict[str, list[str]]:
    """The constants of each domain: 1…n, or those listed."""
    domains = model.get("domains", {}).items()
    return {
        name: [str(each) for each in (range(1, of + 1) if isinstance(of, int) else of)]
        for name, of in domains
    }


def labels_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The range of a variable or relation."""
    return tuple(entry.get("range", ("false", "true")))


def named(relation: str, constants: Sequence[str]) -> str:
    """The name of a ground variable."""
    return f"{relation}({','.join(constants)})" if constants else relation


# ---- grounding


def ground(model: Model) -> Ground:
    """Every ground factor, and every variable that has no arguments or is in some factor."""
    relations = {each["name"]: each for each in model.get("relations", [])}
    labels = {each["name"]: labels_of(each) for each in model.get("variables", [])}
    labels |= {name: labels_of(each) for name, each in relations.items() if not each.get("of")}
    factors = [
        Factor(
            tuple((name,) for name in each["args"]),
            (False,) * len(each["args"]),
            logs_of(each["table"]),
        )
        for each in model.get("factors", [])
    ]
    for parfactor in model.get("parfactors", []):
        factors += ground_factors(parfactor, relations, constants_of(model))
    for factor in factors:
        for name in itertools.chain.from_iterable(factor.slots):
            if name not in labels:
                labels[name] = labels_of(relations[parse(name).relation])
    return Ground(labels, factors)


def logs_of(table: Sequence[float]) -> np.ndarray:
    """Logs of potentials, of zero as well."""
    with np.errstate(divide="ignore"):
        return np.log(np.array(table, dtype=float))


def ground_factors(
    parfactor: Model, relations: Model, constants: dict[str, list[str]]
) -> Iterator[Factor]:
    """One factor for each admitted substitution of the logical variables that are not counted."""
    arguments = [parse(text) for text in parfactor["args"]]
    domain, counted = {}, {each.counted for each in arguments}
    for argument in arguments:
        for term, of in zip(
            argument.terms, relations[argument.relation].get("of", []), strict=True
        ):
            if is_logical(term):
                domain[term] = constants[of]
    free = [each for each in domain if each not in counted]
    admits = admission(parfactor.get("where", []))
    logs = logs_of(parfactor["table"])
    for values in itertools.product(*(domain[each] for each in free)):
        chosen = dict(zip(free, values, strict=True))
        if admits(chosen):
            slots = tuple(members(argument, chosen, domain, admits) for argument in arguments)
            yield Factor(slots, tuple(each.counted is not None for each in arguments), logs)


def unfolded(model: Model) -> Model:
    """A relational model as a graph of the same names; without counts and repeated arguments."""
    relations, constants = {each["name"]: each for each in model["relations"]}, constants_of(model)
    labels = ground(model).labels
    factors = list(model.get("factors", []))
    for parfactor in model["parfactors"]:
        for number, factor in enumerate(ground_factors(parfactor, relations, constants)):
            args = [name for (name,) in factor.slots]
            factors.append(
                {"name": f"{parfactor['name']}.{number}", "args": args, "table": parfactor["table"]}
            )
    variables = [{"name": name, "range": list(own)} for name, own in labels.items()]
    evidence = expanded(model, labels)
    return {"format": "lifagu/1", "variables": variables, "factors": factors, "evidence": evidence}


def members(
    argument: Argument, chosen: dict[str, str], domain: Model, admits: Callable[..., bool]
) -> tuple[str, ...]:
    """The variable that an argument stands for, or all that it counts."""
    options = [chosen]
    if argument.counted:
        options = [{**chosen, argument.counted: each} for each in domain[argument.counted]]
        options = [each for each in options if admits(each)]
    return tuple(
        named(argument.relation, [each.get(term, term) for term in argument.terms])
        for each in options
    )


def admission(where: Sequence[Any]) -> Callable[[Mapping[str, str]], bool]:
    """Whether a substitution keeps all constraints on variables that it has."""
    checks: list[tuple[tuple[str, ...], Callable[[tuple[str, ...]], bool]]] = []
    for each in where:
        if isinstance(each, str):
            left, sign, right = each.split()
            checks.append(
                ((left, right), lambda pair, equal=sign == "=": (pair[0] == pair[1]) == equal)
            )
        else:
            rows = {tuple(map(str, row)) for row in each.get("in", each.get("not_in"))}
            checks.append(
                (
                    tuple(each["vars"]),
                    lambda row, rows=rows, inside="in" in each: (row in rows) == inside,
                )
            )

    def admits(chosen: Mapping[str, str]) -> bool:
        return all(
            check(tuple(chosen.get(term, term) for term in terms))
            for terms, check in checks
            if all(term in chosen or not is_logical(term) for term in terms)
        )

    return admits


# ---- evidence


def expanded(model: Model, labels: Mapping[str, Any]) -> dict[str, Observation]:
    """Evidence by ground names: a range means all that exist; what is said twice must agree."""
    found: dict[str, Observation] = {}
    for text, observed in model.get("evidence", {}).items():
        for name in covered(text, labels):
            if found.setdefault(name, observed) != observed:
                raise ValueError(f"{name} is observed in two ways")
    return found


def covered(text: str, labels: Mapping[str, Any]) -> list[str]:
    """The existing variables that one name of evidence means."""
    argument = parse(text)
    options = []
    for term in argument.terms:
        first, dots, last = term.partition("..")
        options.append([str(each) for each in range(int(first), int(last) + 1)] if dots else [term])
    return [
        name
        for each in itertools.product(*options)
        if (name := named(argument.relation, each)) in labels
    ]


# ---- weights of all states


@cache
def histograms(members: int, labels: int) -> int:
    """How many histograms there are."""
    return math.comb(members + labels - 1, members) if labels else int(members == 0)


@cache
def smaller(members: int, labels: int) -> np.ndarray:
    """[n, c]: how many histograms of n members have a first count below c."""
    table = np.zeros((members + 1, members + 1), dtype=np.int64)
    for number in range(members + 1):
        firsts = [histograms(number - first, labels - 1) for first in range(number)]
        table[number, 1 : number + 1] = np.cumsum(firsts)
    return table


def rank_of_histogram(places: Sequence[Any], labels: int) -> Any:
    """Which histogram the members have, in lexicographic order; numbers or arrays."""
    rank: Any = 0
    left: Any = len(places)
    for label in range(labels - 1):
        count = sum(place == label for place in places) * 1
        rank, left = rank + smaller(len(places), labels - label)[left, count], left - count
    return rank


class Weights:
    """What both ways of adding up share: variables, labels, evidence, and factors as arrays."""

    def __init__(self, model: Model) -> None:
        grounded = ground(model)
        self.labels, self.factors = grounded.labels, grounded.factors
        self.evidence = expanded(model, self.labels)
        hard = {name: seen for name, seen in self.evidence.items() if isinstance(seen, str)}
        self.soft = {
            name: logs_of([seen[label] for label in self.labels[name]])
            for name, seen in self.evidence.items()
            if not isinstance(seen, str)
        }
        self.fixed = {
            name: labels.index(hard.get(name, labels[0]))
            for name, labels in self.labels.items()
            if name in hard or len(labels) == 1
        }
        self.free = [name for name in self.labels if name not in self.fixed]

    @property
    def states(self) -> int:
        """How many states there are with the evidence fixed."""
        return math.prod(len(self.labels[name]) for name in self.free)

    def looked_up(self, factor: Factor, place: Callable[[str], Any]) -> Any:
        """The factor's logs where `place` says each variable's label: numbers or arrays."""
        index: Any = 0
        for slot, counts in zip(factor.slots, factor.counts, strict=True):
            if counts and slot:
                labels = len(self.labels[slot[0]])
                rank = rank_of_histogram([place(name) for name in slot], labels)
                index = index * histograms(len(slot), labels) + rank
            elif not counts:
                index = index * len(self.labels[slot[0]]) + place(slot[0])
        return factor.logs[index]

    def weight(self, assignment: Mapping[str, str]) -> float:
        """The log of an assignment's weight; minus infinity where it contradicts the evidence."""
        place = {name: labels.index(assignment[name]) for name, labels in self.labels.items()}
        if any(place[name] != index for name, index in self.fixed.items()):
            return -math.inf
        parts = [float(self.looked_up(factor, place.__getitem__)) for factor in self.factors]
        return math.fsum([*parts, *(float(logs[place[name]]) for name, logs in self.soft.items())])

    def with_fixed(self, table: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """A table over the free names as one over all of them: zero but where fixed ones are."""
        whole = np.zeros([len(self.labels[name]) for name in names])
        whole[tuple(self.fixed.get(name, slice(None)) for name in names)] = table
        return whole


class Enumeration(Weights):
    """All states at once."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        if self.states > LARGEST or len(self.free) > 30:
            raise TooManyStatesError(self.states)
        self.axis = {name: axis for axis, name in enumerate(self.free)}
        self.shape = tuple(len(self.labels[name]) for name in self.free)
        self.logs = np.zeros(self.shape)
        for factor in self.factors:
            self.logs += self.looked_up(factor, self.place)
        for name, logs in self.soft.items():
            self.logs += logs[self.place(name)]
        self.log_best = float(self.logs.max())

    def place(self, name: str) -> Any:
        """The places of a variable's labels along its own axis, or the place of its only label."""
        if name in self.fixed:
            return self.fixed[name]
        axis = self.axis[name]
        return np.arange(self.shape[axis]).reshape(
            [-1 if each == axis else 1 for each in range(len(self.shape))]
        )

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights divided by the largest."""
        return np.exp(self.logs - self.log_best)

    @cached_property
    def log_total(self) -> float:
        """The log of the total weight, minus infinity if there is none."""
        return (
            self.log_best + math.log(self.weights.sum()) if self.log_best > -math.inf else -math.inf
        )

    def marginal(self, name: str) -> np.ndarray:
        """The probabilities of a variable's labels, in their order."""
        return self.joint([name])

    def joint(self, names: Sequence[str]) -> np.ndarray:
        """The probabilities of all combinations of labels, an axis for each name."""
        axes = [self.axis[name] for name in names if name not in self.fixed]
        others = tuple(axis for axis in range(len(self.shape)) if axis not in axes)
        table = self.weights.sum(axis=others) / self.weights.sum()
        return self.with_fixed(table.transpose(np.argsort(np.argsort(axes))), names)


class Elimination(Weights):
    """One variable after the other, each time the one that makes the smallest array."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.parts = [self.as_array(factor) for factor in self.factors]
        self.parts += [
            ((name,), logs) if name not in self.fixed else ((), logs[self.fixed[name]])
            for name, logs in self.soft.items()
        ]

    def as_array(self, factor: Factor) -> tuple[tuple[str, ...], np.ndarray]:
        """A factor as an array over its free variables."""
        names = dict.fromkeys(itertools.chain.from_iterable(factor.slots))
        scope = tuple(name for name in names if name not in self.fixed)
        shape = [len(self.labels[name]) for name in scope]
        if math.prod(shape) > LARGEST_PART:
            raise TooManyStatesError(math.prod(shape))
        grid = dict(zip(scope, np.indices(shape, sparse=True), strict=True))
        logs = self.looked_up(factor, lambda name: grid[name] if name in grid else self.fixed[name])
        return scope, np.broadcast_to(logs, shape)

    @cached_property
    def log_total(self) -> float:
        """The log of the total weight, minus infinity if there is none."""
        return float(self.eliminated((), np.logaddexp.reduce))

    @cached_property
    def log_best(self) -> float:
        """The log of the largest weight."""
        return float(self.eliminated((), np.maximum.reduce))

    def marginal(self, name: str) -> np.ndarray:
        """The probabilities of a variable's labels, in their order."""
        return self.joint([name])

    def joint(self, names: Sequence[str]) -> np.ndarray:
        """The probabilities of all combinations of labels, an axis for each name."""
        kept = tuple(name for name in names if name not in self.fixed)
        return self.with_fixed(
            np.exp(self.eliminated(kept, np.logaddexp.reduce) - self.log_total), names
        )

    def eliminated(self, kept: tuple[str, ...], add_up: Callable[..., np.ndarray]) -> np.ndarray:
        """The logs over the variables that are kept, all others added up (or maximised)."""
        parts = [*self.parts, *(((name,), np.zeros(len(self.labels[name]))) for name in self.free)]
        left = set(self.free) - set(kept)
        around: dict[str, set[str]] = {name: set() for name in self.free}
        for scope, _ in parts:
            for name in scope:
                around[name].update(scope)
        while left:
            name = min(
                left,
                key=lambda each: (
                    math.prod(len(self.labels[other]) for other in around[each]),
                    each,
                ),
            )
            touched = [part for part in parts if name in part[0]]
            scope = tuple(sorted(around[name] - {name}))
            logs = add_up(self.product(touched, (name, *scope)), axis=0)
            parts = [part for part in parts if name not in part[0]] + [(scope, logs)]
            left.remove(name)
            for other in left & set(scope):
                around[other] = (around[other] | set(scope)) - {name}
        return self.product(parts, kept)

    def product(
        self, parts: Sequence[tuple[tuple[str, ...], np.ndarray]], scope: tuple[str, ...]
    ) -> np.ndarray:
        """The product of some parts as an array over a scope."""
        shape = [len(self.labels[name]) for name in scope]
        if math.prod(shape) > LARGEST_PART:
            raise TooManyStatesError(math.prod(shape))
        logs = np.zeros(shape)
        for own, part in parts:
            order = np.argsort([scope.index(name) for name in own]).astype(int)
            logs += part.transpose(order).reshape(
                [len(self.labels[each]) if each in own else 1 for each in scope]
            )
        return logs
