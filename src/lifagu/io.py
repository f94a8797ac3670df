"""Models and results in and out: files, folders of Parquet tables, databases, libraries."""

from lifagu.formats import read_queries
from lifagu.formats.csv_table import write_csv
from lifagu.formats.native import from_json, to_json
from lifagu.formats.with_networkx import to_networkx
from lifagu.formats.with_pgmpy import from_pgmpy, to_pgmpy
from lifagu.formats.with_pyagrum import from_pyagrum, to_pyagrum
from lifagu.questions.storage import (
    check_database,
    check_target,
    load,
    read,
    read_evidence,
    write,
    write_results,
)
from lifagu.questions.writing_results import (
    check_imputed_target,
    write_imputed,
    write_lift,
    write_marginals,
)
from lifagu.relational.loaded import Loaded
from lifagu.relational.source import Source

__all__ = [
    "Loaded",
    "Source",
    "check_database",
    "check_imputed_target",
    "check_target",
    "from_json",
    "from_pgmpy",
    "from_pyagrum",
    "load",
    "read",
    "read_evidence",
    "read_queries",
    "to_json",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "write",
    "write_csv",
    "write_imputed",
    "write_lift",
    "write_marginals",
    "write_results",
]
