"""Answers and marginals are mappings, and evidence is taken as people have it."""

import numpy as np
import pandas as pd
import pytest

import lifagu

LABELS = {"5": 0.125, "6": 0.375, "true": 0.5}


def graph():
    builder = lifagu.FactorGraph.build().range("odd", list(LABELS))
    builder = builder.variable("A", "odd").variable("B").factor("f", ["A"], [1, 3, 4])
    return builder.factor("g", ["B"], [1, 3]).graph()


def test_an_answer_is_a_mapping():
    answer = lifagu.query(graph(), "A")
    assert dict(answer) == pytest.approx(LABELS)
    assert (list(answer), len(answer)) == (list(LABELS), 3)
    assert dict(answer.items()) == dict(answer)
    assert list(answer.values()) == [answer[label] for label in LABELS]
    for key in (5, "5", ("5",), np.int64(5), np.float64(5), np.str_("5")):
        assert answer[key] == pytest.approx(0.125)
        assert key in answer
    for key in (True, np.bool_(True), "true"):
        assert answer[key] == pytest.approx(0.5)
    assert 7 not in answer
    assert answer.get("7") is None
    assert [1] not in answer
    with pytest.raises(lifagu.ModelError, match="variable 'A' has no value '7'; its range is"):
        _ = answer[7]
    assert max(answer, key=answer.get) == "true"


def test_a_joint_answer_has_tuples():
    answer = lifagu.query(graph(), "A", "B")
    assert list(answer)[1] == ("5", "true")
    assert answer[5, True] == answer["5", "true"] == pytest.approx(0.125 * 0.75)
    assert sum(answer.values()) == pytest.approx(1)
    assert "5" not in answer
    with pytest.raises(lifagu.ModelError, match="give one label for each"):
        _ = answer["5"]


def test_marginals_are_mappings():
    model = graph()
    requested = lifagu.impute(model, queries=["B", "A"]).marginals
    assert list(requested) == ["B", "A"]
    for found in (lifagu.marginals(model), lifagu.open(model).marginals(engine="bp"), requested):
        assert dict(found)["A"] == pytest.approx(LABELS)
        assert "A" in found
        assert "C" not in found
        assert found.get("C") is None
        assert len(found) == 2
        assert "0x" not in repr(found)
        assert "<table>" in found._repr_html_()
        with pytest.raises(lifagu.ModelError, match="'C'"):
            _ = found["C"]


SAME = [
    ({"A": 5}, {"A": "5"}),
    ({"A": True, "B": np.bool_(False)}, {"A": "true", "B": "false"}),
    (pd.Series({"A": 5, "B": True}), {"A": "5", "B": "true"}),
    (pd.Series({"A": np.int64(6)}), {"A": "6"}),
    ({"A": np.array([1, 2, 0.5])}, {"A": {"5": 1, "6": 2, "true": 0.5}}),
    ({"A": [1, 2, 0.5]}, {"A": {"5": 1, "6": 2, "true": 0.5}}),
    ({"A": pd.Series({True: 0.5, 5: 1, 6: 2})}, {"A": {"5": 1, "6": 2, "true": 0.5}}),
    ({"A": {5: 1, 6: 2, True: 0.5}}, {"A": {"5": 1, "6": 2, "true": 0.5}}),
]


@pytest.mark.parametrize(("given", "meant"), SAME)
def test_evidence_is_taken_as_people_have_it(given, meant):
    expected = lifagu.query(graph(), "A", evidence=meant)
    assert dict(lifagu.query(graph(), "A", evidence=given)) == dict(expected)
    assert dict(lifagu.open(graph()).observe(given).ask("A")) == dict(expected)


def test_evidence_of_relational_models(tmp_path):
    builder = lifagu.ParfactorGraph.build().domain("Person", 3).relation("Sick", "Person")
    model = builder.relation("Epid").parfactor("p", ["Sick(X)", "Epid"], [4, 1, 1, 2]).model()
    meant = {"Sick(1)": "true", "Sick(2..3)": {"false": 1, "true": 4}}
    expected = lifagu.query(model, "Epid", evidence=meant)
    given = {"Sick(1)": True, "Sick(2..3)": np.array([1, 4])}
    assert dict(lifagu.query(model, "Epid", evidence=given)) == dict(expected)
    lifagu.write(model, tmp_path / "model.json", given)
    assert lifagu.io.read_evidence(tmp_path / "model.json") == meant


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"A": 7}, "variable 'A' has no value '7'"),
        ({"A": None}, "variable 'A' has no value 'None'"),
        ({"A": float("nan")}, "variable 'A' has no value 'nan'"),
        ({"A": np.array([1, 2])}, "soft evidence for 'A' has 2 numbers for 3 labels"),
        ({"A": np.ones((3, 1))}, "soft evidence for 'A' is no list of numbers"),
        ({"A": ["x", "y", "z"]}, "soft evidence for 'A' is no list of numbers"),
        ({"A": {5: 1, "5": 2}}, "labels that are none or the same"),
        ({"A": {5: 1}}, "soft evidence for 'A' lacks a likelihood"),
        (pd.Series([1, 2], index=["A", "A"]), "a Series has a name in its index twice"),
        (np.array([1, 2]), "evidence is a mapping from variable to label, not ndarray"),
        ("A=true", "evidence is a mapping from variable to label, not str"),
    ],
)
def test_evidence_that_is_none_is_refused_in_one_line(evidence, message):
    with pytest.raises(lifagu.ModelError, match=message) as caught:
        lifagu.query(graph(), "A", evidence=evidence)
    assert len(str(caught.value).splitlines()) == 1


def test_variables_and_factors_by_name():
    model = graph()
    assert model.variables["B"] == model.variable("B")
    assert model.factors["g"].arguments == ("B",)
    assert "B" in model.variables
    assert "C" not in model.variables
    assert model.variables["A"] in model.variables
    assert repr(model.variables) == "<2 Variables: A, B>"
    with pytest.raises(lifagu.ModelError, match="there is no variable 'C' in the model"):
        _ = model.variables["C"]


def test_a_long_answer_is_looked_up_in_one_array():
    """Not in a new one for each label, which would take the square of their number."""
    labels = [f"l{each}" for each in range(1000)]
    graph = lifagu.FactorGraph.build().variable("A", labels).factor("f", ["A"], range(1, 1001))
    answer = lifagu.query(graph.graph(), "A")
    assert answer.probabilities is answer.probabilities
    assert list(answer.values()) == answer.probabilities.tolist()
