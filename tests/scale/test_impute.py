"""Folders imputed where they are: what is filled, said, asked and written is as from memory."""

import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import lifagu
from support.by_sql import WAYS
from support.graphs_for_engines import big_graph, chain
from support.helpers import mostly_full, run_cli
from support.same_results import assert_imputed_alike
from support.strategies import observed_graphs

LIMIT = 2**28
# an example takes too long to be made smaller
DRAWING = (Phase.explicit, Phase.reuse, Phase.generate)


@settings(max_examples=4, suppress_health_check=list(HealthCheck), phases=DRAWING)
@given(observed_graphs(), st.sampled_from(WAYS), st.booleans())
def test_as_from_memory(tmp_path_factory, observed, ways, asks):
    place, (graph, evidence) = tmp_path_factory.mktemp("folder"), observed
    lifagu.write(graph, place / "big", evidence)
    queries = list(graph.variable_names)[::2] if asks else None
    assert_imputed_alike(place, queries, **ways)


@pytest.mark.parametrize("people", mostly_full([10_000, 111_111], always=[10_000]))
def test_a_million_arguments(tmp_path, people):
    lifagu.write(big_graph(people), tmp_path / "big")
    queries, more = ["x0", "x2", "x5", f"x{4 * people - 3}"], {"memory_limit": 200 * 2**20}
    found = assert_imputed_alike(tmp_path, queries, {"x2": "true"}, more)
    holes = 3 * people // 10
    assert found.filled == holes
    assert found.marginals.lent.tolist() == [holes, 0, holes, holes]


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
    """The same lines and JSON keys; what works in memory only is said."""
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
        (["--on", "duckdb", "--queries", "nobody"], "there is no variable 'nobody' in the model"),
    ):
        status, _, err = run_cli(capsys, "impute", big, *options)
        assert status == 2
        assert message in err
