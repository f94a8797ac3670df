"""Neighbouring bins are alike: the prior is a proper one, and pays off where they really are."""

from dataclasses import replace

import numpy as np
import pytest

from lifagu.learning import neighbours
from lifagu.learning.composite import Composite
from lifagu.learning.minimising import dot
from lifagu.learning.neighbours import along_axes, by_parameters, mixings_of, neighbours_alike
from lifagu.learning.parameters import Parameters
from lifagu.relational.learning_task import LearningTask
from support.learning_tasks import cells, table


@pytest.mark.parametrize(("ordered", "size"), [(3, 3), (5, 6), (15, 15), (12, 13)])
def test_labels_have_covariances_that_fall_with_their_distance(ordered, size):
    root = neighbours_alike(ordered, size)
    found = root.T @ root
    assert np.trace(found) == pytest.approx(size)
    differences = [
        found[0, 0] + found[step, step] - 2 * found[0, step] for step in range(1, ordered)
    ]
    assert np.all(np.diff(differences) > -0.05)
    assert differences[0] < differences[-1]
    if size > ordered:  # not having been observed is like no bin
        assert found[-1].tolist() == pytest.approx([*np.zeros(ordered), 1.0])


def test_labels_in_no_order_stay_as_they_are():
    assert neighbours_alike(0, 5) is None
    assert neighbours_alike(2, 2) is None


def two_numbers(random, rows=300, bins=8, ordered=8):
    one = random.integers(bins, size=rows)
    other = np.clip(one + random.integers(-2, 3, size=rows), 0, bins - 1)
    both = [
        replace(cells(name, values.tolist(), bins), ordered=ordered)
        for name, values in (("One", one), ("Other", other))
    ]
    at = np.arange(rows)
    return LearningTask(tuple(both), (table("pair", (0, at), (1, at)),), asked=frozenset({0, 1}))


def test_derivatives_by_parameters_are_those_of_differences():
    task = two_numbers(np.random.default_rng(0))
    parameters = Parameters.of(task, (0,)).smoothed
    composite = Composite.of(parameters, [each.values for each in task.relations])
    random = np.random.default_rng(1)
    at, way = random.normal(size=(2, parameters.size)) * 0.3
    ahead, behind = (composite.value_and_gradient(at + step * way)[0] for step in (1e-5, -1e-5))
    slope = dot(composite.value_and_gradient(at)[1], way)
    assert slope == pytest.approx((ahead - behind) / 2e-5, rel=1e-5)


def test_matrices_along_axes_and_back_are_adjoint():
    task, random = two_numbers(np.random.default_rng(0)), np.random.default_rng(2)
    mixings = mixings_of(task, task.tables[0])
    first, second = random.normal(size=(2, 4, 8, 8))
    there = float((along_axes(first, mixings) * second).sum())
    assert there == pytest.approx(float((first * by_parameters(second, mixings)).sum()))
    back = [neighbours.inverse(each) for each in mixings]
    assert along_axes(along_axes(first, mixings), back) == pytest.approx(first)
