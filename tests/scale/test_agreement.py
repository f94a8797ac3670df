"""The default on an engine: what all agree on is as from memory, and what competes is refused."""

import random

import pytest

import lifagu
from lifagu.filling.cohorts.completing import CohortTransfer
from support.by_sql import case, cases
from support.helpers import run_cli
from support.same_results import (
    assert_imputed_alike,
    assert_same_answers,
    assert_same_lift,
    assert_same_tables,
)
from support.spark_cluster import WHY_NOT

ONE, OTHER = [1, 2, 3, 4], [4, 3, 2, 1]


def people(*tables, more=(), shuffled=None, **supports):
    """Somebody for each pair of tables, of a test and of a treatment, None where unknown.

    more: numbers of those who had another treatment, which is a further factor; supports: by the
    names of factors.
    """
    builder, factors = lifagu.FactorGraph.build().variable("Epid", kind="Epid"), []
    for number, (test, treatment) in enumerate(tables):
        name = f"p{number}"
        builder.variable(f"Sick.{name}", kind="Sick", individual=name)
        builder.variable(f"Treat.{name}", kind="Treat", individual=name)
        factors.append((f"test.{name}", [f"Sick.{name}", "Epid"], test))
        factors.append((f"treat.{name}", [f"Sick.{name}", f"Treat.{name}"], treatment))
        if number in more:
            factors.append((f"again.{name}", [f"Sick.{name}"], [1, 5]))
    if shuffled is not None:
        shuffled.shuffle(factors)
    for name, scope, table in factors:
        builder.factor(name, scope, table, support=supports.get(name.replace(".", "_")))
    return builder.graph()


# ---- on random folders


def random_people(rng):
    """Mostly people who agree; sometimes with another table, an estimate, or one factor more."""
    tables = [
        [None if rng.random() < 0.25 else ONE for _ in range(2)] for _ in range(rng.randint(2, 7))
    ]
    odd = rng.randrange(7)
    chosen = rng.randrange(len(tables))
    more, supports = (), {}
    if odd == 0:
        tables[chosen] = [OTHER, rng.choice([OTHER, None])]
    elif odd == 1:
        supports = {f"test_p{chosen}": 5.0}
    elif odd == 2:
        more = (chosen,)
    elif odd == 3:
        tables = [[None, each] for _, each in tables]
    graph = people(*tables, more=more, shuffled=rng, **supports)
    return graph, {"Sick.p0": "true"} if rng.random() < 0.5 else {}


def uses_cohorts(graph):
    return isinstance(lifagu.transfer(graph, by="auto"), CohortTransfer)


@pytest.mark.parametrize("seed", range(16))
def test_as_from_memory_or_refused(tmp_path, seed):
    graph, evidence = random_people(random.Random(seed))
    lifagu.write(graph, tmp_path / "big", evidence)
    assert_as_from_memory_or_refused(tmp_path, uses_cohorts(graph), temp=tmp_path / "temp")


def assert_as_from_memory_or_refused(place, refused, **engine):
    memory, elsewhere = cases(place / "big", **engine)
    if refused:
        for verb in ("lift", "impute"):
            with pytest.raises(lifagu.ModelError, match="for the unknown factor.* in memory only"):
                getattr(elsewhere, verb)(out=place / "sql")
        for ask in (lambda: elsewhere.ask("Epid"), elsewhere.log_partition, elsewhere.groups):
            with pytest.raises(lifagu.ModelError, match=r'or name a rule such as by="individuals"'):
                ask()
        assert not (place / "sql").exists()
        assert "temp" not in engine or not list(engine["temp"].iterdir())
        return
    expected = memory.lift(out=place / "lifted")
    assert_same_lift(elsewhere.lift(out=place / "lifted by sql"), expected)
    assert_same_tables(place / "lifted by sql", place / "lifted")
    assert_imputed_alike(place, more=engine)
    if not expected.left:
        questions = [["Epid"], ["Sick.p1"], ["Epid", "Sick.p0"]]
        assert_same_answers(elsewhere.plan(questions).run(), memory.plan(questions).run())


def test_random_people_are_of_every_sort():
    """What the seeds above must show: all filled, something left, and cohorts."""
    graphs = [random_people(random.Random(seed))[0] for seed in range(16)]
    assert 4 <= sum(map(uses_cohorts, graphs)) <= 12
    moved = [lifagu.transfer(each, by="auto") for each in graphs if not uses_cohorts(each)]
    assert any(len(each.transferred) > 1 for each in moved)
    assert any(len(each.unknown) > len(each.transferred) for each in moved)
    assert any(record.unit == "individual" for each in moved for record in each.record)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "it is here")
@pytest.mark.parametrize("refused", [False, True])
def test_spark(tmp_path, refused):
    last = (None, OTHER) if refused else (None, ONE)
    lifagu.write(people((ONE, ONE), (ONE, ONE), last, test_p1=[5.0]), tmp_path / "big")
    assert_as_from_memory_or_refused(tmp_path, refused, on="spark=local[2]")


# ---- by hand

AGREEING = {
    "two agree": people((ONE, ONE), (ONE, ONE), (ONE, None)),
    "many who look alike are many": people((ONE, ONE), (OTHER, OTHER), (ONE, ONE), (ONE, None)),
    "one matches, and everybody has its table": people((ONE, ONE), (None, ONE)),
    "the one who lends is exact": people((ONE, ONE), (ONE, ONE), (ONE, None), treat_p1=7.0),
    "nothing is known there": people((ONE, None), (ONE, None)),
    "nothing is unknown": people((ONE, ONE), (OTHER, ONE), test_p0=3.0),
}
COMPETING = {
    "two tables": (
        people((ONE, ONE), (ONE, OTHER), (ONE, None), (ONE, None)),
        "2 tables compete for the unknown factors treat.p2, treat.p3, and cohorts",
    ),
    "a single one matches": (
        people((ONE, ONE), (OTHER, OTHER), (ONE, None)),
        "2 tables compete for the unknown factor treat.p2, and cohorts",
    ),
    "an estimate": (
        people((ONE, ONE), (ONE, ONE), (ONE, None), treat_p0=7.0),
        "only estimates or tables from other places are there for the unknown factor treat.p2,",
    ),
    "another place": (
        people((ONE, ONE), (ONE, ONE), (None, None), more=(2,)),
        "only estimates or tables from other places are there for the unknown factors test.p2,",
    ),
    "many": (
        people(*[(ONE, each) for each in (ONE, OTHER, ONE, OTHER)], *[(None, None)] * 4),
        "treat.p4, test.p5, treat.p5, test.p6 and 3 more, and cohorts",
    ),
}


@pytest.mark.parametrize("name", AGREEING)
def test_what_is_settled(tmp_path, name):
    graph = AGREEING[name]
    assert not uses_cohorts(graph)
    lifagu.write(graph, tmp_path / "big")
    found = case(tmp_path / "big").lift()
    assert (found.unknown, found.filled) == lifagu.transfer(graph, by="auto").counts
    assert (found.filled == 0) == name.startswith("nothing")


@pytest.mark.parametrize("name", COMPETING)
def test_what_competes(tmp_path, name):
    graph, message = COMPETING[name]
    assert uses_cohorts(graph)
    lifagu.write(graph, tmp_path / "big")
    with pytest.raises(lifagu.ModelError, match=message):
        case(tmp_path / "big").ask("Epid")
    named = case(tmp_path / "big", ways={"by": "individuals"})
    assert 0 < named.ask("Epid")["true"] < 1
    with pytest.raises(lifagu.ModelError, match="cohorts works in memory only"):
        case(tmp_path / "big", ways={"by": "cohorts"}).ask("Epid")


# ---- where a folder does not fit


def test_a_folder_that_does_not_fit(tmp_path, capsys):
    """ "auto" tells the sizes; where it fits, cohorts answer."""
    big = str(tmp_path / "big")
    graph, _ = COMPETING["two tables"]
    lifagu.write(graph, big)
    sizes = "duckdb, which was chosen as 16 arguments need about 3.91 KiB, beyond the limit of "
    with pytest.raises(lifagu.TooLargeError, match=f"{sizes}.*; give a larger memory_limit, or"):
        lifagu.open(big, memory_limit=1000).ask("Epid")
    with pytest.raises(lifagu.TooLargeError, match="which was chosen as 16 arguments need about"):
        lifagu.open(big, memory_limit=1000).impute(out=tmp_path / "out")
    status, _, err = run_cli(capsys, "query", big, "Epid", "--memory-limit", "1000")
    note, error = err.splitlines()
    assert status == 4
    assert note.startswith("note: duckdb was chosen: 16 arguments need")
    assert error.startswith(f"error: {big}: 2 tables compete for the unknown factors treat.p2, ")
    assert error.endswith("; raise --memory-limit, or name a rule such as --fill individuals")
    status, _, err = run_cli(capsys, "query", big, "Epid", "--on", "duckdb")
    assert status == 2
    assert err.endswith(
        "not on duckdb; where it fits in memory, take --on memory, or name a rule such as "
        "--fill individuals\n"
    )
    assert run_cli(capsys, "query", big, "Epid")[0] == 0
    assert not (tmp_path / "out").exists()
