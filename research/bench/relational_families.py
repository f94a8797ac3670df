"""Relational models that are hard to lift, each with the closed form of an answer."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import perm, prod

import numpy as np
from numpy.typing import NDArray

from research.bench.checked import Asked, Closed, drawn
from research.bench.counting_families import Table, modelled, one_of, ordered_pairs
from research.bench.relational_models import Logs, log_choose, log_sum, logs_of

ALL_DIFFERENT = ["X != Y", "X != Z", "Y != Z"]


def all_observed(people: int, random: np.random.Generator, mixed: bool) -> Asked:
    """An epidemic, and who is sick is known of everybody, each listed by name."""
    table = drawn(random, 2, 2, strength=1 / people)
    sick = np.arange(people) % 3 > 0 if mixed else np.ones(people, dtype=bool)
    model = modelled({"P": people}, {"Sick": "P", "Epid": ""}, [(["Sick(X)", "Epid"], table, [])])
    evidence = {
        f"Sick({person})": "true" if ill else "false" for person, ill in enumerate(sick.tolist(), 1)
    }
    count, logs = int(sick.sum()), logs_of(table)
    return Asked(model, ("Epid",), lambda: count * logs[1] + (people - count) * logs[0], evidence)


# ---- triples and pairs


def triples(
    n: int,
    random: np.random.Generator,
    symmetric: bool = False,
    link: bool = False,
    apart: bool = True,
) -> Asked:
    """S(X), S(Y), S(Z), perhaps with T(X,Y,Z); half of the seeds leave the answer open."""
    strength = float(random.choice([1.0, 1 / n**2]))
    if symmetric:
        table = drawn(random, 4, strength=strength)[np.indices((2, 2, 2)).sum(axis=0)]
    else:
        table = drawn(random, *[2] * (4 if link else 3), strength=strength)
    arguments = ["T(X,Y,Z)"] * link + ["S(X)", "S(Y)", "S(Z)"]
    relations = {"S": "P", **({"T": "P P P"} if link else {})}
    model = modelled({"P": n}, relations, [(arguments, table, ALL_DIFFERENT if apart else [])])
    summed = np.asarray(table, dtype=np.longdouble).sum(axis=0) if link else table
    return Asked(model, ("S(1)",), partial(triples_closed, n, summed, apart))


def triples_closed(n: int, table: Table, apart: bool) -> Closed:
    """Σ over how many are true: how often each entry counts, less than at the best place."""
    counts = np.array([[_choices(each, k, apart) for k in range(4)] for each in range(n + 1)])
    entries = list(product((0, 1), repeat=3))
    often = np.stack(
        [counts[:, sum(values)] * counts[::-1, 3 - sum(values)] for values in entries], 1
    )
    logs = logs_of([table[values] for values in entries])
    totals = (often * logs).sum(axis=1)
    best = int(totals.argmax())
    return one_of(((often - often[best]) * logs).sum(axis=1)), totals[best]


def _choices(n: int, places: int, apart: bool) -> int:
    """Ways to fill places with individuals, the same one twice or not."""
    return perm(n, places) if apart else n**places


def both_ways(n: int, random: np.random.Generator, apart: bool) -> Asked:
    """A(X), S(X,Y) beside S(X,Y), S(Y,X); half of the seeds leave the answer open."""
    strength = float(random.choice([1.0, 1 / n]))
    own, turned = drawn(random, 2, 2, strength=strength), drawn(random, 2, 2, strength=strength)
    where = ["X != Y"] if apart else []
    lines = [(["A(X)", "S(X,Y)"], own, where), (["S(X,Y)", "S(Y,X)"], turned, where)]
    return Asked(
        modelled({"P": n}, {"A": "P", "S": "P P"}, lines),
        ("A(1)",),
        partial(both_ways_closed, n, own, turned, apart),
    )


def both_ways_closed(n: int, own: Table, turned: Table, apart: bool) -> Logs:
    """Both directions of a pair summed out for each two values of A, then Σ over how many."""
    own, turned = np.asarray(own, dtype=np.longdouble), np.asarray(turned, dtype=np.longdouble)
    pair = np.einsum("as,bt,st,ts->ab", own, own, turned, turned)
    alone = logs_of((own * np.diag(turned)).sum(axis=1)) if not apart else np.zeros(2)
    true = np.arange(n + 1, dtype=np.longdouble)
    return one_of(ordered_pairs(n, pair) / 2 + true * alone[1] + (n - true) * alone[0])


# ---- evidence that is listed


def members(houses: int, random: np.random.Generator, size: int, same: bool) -> Asked:
    """M(H,X), M(H,Y) for all X ≠ Y; one member of each household is observed, the first or any."""
    table = drawn(random, 2, 2, strength=1 / size)
    model = modelled(
        {"House": houses, "Member": size},
        {"M": "House Member"},
        [(["M(H,X)", "M(H,Y)"], table, ["X != Y"])],
    )
    seen = {
        f"M({house},{1 if same else 1 + house % size})": "true" for house in range(1, houses + 1)
    }
    return Asked(model, ("M(1,3)",), partial(members_closed, houses, size, table), seen)


def members_closed(houses: int, size: int, table: Table) -> Logs:
    """Σ over how many others are true, one being so; to the power of the number of households."""
    house = one_of(ordered_pairs(size, table)[1:])
    return np.asarray(house + (houses - 1) * log_sum(house))


def rectangle(n: int, random: np.random.Generator, overlap: bool) -> Asked:
    """S(X), F(X,Y), S(Y) for all X ≠ Y; F(x,y) is true for x of one set and y of another."""
    table, quarter = drawn(random, 2, 2, 2, strength=1 / n), n // 4
    rows = range(1, 1 + 2 * quarter)
    columns = (
        range(1 + quarter, 1 + 3 * quarter) if overlap else range(1 + 2 * quarter, 1 + 3 * quarter)
    )
    model = modelled(
        {"P": n}, {"S": "P", "F": "P P"}, [(["S(X)", "F(X,Y)", "S(Y)"], table, ["X != Y"])]
    )
    seen = {f"F({x},{y})": "true" for x in rows for y in columns if x != y}
    cells = [(x in rows, x in columns) for x in range(1, n + 1)]
    return Asked(model, ("S(1)",), partial(rectangle_closed, table, cells), seen)


def rectangle_closed(table: Table, cells: list[tuple[bool, bool]]) -> Logs:
    """Σ over how many are true among those that are rows, columns, both or neither."""
    extended = np.asarray(table, dtype=np.longdouble)
    free, seen = logs_of(extended.sum(axis=1)), logs_of(extended[:, 1])
    kinds = list(dict.fromkeys(cells))
    sizes = [cells.count(kind) for kind in kinds]
    weights = []
    for asked in (0, 1):  # the first individual, which is of the first kind
        ways = [log_choose(size - (kind == 0)) for kind, size in enumerate(sizes)]
        true = list(
            np.meshgrid(
                *(np.arange(len(each), dtype=np.longdouble) for each in ways), indexing="ij"
            )
        )
        true[0] = true[0] + asked
        counts = [(size - each, each) for size, each in zip(sizes, true, strict=True)]
        total = sum(np.meshgrid(*ways, indexing="ij"))
        for one, other in product(range(len(kinds)), repeat=2):
            logs = seen if kinds[one][0] and kinds[other][1] else free
            for a, b in product((0, 1), repeat=2):
                total = (
                    total
                    + counts[one][a] * (counts[other][b] - (one == other and a == b)) * logs[a, b]
                )
        weights.append(log_sum(np.ravel(total)))
    return np.array(weights)


# ---- three relations


def three_relations(n: int, random: np.random.Generator) -> Asked:
    """A, B and C with a table for each two of them on all X ≠ Y, and one on A(X), B(X), C(X)."""
    own, crossed = drawn(random, 2, 2, 2), [drawn(random, 2, 2, strength=1 / n) for _ in range(3)]
    lines = [
        ([f"{one}(X)", f"{other}(Y)"], table, ["X != Y"])
        for (one, other), table in zip(combinations("ABC", 2), crossed, strict=True)
    ]
    model = modelled(
        {"P": n}, dict.fromkeys("ABC", "P"), [*lines, (["A(X)", "B(X)", "C(X)"], own, [])]
    )
    return Asked(model, ("A(1)",), partial(three_relations_closed, n, own, crossed))


def three_relations_closed(n: int, own: Table, crossed: list[Table]) -> Logs:
    """Σ over how many are true in each relation, overlaps by the power of a polynomial."""
    ab, ac, bc = (np.asarray(table, dtype=np.longdouble) for table in crossed)
    single = np.asarray(own, dtype=np.longdouble) / (
        ab[:, :, None] * ac[:, None, :] * bc[None, :, :]
    )
    others = np.ones((1, 1, 1), dtype=np.longdouble)
    for _ in range(n - 1):
        others = _times(others, single)
    true = np.meshgrid(*[np.arange(n + 1, dtype=np.longdouble)] * 3, indexing="ij")
    counts = [(n - each, each) for each in true]
    total = np.zeros_like(true[0])
    for (one, other), table in zip(combinations(range(3), 2), (ab, ac, bc), strict=True):
        for a, b in product((0, 1), repeat=2):
            total += counts[one][a] * counts[other][b] * np.log(table[a, b])
    weights = []
    for asked in (0, 1):
        chosen = np.zeros_like(single)
        chosen[asked] = single[asked]
        weights.append(log_sum(np.ravel(total + logs_of(_times(others, chosen)))))
    return np.array(weights)


def _times(one: NDArray[np.longdouble], single: NDArray[np.longdouble]) -> NDArray[np.longdouble]:
    """One individual more: a product of polynomials, the second having two entries each way."""
    found = np.zeros(tuple(side + 1 for side in one.shape), dtype=np.longdouble)
    for a, b, c in product((0, 1), repeat=3):
        found[a : a + one.shape[0], b : b + one.shape[1], c : c + one.shape[2]] += (
            one * single[a, b, c]
        )
    return found


# ---- large numbers


def many_slots(n: int, random: np.random.Generator, slots: int) -> Asked:
    """S for so many individuals at once, slightly likelier if all are true: counts beyond 2^53."""
    table = np.ones([2] * slots)
    table[(1,) * slots] = 1.0000001
    names = [f"X{number}" for number in range(slots)]
    where = [f"{one} != {other}" for one, other in combinations(names, 2)]
    model = modelled(
        {"P": n},
        {"S": "P"},
        [(["S(X)"], [1.0, 1.0], []), ([f"S({name})" for name in names], table, where)],
    )
    return Asked(model, ("S(1)",), partial(many_slots_closed, n, slots, table[(1,) * slots]))


def many_slots_closed(n: int, slots: int, last: float) -> Closed:
    """Σ over how many are true; exponents are whole numbers less that for all, kept aside."""
    each = np.log1p(np.longdouble(last - 1))
    most = perm(n, slots)
    total = (
        np.array([perm(true, slots) - most for true in range(n + 1)]).astype(np.longdouble) * each
    )
    return one_of(total), np.longdouble(most) * each


def nearly_equal(n: int, random: np.random.Generator) -> Asked:
    """Four relations that say almost the same about E, 10^15 times each."""
    small, larger = 1e-10, 1e-10 * (1 + 1e-15)
    tables = [[0.5, small], [0.5, larger], [small, 0.5], [small, 0.5]]
    lines = [([f"A{number}(X)", "E"], [table, table], []) for number, table in enumerate(tables, 1)]
    model = modelled({"P": n}, {**{f"A{number}": "P" for number in range(1, 5)}, "E": ""}, lines)
    return Asked(model, ("E",), partial(nearly_equal_closed, n, tables))


def nearly_equal_closed(n: int, tables: list[list[float]]) -> Closed:
    """The ratio of both weights exactly, before it is taken to a power."""
    false, true = (prod(2 * Fraction(table[value]) for table in tables) for value in (0, 1))
    more = n * np.log1p(np.longdouble(float(true / false - 1)))
    return np.array([0, more]), n * np.log(np.longdouble(float(false)))
