"""The default on an engine: what all agree on is as from memory, and what competes is refused."""

import random

import pytest

import lifagu
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.questions import where_to_work
from support.by_sql import BY_INDIVIDUALS, case
from support.graphs_for_engines import ONE, OTHER, people
from support.helpers import mostly_full, run_cli
from support.same_results import assert_as_from_memory_or_refused

# ---- on random folders

ALWAYS = (0, 1, 2, 4)  # of every sort, as a test holds


def random_people(rng):
    """Half of the time people who agree; else with other tables, estimates, or a further factor."""
    count, odd = rng.randint(3, 7), rng.randrange(6)
    tables = [[None if rng.random() < 0.3 else ONE for _ in range(2)] for _ in range(count)]
    more, supports = (), {}
    if odd == 0:
        tables = [[each and rng.choice([ONE, OTHER]) for each in both] for both in tables]
    elif odd == 1:
        supports = {f"test_p{number}": 5.0 for number in range(count) if rng.random() < 0.7}
    elif odd == 2:
        more = (rng.randrange(count),)
    elif odd == 3:
        tables = [[None, each] for _, each in tables]
    graph = people(*tables, more=more, shuffled=rng, **supports)
    return graph, {"Sick.p0": "true"} if rng.random() < 0.5 else {}


def uses_cohorts(graph):
    return isinstance(lifagu.transfer(graph, by="auto"), CohortTransfer)


@pytest.mark.parametrize("seed", mostly_full(range(16), always=ALWAYS))
def test_as_from_memory_or_refused(tmp_path, seed):
    graph, evidence = random_people(random.Random(seed))
    lifagu.write(graph, tmp_path / "big", evidence)
    assert_as_from_memory_or_refused(tmp_path, uses_cohorts(graph), temp=tmp_path / "temp")


def test_random_people_are_of_every_sort():
    """What the seeds of every run must show: all filled, something left, and cohorts."""
    graphs = [random_people(random.Random(seed))[0] for seed in ALWAYS]
    assert sum(map(uses_cohorts, graphs)) == 2
    moved = [lifagu.transfer(each, by="auto") for each in graphs if not uses_cohorts(each)]
    assert any(len(each.transferred) > 1 for each in moved)
    assert any(len(each.unknown) > len(each.transferred) for each in moved)
    assert any(record.unit == "individual" for each in moved for record in each.record)


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
    moved = lifagu.transfer(graph)
    named = case(tmp_path / "big", ways=BY_INDIVIDUALS).lift()
    assert (named.unknown, named.filled) == (len(moved.unknown), len(moved.transferred))
    with pytest.raises(lifagu.ModelError, match=message):
        case(tmp_path / "big", ways={"by": "auto"}).ask("Epid")


# ---- where a folder does not fit


def test_a_folder_that_does_not_fit(tmp_path, capsys, monkeypatch):
    """Then "auto" tells the sizes; where it fits, cohorts answer."""
    big, graph = str(tmp_path / "big"), COMPETING["two tables"][0]
    lifagu.write(graph, big)
    assert run_cli(capsys, "query", big, "Epid")[0] == 0
    for verb in ("ask", "impute"):
        monkeypatch.setitem(where_to_work.BY_SQL, verb, 10**8)  # bytes for an argument
    sizes = (
        "duckdb, which was chosen as 16 arguments need about 1.49 GiB, beyond the limit of 1 GiB"
    )
    case = lifagu.open(big, memory_limit=2**30)
    for ask in (lambda: case.ask("Epid"), lambda: case.impute(out=tmp_path / "out")):
        with pytest.raises(lifagu.TooLargeError, match=f"{sizes}; give a larger memory_limit, or"):
            ask()
    assert not (tmp_path / "out").exists()
    status, _, err = run_cli(capsys, "query", big, "Epid", "--memory-limit", "1G")
    note, error = err.splitlines()
    assert status == 4
    assert note.startswith("note: duckdb was chosen: 16 arguments need")
    assert error.startswith(f"error: {big}: 2 tables compete for the unknown factors treat.p2, ")
    rule = "name a rule such as --fill extended"
    assert error.endswith(f"{sizes}; raise --memory-limit, or {rule}")
    status, _, err = run_cli(capsys, "query", big, "Epid", "--on", "duckdb")
    assert status == 2
    assert err.endswith(f"not on duckdb; where it fits in memory, take --on memory, or {rule}\n")
