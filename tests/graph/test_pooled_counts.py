"""Tables of groups drawn to a common one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lifagu.basics.log_gamma import digamma
from lifagu.graph.pooled_counts import pooled

SHARES = np.array([0.5, 0.3, 0.15, 0.05])


def _flat(groups: int) -> np.ndarray:
    return np.concatenate(([-1], np.zeros(groups, dtype=np.int64)))


def _counted(scale: float, groups: int, records: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    tables = random.dirichlet(scale * SHARES, groups)
    return np.vstack((np.zeros(4), random.multinomial(records, tables))).astype(float)


@pytest.mark.parametrize("scale", [2.0, 20.0, 100.0])
def test_the_scale_that_groups_were_drawn_with_is_found(scale: float) -> None:
    found = pooled(_counted(scale, 1000, 60), (4,), (), _flat(1000))
    assert found.scales[0] == pytest.approx(scale, rel=0.15)
    assert found.stack[0] == pytest.approx(SHARES, abs=0.02)
    assert found.spreads[0] == pytest.approx(math.sqrt(3 / found.scales[0]))


def test_groups_that_do_not_differ_share_one_table() -> None:
    random = np.random.default_rng(1)
    counts = np.vstack((np.zeros(4), random.multinomial(10, SHARES, 50))).astype(float)
    found = pooled(counts, (4,), (), _flat(50))
    assert found.scales == (np.inf,)
    assert found.spreads == (0.0,)
    assert (found.stack == found.stack[0]).all()
    assert found.stack[0] == pytest.approx((counts.sum(axis=0) + 1) / 504)


def test_without_records_a_group_has_exactly_what_stands_above_it() -> None:
    counts = _counted(5.0, 40, 30)
    counts[7] = 0
    # below group 8: one with records, one without
    counts = np.vstack((counts, [[9.0, 0, 0, 1]], np.zeros((1, 4))))
    found = pooled(counts, (4,), (), np.concatenate((_flat(40), [8, 8])))
    assert np.array_equal(found.stack[7], found.stack[0])
    assert np.array_equal(found.stack[42], found.stack[8])
    assert len(found.scales) == 2


def test_given_axes_are_pooled_apart_and_sum_to_one() -> None:
    random = np.random.default_rng(2)
    counts = random.integers(0, 30, (21, 3, 2, 2)).astype(float)
    counts[4, :, 1] = 0  # this group was never seen under the second condition
    found = pooled(counts.reshape(21, -1), (3, 2, 2), (1,), _flat(20))
    stack = found.stack.reshape(21, 3, 2, 2)
    assert stack.sum(axis=(1, 3)) == pytest.approx(np.ones((21, 2)))
    assert np.array_equal(stack[4, :, 1], stack[0, :, 1])
    assert not np.allclose(stack[4, :, 0], stack[0, :, 0])


def test_levels_are_nested() -> None:
    random = np.random.default_rng(3)
    hospitals = random.dirichlet(10 * SHARES, 80)
    wards = np.vstack([random.dirichlet(40 * each, 10) for each in hospitals])
    counts = np.vstack((np.zeros((81, 4)), random.multinomial(25, wards))).astype(float)
    above = np.concatenate((_flat(80), 1 + np.repeat(np.arange(80), 10)))
    found = pooled(counts, (4,), (), above)
    assert found.scales == pytest.approx((10, 40), rel=0.3)
    shares = counts[81:] / 25
    assert np.abs(found.stack[81:] - wards).mean() < 0.7 * np.abs(shares - wards).mean()


def test_more_records_let_a_group_be_itself() -> None:
    few, many = _counted(5.0, 40, 5), _counted(5.0, 40, 5000)
    for counts, least, most in ((few, 0.0, 0.8), (many, 0.99, 1.0)):
        found = pooled(counts, (4,), (), _flat(40))
        own = counts[1:].sum(axis=1) / (counts[1:].sum(axis=1) + found.scales[0])
        assert (least <= own).all()
        assert (own <= most).all()


def test_nothing_counted_is_the_prior() -> None:
    assert (pooled(np.zeros((3, 4)), (4,), (), _flat(2)).stack == 0.25).all()
    skewed = pooled(np.zeros((1, 4)), (4,), (), np.array([-1]), np.array([1.0, 1, 1, 5]))
    assert skewed.stack[0, 3] == 0.625
    assert skewed.scales == ()


def test_digamma_is_the_slope_of_log_gamma() -> None:
    points = np.array([1e-3, 0.2, 1.0, 7.5, 1e5])
    slopes = [
        (math.lgamma(x * (1 + 1e-6)) - math.lgamma(x * (1 - 1e-6))) / (2e-6 * x) for x in points
    ]
    assert digamma(points) == pytest.approx(np.array(slopes), rel=1e-5)
