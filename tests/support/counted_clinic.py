"""A clinic whose tables are counted from its own cells, in databases of every kind."""

import json
import random

WARDS, DRUGS, GRADES = ("w1", "w2"), ("m1", "m2"), ("low", "mid", "high")
TEMPLATE = {
    "format": "lifagu/1",
    "source": "data.duckdb",
    "domains": {
        "Patient": {"sql": "SELECT id FROM patients"},
        "Drug": {"sql": "SELECT DISTINCT drug FROM treatments"},
    },
    "relations": [
        {"name": "Sick", "of": ["Patient"]},
        {"name": "Grade", "of": ["Patient"], "range": list(GRADES)},
        {"name": "Effect", "of": ["Drug", "Patient"]},
    ],
    "parfactors": [
        {
            "name": "sick",
            "args": ["Sick(Id)"],
            "rows": {"sql": "SELECT id, ward FROM patients"},
            "table": {"learn": True, "by": ["ward"], "min_support": 1},
        },
        {
            "name": "grade",
            "args": ["Sick(P)", "Grade(P)"],
            "rows": {"sql": "SELECT id AS p FROM patients"},
            "table": {"learn": True, "given": ["Sick(P)"], "min_support": 1},
        },
        {
            "name": "effect",
            "args": ["Sick(P)", "Effect(D,P)"],
            "rows": {"sql": "SELECT patient AS p, drug AS d FROM treatments"},
            "table": {"learn": True, "min_support": 1},
        },
    ],
    "evidence": {
        "Sick": {"sql": "SELECT id, sick FROM patients"},
        "Grade": {"sql": "SELECT id, grade FROM patients"},
        "Effect": {"sql": "SELECT drug, patient, effect FROM treatments"},
    },
}


def clinic(seed, patients=7):
    """The tables of a clinic drawn with a seed, some of their cells NULL."""
    rng = random.Random(seed)
    people = [
        (
            f"p{number}",
            rng.choice(WARDS),
            rng.choice([True, False, False, None]),
            rng.choice([*GRADES, "low", None]),
        )
        for number in range(patients)
    ]
    treated = [
        (name, drug, rng.choice([True, True, False, None]))
        for name, *_ in people
        for drug in DRUGS
        if name == "p0" or rng.random() < 0.5
    ]
    text = "VARCHAR"
    return {
        "patients": ({"id": text, "ward": text, "sick": "BOOLEAN", "grade": text}, people),
        "treatments": ({"patient": text, "drug": text, "effect": "BOOLEAN"}, treated),
    }


def with_cells(tables, cells):
    """The same tables with other values in some cells, by (relation, individual)."""
    place = {"Sick": 2, "Grade": 3, "Effect": 2}

    def row_of(relation, row):
        individual = row[0] if relation != "Effect" else f"{row[1]},{row[0]}"
        if (relation, individual) not in cells:
            return row
        at = place[relation]
        return (*row[:at], cells[relation, individual], *row[at + 1 :])

    columns, people = tables["patients"]
    people = [row_of("Grade", row_of("Sick", row)) for row in people]
    titles, treated = tables["treatments"]
    return {
        "patients": (columns, people),
        "treatments": (titles, [row_of("Effect", row) for row in treated]),
    }


def with_records(*names):
    """The template, some of whose tables are counted in records of the same patients."""
    template = json.loads(json.dumps(TEMPLATE))
    queries = {
        "sick": "SELECT sick, ward FROM patients",
        "grade": "SELECT sick, grade FROM patients",
        "effect": 'SELECT sick, effect FROM "treatments" AS t JOIN main.Patients ON patient = id',
    }
    for each in template["parfactors"]:
        if each["name"] in names:
            each["table"]["records"] = {"sql": queries[each["name"]]}
    return template
