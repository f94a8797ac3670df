"""Supports of parfactors: every ground factor has them, files keep them, lifting finds them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.formats import native
from lifagu.graph.table_support import TableSupport
from support.helpers import SCHEMA, run_cli


def model(**said):
    """Two persons, one with a factor of his own, and an estimated parfactor."""
    return (
        lifagu.ParfactorGraph.build()
        .domain("Person", ["al", "bo", "eve"])
        .relation("Sick", "Person", range=["no", "yes"])
        .relation("Test", "Person")
        .parfactor("g", ["Sick(X)", "Test(X)"], [0.9, 0.1, 0.5, 0.5], "X != eve", **said)
        .factor("own", ["Sick(eve)", "Test(eve)"], [0.7, 0.3, 0.2, 0.8], **said)
        .parfactor("open", ["Sick(X)"], None, support=9)
        .model()
    )


def test_every_ground_factor_has_the_support_of_its_parfactor():
    graph = lifagu.ground(model(support=[20, 4], prior=1))
    behind = TableSupport((20.0, 4.0), (0,), (1.0,))
    assert [each.support for each in graph.factors] == [behind] * 3 + [None] * 3
    counts = graph.support.counts(graph, np.array([1, 2]))
    np.testing.assert_allclose(counts, [[18.8, 1.2, 2, 2]] * 2)


def test_diagonals_have_none():
    graph = lifagu.ground(
        lifagu.ParfactorGraph.build()
        .domain("P", 2)
        .relation("S", "P")
        .parfactor("g", ["S(X)", "S(Y)"], [1, 2, 3, 4], support=7)
        .model()
    )
    found = {each.name: each.support and each.support.records for each in graph.factors}
    assert found == {"g(1,1)": None, "g(1,2)": (7.0,), "g(2,1)": (7.0,), "g(2,2)": None}


def test_counting_parfactors_have_a_number():
    build = lifagu.ParfactorGraph.build().domain("P", 2).relation("S", "P").relation("E")
    graph = lifagu.ground(
        build.parfactor("g", ["#X[S(X)]", "E"], [1, 2, 3, 4, 5, 6], support=7).model()
    )
    assert graph.factor("g").support.records == (7.0,)
    with pytest.raises(lifagu.ModelError, match="parfactor 'h': support .* counts is a single"):
        build.parfactor("h", ["#X[S(X)]", "E"], [1, 2, 3, 4, 5, 6], support=7, prior=1)


@settings(max_examples=60)
@given(
    st.sampled_from([None, ["Sick(X)"], ["Test(X)"], ["Sick(X)", "Test(X)"], []]),
    st.lists(st.integers(0, 50), min_size=4, max_size=4),
    st.sampled_from([None, 0.5, [1, 2, 3, 4]]),
)
def test_files_keep_supports(named, numbers, prior):
    many = 1 if not named else 2 ** len(named)
    said = {"support": numbers[:many], "given": named, "prior": prior}
    parfactor = lifagu.Parfactor.of("g", ["Sick(X)", "Test(X)"], [0.5] * 4, **said)
    first = model()
    written = lifagu.ParfactorGraph(first.domains, first.relations, (parfactor,))
    text = native.to_json(written)
    assert native.from_json(text) == written
    SCHEMA.validate(json.loads(text))
    assert lifagu.ground(native.from_json(text)) == lifagu.ground(written)
    expected = numbers[:many]
    factor = lifagu.ground(written).factor("g(al)")
    assert factor.support.records == tuple(map(float, expected))
    assert factor.support.given == tuple(["Sick(X)", "Test(X)"].index(each) for each in named or [])


def test_mistakes_in_files_have_their_place():
    text = native.to_json(model(support=[20, 4], prior=1))
    assert native.from_json(text) == model(support=[20, 4], prior=1)
    for old, new, message in [
        ("[20, 4]", "[20, 4, 3]", r"<text>:\d+: parfactors\[0\]: .*3 numbers of records"),
        ('"prior": 1', '"prior": [1, 2]', r"parfactors\[0\]: .*2 numbers as prior"),
        ("[20, 4]", '"n"', r"parfactors\[0\]: parfactor 'g' has a support that is no number"),
        ("[20, 4]", '[20, 4], "given": ["Tset(X)"]', "'Tset.X.' in given"),
        ("[20, 4]", '[20, 4], "given": "Test(X)"', "given is a list of arguments"),
    ]:
        where = text.index('"g"')
        wrong = text[:where] + text[where:].replace(old, new, 1)
        with pytest.raises(lifagu.FormatError, match=message):
            native.from_json(wrong)
    where = text.index('"own"')
    wrong = text[:where] + text[where:].replace('"given": ["Sick(eve)"]', '"given": ["Sick"]', 1)
    with pytest.raises(lifagu.FormatError, match=r"factors\[0\]: 'Sick' is a whole relation"):
        native.from_json(wrong)


def hospital(support_of_last):
    builder = lifagu.FactorGraph.build().variable("Epid")
    for number in range(6):
        last = number == 5
        builder.variable(f"Sick.{number}", ["yes", "no"])
        said = {"support": support_of_last if last else [30, 5], "given": "Epid", "prior": 1}
        table = [0.9, 0.2, 0.1, 0.8]
        builder.factor(f"f.{number}", [f"Sick.{number}", "Epid"], table, **said)
    return builder.graph()


def test_lifted_models_have_supports_that_are_shared():
    shared = lifagu.lift(hospital([30, 5]))
    (parfactor,) = shared.parfactors
    assert parfactor.support == TableSupport((30.0, 5.0), (1,), (1.0,))
    again = lifagu.ground(shared)
    assert {each.support for each in again.factors} == {parfactor.support}
    assert again.support.counts(again, np.arange(6)) == pytest.approx(
        hospital([30, 5]).support.counts(hospital([30, 5]), np.arange(6))
    )
    (parfactor,) = lifagu.lift(hospital([30, 6])).parfactors
    assert parfactor.support is None


def test_info_and_convert_say_what_there_is(tmp_path, capsys):
    path = tmp_path / "model.json"
    lifagu.write(hospital([1, 2]), path)
    status, out, _ = run_cli(capsys, "info", path)
    assert status == 0
    assert "estimated tables" in out
    assert "fewest: 3, median: 35" in out
    assert run_cli(capsys, "convert", path, tmp_path / "folder") == (0, "", "")
    assert run_cli(capsys, "convert", tmp_path / "folder", tmp_path / "back.json") == (0, "", "")
    assert lifagu.read(tmp_path / "back.json") == lifagu.read(path)
    status, _, err = run_cli(capsys, "convert", path, tmp_path / "model.uai")
    assert status == 0
    assert "records stand behind tables was left out" in err
    facts = lifagu.describe(lifagu.read(path))
    assert facts["estimated_tables"] == 6
    assert facts["records_behind_them"] == {"fewest": 3.0, "median": 35.0}
    relational = lifagu.describe(model(support=8))
    assert relational["estimated_tables"] == 2
    assert relational["records_behind_them"] == {"fewest": 8.0, "median": 8.0}
