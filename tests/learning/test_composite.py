"""The composite likelihood against plain loops, and its derivative against differences."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifagu.basics import added_rows
from lifagu.learning.composite import Composite
from lifagu.learning.parameters import Parameters
from lifagu.learning.scales import Multipliers, first_fit, multiplied, with_scales
from lifagu.relational.learning_task import LearningTask
from support.learning_tasks import cells, table, tasks


def asked_of_all(task):
    return dataclasses.replace(task, asked=frozenset(range(len(task.relations))))


def by_loops(parameters, vector, values):
    """The loss of every observed cell, one after the other."""
    task, entries, total = parameters.task, parameters.entries(vector), 0.0
    for relation, known in enumerate(task.relations):
        for cell in np.flatnonzero(values[relation] >= 0).tolist():
            logits = np.zeros(len(known.labels))
            for part in parameters.parts:
                slots, array = task.tables[part.table].slots, entries[part.entries]
                for row in range(len(task.tables[part.table])):
                    group = 0 if part.of_row is None else part.of_row[row]
                    labels = [values[slots[a].relation][slots[a].cells[row]] for a in part.axes]
                    for place, axis in enumerate(part.axes):
                        others = [label for at, label in enumerate(labels) if at != place]
                        mine = slots[axis].relation == relation and slots[axis].cells[row] == cell
                        if mine and group >= 0 and min(others, default=0) >= 0:
                            logits += np.moveaxis(array[group], place, -1)[tuple(others)]
            for fixed in task.fixed:
                logits += fixed_logs(task, fixed, relation, cell, values)
            total += np.log(np.exp(logits - logits.max()).sum()) + logits.max()
            total -= logits[values[relation][cell]]
    return total


def fixed_logs(task, fixed, relation, cell, values):
    found = np.zeros(len(task.relations[relation].labels))
    for row, number in enumerate(fixed.table_of.tolist()):
        labels = [values[slot.relation][slot.cells[row]] for slot in fixed.slots]
        for place, slot in enumerate(fixed.slots):
            others = [label for at, label in enumerate(labels) if at != place]
            mine = slot.relation == relation and slot.cells[row] == cell
            if mine and number >= 0 and min(others, default=0) >= 0:
                potentials = fixed.tables[number].reshape(task.shape(fixed))
                chosen = np.moveaxis(potentials, place, -1)[tuple(others)]
                found += np.where(chosen > 0, np.log(np.maximum(chosen, 1e-300)), -700.0)
    return found


def random_task(seed):
    """Pairs, a table of three, one by group, a conditional one by group, and a relation twice."""
    random = np.random.default_rng(seed)

    def some(size):
        return np.where(random.random(12) < 0.3, -1, random.integers(0, size, 12))

    every, friend = np.arange(12), random.permutation(12)
    far = every[friend != every]
    return LearningTask(
        (cells("A", some(2), 2), cells("B", some(3), 3), cells("C", some(4), 4)),
        (
            table("ab", (0, every), (1, every)),
            table("abc", (0, every), (1, every), (2, friend)),
            table("a", (0, every), groups=random.integers(-1, 3, 12).tolist()),
            table("b to c", (1, every), (2, every), given=(0,), groups=(every % 3).tolist()),
            table("friends", (0, far), (0, friend[far])),
        ),
        asked=frozenset({0, 1, 2}),
    )


@settings(max_examples=60)
@given(tasks(), st.integers(0, 2**32 - 1))
def test_the_loss_is_what_plain_loops_find(drawn, seed):
    task = asked_of_all(drawn[0])
    if not task.tables:
        return
    parameters = Parameters.of(task, range(len(task.tables)))
    vector = np.random.default_rng(seed).normal(size=parameters.size)
    values = [each.values for each in task.relations]
    composite = Composite.of(parameters, values)
    reached = {told.relation for told in composite.told}
    seen = [v if r in reached else np.full_like(v, -1) for r, v in enumerate(values)]
    told = sum(float(each.sum()) for each in composite.losses(vector))
    hidden_elsewhere = [np.array_equal(a, b) for a, b in zip(seen, values, strict=True)]
    if all(hidden_elsewhere):
        assert told == pytest.approx(by_loops(parameters, vector, values), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_derivative_is_that_of_differences(seed):
    task = random_task(seed)
    parameters = Parameters.of(task, range(len(task.tables)))
    composite = Composite.of(parameters, [each.values for each in task.relations])
    vector = np.random.default_rng(seed).normal(size=parameters.size) / 2
    loss, gradient = composite.value_and_gradient(vector)
    assert loss == pytest.approx(by_loops(parameters, vector, [r.values for r in task.relations]))
    for place in range(parameters.size):
        step = np.zeros(parameters.size)
        step[place] = 1e-4
        near = [composite.value_and_gradient(vector + k * step)[0] for k in (-2, -1, 1, 2)]
        slope = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / 12e-4
        assert gradient[place] == pytest.approx(slope, rel=1e-8, abs=1e-8)


def test_conditional_tables_sum_to_one_whatever_the_parameters():
    task = random_task(0)
    parameters = Parameters.of(task, range(len(task.tables)))
    vector = np.random.default_rng(0).normal(size=parameters.size)
    stack = np.exp(parameters.stack(vector, 3))
    assert stack.shape == (4, 3, 4)
    assert stack.sum(axis=2) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_sums_are_the_same(seed, monkeypatch):
    task = random_task(seed)
    parameters = Parameters.of(task, range(len(task.tables)))
    composite = Composite.of(parameters, [each.values for each in task.relations])
    vector = np.random.default_rng(seed).normal(size=parameters.size)
    loss, gradient = composite.value_and_gradient(vector)
    monkeypatch.setattr(added_rows, "loaded", lambda: None)
    again, plain = composite.value_and_gradient(vector)
    assert again == pytest.approx(loss, rel=1e-12)
    assert plain == pytest.approx(gradient, rel=1e-10, abs=1e-12)


def test_what_is_lost_without_a_table_is_the_loss_with_its_parameters_zero():
    task = random_task(1)
    parameters = Parameters.of(task, range(len(task.tables)))
    composite = Composite.of(parameters, [each.values for each in task.relations])
    vector = np.random.default_rng(1).normal(size=parameters.size)
    whole = composite.value_and_gradient(vector)[0]
    less = vector.copy()
    for block in parameters.blocks:
        if block.table == 0:
            less[block.start : block.stop] = 0.0
    lost = composite.value_and_gradient(less)[0] - whole
    assert composite.losses_without(vector)[0] == pytest.approx(lost)


def test_a_vector_is_found_for_any_potentials():
    task = random_task(2)
    parameters = Parameters.of(task, range(len(task.tables)))
    random = np.random.default_rng(2)
    stacks = [
        np.exp(random.normal(size=(len(each.above), int(np.prod(task.shape(each))))))
        for each in task.tables
    ]
    vector = parameters.vector_of(stacks)
    for number in (0, 1, 2, 4):
        made = parameters.stack(vector, number)
        assert made.reshape(len(made), -1) == pytest.approx(np.log(stacks[number]))


def test_a_table_that_tells_nothing_is_held_back_more_than_one_that_tells_much():
    random = np.random.default_rng(0)
    first = random.integers(0, 3, 600)
    alike = np.where(random.random(600) < 0.8, first, random.integers(0, 3, 600))
    every = np.arange(600)
    task = LearningTask(
        (cells("A", first, 3), cells("B", alike, 3), cells("C", random.integers(0, 3, 600), 3)),
        (table("ab", (0, every), (1, every)), table("ac", (0, every), (2, every))),
        asked=frozenset({0, 1, 2}),
    )
    parameters = Parameters.of(task, (0, 1))
    composite = Composite.of(parameters, [each.values for each in task.relations])
    scaled = with_scales(composite, first_fit(composite))
    ab, ac = (block for block in parameters.blocks if block.kind == "joint")
    assert scaled.penalty[ac.start] > 10 * scaled.penalty[ab.start]
    more = multiplied(parameters, scaled.penalty, Multipliers(joint=2.0))
    assert more[ab.start] == 2 * scaled.penalty[ab.start]
