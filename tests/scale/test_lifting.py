"""Folders lifted where they are: as in memory, out of core, interrupted, on a broken cluster."""

import random
import sys

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.basics.arrays import by_first_occurrence
from lifagu.questions.by_sql.lifting import _refined, lift_on
from lifagu.questions.place import Place
from lifagu.scale import colour_rounds
from lifagu.scale import equal_multisets as alike_rows
from lifagu.scale.colour_rounds import Sizes, pass_colours
from lifagu.scale.engines.on_duckdb import DuckEngine
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.finishing_in_memory import finisher
from support.by_sql import BY_INDIVIDUALS, WAYS, Told, cases, lifted_by_sql, lifted_in_memory
from support.graphs_for_engines import big_graph, chain
from support.helpers import run_cli
from support.parquet_folders import make_folder
from support.parquet_mistakes import MISTAKES
from support.same_results import assert_same_groups, assert_same_lift, assert_same_tables
from support.spark_cluster import cluster
from support.strategies import observed_graphs

# ---- the protocol


def test_tables_are_replaced_exported_and_found_again(tmp_path):
    opened = open_engine("duckdb", tmp_path / "work", 2**28)
    opened.register("given", {"id": np.arange(5), "word": np.array(list("abcab"), dtype=object)})
    opened.create("kept", "SELECT id, word FROM given WHERE id > 0")
    # a table may be made from what it replaces
    opened.create("kept", "SELECT id + 1 AS id, word FROM kept")
    opened.create("seen", "SELECT word, count(*) AS times FROM kept GROUP BY word")
    opened.drop("given")
    for name in ("one", "two"):
        opened.export("SELECT * FROM kept ORDER BY id DESC", tmp_path / f"{name}.parquet")
    opened.close()
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    again = open_engine("duckdb", tmp_path / "work", 2**28)
    assert again.names() == {"kept", "seen"}
    assert again.rows("SELECT * FROM seen ORDER BY word") == [("a", 1), ("b", 2), ("c", 1)]
    again.register("exported", tmp_path / "one.parquet")
    assert again.columns("SELECT id FROM exported")[0].tolist() == [5, 4, 3, 2]
    for wrong in ("SELECT * FROM nowhere", "SELEC"):
        with pytest.raises(lifagu.FormatError, match="^duckdb: "):
            again.rows(wrong)
    again.close()
    with pytest.raises(lifagu.ModelError, match="there is no engine 'oracle'"):
        open_engine("oracle", tmp_path)


# ---- colours by rounds


def random_arrays(rng):
    """Scopes with isolated variables, factors without arguments, hubs, some scopes repeated."""
    variables, factors = rng.randint(1, 14), rng.randint(0, 16)
    scopes = [
        rng.sample(range(variables), rng.randint(0, min(3, variables))) for _ in range(factors)
    ]
    scopes += [each for each in scopes if rng.random() < 0.2]
    start = [rng.randint(0, 1) * (rng.random() < 0.3) for _ in range(variables + len(scopes))]
    return (
        scopes,
        np.array(start[:variables], dtype=np.int64),
        np.array(start[variables:], dtype=np.int64),
    )


def path_arrays(length):
    return [[each, each + 1] for each in range(length - 1)], *(
        np.zeros(n, np.int64) for n in (length, length - 1)
    )


def passed(engine, scopes, variable_start, factor_start, memory=None, most_rounds=1000):
    """Colours by SQL, numbered by first occurrence, and the state in which it ended."""
    arity = [len(scope) for scope in scopes]
    owners = np.repeat(np.arange(len(scopes)), arity).astype(np.int64)
    positions = np.array([place for scope in scopes for place in range(len(scope))], dtype=np.int64)
    members = np.array([each for scope in scopes for each in scope], dtype=np.int64)
    engine.register("arguments", {"factor": owners, "position": positions, "variable": members})
    for side, start in (("variable", variable_start), ("factor", factor_start)):
        engine.register(f"{side}_start", {"id": np.arange(len(start)), "colour": start})
    colours = len(np.unique(variable_start)) + len(np.unique(factor_start))
    sizes = Sizes(len(variable_start), len(factor_start), colours + 2)
    finish = None if memory is None else finisher(sizes, _refined, memory)
    state = pass_colours(engine, sizes, most_rounds, finish)
    found = []
    for table in (state.variables, state.factors):
        (column,) = engine.columns(f"SELECT colour FROM {table} ORDER BY id")
        found.append(
            by_first_occurrence(
                np.unique(np.ma.getdata(column), return_inverse=True)[1].reshape(-1)
            )
        )
    return found, state


def kernel(scopes, variable_start, factor_start):
    offsets = np.cumsum([0, *map(len, scopes)])
    members = np.array([each for scope in scopes for each in scope], dtype=np.int64)
    return _refined(offsets, members, None, variable_start, factor_start)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    opened = DuckEngine(tmp_path_factory.mktemp("duck"), 2**28)
    yield opened
    opened.close()


@pytest.mark.parametrize("seed", range(24))
def test_rounds_by_sql_give_the_kernels_colours(engine, monkeypatch, seed):
    """To the end by SQL, or handed over after the first, second, … round that changes anything."""
    monkeypatch.setattr(colour_rounds, "FIRST_FINISH", 1 + seed % 4 // 2)
    arrays = random_arrays(random.Random(seed))
    found, _ = passed(engine, *arrays, memory=None if seed % 2 else 2**20)
    for mine, theirs in zip(found, kernel(*arrays), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_still_changes_is_handed_over(engine):
    """Two long paths beside a star: only they are handed over, after four rounds."""
    scopes, *_ = path_arrays(12)
    scopes = [[each + shift for each in scope] for shift in (0, 12) for scope in scopes]
    scopes += [[24 + leaf, 30] for leaf in range(6)]
    arrays = (scopes, np.zeros(31, np.int64), np.array([0] * 22 + [1] * 6))
    seen = []

    def refine(*arrays):
        seen.append(len(arrays[1]))
        return _refined(*arrays)

    sizes = Sizes(31, 28, 3)
    passed(engine, *arrays, most_rounds=1000)
    state = pass_colours(engine, sizes, 1000, finisher(sizes, refine, 2**20))
    assert (state.round, seen) == (4, [44])
    for mine, theirs in zip(passed(engine, *arrays, memory=2**20)[0], kernel(*arrays), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_nothing_is_handed_over_that_does_not_fit(engine):
    arrays = path_arrays(20)
    found, state = passed(engine, *arrays, memory=100)
    assert state.round > 8
    np.testing.assert_array_equal(found[0], kernel(*arrays)[0])
    with pytest.raises(lifagu.TooLargeError, match="colours still change after 3 rounds"):
        passed(engine, *arrays, memory=100, most_rounds=3)


def test_a_hash_finds_and_comparing_decides(engine, monkeypatch):
    """With sums that say nothing at first, rows are found to differ, and other sums are taken."""
    true, tried = alike_rows.sums, []

    def sums(dialect, salt):
        tried.append(salt)
        return true(dialect, salt) if salt > 1 else "1 AS one, 1 AS two, count(*) AS places"

    monkeypatch.setattr(alike_rows, "sums", sums)
    arrays = random_arrays(random.Random(5))
    for mine, theirs in zip(passed(engine, *arrays)[0], kernel(*arrays), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert max(tried) == 2


# ---- folders


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(observed_graphs(), st.sampled_from(WAYS))
def test_folders_come_out_as_from_memory(tmp_path_factory, observed, ways):
    place, (graph, evidence) = tmp_path_factory.mktemp("folder"), observed
    lifagu.write(graph, place / "big", evidence)
    memory, engine = cases(place / "big", None, ways, memory_limit=2**28)
    expected, found = memory.lift(out=place / "memory"), engine.lift(out=place / "duckdb")
    assert_same_lift(found, expected)
    assert_same_tables(place / "duckdb", place / "memory")
    assert_same_groups(engine.groups(), memory.groups())


def test_neither_the_order_of_rows_nor_the_ids_matter(tmp_path):
    """Ids with gaps, rows in any order, numbers as floats, overridden evidence, supports."""
    make_folder(
        tmp_path / "big",
        variables="""
            SELECT 7 * i AS id,
                   CASE i % 3 WHEN 0 THEN ['no', 'yes'] WHEN 1 THEN ['yes', 'no'] END AS range,
                   CASE WHEN i % 2 = 0 THEN 'even' END AS kind
            FROM range(40) t(i)
            ORDER BY hash(i)
        """,
        factors="""
            SELECT 5.0 * i AS id, CASE WHEN i % 4 <> 1 THEN 3 * (i % 3) END AS table_id,
                   CASE WHEN i % 5 <> 2 THEN i END AS support, [1, i, 2, 3] AS prior
            FROM range(38) t(i)
            ORDER BY hash(i)
        """,
        arguments="""
            SELECT 5 * i AS factor_id, p AS position, 7 * (i + p) AS variable_id
            FROM range(38) t(i), range(2) u(p)
            ORDER BY hash(i + 100 * p)
        """,
        tables="""
            SELECT * FROM (
                VALUES (0, [1, 2, 3, 4]), (3, [1, 2, 3, 4]), (6, NULL)
            ) t(id, potentials)
        """,
        evidence="""
            SELECT 7 * i AS variable_id, CASE WHEN i % 3 < 2 THEN 'yes' ELSE 'true' END AS value
            FROM range(9) t(i)
        """,
    )
    evidence = {"x0": "no", "x70": {"yes": 1.0, "no": 3.0}}
    for ways in (BY_INDIVIDUALS, {"by": "lifagu"}):
        lifted_in_memory(tmp_path / "big", tmp_path / "memory", evidence, **ways)
        lifted_by_sql(tmp_path / "big", tmp_path / "sql", evidence, ways)
        assert_same_tables(tmp_path / "sql", tmp_path / "memory")


def test_the_published_rule_copies_along_the_bijection(tmp_path):
    """By position where ranges fit, along the bijection where they do not."""
    builder = lifagu.FactorGraph.build().variables(list("ACEGI"))
    builder.variables(list("BDFHJ"), ["lo", "mid", "hi"])
    builder.factor("f", ["A", "B"], [1, 2, 3, 4, 5, 6]).factor("g", ["D", "C"], [6, 5, 4, 3, 2, 1])
    for name, args in (("u", "FE"), ("v", "GH"), ("w", "JI")):
        builder.factor(name, list(args), None)
    lifagu.write(builder.graph(), tmp_path / "big")
    ways = {"by": "lifagu"}
    lifted_in_memory(tmp_path / "big", tmp_path / "memory", **ways)
    lifted_by_sql(tmp_path / "big", tmp_path / "sql", None, ways)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")
    memory, engine = cases(tmp_path / "big", None, ways)
    for name in "EFGHIJ":
        np.testing.assert_allclose(
            engine.ask(name).probabilities, memory.ask(name).probabilities, rtol=1e-12
        )


def test_many_arguments_are_compared_and_not_packed(tmp_path):
    """Looks of 40 arguments do not fit into one number."""
    builder = lifagu.FactorGraph.build().variables([f"v{each}" for each in range(60)])
    for number in range(12):
        builder.factor(f"f{number}", [f"v{(number // 2 + each) % 60}" for each in range(40)], None)
    for each in range(60):
        builder.factor(f"g{each}", [f"v{each}"], [1, 1 + each % 3])
    lifagu.write(builder.graph(), tmp_path / "big")
    lifted_in_memory(tmp_path / "big", tmp_path / "memory")
    lifted_by_sql(tmp_path / "big", tmp_path / "sql")
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")


@pytest.mark.parametrize("tables", [tables for tables, _ in MISTAKES.values()], ids=MISTAKES)
def test_what_cannot_be_read_is_refused(tmp_path, tables):
    folder = make_folder(tmp_path / "big", **tables)
    with pytest.raises(lifagu.FormatError, match=str(folder)) as caught:
        lifted_by_sql(folder, tmp_path / "out", temp=tmp_path / "temp")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "temp").glob("*"))


@pytest.mark.full
def test_a_million_arguments_in_less_memory_than_they_take(tmp_path):
    """DuckDB gets 36 MiB; the arguments alone are 24 MB, and every join holds more."""
    check_little_memory(tmp_path, people=111_111, unknown=33_333)


def test_many_arguments_in_little_memory(tmp_path):
    """A fifth of them, under the same limit."""
    check_little_memory(tmp_path, people=20_000, unknown=6_000)


def check_little_memory(tmp_path, people, unknown):
    lifagu.write(big_graph(people), tmp_path / "big")
    expected = lifted_in_memory(tmp_path / "big", tmp_path / "memory")
    found = lifted_by_sql(
        tmp_path / "big", tmp_path / "sql", memory_limit=60 * 2**20, temp=tmp_path / "temp"
    )
    assert found.unknown == found.filled == unknown
    assert_same_lift(found, expected)
    assert_same_tables(tmp_path / "sql", tmp_path / "memory")
    assert not list((tmp_path / "temp").iterdir())


# ---- interrupted and refused


def test_too_little_memory_and_a_full_disk(tmp_path):
    """Both end with one line that says which, and leave neither output nor tables."""
    lifagu.write(big_graph(20_000), tmp_path / "big")
    with pytest.raises(
        lifagu.TooLargeError, match="the memory does not suffice; give a larger memory_limit"
    ):
        lifted_by_sql(tmp_path / "big", tmp_path / "out", memory_limit=2**20)
    opened = open_engine("duckdb", tmp_path / "work", 12 * 2**20)
    opened.run("SET max_temp_directory_size = '1MB'")
    with pytest.raises(lifagu.TooLargeError, match="the disk is full; free some of it"):
        lift_on(
            opened, tmp_path / "big", {}, lifagu.Filling(), Place("duckdb"), tmp_path / "out", 2**30
        )
    opened.close()
    assert not (tmp_path / "out").exists()


# ---- the command line


def test_lift_on_the_command_line(tmp_path, capsys):
    lifagu.write(chain(6), tmp_path / "big")
    status, out, err = run_cli(
        capsys, "lift", tmp_path / "big", "--on", "duckdb", "--out", f"{tmp_path}/out/"
    )
    assert (status, err) == (0, "")
    assert out.startswith("2 of 2 unknown factors filled, 0 left (all agree)\n")
    assert (tmp_path / "out/quotient.parquet").exists()
    assert lifagu.read(tmp_path / "out").unknown.size == 0
    status, out, err = run_cli(capsys, "lift", tmp_path / "big", "--memory-limit", "2k")
    assert status == 4
    assert err.startswith(
        "note: duckdb was chosen: 10 arguments need about 3.91 KiB, beyond the limit of 2 KiB\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fill", "extended", "--steps", "4"],
            "steps works in memory only, not on duckdb; leave it out, or take --on memory",
        ),
        (["--json"], "--json works in memory only"),
        (["--out", "model.json"], "model.json: what duckdb finds is written into a folder"),
        (["--evidence", "nobody=true"], "there is no variable 'nobody' in the model"),
        (["--evidence", "v0=maybe"], "variable 'v0' has no value 'maybe'"),
    ],
)
def test_refusals(tmp_path, capsys, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    lifagu.write(chain(4), "big/")
    status, out, err = run_cli(capsys, "lift", "big/", "--on", "duckdb", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["big"]


# ---- Spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.mark.full
def test_a_lost_worker_changes_nothing(tmp_path, monkeypatch, spark):
    """One of two workers is killed after the first round; the current folder stays as it was.

    Twenty individuals with three factors each, of which every other one takes its unknown factor
    from another's.
    """
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    make_folder(
        tmp_path / "big",
        variables="""
            SELECT i AS id,
                   CASE WHEN i % 5 = 0 THEN ['no', 'yes'] END AS range,
                   concat('k', i % 3) AS kind,
                   CASE WHEN i < 60 THEN [concat('p', i % 20), 'ward'] ELSE [] END AS individual
            FROM range(61) t(i)
        """,
        factors="""
            SELECT i AS id, CASE WHEN i % 6 <> 1 THEN i % 20 // 10 END AS table_id
            FROM range(60) t(i)
        """,
        arguments="""
            SELECT i AS factor_id,
                   p AS position,
                   CASE WHEN p = 0 THEN i ELSE 60 END AS variable_id
            FROM range(60) t(i), range(2) u(p)
        """,
        tables="SELECT * FROM (VALUES (0, [1, 2, 3, 4]), (1, [4, 3, 2, 1])) t(id, potentials)",
        evidence="""
            SELECT i AS variable_id, NULL AS value, [1.0, i % 2 + 2.0] AS likelihood
            FROM range(1, 9, 5) t(i)
        """,
    )
    expected = lifted_in_memory(tmp_path / "big", tmp_path / "memory")
    ended = []

    def told(line):
        if line.startswith("round"):
            ended.append(line)
            if len(ended) == 1:
                spark.kill_worker()

    place = {"on": f"spark={spark.master}", "temp": tmp_path, "progress": Told(told)}
    found = lifted_by_sql(tmp_path / "big", tmp_path / "spark", **place)
    assert len(ended) > 1
    assert_same_lift(found, expected)
    assert_same_tables(tmp_path / "spark", tmp_path / "memory")
    filled = duckdb.sql(
        f"SELECT unit, count(*) FROM '{tmp_path}/spark/transfers.parquet' GROUP BY unit"
    ).fetchall()
    assert filled == [("individual", 10)]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["big", "here", "memory", "spark"]
    assert not list((tmp_path / "here").iterdir())


def test_no_master_and_no_spark(tmp_path, monkeypatch):
    lifagu.write(chain(4), tmp_path / "big")
    with pytest.raises(
        lifagu.ModelError,
        match="'nonsense' is no master of Spark; name one such as spark://host:7077",
    ):
        lifted_by_sql(tmp_path / "big", None, on="spark=nonsense")
    for module in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(lifagu.MissingExtraError, match=r"pip install 'lifagu\[spark\]'"):
        lifted_by_sql(tmp_path / "big", None, on="spark")
