"""Labels whose deviations go together: planted, and found again."""

import dataclasses

import numpy as np
import pytest

from lifagu.learning import parameters as blocks
from lifagu.learning.choosing import chosen
from lifagu.learning.composite import Composite
from lifagu.learning.covariances import covariance, square_root, telling
from lifagu.learning.parameters import Parameters
from lifagu.relational.learning_task import LearningSettings, LearningTask
from support.learning_tasks import cells, table

SLOPE = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # generous groups have more of the last labels


def softmax(logits):
    weights = np.exp(logits)
    return weights / weights.sum(axis=1, keepdims=True)


def planted(deviations, records, seed=0):
    """A relation of which each group has some records, and how likely each label is in it."""
    random = np.random.default_rng(seed)
    truth = softmax(deviations)
    groups = np.repeat(np.arange(len(truth)), records)
    values = [random.choice(len(truth[group]), p=truth[group]) for group in groups]
    rows = np.arange(len(values))
    task = LearningTask(
        (cells("Rating", values, truth.shape[1]),),
        (table("by group", (0, rows), groups=groups.tolist()),),
        asked=frozenset({0}),
    )
    return task, truth


def cross_entropy(task, truth):
    """How well the learned tables tell new records of the groups, less what is possible."""
    parameters = Parameters.of(task, (0,))
    found = chosen(parameters, LearningSettings(), {})
    learned = softmax(parameters.stack(found.vector, 0)[1:])
    return float((truth * np.log(truth / learned)).sum(axis=1).mean())


def test_groups_with_few_records_are_told_better_where_labels_go_together(monkeypatch):
    generous = np.random.default_rng(1).normal(size=(250, 1))
    task, truth = planted(generous * SLOPE, records=8)
    together = cross_entropy(task, truth)
    monkeypatch.setattr(blocks, "MIXED", (99, 0))
    assert together < 0.7 * cross_entropy(task, truth)


@pytest.mark.parametrize("groups", [4, 12, 120])
def test_little_is_lost_where_labels_do_not_go_together(monkeypatch, groups):
    deviations = np.random.default_rng(2).normal(size=(groups, 4)) * 0.7
    task, truth = planted(deviations, records=12)
    together = cross_entropy(task, truth)
    monkeypatch.setattr(blocks, "MIXED", (99, 0))
    assert together < cross_entropy(task, truth) + 0.005


def test_the_covariance_is_that_of_the_groups():
    random = np.random.default_rng(3)
    wanted = 0.8 * np.outer(SLOPE, SLOPE) + 0.05 * np.eye(5)
    deviations = random.multivariate_normal(np.zeros(5), wanted, 400)
    deviations -= deviations.mean(axis=1, keepdims=True)
    counts = 1000 * softmax(deviations)
    found = covariance(deviations, counts, np.zeros_like(counts), np.eye(5))
    flat = np.eye(5) - 0.2
    assert flat @ found @ flat == pytest.approx(deviations.T @ deviations / 400, abs=0.05)


def test_of_a_few_groups_labels_are_taken_to_be_nearly_independent():
    counts = np.full((1, 4), 2.0)
    found = covariance(np.zeros((1, 4)), counts, np.array([[1.0, -1, 1, -1]]), 0.5 * np.eye(4))
    values = np.linalg.eigvalsh(found)
    assert values[-1] < 1.5 * values[0]


def test_groups_of_one_or_two_records_do_not_tell_how_labels_go_together():
    assert telling(np.full((50, 4), 0.5)).tolist() == []
    assert telling(np.full((3, 4), 5.0)).tolist() == []
    assert telling(np.full((4, 4), 1.0)).tolist() == [0, 1, 2, 3]


def test_the_derivative_of_mixed_parameters_is_that_of_differences():
    random = np.random.default_rng(4)
    task, _ = planted(random.normal(size=(6, 3)), records=5)
    spread = random.normal(size=(3, 3))
    parameters = Parameters.of(task, (0,)).mixed(square_root(spread @ spread.T).reshape(-1))
    composite = Composite.of(parameters, [each.values for each in task.relations])
    vector, step = random.normal(size=parameters.size), 1e-5
    _, slope = composite.value_and_gradient(vector)
    for place in range(parameters.size):
        move = step * (np.arange(parameters.size) == place)
        ahead, behind = (composite.value_and_gradient(vector + by)[0] for by in (move, -move))
        assert slope[place] == pytest.approx((ahead - behind) / (2 * step), abs=1e-5)
    plain = dataclasses.replace(composite, parameters=Parameters.of(task, (0,)))
    assert plain.losses(parameters.unmixed(vector))[0] == pytest.approx(composite.losses(vector)[0])
