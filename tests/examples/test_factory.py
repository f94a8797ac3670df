"""The example factory: what is learned from its machines, and the template that is written."""

import numpy as np
import pytest

import lifagu
from support.helpers import ROOT

FACTORY = ROOT / "examples/factory.json"


@pytest.fixture(scope="module")
def found():
    return lifagu.open(FACTORY).learn()


def test_old_machines_have_dark_oil(found):
    dark = found["oil"].stack.reshape(3, 2)
    assert dark.sum(axis=1) == pytest.approx(np.ones(3))
    assert dark[0, 1] < dark[1, 1] < dark[2, 1]


def test_a_hall_with_few_machines_is_near_the_common_table(found):
    floor = found["floor"]
    shares = floor.stack / floor.stack.sum(axis=1, keepdims=True)
    off = np.abs(shares - shares[0]).max(axis=1)
    fewest, most = np.argsort(floor.records[1:])[[0, -1]] + 1
    assert floor.records[fewest] == 2
    assert off[fewest] < 0.1
    assert off[fewest] < off[most]


def test_what_is_written_answers_alike(found, tmp_path):
    found.write(tmp_path / "learned.json")
    written = lifagu.open(tmp_path / "learned.json")
    asked = ["Failed(m150)", "Vibration(m150)", "Oil(m149)"]
    for mine, theirs in zip(
        lifagu.open(found.loaded).ask_each(asked), written.ask_each(asked), strict=True
    ):
        assert mine.probabilities == pytest.approx(theirs.probabilities, abs=1e-12)


def test_a_machine_that_shakes_fails_more_likely(found):
    case = lifagu.open(found.loaded)
    chances = [
        case.observe({"Vibration(m150)": speed}).ask("Failed(m150)")["true"]
        for speed in ("up to 2.8", "2.8–3.9", "over 3.9")
    ]
    assert chances == sorted(chances)
    assert chances[0] < case.ask("Failed(m150)")["true"] < chances[2]


def test_hidden_cells_are_told_better_than_by_frequencies():
    scores = lifagu.open(FACTORY).validate(folds=3).json()
    assert scores["log_loss"] < scores["baseline"]["log_loss"] - 0.1
