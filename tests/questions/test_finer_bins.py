"""Numbers in finer bins: answers are those of sums over them, and nothing hidden shows."""

import csv
import json
import sqlite3

import numpy as np
import pytest

import lifagu
from lifagu.questions.writing_learned import write_learned
from support.helpers import SCHEMA

PEOPLE = 240
FINE = "Weight's finer bins"


def template(**changes):
    """How much a person weighs, which tells sex, though not by the two bins alone."""
    whole = {
        "format": "lifagu/1",
        "source": "people.sqlite",
        "domains": {"Person": {"sql": "SELECT id FROM people"}},
        "relations": [
            {"name": "Sex", "of": ["Person"], "range": ["f", "m"]},
            {"name": "Weight", "of": ["Person"], "range": {"edges": [50]}},
            {"name": FINE, "of": ["Person"], "range": {"bins": 2, "within": "Weight"}},
        ],
        "parfactors": [
            {"name": "both", "args": ["Sex(P)", f"{FINE}(P)"], "table": "learn"},
            {
                "name": "here",
                "args": [f"{FINE}(P)"],
                "rows": {"sql": "SELECT id AS p, town FROM people"},
                "table": {"learn": True, "by": ["town"]},
            },
        ],
        "evidence": {
            "Sex": {"sql": "SELECT id, sex FROM people"},
            "Weight": {"sql": "SELECT id, weight FROM people"},
        },
        "queries": ["Sex", "Weight"],
    }
    return whole | changes


def written(folder, whole, weights=None):
    """A database of people in two towns, and a template about it."""
    random = np.random.default_rng(3)
    folder.mkdir(exist_ok=True)
    with sqlite3.connect(folder / "people.sqlite") as database:
        database.execute("CREATE TABLE people (id, town, sex, weight)")
        for person in range(1, PEOPLE + 1):
            weight = int(random.integers(100)) + 0.5
            female = int(weight // 25) % 2 ^ (random.random() < 0.15)
            sex = None if random.random() < 0.2 or person < 4 else "fm"[int(female)]
            known = random.random() > 0.2
            weight = (weights or {}).get(person, weight if known else None)
            database.execute(
                "INSERT INTO people VALUES (?, ?, ?, ?)", (person, person % 2, sex, weight)
            )
    database.close()
    path = folder / "t.json"
    path.write_text(json.dumps(whole))
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return written(tmp_path_factory.mktemp("finer") / "data", template(), {1: None, 2: 10, 3: None})


@pytest.fixture(scope="module")
def case(path):
    SCHEMA.validate(json.loads(path.read_text()))
    return lifagu.open(path)


def fine(person):
    return f"{FINE}({person})"


def ask(case, variable, seen=None):
    """The answer, given more."""
    answer = (case.observe(seen) if seen else case).ask(variable)
    return dict(zip(answer.ranges[0], answer.probabilities.tolist(), strict=True))


def test_answers_are_sums_over_finer_bins(case):
    coarse, finer = ask(case, "Weight(1)"), ask(case, fine(1))
    shares = list(finer.values())
    assert (len(coarse), len(shares)) == (2, 4)
    assert list(coarse.values()) == pytest.approx([sum(shares[:2]), sum(shares[2:])])


def test_finer_bins_tell_what_the_few_do_not(case):
    chances = [ask(case, "Sex(1)", {"Weight(1)": str(at)})["m"] for at in (12, 37, 62, 87)]
    assert max(chances[0], chances[2]) < 0.4 < 0.6 < min(chances[1], chances[3])


def test_a_number_falls_into_bins_of_both_sorts_and_a_label_leaves_the_finer_open(case):
    told = ask(case, "Sex(1)", {"Weight(1)": "12"})
    labels = list(ask(case, fine(1)))
    assert told["m"] == pytest.approx(ask(case, "Sex(1)", {fine(1): labels[0]})["m"])
    shares = ask(case, fine(1))
    each = [ask(case, "Sex(1)", {fine(1): label})["m"] for label in labels[:2]]
    expected = np.average(each, weights=[shares[label] for label in labels[:2]])
    assert ask(case, "Sex(1)", {"Weight(1)": "up to 50"})["m"] == pytest.approx(expected)


@pytest.mark.parametrize("seen", ["90", "over 50", {"up to 50": 0.0, "over 50": 1.0}])
def test_what_is_said_in_a_question_is_so_in_both_whatever_was_known_before(case, seen):
    labels = list(ask(case, fine(1)))
    assert ask(case, "Weight(2)") == pytest.approx({"up to 50": 1.0, "over 50": 0.0})
    now = ask(case, fine(2), {"Weight(2)": seen})
    assert [now[label] for label in labels[:2]] == pytest.approx([0, 0])
    other = ask(case, "Weight(2)", {fine(2): labels[-1]})
    assert other["over 50"] == pytest.approx(1)


def test_reasons_leave_out_a_number_in_bins_of_both_sorts(case):
    seen = case.observe({"Weight(1)": "12"})
    without = {each.variable: each.without for each in seen.why("Sex(1)").observations}
    assert without[fine(1)] == pytest.approx(1 - ask(case, "Sex(1)")["m"])


def cells_of(validation, folder):
    validation.write_cells(folder / "cells.csv")
    rows = csv.DictReader((folder / "cells.csv").read_text().splitlines())
    return {(each["relation"], each["individual"]): each["distribution"] for each in rows}


HIDDEN = [("Weight", str(each)) for each in range(10, 30)] + [("Sex", "12"), ("Sex", "40")]


def test_nothing_shows_of_hidden_numbers(tmp_path):
    folders = tmp_path / "one", tmp_path / "other"
    low, high = ({each: base + each for each in range(10, 30)} for base in (0.25, 60.25))
    found = []
    for folder, weights in zip(folders, (low, high), strict=True):
        case = lifagu.open(written(folder, template(), weights))
        found.append(cells_of(case.validate(hidden=HIDDEN), folder))
    assert found[0] == found[1]
    assert {relation for relation, _ in found[0]} == {"Sex", "Weight"}


def test_by_default_only_the_few_bins_are_hidden_and_scored(case):
    found = case.validate()
    assert set(found.relations) == {"Sex", "Weight"}


@pytest.mark.parametrize("way", [{"hidden": [(FINE, "1")]}, {"only": [FINE]}])
def test_finer_bins_cannot_be_hidden_by_themselves(case, way):
    with pytest.raises(lifagu.ModelError, match=r"in finer bins; name 'Weight'$"):
        case.validate(**way)


def test_gaps_are_imputed_in_the_few_bins(case):
    found = case.impute()
    assert {each.partition("(")[0] for each in found.marginals.names} == {"Sex", "Weight"}


def test_what_was_learned_means_the_same_when_it_is_read_again(case, path):
    write_learned(case.learn().loaded, path.with_name("learned.json"))
    again = lifagu.open(path.with_name("learned.json"))
    for question in ("Weight(1)", "Sex(1)", "Sex(3)"):
        assert ask(again, question) == pytest.approx(ask(case, question))
    assert ask(again, "Sex(1)", {"Weight(1)": "12"}) == pytest.approx(
        ask(case, "Sex(1)", {"Weight(1)": "12"})
    )


def test_literal_evidence_counts_more_than_queries(tmp_path):
    evidence = template()["evidence"] | {"Weight(2)": "over 50"}
    case = lifagu.open(written(tmp_path / "x", template(evidence=evidence), {2: 10}))
    assert ask(case, "Weight(2)")["over 50"] == pytest.approx(1)
    assert sum(list(ask(case, fine(2)).values())[:2]) == pytest.approx(0)


def changed(place, **changes):
    whole = template()
    whole["relations"][place] |= changes
    return whole


@pytest.mark.parametrize(
    ("whole", "message"),
    [
        (changed(2, range={"bins": 2, "within": "Wieght"}), "there is no relation 'Wieght'"),
        (changed(2, range={"bins": 2, "within": ["Weight"]}), "there is no relation '['Weight']'"),
        (changed(2, of=3), "so it is of the same"),
        (changed(2, range={"bins": 2, "within": "Sex"}), "'Sex' has no bins of numbers"),
        (changed(2, range={"sql": "SELECT 1", "within": "Weight"}), "within goes with bins"),
        (changed(2, of=["Person", "Person"]), "so it is of the same"),
        (changed(2, range={"edges": [20, 60], "within": "Weight"}), "lack the edge 50"),
        (
            template(evidence={FINE: {"sql": "SELECT id, weight FROM people"}}),
            "leave out its evidence",
        ),
        (
            template(parfactors=[{"name": "w", "args": ["Weight(P)"], "table": "learn"}]),
            "learned tables are about the finer bins",
        ),
        (template(ranges={"w": {"bins": 2, "within": "Weight"}}), "belongs into the range of the"),
    ],
)
def test_nonsense_is_refused_in_one_line(tmp_path, whole, message):
    with pytest.raises(lifagu.LifaguError) as caught:
        lifagu.open(written(tmp_path / "x", whole)).ask("Weight(1)")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
