"""Templates read naively: plain Python over a driver's rows, written from the documentation.

And random hospitals as plain tables, put into any kind of database.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg

Table = tuple[dict[str, str], list[tuple[Any, ...]]]  # columns with their types, and rows
Tables = dict[str, Table]
Fetch = Callable[[str], tuple[list[str], list[tuple[Any, ...]]]]


# ---- the same tables in every kind of database


def in_duckdb(tables: Tables, file: Path) -> str:
    with duckdb.connect(str(file)) as made:
        fill_duckdb(made, tables)
    return str(file)


def fill_duckdb(made: Any, tables: Tables) -> None:
    for name, (columns, rows) in tables.items():
        made.execute(
            f"CREATE TABLE {name} ({', '.join(f'{each} {kind}' for each, kind in columns.items())})"
        )
        if rows:
            made.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' for _ in columns)})", rows)


def in_files(tables: Tables, folder: Path, ending: str) -> str:
    folder.mkdir()
    with duckdb.connect() as made:
        fill_duckdb(made, tables)
        for name in tables:
            made.execute(f"COPY {name} TO '{folder / name}.{ending}'")
    return str(folder)


def in_sqlite(tables: Tables, file: Path) -> str:
    made = sqlite3.connect(file)
    for name, (columns, rows) in tables.items():
        made.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        cells = [
            [json.dumps(each) if isinstance(each, list) else each for each in row] for row in rows
        ]
        made.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' for _ in columns)})", cells)
    made.commit()
    made.close()
    return str(file)


def in_postgresql(tables: Tables, url: str) -> str:
    with psycopg.connect(url) as made:
        for name, (columns, rows) in tables.items():
            types = {"VARCHAR": "TEXT", "DOUBLE[]": "DOUBLE PRECISION[]"}
            listed = ", ".join(f"{each} {types.get(kind, kind)}" for each, kind in columns.items())
            made.execute(f"CREATE TABLE {name} ({listed})")
            with made.cursor() as cursor:
                cursor.executemany(
                    f"INSERT INTO {name} VALUES ({', '.join('%s' for _ in columns)})", rows
                )
    return url


# ---- random hospitals


def random_hospital(seed: int) -> tuple[dict[str, Any], Tables]:
    """A template with something of everything, and tables for it."""
    rng = random.Random(seed)
    numbered = rng.random() < 0.5
    count = rng.randint(1, 9)
    patients = [each + 1 if numbered else f"p{each}" for each in range(count)]
    if numbered and rng.random() < 0.5:
        patients = rng.sample(range(-5, 200), count)
    rng.shuffle(patients)
    wards, drugs = ["north", "south", "new"], ["m1", "m2", "M 3"]
    tables: Tables = {
        "patients": (
            {
                "id": "BIGINT" if numbered else "VARCHAR",
                "ward": "VARCHAR",
                "sick": "BOOLEAN",
                "stay": "VARCHAR",
            },
            [
                (
                    each,
                    rng.choice([*wards, None]),
                    rng.choice([True, False, None]),
                    rng.choice(["short", "long", None]),
                )
                for each in patients
            ],
        ),
        "history": (
            {"ward": "VARCHAR", "sick": "BOOLEAN", "stay": "VARCHAR"},
            [
                (
                    rng.choice(["north", "south", None]),
                    rng.choice([True, False, None]),
                    rng.choice(["short", "long"]),
                )
                for _ in range(rng.randint(1, 30))
            ],
        ),
        "treatments": (
            {
                "patient": "BIGINT" if numbered else "VARCHAR",
                "drug": "VARCHAR",
                "effect": "DOUBLE[]",
                "named": "VARCHAR",
            },
            [
                (
                    *pair,
                    rng.choice([None, [1.0, 2.0, 3.0, 4.0], [0.5, 2.0, 0.0, 4.25]]),
                    rng.choice([None, "weak", "strong"]),
                )
                for pair in rng.sample(
                    list(itertools.product(patients, drugs)),
                    rng.randint(1, min(8, len(patients) * len(drugs))),
                )
            ],
        ),
    }
    return random_template(rng), tables


def random_template(rng: random.Random) -> dict[str, Any]:
    stay: dict[str, Any] = {
        "learn": True,
        "records": {"sql": "SELECT sick, stay, ward FROM history"},
        "prior": rng.choice([0, 1, 0.5, [1, 2, 3, 4]]),
        "min_support": rng.choice([0, 1, 3, 8]),
    }
    stay |= rng.choice([{}, {"given": ["Sick(Id)"]}, {"given": ["Stay(Id)"]}])
    stay |= rng.choice([{}, {"by": ["ward"]}])
    column = rng.choice(["effect", "named"])
    template: dict[str, Any] = {
        "format": "lifagu/1",
        "source": "hospital.duckdb",
        "ranges": {"stay": rng.choice([["short", "long"], ["long", "short"]])},
        "domains": {"Patient": {"sql": "SELECT id FROM patients"}, "Drug": ["M 3", "m1", "m2"]},
        "tables": {"weak": [1, 1, 2, 1], "strong": [1, 2, 3, 9]},
        "relations": [
            {"name": "Epid"},
            {"name": "Sick", "of": ["Patient"]},
            {"name": "Stay", "of": ["Patient"], "range": "stay"},
            {"name": "Treat", "of": ["Patient", "Drug"]},
        ],
        "parfactors": [
            {"name": "epid", "args": ["Epid"], "table": [3, 1]},
            {"name": "sick", "args": ["Sick(X)", "Epid"], "table": rng.choice([None, "strong"])},
            {
                "name": "stay",
                "args": ["Sick(Id)", "Stay(Id)"],
                "rows": {"sql": ["SELECT ward, id", "FROM patients -- all of them"]},
                "table": stay,
            },
            {
                "name": "treat",
                "args": ["Sick(Patient)", "Treat(Patient,Drug)"],
                "rows": {"sql": "SELECT * FROM treatments;"},
                "table": {"column": column},
            },
        ],
        "evidence": {
            "Epid": "true",
            "Sick": {"sql": "SELECT id, sick FROM patients"},
            "Stay": {"sql": "SELECT id, stay FROM patients WHERE ward = 'north'"},
        },
        "queries": [
            "Epid",
            rng.choice(["Stay", "Treat"]),
            {"relation": "Sick", "sql": "SELECT id FROM patients"},
        ],
    }
    return template


# ---- the oracle


def text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def constants(values: list[Any]) -> list[str]:
    texts = [text(each) for each in values]
    whole = all(re.fullmatch(r"-?\d+", each) for each in texts)
    return sorted(texts, key=int) if whole else sorted(texts)


def count(
    table: dict[str, Any], labels: list[list[str]], group: tuple[Any, ...], fetch: Fetch
) -> dict[tuple[str, ...], int]:
    """The records of one group in each state, counted one by one."""
    names, rows = fetch(table["records"]["sql"])
    by = table.get("by", [])
    counts = dict.fromkeys(itertools.product(*labels), 0)
    for row in rows:
        record = dict(zip(names, row, strict=True))
        complete = None not in [*row[: len(labels)], *(record[each] for each in by)]
        if complete and tuple(text(record[each]) for each in by) == group:
            counts[tuple(map(text, row[: len(labels)]))] += 1
    return counts


def learn(
    table: dict[str, Any], labels: list[list[str]], group: tuple[Any, ...] | None, fetch: Fetch
) -> Any:
    """The table of one group, None if it is unknown."""
    if group is None:
        return None
    counts = count(table, labels, group, fetch)
    if sum(counts.values()) < table["min_support"]:
        return None
    prior = table["prior"] if isinstance(table["prior"], list) else [table["prior"]] * len(counts)
    weights = {
        state: count + extra for (state, count), extra in zip(counts.items(), prior, strict=True)
    }
    fixed = [("Sick(Id)", "Stay(Id)").index(each) for each in table.get("given", [])]
    found = []
    for state, weight in weights.items():
        total = sum(
            each
            for other, each in weights.items()
            if all(other[place] == state[place] for place in fixed)
        )
        if total == 0:
            return None
        found.append(weight / total)
    return found


def naive_load(template: dict[str, Any], fetch: Fetch) -> dict[str, Any]:
    """Variables, factors, evidence and questions as plain lists."""
    domains = {
        name: constants([row[0] for row in fetch(item["sql"])[1]])
        if isinstance(item, dict)
        else item
        for name, item in template["domains"].items()
    }
    relations = {each["name"]: each for each in template["relations"]}
    ranges = {
        name: template["ranges"].get(each.get("range"), ["false", "true"])
        for name, each in relations.items()
    }
    factors = []
    for parfactor in template["parfactors"]:
        factors += naive_factors(parfactor, template, domains, relations, ranges, fetch)
    met = {argument for _, arguments, _ in factors for argument in arguments}
    variables = []
    for name, relation in relations.items():
        of = relation.get("of", [])
        for row in itertools.product(*(domains[each] for each in of)):
            if (full := ground_name(name, row)) in met or not of:
                variables.append((full, ranges[name], name, row))
    names = [each[0] for each in variables]
    evidence: dict[str, str] = {}
    for name, item in template["evidence"].items():
        if isinstance(item, str):
            evidence[name] = item
            continue
        for *row, value in fetch(item["sql"])[1]:
            full = ground_name(name, tuple(map(text, row)))
            if value is not None and full in met:
                evidence[full] = text(value)
    asked: list[str] = []
    for each in template["queries"]:
        name = each if isinstance(each, str) else each["relation"]
        asked += [full for full, _, kind, _ in variables if kind == name and full not in asked]
    assert set(asked) <= set(names)
    return {"variables": variables, "factors": factors, "evidence": evidence, "queries": asked}


def naive_counts(template: dict[str, Any], fetch: Fetch) -> dict[str, list[int]]:
    """The records behind the learned table of each patient with a ward, by factor."""
    table = template["parfactors"][2]["table"]
    labels = [["false", "true"], template["ranges"]["stay"]]
    names, rows = fetch("\n".join(template["parfactors"][2]["rows"]["sql"]))
    found = {}
    for row in rows:
        record = dict(zip(names, row, strict=True))
        group = tuple(record[each] for each in table.get("by", []))
        if None not in group:
            counts = count(table, labels, tuple(map(text, group)), fetch)
            found[ground_name("stay", (text(record["id"]),))] = list(counts.values())
    return found


def ground_name(relation: str, row: tuple[str, ...]) -> str:
    shown = [f'"{each}"' if " " in each else each for each in row]
    return f"{relation}({','.join(shown)})" if row else relation


def naive_factors(
    parfactor: dict[str, Any],
    template: dict[str, Any],
    domains: dict[str, list[str]],
    relations: dict[str, Any],
    ranges: dict[str, list[str]],
    fetch: Fetch,
) -> list[tuple[str, list[str], Any]]:
    atoms = [re.fullmatch(r"(\w+)(?:\((.*)\))?", each) for each in parfactor["args"]]
    parsed = [(each[1], each[2].split(",") if each[2] else []) for each in atoms if each]
    of = {
        term: domain
        for name, terms in parsed
        for term, domain in zip(terms, relations[name].get("of", []), strict=True)
    }
    labels = [ranges[name] for name, _ in parsed]
    table, tables = parfactor["table"], template["tables"]
    rows: list[tuple[tuple[str, ...], Any]] = []
    if "rows" not in parfactor:
        literal = tables[table] if isinstance(table, str) else table
        rows = [
            (row, literal)
            for row in itertools.product(*(domains[domain] for domain in of.values()))
        ]
    else:
        sql = parfactor["rows"]["sql"]
        names, found = fetch(sql if isinstance(sql, str) else "\n".join(sql))
        for row in found:
            record = {name.lower(): value for name, value in zip(names, row, strict=True)}
            values = tuple(text(record[term.lower()]) for term in of)
            if "column" in table:
                own = record[table["column"]]
                rows.append(
                    (values, tables[own] if isinstance(own, str) and own[:1] not in "[{" else own)
                )
            else:
                by = [record[each] for each in table.get("by", [])]
                group = None if None in by else tuple(map(text, by))
                rows.append((values, learn(table, labels, group, fetch)))
        rows.sort(
            key=lambda row: [
                domains[domain].index(each)
                for domain, each in zip(of.values(), row[0], strict=True)
            ]
        )
    result = []
    for values, potentials in rows:
        at = dict(zip(of, values, strict=True))
        arguments = [ground_name(name, tuple(at[term] for term in terms)) for name, terms in parsed]
        result.append((ground_name(parfactor["name"], values), arguments, potentials))
    return result
