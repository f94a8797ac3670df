"""Who is who: keys of tables and links between them, declared, told by the user, or found out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lifagu.basics.arrays import group_rows
from lifagu.drafting.asking import Asker, quoted
from lifagu.drafting.columns import SERIAL, ColumnSort
from lifagu.drafting.seen import SeenColumn, SeenTable
from lifagu.errors import ModelError
from lifagu.graph.bins import number_of

MOST_PARTS = 3  # columns of a key that is found out
MOST_TRIED = 8  # columns among which such a key is looked for
FEW_DANGLING = 0.5  # share of rows of a column named like a key that may point nowhere
FEWER_DANGLING = 0.1  # the same where only values speak for it
LEAST_DISTINCT = 5  # values that must be found among another table's keys where names say nothing

SAID = "you said so"
NAMED = "its name and its values say so"
MET = "its values are found there"
Sorts = Mapping[str, Mapping[str, ColumnSort]]  # by table and column
KeysTold = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Key:
    """What tells rows of a table apart; no columns: only their number does. how: who says so."""

    columns: tuple[str, ...]
    how: str


@dataclass(frozen=True)
class Link:
    """Rows of a table belong to rows of another: columns here have the values of columns there.

    These tell its rows apart, and are its key if nobody declares otherwise. how: who says so;
    dangling: rows that point to nobody.
    """

    table: str
    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]
    how: str
    dangling: int = 0

    def __str__(self) -> str:
        return f"{self.table}.{', '.join(self.columns)} → {self.target}"


# ---- keys


def key_of(table: SeenTable, sorts: Mapping[str, ColumnSort], told: KeysTold, asker: Asker) -> Key:
    """The key of a table: told, declared, or found among columns that have no value twice."""
    if table.name in told:
        _refuse_no_key(table, tuple(told[table.name]), asker)
        return Key(tuple(told[table.name]), SAID)
    declared = table.table.primary_key
    for columns in ((declared,) if declared else ()) + tuple(table.table.unique):
        if all(name in table.columns and _names_all(table.columns[name]) for name in columns):
            return Key(tuple(columns), "declared")
    for name in _by_likeliness(table, sorts):
        if _is_unique(table, (name,), asker):
            return Key((name,), "no value comes twice, and it is called or placed like a key")
    for columns in _several(table, sorts):
        if _is_unique(table, columns, asker):
            return Key(columns, "no combination comes twice")
    return Key((), "no column tells rows apart, so that their number does")


def _refuse_no_key(table: SeenTable, columns: tuple[str, ...], asker: Asker) -> None:
    """Columns that do not tell rows apart are no key, whoever says so."""
    spoken = " and ".join(columns)
    for name in columns:
        if not _names_all(table.columns[name]):
            raise ModelError(f"{spoken} cannot be the key of {table.name}: {name} has gaps")
    if not _is_unique(table, columns, asker):
        raise ModelError(
            f"{spoken} cannot be the key of {table.name}: some rows have the same; name columns "
            "that tell all rows apart"
        )


def _names_all(column: SeenColumn) -> bool:
    """Whether every row has a value that can be a name; an empty text cannot."""
    return not column.gaps and not column.blanks


def _by_likeliness(table: SeenTable, sorts: Mapping[str, ColumnSort]) -> list[str]:
    """Columns that may be a key alone, the likeliest first: called so, or the first of all."""
    stem = _stem(table.name)
    found = []
    for place, column in enumerate(table.columns.values()):
        if column.gaps or column.family not in ("integer", "text") or not column.rows:
            continue
        name = column.name.lower()
        called = name == "id" or _stem(name) == stem
        first = place == 0 and (sorts[column.name].kind != "number" or _is_ascending(column))
        if called or first or SERIAL.search(column.name):
            found.append((not called, not SERIAL.search(column.name), place, column.name))
    return [name for *_, name in sorted(found)]


def _is_ascending(column: SeenColumn) -> bool:
    """Whether rows are in the order of a column, as they are put down one after another."""
    numbers = [number_of(each) for each in column.cells.texts() if each is not None]
    return bool(np.all(np.diff(np.array(numbers, dtype=np.float64)) > 0))


def _several(table: SeenTable, sorts: Mapping[str, ColumnSort]) -> Iterator[tuple[str, ...]]:
    """Columns that may be a key together: names of groups, parts of codes, and moments."""
    who = [
        name
        for name, column in table.columns.items()
        if not column.gaps and _may_be_part(column, sorts[name])
    ][:MOST_TRIED]
    for parts in range(2, MOST_PARTS + 1):
        yield from combinations(who, parts)


def _may_be_part(column: SeenColumn, sort: ColumnSort) -> bool:
    if column.family == "moment":
        return True
    if column.family == "text" and sort.kind == "label":
        return True
    return column.family in ("integer", "text") and (sort.is_group or sort.is_code)


def _is_unique(table: SeenTable, columns: tuple[str, ...], asker: Asker) -> bool:
    codes = np.column_stack([table.columns[name].codes for name in columns])
    if not len(codes) or (codes < 0).any() or int(group_rows(codes).max()) + 1 < len(codes):
        return False
    if not all(_names_all(table.columns[name]) for name in columns):
        return False
    if not table.is_sampled:
        return True
    listed = ", ".join(map(quoted, columns))
    distinct = f"SELECT count(*) FROM (SELECT DISTINCT {listed} FROM {table.base}) AS keys"
    return asker.numbers(distinct) == [table.rows]


# ---- links


def names_of(table: str, key: Sequence[str], links: Sequence[Link]) -> set[str]:
    """Columns of a table that say who is who: its key, those of links, and where links lead."""
    here = [link.columns for link in links if link.table == table]
    there = [link.target_columns for link in links if link.target == table]
    return {name for each in (key, *here, *there) for name in each}


def are_declared(tables: Mapping[str, SeenTable]) -> bool:
    """Whether a database declares foreign keys, so that nobody has to guess."""
    return any(each.table.foreign_keys for each in tables.values())


def links_of(
    tables: Mapping[str, SeenTable],
    keys: Mapping[str, Key],
    told: Mapping[str, str | None],
    asker: Asker,
) -> list[Link]:
    """All links, each column's best one; told: by ``table.column`` the table, or None for none.

    Where foreign keys are declared, and be it one, no other is found out.
    """
    found: list[Link] = []
    is_declared = are_declared(tables)
    for table in tables.values():
        known = set[tuple[str, ...]]()
        declared = list(_declared(table, tables, keys, asker))
        for link in [*_told(table, keys, told, declared), *declared]:
            if (
                link.columns not in known
                and told.get(f"{table.name}.{link.columns[0]}", "") is not None
            ):
                known.add(link.columns)
                counted = _counted(link, tables, asker)
                if link.how == SAID and counted.dangling == table.columns[link.columns[0]].observed:
                    raise ModelError(
                        f"{link.table}.{link.columns[0]} names no row of {link.target}: "
                        "none of its values is a key there"
                    )
                found.append(counted)
        if is_declared:
            continue
        if not any(len(each) > 1 for each in known):
            found += _by_all_names(table, tables, keys, asker)
        for column in table.columns.values():
            place = f"{table.name}.{column.name}"
            alone = all(column.name not in each for each in known if len(each) == 1)
            if alone and told.get(place, "") is not None:
                guess = _guessed(table, column, tables, keys, asker)
                back = None if guess is None else _back(guess, found, keys)
                if guess is not None and (back is None or (guess.how, back.how) == (NAMED, MET)):
                    found = [*(each for each in found if each is not back), guess]
    return [_to_main(each, found, tables, keys, asker) for each in found]


def offered_links(
    tables: Mapping[str, SeenTable],
    keys: Mapping[str, Key],
    links: Sequence[Link],
    told: Mapping[str, str | None],
    asker: Asker,
) -> Iterator[Link]:
    """Where foreign keys are declared, columns beside them that are called like another's key."""
    for table in tables.values() if are_declared(tables) else ():
        linked = {name for link in links if link.table == table.name for name in link.columns}
        for column in table.columns.values():
            if column.name not in linked and f"{table.name}.{column.name}" not in told:
                guess = _guessed(table, column, tables, keys, asker)
                if guess is not None and guess.how == NAMED:
                    yield guess


def _to_main(
    link: Link,
    found: Sequence[Link],
    tables: Mapping[str, SeenTable],
    keys: Mapping[str, Key],
    asker: Asker,
) -> Link:
    """The link to the table that says who there is, where its target says more about the same."""
    own = {
        each.table: each
        for each in found
        if len(each.columns) == 1
        and each.columns == keys[each.table].columns
        and not each.dangling
        and each.target != each.table
    }
    main, met = link, {link.target}
    while (
        main.target in own
        and main.target_columns == own[main.target].columns
        and own[main.target].target not in met
    ):
        there = own[main.target]
        met.add(there.target)
        main = Link(link.table, link.columns, there.target, there.target_columns, link.how)
    return link if main is link else _counted(main, tables, asker)


def _by_all_names(
    table: SeenTable, tables: Mapping[str, SeenTable], keys: Mapping[str, Key], asker: Asker
) -> Iterator[Link]:
    """Tables with a key of several columns that are all found here, by name and mostly by value."""
    for target in tables.values():
        key = keys[target.name].columns
        if len(key) < 2 or target is table or key == keys[table.name].columns:
            continue
        same = all(
            name in table.columns and table.columns[name].family == target.columns[name].family
            for name in key
        )
        if same:
            how = "its names and values say so"
            link = _counted(Link(table.name, key, target.name, key, how), tables, asker)
            if link.dangling < FEW_DANGLING * table.rows:
                yield link


def _told(
    table: SeenTable,
    keys: Mapping[str, Key],
    told: Mapping[str, str | None],
    declared: Sequence[Link],
) -> Iterator[Link]:
    for place, target in told.items():
        name, _, column = place.rpartition(".")
        if name == table.name and target is not None:
            same = [each for each in declared if (each.columns, each.target) == ((column,), target)]
            if same:
                yield replace(same[0], how=SAID)
                continue
            if len(keys[target].columns) != 1:
                raise ModelError(
                    f"{place} cannot name rows of {target}, as no single column tells these apart"
                )
            yield Link(name, (column,), target, keys[target].columns, SAID)


def _declared(
    table: SeenTable, tables: Mapping[str, SeenTable], keys: Mapping[str, Key], asker: Asker
) -> Iterator[Link]:
    """Foreign keys, whether they lead to the key of a table or to others that tell rows apart."""
    for each in table.table.foreign_keys:
        target = tables.get(each.table)
        if target is None or not all(name in table.columns for name in each.columns):
            continue
        pairs, key = dict(zip(each.target, each.columns, strict=True)), keys[each.table].columns
        there = key if set(pairs) == set(key) else each.target
        if there == key or _tell_apart(target, there, asker):
            here = tuple(pairs[name] for name in there)
            yield Link(table.name, here, each.table, there, "declared")


def _tell_apart(table: SeenTable, columns: tuple[str, ...], asker: Asker) -> bool:
    """Whether no two rows have the same in columns, NULLs aside; SQLite takes any as a target."""
    if not all(name in table.columns for name in columns):
        return False
    if set(columns) in map(set, (table.table.primary_key, *table.table.unique)):
        return True
    listed = ", ".join(map(quoted, columns))
    known = " AND ".join(f"{quoted(name)} IS NOT NULL" for name in columns)
    often = f"SELECT 1 FROM {table.base} WHERE {known} GROUP BY {listed} HAVING count(*) > 1"
    return asker.numbers(f"SELECT count(*) FROM ({often}) AS often") == [0]


def _counted(link: Link, tables: Mapping[str, SeenTable], asker: Asker) -> Link:
    """The link with the number of rows that point to nobody.

    By a join, since SQLite would go through all rows of a table without an index for each row here.
    """
    child, parent = tables[link.table], tables[link.target]
    pairs = zip(link.columns, link.target_columns, strict=True)
    same = " AND ".join(f"p.{quoted(there)} = c.{quoted(here)}" for here, there in pairs)
    given = " AND ".join(f"c.{quoted(name)} IS NOT NULL" for name in link.columns)
    (dangling,) = asker.numbers(
        f"SELECT count(*) FROM {child.base} AS c LEFT JOIN {parent.base} AS p ON {same} "
        f"WHERE {given} AND p.{quoted(link.target_columns[0])} IS NULL"
    )
    return replace(link, dangling=dangling)


def _guessed(
    table: SeenTable,
    column: SeenColumn,
    tables: Mapping[str, SeenTable],
    keys: Mapping[str, Key],
    asker: Asker,
) -> Link | None:
    """The table whose key a column has the values of, if names or values say so."""
    if column.family not in ("integer", "text") or not column.texts:
        return None
    offers = []
    for target in tables.values():
        key = keys[target.name].columns
        if len(key) != 1 or (key == keys[table.name].columns and target is table):
            continue
        there = target.columns[key[0]]
        if there.family != column.family:
            continue
        named = _is_named(column.name, target, key[0])
        share = _share_within(column, there, target)
        own = target is table and key != (column.name,) and share == 1
        if named and (own or (target is not table and share > 1 - FEW_DANGLING)):
            offers.append((0, -share, target.name, NAMED))
        elif _by_values(column, share) and target is not table:
            offers.append((1, -share, target.name, MET))
    for by_values, _, name, how in sorted(offers):
        link = Link(table.name, (column.name,), name, keys[name].columns, how)
        link = _counted(link, tables, asker)
        # of a large table only some keys were seen, so that only now it is known
        if link.dangling <= (FEWER_DANGLING if by_values else FEW_DANGLING) * column.observed:
            return link
    return None


def _by_values(column: SeenColumn, share: float) -> bool:
    distinct = len(column.texts)
    return column.family == "text" and distinct >= LEAST_DISTINCT and share >= 1 - FEWER_DANGLING


def _share_within(column: SeenColumn, there: SeenColumn, target: SeenTable) -> float:
    """The share of rows whose value is among the keys that were seen; 1 if not all keys were."""
    if target.is_sampled:
        return 1.0 if len(column.texts) <= target.rows else 0.0
    within = np.array([text in there.distinct for text in column.texts])
    return float(column.counts[within].sum() / max(1, column.counts.sum()))


def _is_named(column: str, target: SeenTable, key: str) -> bool:
    """Whether a column is called like another table's key, or like that table."""
    name, stem = column.lower(), _stem(target.name)
    if name == key.lower() and name not in ("id", "key", "code", "name", "index"):
        return True
    bare = _stem(name)
    return bool(stem) and (bare == stem or bare.endswith(f"_{stem}"))


def _stem(name: str) -> str:
    """A name without what makes it a key or a plural: ``person`` of ``people_id`` it is not.

    >>> _stem("Patients"), _stem("patient_id"), _stem("homeTeamID"), _stem("id")
    ('patient', 'patient', 'home_team', '')
    """
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.rpartition(".")[2]).lower()
    words = re.sub(r"[\W_]+", "_", words).strip("_")
    words = re.sub(r"(?:^|_)(?:id|ids|key|code|no|nr)$", "", words)
    return re.sub(r"(?<=..)(?<!s)s$", "", words)


def _back(link: Link, found: Sequence[Link], keys: Mapping[str, Key]) -> Link | None:
    """The link between two keys that goes back where another one came from."""
    if keys[link.table].columns != link.columns:
        return None
    for each in found:
        between = each.table == link.target and each.target == link.table
        if between and each.columns == keys[each.table].columns:
            return each
    return None
