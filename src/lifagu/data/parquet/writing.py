"""From a graph to Parquet tables: arrays straight into columns, folders replaced whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, first_places
from lifagu.basics.atomic_files import PathLike, check_replaceable, replaced_file, replaced_folder
from lifagu.basics.columns import (
    Column,
    Columns,
    Lists,
    Nullable,
    name_column,
    row_count,
    text_lists,
    texts,
)
from lifagu.basics.names import Names, NumberedNames
from lifagu.basics.progress import Tell
from lifagu.data.duck import Duck
from lifagu.data.parquet.copying import copy_columns
from lifagu.data.parquet.layout import TABLES, file_name
from lifagu.data.parquet.supports import support_columns
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.graph.ranges import BOOLEAN
from lifagu.graph.tables import GivenTables
from lifagu.relational.ground_parts import declared_tables

FILES = frozenset(map(file_name, TABLES))


def write_folder(
    path: PathLike,
    tables: Mapping[str, Columns],
    progress: Tell | None = None,
    replaceable: Collection[str] = FILES,
    beside: Mapping[str, str] | None = None,
) -> None:
    """Replace a folder by these tables in one step; a folder with anything else in it is refused.

    progress(done, total) is called after each table with the rows written so far. replaceable: the
    files that may be in it already. beside: files to be written as well, and the text of each.
    """
    total, done = sum(map(row_count, tables.values())), 0
    with Duck(threads=1) as duck, replaced_folder(path, replaceable) as temporary:
        for table, columns in tables.items():
            copy_columns(duck, columns, temporary / file_name(table), Path(path) / file_name(table))
            done += row_count(columns)
            if progress:
                progress(done, total)
        for name, text in (beside or {}).items():
            (temporary / name).write_text(text, encoding="utf-8")


def check_folder(path: PathLike) -> None:
    """Refuse a place that `write_folder` would refuse."""
    check_replaceable(path, FILES)


def write_table(path: PathLike, columns: Columns) -> None:
    """Replace one ``.parquet`` file by a table in one step."""
    with Duck(threads=1) as duck, replaced_file(path) as temporary:
        copy_columns(duck, columns, temporary, path)


def model_tables(graph: FactorGraph, evidence: Evidence | None = None) -> dict[str, Columns]:
    """The tables of a model; near-linear. Names, ranges, kinds, individuals where they tell."""
    given, factor_given = given_tables(graph)
    arity = np.diff(graph.offsets)
    owners = np.repeat(np.arange(len(arity)), arity)
    tables: dict[str, Columns] = {
        "variables": _variables(graph),
        "factors": {
            "id": np.arange(len(arity)),
            **_names(graph.factor_names, "f"),
            "table_id": Nullable(factor_given),
            **support_columns(graph.declared_support),
        },
        "arguments": {
            "factor_id": owners,
            "position": np.arange(len(owners)) - graph.offsets[owners],
            "variable_id": graph.arguments,
        },
        "tables": table_columns(given),
    }
    if evidence:
        tables["evidence"] = evidence_columns(graph, evidence)
    return tables


def given_tables(graph: FactorGraph) -> tuple[GivenTables, Ints]:
    """Tables in declared label orders, by first use, and each factor's number, -1 = unknown."""
    tables, table_of = declared_tables(graph)
    order = np.argsort(first_places(table_of), kind="stable").tolist()
    return GivenTables.of([tables[number] for number in order]), by_first_occurrence(table_of)


def table_columns(given: GivenTables) -> Columns:
    """The columns of the table `tables`."""
    return {"id": np.arange(len(given.lengths)), "potentials": Lists(given.offsets, given.values)}


def group_tables(colouring: Colouring) -> dict[str, Columns]:
    """Which variables and which factors look alike: groups are numbered by their first members."""
    variables, factors = colouring.variable_colours, colouring.factor_colours
    return {
        "variable_groups": {"variable_id": np.arange(len(variables)), "group_id": variables},
        "factor_groups": {"factor_id": np.arange(len(factors)), "group_id": factors},
    }


def _variables(graph: FactorGraph) -> Columns:
    columns: dict[str, Column] = {
        "id": np.arange(len(graph.variable_names)),
        **_names(graph.variable_names, "x"),
    }
    if any(labels != BOOLEAN for labels in graph.ranges.declared):
        columns["range"] = text_lists(graph.ranges.declared, graph.variable_declared)
    if graph.kinds:
        columns["kind"] = texts(graph.kinds, graph.variable_kind)
    if graph.individuals:
        columns["individual"] = Lists(
            graph.individual_offsets, texts(graph.individuals, graph.individual_ids)
        )
    return columns


def _names(names: Names, prefix: str) -> dict[str, Column]:
    """A column of names, unless they are what a reader makes of the ids anyway."""
    if isinstance(names, NumberedNames) and names.prefix == prefix:
        return {}
    return {"name": name_column(names, np.arange(len(names)))}


def evidence_columns(graph: FactorGraph, evidence: Evidence) -> Columns:
    """Observed labels and likelihoods, in the order of the variables; each has one or the other."""
    hard = ~np.isin(evidence.variables, evidence.soft_variables)
    observed, values = evidence.variables[hard], evidence.values[hard]
    variables = np.concatenate((observed, evidence.soft_variables))
    order = np.argsort(variables, kind="stable")
    starts = np.cumsum(graph.ranges.sizes) - graph.ranges.sizes
    labels = [label for labels in graph.ranges.canonical for label in labels]
    codes = starts[graph.variable_range[observed]] + values
    codes = np.concatenate((codes, np.full(len(evidence.soft_variables), -1)))[order]
    columns: dict[str, Column] = {"variable_id": variables[order], "value": texts(labels, codes)}
    if len(evidence.soft_variables):
        columns["likelihood"] = _likelihoods(graph, evidence, len(observed), order)
    return columns


def _likelihoods(graph: FactorGraph, evidence: Evidence, hard: int, order: Ints) -> Lists:
    """Likelihoods in declared orders; rows with an observed label hold an empty list."""
    declared = graph.variable_declared[evidence.soft_variables].tolist()
    values = [
        each[graph.ranges.to_declared(number)]
        for each, number in zip(evidence.likelihoods, declared, strict=True)
    ]
    offsets = np.cumsum([0, 0, *map(len, values)])
    of = np.concatenate((np.zeros(hard, dtype=np.int64), 1 + np.arange(len(values))))[order]
    return Lists(offsets, np.concatenate(values), of)
