"""What a run on an engine found, as Parquet files: the same tables as from memory, written from
tables.
"""

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
from lifagu.scale.evidence import Observations
from lifagu.scale.intake import PREFIX, Given, name_of
from lifagu.scale.journal import Journal
from lifagu.scale.numbering import number_ids


@dataclass(frozen=True, eq=False)
class Findings:
    """What is known in memory: label orders, kinds, tables, for each unknown type its record, and
    the rest by type.
    """

    ranges: Sequence[Labels]
    kinds: Sequence[str]
    observations: Observations
    tables: Columns
    records: Columns | None


def number_groups(journal: Journal, state: State) -> dict[str, int]:
    """Store variable_groups and factor_groups (id, group_id), numbered by first members; how many
    there are.
    """
    counts = {}
    for side, colours in (("variable", state.variables), ("factor", state.factors)):
        journal.create(
            f"{side}_first",
            f"SELECT colour, min(id) AS id, count(*) AS size FROM {colours} GROUP BY colour",
        )
        number_ids(journal, f"{side}_first", f"{side}_group_numbers")
        journal.create(
            f"{side}_group_sizes",
            f"SELECT f.colour, f.id AS first, f.size, n.number AS group_id FROM {side}_first f "
            f"JOIN {side}_group_numbers n ON n.id = f.id",
        )
        journal.create(
            f"{side}_groups",
            f"SELECT c.id, g.group_id FROM {colours} c JOIN {side}_group_sizes g ON g.colour = c.colour",
        )
        ((counts[side],),) = journal.engine.rows(f"SELECT count(*) FROM {side}_group_sizes")
    return counts


def largest_groups(journal: Journal, side: str, most: int, members: int) -> list[list[int]]:
    """The largest groups of a side, equal ones by first member: the size of each, then its first
    few members.
    """
    return journal.once(f"largest {side} groups", lambda: _largest(journal, side, most, members))


def _largest(journal: Journal, side: str, most: int, members: int) -> list[list[int]]:
    """Members are found one after the other, a pass for each: a group that holds everything takes
    no room.
    """
    engine = journal.engine
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


def register_columns(journal: Journal, name: str, columns: Columns) -> None:
    """Make a small table, of whatever columns, readable under a name."""
    file = Path(journal.engine.folder) / f"{name}.parquet"
    with Duck(threads=1) as duck:
        copy_columns(duck, columns, file, file)
    journal.engine.register(name, file)


def write_results(journal: Journal, given: Given, found: Findings, folder: Path) -> Iterator[str]:
    """Write all tables into a folder, and yield the name of each before that."""
    for table, query in _queries(journal, given, found):
        yield table
        journal.engine.export(query, folder / file_name(table))
    yield "tables"
    with Duck(threads=1) as duck:
        copy_columns(duck, found.tables, folder / file_name("tables"), folder / file_name("tables"))


def _queries(journal: Journal, given: Given, found: Findings) -> Iterator[tuple[str, str]]:
    """Each table and the query that gives its rows."""
    variable, factor = (_whole(given.counts[each]) for each in ("variables", "factors"))
    name = {
        table: f", {name_of(given, table)} AS name" if _named(given, table) else ""
        for table in PREFIX
    }
    yield (
        "variables",
        f"SELECT {variable('number')} AS id{name['variables']}{_knowledge(journal, given, found)} "
        f"FROM {given.numbered('variables')} s ORDER BY number",
    )
    yield (
        "factors",
        f"SELECT {factor('s.number')} AS id{name['factors']}, nullif(r.table_id, -1) AS table_id "
        f"FROM {given.numbered('factors')} s JOIN typed t ON t.id = s.number JOIN type_results r ON r.type = t.type "
        "ORDER BY s.number",
    )
    yield (
        "arguments",
        f"SELECT {factor('factor')} AS factor_id, CAST(position AS INT) AS position, {variable('variable')} AS "
        "variable_id FROM arguments ORDER BY factor, position",
    )
    if len(found.observations):
        register_columns(journal, "observations", _observation_columns(found.observations))
        ((observed,),) = journal.engine.rows("SELECT count(*) FROM observed")
        if observed:
            soft = ", s.likelihood" if _has_soft(journal, found.observations) else ""
            yield (
                "evidence",
                f"SELECT {variable('o.id')} AS variable_id, s.value{soft} FROM observed o JOIN observations s "
                "ON s.observation = o.observation ORDER BY o.id",
            )
    for side, whole in (("variable", variable), ("factor", factor)):
        yield (
            f"{side}_groups",
            f"SELECT {whole('id')} AS {side}_id, {whole('group_id')} AS group_id FROM {side}_groups ORDER BY id",
        )
    yield "quotient", _quotient(variable("v.group_id"), factor("f.group_id"))
    if found.records is not None:
        columns = ", ".join(
            f"r.{column}" for column in found.records if column not in ("type", "factor_id")
        )
        yield (
            "transfers",
            f"SELECT {factor('t.id')} AS factor_id, {columns} FROM typed t JOIN records r ON r.type = t.type "
            "ORDER BY t.id",
        )


def _named(given: Given, table: str) -> bool:
    """Whether names say more than a reader makes of the numbers anyway."""
    return "name" in given.columns[table] or not given.dense[table]


def _quotient(variable_group: str, factor_group: str) -> str:
    """For each group of factors, which group stands at each position, and how many members both
    have.
    """
    return (
        f"SELECT {factor_group} AS factor_group_id, CAST(a.position AS INT) AS position, {variable_group} AS "
        "variable_group_id, f.size AS factors, g.size AS variables FROM factor_group_sizes f "
        "JOIN arguments a ON a.factor = f.first JOIN variable_groups v ON v.id = a.variable "
        "JOIN variable_group_sizes g ON g.group_id = v.group_id ORDER BY f.group_id, a.position"
    )


def _knowledge(journal: Journal, given: Given, found: Findings) -> str:
    """Ranges, kinds and individuals, where they say something."""
    dialect, columns = journal.engine.dialect, given.columns["variables"]
    lists = dialect.lists_of("STRING")
    said = ""
    if any(labels != BOOLEAN for labels in found.ranges):
        said += f", coalesce(CAST(range AS {lists}), {dialect.array(list(BOOLEAN))}) AS range"
    if found.kinds:
        said += ", CAST(kind AS STRING) AS kind"
    if "individual" in columns:
        one = (
            f"CAST(individual AS {lists})"
            if given.listed
            else dialect.array_of("CAST(individual AS STRING)")
        )
        said += f", CASE WHEN individual IS NULL OR {dialect.length(one)} = 0 THEN NULL ELSE {one} END AS individual"
    return said


def _whole(count: int) -> Callable[[str], str]:
    """Numbers of nodes, in 32 bits where they fit."""
    kind = "INT" if count < 2**31 else "BIGINT"
    return lambda value: f"CAST({value} AS {kind})"


def _observation_columns(observations: Observations) -> Columns:
    likelihoods = [np.zeros(0) if each is None else each for each in observations.likelihoods]
    labels = sorted({value for value in observations.values if value is not None})
    codes = [-1 if value is None else labels.index(value) for value in observations.values]
    return {
        "observation": np.arange(len(observations)),
        "value": texts(labels, np.array(codes, dtype=np.int64)),
        "likelihood": Lists(
            np.cumsum([0, *map(len, likelihoods)]), np.concatenate([np.zeros(0), *likelihoods])
        ),
    }


def _has_soft(journal: Journal, observations: Observations) -> bool:
    """Whether some variable has soft evidence in the end, after overriding."""
    soft = [str(number) for number, each in enumerate(observations.likelihoods) if each is not None]
    if not soft:
        return False
    ((count,),) = journal.engine.rows(
        f"SELECT count(*) FROM observed WHERE observation IN ({', '.join(soft)})"
    )
    return bool(count)
