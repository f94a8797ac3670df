"""The ground engine against enumeration: sums, maxima, factor marginals, extremes, plans."""

import math
from itertools import product

import numpy as np
import pytest

from lifagu.inference import elimination, maximisation
from lifagu.inference.barren import constant_sum, find_barren, peel_rows
from lifagu.inference.connected_part import Part
from lifagu.inference.plan import ORDERS, make_plan
from lifagu.inference.table import FEW, SAFE, Table, contract, log_sum, log_values, ratio, settle

SEEDS = range(300)


def quietly(amount):
    pass


def make_part(sizes, factors):
    """A part from sizes (list) and (scope, potentials) pairs."""
    with np.errstate(divide="ignore"):
        logs = tuple(
            (
                tuple(scope),
                np.log(np.asarray(table, dtype=float)).reshape([sizes[each] for each in scope]),
            )
            for scope, table in factors
        )
    return Part(tuple(range(len(sizes))), dict(enumerate(sizes)), logs)


def random_part(seed):
    """Up to seven variables of one to four values; zeros, constants, equal scopes, in pieces."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    sizes = rng.choice([1, 2, 2, 2, 3, 3, 4], count).tolist()
    spread = rng.choice([1, 1, 20, 250, 2000])
    zeros = rng.choice([0, 0, 0.3])
    factors = []
    for _ in range(int(rng.integers(0, 2 * count))):
        scope = tuple(rng.permutation(count)[: rng.integers(0, min(count, 4) + 1)].tolist())
        if factors and rng.random() < 0.2:
            scope = factors[-1][0]
        shape = [sizes[each] for each in scope]
        logs = spread * rng.normal(size=shape)
        if scope and rng.random() < 0.3:
            logs = logs - log_sum(logs, axis=0)  # a conditional distribution
        factors.append((scope, np.where(rng.random(shape) < zeros, -np.inf, logs)))
    return Part(tuple(range(count)), dict(enumerate(sizes)), tuple(factors))


def enumerated(part, questions):
    """log Z, and the log weights of each question's values, from those of all assignments."""
    shape = [part.sizes[each] for each in part.variables]
    logs, grid = np.zeros(shape), np.indices(shape, sparse=True)
    for scope, table in part.factors:
        logs = logs + table[tuple(grid[each] for each in scope)]
    found = []
    for question in [(), *questions]:
        asked = np.moveaxis(logs, question, range(len(question)))
        sizes = [shape[each] for each in question]
        found.append(np.logaddexp.reduce(asked.reshape(*sizes, -1), axis=-1))
    return float(found[0]), found[1:]


def assert_same_logs(found, expected):
    """Equal up to a scale, each entry relative to itself, so that tiny probabilities count too."""
    found, expected = found - log_sum(found), expected - log_sum(expected)
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = ~np.isneginf(expected)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-9, atol=1e-9)


def check_questions(part, questions):
    log_z, tables = elimination.run(
        part, elimination.plan(part, questions, str), questions, quietly
    )
    expected_log, expected = enumerated(part, questions)
    assert log_z == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    assert len(tables) == len(questions)
    for question, table, other in zip(questions, tables, expected, strict=True):
        assert table.shape == tuple(part.sizes[each] for each in question)
        if expected_log > -math.inf:
            assert_same_logs(table, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_marginals_equal_enumeration(seed):
    part = random_part(seed)
    rng = np.random.default_rng(seed)
    singles = [(variable,) for variable in part.variables]
    some = [tuple(rng.permutation(part.variables)[: rng.integers(1, 4)].tolist()) for _ in range(3)]
    check_questions(part, [])
    check_questions(part, singles)
    check_questions(part, list(dict.fromkeys([*singles, *some])))
    for question in some:
        check_questions(part, [question])


def factor_marginals(part):
    """log Z, and the joint log marginal of each factor's arguments, asked as a question."""
    asked = list(
        dict.fromkeys(
            [*((variable,) for variable in part.variables), *(scope for scope, _ in part.factors)]
        )
    )
    log_z, tables = elimination.run(part, elimination.plan(part, asked, str), asked, quietly)
    found = dict(zip(asked, tables, strict=True))
    if log_z == -math.inf:
        return log_z, [
            np.full([part.sizes[each] for each in scope], -np.inf) for scope, _ in part.factors
        ]
    return log_z, [found[scope] - log_sum(found[scope]) for scope, _ in part.factors]


@pytest.mark.parametrize("seed", SEEDS)
def test_factor_marginals_equal_enumeration(seed):
    part = random_part(seed)
    scopes = [scope for scope, _ in part.factors]
    expected_log, expected = enumerated(part, scopes)
    log_z, tables = factor_marginals(part)
    assert log_z == pytest.approx(expected_log, rel=1e-9, abs=1e-9)
    for scope, table, other in zip(scopes, tables, expected, strict=True):
        assert table.shape == tuple(part.sizes[each] for each in scope)
        assert not np.isnan(table).any()
        if expected_log > -math.inf:
            assert float(log_sum(table)) == pytest.approx(0, abs=1e-12)
            assert_same_logs(table, other)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_assignment_equals_enumeration(seed):
    part = random_part(seed)
    weights = {}
    for values in product(*(range(size) for size in part.sizes.values())):
        weights[values] = math.fsum(
            float(logs[tuple(values[each] for each in scope)]) for scope, logs in part.factors
        )
    best, assignment = maximisation.map_part(part, maximisation.plan(part), quietly)
    assert best == pytest.approx(max(weights.values()), rel=1e-12, abs=1e-12)
    assert list(assignment) == list(part.variables)
    assert weights[tuple(assignment.values())] == pytest.approx(best, rel=1e-12, abs=1e-12)


def test_equally_good_values_go_to_the_lowest():
    part = make_part([3, 2, 3], [((0, 1), [1, 1, 2, 2, 2, 2]), ((1, 2), np.ones(6))])
    assert maximisation.map_part(part, maximisation.plan(part), quietly) == (
        math.log(2),
        {0: 1, 1: 0, 2: 0},
    )
    impossible = make_part([2], [((0,), [0, 1]), ((0,), [1, 0])])
    assert maximisation.map_part(impossible, maximisation.plan(impossible), quietly)[0] == -math.inf


def random_grid(rows, columns, size=2, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        *zip(cells[:, :-1].flat, cells[:, 1:].flat, strict=True),
        *zip(cells[:-1].flat, cells[1:].flat, strict=True),
    ]
    factors = [((int(a), int(b)), np.exp(spread * rng.normal(size=size * size))) for a, b in pairs]
    return make_part([size] * cells.size, factors)


@pytest.mark.parametrize(
    ("spread", "size", "rows"), [(1, 2, 11), (1, 3, 7), (40, 2, 10), (100, 2, 9)]
)
def test_large_tables_of_every_layout_agree(spread, size, rows):
    """Beyond enumeration: all orders, single questions, the walk back and log space agree."""
    part = random_grid(rows, rows, size, spread=spread)
    questions = [(variable,) for variable in part.variables]
    all_plan = elimination.plan(part, questions, str)
    log_z, tables = elimination.run(part, all_plan, questions, quietly)
    assert all_plan.largest > FEW
    for variable in (0, 5, rows * rows // 2, rows * rows - 1):
        one_log, (table,) = elimination.run(
            part, elimination.plan(part, [(variable,)], str), [(variable,)], quietly
        )
        assert one_log == pytest.approx(log_z, rel=1e-12)
        assert_same_logs(tables[variable], table)
    for (scope, _), table in zip(part.factors, factor_marginals(part)[1], strict=True):
        assert_same_logs(log_sum(table, axis=1), tables[scope[0]])
        assert_same_logs(log_sum(table, axis=0), tables[scope[1]])


def test_numbers_far_apart_lose_nothing():
    factors = [
        ((0, 1), [1e300, 1e-300, 1e-300, 1e300]),
        ((1, 2), [1e-300, 1, 1, 1e300]),
        ((2, 3), [1, 1e-300, 0, 1]),
    ]
    part = make_part([2] * 4, factors * 3)
    check_questions(part, [(variable,) for variable in range(4)])
    check_questions(part, [(0, 3)])
    check_questions(part, [(0, 3), (1, 2), (0, 1, 2, 3)])


@pytest.mark.parametrize(
    "table", [[2, 1, 1, 3], [1e-300, 2e-300, 3e-300, 1e-300], [1, 1e-200, 1e-200, 1], [1, 0, 0, 1]]
)
def test_long_chains_equal_the_power_of_a_matrix(table):
    length = 4000
    part = make_part([2] * length, [((each, each + 1), table) for each in range(length - 1)])
    matrix, log_z = np.array(table, dtype=float).reshape(2, 2), 0.0
    sums = np.ones(2)
    for _ in range(length - 1):
        sums = matrix @ sums
        log_z += math.log(sums.max())
        sums /= sums.max()
    log_z += math.log(sums.sum())
    questions = [(0,), (length // 2,), (length - 1,)]
    found, tables = elimination.run(
        part, elimination.plan(part, questions, str), questions, quietly
    )
    assert found == pytest.approx(log_z, rel=1e-9)
    assert_same_logs(tables[0], np.log(sums))
    single, (alone,) = elimination.run(
        part, elimination.plan(part, questions[1:2], str), questions[1:2], quietly
    )
    assert single == pytest.approx(log_z, rel=1e-9)
    assert_same_logs(alone, tables[1])


def test_a_log_probability_of_minus_a_million():
    length = 3000
    rows = [((each, each + 1), [1, 0, 0, 1e-200]) for each in range(length - 1)]
    part = make_part([2] * length, rows)
    for questions in ([(7,)], [(7,), (length - 1,)]):
        _, tables = elimination.run(
            part, elimination.plan(part, questions, str), questions, quietly
        )
        for table in tables:
            assert table[1] - table[0] == pytest.approx((length - 1) * math.log(1e-200), rel=1e-12)


def test_tables_in_plain_numbers_and_in_logs_are_the_same_algebra():
    rng = np.random.default_rng(5)
    for _ in range(100):
        logs = [
            rng.normal(scale=rng.choice([1, 100]), size=shape) for shape in ((2, 3), (3, 4), (2, 4))
        ]
        plain = [
            settle(Table(ranks, log, -math.inf, math.inf, True))
            for ranks, log in zip(((7, 2), (2, 9), (7, 9)), logs, strict=True)
        ]
        drop = [each for each in (2, 7, 9) if rng.random() < 0.5]
        result, scale = contract([table for table, _ in plain], drop)
        total = logs[0][:, :, None] + logs[1][None] + logs[2][:, None]
        expected = (
            log_sum(total, axis=tuple(axis for axis, rank in enumerate((7, 2, 9)) if rank in drop))
            if drop
            else total
        )
        order = [result.ranks.index(each) for each in (7, 2, 9) if each in result.ranks]
        found = log_values(result).transpose(order) + scale + sum(each for _, each in plain)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)


def test_bounds_of_plain_tables_hold():
    table = Table((0, 1), np.array([[0.0, 1e-250], [1e250, 3.0]]), -600.0, 600.0)
    settled, scale = settle(table)
    assert settled.logs
    assert scale == pytest.approx(math.log(1e250))
    assert settle(Table((0,), np.zeros(2), -SAFE, SAFE))[0].values.tolist() == [0, 0]
    quotient = ratio(
        Table((0, 1), np.array([[0.0, 1.0], [2.0, 3.0]]), 0.0, 2.0),
        Table((1, 0), np.array([[0.0, 4.0], [1.0, 2.0]]), 0.0, 2.0),
    )
    assert quotient.values.tolist() == [[0.0, 1.0], [0.5, 1.5]]


def network(seed, count=12):
    """A random Bayesian network, tables normalised; its last variables tend to be leaves."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, count).tolist()
    factors = []
    for child in range(count):
        parents = rng.permutation(child)[: rng.integers(0, 3)].tolist()
        table = rng.dirichlet(
            np.ones(sizes[child]), size=math.prod([sizes[each] for each in parents])
        )
        factors.append(((*parents, child), table))
    return make_part(sizes, factors)


@pytest.mark.parametrize("seed", range(30))
def test_barren_variables_are_dropped_and_change_nothing(seed):
    part = network(seed, 8)
    for variable in part.variables:
        ancestors = {variable}
        for child in reversed(part.variables):
            if child in ancestors:
                ancestors.update(part.factors[child][0])
        assert set(find_barren(part, {variable}).variables) == set(part.variables) - ancestors
        check_questions(part, [(variable,)])
    assert find_barren(part, set()).variables == part.variables
    assert elimination.run(part, elimination.plan(part, [], str), [], quietly)[0] == pytest.approx(
        0, abs=1e-12
    )
    check_questions(part, [(0,), (3,), (3, 1)])


@pytest.mark.parametrize("seed", range(60))
def test_peeling_many_rows_at_once_finds_the_same(seed):
    part = network(seed, 20) if seed % 2 else random_part(seed)
    rng = np.random.default_rng(seed)
    asked = set(rng.choice(part.variables, rng.integers(0, 3)).tolist())
    places = {}
    for place, (scope, _) in enumerate(part.factors):
        places.setdefault(len(scope), []).append(place)
    blocks = [
        (
            np.array([part.factors[place][0] for place in group], dtype=np.int64).reshape(
                len(group), arity
            ),
            np.array(group),
        )
        for arity, group in places.items()
    ]
    fixed = np.isin(part.variables, list(asked))

    def constant(label, slot):
        variable = part.factors[label][0][slot]
        table = part.tables[label]
        found = constant_sum(table, variable) if variable in table.ranks else None
        return np.nan if found is None else found

    peeled = peel_rows(
        blocks, fixed, lambda labels, slot: np.array([constant(label, slot) for label in labels])
    )
    if 1 not in part.sizes.values():
        expected = find_barren(part, asked)
        free = set(part.variables) - {
            each
            for place, (scope, _) in enumerate(part.factors)
            if place not in expected.factors
            for each in scope
        }
        dropped = {
            place
            for group, gone in zip(places.values(), peeled.dropped, strict=True)
            for place, out in zip(group, gone, strict=True)
            if out
        }
        assert dropped == expected.factors
        assert set(np.flatnonzero(peeled.gone).tolist()) <= set(expected.variables)
        still = [each for each in free - asked if not peeled.gone[each]]
        assert peeled.log_constant + math.fsum(
            math.log(part.sizes[each]) for each in still
        ) == pytest.approx(expected.log_constant, abs=1e-12)


def test_sums_that_only_nearly_agree_are_not_dropped():
    part = make_part([2, 2], [((0,), [1, 1]), ((0, 1), [0.5, 0.5, 0.5, 0.5 + 1e-12])])
    assert find_barren(part, {0}).variables == ()
    assert find_barren(make_part([2, 2], [((0, 1), [0.3, 0.7, 0.9, 0.1])]), {0}).variables == (1,)
    assert find_barren(make_part([2, 2], [((0, 1), [0, 0, 0, 0])]), {0}).variables == ()


def test_the_plan_says_what_it_drops():
    part = network(3)
    plan = elimination.plan(part, [(0,)], "v{}".format)
    assert str(plan).startswith(
        "drop 11 variables that cannot matter, eliminate 0 variables in min-weight order, keep v0"
    )


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_orders_eliminate_everything_once_with_true_neighbours(order):
    rng = np.random.default_rng(2)
    for _ in range(20):
        scopes = [tuple(rng.permutation(15)[: rng.integers(1, 5)].tolist()) for _ in range(20)]
        sizes = {variable: int(rng.integers(2, 5)) for variable in range(15)}
        near = {
            variable: {each for scope in scopes if variable in scope for each in scope} - {variable}
            for variable in sizes
        }
        mirror = {variable: set(around) for variable, around in near.items()}
        seen = []
        for variable, around in order(
            {each: set(others) for each, others in near.items()}, sizes, {4}
        ):
            seen.append(variable)
            assert around == mirror[variable]
            joined = mirror.pop(variable)
            for each in joined:
                mirror[each] = (mirror[each] | joined) - {variable, each}
        assert sorted(seen) == [each for each in range(15) if each != 4]


def test_min_fill_always_takes_a_variable_that_joins_the_fewest():
    part = random_grid(6, 6)
    near = {variable: set() for variable in part.variables}
    for scope, _ in part.factors:
        near[scope[0]].add(scope[1])
        near[scope[1]].add(scope[0])
    mirror = {variable: set(around) for variable, around in near.items()}

    def missing(variable):
        return sum(b not in mirror[a] for a in mirror[variable] for b in mirror[variable] if a < b)

    for variable, _ in ORDERS["min-fill"](near, part.sizes, ()):
        assert missing(variable) == min(map(missing, mirror))
        joined = mirror.pop(variable)
        for each in joined:
            mirror[each] = (mirror[each] | joined) - {variable, each}


def test_plans_are_the_same_every_time_and_whatever_the_order_of_factors():
    part = random_grid(9, 9)
    scopes = [scope for scope, _ in part.factors]
    first = make_plan(scopes, part.sizes)
    assert first.steps == make_plan(scopes[::-1], part.sizes).steps
    assert first.method == make_plan(scopes[::-1], part.sizes).method
    assert first.total < 81 * 2**11


def test_progress_adds_up_to_the_total():
    for questions in ([], [(0,)], [(0,), (5,), (5, 9)]):
        part = network(8)
        amounts = []
        plan = elimination.plan(part, questions, str)
        elimination.run(part, plan, questions, amounts.append)
        assert sum(amounts) == plan.total
