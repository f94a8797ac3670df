"""The example hospital: drawn and read alike everywhere, imputed, written back, run again."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import numpy as np
import psycopg
import pytest

import lifagu
from lifagu.basics.columns import KeyColumn, Lists, Nullable
from lifagu.cli.demo import true_graph
from lifagu.examples.hospital import NEW_WARD, UNFILLED_KIT, hospital
from lifagu.examples.installing import install_hospital, learned_hospital, result_arrives
from support.helpers import run_cli

DRAWN = hospital()
TABLES = ("lifagu_marginals", "lifagu_tables", "lifagu_transfers")


@pytest.fixture
def template(tmp_path):
    return install_hospital(tmp_path / "hospital", DRAWN)


@contextmanager
def filled_schema(url, drawn=DRAWN):
    """A schema of its own on the server that holds a hospital, and the URL that leads there."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS ward CASCADE")
        connection.execute("CREATE SCHEMA ward")
        connection.execute("SET search_path = ward")
        for name, rows in drawn.tables.items():
            types = ", ".join(f"{title} {type_of(values)}" for title, values in rows.items())
            connection.execute(f"CREATE TABLE {name} ({types})")
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in zip(*rows.values(), strict=True):
                    copy.write_row(row)
        yield f"{url}?options=-csearch_path%3Dward"


@pytest.fixture(params=["duckdb", "postgresql"])
def database(request):
    """What to name with --db: nothing for the template's DuckDB file, or a server with the same."""
    if request.param == "duckdb":
        yield None
        return
    with filled_schema(request.getfixturevalue("new_database")()) as url:
        yield url


def type_of(values):
    if any(isinstance(each, list) for each in values):
        return "double precision[]"
    return "boolean" if isinstance(values[0], bool) else "text"


def plain(column):
    """A column of results as plain values, None for null."""
    if isinstance(column, Lists):
        of = range(len(column.offsets) - 1) if column.of is None else column.of.tolist()
        return [
            column.values[column.offsets[each] : column.offsets[each + 1]].tolist() or None
            for each in of
        ]
    if isinstance(column, KeyColumn):
        return column.plain()
    values = column.numbers.tolist() if isinstance(column, Nullable) else column.tolist()
    return [
        None
        if each is None or each != each or (isinstance(column, Nullable) and each < 0)
        else each
        for each in values
    ]


def rows_of(columns):
    return list(zip(*map(plain, columns.values()), strict=True))


def chances(marginals):
    """The probability of each label of each variable."""
    names = ("variable", "value", "probability")
    rows = zip(*(plain(marginals[name]) for name in names), strict=True)
    return {(variable, label): share for variable, label, share in rows}


def imputed(template, database=None, **settings):
    loaded = lifagu.io.load(template, database)
    return lifagu.impute(loaded.model, loaded.evidence, loaded.queries, **settings)


# ---- The generator


def test_the_same_seed_gives_the_same_hospital_whatever_the_hashes():
    code = "from lifagu.examples.hospital import hospital; drawn = hospital(); print(drawn)"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {f"{DRAWN}\n".encode()}
    assert hospital(seed=8) != DRAWN


def test_there_are_gaps_of_every_kind():
    patients = DRAWN.tables["patient"]
    by_ward = [ward for ward in DRAWN.tables["stay_history"]["ward"] if ward == NEW_WARD]
    assert len(by_ward) < 20 < len(patients["name"])
    assert None in patients["profile"]
    assert None in patients["genotype"]
    assert dict(zip(*DRAWN.tables["kit"].values(), strict=True))[UNFILLED_KIT] is None
    eve = patients["name"].index("eve")
    assert [patients[key][eve] for key in ("profile", "age", "stay")] == [None] * 3
    assert "eve" not in DRAWN.tables["test"]["patient"]


def test_the_database_says_what_is_so_but_for_its_gaps(template):
    loaded = lifagu.io.load(template)
    assert {name: DRAWN.world[name] for name in loaded.evidence} == dict(loaded.evidence)
    learned = ("age", "stay")
    for factor in loaded.model.factors:
        true = np.array(DRAWN.truth[factor.name])
        if factor.table is not None:
            tolerance = 0.3 if factor.name.partition("(")[0] in learned else 1e-12
            assert np.abs(factor.table.reshape(-1) - true).max() < tolerance
    unknown = {loaded.model.factor_names[each].partition("(")[0] for each in loaded.model.unknown}
    assert unknown == {"age", "intake", "lab", "stay", "response", "roster"}


# ---- From the database to answers


def test_the_default_comes_closer_to_the_truth_than_the_published_rule(template):
    case = lifagu.open(template)
    true = true_graph(case.graph, DRAWN.truth)
    truth = lifagu.marginals(true, evidence=case.evidence)

    def mean_error(**filling):
        given = case.fill(**filling).marginals()
        far = [
            abs(truth[name][label] - chance)
            for name in given
            for label, chance in given[name].items()
        ]
        return np.mean(far)

    assert 0 < mean_error() < mean_error(by="lifagu") / 2


def test_the_result_of_a_test_moves_answers_and_nothing_else(template):
    before = imputed(template).tables()
    result_arrives(template.parent, "eve", "positive")
    after = imputed(template).tables()
    told = [{**each["transfers"], "posterior": np.zeros(150)} for each in (before, after)]
    assert rows_of(told[0]) == rows_of(told[1])
    moved = before["transfers"]["posterior"] - after["transfers"]["posterior"]
    assert 0 < np.nanmax(np.abs(moved)) < 0.1  # others learn a little from her, by the epidemic
    assert rows_of(before["tables"]) == rows_of(after["tables"])
    first, second = chances(before["marginals"]), chances(after["marginals"])
    assert list(first) == list(second)
    assert second["Test(eve)", "positive"] == 1
    assert second["Sick(eve)", "true"] > first["Sick(eve)", "true"]


def test_a_new_patient_adds_rows_and_keeps_the_others(template):
    before = imputed(template, by="extended").tables()
    with duckdb.connect(str(template.parent / "hospital.duckdb")) as database:
        database.execute("INSERT INTO patient (name, ward) VALUES ('dora', 'surgery')")
    after = imputed(template, by="extended").tables()
    for name in ("transfers", "tables"):
        old, new = ([row[0] for row in rows_of(each[name])] for each in (before, after))
        assert [each for each in new if "dora" not in each] == old
        assert {each for each in new if "dora" in each} == {"intake(dora)"}
    old, new = ({row[0]: row for row in rows_of(each["tables"])} for each in (before, after))
    assert all(new[name] == row for name, row in old.items())


# ---- Tables that are learned in place of given ones


def test_learned_tables_tell_hidden_cells_nearly_as_well_as_given_ones(template):
    only = ["Age", "Test", "Stay", "Effect"]
    given, learned = (
        lifagu.open(each).validate(only=only).json()
        for each in (template, learned_hospital(template))
    )
    assert given["hidden"] == learned["hidden"]
    assert given["baseline"] == learned["baseline"]
    assert learned["log_loss"] < given["log_loss"] + 0.02
    assert learned["log_loss"] < learned["baseline"]["log_loss"] - 0.04


def test_learned_tables_find_out_that_eve_is_frail(template):
    case = lifagu.open(learned_hospital(template))
    assert case.ask("Profile(eve)")["frail"] > 0.9
    assert abs(case.ask("Sick(eve)")["true"] - 0.726) < 0.1


# ---- Every database alike


def test_duckdb_and_postgresql_give_the_same(template, new_database):
    with filled_schema(new_database()) as url:
        here, there = lifagu.io.load(template), lifagu.io.load(template, url)
        assert here.model == there.model
        assert dict(here.evidence) == dict(there.evidence)
        assert list(here.queries) == list(there.queries)
        mine, theirs = imputed(template).tables(), imputed(template, url).tables()
        assert {name: rows_of(each) for name, each in mine.items()} == {
            n: rows_of(each) for n, each in theirs.items()
        }


def everything(database, path):
    """Names of all tables, and the rows of lifagu's, in the order written."""
    with (
        duckdb.connect(str(path), read_only=True)
        if database is None
        else psycopg.connect(database) as connection
    ):
        here = (
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema IN ('main', 'ward') ORDER BY 1"
        )
        names = [row[0] for row in connection.execute(here).fetchall()]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def test_what_is_written_is_what_was_found(database, template, capsys):
    file = template.parent / "hospital.duckdb"
    before = everything(database, file)
    arguments = ["impute", template, "--write", *(["--db", database] if database else [])]
    assert run_cli(capsys, *arguments)[0] == 0
    after = everything(database, file)
    wide = {name for name in after if name.startswith("lifagu_wide_")}
    assert wide
    assert set(after) == {*before, *TABLES, *wide}
    assert {name: after[name] for name in before} == before
    for name, columns in imputed(template, database).tables().items():
        assert after[f"lifagu_{name}"] == rows_of(columns)
    assert run_cli(capsys, *arguments, "--theta", "1")[0] == 0
    again = everything(database, file)
    assert {name: again[name] for name in before} == before
    assert again["lifagu_transfers"] != after["lifagu_transfers"]


KILLED = """
import os, signal, sys
from lifagu.cli import main
from lifagu.questions.findings import Imputed

class Deadly(dict):
    turns = 0
    def items(self):
        self.turns += 1
        for place, pair in enumerate(super().items()):
            if place == 2 and self.turns == int(sys.argv[1]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield pair

import lifagu.data.databases
write = lifagu.data.databases.write_results
lifagu.data.databases.write_results = lambda source, tables, *more: write(
    source, Deadly(tables), *more
)
main(sys.argv[2:])
"""


def test_a_killed_run_leaves_the_database_as_it_was(database, template, capsys):
    file = template.parent / "hospital.duckdb"
    arguments = ["impute", str(template), "--write", *(["--db", database] if database else [])]
    run_cli(capsys, *arguments)
    before = everything(database, file)
    killed = [sys.executable, "-c", KILLED, "2", *arguments, "--theta", "0.9"]
    assert subprocess.run(killed, capture_output=True, check=False).returncode == -9
    assert everything(database, file) == before
    run_cli(capsys, *arguments, "--theta", "0.9")
    assert everything(database, file) != before


# ---- The command


def test_nothing_is_written_unless_asked_for(template, capsys, tmp_path):
    file = template.parent / "hospital.duckdb"
    before = file.read_bytes()
    assert run_cli(capsys, "impute", template, "--out", tmp_path / "result")[0] == 0
    assert file.read_bytes() == before
    written = {each.name for each in (tmp_path / "result").iterdir()}
    wide = {name for name in written if name.startswith("wide_")}
    tables = {f"{name}.parquet" for name in ("evidence", "marginals", "tables", "transfers")}
    assert "wide_sick.parquet" in wide
    assert written == {"run.json", *tables, *wide}


def test_what_is_kept_is_never_replaced(capsys, template):
    before = (template.parent / "hospital.duckdb").read_bytes()
    status, out, err = run_cli(capsys, "demo", "--out", template.parent)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "this is there already" in err
    assert (template.parent / "hospital.duckdb").read_bytes() == before


def test_reports_do_not_depend_on_hashes(template):
    command = [sys.executable, "-m", "lifagu", "impute", str(template), "--json"]
    found = {
        subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_a_model_without_a_database_cannot_be_written_into(capsys, template):
    model = template.with_name("model.json")
    assert run_cli(capsys, "convert", template, model)[0] == 0
    status, _, err = run_cli(capsys, "impute", model, "--write")
    assert status == 2
    assert "reads no database to write into" in err
    status, out, _ = run_cli(capsys, "impute", model, "--queries", "Sick(eve)", "--json")
    expected = imputed(template).marginals["Sick(eve)"]
    assert json.loads(out)["marginals"][0]["probabilities"] == pytest.approx(expected, rel=1e-9)


def test_a_database_that_somebody_else_has_open_is_refused(template):
    file = template.parent / "hospital.duckdb"
    with duckdb.connect(str(file)):  # somebody else has it open
        command = [sys.executable, "-m", "lifagu", "impute", str(template), "--write"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (5, "", 1)
    assert str(file) in done.stderr


@pytest.mark.full
def test_the_demo_keeps_a_hospital_to_play_with(capsys, tmp_path):
    """All of it; in every run, docs/hospital.md shows what the demo says and asks what it keeps."""
    status, out, _ = run_cli(capsys, "demo", "--out", tmp_path / "kept")
    assert status == 0
    assert "All 5 who match eve as a whole agree on her table" in out
    assert "Test(eve)=positive told most: without it" in out
    assert "others without an interview who wait for a result" in out
    assert "6 tables are learned from the same cells" in out
    assert max(map(len, out.splitlines())) <= 120 + len(str(tmp_path))
    kept = tmp_path / "kept/hospital.json"
    assert rows_of(imputed(kept).tables()["tables"]) == rows_of(
        imputed(install_hospital(tmp_path / "fresh", DRAWN)).tables()["tables"]
    )
    assert "eve" not in DRAWN.tables["test"]["patient"]
