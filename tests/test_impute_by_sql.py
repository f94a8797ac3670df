"""Folders imputed where they are: what is filled, said, asked and written is as from memory."""

import json

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import lifagu
from helpers import run_cli
from lifagu import imputing_by_sql
from test_parquet import observed_graphs
from test_scale import WAYS, big_graph, chain, stop_at

LIMIT = 2**28
DRAWING = (Phase.explicit, Phase.reuse, Phase.generate)  # an example takes too long to be made smaller


def rows_of(file):
    """Columns, types and rows of a file."""
    table = duckdb.sql(f"FROM '{file}'")
    return list(zip(table.columns, map(str, table.types), strict=True)), repr(table.fetchall())


def assert_as_from_memory(found, expected, folder, other):
    """Reports and files; answers differ by rounding, and say nothing of all that they rest on."""
    assert (found.unknown, found.filled, found.offered) == (expected.unknown, expected.filled, expected.offered)
    assert (found.lent, found.left) == (expected.lent, expected.left)
    assert found.groups.variables == len(expected.colouring.variable_groups)
    assert found.groups.factors == len(expected.colouring.factor_groups)
    names = expected.transfer.original.variable_names
    assert list(found.unanswered) == [names[each] for each in expected.marginals.unanswered]
    assert [each.variable for each in found.marginals] == [names[each] for each in expected.marginals.variables]
    for place, each in enumerate(found.marginals):
        assert each.probabilities == pytest.approx(expected.marginals[each.variable], rel=1e-9, abs=1e-12)
        weakest = expected.marginals.own_weakest[place] if each.own_transferred else None
        assert (each.own_transferred, each.own_weakest_share) == (expected.marginals.own[place], weakest)
    for table in ("transfers", "tables"):
        assert rows_of(folder / f"{table}.parquet") == rows_of(other / f"{table}.parquet"), table
    kept = "variable, value, own_transferred, own_weakest_share"
    mine, theirs = (duckdb.sql(f"SELECT {kept} FROM '{each}/marginals.parquet'").fetchall() for each in (folder, other))
    assert repr(mine) == repr(theirs)


@settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck), phases=DRAWING)
@given(observed_graphs(), st.sampled_from(WAYS), st.sampled_from(["one", "mean"]), st.booleans())
def test_as_from_memory(tmp_path_factory, observed, ways, unknown, asks):
    place, (graph, evidence) = tmp_path_factory.mktemp("folder"), observed
    lifagu.write(graph, place / "big", evidence)
    queries = list(graph.variable_names)[::2] if asks else None
    graph = lifagu.read(place / "big")  # kinds and ranges in the order of the folder
    try:
        expected = lifagu.impute(graph, evidence, queries, unknown=unknown, **ways)
    except lifagu.NoAnswerError:
        with pytest.raises(lifagu.NoAnswerError):
            lifagu.impute_folder(place / "big", None, queries, unknown=unknown, filling=lifagu.Filling(**ways))
        return
    lifagu.write_imputed(place / "memory", expected.tables())
    found = lifagu.impute_folder(
        place / "big",
        None,
        queries,
        out=place / "duckdb",
        unknown=unknown,
        filling=lifagu.Filling(**ways),
        memory_limit=LIMIT,
    )
    assert_as_from_memory(found, expected, place / "duckdb", place / "memory")


def test_a_million_arguments(tmp_path):
    graph, queries = big_graph(), ["x0", "x2", "x5", "x400001"]
    lifagu.write(graph, tmp_path / "big")
    expected = lifagu.impute(graph, {"x2": "true"}, queries)
    lifagu.write_imputed(tmp_path / "memory", expected.tables())
    evidence, limit = {"x2": "true"}, 200 * 2**20
    found = lifagu.impute_folder(tmp_path / "big", evidence, queries, out=tmp_path / "sql", memory_limit=limit)
    assert found.filled == 33_333
    assert_as_from_memory(found, expected, tmp_path / "sql", tmp_path / "memory")


@pytest.mark.parametrize("line", ["passing colours", "round 2", "sum ", "writing tables"])
def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, line):
    monkeypatch.setattr(imputing_by_sql, "ENOUGH", 4)  # so that there is something to sum out
    lifagu.write(chain(12), tmp_path / "big")
    expected = lifagu.impute(chain(12), queries=["v9", "v0"])
    lifagu.write_imputed(tmp_path / "memory", expected.tables())
    settings = {"queries": ["v9", "v0"], "out": tmp_path / "sql", "temp": tmp_path / "temp"}
    with pytest.raises(KeyboardInterrupt):
        lifagu.impute_folder(tmp_path / "big", told=stop_at(line), **settings)
    assert not (tmp_path / "sql").exists()
    found = lifagu.impute_folder(tmp_path / "big", resume=True, **settings)
    assert_as_from_memory(found, expected, tmp_path / "sql", tmp_path / "memory")
    assert not list((tmp_path / "temp").iterdir())


def test_the_command_line(tmp_path, capsys):
    """The report names the same lines, JSON has the same keys, and what works in memory only is said."""
    big, out = str(tmp_path / "big"), str(tmp_path / "out")
    lifagu.write(chain(8), big)
    reports = []
    for where in ("memory", "duckdb"):
        status, text, err = run_cli(capsys, "impute", big, "--on", where, "--out", out)
        assert (status, err) == (0, "")
        reports.append(text.splitlines())
    assert reports[0][:4] == reports[1][:4]
    found = [json.loads(run_cli(capsys, "impute", big, "--on", where, "--json")[1]) for where in ("memory", "duckdb")]
    assert found[0].keys() == found[1].keys()
    for key in ("theta", "unknown", "lent", "left", "groups", "left_out"):
        assert found[0][key] == found[1][key]
    assert [each.keys() for each in found[0]["marginals"]] == [each.keys() for each in found[1]["marginals"]]
    status, _, err = run_cli(capsys, "impute", big)
    assert status == 0
    assert err.startswith("note: memory was chosen: 14 arguments need about ")
    for options, message in (
        (["--on", "duckdb", "--out", f"{out}.csv"], "what duckdb finds is written as Parquet; name a folder without"),
        (["--on", "duckdb", "--write"], "--write works in memory only"),
        (["--on", "memory", "--resume"], "--resume goes on with work on an engine"),
        (["--on", "duckdb", "--unknown", "bounds"], "--unknown bounds works in memory only"),
        (["--on", "duckdb", "--queries", "nobody"], "there is no variable 'nobody' in the model"),
    ):
        status, _, err = run_cli(capsys, "impute", big, *options)
        assert status == 2
        assert message in err
