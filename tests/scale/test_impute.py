"""Folders imputed where they are: what is filled, said, asked and written is as from memory."""

import json

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import lifagu
from data.test_parquet import observed_graphs
from lifagu.questions.by_sql import asking
from scale.test_lifting import WAYS, Told, assert_same_groups, big_graph, cases, chain, stop_at
from support.helpers import run_cli

LIMIT = 2**28
# an example takes too long to be made smaller
DRAWING = (Phase.explicit, Phase.reuse, Phase.generate)


def rows_of(file, columns="*"):
    """Columns, types and rows of a file."""
    table = duckdb.sql(f"SELECT {columns} FROM '{file}'")
    return list(zip(table.columns, map(str, table.types), strict=True)), repr(table.fetchall())


def assert_as_from_memory(found, expected, folder, other):
    """Everything that is found, and all files; probabilities may differ by rounding."""
    assert (found.unknown, found.filled, found.offered) == (
        expected.unknown,
        expected.filled,
        expected.offered,
    )
    assert (found.lent, found.left, found.way) == (expected.lent, expected.left, expected.way)
    assert_same_groups(found.groups, expected.groups)
    assert_same_marginals(found.marginals, expected.marginals)
    for table in ("transfers", "tables"):
        assert rows_of(folder / f"{table}.parquet") == rows_of(other / f"{table}.parquet"), table
    files = [each / "marginals.parquet" for each in (folder, other)]
    assert rows_of(files[0], "* EXCLUDE probability") == rows_of(files[1], "* EXCLUDE probability")
    mine, theirs = (
        duckdb.sql(f"SELECT probability FROM '{file}'").fetchnumpy()["probability"]
        for file in files
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def assert_same_marginals(found, expected):
    assert list(found.names) == list(expected.names)
    assert list(found.unanswered) == list(expected.unanswered)
    for name in expected.names:
        assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-12)
    for column in ("own", "own_weakest", "lent", "weakest"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
        assert getattr(found, column).dtype == getattr(expected, column).dtype


def assert_imputed_alike(place, queries=None, evidence=None, more=None, **ways):
    """A folder `big` imputed in memory and on DuckDB; returns what was found there."""
    memory, engine = cases(place / "big", evidence, ways, **(more or {}))
    try:
        expected = memory.impute(queries, out=place / "memory")
    except lifagu.NoAnswerError as error:
        with pytest.raises(
            lifagu.NoAnswerError, match="zero" if "zero" in str(error) else "unknown"
        ):
            engine.impute(queries)
        return None
    found = engine.impute(queries, out=place / "sql")
    assert_as_from_memory(found, expected, place / "sql", place / "memory")
    return found


@settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck), phases=DRAWING)
@given(observed_graphs(), st.sampled_from(WAYS), st.sampled_from(["one", "mean"]), st.booleans())
def test_as_from_memory(tmp_path_factory, observed, ways, unknown, asks):
    place, (graph, evidence) = tmp_path_factory.mktemp("folder"), observed
    lifagu.write(graph, place / "big", evidence)
    queries = list(graph.variable_names)[::2] if asks else None
    assert_imputed_alike(place, queries, unknown=unknown, **ways)


def test_a_million_arguments(tmp_path):
    lifagu.write(big_graph(), tmp_path / "big")
    queries, more = ["x0", "x2", "x5", "x400001"], {"memory_limit": 200 * 2**20}
    found = assert_imputed_alike(tmp_path, queries, {"x2": "true"}, more)
    assert found.filled == 33_333
    assert found.marginals.lent.tolist() == [33_333, 0, 33_333, 33_333]


@pytest.mark.parametrize(
    "line", ["passing colours", "round 2", "sum ", "answering", "finding what", "writing tables"]
)
def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, line):
    monkeypatch.setattr(asking, "ENOUGH", 4)  # so that there is something to sum out
    lifagu.write(chain(12), tmp_path / "big")
    queries, place = ["v9", "v0"], {"on": "duckdb", "temp": tmp_path / "temp"}
    expected = lifagu.open(tmp_path / "big", on="memory").impute(queries, out=tmp_path / "memory")
    with pytest.raises(KeyboardInterrupt):
        lifagu.open(tmp_path / "big", progress=stop_at(line), **place).impute(
            queries, out=tmp_path / "sql"
        )
    assert not (tmp_path / "sql").exists()
    told = Told()
    found = lifagu.open(tmp_path / "big", resume=True, progress=told, **place).impute(
        queries, out=tmp_path / "sql"
    )
    assert_as_from_memory(found, expected, tmp_path / "sql", tmp_path / "memory")
    assert "finding what answers rest on" in told.lines
    assert not list((tmp_path / "temp").iterdir())


def test_what_works_in_memory_only(tmp_path):
    lifagu.write(chain(4), tmp_path / "big")
    case = lifagu.open(tmp_path / "big", on="duckdb")
    with pytest.raises(
        lifagu.FormatError, match="what duckdb finds is written as Parquet; name a folder without"
    ):
        case.impute(out=tmp_path / "out.csv")
    with pytest.raises(lifagu.ModelError, match="there is no variable 'nobody' in the model"):
        case.impute(["nobody"])
    for verb in ("impute", "lift", "groups"):
        with pytest.raises(lifagu.ModelError, match="the holes of this case stay"):
            getattr(case.unfilled(), verb)()
    found = case.impute()
    with pytest.raises(lifagu.ModelError, match="on an engine, tables are not held in memory"):
        found.tables()
    with pytest.raises(lifagu.ModelError, match="on an engine, no lifted model is made"):
        _ = found.model


def test_the_command_line(tmp_path, capsys):
    """The report names the same lines, JSON has the same keys, and what works in memory only is
    said.
    """
    big, out = str(tmp_path / "big"), str(tmp_path / "out")
    lifagu.write(chain(8), big)
    reports = []
    for where in ("memory", "duckdb"):
        status, text, err = run_cli(capsys, "impute", big, "--on", where, "--out", out)
        assert (status, err) == (0, "")
        reports.append(text.splitlines())
    assert reports[0][:4] == reports[1][:4]
    found = [
        json.loads(run_cli(capsys, "impute", big, "--on", where, "--json")[1])
        for where in ("memory", "duckdb")
    ]
    assert found[0].keys() == found[1].keys()
    for key in ("theta", "unknown", "lent", "left", "groups", "left_out"):
        assert found[0][key] == found[1][key]
    assert [each.keys() for each in found[0]["marginals"]] == [
        each.keys() for each in found[1]["marginals"]
    ]
    status, _, err = run_cli(capsys, "impute", big)
    assert status == 0
    assert err.startswith("note: memory was chosen: 14 arguments need about ")
    for options, message in (
        (
            ["--on", "duckdb", "--out", f"{out}.csv"],
            "what duckdb finds is written as Parquet; name a folder without",
        ),
        (["--on", "duckdb", "--write"], "--write works in memory only"),
        (["--on", "memory", "--resume"], "only work on an engine can be resumed"),
        (["--on", "duckdb", "--unknown", "bounds"], "unknown bounds works in memory only"),
        (["--on", "duckdb", "--queries", "nobody"], "there is no variable 'nobody' in the model"),
    ):
        status, _, err = run_cli(capsys, "impute", big, *options)
        assert status == 2
        assert message in err
