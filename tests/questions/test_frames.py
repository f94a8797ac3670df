"""Marginals become data frames; what people hold says what it is, in one short line."""

import json
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence

import duckdb
import numpy as np
import pandas as pd
import pytest

import lifagu
from support.helpers import ROOT

EPIDEMIC = ROOT / "examples/epidemic.json"


def marginals():
    case = lifagu.open(EPIDEMIC).add("eve", like="alice")
    builder = lifagu.ParfactorGraph.build().domain("Person", 3).relation("Sick", "Person")
    model = builder.parfactor("p", ["Sick(X)"], [1, 3]).model()
    return {
        "all": case.marginals(),
        "beliefs": case.marginals(engine="bp"),
        "requested": case.impute().marginals,
        "by class": lifagu.marginals(model),
        "whole relation": case.ask_all("Sick", top=2),
        "whole relation by class": lifagu.open(model).ask_all("Sick"),
    }


@pytest.mark.parametrize("name", ["all", "beliefs", "requested", "by class", "whole relation"])
def test_marginals_become_frames(name):
    found = marginals()[name]
    expected = {(each, label): share for each in found for label, share in found[each].items()}
    with duckdb.connect() as other:  # reads streams of Arrow's, without pyarrow
        other.register("marginals", found)
        rows = other.execute("SELECT variable, value, probability FROM marginals").fetchall()
    assert {(each, label): share for each, label, share in rows} == expected
    exchanged = pd.DataFrame(found.tables()["marginals"]["probability"])
    frame = found.__dataframe__()
    assert frame.num_rows() == len(exchanged) == len(expected)
    assert next(iter(frame.column_names())) == "variable"


def test_every_table_of_results_becomes_a_frame():
    imputed = lifagu.open(ROOT / "examples/clinic.json").impute()
    for name, table in imputed.tables().items():
        with duckdb.connect() as other:
            other.register("found", table)
            rows = other.execute("SELECT * FROM found")
            assert [each[0] for each in rows.description] == list(table)
            shown = f"<{type(table).__name__}: {len(rows.fetchall())} row"
        assert repr(table).startswith(shown), name
        exchanged, frame = table.__dataframe__(), pd.DataFrame(dict(table))
        assert list(exchanged.column_names()) == list(frame.columns) == list(table)
        assert exchanged.num_rows() == len(frame) == len(next(iter(table.values())))
    lent = imputed.tables()["transfers"]
    assert (list(lent["alignment"]), list(lent["steps"])) == ([[0, 1], [0, 1]], [None, None])
    assert pd.DataFrame(dict(lent))["alignment"].tolist() == [[0, 1], [0, 1]]
    assert (lent["patient"][0], lent["drug"][:2], lent["drug"][-1]) == (
        "eve",
        [None, "aspirin"],
        "aspirin",
    )
    assert repr(lent["drug"]) == "<KeyColumn: 2 rows>"
    # polars reads a mapping of columns as such, of which each has to be a sequence
    assert all(isinstance(each, (Sequence, np.ndarray)) for each in lent.values())
    wide = imputed.tables()["wide_sick"]
    frame = pd.DataFrame(dict(wide))
    assert frame["patient"].tolist() == list(wide["patient"]) == ["eve"]
    assert frame["p_true"].tolist() == [imputed.marginals["Sick(eve)"][True]]


@pytest.mark.parametrize("name", list(marginals()))
def test_marginals_are_looked_up_by_labels_as_they_are_handed_in(name):
    found = marginals()[name]
    each = found[next(iter(found))]
    assert each[True] == each["true"] == each.get(True) == each.get("true")
    assert True in each
    assert "perhaps" not in each
    assert 7 not in each
    assert each.get("perhaps") is None
    assert dict(each) == {label: each[label] for label in ("true", "false")}
    with pytest.raises(lifagu.ModelError, match="there is no label 7; there are"):
        each[7]


def test_results_are_written_as_they_are_found():
    case = lifagu.open(ROOT / "examples/clinic.json")
    database = duckdb.connect()
    for found in (case.impute(), case.impute().marginals, case.marginals(), case.ask_all("Sick")):
        lifagu.io.write_results(database, found)
        wide = database.execute("SELECT p_true FROM lifagu_wide_sick WHERE patient = 'eve'")
        assert wide.fetchall() == [(pytest.approx(case.ask("Sick(eve)")["true"]),)]
    for wrong in ("marginals", {"marginals": 3}, None, [case.impute()]):
        with pytest.raises(lifagu.ModelError, match="result tables are a mapping"):
            lifagu.io.write_results(database, wrong)


def test_without_duckdb_the_error_says_what_to_install():
    code = """
        import sys
        sys.modules["duckdb"] = None
        import lifagu
        graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
        try:
            lifagu.marginals(graph).__arrow_c_stream__()
        except lifagu.MissingExtraError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert "pip install 'lifagu[duckdb]'" in done.stdout
    assert len(done.stdout.splitlines()) == 1


def held():
    """What a user holds, by name."""
    case = lifagu.open(EPIDEMIC).add("eve", like="alice")
    builder = lifagu.ParfactorGraph.build().domain("Person", 3).relation("Sick", "Person")
    model = builder.parfactor("p", ["Sick(X)"], [1, 3]).model()
    learned = lifagu.open(ROOT / "examples/factory.json").learn(seed=0)
    return {
        "case": case,
        "imputed": case.impute(),
        "transfer": case.transfer,
        "records": case.transfer.record,
        "record": case.transfer.record[0],
        "groups": case.groups(),
        "colouring": case.groups().colouring,
        "lift": case.lift(),
        "lifted": case.lift().model,
        "best": case.most_probable(),
        "relational best": lifagu.map_assignment(model),
        "plan": case.plan(["Epid"]),
        "plan without holes": lifagu.open(EPIDEMIC).plan(["Epid"]),
        "plan of marginals": case.plan_marginals(),
        "plan of beliefs": case.plan_marginals(engine="bp"),
        "answer": case.ask("Epid"),
        "joint": case.ask("Epid", "Sick.eve"),
        "reasons": case.why("Sick.eve"),
        "variables": case.graph.variables,
        "factors": case.graph.factors,
        "loaded": learned.loaded,
        "learning": learned,
        **marginals(),
    }


def test_everything_says_what_it_is_in_a_short_line():
    for name, each in held().items():
        shown = repr(each)
        assert "object at 0x" not in shown, name
        assert "\n" not in shown, name
        assert len(shown) <= 300, (name, shown)
        picture = getattr(each, "_repr_html_", None)
        assert picture is None or "<" in picture(), name
    assert json.loads(json.dumps(repr(held()["factors"]))).startswith("<10 Factors: f0, f1.alice")


def test_notebooks_show_what_is_in_tables_learning_and_drafts():
    wide = lifagu.open(ROOT / "examples/clinic.json").ask_all("Sick").tables()["wide_sick"]
    assert "<th>p_true</th>" in wide._repr_html_()
    assert "<td>eve</td>" in wide._repr_html_()
    learned = held()["learning"]._repr_html_()
    assert all(name in learned for name in ("wear", "failure", "oil", "age", "floor"))
    draft = lifagu.draft(ROOT / "examples/factory_machines.csv")
    assert "Which tables are learned" in draft._repr_html_()


@pytest.mark.parametrize(
    "data", [pd.DataFrame({"a": [1]}), {"t": pd.DataFrame({"a": [1]})}, sqlite3.connect(":memory:")]
)
def test_data_without_a_template_is_refused_with_what_to_do(data):
    with pytest.raises(lifagu.ModelError, match=r"is data; draft a template of it") as caught:
        lifagu.open(data)
    assert len(str(caught.value).splitlines()) == 1
