"""Results in files: what `lift` found, and all marginals, as columns where there are many."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lifagu.assembly import taken_lists
from lifagu.columns import Columns, name_column, texts
from lifagu.evidence import EvidenceLike
from lifagu.formats.csv_table import write_csv
from lifagu.infer import AllMarginals
from lifagu.model import Colouring
from lifagu.names import Names
from lifagu.replacing import PathLike
from lifagu.sql import group_tables, model_tables, write_folder, write_table
from lifagu.storage import is_folder, write
from lifagu.symmetry.transfer import Transfer, record_columns

Progress = Callable[[int, int], None]
Marginals = Mapping[str, Mapping[str, float]]


def write_lift(
    path: PathLike,
    moved: Transfer,
    colouring: Colouring,
    evidence: EvidenceLike = None,
    progress: Progress | None = None,
) -> None:
    """Write the completed model; into a folder also the groups and the record of the transfer, as Parquet tables.

    progress(done, total) is called after each table with the number of rows.
    """
    if not is_folder(path):
        write(moved.graph, path, evidence)
        return
    tables = model_tables(moved.graph, moved.graph.evidence(evidence))
    tables |= group_tables(colouring) | {"transfers": record_columns(moved)}
    write_folder(path, tables, progress)


def write_marginals(path: PathLike, found: Marginals) -> None:
    """Write rows variable, value, probability of all marginals to a .csv file (also .csv.gz) or a .parquet file."""
    if str(path).lower().endswith(".parquet"):
        write_table(path, _marginal_columns(found))
        return
    rows = ((name, label, value) for name in found for label, value in found[name].items())
    write_csv(path, ("variable", "value", "probability"), rows)


def _marginal_columns(found: Marginals) -> Columns:
    """One row per label of each variable, by array where variables share marginals."""
    if isinstance(found, AllMarginals):
        names, variables = found.prepared.graph.variable_names, found.variables
        of_variable, distributions = found.classes
    else:
        names, variables = Names("variable", found), np.arange(len(found))
        of_variable, distributions = variables, [dict(each) for each in found.values()]
    sizes = np.array([len(each) for each in distributions], dtype=np.int64)
    labels = [label for each in distributions for label in each]
    probabilities = np.array([value for each in distributions for value in each.values()], dtype=np.float64)
    places, _ = taken_lists(np.concatenate(([0], np.cumsum(sizes))), np.arange(len(labels)), of_variable)
    return {
        "variable": name_column(names, np.repeat(variables, sizes[of_variable])),
        "value": texts(labels, places),
        "probability": probabilities[places],
    }
