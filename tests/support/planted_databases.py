"""Databases in which something was planted that tells about a column, or nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from support.drafts import Table, Tables
from support.odd_databases import ID, hole

Make = Callable[[Random], Tables]
PLANTED: dict[str, tuple[Make, str, str]] = {}  # by name: tables, the relation, a table to be found
NOISE: dict[str, Make] = {}


def planted(relation: str, table: str) -> Callable[[Make], Make]:
    """Register tables in which a relation can be told, by what."""

    def register(make: Make) -> Make:
        PLANTED[make.__name__] = (make, relation, table)
        return make

    return register


def noise(make: Make) -> Make:
    """Register tables in which nothing tells about anything."""
    NOISE[make.__name__] = make
    return make


def like(r: Random, truth: Any, values: Any, wrong: float = 0.12) -> Any:
    return r.choice(values) if r.random() < wrong else truth


def children(r: Random, of: list[str], many: int, gaps: float = 0.2) -> Table:
    """Rows that are like those they belong to."""
    rows = []
    for place in range(many):
        who = r.randrange(len(of))
        rows.append((place, who, hole(r, like(r, of[who], "uv"), gaps)))
    return Table({**ID, "par_id": "INTEGER REFERENCES par(id)", "a": "TEXT"}, rows)


def listed(r: Random, add: Callable[[str], list[tuple[Any, ...]]], columns: Any) -> Tables:
    """People with a column that has gaps, and a list that says something about them."""
    people, rows = [], []
    for place in range(300):
        a = r.choice("uv")
        people.append((place, hole(r, a)))
        rows += [(place, *row) for row in add(a)]
    return {
        "s": Table({**ID, "a": "TEXT"}, people),
        "list": Table({"s_id": "INTEGER REFERENCES s(id)", **columns}, rows),
    }


# ---- something


@planted("A", "A and B")
def a_pair(r):
    rows = []
    for place in range(300):
        b = r.choice("uvw")
        rows.append((place, hole(r, like(r, b, "uvw")), b, r.choice("xy")))
    return {"p": Table({**ID, "a": "TEXT", "b": "TEXT", "c": "TEXT"}, rows)}


@planted("A", "A and C77")
def a_needle(r):
    rows = []
    for place in range(300):
        c = [r.choice("uvw") for _ in range(120)]
        rows.append((place, hole(r, like(r, c[77], "uvw")), *c))
    return {"p": Table({**ID, "a": "TEXT", **{f"c{n}": "TEXT" for n in range(120)}}, rows)}


@planted("X", "X and Y")
def two_numbers(r):
    rows = []
    for place in range(400):
        y = r.gauss(0, 1)
        rows.append((place, hole(r, y + r.gauss(0, 0.3)), y))
    return {"p": Table({**ID, "x": "DOUBLE PRECISION", "y": "DOUBLE PRECISION"}, rows)}


@planted("A", "A by hospital_id and ward_id")
def nested_groups(r):
    house = [r.choice("uv") for _ in range(12)]
    ward = [like(r, house[n // 6], "uv", 0.3) for n in range(72)]
    rows = []
    for place in range(900):
        w = r.randrange(72)
        rows.append((place, w // 6, w + 500, hole(r, like(r, ward[w], "uv"))))
    columns = {"hospital_id": "INTEGER", "ward_id": "INTEGER", "a": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@planted("A", "A by year and month")
def a_month_of_a_year(r):
    """Somebody else measures every month, whichever month or year it is."""
    usual = [[r.choice("uvw") for _ in range(12)] for _ in range(30)]
    rows = []
    for place in range(3000):
        year, month = r.randrange(30), r.randrange(12)
        rows.append((place, 1980 + year, 1 + month, hole(r, like(r, usual[year][month], "uvw"))))
    return {"p": Table({**ID, "year": "INTEGER", "month": "INTEGER", "a": "TEXT"}, rows)}


@planted("Teacher", "Teacher given Hours and Class by place and school")
def a_class_in_a_school(r):
    """Who teaches is told by class and hours within a school, by none of them alone."""
    teacher = {(s, c, h): r.choice("uvw") for s in range(40) for c in "ab" for h in "xy"}
    rows = []
    for place in range(3000):
        s, c, h = school = r.randrange(40), r.choice("ab"), r.choice("xy")
        told = like(r, teacher[school], "uvw", 0.05)
        rows.append((place, s * 37 % 101, "ct"[s % 7 % 2], c, h, hole(r, told, 0.5)))
    columns = {"school": "INTEGER", "place": "TEXT", "class": "TEXT", "hours": "TEXT"}
    return {"p": Table({**ID, **columns, "teacher": "TEXT"}, rows)}


@planted("A", "A and par K")
def a_parent(r):
    of = [r.choice("uv") for _ in range(60)]
    return {"par": Table({**ID, "k": "TEXT"}, list(enumerate(of))), "ch": children(r, of, 250)}


@planted("A", "A and par K")
def a_parent_that_nobody_declares(r):
    found = a_parent(r)
    return {
        "par": Table({"par_id": "INTEGER", "k": "TEXT"}, found["par"].rows),
        "ch": Table({"ch_id": "INTEGER", "par_id": "INTEGER", "a": "TEXT"}, found["ch"].rows),
    }


@planted("A", "A and g K")
def a_grandparent(r):
    g, p = [r.choice("uv") for _ in range(40)], [r.randrange(40) for _ in range(120)]
    rows = []
    for place in range(300):
        who = r.randrange(120)
        rows.append((place, who, hole(r, like(r, g[p[who]], "uv"))))
    return {
        "g": Table({**ID, "k": "TEXT"}, list(enumerate(g))),
        "p": Table({**ID, "g_id": "INTEGER REFERENCES g(id)"}, list(enumerate(p))),
        "c": Table({**ID, "p_id": "INTEGER REFERENCES p(id)", "a": "TEXT"}, rows),
    }


@planted("K", "K and")
def children_that_tell(r):
    of = [r.choice("uv") for _ in range(250)]
    known = [(place, hole(r, k)) for place, k in enumerate(of)]
    return {"par": Table({**ID, "k": "TEXT"}, known), "ch": children(r, of, 700, 0.0)}


@planted("K", "A and par K")
def children_with_gaps(r):
    of = [r.choice("uv") for _ in range(250)]
    known = [(place, hole(r, k)) for place, k in enumerate(of)]
    return {"par": Table({**ID, "k": "TEXT"}, known), "ch": children(r, of, 500)}


@planted("A", "list: ins")
def a_list(r):
    def drugs(a):
        often = {"ins": 0.9 if a == "u" else 0.1}
        return [
            (each,) for each in ("asp", "ibu", "ins", "pen") if r.random() < often.get(each, 0.3)
        ]

    return listed(r, drugs, {"name": "TEXT"})


@planted("A", "A and each name of list")
def a_list_of_rare_things(r):
    """None of which tells enough about anybody to have a table of its own."""
    mostly = {"u": [f"it's {n}" for n in range(60)], "v": [f'"x" {n}' for n in range(60)]}
    other = {"u": "v", "v": "u"}

    def things(a):
        return [
            (r.choice(mostly[a if r.random() < 0.85 else other[a]]),)
            for _ in range(r.randrange(2, 6))
        ]

    return listed(r, things, {"name": "TEXT"})


@planted("A", "A and Number of list")
def how_many(r):
    def visits(a):
        return [
            (r.gauss(0, 1),) for _ in range(r.randrange(1, 4) if a == "u" else r.randrange(3, 9))
        ]

    return listed(r, visits, {"x": "DOUBLE PRECISION"})


@planted("A", "A and Mean x of list")
def how_much(r):
    def visits(a):
        return [(r.gauss(3 if a == "u" else 0, 1),) for _ in range(r.randrange(1, 5))]

    return listed(r, visits, {"x": "DOUBLE PRECISION"})


@planted("A", "A and temp")
def a_long_table(r):
    def seen(a):
        found = [(each, r.gauss(0, 1)) for each in ("pulse", "ph") if r.random() < 0.8]
        return [*found, ("temp", r.gauss(3 if a == "u" else 0, 1))]

    return listed(r, seen, {"what": "TEXT", "val": "DOUBLE PRECISION"})


@planted("AK", "AK and b BK")
def linked(r):
    one, two = [r.choice("uv") for _ in range(200)], [r.choice("uv") for _ in range(150)]
    both = {(r.randrange(200), r.randrange(150)) for _ in range(1400)}
    rows = [(i, j) for i, j in sorted(both) if one[i] == two[j] or r.random() < 0.1]
    return {
        "a": Table({**ID, "k": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(one)]),
        "b": Table({**ID, "k": "TEXT"}, list(enumerate(two))),
        "ab": Table(
            {"a_id": "INTEGER REFERENCES a(id)", "b_id": "INTEGER REFERENCES b(id)"},
            rows,
            ["PRIMARY KEY (a_id, b_id)"],
        ),
    }


@planted("K", "K and person K")
def friends(r):
    of = [r.choice("uv") for _ in range(250)]
    both = {tuple(r.sample(range(250), 2)) for _ in range(800)}
    rows = [(i, j) for i, j in sorted(both) if of[i] == of[j] or r.random() < 0.08]
    person = "INTEGER REFERENCES person(id)"
    return {
        "person": Table({**ID, "k": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(of)]),
        "knows": Table({"one": person, "two": person}, rows, ["PRIMARY KEY (one, two)"]),
    }


@planted("A", "A and emp A")
def bosses(r):
    of: list[tuple[int | None, str]] = []
    for place in range(300):
        boss = r.randrange(place) if place else None
        of.append((boss, r.choice("uvw") if boss is None else like(r, of[boss][1], "uvw")))
    rows = [(place, boss, hole(r, a)) for place, (boss, a) in enumerate(of)]
    return {"emp": Table({**ID, "boss": "INTEGER REFERENCES emp(id)", "a": "TEXT"}, rows)}


@planted("Grade", "Grade by")
def two_sides(r):
    s, d = [r.gauss(0, 1.5) for _ in range(60)], [r.gauss(0, 1.5) for _ in range(40)]
    both = sorted({(r.randrange(60), r.randrange(40)) for _ in range(1400)})
    rows = [(i, j, hole(r, "good" if s[i] + d[j] + r.gauss(0, 1) > 0 else "bad")) for i, j in both]
    columns = {"s_id": "INTEGER REFERENCES s(id)", "d_id": "INTEGER REFERENCES d(id)"}
    return {
        "s": Table(ID, [(n,) for n in range(60)]),
        "d": Table(ID, [(n,) for n in range(40)]),
        "rating": Table({**columns, "grade": "TEXT"}, rows, ["PRIMARY KEY (s_id, d_id)"]),
    }


@planted("A", "A and DWeekday")
def weekdays(r):
    rows = []
    for place in range(400):
        day = date(2020, 1, 1) + timedelta(days=r.randrange(900))
        a = like(r, "rest" if day.weekday() > 4 else "work", ["rest", "work"])
        rows.append((place, str(day), hole(r, a)))
    return {"p": Table({**ID, "d": "DATE", "a": "TEXT"}, rows)}


@planted("A", "A and THour")
def hours_as_text(r):
    rows = []
    for place in range(400):
        moment = datetime(2020, 1, 1) + timedelta(minutes=r.randrange(1_000_000))
        a = like(r, "night" if moment.hour < 8 else "day", ["night", "day"])
        rows.append((place, str(moment), hole(r, a)))
    return {"p": Table({**ID, "t": "TEXT", "a": "TEXT"}, rows)}


@planted("A", "A and B")
def a_table_beside(r):
    of = [r.choice("uv") for _ in range(300)]
    key = {"p_id": "INTEGER PRIMARY KEY REFERENCES p(id)"}
    rows = [(n, like(r, k, "uv")) for n, k in enumerate(of)]
    return {
        "p": Table({**ID, "a": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(of)]),
        "p_more": Table({**key, "b": "TEXT"}, rows),
    }


# ---- nothing


@noise
def columns(r):
    rows = [
        (place, *(hole(r, r.choice("uvw"), 0.2 * (n < 4)) for n in range(20)))
        for place in range(400)
    ]
    return {"p": Table({**ID, **{f"c{n}": "TEXT" for n in range(20)}}, rows)}


@noise
def numbers(r):
    rows = [
        (place, *(hole(r, r.gauss(0, 1), 0.2 * (n < 4)) for n in range(12))) for place in range(400)
    ]
    return {"p": Table({**ID, **{f"c{n}": "DOUBLE PRECISION" for n in range(12)}}, rows)}


@noise
def groups(r):
    rows = []
    for place in range(600):
        w = r.randrange(60)
        a, b = hole(r, r.choice("uvw")), hole(r, r.gauss(0, 1))
        rows.append((place, w % 10, 100 + w, f"team {r.randrange(80)}", a, b))
    kinds = {"hospital_id": "INTEGER", "ward_id": "INTEGER", "team": "TEXT", "a": "TEXT"}
    return {"p": Table({**ID, **kinds, "b": "DOUBLE PRECISION"}, rows)}


@noise
def generations(r):
    def rows(many, above, more):
        found = []
        for place in range(many):
            who = [r.randrange(above)] if above else []
            found.append((place, *who, hole(r, r.choice("uv")), *([r.choice("xyz")] * more)))
        return found

    return {
        "g": Table({**ID, "k": "TEXT"}, rows(40, 0, 0)),
        "p": Table({**ID, "g_id": "INTEGER REFERENCES g(id)", "m": "TEXT"}, rows(150, 40, 0)),
        "c": Table(
            {**ID, "p_id": "INTEGER REFERENCES p(id)", "a": "TEXT", "z": "TEXT"}, rows(600, 150, 1)
        ),
    }


@noise
def lists(r):
    people = [(place, hole(r, r.choice("uv")), hole(r, r.gauss(0, 1))) for place in range(300)]
    drugs = [(r.randrange(300), f"d{r.randrange(20)}", r.gauss(0, 1)) for _ in range(1500)]
    seen = [(n, what, r.gauss(0, 1)) for n in range(300) for what in ("pulse", "temp", "ph")]
    owner, number = {"s_id": "INTEGER REFERENCES s(id)"}, "DOUBLE PRECISION"
    return {
        "s": Table({**ID, "a": "TEXT", "x": number}, people),
        "drug": Table({**owner, "name": "TEXT", "dose": number}, drugs),
        "obs": Table({**owner, "what": "TEXT", "val": number}, seen),
    }


@noise
def lists_with_gaps(r):
    people = [(place, hole(r, r.choice("uv"))) for place in range(200)]
    drugs = [
        (place, r.randrange(200), hole(r, f"d{r.randrange(8)}"), hole(r, r.gauss(0, 1)))
        for place in range(900)
    ]
    columns = {"s_id": "INTEGER REFERENCES s(id)", "name": "TEXT", "dose": "DOUBLE PRECISION"}
    return {"s": Table({**ID, "a": "TEXT"}, people), "drug": Table({**ID, **columns}, drugs)}


@noise
def circles(r):
    people = [(place, hole(r, r.choice("uv")), r.choice("xy")) for place in range(200)]
    both = sorted({tuple(r.sample(range(200), 2)) for _ in range(500)})
    staff = [
        (place, r.randrange(place) if place else None, hole(r, r.choice("uv")))
        for place in range(200)
    ]
    person = "INTEGER REFERENCES person(id)"
    return {
        "person": Table({**ID, "k": "TEXT", "o": "TEXT"}, people),
        "knows": Table({"one": person, "two": person}, both, ["PRIMARY KEY (one, two)"]),
        "emp": Table({**ID, "boss": "INTEGER REFERENCES emp(id)", "v": "TEXT"}, staff),
    }


@noise
def nothing_missing(r):
    people = [(place, r.choice("uv"), r.choice("xyz")) for place in range(250)]
    drugs = [(place, r.randrange(250), f"d{r.randrange(8)}") for place in range(900)]
    columns = {"s_id": "INTEGER REFERENCES s(id)", "name": "TEXT"}
    return {
        "s": Table({**ID, "a": "TEXT", "b": "TEXT"}, people),
        "drug": Table({**ID, **columns}, drugs),
    }


@noise
def days(r):
    rows = []
    for place in range(500):
        day = date(2020, 1, 1) + timedelta(days=r.randrange(900))
        moment = datetime(2020, 1, 1) + timedelta(minutes=r.randrange(1_000_000))
        rows.append((place, str(day), str(moment), hole(r, r.choice("uvw"))))
    return {"p": Table({**ID, "d": "DATE", "t": "TEXT", "a": "TEXT"}, rows)}
