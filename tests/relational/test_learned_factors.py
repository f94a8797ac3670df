"""Learned tables in many factors: the same as by way of every factor's scope."""

import numpy as np

from lifagu import FactorGraph
from lifagu.graph.supports import Supports, exact, joined
from lifagu.graph.table_support import TableSupport
from lifagu.graph.tables import GivenTables
from lifagu.relational.learned_factors import learned_supports, with_given_tables
from lifagu.relational.learning_task import (
    ArgumentCells,
    LearnedModel,
    LearnedTable,
    LearningTask,
    TableToLearn,
)
from lifagu.relational.loaded import Loaded
from lifagu.relational.shared_arrays import SharedArrays


def graph(support=None) -> FactorGraph:
    """Two given factors, then three without a table over A B, and two over C."""
    return FactorGraph.from_arrays(
        ranges=[["f", "t"], ["t", "f"], ["a", "b", "c"]],
        variable_ranges=[0, 1, 0, 1, 2, 2],
        offsets=[0, 1, 3, 5, 7, 9, 10, 11],
        arguments=[0, 1, 2, 0, 1, 2, 3, 0, 3, 4, 5],
        tables=[[1, 2], [1, 2, 3, 4]],
        factor_tables=[0, 1, -1, -1, -1, -1, -1],
        support=support,
    )


def test_tables_are_put_in_as_by_every_scope():
    subject = graph()
    given = GivenTables(
        np.array([*subject.tables.values, 9.0, 8, 7, 6, 5, 4, 3, 5, 4, 3, 1, 2, 3, 4]),
        np.array([0, 2, 6, 10, 13, 16, 20]),
    )
    for tables in ([2, 5, 2, 3, 4], [5, 2, 2, 4, -1], [-1, -1, 5, 4, 4], [-1] * 5):
        wanted = np.array([*subject.factor_table[:2].tolist(), *tables])
        assert with_given_tables(subject, given, wanted) == subject.refilled(given, wanted)


def test_records_behind_learned_tables_stand_beside_those_of_others():
    cells = np.arange(3)
    pair = TableToLearn("pair", "", (ArgumentCells(0, cells), ArgumentCells(1, cells)), (0,))
    single = TableToLearn("single", "", (ArgumentCells(2, cells[:2]),))
    task = LearningTask((), (pair, single))
    found = LearnedModel(
        (
            LearnedTable("pair", np.ones((1, 4)), np.array([7.0]), "", 1.0),
            LearnedTable("single", np.ones((1, 3)), np.array([5.0]), "", 1.0),
        )
    )
    own = Supports.of([TableSupport((7.0,), (0,)), TableSupport((5.0,))])
    behind = np.array([0, 1, 7, 7, 7, 8, 8])
    estimated = Supports.of([None, TableSupport((20.0, 30.0), (0,), (1.0,)), *[None] * 5])
    for support in (None, estimated):
        loaded = Loaded(graph(support), {}, task=task, learned_at=(2, 5))
        expected = joined([loaded.model.support or exact(7), own]).taken(behind)
        assert learned_supports(loaded, found) == expected


def test_equal_arrays_are_kept_once():
    shared = SharedArrays()
    first, other = shared.one(np.arange(6)), shared.one(np.arange(6).reshape(2, 3))
    assert shared.one(np.arange(12)[:6]) is first
    assert shared.one(np.arange(6).reshape(2, 3)) is other
    assert shared.one(np.arange(6)[::-1]) is not first
