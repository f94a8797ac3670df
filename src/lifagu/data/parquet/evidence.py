"""The evidence in a folder of Parquet tables, by name; only observed variables are looked up."""

from __future__ import annotations

from collections.abc import Sequence

from lifagu.data.duck import Duck
from lifagu.data.parquet.ids import Ids
from lifagu.data.parquet.layout import file_name
from lifagu.data.parquet.table import ParquetTable
from lifagu.data.snapshots import Pinned
from lifagu.errors import ModelError
from lifagu.graph.evidence import Observation
from lifagu.graph.ranges import BOOLEAN, value_of


def evidence_in(folder: Pinned, duck: Duck) -> dict[str, Observation]:
    """What the table `evidence` of a folder says, by name; nothing if there is no such table."""
    if "evidence" not in folder.files:
        return {}
    table, variables = (ParquetTable(duck, folder, name) for name in ("evidence", "variables"))
    ids = Ids.of(variables)
    Ids.of(table, "variable_id")  # each variable once
    numbers = ids.referred(table, "variable_id", file_name("variables"))
    observed = table.records(["value", "likelihood"])
    looked_up = variables.records(["name", "range"], ids.rows[numbers])
    found: dict[str, Observation] = {}
    for row, ((value, likelihood), (name, labels)) in enumerate(
        zip(observed, looked_up, strict=True)
    ):
        if value is not None or likelihood is not None:
            name = name or f"x{ids.ordered[numbers[row]]}"
            found[name] = _observation(table, row, value, likelihood, name, labels or BOOLEAN)
    return found


def _observation(
    table: ParquetTable,
    row: int,
    value: str | None,
    likelihood: list[float] | None,
    name: str,
    labels: Sequence[str],
) -> Observation:
    """A label, or the likelihood of each label; exactly one of them is given."""
    if value is not None and likelihood is not None:
        raise table.fault(
            "value", row, "a value and a likelihood; give one of them, null for the other"
        )
    if value is not None:
        try:
            return labels[value_of(value, labels, name)]
        except ModelError as error:
            raise table.fault("value", row, str(error)) from None
    likelihood = likelihood or []
    if len(likelihood) != len(labels):
        given = f"{len(likelihood)} numbers for the {len(labels)} labels of '{name}'"
        raise table.fault("likelihood", row, f"{given}; give one each")
    return dict(zip(labels, likelihood, strict=True))
