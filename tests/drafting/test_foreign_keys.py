"""Foreign keys lead wherever they are declared to, be it a primary key or other unique columns."""

import json

import numpy as np
import pytest

import lifagu
from support.drafts import Table, made, said

KINDS = ["sqlite", "duckdb", "postgresql"]
PEOPLE, CHIEFS, WARDS, ROOMS = 600, 100, 30, 80


def noisy(truth, rng, labels=("no", "yes"), right=0.9):
    """Labels that mostly say what is true."""
    told = np.where(rng.random(len(truth)) < right, truth, ~truth)
    return [labels[int(each)] for each in told]


def with_gaps(values, rng):
    return [None if rng.random() < 0.2 else each for each in values]


def clinic(unique, seed=1):
    """A clinic in which everybody is named by primary keys, or else by unique columns.

    Planted: the ward tells the diet, the boss the shift, the room the noise, the account the plan,
    and drugs the pain; a person's number of wards is called like a table.
    """
    rng = np.random.default_rng(seed)
    kitchen, loud = rng.random(WARDS) < 0.5, rng.random(ROOMS) < 0.5
    ward, room = rng.integers(0, WARDS, PEOPLE), rng.integers(0, ROOMS, PEOPLE)
    boss = rng.integers(0, CHIEFS, PEOPLE)
    night, rich, ill = (rng.random(PEOPLE) < 0.5 for _ in range(3))
    codes = [f"W{each}" for each in rng.permutation(900)[:WARDS].tolist()]
    badges = [int(each) for each in rng.permutation(9000)[:PEOPLE]]
    houses = [(f"H{place % 4}", place // 4) for place in rng.permutation(ROOMS).tolist()]
    named = {
        "ward": codes if unique else list(range(WARDS)),
        "person": badges if unique else list(range(PEOPLE)),
        "room": houses if unique else [(place,) for place in range(ROOMS)],
    }
    to_ward = "ward (code)" if unique else "ward (id)"
    to_person = "person (badge)" if unique else "person (id)"
    rooms = {"house": "TEXT", "door": "INTEGER"} if unique else {"room_id": "INTEGER"}
    to_room = f"FOREIGN KEY ({', '.join(rooms)}) REFERENCES "
    to_room += "room (house, door)" if unique else "room (id)"
    people = zip(
        range(PEOPLE),
        badges,
        [named["ward"][each] for each in ward],
        [None if n < 2 * CHIEFS else named["person"][each] for n, each in enumerate(boss)],
        rng.integers(0, WARDS, PEOPLE).tolist(),
        *zip(*(named["room"][each] for each in room), strict=True),
        with_gaps(noisy(kitchen[ward], rng), rng),
        with_gaps(noisy(night[boss], rng), rng),
        with_gaps(noisy(loud[room], rng), rng),
        with_gaps(noisy(ill, rng), rng),
        noisy(night, rng, right=1),
        strict=True,
    )
    drugs = [
        (named["person"][each], "opium" if ill[each] == (rng.random() < 0.9) else "tea")
        for each in rng.integers(0, PEOPLE, 1500).tolist()
    ]
    accounts = zip(
        named["person"], noisy(rich, rng, right=1), with_gaps(noisy(rich, rng), rng), strict=True
    )
    ward_type, person_type = ("TEXT", "INTEGER") if unique else ("INTEGER", "INTEGER")
    return {
        "ward": Table(
            {"id": "INTEGER PRIMARY KEY", "code": "TEXT UNIQUE", "kitchen": "TEXT"},
            list(zip(range(WARDS), codes, noisy(kitchen, rng, right=1), strict=True)),
        ),
        "room": Table(
            {"id": "INTEGER PRIMARY KEY", "house": "TEXT", "door": "INTEGER", "loud": "TEXT"},
            [
                (place, *house, told)
                for place, (house, told) in enumerate(
                    zip(houses, noisy(loud, rng, right=1), strict=True)
                )
            ],
            ["UNIQUE (house, door)"],
        ),
        "person": Table(
            {
                "id": "INTEGER PRIMARY KEY",
                "badge": "INTEGER UNIQUE",
                "at": f"{ward_type} REFERENCES {to_ward}",
                "boss": "INTEGER",
                "ward": "INTEGER",
                **rooms,
                **dict.fromkeys(["diet", "shift", "noise", "pain", "night"], "TEXT"),
            },
            list(people),
            [f"FOREIGN KEY (boss) REFERENCES {to_person}", to_room],
        ),
        "account": Table(
            {
                "owner": f"{person_type} PRIMARY KEY REFERENCES {to_person}",
                "rich": "TEXT",
                "plan": "TEXT",
            },
            list(accounts),
        ),
        "given": Table({"who": f"{person_type} REFERENCES {to_person}", "drug": "TEXT"}, drugs),
    }


@pytest.fixture
def place(request, tmp_path):
    """Makes tables in a new database of some kind: its address."""

    def make(kind, tables):
        url = request.getfixturevalue("new_database")() if kind == "postgresql" else ""
        return made(kind, tmp_path / str(len(list(tmp_path.iterdir()))), tables, url)

    return make


def chosen(draft):
    """The tables of a draft, and what each of them gains."""
    return [(each.name, round(each.gain, 6)) for each in draft.found.drafted]


def links(draft):
    return {
        (each.table, *each.columns, each.target, *each.target_columns) for each in draft.found.links
    }


@pytest.mark.parametrize("kind", KINDS)
def test_keys_to_unique_columns_are_worth_as_much_as_those_to_primary_keys(kind, place):
    by_key, by_unique = (lifagu.draft(place(kind, clinic(unique))) for unique in (False, True))
    assert links(by_unique) == {
        ("person", "at", "ward", "code"),
        ("person", "boss", "person", "badge"),
        ("person", "house", "door", "room", "house", "door"),
        ("account", "owner", "person", "badge"),
        ("given", "who", "person", "badge"),
    }
    assert chosen(by_unique) == chosen(by_key)
    tables = {name for name, gain in chosen(by_unique) if gain > 10}
    assert tables >= {
        "Diet and ward Kitchen",
        "Shift and person Night",
        "Noise and room Loud",
        "Plan and Rich",
        "Pain and each drug of given",
    }
    if kind == "sqlite":
        one, other = by_key.validate().json(), by_unique.validate().json()
        assert one["accuracy"] == other["accuracy"] > 0.8 > one["baseline"]["accuracy"]
        assert one["log_loss"] == pytest.approx(other["log_loss"], abs=0.005)


def test_beside_declared_links_none_is_invented_unless_it_is_asked_for(place):
    source = place("sqlite", clinic(True))
    draft = lifagu.draft(source)
    assert {each.how for each in draft.found.links} == {"declared"}
    (asked,) = [each for each in draft.report().splitlines() if "person.ward" in each]
    assert asked.startswith("- Do these name rows, though no foreign key says so?")
    assert 'person.ward → ward. `links={"person.ward": "ward"}` says so.' in asked
    told = json.loads(said("init", source, "--link", "person.ward=ward", "--json").out)
    assert [each["how"] for each in told["links"]].count("declared") == 5
    assert {"table": "person", "columns": ["ward"], "to": "ward", "by": ["id"]}.items() <= next(
        each for each in told["links"] if each["how"] == "you said so"
    ).items()
    assert "though no foreign key says so" not in "".join(told["questions"])
    same = lifagu.draft(source, links={"person.at": "ward"})  # as it is declared
    assert ("person", "at", "ward", "code") in links(same)
    none = lifagu.draft(source, links={"person.at": None})
    assert links(none) == links(draft) - {("person", "at", "ward", "code")}
    assert "person.at" not in none.report().partition("would like to know")[2]


def small(target, refers, rows=300):
    """Two tables: a is said of things, b of rows that name things; one thing has no code."""
    rng = np.random.default_rng(8)
    a = rng.random(100) < 0.5
    codes = [f"C{each}" for each in rng.permutation(100).tolist()]
    things = list(zip(range(100), codes, noisy(a, rng, right=1), strict=True))
    things.append((100, None, "no"))
    if "x" in target:
        things = [(place % 7, *others) for place, *others in things]
    named = rng.integers(0, 100, rows)
    cells = with_gaps(noisy(a[named], rng), rng)
    those = [
        (place, None if place == 5 else codes[each], cell)
        for place, (each, cell) in enumerate(zip(named.tolist(), cells, strict=True))
    ]
    b = {"id": "INTEGER PRIMARY KEY", "to": f"TEXT {refers}", "b": "TEXT"}
    return {"thing": Table(target, things), "row": Table(b, those)}


TARGETS = {
    "another primary key": {"id": "INTEGER PRIMARY KEY", "code": "TEXT UNIQUE", "a": "TEXT"},
    "no primary key": {"number": "INTEGER UNIQUE", "code": "TEXT UNIQUE", "a": "TEXT"},
    "neither": {"x": "INTEGER", "code": "TEXT UNIQUE", "a": "TEXT"},
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_unique_columns_may_have_nulls(kind, target, place, tmp_path):
    address = place(kind, small(TARGETS[target], "REFERENCES thing (code)"))
    draft = lifagu.draft(address)
    assert links(draft) == {("row", "to", "thing", "code")}
    assert "B and thing A" in dict(chosen(draft))
    assert not any("code" in each.name.lower() for each in draft.found.attributes)
    draft.write(tmp_path / "t.json")
    words = ["--db", address] if kind == "postgresql" else []
    told = said("impute", tmp_path / "t.json", *words, "--quiet", "--json")
    assert told.status == 0, told.err
    names = {each["variable"] for each in json.loads(told.out)["marginals"]}
    gaps = {f"B({row[0]})" for row in small(TARGETS[target], "")["row"].rows if row[2] is None}
    assert {each for each in names if each.startswith("B(")} == gaps


def test_foreign_keys_to_what_tells_no_rows_apart_are_asked_about(place):
    tables = small(TARGETS["another primary key"], "REFERENCES thing (code)")
    things = tables["thing"]
    twice = Table({**things.columns, "code": "TEXT"}, [*things.rows, (101, "C1", "no")])
    draft = lifagu.draft(place("sqlite", {**tables, "thing": twice}))
    assert not draft.found.links
    assert "several rows there have the same values: row.to → thing by code." in draft.report()
    once = Table(twice.columns, twice.rows[:-1])
    assert links(lifagu.draft(place("sqlite", {**tables, "thing": once}))) == {
        ("row", "to", "thing", "code")
    }


def test_a_table_about_the_same_individuals_may_be_named_in_its_own_way(place):
    """Staff are people, and access is given to their badges."""
    rng = np.random.default_rng(4)
    old = rng.random(300) < 0.5
    badges = rng.permutation(9000)[:300].tolist()
    person = {"id": "INTEGER PRIMARY KEY", "old": "TEXT"}
    staff = {
        "person": "INTEGER PRIMARY KEY REFERENCES person (id)",
        "badge": "INTEGER UNIQUE",
        "tired": "TEXT",
    }
    access = {
        "id": "INTEGER PRIMARY KEY",
        "to": "INTEGER REFERENCES staff (badge)",
        "night": "TEXT",
    }
    tired = noisy(old, rng)
    whom = rng.integers(0, 300, 600)
    night = with_gaps(noisy(np.array(tired)[whom] == "yes", rng), rng)
    tables = {
        "person": Table(person, list(zip(range(300), noisy(old, rng, right=1), strict=True))),
        "staff": Table(staff, list(zip(range(300), badges, tired, strict=True))),
        "access": Table(
            access, [(row, badges[who], night[row]) for row, who in enumerate(whom.tolist())]
        ),
    }
    draft = lifagu.draft(place("sqlite", tables))
    assert ("access", "to", "staff", "badge") in links(draft)
    assert dict(chosen(draft))["Night and staff Tired"] > 50


def test_lists_lead_from_one_unique_column_to_another(place):
    """Whoever sits together likes the same."""
    rng = np.random.default_rng(2)
    sweet = rng.random(300) < 0.5
    codes = [f"P{each}" for each in rng.permutation(300).tolist()]
    person = {"id": "INTEGER PRIMARY KEY", "code": "TEXT UNIQUE", "taste": "TEXT"}
    pair = "TEXT REFERENCES person (code)"
    same = [rng.choice(np.flatnonzero(sweet == sweet[who])) for who in range(300)]
    tables = {
        "person": Table(
            person, list(zip(range(300), codes, with_gaps(noisy(sweet, rng), rng), strict=True))
        ),
        "sits": Table(
            {"one": pair, "other": pair}, [(codes[who], codes[at]) for who, at in enumerate(same)]
        ),
    }
    draft = lifagu.draft(place("duckdb", tables))
    (table,) = [each for each in draft.found.drafted if each.path is not None]
    assert table.gain > 5
    assert draft.validate().json()["log_loss"] > 0


def test_remarks_are_made_once(place):
    """Twenty columns of which each row has another text, and twenty links that lead to nobody."""
    rng = np.random.default_rng(3)
    many = [f"c{place}" for place in range(20)]
    other = [f"x{place}" for place in range(20)]
    b = {"id": "INTEGER PRIMARY KEY", **dict.fromkeys(other, "INTEGER REFERENCES a (id)")}
    tables = {
        "a": Table(
            {"id": "INTEGER PRIMARY KEY", "v": "TEXT", **dict.fromkeys(many, "TEXT")},
            [(row, "uv"[row % 2], *(f"{each}{row}" for each in many)) for row in range(60)],
        ),
        "b": Table(
            {**b, "w": "TEXT"},
            [
                (row, *rng.integers(0, 70, 20).tolist(), None if row % 9 == 0 else "uv"[row % 2])
                for row in range(200)
            ],
        ),
    }
    draft = lifagu.draft(place("sqlite", tables))
    assert len(draft.found.links) == 20
    report = draft.report()
    assert report.count("every row has a text of its own") == 1
    assert "- every row has a text of its own (20 times): a.c0, a.c1," in report
    assert report.count("name somebody who is not there") == 1
    assert "and 12 more." in report


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        (lambda n: {"id": n, "age": 1 + n * 7 % 90, "a": "uv"[n % 2]}, ""),
        (lambda n: {"id": n, "mate_id": n * 7 % 100, "a": "uv"[n % 2]}, "t.mate_id"),
        (lambda n: {"id": f"p{n}", "mate": f"p{n * 7 % 50}", "a": "uv"[n % 2]}, "t.mate"),
    ],
)
def test_only_names_and_types_make_one_ask_whether_values_are_keys(rows, asked):
    found = [rows(n) for n in range(100)]
    draft = lifagu.draft({"t": {name: [each[name] for each in found] for name in found[0]}})
    assert ("rows of their own table" in draft.report()) == bool(asked)
    assert f"are keys there? {asked}" in draft.report() or not asked


def test_what_cannot_be_predicted_says_why(place):
    rows = [(n, "uv"[n % 2] if n % 5 else None, "x", f"text {n}") for n in range(99)]
    columns = {"id": "INTEGER PRIMARY KEY", "a": "TEXT", "same": "TEXT", "own": "TEXT"}
    source = place("sqlite", {"t": Table(columns, rows)})
    for name, why in (
        ("same", "t.same cannot be predicted: it always says 'x'"),
        ("T.Own", "t.own cannot be predicted: every row has a text of its own"),
        ("id", "t.id cannot be predicted: it says who is who"),
        ("sme", "there is no column or relation 'sme' to predict"),
    ):
        told = said("init", source, "--predict", name)
        assert (told.status, told.err.count("\n")) == (2, 1)
        assert why in told.err


def test_what_is_left_out_may_be_linked(place):
    source = place("sqlite", clinic(True))
    for words in (
        ["--leave-out", "given", "--link", "given.who=person"],
        ["--leave-out", "ward", "--link", "person.at=ward", "--key", "ward=code"],
    ):
        told = said("init", source, *words, "--json")
        assert told.status == 0, told.err
        facts = json.loads(told.out)
        assert words[1] not in facts["tables"]
        assert words[1] not in {each["to"] for each in facts["links"]}


def test_names_to_predict_add_up(place, tmp_path):
    source = place("sqlite", clinic(True))
    words = ["--predict", "diet", "--predict", "pain", "--out", tmp_path / "t.json"]
    assert said("init", source, *words).status == 0
    queries = json.loads((tmp_path / "t.json").read_text())["queries"]
    assert [each["relation"] for each in queries] == ["Diet", "Pain"]
