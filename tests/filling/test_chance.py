"""What is hardly better than a guess: by hand, and by the laws such a judgement must obey."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifagu.filling.chance import is_guess


@pytest.mark.parametrize(
    ("agreeing", "candidates", "tables", "expected"),
    [
        (2, 54, 53, True),  # a factory's machines
        (3, 1128, 1116, True),  # lecturers
        (2, 5, 4, True),
        (1, 2, 2, True),  # a coin
        (1, 4, 4, True),
        (10, 20, 2, True),
        (2, 3, 2, False),
        (4, 6, 2, False),
        (40, 100, 4, False),
        (5, 5, 1, False),
        (1, 1, 1, False),
        (53, 54, 2, False),
    ],
)
def test_by_hand(agreeing, candidates, tables, expected):
    assert bool(is_guess(agreeing / candidates, tables, candidates)) is expected


@pytest.mark.parametrize(
    ("posterior", "tables", "expected"),
    [(0.3, 4, True), (0.5, 2, True), (0.6, 2, False), (0.6, 50, False), (1.0, 1, False)],
)
def test_a_posterior_needs_no_candidates(posterior, tables, expected):
    assert bool(is_guess(posterior, tables)) is expected


@given(st.integers(2, 60), st.integers(2, 60))
def test_more_agreement_is_never_more_of_a_guess(tables, more):
    candidates = tables + more
    agreeing = np.arange(1, candidates - tables + 2)
    found = is_guess(agreeing / candidates, tables, candidates)
    assert (np.diff(found.astype(int)) <= 0).all()
    # blind choice is one, and few candidates are never surer than many with the same share
    assert is_guess(1 / tables, tables, candidates)
    many = is_guess(agreeing / candidates, tables, 1000 * candidates)
    assert (found | ~many)[agreeing * tables >= candidates].all()


@given(st.integers(5, 200), st.data())
def test_two_of_five_or_more_are_a_guess(candidates, data):
    tables = data.draw(st.integers((candidates + 1) // 2, candidates - 1))
    assert is_guess(2 / candidates, tables, candidates)
