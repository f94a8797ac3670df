"""Random models of many individuals whose answers are sums over histograms, (nearly) exact."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext

import numpy as np

from support.exact.checks import Known, enumerated
from support.exact.drafts import Draft, table, whole
from support.exact.sums import (
    BOOLEAN,
    Log,
    Model,
    added,
    as_float,
    falling,
    histograms,
    largest_of,
    log,
    multinomial,
    normalised,
    observed,
    of_two_labels,
    plus,
    relational,
    times,
    ways,
)
from support.naive import inference as naive


def large(rng: random.Random) -> tuple[Model, Known]:
    """A model of this kind and what is known about it."""
    kinds = [slots, slots, labelled, counted, crossed, friends, parted, own_tables, many_labels]
    with localcontext(prec=50):
        return rng.choice(kinds)(rng)


# ---- one relation of two labels, many slots


def border_size(rng: random.Random, slots: int) -> int:
    """A size around which the number of tuples needs one more bit than a number has."""
    power = 2 ** rng.choice([31, 32, 53, 63, 64] if slots > 4 else [31, 32, 53])
    size = int(power ** (1 / slots))
    if rng.random() < 0.5:
        while falling(size, slots) < power:
            size += 1
    return size + rng.choice([-1, 0, 1, 2])


def slot_table(rng: random.Random, slots: int, size: int) -> list[float]:
    """A table whose powers can be told apart: any for few tuples, a gentle one for many."""
    kind = "any" if size**slots < 10**7 else rng.choice(["gentle", "balanced", "forbidding"])
    values = [1.0] * 2**slots
    if kind == "any":
        return table(rng, [2] * slots)
    if kind == "gentle":
        bits = min(52, int(math.log2(size) * slots))
        for place in rng.sample(range(2**slots), rng.randint(1, 4)):
            values[place] += rng.choice([1, 2, 3]) * 2.0**-bits
    if kind == "balanced":
        values[0] = values[-1] = rng.choice([2.0, 3.0])
    if kind == "forbidding":
        values[rng.choice([-1, -1, 0, 1])] = 0
    return values


def slots(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """S(X1), …, S(Xk) for all (different) X1, …, Xk, where counts leave the range of numbers."""
    count = rng.choice([2, 2, 3, 3, 4, 4, 5, 6])
    size = size or (rng.randint(20, 200) if count < 4 else border_size(rng, count))
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relation("S", "P", labels=BOOLEAN)
    names = [f"X{place}" for place in range(count)]
    different = rng.random() < 0.7
    pairs = itertools.combinations(names, 2) if different else ()
    values, own = slot_table(rng, count, size), [rng.randint(1, 5), rng.randint(1, 5)]
    draft.parfactor(
        [f"S({each})" for each in names], [f"{one} != {two}" for one, two in pairs], values=values
    )
    draft.parfactor(["S(X)"], [], values=own)
    evidence, seen = observed(rng, "S", size, BOOLEAN, min(size // 3, 10))
    by_ones = [
        plus(log(value) for place, value in enumerate(values) if place.bit_count() == ones)
        for ones in range(count + 1)
    ]
    tuples: Callable[[int, int], int] = falling if different else pow

    def weight(true: int) -> Log:
        parts = [
            times(tuples(true, ones) * tuples(size - true, count - ones), each)
            for ones, each in enumerate(by_ones)
        ]
        return plus([*parts, times(true, log(own[1])), times(size - true, log(own[0]))])

    return relational(draft, evidence), of_two_labels("S", size, seen, weight)


# ---- one relation of several labels, pairs


def labelled(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """A(X), A(Y) for all X ≠ Y, with three or four labels, beside a count of them."""
    labels = rng.choice([("a", "b", "c"), ("c", "a", "b"), ("p", "q", "r", "s")])
    size = size or rng.randint(6, 30 if len(labels) == 3 else 12)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relation("A", "P", labels=labels)
    pair, own = table(rng, [len(labels)] * 2), table(rng, [len(labels)])
    draft.parfactor(["A(X)", "A(Y)"], ["X != Y"], values=pair)
    draft.parfactor(["A(X)"], [], values=own)
    every = list(histograms(size, len(labels)))
    count = whole(rng, [len(every)]) if rng.random() < 0.5 else [1] * len(every)
    draft.parfactor(["#X[A(X)]"], [], values=count)
    evidence, seen = observed(rng, "A", size, labels, 4)
    rank = {counts: place for place, counts in enumerate(every)}
    logs = [log(each) for each in pair]

    def weight(counts: tuple[int, ...]) -> Log:
        pairs = (
            times(counts[a] * (counts[b] - (a == b)), logs[a * len(labels) + b])
            for a, b in itertools.product(range(len(labels)), repeat=2)
        )
        single = (times(number, log(each)) for number, each in zip(counts, own, strict=True))
        return plus([*pairs, *single, log(count[rank[counts]])])

    free = size - seen.total()
    left = list(histograms(free, len(labels)))
    weights = [
        weight(tuple(a + seen[label] for a, label in zip(each, labels, strict=True)))
        for each in left
    ]
    total, shares = normalised(
        [
            None if one is None else one + multinomial(each)
            for one, each in zip(weights, left, strict=True)
        ]
    )
    one, two = np.zeros(len(labels)), np.zeros([len(labels)] * 2)
    for share, counts in zip(shares, map(np.array, left), strict=True):
        one += share * counts / free
        two += share * (np.outer(counts, counts) - np.diag(counts)) / falling(free, 2)
    names = f"A({size})", f"A({size - 1})"
    return relational(draft, evidence), Known(
        dict.fromkeys(names, labels),
        total,
        dict.fromkeys(names, one),
        names,
        two,
        largest_of(weights),
        lambda found: as_float(
            weight(tuple(list(found.values()).count(label) for label in labels))
        ),
        size,
    )


# ---- something common to all


def counted(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """#X[A(X)] with E, beside A(X) with E; given E, only how many are true counts."""
    size = size or rng.randint(20, 200)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relation("A", "P", labels=BOOLEAN)
    draft.relation("E", labels=BOOLEAN)
    histogram, own = table(rng, [size + 1, 2]), table(rng, [2, 2])
    draft.parfactor(["#X[A(X)]", "E"], [], values=histogram)
    draft.parfactor(["A(X)", "E"], [], values=own)
    evidence, seen = observed(rng, "A", size, BOOLEAN, size // 3)

    def weight(true: int, given: int) -> Log:
        both = times(true, log(own[2 + given])), times(size - true, log(own[given]))
        return plus([*both, log(histogram[2 * (size - true) + given])])

    def weight_of(found: Mapping[str, str]) -> float:
        given = found["E"] == "true"
        return as_float(weight(list(found.values()).count("true") - given, int(given)))

    free = size - seen.total()
    places = list(itertools.product(range(free + 1), range(2)))
    weights = [weight(seen["true"] + true, given) for true, given in places]
    coefficients = ways(free)
    total, shares = normalised(
        [plus([one, coefficients[true]]) for one, (true, _) in zip(weights, places, strict=True)]
    )
    joint = np.zeros((2, 2))
    for share, (true, given) in zip(shares, places, strict=True):
        joint[:, given] += share * np.array([free - true, true]) / free
    name = f"A({size})"
    return relational(draft, evidence), Known(
        {name: BOOLEAN, "E": BOOLEAN},
        total,
        {name: joint.sum(axis=1), "E": joint.sum(axis=0)},
        (name, "E"),
        joint,
        largest_of(weights),
        weight_of,
        size + 1,
    )


# ---- two relations of the same individuals


def crossed(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """A(X), B(Y) for all X ≠ Y beside A(X), B(X): given the Bs, the As are independent."""
    size = size or rng.randint(20, 120)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relations("A(P) B(P)", BOOLEAN)
    across, own = table(rng, [2, 2]), table(rng, [2, 2])
    draft.parfactor(["A(X)", "B(Y)"], ["X != Y"], values=across)
    draft.parfactor(["A(X)", "B(X)"], [], values=own)
    evidence, seen = observed(rng, "B", size, BOOLEAN, size // 3)
    logs, single = [log(each) for each in across], [log(each) for each in own]

    def person(a: int, b: int, true: int) -> Log:
        others = times(true - b, logs[2 * a + 1]), times(size - true - (1 - b), logs[2 * a])
        return plus([single[2 * a + b], *others])

    free, terms, best = size - seen.total(), [], []
    tables = []
    for each, coefficient in enumerate(ways(free)):
        true = seen["true"] + each
        people = [
            [person(a, b, true) if true >= b and size - true >= 1 - b else None for b in (0, 1)]
            for a in (0, 1)
        ]
        sums = [normalised([people[0][b], people[1][b]]) for b in (0, 1)]
        ones = [
            None if sums[b][0] == -math.inf else added(people[0][b], people[1][b]) for b in (0, 1)
        ]
        terms.append(plus([coefficient, times(true, ones[1]), times(size - true, ones[0])]))
        highest = [
            max((x for x in (people[0][b], people[1][b]) if x is not None), default=None)
            for b in (0, 1)
        ]
        best.append(plus([times(true, highest[1]), times(size - true, highest[0])]))
        tables.append([sums[b][1] for b in (0, 1)])
    total, shares = normalised(terms)
    joint = np.zeros((2, 2))
    for each, (share, given) in enumerate(zip(shares, tables, strict=True)):
        for b, number in enumerate((free - each, each)):
            joint[:, b] += share * number / free * np.array(given[b])

    def weight(found: Mapping[str, str]) -> float:
        pairs = Counter(
            (found[f"A({x})"] == "true", found[f"B({x})"] == "true") for x in range(1, size + 1)
        )
        true = sum(number for (_, b), number in pairs.items() if b)
        return as_float(plus(times(number, person(a, b, true)) for (a, b), number in pairs.items()))

    names = f"A({size})", f"B({size})"
    marginals = {names[0]: joint.sum(axis=1), names[1]: joint.sum(axis=0)}
    known = Known(
        dict.fromkeys(names, BOOLEAN),
        total,
        marginals,
        names,
        joint,
        largest_of(best),
        weight,
        2 * size,
    )
    return relational(draft, evidence), known


def friends(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """F(X,Y), S(X), S(Y) for all X ≠ Y: every pair has its own variable, which is summed out."""
    size = size or rng.randint(20, 40)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relations("S(P) F(P,P)", BOOLEAN)
    values, own = table(rng, [2, 2, 2]), table(rng, [2])
    draft.parfactor(["F(X,Y)", "S(X)", "S(Y)"], ["X != Y"], values=values)
    draft.parfactor(["S(X)"], [], values=own)
    evidence, seen = observed(rng, "S", size, BOOLEAN, size // 3)
    cells = list(itertools.product((0, 1), repeat=2))
    sums = {(x, y): added(log(values[2 * x + y]), log(values[4 + 2 * x + y])) for x, y in cells}
    tops = {(x, y): log(max(values[2 * x + y], values[4 + 2 * x + y])) for x, y in cells}

    def weight(pairs: Mapping[tuple[int, int], Log], true: int) -> Log:
        many = {0: size - true, 1: true}
        parts = (times(many[x] * (many[y] - (x == y)), pairs[x, y]) for x, y in cells)
        return plus([*parts, times(true, log(own[1])), times(size - true, log(own[0]))])

    simple = of_two_labels("S", size, seen, lambda true: weight(sums, true))
    high = of_two_labels("S", size, seen, lambda true: weight(tops, true))
    joint = np.zeros((2, 2, 2))
    for x, y in cells:
        if sums[x, y] is not None:
            both = values[2 * x + y], values[4 + 2 * x + y]
            joint[:, y, x] = simple.joint[y, x] * np.array(both) / sum(both)
    pair = f"F({size - 1},{size})"
    known = Known(
        {**simple.labels, pair: BOOLEAN},
        simple.log_total,
        {**simple.marginals, pair: joint.sum(axis=(1, 2))},
        (pair, *simple.question),
        joint,
        high.log_best,
        lambda found: weight_of_friends(found, size, values, own),
        size**2,
    )
    return relational(draft, evidence), known


def weight_of_friends(
    found: Mapping[str, str], size: int, values: Sequence[float], own: Sequence[float]
) -> float:
    """The log of an assignment's weight, factor by factor."""
    smokes = [int(found[f"S({x})"] == "true") for x in range(1, size + 1)]
    pairs = Counter(
        4 * (found[f"F({x + 1},{y + 1})"] == "true") + 2 * smokes[x] + smokes[y]
        for x, y in itertools.permutations(range(size), 2)
    )
    parts = [times(count, log(values[place])) for place, count in pairs.items()]
    return as_float(plus([*parts, *(log(own[each]) for each in smokes)]))


# ---- two domains


def parted(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """A(X), B(U) for all X and U of two domains: given the As, the Bs are independent."""
    other = rng.randint(1, size or 200)
    size = size or rng.randint(20, 200)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.domain("Q", [other], listed=0)
    draft.relations("A(P) B(Q)", BOOLEAN)
    across, own = table(rng, [2, 2]), table(rng, [2])
    draft.parfactor(["A(X)", "B(U)"], [], values=across)
    draft.parfactor(["B(U)"], [], values=own)
    evidence, seen = observed(rng, "A", size, BOOLEAN, size // 3)
    logs, single = [log(each) for each in across], [log(each) for each in own]

    def thing(b: int, true: int) -> Log:
        return plus([single[b], times(true, logs[2 + b]), times(size - true, logs[b])])

    free = size - seen.total()
    trues = [seen["true"] + each for each in range(free + 1)]
    things = [[thing(b, true) for b in (0, 1)] for true in trues]
    simple = of_two_labels(
        "A", size, seen, lambda true: times(other, added(*things[true - seen["true"]]))
    )
    best = [times(other, max((x for x in two if x is not None), default=None)) for two in things]
    terms = [
        plus([times(other, added(*two)), coefficient])
        for two, coefficient in zip(things, ways(free), strict=True)
    ]
    joint = np.zeros((2, 2))
    for each, (share, two) in enumerate(zip(normalised(terms)[1], things, strict=True)):
        joint += share * np.outer(np.array([free - each, each]) / free, normalised(two)[1])

    def weight(found: Mapping[str, str]) -> float:
        true = sum(found[f"A({x})"] == "true" for x in range(1, size + 1))
        return as_float(
            plus(thing(int(found[f"B({u})"] == "true"), true) for u in range(1, other + 1))
        )

    names = f"A({size})", f"B({other})"
    marginals = {names[0]: joint.sum(axis=1), names[1]: joint.sum(axis=0)}
    labels = dict.fromkeys(names, BOOLEAN)
    known = Known(
        labels, simple.log_total, marginals, names, joint, largest_of(best), weight, size + other
    )
    return relational(draft, evidence), known


# ---- everyone with a table of their own


def own_tables(rng: random.Random, size: int | None = None) -> tuple[Model, Known]:
    """S(X), S(Y) for all X ≠ Y, and evidence or a factor for each: sums of products of odds."""
    size = size or rng.randint(20, 90)
    draft = Draft(rng)
    draft.domain("P", [size], listed=0)
    draft.relation("S", "P", labels=BOOLEAN)
    pair = whole(rng, [2, 2])
    draft.parfactor(["S(X)", "S(Y)"], ["X != Y"], values=pair)
    some = [
        [rng.choice([0.5, 1, 2, 3]), rng.choice([0.25, 1, 2, 5])]
        for _ in range(rng.choice([1, 2, 5, size]))
    ]
    own = [some[place % len(some)] for place in range(size)]
    evidence: Model = {}
    for place, values in enumerate(own, start=1):
        if rng.random() < 0.5:
            evidence[f"S({place})"] = dict(zip(BOOLEAN, values, strict=True))
        else:
            draft.factor([f"S({place})"], values)
    logs = [log(each) for each in pair]

    def pairs(true: int) -> Decimal:
        false = size - true
        counts = falling(false, 2), false * true, true * false, falling(true, 2)
        found = plus(times(count, each) for count, each in zip(counts, logs, strict=True))
        assert found is not None
        return found

    def sums(people: Sequence[int]) -> list[Decimal]:
        """The sum of the products of odds for each number of those that are true."""
        found = [Decimal(1)]
        for place in people:
            false, true = map(Decimal, own[place])
            found = [
                a * false + b * true
                for a, b in zip([*found, Decimal(0)], [Decimal(0), *found], strict=True)
            ]
        return found

    everyone = [each.ln() + pairs(true) for true, each in enumerate(sums(range(size)))]
    total = normalised(everyone)[0]
    rest = sums(range(2, size))
    joint = np.zeros((2, 2))
    for one, two in itertools.product((0, 1), repeat=2):
        both = Decimal(own[0][one]) * Decimal(own[1][two])
        weights = [(both * each).ln() + pairs(true + one + two) for true, each in enumerate(rest)]
        joint[one, two] = math.exp(normalised(weights)[0] - total)
    ordered = sorted(
        (Decimal(true).ln() - Decimal(false).ln() for false, true in own), reverse=True
    )
    none = sum((Decimal(false).ln() for false, _ in own), Decimal(0))
    highest = [none + sum(ordered[:true], Decimal(0)) + pairs(true) for true in range(size + 1)]

    def weight(found: Mapping[str, str]) -> float:
        chosen = [int(found[f"S({place})"] == "true") for place in range(1, size + 1)]
        parts = [log(values[label]) for values, label in zip(own, chosen, strict=True)]
        return as_float(plus([*parts, pairs(sum(chosen))]))

    names = "S(1)", "S(2)"
    joint = joint / joint.sum()
    marginals = {names[0]: joint.sum(axis=1), names[1]: joint.sum(axis=0)}
    known = Known(
        dict.fromkeys(names, BOOLEAN),
        total,
        marginals,
        names,
        joint,
        largest_of(highest),
        weight,
        size,
    )
    model = relational(draft, evidence)
    return (naive.unfolded(model) if rng.random() < 0.3 else model), known


# ---- many labels


def many_labels(rng: random.Random) -> tuple[Model, Known]:
    """Counting formulas over 26 to 45 labels, some observed; small enough to be enumerated."""
    while True:
        draft = Draft(rng)
        draft.domain("P", [1, 2, 2, 3], listed=0)
        count = rng.randint(26, 45)
        draft.relation("A", "P", labels=tuple(f"v{place}" for place in range(count)))
        draft.relation("E", labels=BOOLEAN)
        draft.shape(rng.choice(["#X[A(X)]", "#X[A(X)] E"]))
        for text in rng.sample(["A(X)", "A(X) E", "A(X) A(Y) | X != Y"], rng.choice([0, 1, 1])):
            draft.shape(text)
        for name in draft.existing():
            if rng.random() < 0.5:
                draft.observe(name, draft.value(name, 0.1))
        model = draft.model()
        if naive.Weights(model).states <= 3000:
            return model, enumerated(model, rng)
