"""read ∘ write = identity, for every format, on random graphs."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings

import lifagu
from lifagu.formats import fg, native, uai
from support.helpers import SCHEMA, graph_of, random_model
from support.strategies import graphs


def test_the_schema_is_one():
    SCHEMA.check_schema(SCHEMA.schema)


@settings(max_examples=150)
@given(graphs())
def test_lifagu_json(graph):
    text = native.to_json(graph)
    assert native.from_json(text) == graph
    assert native.to_json(native.from_json(text)) == text
    SCHEMA.validate(json.loads(text))


@settings(max_examples=100)
@given(graphs(unknown=False, plain=True))
def test_uai(graph):
    assert uai.parse_uai(uai.format_uai(graph)) == graph


@settings(max_examples=100)
@given(graphs(unknown=False, plain=True))
def test_libdai(graph):
    """Isolated variables come back with a uniform factor of their own, all else as it was."""
    back = fg.parse_fg(fg.format_fg(graph))
    isolated = int((graph.degrees == 0).sum())
    assert len(back.factor_names) == len(graph.factor_names) + isolated
    for mine, theirs in zip(graph.factors, back.factors, strict=False):
        assert mine.arguments == theirs.arguments
        np.testing.assert_array_equal(mine.table, theirs.table)
    assert back.variable_names == graph.variable_names
    if not isolated:
        assert back == graph


@pytest.mark.parametrize("name", ["m.json", "m.json.gz", "m.uai", "m.uai.gz", "m.fg", "m.fg.gz"])
def test_files_by_ending(tmp_path, name):
    graph = graph_of(random_model(3)[0])
    target = tmp_path / name
    lifagu.write(graph, target)
    assert (target.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    first = target.read_bytes()
    lifagu.write(graph, target)
    assert target.read_bytes() == first, "the same graph gives the same bytes"
    assert [each.name for each in tmp_path.iterdir()] == [name]
    back = lifagu.read(target)
    assert lifagu.log_partition(back) == pytest.approx(lifagu.log_partition(graph), rel=1e-12)


def test_evidence_goes_along(tmp_path):
    graph = (
        lifagu.FactorGraph.build()
        .variables(["A", "B"], ["true", "false"])
        .factor("f", "A", [1, 2])
        .graph()
    )
    evidence = {"A": "false", "B": {"true": 1.0, "false": 3.0}}
    lifagu.write(graph, tmp_path / "m.json", evidence)
    assert lifagu.io.read_evidence(tmp_path / "m.json") == evidence
    SCHEMA.validate(json.loads((tmp_path / "m.json").read_text()))
    lifagu.write(graph, tmp_path / "m.uai.gz", {"B": "false"})
    assert (tmp_path / "m.uai.evid").read_text() == "1 1 1\n"
    assert lifagu.io.read_evidence(tmp_path / "m.uai.evid") == {"x1": "1"}
    assert lifagu.io.read_evidence(tmp_path / "m.uai.gz") == {}
    with pytest.raises(lifagu.FormatError, match="soft evidence"):
        lifagu.write(graph, tmp_path / "n.uai", evidence)
    with pytest.raises(lifagu.FormatError, match="holds no evidence"):
        lifagu.write(graph, tmp_path / "n.fg", {"A": "true"})
    assert not list(tmp_path.glob("n.*")), "nothing is half-written"


def test_gzip_is_transparent(tmp_path):
    (tmp_path / "m.uai.gz").write_bytes(gzip.compress(b"MARKOV 1 2 1 1 0 2 1 3"))
    assert lifagu.query(lifagu.read(tmp_path / "m.uai.gz"), "x0")["1"] == 0.75
