"""Results in files: what `lift` found, and all marginals, as columns where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.basics.atomic_files import PathLike, check_replaceable, replaced_folder
from lifagu.basics.columns import Column, Columns, Lists, Rows, texts
from lifagu.basics.progress import Tell
from lifagu.data.parquet.lifted import lifted_tables
from lifagu.data.parquet.writing import group_tables, model_tables, write_folder, write_table
from lifagu.errors import FormatError
from lifagu.filling.record_columns import record_columns
from lifagu.filling.result import Transfer
from lifagu.formats.csv_table import write_csv
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import Colouring
from lifagu.inference.marginals import AllMarginals
from lifagu.inference.relational.marginals import ClassMarginals, ListedMarginals
from lifagu.questions.belief_propagation import BeliefMarginals
from lifagu.questions.comparing.run import RUN, run_text
from lifagu.questions.storage import is_folder, write
from lifagu.questions.table_posteriors import table_posteriors
from lifagu.relational.key_columns import NO_KEYS, Keys
from lifagu.relational.marginal_tables import LONG, MarginalTables
from lifagu.relational.parfactor_graph import ParfactorGraph

IMPUTED = frozenset(
    [
        RUN,
        *(
            f"{name}.{ending}"
            for name in ("transfers", "tables", "marginals", "evidence", "wide_*")
            for ending in ("parquet", "csv")
        ),
    ]
)
ByName = Mapping[str, Mapping[str, float]]  # label → probability, of each variable


def write_lift(
    path: PathLike,
    moved: Transfer,
    colouring: Colouring,
    evidence: EvidenceLike = None,
    progress: Tell | None = None,
    lifted: ParfactorGraph | None = None,
) -> None:
    """Write the completed model, into a folder with all that was found beside it.

    Parameters
    ----------
    path : path
        A file by its ending, or a folder for Parquet tables.
    moved : Transfer
        What was filled.
    colouring : Colouring
        Which nodes look alike.
    evidence : mapping or Evidence, optional
        What was observed.
    progress : callable, optional
        Called with (rows done, rows in all) after each table.
    lifted : ParfactorGraph, optional
        The lifted model, to be written beside it.
    """
    if not is_folder(path):
        write(moved.graph, path, evidence)
        return
    tables = model_tables(moved.graph, moved.graph.evidence(evidence))
    records = record_columns(moved, table_posteriors(moved, evidence))
    tables |= group_tables(colouring) | {"transfers": records.by_number()}
    tables |= {} if lifted is None else lifted_tables(lifted, moved.graph)
    write_folder(path, tables, progress)


def write_marginals(path: PathLike, found: ByName) -> None:
    """Write all marginals, one row per label.

    The columns are variable, relation and constants (or kind and individual) where there are some,
    value and probability; for classes of a relational model representative, members, count, value
    and probability.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz or .parquet.
    found : mapping
        What `marginals` gave.
    """
    write_columns(path, marginal_columns(found))


def marginal_columns(found: ByName) -> Columns:
    """One row per variable and label, or per class and label."""
    if isinstance(found, ClassMarginals):
        return _class_columns(found)
    if isinstance(found, AllMarginals | ListedMarginals | BeliefMarginals):
        return found.tables()[LONG]
    shown = [found[name] for name in found]
    return MarginalTables(texts(list(found)), NO_KEYS, np.arange(len(shown)), shown).long()


def _class_columns(found: ClassMarginals) -> Columns:
    classes = found.classes
    who = texts([each.representative for each in classes])
    members: dict[str, Column] = {
        "members": texts([each.members for each in classes]),
        "count": np.array([each.count for each in classes], dtype=np.int64),
    }
    shown = [each.probabilities for each in classes]
    columns = MarginalTables(who, Keys("", members, {}), np.arange(len(shown)), shown).long()
    return {"representative": columns.pop("variable"), **columns}


def write_imputed(
    path: PathLike,
    tables: Mapping[str, Columns],
    progress: Tell | None = None,
    run: Mapping[str, Any] | None = None,
) -> None:
    """Write the tables of an `impute` into a folder, replaced in one step.

    A folder is replaced if it holds nothing but such tables. In CSV files lists stand as JSON, and
    null is empty.

    Parameters
    ----------
    path : path
        A folder for Parquet tables; ending in .csv, for CSV files.
    tables : mapping
        Name → columns, as `Imputed.tables` gives them.
    progress : callable, optional
        Called with (rows done, rows in all) after each table.
    run : mapping, optional
        What is known of the run, to be written as `run.json` beside them.
    """
    check_imputed_target(path)
    beside = {} if run is None else {RUN: run_text(run)}
    if not _wants_csv(path):
        write_folder(path, tables, progress, IMPUTED, beside)
        return
    with replaced_folder(path, IMPUTED) as temporary:
        for name, columns in tables.items():
            write_columns(temporary / f"{name}.csv", columns)
        for name, text in beside.items():
            (temporary / name).write_text(text, encoding="utf-8")


def write_columns(path: PathLike, columns: Columns) -> None:
    """Write one table: as Parquet, or as CSV with null as an empty field.

    Parameters
    ----------
    path : path
        Ends in .csv, .csv.gz or .parquet.
    columns : mapping
        Name → column.
    """
    if str(path).lower().endswith(".parquet"):
        write_table(path, columns)
    else:
        write_csv(path, list(columns), zip(*map(cells, columns.values()), strict=True))


def check_imputed_target(path: PathLike) -> None:
    """Refuse now, before long work, a place that `write_imputed` would refuse to replace.

    Parameters
    ----------
    path : path
        Where something is to be written.
    """
    if Path(path).suffix.lower() not in ("", ".csv"):
        raise FormatError(
            f"{path}: results go to a folder, of Parquet tables, or of CSV files if it ends in .csv"
        )
    check_replaceable(path, IMPUTED)


def _wants_csv(path: PathLike) -> bool:
    return Path(path).suffix.lower() == ".csv"


def cells(column: Column) -> Sequence[Any]:
    """The values of a column as a CSV file has them, one by one."""
    if isinstance(column, Lists):
        return [each or "" for each in column.as_json()]
    return list(map(_shown, column.plain() if isinstance(column, Rows) else column.tolist()))


def _shown(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    # nan differs from itself
    return "" if value is None or value != value else value
