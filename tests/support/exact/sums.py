"""Sums over histograms of individuals, to fifty digits, and what follows from them."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from support.exact.checks import Known
from support.exact.drafts import Draft

Model = dict[str, Any]
BOOLEAN = ("false", "true")
Log = Decimal | None
"""The log of a weight; nothing is the log of zero."""


def log(value: float) -> Log:
    """The log of a potential, to fifty digits."""
    return Decimal(value).ln() if value else None


def times(count: int, weight: Log) -> Log:
    """A weight as often as that; none at all weighs nothing."""
    return Decimal(0) if count == 0 else None if weight is None else count * weight


def plus(parts: Sequence[Log] | Iterator[Log]) -> Log:
    """The product of weights, of which one may be zero."""
    total = Decimal(0)
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def added(one: Log, two: Log) -> Log:
    """The log of a sum of weights."""
    if one is None or two is None:
        return two if one is None else one
    high, low = max(one, two), min(one, two)
    return high + (1 + (low - high).exp()).ln()


def falling(number: int, length: int) -> int:
    """How many lists of different things there are."""
    return math.prod(range(number - length + 1, number + 1)) if number >= length else 0


def normalised(logs: Sequence[Log]) -> tuple[float, list[float]]:
    """The log of the sum, and each term's share of it."""
    largest = max((each for each in logs if each is not None), default=None)
    if largest is None:
        return -math.inf, [0.0] * len(logs)
    terms = [0.0 if each is None else math.exp(float(each - largest)) for each in logs]
    total = math.fsum(terms)
    return float(largest + Decimal(total).ln()), [each / total for each in terms]


def largest_of(logs: Sequence[Log]) -> float:
    """The largest weight."""
    return max((float(each) for each in logs if each is not None), default=-math.inf)


def as_float(weight: Log) -> float:
    """A weight as a float."""
    return -math.inf if weight is None else float(weight)


def ways(free: int) -> list[Decimal]:
    """Logs of binomial coefficients."""
    found = [Decimal(0)]
    for each in range(free):
        found.append(found[-1] + Decimal(math.log((free - each) / (each + 1))))
    return found


def observed(
    rng: random.Random, relation: str, size: int, labels: Sequence[str], most: int
) -> tuple[Model, Counter[str]]:
    """Evidence on the first few, by ranges or one by one, and how many have each label."""
    evidence: Model = {}
    seen: Counter[str] = Counter()
    first = 1
    for label in rng.sample(labels, rng.randint(0, min(2, len(labels)))):
        count = rng.randint(0, min(most, size - first - 1))
        if count and rng.random() < 0.5:
            evidence[f"{relation}({first}..{first + count - 1})"] = label
        else:
            evidence |= {f"{relation}({each})": label for each in range(first, first + count)}
        seen[label] += count
        first += count
    return evidence, seen


def relational(draft: Draft, evidence: Model) -> Model:
    """The model with its evidence."""
    model = draft.model()
    return {**model, "evidence": evidence} if evidence else model


def histograms(members: int, labels: int) -> Iterator[tuple[int, ...]]:
    """All histograms in lexicographic order."""
    if labels == 1:
        yield (members,)
        return
    for first in range(members + 1):
        yield from ((first, *rest) for rest in histograms(members - first, labels - 1))


def multinomial(counts: Sequence[int]) -> Decimal:
    """The log of the number of arrangements."""
    return Decimal(math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))).ln()


def of_two_labels(
    relation: str, size: int, seen: Counter[str], weight: Callable[[int], Log]
) -> Known:
    """What is known where only the number of those that are true counts."""
    free = size - seen.total()
    weights = [weight(seen["true"] + each) for each in range(free + 1)]
    total, shares = normalised(
        [None if one is None else one + two for one, two in zip(weights, ways(free), strict=True)]
    )
    true = math.fsum(share * each for each, share in enumerate(shares)) / free
    both = math.fsum(share * falling(each, 2) for each, share in enumerate(shares)) / falling(
        free, 2
    )
    neither = math.fsum(
        share * falling(free - each, 2) for each, share in enumerate(shares)
    ) / falling(free, 2)
    mixed = math.fsum(share * each * (free - each) for each, share in enumerate(shares)) / falling(
        free, 2
    )
    names = f"{relation}({size})", f"{relation}({size - 1})"
    false = math.fsum(share * (free - each) for each, share in enumerate(shares)) / free
    return Known(
        dict.fromkeys(names, BOOLEAN),
        total,
        {name: np.array([false, true]) for name in names},
        names,
        np.array([[neither, mixed], [mixed, both]]),
        largest_of(weights),
        lambda assignment: as_float(weight(sum(label == "true" for label in assignment.values()))),
        size,
    )
