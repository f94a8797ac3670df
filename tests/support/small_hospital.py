"""A small hospital as a template and tables, in databases of every kind."""

import json

from support.naive import templates as naive

KINDS = ("duckdb", "csv", "parquet", "sqlite")
WARDS = (
    [("w1", True, True)] * 6
    + [("w1", True, False)] * 2
    + [("w1", False, False)] * 4
    + [("w2", True, True)]
)
TABLES = {
    "patients": (
        {"id": "VARCHAR", "ward": "VARCHAR", "test": "BOOLEAN"},
        [("al", "w1", True), ("bo", "w2", False), ("eve", "w3", None), ("fay", None, None)],
    ),
    "history": (
        {"ward": "VARCHAR", "sick": "BOOLEAN", "test": "BOOLEAN"},
        [*WARDS, ("w1", None, True)],
    ),
}
SMALL = {
    "format": "lifagu/1",
    "source": "data.duckdb",
    "domains": {"Patient": {"sql": "SELECT id FROM patients"}},
    "relations": [{"name": "Sick", "of": ["Patient"]}, {"name": "Test", "of": ["Patient"]}],
    "tables": {"phi": [9, 1, 2, 8]},
    "parfactors": [
        {
            "name": "test",
            "args": ["Sick(Id)", "Test(Id)"],
            "rows": {"sql": "SELECT id, ward FROM patients"},
            "table": {
                "learn": True,
                "given": ["Sick(Id)"],
                "by": ["ward"],
                "min_support": 5,
                "records": {"sql": "SELECT sick, test, ward FROM history"},
            },
        }
    ],
    "evidence": {"Test": {"sql": "SELECT id, test FROM patients"}},
    "queries": ["Sick"],
}


def made(kind, tables, folder, name="data"):
    """The address of a database of this kind that holds these tables."""
    if kind in ("csv", "parquet"):
        return naive.in_files(tables, folder / f"{name}-{kind}", kind)
    return {"duckdb": naive.in_duckdb, "sqlite": naive.in_sqlite}[kind](
        tables, folder / f"{name}.{kind}"
    )


def written(template, folder):
    """The path of a file that holds a template."""
    path = folder / "hospital.json"
    path.write_text(json.dumps(template, indent=1))
    return path


def changed(**sections):
    """The template with some of its sections replaced."""
    return {**json.loads(json.dumps(SMALL)), **sections}
