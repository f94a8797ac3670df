"""Parameters of templates: bound by each driver, of the declared sort, refused where unknown."""

import json
import sqlite3
from pathlib import Path

import duckdb
import psycopg
import pytest

import lifagu
from support.helpers import run_cli

HOSTILE = [
    "icu",
    "it's",
    "'; DROP TABLE stay; --",
    '"; DELETE FROM stay; --',
    "x' OR '1'='1",
    "Übung 病房 🩺",
    "100%s %(ward)s $1 ?",
    ":ward :other",
    "back\\slash\nline",
    "",
]
# all that looks like a parameter and is none, beside three that are
SQL = """
    SELECT id AS ":ward" /* :none */ FROM stay -- it's :nothing
    WHERE ward = :ward AND '12:30' <> ':ward' AND CAST(num AS INTEGER) >= :least
    AND id % 1 = 0 AND 'a%s' LIKE 'a%' AND (1 = :one OR :ward IS NULL)
"""


def fill(connection, mark):
    connection.execute("CREATE TABLE stay (id INTEGER, ward TEXT, num INTEGER, sick TEXT)")
    for number, ward in enumerate(HOSTILE):
        for twice in range(2):
            row = (10 * number + twice, ward, number, ("true", "false")[twice])
            connection.execute(f"INSERT INTO stay VALUES ({', '.join([mark] * 4)})", row)


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def address(request, tmp_path):
    """A database with two stays on each ward."""
    if request.param == "postgresql":
        url = request.getfixturevalue("new_database")()
        with psycopg.connect(url) as connection:
            fill(connection, "%s")
        return url
    path = str(tmp_path / f"data.{request.param}")
    module = duckdb if request.param == "duckdb" else sqlite3
    connection = module.connect(path)
    fill(connection, "?")
    connection.commit()
    connection.close()
    return path


def template(sql=SQL, parameters=None):
    """Stays that a query chooses, with a counted table and evidence that ask for the ward, too."""
    given = {"ward": "icu", "least": 0, "one": 1} if parameters is None else parameters
    of_ward = f"FROM stay WHERE {'ward = :ward' if given else 'true'}"
    often = {"learn": True, "records": {"sql": f"SELECT sick {of_ward}"}}
    return {
        "format": "lifagu/1",
        "source": "none.sqlite",
        **({"parameters": given} if given else {}),
        "domains": {"Stay": {"sql": sql}},
        "relations": [{"name": "Sick", "of": ["Stay"]}],
        "parfactors": [{"name": "sick", "args": ["Sick(S)"], "table": often}],
        "evidence": {"Sick": {"sql": f"SELECT id, sick {of_ward} AND sick = 'true'"}},
    }


@pytest.fixture
def path(tmp_path):
    """A template with parameters."""
    return written(tmp_path, template())


def written(folder, whole):
    place = folder / "model.json"
    place.write_text(json.dumps(whole))
    return str(place)


def test_values_are_bound(address, path):
    for number, ward in enumerate(HOSTILE):
        loaded = lifagu.io.load(path, address, parameters={"ward": ward})
        names = [f"Sick({10 * number + twice})" for twice in range(2)]
        assert list(loaded.model.variable_names) == names
        assert dict(loaded.evidence) == {names[0]: "true"}
        assert loaded.model.factors[0].support.records == (2.0,)
    asked = lifagu.io.load(path, address, parameters={"ward": "it's", "least": 0.5})
    assert len(asked.model.variable_names) == 2
    with pytest.raises(lifagu.FormatError, match="the query gives no row"):
        lifagu.io.load(path, address, parameters={"ward": "it's", "least": "2"})


def test_a_condition_may_name_parameters(address, path):
    case = lifagu.open(path, database=address, parameters={"ward": "it's"})
    found = case.ask_all("Sick", where="num = :least + 1 AND sick = 'false'")
    assert list(found) == ["Sick(11)"]


def test_on_the_command_line(address, path, capsys, tmp_path):
    ward = "'; DROP TABLE stay; --"
    options = ("--db", address, "--set", f"ward={ward}", "--set", "one=1")
    status, out, _ = run_cli(capsys, "query", path, "Sick(21)", *options)
    assert (status, out.splitlines()[0]) == (0, "P(Sick(21) | Sick(20)=true)")
    seen = template()
    seen["parfactors"][0]["table"] = {"learn": True, "min_support": 0}
    (tmp_path / "seen").mkdir()
    for command in ("check", "info", "validate", "impute", "lift"):
        asked = written(tmp_path / "seen", seen) if command == "validate" else path
        status, _, err = run_cli(capsys, command, asked, *options)
        assert (status, "there is no" in err) == (0, False), err
    status, _, err = run_cli(
        capsys, "convert", path, str(tmp_path / "out.json"), *options, "--set", "ward=it's"
    )
    assert (status, "it says two things of ward; leave out one of them" in err) == (2, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"wrd": 1}, r"model.json:1: parameters: the parameter 'wrd' is not .*mean 'ward'\?"),
        ({"zz": 1}, "the parameter 'zz' is not declared; declared are ward, least, one$"),
        ({"least": "many"}, "parameters.least: 'many' is no number, as the declared 0 is"),
        ({"least": ""}, "'' is no number"),
        ({"least": True}, "True is no number"),
        ({"ward": 4}, "4 is no text, as the declared 'icu' is"),
        ({"ward": None}, "the parameter has no value"),
        ({"ward": ["a"]}, r"is a number, a text, true or false, not \['a'\]"),
        ({"ward": "a\0b"}, "no database takes"),
        ({"ward": "\udcff"}, "no database takes"),
        ({"least": 2**63}, "does not fit into 64 bits"),
        ({"least": "1e999"}, "inf is no number that can be given"),
    ],
)
def test_what_does_not_fit_is_refused(path, given, said):
    with pytest.raises(lifagu.FormatError, match=said) as caught:
        lifagu.open(path, parameters=given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "parameters", "said"),
    [
        ("SELECT id FROM stay WHERE ward = :wart", {"ward": "a"}, "'wart' is not .*'ward'"),
        ("SELECT id FROM stay WHERE ward = :x", {"ward": "a"}, 'add it to "parameters", or put a'),
        ("SELECT 1", {"ward": None}, "parameters.ward: the parameter has no value"),
        ("SELECT 1", {"my ward": 1}, "'my ward' cannot be named in SQL"),
        ("SELECT 1", {"ward": [1]}, "a parameter is a number, a text, true or false"),
        ("SELECT 1", {"ward": 10**30}, "64 bits"),
    ],
)
def test_what_cannot_be_declared_is_refused(tmp_path, sql, parameters, said):
    with pytest.raises(lifagu.FormatError, match=said):
        lifagu.open(written(tmp_path, template(sql, parameters)))


def test_without_declarations_a_colon_means_what_it_did(address, tmp_path):
    plain = "SELECT id FROM stay WHERE 'a :x' = 'a :x' AND '100%' LIKE '%'"
    assert lifagu.io.load(written(tmp_path, template(plain, {})), address).model
    path = written(tmp_path, template("SELECT id FROM stay WHERE ward = :x", {}))
    with pytest.raises(lifagu.FormatError, match="the query fails"):
        lifagu.io.load(path, address)
    with pytest.raises(lifagu.FormatError, match="'x' is not declared; the file declares none"):
        lifagu.open(path, parameters={"x": 1})
    for subject in ("epidemic", lifagu.FactorGraph.build().variable("A").graph()):
        with pytest.raises(lifagu.LifaguError, match="parameters.*; leave out parameters"):
            lifagu.open(subject, parameters={"x": 1})
    with pytest.raises(lifagu.ModelError, match="parameters are a mapping"):
        lifagu.open(path, parameters=[1])


def test_slices_structs_and_dollars(tmp_path):
    sql = """
        SELECT a[1:2][one] FROM (SELECT [7, 8] AS a, 1 AS one)
        WHERE {'k':one}.k::INTEGER = :one AND $$:no$$ = $q$:no$q$ AND e'\\':no' <> ':no'
    """
    connection = duckdb.connect()
    whole = template(sql, {"one": 1, "unused": True})
    del whole["evidence"]
    whole["parfactors"][0]["table"] = [1, 2]
    loaded = lifagu.io.load(written(tmp_path, whole), connection)
    assert list(loaded.model.variable_names) == ["Sick(7)"]
    assert loaded.warnings == (
        f"{tmp_path}/model.json:1: parameters.unused: no query names :unused",
    )


def test_learned_templates_keep_the_values(address, tmp_path, capsys):
    whole = template("SELECT id FROM stay WHERE num >= :least", {"least": 0, "ward": "é'"})
    whole["parfactors"][0]["table"] = "learn"
    whole["evidence"]["Sick"]["sql"] = (
        "SELECT id, sick FROM stay WHERE ward <> :ward AND num >= :least"
    )
    path, out = written(tmp_path, whole), str(tmp_path / "learned.json")
    options = ("--db", address, "--set", "least=3")
    status, _, err = run_cli(capsys, "learn", path, *options, "--out", out)
    assert status == 0, err
    assert json.loads(Path(out).read_text())["parameters"] == {"least": 3, "ward": "é'"}
    model = lifagu.io.load(path, address, parameters={"least": 3}).model
    assert lifagu.io.load(out, address).model == model
