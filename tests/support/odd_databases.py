"""Databases that are not as in books: each a function that makes the tables of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from support.drafts import Table, Tables

ODD: dict[str, Callable[[], Tables]] = {}
ID = {"id": "INTEGER PRIMARY KEY"}


def odd(make: Callable[[Random], Tables]) -> Callable[[Random], Tables]:
    """Register tables that are made with chance of their own."""
    ODD[make.__name__] = lambda: make(Random(make.__name__))
    return make


def hole(r: Random, value: Any, share: float = 0.2) -> Any:
    return None if r.random() < share else value


def pair(r: Random, values: str = "uvw", wrong: float = 0.2) -> tuple[str, str]:
    one = r.choice(values)
    return one, one if r.random() > wrong else r.choice(values)


def pairs(r: Random, many: int = 150, columns: int = 2) -> list[tuple[Any, ...]]:
    """Rows with a first column that has gaps, and others that tell about it."""
    found = []
    for _ in range(many):
        one, other = pair(r)
        found.append((hole(r, one), *(other for _ in range(columns - 1))))
    return found


def keyed(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(place, *row) for place, row in enumerate(rows)]


def family(r: Random, parents: int = 20, many: int = 200, reach: int = 0) -> Tables:
    """Children that are like their parents; reach: further parents that do not exist."""
    of = [r.choice("uv") for _ in range(parents)]
    rows = []
    for place in range(many):
        who = r.randrange(parents + reach)
        truth = of[who] if who < parents and r.random() < 0.9 else r.choice("uv")
        rows.append((place, who, hole(r, truth)))
    return {
        "par": Table({**ID, "k": "TEXT"}, list(enumerate(of))),
        "ch": Table({**ID, "par_id": "INTEGER", "a": "TEXT"}, rows),
    }


# ---- keys


@odd
def no_keys(r):
    return {"p": Table({"a": "TEXT", "b": "TEXT"}, pairs(r))}


@odd
def duplicate_rows(r):
    return {"p": Table({"a": "TEXT", "b": "TEXT"}, pairs(r, 80) * 2)}


@odd
def one_column(r):
    return {"p": Table({"a": "TEXT"}, [(hole(r, r.choice("uv")),) for _ in range(60)])}


@odd
def thirty_rows(r):
    return {"p": Table({"a": "TEXT", "b": "TEXT"}, pairs(r, 30))}


@odd
def nulls_in_keys(r):
    rows = [(hole(r, place, 0.05), *row) for place, row in enumerate(pairs(r))]
    return {"p": Table({"id": "INTEGER", "a": "TEXT", "b": "TEXT"}, rows)}


@odd
def empty_text_in_key(r):
    names = ["", " ", "x ", "a)", "(b", "a,b", "é", "e\u0301", "A", "a", "0", "00", "1.0", "\n"]
    rows = [
        ((names[place] if place < len(names) else f"k{place}"), *row)
        for place, row in enumerate(pairs(r, 100))
    ]
    return {"p": Table({"id": "TEXT PRIMARY KEY", "a": "TEXT", "b": "TEXT"}, rows)}


@odd
def numbers_of_rows(r):
    columns = {"row_number": "TEXT", "lifagu_row": "TEXT", "b": "TEXT"}
    return {"p": Table(columns, [(*row, hole(r, "x")) for row in pairs(r)])}


@odd
def large_keys(r):
    found = family(r)
    par = [(2**53 + key, k) for key, k in found["par"].rows]
    ch = [(2**62 + key, 2**53 + who, a) for key, who, a in found["ch"].rows]
    return {
        "par": Table({"id": "BIGINT PRIMARY KEY", "k": "TEXT"}, par),
        "ch": Table({"id": "BIGINT PRIMARY KEY", "par_id": "BIGINT", "a": "TEXT"}, ch),
    }


@odd
def days_in_keys(r):
    first = date(2020, 1, 1)
    rows = [
        (place // 10, str(first + timedelta(days=place % 10)), *row)
        for place, row in enumerate(pairs(r))
    ]
    columns = {"q": "INTEGER", "day": "DATE", "a": "TEXT", "b": "TEXT"}
    return {"p": Table(columns, rows, ["PRIMARY KEY (q, day)"])}


@odd
def composite_keys(r):
    size = {(h, n): r.choice(["small", "big"]) for h in range(8) for n in range(5)}
    wards = [(*key, kind, hole(r, r.choice("uv"))) for key, kind in size.items()]
    stays = []
    for place in range(250):
        h, n = r.randrange(8), r.randrange(5)
        like = (size[h, n] == "big") ^ (r.random() < 0.1)
        stays.append((place, n, h, hole(r, "x" if like else "y")))
    return {
        "ward": Table(
            {"house": "INTEGER", "number": "INTEGER", "size": "TEXT", "colour": "TEXT"},
            wards,
            ["PRIMARY KEY (number, house)"],
        ),
        "stay": Table(
            {**ID, "ward": "INTEGER", "house": "INTEGER", "s": "TEXT"},
            stays,
            ["FOREIGN KEY (ward, house) REFERENCES ward (number, house)"],
        ),
    }


@odd
def keys_within_keys(r):
    rows = [
        (i, n, m, hole(r, r.choice("xy"))) for i in range(15) for n in range(4) for m in range(3)
    ]
    return {
        "house": Table({**ID, "k": "TEXT"}, [(i, hole(r, r.choice("uv"))) for i in range(15)]),
        "ward": Table(
            {"house": "INTEGER REFERENCES house(id)", "no": "INTEGER", "a": "TEXT"},
            [(i, n, hole(r, r.choice("uv"))) for i in range(15) for n in range(4)],
            ["PRIMARY KEY (house, no)"],
        ),
        "bed": Table(
            {"house": "INTEGER", "ward": "INTEGER", "bed": "INTEGER", "b": "TEXT"},
            rows,
            [
                "PRIMARY KEY (house, ward, bed)",
                "FOREIGN KEY (house, ward) REFERENCES ward (house, no)",
            ],
        ),
    }


# ---- links


@odd
def dangling(r):
    return family(r, reach=5)


@odd
def null_links(r):
    found = family(r)
    rows = [(key, hole(r, who, 0.3), a) for key, who, a in found["ch"].rows]
    return {**found, "ch": Table(found["ch"].columns, rows)}


@odd
def links_of_other_types(r):
    found = family(r)
    rows = [(key, str(who), a) for key, who, a in found["ch"].rows]
    return {**found, "ch": Table({**ID, "par_id": "TEXT", "a": "TEXT"}, rows)}


@odd
def links_to_unique(r):
    found = family(r)
    par = [(key, f"c{key}", k) for key, k in found["par"].rows]
    ch = [(key, f"c{who}", a) for key, who, a in found["ch"].rows]
    return {
        "par": Table({**ID, "code": "TEXT UNIQUE", "k": "TEXT"}, par),
        "ch": Table({**ID, "par_code": "TEXT REFERENCES par(code)", "a": "TEXT"}, ch),
    }


@odd
def parents_without_columns(r):
    found = family(r)
    return {**found, "par": Table(ID, [row[:1] for row in found["par"].rows])}


@odd
def own_bosses(r):
    rows = [(place, place - place % 2, hole(r, r.choice("uv"))) for place in range(200)]
    return {"emp": Table({**ID, "boss": "INTEGER", "a": "TEXT"}, rows)}


@odd
def a_cycle(r):
    after = {"x": "y", "y": "z", "z": "x"}
    return {
        name: Table(
            {**ID, after[name]: "INTEGER", "a": "TEXT"},
            [(place, r.randrange(80), hole(r, r.choice("uv"))) for place in range(80)],
        )
        for name in after
    }


@odd
def the_same_individuals(r):
    of = [r.choice("uv") for _ in range(100)]
    key = {"patient_id": "INTEGER PRIMARY KEY"}
    return {
        "patient": Table({**key, "a": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(of)]),
        "person": Table({**key, "b": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(of)]),
        "human": Table({**key, "a": "TEXT"}, [(n, hole(r, of[n])) for n in range(20, 100)]),
    }


@odd
def many_to_many(r):
    of, like = [r.choice("uv") for _ in range(80)], [r.choice("uv") for _ in range(50)]
    both = {(r.randrange(70), r.randrange(50)) for _ in range(300)}
    linked = [(i, j) for i, j in sorted(both) if of[i] == like[j] or r.random() < 0.1]
    return {
        "a": Table({**ID, "k": "TEXT"}, [(n, hole(r, k, 0.3)) for n, k in enumerate(of)]),
        "b": Table({**ID, "k": "TEXT"}, list(enumerate(like))),
        "ab": Table(
            {"a_id": "INTEGER REFERENCES a(id)", "b_id": "INTEGER REFERENCES b(id)"},
            linked,
            ["PRIMARY KEY (a_id, b_id)"],
        ),
    }


@odd
def many_to_many_with_grades(r):
    of, like = [r.choice("uv") for _ in range(50)], [r.choice("uv") for _ in range(40)]
    both = sorted({(r.randrange(50), r.randrange(40)) for _ in range(350)})
    grades = [(i, j, hole(r, "good" if (of[i], like[j]) == ("u", "u") else "bad")) for i, j in both]
    return {
        "a": Table({**ID, "k": "TEXT"}, [(n, hole(r, k)) for n, k in enumerate(of)]),
        "b": Table({**ID, "k": "TEXT"}, list(enumerate(like))),
        "ab": Table(
            {
                "a_id": "INTEGER REFERENCES a(id)",
                "b_id": "INTEGER REFERENCES b(id)",
                "grade": "TEXT",
            },
            grades,
            ["PRIMARY KEY (a_id, b_id)"],
        ),
    }


@odd
def long_tables_of_texts(r):
    people, said = [], []
    for place in range(150):
        k = r.choice("uv")
        people.append((place, hole(r, k)))
        town = r.choice("XYZ") if r.random() < 0.7 else f"t{r.randrange(100)}"
        if k == "u":
            town = f"u{town}"
        like = (k == "u") ^ (r.random() < 0.3)
        for what, value in (("sex", r.choice("mf")), ("eyes", "ab"[like]), ("town", town)):
            if r.random() < 0.9:
                said.append((place, what, value))
    return {
        "person": Table({**ID, "k": "TEXT"}, people),
        "obs": Table(
            {"person": "INTEGER REFERENCES person(id)", "what": "TEXT", "value": "TEXT"}, said
        ),
    }


@odd
def lists_of_numbers_as_texts(r):
    people = [(place, hole(r, r.choice("uv"))) for place in range(150)]
    numbers = [f"{n / 8}" for n in range(60)]
    said = [(n % 150, r.choice(numbers), r.choice(["NA", *numbers])) for n in range(400)]
    return {
        "person": Table({**ID, "k": "TEXT"}, people),
        "obs": Table({"person": "INTEGER REFERENCES person(id)", "x": "TEXT", "y": "TEXT"}, said),
    }


# ---- names


@odd
def quoted_names(r):
    names = ['a"b', "a b", "select", "Ünï 名", "UPPER", "it's", "a.b", "%s", ":x", "--", "x(y)"]
    rows = [(place, *row) for place, row in enumerate(pairs(r, 100, len(names)))]
    return {'od"d t': Table({"i d": "INTEGER PRIMARY KEY", **dict.fromkeys(names, "TEXT")}, rows)}


@odd
def names_that_mean_something(r):
    names = ["t", "a", "s", "l", "n", "item", "stay", "learn", "by", "given", "other", "true"]
    rows = [(*row, r.randrange(20)) for row in pairs(r, 120, len(names))]
    return {
        "semi": Table({**dict.fromkeys(names, "TEXT"), "a_id": "INTEGER"}, rows),
        "a": Table({**ID, "t": "TEXT"}, [(n, r.choice("uv")) for n in range(20)]),
    }


@odd
def names_that_collide(r):
    columns = {**ID, "c_d": "TEXT", "cD": "TEXT", "C D": "TEXT"}
    return {
        "a_b": Table(columns, keyed(pairs(r, columns=3))),
        "aB": Table(
            {**columns, "a_b": "INTEGER"},
            [(place, *row, r.randrange(150)) for place, row in enumerate(pairs(r, 100, 3))],
        ),
    }


@odd
def very_long_names(r):
    long = "x" * 55
    columns = {**ID, f"{long}1": "TEXT", f"{long}2": "TEXT"}
    return {"t" * 60: Table(columns, keyed(pairs(r)))}


# ---- values


@odd
def truths(r):
    rows = []
    for place in range(120):
        t = r.random() < 0.5
        rows.append(
            (
                place,
                hole(r, t),
                hole(r, int(t)),
                hole(r, "ft"[t]),
                hole(r, ("no", "yes")[t]),
                hole(r, ("FALSE", "TRUE")[t]),
            )
        )
    columns = {"bo": "BOOLEAN", "number": "INTEGER", "tf": "TEXT", "yn": "TEXT", "upper": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@odd
def odd_numbers(r):
    rows = [
        (
            place,
            hole(r, r.choice(["> 89", *map(str, range(20, 90))])),
            hole(r, r.choice(["", "1e5", "2.5", "-3", "7", "12", "13.5", "15.25", "1e-3"])),
            hole(r, r.choice(["x", "y", "NA", "n/a"])),
        )
        for place in range(200)
    ]
    return {"p": Table({**ID, "age": "TEXT", "x": "TEXT", "na": "TEXT"}, rows)}


@odd
def numbers_with_commas(r):
    rows = [
        (place, hole(r, f"{place % 90},{r.randint(0, 99):02}"), f"{7919 * place:,}", r.choice("uv"))
        for place in range(200)
    ]
    return {"p": Table({**ID, "price": "TEXT", "much": "TEXT", "a": "TEXT"}, rows)}


@odd
def blank_texts(r):
    rows = [
        (place, hole(r, r.choice(["u", "v", ""])), r.choice(["u", "v", " "]), r.choice("u\tv"))
        for place in range(150)
    ]
    return {"p": Table({**ID, "a": "TEXT", "b": "TEXT", "c": "TEXT"}, rows)}


@odd
def nothing_but_other(r):
    often = ["other", "(other)", "any other", "u"]
    rows = [
        (place, hole(r, r.choice(often) if r.random() < 0.7 else f"rare{r.randrange(300)}"))
        for place in range(400)
    ]
    return {"p": Table({**ID, "a": "TEXT"}, rows)}


@odd
def infinite_numbers(r):
    odd_ones = [float("inf"), float("-inf"), float("nan")]
    rows = [
        (place, hole(r, r.choice([*odd_ones, *(r.gauss(0, 1) for _ in range(5))])))
        for place in range(200)
    ]
    return {"p": Table({**ID, "x": "DOUBLE PRECISION"}, rows)}


@odd
def large_numbers(r):
    rows = []
    for place in range(150):
        x = r.gauss(100, 10)
        high = hole(r, "hi" if x > 100 else "lo")
        rows.append((place, hole(r, f"{x:.2f}"), 2**53 + r.randrange(900), 2**62 + place % 5, high))
    columns = {"dec": "DECIMAL(10,2)", "big": "BIGINT", "huge": "BIGINT", "a": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@odd
def moments(r):
    rows = []
    for place in range(200):
        day = date(2020, 1, 1) + timedelta(days=r.randrange(700))
        moment = datetime(2020, 1, 1) + timedelta(minutes=r.randrange(1_000_000))
        a = hole(r, "rest" if day.weekday() >= 5 else "work")
        rows.append((place, str(day), str(moment), str(day), moment.isoformat() + "+05:00", a))
    columns = {"d": "DATE", "ts": "TIMESTAMP", "dt": "TEXT", "tz": "TEXT", "a": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@odd
def moments_from_utc(r):
    rows = []
    for place in range(200):
        moment = datetime(2020, 1, 1) + timedelta(minutes=r.randrange(1_000_000))
        a = hole(r, "night" if moment.hour >= 18 else "day")
        texts = [f"{moment + timedelta(hours=2)}{offset}" for offset in ("+02", "+0200", "+02:00")]
        rows.append((place, *texts, r.choice(texts), a))
    columns = {"short": "TEXT", "plain": "TEXT", "long": "TEXT", "any": "TEXT", "a": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@odd
def moments_that_are_none(r):
    days = ["2020-02-30", "2020-13-01", "2021-05-05", "0000-00-00"]
    rows = [(place, r.choice(days), hole(r, r.choice("uv"))) for place in range(100)]
    return {"p": Table({**ID, "d": "TEXT", "a": "TEXT"}, rows)}


@odd
def values_with_signs(r):
    signs = ["=", "a=b", '{"j": 1}', "[1]", "null", "true", '"', "'", "\\", ";--"]
    rows = [(place, hole(r, r.choice(signs)), r.choice(signs)) for place in range(200)]
    return {"p": Table({**ID, "a": "TEXT", "b": "TEXT"}, rows)}


@odd
def constants_and_empty_columns(r):
    rows = [(*row, None, "k", hole(r, "yes", 0.7)) for row in keyed(pairs(r))]
    columns = {"a": "TEXT", "b": "TEXT", "z": "TEXT", "c": "TEXT", "flag": "TEXT"}
    return {"p": Table({**ID, **columns}, rows)}


@odd
def an_empty_table(r):
    return {
        "e": Table({**ID, "p_id": "INTEGER", "a": "TEXT"}, []),
        "p": Table({**ID, "a": "TEXT", "b": "TEXT"}, keyed(pairs(r))),
    }


@odd
def hardly_anything_known(r):
    rows = [tuple(hole(r, each, 0.9) for each in pair(r)) for _ in range(300)]
    return {"p": Table({**ID, "a": "TEXT", "b": "TEXT"}, keyed(rows))}


__all__ = ["ID", "ODD", "family", "hole", "pair", "pairs"]
