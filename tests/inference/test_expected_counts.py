"""Expected counts against enumeration, on any small task, and on large ones with closed forms."""

import numpy as np
import pytest
from hypothesis import given

from lifagu.errors import TooLargeError
from lifagu.inference.expected_counts import expectation
from lifagu.relational.learning_task import FixedTables, LearningTask, Slot
from support.learning_tasks import cells, enumerated, random_stacks, table, tasks


def check(task, stacks, observed):
    total, counts = enumerated(task, stacks, observed)
    found = expectation(task)(stacks, observed=observed)
    if total == 0:
        assert np.isneginf(found.log_weight)
        assert not any(each.any() for each in found.counts)
        return
    assert found.log_weight == pytest.approx(np.log(total), rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.counts, counts, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@given(tasks())
def test_counts_are_those_of_enumeration(made):
    task, stacks = made
    check(task, stacks, observed=True)
    check(task, stacks, observed=False)
