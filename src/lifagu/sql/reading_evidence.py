"""The evidence in a folder of Parquet tables, by name; only the observed variables are looked up."""

from __future__ import annotations

from pathlib import Path

from lifagu.evidence import Observation
from lifagu.ranges import BOOLEAN
from lifagu.replacing import PathLike
from lifagu.sql.duck import Duck
from lifagu.sql.ids import Ids
from lifagu.sql.layout import file_name
from lifagu.sql.reading import checked_folder
from lifagu.sql.source import ParquetTable


def read_folder_evidence(path: PathLike) -> dict[str, Observation]:
    """What the table `evidence` of a folder says, by the variables' names; nothing where there is no such table."""
    folder = checked_folder(path)
    if not (Path(path) / file_name("evidence")).exists():
        return {}
    with Duck() as duck:
        table, variables = ParquetTable(duck, folder, "evidence"), ParquetTable(duck, folder, "variables")
        ids = Ids.of(variables)
        Ids.of(table, "variable_id")  # each variable once
        numbers = ids.referred(table, "variable_id", file_name("variables"))
        seen = table.records(["value", "likelihood"])
        looked_up = variables.records(["name", "range"], ids.rows[numbers])
    found: dict[str, Observation] = {}
    for row, ((value, likelihood), (name, labels)) in enumerate(zip(seen, looked_up, strict=True)):
        if value is not None and likelihood is not None:
            raise table.fault("value", row, "a value and a likelihood; give one of them, null for the other")
        name = name or f"x{ids.ordered[numbers[row]]}"
        if value is not None:
            found[name] = value
        elif likelihood is not None:
            labels = labels or BOOLEAN
            if len(likelihood) != len(labels):
                raise table.fault(
                    "likelihood",
                    row,
                    f"{len(likelihood)} numbers for the {len(labels)} labels of '{name}'; give one each",
                )
            found[name] = dict(zip(labels, likelihood, strict=True))
    return found
