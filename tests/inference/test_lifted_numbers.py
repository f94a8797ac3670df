"""Numbers of the lifted engine: counts are exact at every border, errors stay below bounds."""

import itertools
import json
import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import lifagu
from lifagu.inference.lifted import careful_table as carefully
from lifagu.inference.lifted import integers, logs, tables
from lifagu.inference.lifted.careful_table import Made, counted, given
from lifagu.inference.lifted.double_digits import Twofold, whole
from lifagu.inference.lifted.fifty_digits import fine_logs, weighed
from lifagu.inference.lifted.tables import Sums, TablePool

BORDERS = [2**31, 2**53, 2**63]


# ---- whole numbers


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("slots", range(1, 9))
def test_sets_of_members_at_the_borders(border, slots):
    """So many members that the ordered tuples pass a border: the counts are Python's own."""
    root = round(border ** (1 / slots)) if slots > 1 else border
    for members in range(max(root - 3, slots), root + 4):
        if members > 2**62:
            continue
        counts = np.array([[members, 0], [members - slots, slots], [slots, members - slots]])
        for values in itertools.combinations_with_replacement(range(2), slots):
            ones = sum(values)
            expected = [
                math.comb(row[0], slots - ones) * math.comb(row[1], ones) for row in counts.tolist()
            ]
            assert integers.sets_of_members(counts, values).tolist() == expected


def test_the_one_decision_between_64_bits_and_python():
    assert integers.integer_type(2**63 - 1) is np.int64
    assert integers.integer_type(2**63) is object


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("members", range(7))
def test_histograms_are_listed_in_order_and_found_again(members, size):
    found = integers.histograms(members, size)
    expected = [
        each for each in itertools.product(range(members + 1), repeat=size) if sum(each) == members
    ]
    assert list(map(tuple, found.tolist())) == expected
    assert len(found) == integers.number_of_histograms(members, size)
    assert integers.histogram_places(found).tolist() == list(range(len(found)))


LARGE = [(5, 26), (2, 500), (3, 120), (10**6, 2)]


@pytest.mark.parametrize(
    ("members", "size"),
    [
        *[(2, 42), (3, 33), (4, 29), (2, 150), (10**5, 2)],
        *[pytest.param(*each, marks=pytest.mark.full) for each in LARGE],
    ],
)
def test_histograms_of_many_labels_have_a_place(members, size):
    found = integers.histograms(members, size)
    assert np.array_equal(integers.histogram_places(found), np.arange(len(found)))


def test_one_label_takes_any_number_of_members():
    assert integers.histograms(10**30, 1).tolist() == [[10**30]]
    assert logs.log_multinomial(integers.histograms(10**30, 1)).tolist() == [0.0]


@pytest.mark.parametrize(
    "limit", [0, 1, 63, 64, 65, 1000, 20_000, pytest.param(100_000, marks=pytest.mark.full)]
)
def test_log_factorials_to_the_last_digits(limit):
    with localcontext() as context:
        context.prec = 40
        numerator, denominator = logs.log_factorials(limit)[limit].as_integer_ratio()
        exact = Decimal(math.factorial(limit)).ln()
        assert abs(Decimal(numerator) / Decimal(denominator) - exact) <= Decimal(
            8 * logs.UNIT
        ) * max(exact, 1)


# ---- rounding


def exact(table, rest=None):
    """A log table as decimals."""
    parts = [table] if rest is None else [table, rest]
    found = np.empty(table.shape, dtype=object)
    for place in np.ndindex(table.shape):
        ratios = [
            np.longdouble(part[place]).as_integer_ratio()
            for part in parts
            if np.isfinite(part[place])
        ]
        found[place] = (
            sum((Decimal(one) / Decimal(two) for one, two in ratios), Decimal(0))
            if ratios
            else None
        )
    return found


def assert_within(made, truth):
    """All entries are off by no more than the bound, and zeros are zeros."""
    found = exact(made.values, made.rest)
    for place in np.ndindex(found.shape):
        if truth[place] == Decimal("-Infinity"):
            assert np.isneginf(made.values[place])
        else:
            assert abs(found[place] - truth[place]) <= Decimal(made.error) + Decimal("1e-48")


def potentials(rng, shape):
    values = np.array(
        [0.0 if rng.random() < 0.1 else math.exp(rng.gauss(0, 6)) for _ in range(math.prod(shape))]
    )
    values[0] = 1.5
    return values.reshape(shape)


@pytest.fixture(params=[carefully.PROMISE, 0.0], ids=["as promised", "all digits"])
def promise(request, monkeypatch):
    monkeypatch.setattr(carefully, "PROMISE", request.param)
    monkeypatch.setattr(tables, "PROMISE", request.param)
    with localcontext() as context:
        context.prec = 60
        yield


@pytest.mark.parametrize("seed", range(20))
def test_errors_of_sums_and_blocks_stay_below_their_bounds(seed, promise):
    rng = random.Random(seed)
    pool, many = TablePool(), rng.choice([1, 10**6, 10**12])
    raw = [potentials(rng, (2, 3)), potentials(rng, (3, 2)), potentials(rng, (2, 3))]
    fine, numbers = [fine_logs(each) for each in raw], []
    for each, digits in zip(raw, fine, strict=True):
        number, weight = pool.add(given(each), many)
        top = max(digits.reshape(-1))
        assert abs(weight - top * many) <= Decimal("1e-9")
        numbers.append(number)
        digits -= top
        assert_within(pool.made(number), digits)
    often = [Fraction(rng.randint(1, 10**9)), Fraction(1, 6), Fraction(rng.randint(0, 3))]
    total = pool.summed(tuple(zip(numbers, [(0, 1), (1, 0), (0, 1)], often, strict=True)), many)
    truth = np.empty((2, 3), dtype=object)
    for i, j in np.ndindex(2, 3):
        terms = [(fine[0][i, j], often[0]), (fine[1][j, i], often[1]), (fine[2][i, j], often[2])]
        truth[i, j] = sum(log * n.numerator / n.denominator for log, n in terms if n)
    assert_within(total, truth)
    block, conditional = pool.block([(numbers[0], (0, 1)), (numbers[1], (1, 0))], (2, 3), 1, False)
    summed = np.empty(3, dtype=object)
    for j in range(3):
        weight = sum((fine[0][i, j] + fine[1][j, i]).exp() for i in range(2))
        summed[j] = weight.ln() if weight else Decimal("-Infinity")
    assert_within(block, summed)
    shares = np.exp(conditional).sum(axis=0)
    assert np.allclose(
        np.asarray(shares, dtype=float)[[value.is_finite() for value in summed]], 1, rtol=1e-15
    )


@pytest.mark.parametrize("seed", range(20))
def test_errors_of_counted_tables_stay_below_their_bounds(seed, promise):
    rng = random.Random(seed)
    members, slots = rng.choice([(5, 2), (40, 3), (3000, 4), (200, 5)])
    raw = np.ones((2,) * slots)
    by_ones = [math.exp(rng.gauss(0, 1)) for _ in range(slots + 1)]
    for place in np.ndindex(raw.shape):
        raw[place] = by_ones[sum(place)]
    counts = integers.histograms(members, 2)[:: max(members // 10, 1)]
    found = counted(given(raw), range(slots), -1, counts, 1)
    fine = fine_logs(np.array(by_ones))
    truth = np.empty(len(counts), dtype=object)
    for place, (zeros, ones) in enumerate(counts.tolist()):
        truth[place] = sum(
            fine[each] * math.comb(ones, each) * math.comb(zeros, slots - each)
            for each in range(slots + 1)
        )
    assert_within(found, truth)


def test_numbers_in_two_parts_have_twice_the_digits():
    rng = random.Random(1)
    with localcontext() as context:
        context.prec = 60
        for _ in range(200):
            one, two = (
                np.array([np.longdouble(rng.gauss(0, 1)) * np.longdouble(10) ** rng.randint(-9, 9)])
                for _ in "ab"
            )
            number = np.array([rng.randint(0, 10**30)], dtype=object)
            zero = np.zeros(1, dtype=np.longdouble)
            total = Twofold(one, zero).plus(Twofold(two, zero))
            truth = exact(one)[0] + exact(two)[0]
            assert abs(exact(total.main, total.rest)[0] - truth) <= abs(truth) * Decimal(
                "1e-37"
            ) + Decimal("1e-60")
            product = Twofold(one, zero).times(whole(number))
            truth = exact(one)[0] * int(number[0])
            assert abs(exact(product.main, product.rest)[0] - truth) <= abs(truth) * Decimal(
                "1e-36"
            )


# ---- which tables are the same


def test_tables_share_a_number_as_long_as_that_does_no_harm():
    pool = TablePool()
    third = given(np.array([1.0, 3.0]))
    first, _ = pool.add(third, 1)
    rounded = Made(third.values + np.longdouble(1e-19), 2e-19)
    assert pool.add(rounded, 1)[0] == first  # differs by no more than its errors
    # given, and another number
    assert pool.add(given(np.array([1.0, np.nextafter(3.0, 4.0)])), 1)[0] != first
    shifted = rounded.values + np.array([1e-15, 0], dtype=np.longdouble)
    assert pool.add(Made(shifted, 1e-14), 1)[0] == first  # one row does not show it
    assert pool.add(Made(shifted, 1e-14), 10**6)[0] != first  # a million rows would
    assert pool.add(given(np.array([2.0, 6.0])), 10**30)[0] == first  # the same to 45 digits


def test_symmetry_of_computed_tables_is_up_to_their_errors_and_of_given_ones_exact():
    pool = TablePool()
    table = np.array([[1.0, 2.0], [2.0, 3.0]])
    number, _ = pool.add(given(table), 1)
    assert pool.symmetric(number, (0, 1))
    table[0, 1] = np.nextafter(2.0, 3.0)
    number, _ = pool.add(given(table), 1)
    assert not pool.symmetric(number, (0, 1))
    computed = np.log(np.array([[1.0, 2.0], [2.0, 3.0]], dtype=np.longdouble))
    computed[0, 1] += np.longdouble(2e-19)
    assert pool.symmetric(pool.add(Made(computed, 2e-19), 1)[0], (0, 1))
    assert not symmetric_without_bound(computed)


def symmetric_without_bound(table):
    return logs.symmetric(table, (0, 1))


def test_log_weights_cancel_without_a_trace():
    assert weighed(Decimal(2).ln(), 10**40) + weighed(Decimal(2).ln(), -(10**40)) == 0
    assert weighed(-math.inf, 3) == Decimal("-Infinity")


# ---- as users meet them


def read(**parts):
    return lifagu.io.from_json(json.dumps({"format": "lifagu/1", **parts}))


@pytest.mark.parametrize(
    ("members", "slots", "log_z"),
    [
        (55_200, 4, 928344315671.7256),
        (7_000, 5, 1678300117319.9167),
        (1_460, 6, None),
        (516, 7, 934971624230.8446),
    ],
)
def test_self_joins_beyond_64_bits(members, slots, log_z):
    names = [f"X{each}" for each in range(slots)]
    apart = [f"{one} != {two}" for one, two in itertools.combinations(names, 2)]
    table = [1.0] * (2**slots - 1) + [1.0000001]
    model = read(
        domains={"P": members},
        relations=[{"name": "S", "of": ["P"]}],
        parfactors=[
            {"name": "u", "args": ["S(X)"], "table": [1, 1]},
            {"name": "g", "args": [f"S({each})" for each in names], "where": apart, "table": table},
        ],
    )
    answer = lifagu.query(model, "S(1)")
    assert answer["true"] == pytest.approx(1.0, abs=1e-12)
    assert answer.log_partition == pytest.approx(
        log_z or math.perm(members, slots) * math.log(1.0000001), rel=1e-12
    )


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**53 - 1, 2**53 + 1, 2**62 - 1])
def test_log_z_of_very_many_rows_that_cancel(size):
    """Every table sums out to 1, so log Z is log 2 at any size; once, 10¹⁸ rows left 35 of it."""
    model = read(
        domains={"P": size},
        relations=[{"name": "A", "of": ["P"]}, {"name": "F", "of": ["P", "P"]}, {"name": "E"}],
        parfactors=[
            {"name": "g", "args": ["A(X)", "E"], "table": [0.5, 0.25, 0.5, 0.75]},
            {
                "name": "f",
                "args": ["F(X,Y)", "A(X)"],
                "where": ["X != Y"],
                "table": [0.5, 0.25, 0.5, 0.75],
            },
        ],
    )
    answer = lifagu.query(model, "E")
    assert answer.log_partition == pytest.approx(math.log(2), rel=1e-12)
    assert answer["true"] == pytest.approx(0.5, rel=1e-12)
    seen = lifagu.query(
        model, "A(2)", evidence={f"A({size})": "true", "A(1)": "false", f"F(1,{size - 1})": "true"}
    )
    assert seen["true"] == pytest.approx(17 / 28, rel=1e-12)


def test_nearly_equal_tables_stay_apart():
    """10¹⁵ individuals multiply a difference of 10⁻¹⁵ to something."""
    low, high = 1e-10, 1e-10 * (1 + 1e-15)
    halves = [[0.5, low], [0.5, high], [low, 0.5], [low, 0.5]]
    model = read(
        domains={"P": 10**15},
        relations=[*({"name": f"A{place}", "of": ["P"]} for place in range(4)), {"name": "E"}],
        parfactors=[
            {"name": f"g{place}", "args": [f"A{place}(X)", "E"], "table": half + half}
            for place, half in enumerate(halves)
        ],
    )
    ratio = Fraction(high) / Fraction(low)
    log_odds = 10**15 * math.log1p(float(ratio - 1))
    assert lifagu.query(model, "E")["true"] == pytest.approx(
        1 / (1 + math.exp(-log_odds)), rel=1e-12
    )


@pytest.mark.parametrize("size", [10**9, 10**18])
def test_one_label_of_very_many(size):
    model = read(
        domains={"P": size},
        relations=[{"name": "A", "of": ["P"], "range": ["x"]}, {"name": "E"}],
        parfactors=[
            {"name": "g", "args": ["A(X)", "A(Y)", "E"], "where": ["X != Y"], "table": [1, 1]},
            {"name": "e", "args": ["E"], "table": [1, 2]},
        ],
    )
    assert lifagu.query(model, "E")["true"] == pytest.approx(2 / 3)
    assert {each.probabilities.get("x") for each in lifagu.marginals(model).classes} == {1.0, None}


def test_tables_of_many_arguments_are_compared():
    table = np.zeros((2,) * 13, dtype=np.longdouble)
    other = table.copy()
    other[(1,) * 13] = 1e-15
    assert logs.near(table, other, 1e-14)
    assert not logs.near(table, other, 1e-16)
    other[(0,) * 13] = -np.inf
    assert not logs.near(table, other, 1.0)


def test_more_variables_with_one_label_than_a_table_has_axes():
    model = read(
        domains={"P": 9},
        relations=[{"name": "F", "of": ["P", "P"], "range": ["only"]}, {"name": "A", "of": ["P"]}],
        parfactors=[{"name": "g", "args": ["F(Y,X)", "A(3)"], "table": [5, 3]}],
    )
    found = lifagu.marginals(
        model, evidence={"F(3,1)": {"only": 2}, "F(5,3)": {"only": 1}, "F(6,4)": {"only": 1}}
    )
    assert found["A(3)"]["true"] == pytest.approx(1 / (1 + (5 / 3) ** 81), rel=1e-9)
    assert found.log_partition == pytest.approx(
        math.log(2) + np.logaddexp(81 * math.log(5), 81 * math.log(3)), rel=1e-12
    )


@pytest.mark.parametrize("towns", [2, 3, 5])
def test_differences_of_tables_with_entries_far_apart_are_taken_with_care(towns):
    """10¹² citizens of each town pull one way, as many the other; hardly anything is left."""
    many, numbers = 10**12, range(1, towns + 1)
    pulls = [2 + town * 4e-12 for town in numbers]
    model = read(
        domains={f"D{town}": many for town in numbers},
        relations=[
            {"name": "E"},
            *({"name": f"H{town}"} for town in numbers),
            *({"name": f"{name}{town}", "of": [f"D{town}"]} for town in numbers for name in "AB"),
        ],
        parfactors=[
            *(
                {
                    "name": f"f{t}",
                    "args": [f"A{t}(X)", f"H{t}", "E"],
                    "table": [1, 1, 2, 2, 1, 1, 2, pull],
                }
                for t, pull in zip(numbers, pulls, strict=True)
            ),
            *(
                {"name": f"g{town}", "args": [f"B{town}(X)", f"H{town}"], "table": [2, 1, 2, 1]}
                for town in numbers
            ),
        ],
    )
    odds = [math.exp(many * math.log1p(float((Fraction(pull) - 2) / 4))) for pull in pulls]
    weights = [2.0**towns, math.prod(1 + each for each in odds)]
    expected = (weights[0] / 2 + weights[1] * odds[0] / (1 + odds[0])) / sum(weights)
    assert lifagu.query(model, "H1")["true"] == pytest.approx(expected, rel=1e-11)
    assert lifagu.marginals(model)["H1"]["true"] == pytest.approx(expected, rel=1e-11)
    assert lifagu.query(model, "E")["true"] == pytest.approx(weights[1] / sum(weights), rel=1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_errors_of_many_tables_at_once_stay_below_their_bounds(seed, promise):
    rng = random.Random(seed)
    pool, count = TablePool(), rng.choice([3, 70])
    raw = np.stack([potentials(rng, (2, 3)) for _ in range(2 * count)], axis=-1)
    fine = [fine_logs(raw[..., place]) for place in range(2 * count)]
    tops = [max(each.reshape(-1)) for each in fine]
    fine = [each - top for each, top in zip(fine, tops, strict=True)]
    numbers, weight = pool.add_given(raw, np.ones(2 * count, dtype=np.int64))
    assert abs(weight - sum(tops)) <= Decimal("1e-9")
    for number, digits in zip(numbers.tolist(), fine, strict=True):
        assert_within(pool.made(number), digits)
    starts, often = (
        2 * np.arange(count + 1),
        np.array([rng.randint(1, 5) for _ in range(2 * count)]),
    )
    orders, many = np.tile([0, 1], (2 * count, 1)), np.ones(count, dtype=np.int64)
    sums, _ = pool.add_sums(Sums(starts, numbers, orders, often), many)
    labels = numbers.reshape(count, 2)
    blocks, _, _ = pool.add_blocks([(0, 1), (0, 1)], labels, (2, 3), 1, many, False)
    for place in range(count):
        first, second = fine[2 * place], fine[2 * place + 1]
        total = first * int(often[2 * place]) + second * int(often[2 * place + 1])
        assert_within(pool.made(int(sums[place])), total - max(total.reshape(-1)))
        weights = [sum((first[i, j] + second[i, j]).exp() for i in range(2)) for j in range(3)]
        logs = np.array(
            [each.ln() if each else Decimal("-Infinity") for each in weights], dtype=object
        )
        assert_within(pool.made(int(blocks[place])), logs - max(logs))
