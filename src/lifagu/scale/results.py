"""What a run on an engine found, as Parquet files: the same tables as from memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lifagu.basics.columns import Columns, Lists, texts
from lifagu.data.duck import Duck
from lifagu.data.parquet.copying import copy_columns
from lifagu.data.parquet.layout import file_name
from lifagu.graph.ranges import BOOLEAN, Labels
from lifagu.scale.colour_rounds import State
from lifagu.scale.engines.dialects import Dialect
from lifagu.scale.engines.engine import Engine
from lifagu.scale.evidence import DistinctObservations
from lifagu.scale.folder_contents import Given, name_of
from lifagu.scale.numbering import number_ids


@dataclass(frozen=True, eq=False)
class Findings:
    """What is known in memory: label orders, kinds, tables, and a record of each unknown type."""

    ranges: Sequence[Labels]
    kinds: Sequence[str]
    observations: DistinctObservations
    tables: Columns
    records: Columns


# ---- groups


def number_groups(engine: Engine, state: State) -> dict[str, int]:
    """Store variable_groups and factor_groups (id, group_id), by first members; how many."""
    counts = {}
    for side, colours in (("variable", state.variables), ("factor", state.factors)):
        engine.create(
            f"{side}_first",
            f"SELECT colour, min(id) AS id, count(*) AS size FROM {colours} GROUP BY colour",
        )
        number_ids(engine, f"{side}_first", f"{side}_group_numbers")
        engine.create(
            f"{side}_group_sizes",
            f"""
            SELECT f.colour, f.id AS first, f.size, n.number AS group_id
            FROM {side}_first f
            JOIN {side}_group_numbers n ON n.id = f.id
            """,
        )
        engine.create(
            f"{side}_groups",
            f"""
            SELECT c.id, g.group_id
            FROM {colours} c
            JOIN {side}_group_sizes g ON g.colour = c.colour
            """,
        )
        counts[side] = engine.count(f"{side}_group_sizes")
    return counts


def largest_groups(engine: Engine, side: str, most: int, members: int) -> list[list[int]]:
    """The largest groups, equal ones by first member: the size of each, its first few members."""
    # a pass for each further member, so that a group that holds everything takes no room
    largest = engine.rows(
        f"""
        SELECT group_id, size, first
        FROM {side}_group_sizes
        ORDER BY size DESC, group_id
        LIMIT {most}
        """
    )
    found = {int(group): [int(size), int(first)] for group, size, first in largest}
    for place in range(1, members):
        last = {group: each[-1] for group, each in found.items() if each[0] > place}
        if not last:
            break
        met = {"group_id": np.array(list(last)), "id": np.array(list(last.values()))}
        engine.register("met", met)
        more = engine.rows(
            f"""
            SELECT g.group_id, min(g.id)
            FROM {side}_groups g
            JOIN met m ON m.group_id = g.group_id
            WHERE g.id > m.id
            GROUP BY g.group_id
            """
        )
        engine.drop("met")
        for group, member in more:
            found[int(group)].append(int(member))
    return list(found.values())


# ---- a completed model


def register_columns(engine: Engine, name: str, columns: Columns) -> None:
    """Make a small table, of whatever columns, readable under a name."""
    file = Path(engine.folder) / f"{name}.parquet"
    with Duck(threads=1) as duck:
        copy_columns(duck, columns, file, file)
    engine.register(name, file)


def write_results(engine: Engine, given: Given, found: Findings, folder: Path) -> Iterator[str]:
    """Write all tables into a folder, and yield the name of each before that."""
    for table, query in _queries(engine, given, found):
        yield table
        engine.export(query, folder / file_name(table))
    yield "tables"
    file = folder / file_name("tables")
    with Duck(threads=1) as duck:
        copy_columns(duck, found.tables, file, file)


def _queries(engine: Engine, given: Given, found: Findings) -> Iterator[tuple[str, str]]:
    """Each table and the query that gives its rows."""
    variable, factor = (_whole(given.counts[each]) for each in ("variables", "factors"))
    yield "variables", _variables(engine, given, found, variable)
    yield "factors", _factors(engine, given, factor)
    yield (
        "arguments",
        f"""
        SELECT
            {factor("factor")} AS factor_id,
            CAST(position AS INT) AS position,
            {variable("variable")} AS variable_id
        FROM arguments
        ORDER BY factor, position
        """,
    )
    if len(found.observations) and engine.count("observed"):
        yield "evidence", _evidence(engine, found.observations, variable)
    for side, whole in (("variable", variable), ("factor", factor)):
        yield (
            f"{side}_groups",
            f"""
            SELECT {whole("id")} AS {side}_id, {whole("group_id")} AS group_id
            FROM {side}_groups
            ORDER BY id
            """,
        )
    yield "quotient", _quotient(variable("v.group_id"), factor("f.group_id"))
    shown = ", ".join(f"r.{each}" for each in found.records if each not in ("type", "factor_id"))
    yield (
        "transfers",
        f"""
        SELECT {factor("t.id")} AS factor_id, {shown}
        FROM typed t
        JOIN records r ON r.type = t.type
        ORDER BY t.id
        """,
    )


def _whole(count: int) -> Callable[[str], str]:
    """Numbers of nodes, in 32 bits where they fit."""
    kind = "INT" if count < 2**31 else "BIGINT"
    return lambda value: f"CAST({value} AS {kind})"


def _name(given: Given, table: str) -> str:
    """A column of names, where they say more than a reader makes of the numbers anyway."""
    says_more = "name" in given.columns[table] or not given.dense[table]
    return f", {name_of(given, table)} AS name" if says_more else ""


def _variables(engine: Engine, given: Given, found: Findings, number: Callable[[str], str]) -> str:
    """Variables with their names, ranges, kinds and individuals, where these say something."""
    dialect = engine.dialect
    lists = dialect.lists_of("STRING")
    shown = f"{number('number')} AS id{_name(given, 'variables')}"
    if any(labels != BOOLEAN for labels in found.ranges):
        shown += f", coalesce(CAST(range AS {lists}), {dialect.array(list(BOOLEAN))}) AS range"
    if found.kinds:
        shown += ", CAST(kind AS STRING) AS kind"
    if given.has_individuals:
        listed = dialect.array_of("CAST(individual AS STRING)")
        if given.holds_lists("variables", "individual"):
            listed = f"CAST(individual AS {lists})"
        missing = f"individual IS NULL OR {dialect.length(listed)} = 0"
        shown += f", CASE WHEN {missing} THEN NULL ELSE {listed} END AS individual"
    return f"""
        SELECT {shown}
        FROM {given.numbered("variables")} s
        ORDER BY number
        """


def _factors(engine: Engine, given: Given, number: Callable[[str], str]) -> str:
    """Factors with their names, where these say something, the numbers of their tables, supports.

    What was filled has no support.
    """
    return f"""
        SELECT
            {number("s.number")} AS id{_name(given, "factors")},
            nullif(r.table_id, -1) AS table_id{_supports(given, engine.dialect)}
        FROM {given.numbered("factors")} s
        JOIN typed t ON t.id = s.number
        JOIN type_results r ON r.type = t.type
        ORDER BY s.number
        """


def _supports(given: Given, dialect: Dialect) -> str:
    """The columns that say what stands behind the tables of known factors, as lists."""
    there = given.columns["factors"]
    shown = ""
    for column, item in (("support", "DOUBLE"), ("given", "INT"), ("prior", "DOUBLE")):
        if column in there and "support" in there:
            listed = dialect.array_of(f"CAST(s.{column} AS {item})")
            if given.holds_lists("factors", column):
                listed = f"CAST(s.{column} AS {dialect.lists_of(item)})"
            known = f"r.known AND s.support IS NOT NULL AND s.{column} IS NOT NULL"
            shown += f", CASE WHEN {known} THEN {listed} END AS {column}"
    return shown


def _quotient(variable_group: str, factor_group: str) -> str:
    """For each group of factors, which group stands at each position, and the sizes of both."""
    return f"""
        SELECT
            {factor_group} AS factor_group_id,
            CAST(a.position AS INT) AS position,
            {variable_group} AS variable_group_id,
            f.size AS factors,
            g.size AS variables
        FROM factor_group_sizes f
        JOIN arguments a ON a.factor = f.first
        JOIN variable_groups v ON v.id = a.variable
        JOIN variable_group_sizes g ON g.group_id = v.group_id
        ORDER BY f.group_id, a.position
        """


def _evidence(
    engine: Engine, observations: DistinctObservations, number: Callable[[str], str]
) -> str:
    """Whose observations are which; likelihoods where some are left after overriding."""
    register_columns(engine, "observations", _observation_columns(observations))
    soft = [str(number) for number, each in enumerate(observations.likelihoods) if each is not None]
    shown = "s.value"
    if soft and engine.count(f"observed WHERE observation IN ({', '.join(soft)})"):
        shown = "s.value, s.likelihood"
    return f"""
        SELECT {number("o.id")} AS variable_id, {shown}
        FROM observed o
        JOIN observations s ON s.observation = o.observation
        ORDER BY o.id
        """


def _observation_columns(observations: DistinctObservations) -> Columns:
    likelihoods = [np.zeros(0) if each is None else each for each in observations.likelihoods]
    labels = sorted({value for value in observations.values if value is not None})
    codes = [
        -1 if value is None or soft is not None else labels.index(value)
        for value, soft in zip(observations.values, observations.likelihoods, strict=True)
    ]
    return {
        "observation": np.arange(len(observations)),
        "value": texts(labels, np.array(codes, dtype=np.int64)),
        "likelihood": Lists(
            np.cumsum([0, *map(len, likelihoods)]), np.concatenate([np.zeros(0), *likelihoods])
        ),
    }


# ---- what was imputed


def write_imputed(
    engine: Engine, given: Given, columns: Sequence[str], folder: Path
) -> Iterator[str]:
    """Write transfers and tables, a row per unknown or filled factor; yields each name before that.

    columns: of named_records, in their order.
    """
    shown = ", ".join(f"r.{column}" for column in columns)
    yield "transfers"
    engine.export(
        f"""
        SELECT {name_of(given, "factors")} AS factor, {shown}
        FROM typed t
        JOIN named_records r ON r.type = t.type
        JOIN {given.numbered("factors")} s ON s.number = t.id
        ORDER BY t.id
        """,
        folder / file_name("transfers"),
    )
    yield "tables"
    engine.export(_filled_tables(engine, given), folder / file_name("tables"))


def _filled_tables(engine: Engine, given: Given) -> str:
    """A query for each filled factor: its name, those of its arguments in order, potentials."""
    places = range(engine.value("SELECT coalesce(max(arity), 0) FROM filled"))
    dialect = engine.dialect
    cases = " ".join(f"WHEN {place} THEN c.v{place}" for place in given.places)
    chosen = "".join(f", CASE r.p{place} {cases} END AS a{place}" for place in places)
    name, numbered = name_of(given, "variables"), given.numbered("variables")
    variables = f"(SELECT s.number, {name} AS name FROM {numbered} s)"
    joins = "\n".join(
        f"LEFT JOIN {variables} n{place} ON n{place}.number = w.a{place}" for place in places
    )
    listed = dialect.sliced(dialect.array_of(*(f"n{place}.name" for place in places)), "w.arity")
    arguments = f"CASE WHEN w.arity > 0 THEN {listed} END" if places else "NULL"
    return f"""
        WITH wide AS (
            SELECT t.id, r.arity, r.potentials{chosen}
            FROM filled r
            JOIN typed t ON t.type = r.type
            LEFT JOIN scopes c ON c.id = t.id
        )
        SELECT
            {name_of(given, "factors")} AS factor,
            CAST({arguments} AS {dialect.lists_of("STRING")}) AS arguments,
            w.potentials
        FROM wide w
        JOIN {given.numbered("factors")} s ON s.number = w.id
        {joins}
        ORDER BY w.id
        """
