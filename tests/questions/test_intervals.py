"""Limits of probabilities: draws of what is hidden average to the answer, given the evidence."""

import json

import numpy as np
import pytest

import lifagu
from lifagu.questions import intervals
from lifagu.questions.posterior_model import posterior_graph
from support.helpers import ROOT, run_cli

WARDS = ROOT / "examples/wards.json"
SEEN = {"Severe.p1": "true", "Recovers.p5": "false"}


@pytest.mark.parametrize("together", [intervals.TOGETHER, 0])
@pytest.mark.parametrize("evidence", [{}, SEEN])
def test_draws_average_to_the_answer(evidence, together, monkeypatch):
    """Within four standard errors, whether drawn from one joint answer or one after another."""
    monkeypatch.setattr(intervals, "TOGETHER", together)
    case = lifagu.open(WARDS).observe(evidence)
    graph = posterior_graph(case.transfer)
    own = len(case.graph.variable_names)
    hidden = graph.variable_names[own:]
    given = {**case.graph_evidence}
    drawn = intervals.draws(graph, given, hidden, ["Recovers.p9"], 1, None)[:, 1]
    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    assert len(drawn) == intervals.DRAWS
    assert error > 0
    assert abs(drawn.mean() - case.ask("Recovers.p9")["true"]) <= 4 * error


def test_limits_lie_around_and_are_the_same_each_time(capsys):
    options = ["query", WARDS, "Recovers.p9", "--interval", "0.9", "--json"]
    _, first, note = run_cli(capsys, *options)
    assert "limits are those of 90% of 1000 draws" in note
    (answer,) = json.loads(first)["answers"]
    for low, middle, high in zip(
        answer["lower"], answer["probabilities"], answer["upper"], strict=True
    ):
        assert 0 <= low < middle < high <= 1
    assert run_cli(capsys, *options)[1] == first


def test_what_rests_on_nothing_hidden_is_its_own_limit():
    case = lifagu.open(ROOT / "examples/smokers.json").fill(interval=0.5)
    answer = case.ask("Smokes(1)")
    assert answer.lower.tolist() == answer.upper.tolist() == answer.probabilities.tolist()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["Recovers.p9", "--fill", "extended"], "not about the best ones; leave it out"),
        (["Recovers.p9", "--combine", "best"], "not about the best ones; leave it out"),
        (["Recovers"], "an interval is about questions about variables; leave it out"),
        (["Recovers.p9", "--engine", "bp"], "an interval is about exact answers"),
    ],
)
def test_where_it_cannot_act_it_is_refused(options, said, capsys):
    status, out, err = run_cli(capsys, "query", WARDS, *options, "--interval", "0.9")
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
