"""All tables of a task together: what conditions may not bring about, and how far groups differ."""

from dataclasses import replace

import numpy as np
import pytest

from lifagu.basics.progress import listener
from lifagu.inference.expected_counts import expectation
from lifagu.learning import learn
from lifagu.relational.learning_task import LearningSettings, LearningTask
from support.learning_tasks import cells, table


def learned(task):
    learner = learn.Learner(LearningSettings(), expectation, listener(None))
    return learner.learn(task).tables


def drawn_by_group(random, groups, chances):
    """A label for each row, by its group's chances."""
    return (random.random(len(groups))[:, None] > chances[groups].cumsum(axis=1)[:, :-1]).sum(
        axis=1
    )


def test_a_condition_tells_nothing_beyond_what_groups_tell():
    """Weight and year both go with species, and with nothing else: no table says otherwise."""
    random = np.random.default_rng(5)
    rows, species = np.arange(1500), random.integers(0, 3, 1500)
    chances = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    weight, foot, year = (drawn_by_group(random, species, chances) for _ in range(3))
    weight, foot = (np.where(random.random(1500) < 0.9, each, -1) for each in (weight, foot))
    by_species = {"groups": species.tolist()}
    task = LearningTask(
        (cells("Weight", weight, 3), cells("Foot", foot, 3), cells("Year", year, 3)),
        (
            table("weight", (0, rows), **by_species),
            table("foot", (1, rows), **by_species),
            table("pair", (0, rows), (1, rows)),
            table("year", (0, rows), (2, rows)),
            table("foot and year", (1, rows), (2, rows)),
        ),
        asked=frozenset({0, 1}),
    )
    found = learned(task)
    assert {each.method for each in found} == {"likelihood"}
    assert [each.conditions for each in found] == [(), (), (), (1,), (1,)]
    for each in found[3:]:
        logs = np.log(each.stack.reshape(3, 4)[:, :3])
        logs = logs - logs.mean(axis=0) - (logs - logs.mean(axis=0)).mean(axis=1, keepdims=True)
        assert np.abs(logs).max() < 0.3  # 0.7 if tables had to tell the year of each species


def test_conditions_that_say_the_same_do_not_count_twice():
    """Speed and memory always go together; no table says how often either comes."""
    random = np.random.default_rng(3)
    rows, speed = np.arange(2000), random.integers(0, 3, 2000)
    price = np.where(random.random(2000) < 0.6, speed, random.integers(0, 3, 2000))
    task = LearningTask(
        (cells("Price", price, 3), cells("Speed", speed, 3), cells("Memory", speed, 3)),
        (table("speed", (0, rows), (1, rows)), table("memory", (0, rows), (2, rows))),
        asked=frozenset({0}),
    )
    first, second = (each.stack.reshape(3, -1)[:, :3] for each in learned(task))
    told = (first * second)[:, 0] / (first * second)[:, 0].sum()
    assert told[0] == pytest.approx(np.mean(price[speed == 0] == 0), abs=0.02)  # .73, not .93


@pytest.mark.parametrize("method", ["likelihood", "composite likelihood"])
def test_groups_of_few_records_differ_as_far_as_they_do(method, monkeypatch):
    """Two records of a patient nearly always agree, so that one tells the other."""
    if method == "composite likelihood":
        monkeypatch.setattr(learn, "is_tractable", lambda *_: False)
    random = np.random.default_rng(3)
    patient = np.repeat(np.arange(400), 2)
    rows = np.arange(800)
    age, sex = (random.integers(0, size, 400)[patient] for size in (4, 2))
    age, sex = (np.where(random.random(800) < 0.8, each, -1) for each in (age, sex))
    of_patient = {"groups": patient.tolist()}
    task = LearningTask(
        (cells("Age", age, 4), cells("Sex", sex, 2)),
        (
            table("age", (0, rows), **of_patient),
            table("sex", (1, rows), **of_patient),
            table("pair", (0, rows), (1, rows)),
        ),
        asked=frozenset({0, 1}),
    )
    ages = learned(task)[0]
    assert ages.method == method
    once = np.flatnonzero(ages.records[1:] == 1)
    seen = np.array([age[patient == each].max() for each in once])
    tables = ages.stack[1 + once]
    told = tables[np.arange(len(once)), seen] / tables.sum(axis=1)
    assert told.mean() > 0.85


def three_in_a_row(random, rows):
    """Two pairs that share only a year, which was always observed."""
    year = random.integers(0, 3, len(rows))
    one, two = (np.where(random.random(len(rows)) < 0.7, year, 0) for _ in range(2))
    one, two = (np.where(random.random(len(rows)) < 0.9, each, -1) for each in (one, two))
    return LearningTask(
        (cells("One", one, 3), cells("Year", year, 3), cells("Two", two, 3)),
        (table("first", (0, rows), (1, rows)), table("second", (1, rows), (2, rows))),
        asked=frozenset({0, 2}),
    )


def test_only_what_is_needed_is_learned():
    """What always was observed ties nothing together: tables are the same as if learned alone."""
    task = three_in_a_row(np.random.default_rng(1), np.arange(400))
    both = learned(task)
    first, second = learned(replace(task, needed=frozenset({0})))
    assert second.method == "not needed"
    assert (second.stack == 1).all()
    assert first.stack.tolist() == both[0].stack.tolist()


def test_cells_told_one_by_one_are_learned_by_hidden_cells():
    """Where nothing has to be summed over, both likelihoods are the same."""
    rows = np.arange(400)
    task = three_in_a_row(np.random.default_rng(2), rows)
    more = [table(f"own {n}", (which, rows)) for n in range(2) for which in (0, 2)]
    once = replace(task, tables=(*task.tables, *more))
    assert {each.method for each in learned(once)} == {"composite likelihood"}
    tied = replace(once, tables=(*once.tables, table("both", (0, rows), (2, rows))))
    assert {each.method for each in learned(tied)} == {"likelihood"}
