"""What files may look like, and what is said when they do not."""

import gzip
import json
from pathlib import Path

import pytest

import lifagu
from lifagu.formats import FORMATS, NETWORKS, native, uai
from support.helpers import ROOT

DATA = ROOT.parent / "shared/data/uai2014"
BOOL = {"format": "lifagu/1", "variables": [{"name": "A"}, {"name": "B"}]}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("m.json", "{", r"m\.json:1: not JSON: "),
        ("m.json", '{\n\n  "format": "lifagu/1",,\n}', r"m\.json:3: not JSON: .*column"),
        ("m.json", "[]", "an object .* is expected, not a list"),
        ("m.json", "{}", 'format: is missing; a model file has "format": "lifagu/1"'),
        ("m.json", '{"format": "lifagu/2"}', "format: is 'lifagu/2'"),
        (
            "m.json",
            '{"format": "lifagu/1", "varables": []}',
            "varables: there is no such section; did you mean 'variables'",
        ),
        (
            "m.json",
            '{"format": "lifagu/1", "domains": []}',
            "domains: an object .* is expected, not a list",
        ),
        (
            "m.json",
            '{"format": "lifagu/1", "domains": {"P": true}}',
            r"m\.json:1: domains\.P: domain 'P' is given as a whole number or a list "
            r"of constants, not True",
        ),
        ("m.json", '{"format": "lifagu/1", "format": "lifagu/1"}', "the key 'format' stands twice"),
        ("m.json", {**BOOL, "variables": {}}, "variables: a list .* is expected, not an object"),
        (
            "m.json",
            {**BOOL, "variables": ["A"]},
            r"variables\[0\]: a variable is an object .* not the text 'A'",
        ),
        (
            "m.json",
            {**BOOL, "variables": [{"nam": "A"}]},
            r"variables\[0\]: a variable has no 'nam'",
        ),
        (
            "m.json",
            {**BOOL, "variables": [{"name": "A", "range": []}]},
            "variable 'A' has an empty range",
        ),
        (
            "m.json",
            {**BOOL, "variables": [{"name": "A", "range": [None]}]},
            "a label is a text, a number or a boolean",
        ),
        (
            "m.json",
            {**BOOL, "variables": [{"name": "A", "range": 3}]},
            "a range is a list of labels",
        ),
        ("m.json", {**BOOL, "variables": [{"name": "A", "kind": 3}]}, "kind is a text"),
        (
            "m.json",
            {**BOOL, "ranges": {"r": ["a", "a"]}},
            r"ranges\.r: range 'r' has the label 'a' twice",
        ),
        (
            "m.json",
            {**BOOL, "tables": {"t": 3}},
            r"tables\.t: a table is a list of numbers, not a number",
        ),
        (
            "m.json",
            {**BOOL, "tables": {"t": [1, -1]}},
            r"tables\.t: table 't' has the potential -1.0",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": ["A"]}]},
            r"a factor needs 'table' \(null if",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": "A", "table": None}]},
            "args is a list of",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": [1], "table": None}]},
            "named by texts",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": ["C"], "table": None}]},
            r"factors\[0\]: .*argument 'C'",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": ["A"], "table": [1]}]},
            "'f' has 1 potentials but",
        ),
        (
            "m.json",
            {**BOOL, "factors": [{"name": "f", "args": ["A"], "table": ["1", 2]}]},
            "not a number",
        ),
        (
            "m.json",
            '{"format": "lifagu/1", "tables": {"t": [NaN]}}',
            "NaN is not a number that JSON knows",
        ),
        ("m.json", '{"format": ' + "9" * 5000 + "}", "a whole number has too many digits"),
        (
            "m.uai",
            "MARKOV\n" + "9" * 5000,
            r"m\.uai:2: the number of variables should be a whole number",
        ),
        ("m.json", b"\xff\xfe", "not a text in UTF-8"),
        ("m.json.gz", b"plain", "Not a gzipped file"),
        ("m.json.gz", gzip.compress(b"{}" * 99, mtime=0)[:-12], "m.json.gz: "),
        ("m.uai", "MARKOW 1", r"m\.uai:1: .*MARKOV or BAYES, not 'MARKOW'"),
        ("m.uai", "", "the file ends where MARKOV or BAYES should be"),
        ("m.uai", "MARKOV\n2\n2 0\n", r"m\.uai:3: variable x1 has an empty range"),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 x\n",
            r"m\.uai:5: an argument of factor f0 should be a whole number.*'x'",
        ),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 1\n",
            r"m\.uai:5: factor f0 has the argument 1, but there are 1 variables",
        ),
        ("m.uai", "MARKOV\n2\n2 2\n1\n2 1 1\n", r"m\.uai:5: factor f0 has the argument 1 twice"),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 0\n\n3\n1 2 3",
            r"m\.uai:7: factor f0 has 3 potentials but .* span 2 states",
        ),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 0\n\n2\n1 -2",
            r"m\.uai:8: factor f0: potentials are finite .*'-2'",
        ),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 0\n\n2\n0 0",
            r"m\.uai:8: factor f0 has only zero potentials",
        ),
        (
            "m.uai",
            "MARKOV\n1\n2\n1\n1 0\n\n2\n1",
            r"m\.uai:8: the file ends where factor f0 should be",
        ),
        ("m.uai", "MARKOV 1 2 0\n7", r"m\.uai:2: '7' stands after the end"),
        ("m.uai", "MARKOV\n1_0", r"m\.uai:2: '1_0' is not a number"),
        (
            "m.fg",
            "1\n\n1\n3\n2\n1\n5 1.0",
            r"m\.fg:7: factor f0 lists entry 5, but its arguments span 2 states",
        ),
        (
            "m.fg",
            "2\n\n1\n3\n2\n1\n0 1\n\n1\n3\n3\n1\n0 1",
            "x3 has range size 3 in factor f1, but elsewhere 2",
        ),
        ("m.fg", "1\n\n2\n3 3\n2 2\n1\n0 1", "factor f0 has the argument 3 twice"),
        ("m.fg", "1 # one\n\n1\n3\n2\n0\n", "factor f0 has only zero potentials"),
        ("m.evid", "2 0 1", "2 observations are announced, but 1 pairs"),
        ("m.evid", "2 1 0 1", "evidence for 2 samples"),
        ("m.evid", "2 0 1 0 0", "variable 0 is observed twice"),
        ("m.txt", "", "the ending '.txt' tells no known format"),
        ("model", "", "the ending '' tells no known format"),
    ],
)
def test_broken_files(tmp_path, name, text, message):
    path = tmp_path / name
    text = json.dumps(text) if isinstance(text, dict) else text
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(lifagu.FormatError, match=message) as caught:
        lifagu.io.read_evidence(path) if name.endswith(".evid") else lifagu.read(path)
    assert str(caught.value).startswith(str(path))


LINES = """{
  "format": "lifagu/1",
  "domains": {"Person": 3, "Drug": ["m.1", "m]"]},
  "relations": [
    {"name": "Epid"},
    {"name": "Sick",
     "of": ["Person"]}
  ],
  "parfactors": [
    {"name": "g", "args": ["Sick(X)", "Epid"], "table": [1, 2, 3, 4]},
    {"name": "h", "args": ["Sick(X)",
                           "Epid"],
     "where": ["X != 1",
               "X != 2"],
     "table": [1, 2, 3, 4]}
  ],
  "evidence": {"Epid": "true",
               "Sick(1)": "false"}
}
"""


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [
        ('"lifagu/1"', '"lifagu/2"', "m.json:2: format: "),
        ('"Person": 3', '"Person": -3', "m.json:3: domains.Person: "),
        ('"m]"', '"m.1"', "m.json:3: domains.Drug: "),
        ('"of": ["Person"]', '"of": ["Persn"]', "m.json:6: relations[1]: "),
        ('["Sick(X)", "Epid"]', '["Sick(X)", "Epd"]', "m.json:10: parfactors[0].args[1]: "),
        ('"Epid"],\n', '"Epid(X)"],\n', "m.json:12: parfactors[1].args[1]: "),
        ('"X != 2"', '"Y != 2"', "m.json:14: parfactors[1].where[1]: "),
        ('"h"', '"g"', "m.json:11: parfactors[1]: "),
        ("4]}\n", "5, 6]}\n", "m.json:11: parfactors[1]: "),
        ('"false"', "null", "m.json:18: evidence.Sick(1): "),
        ('"evidence"', '"evidenc"', "m.json:17: evidenc: "),
    ],
)
def test_errors_in_json_carry_line_and_path(old, new, start):
    assert LINES.count(old) == 1
    text = LINES.replace(old, new)

    def read(text):
        return native.from_json(text, "m.json"), native.contents(text, "m.json").evidence()

    read(LINES)
    with pytest.raises(lifagu.FormatError) as caught:
        read(text)
    assert str(caught.value).startswith(start)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(lifagu.FormatError, match="there is no such file"):
        lifagu.read(tmp_path / "nothing.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(lifagu.FormatError, match="this is a folder"):
        lifagu.read(tmp_path / "folder.json")
    graph = lifagu.FactorGraph.build().graph()
    with pytest.raises(lifagu.FormatError, match="cannot be written here"):
        lifagu.write(graph, tmp_path / "no/such/folder.json")
    with pytest.raises(lifagu.FormatError, match=r"not a Bayesian network"):
        lifagu.write(graph, tmp_path / "m.bif")
    with pytest.raises(lifagu.FormatError, match=r"known are .json, .uai, .fg, .blog \(each"):
        lifagu.write(graph, tmp_path / "m.txt")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "m.uai"
    target.write_text("old")
    unknown = lifagu.FactorGraph.build().variable("A").factor("u", "A", None).graph()
    with pytest.raises(lifagu.FormatError, match=r"u are unknown; write .json"):
        lifagu.write(unknown, target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_numbers_and_booleans_as_labels():
    model = {
        "format": "lifagu/1",
        "variables": [{"name": "A", "range": [False, True]}, {"name": "B", "range": [0, 1.5]}],
    }
    graph = native.from_json(json.dumps(model))
    assert [variable.range for variable in graph.variables] == [("false", "true"), ("0", "1.5")]
    assert native.contents('{"A": true, "B": 1.5}', "<text>").evidence() == {
        "A": "true",
        "B": "1.5",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", {}),
        ("0\n", {}),
        ("", {}),
        ("1 0", {}),
        ("1\n0\n", {}),
        ("1 3 0", {"x3": "0"}),
        ("1\n1 3 0", {"x3": "0"}),
        ("2 3 0 4 1", {"x3": "0", "x4": "1"}),
        ("1\n2 3 0\n4 1\n", {"x3": "0", "x4": "1"}),
    ],
)
def test_dialects_of_uai_evidence(text, expected):
    assert uai.parse_evidence(text) == expected


def test_bayes_header_and_repeated_scopes():
    graph = uai.parse_uai("bayes 1 2  3  1 0 1 0 1 0  2 1 3  2 1 3  2 2 2")
    assert graph.factor_table.tolist() == [0, 0, 1]
    assert lifagu.query(graph, "x0").probabilities.tolist() == pytest.approx([0.1, 0.9])


def test_networks_have_endings_of_their_own():
    assert not set(NETWORKS) & set(FORMATS)


def references():
    return sorted(DATA.glob("*.ref.json"))


@pytest.mark.parametrize(
    "reference", references() or [None], ids=lambda path: path.name if path else "absent"
)
def test_uai_competition_files(reference):
    """log Z to 1e-9, marginals to 1e-7 (the references have twelve digits)."""
    if reference is None:
        pytest.skip("the competition files are not beside the checkout")
    expected = json.loads(reference.read_text())
    model = Path(str(reference).removesuffix(".ref.json"))
    evidence = lifagu.io.read_evidence(f"{model}.evid")
    assert evidence == {
        f"x{variable}": str(value) for variable, value in expected["evidence"].items()
    }
    graph = lifagu.read(model if model.exists() else f"{model}.gz")
    assert len(graph.variable_names) == expected["n_vars"]
    assert len(graph.factor_names) == expected["n_factors"]
    assert len(graph.tables) == expected["n_distinct_tables"]
    found = lifagu.marginals(graph, evidence=evidence)
    assert found.log_partition == pytest.approx(expected["logZ_natural"], rel=1e-9)
    for variable, probabilities in expected.get("marginals", {}).items():
        assert list(found[f"x{variable}"].values()) == pytest.approx(probabilities, abs=1e-7)
    for kind in "XY" if "marginal_classes" in expected else "":
        classes = expected["marginal_classes"]
        first, last = classes[f"{kind}_vars"]
        for variable in {f"x{number}" for number in range(first, last + 1)} - evidence.keys():
            assert found[variable]["1"] == pytest.approx(
                classes[f"P({kind}=1) for unobserved {kind}"], rel=1e-9
            )
