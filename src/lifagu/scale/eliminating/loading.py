"""Factors become rows: free arguments side by side, one label for each table as observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.graph.ranges import Labels
from lifagu.scale.eliminating.labelled_tables import LabelledTables
from lifagu.scale.eliminating.rows import MOST_LABELS, ObstacleError, StoredRows
from lifagu.scale.eliminating.work import Work, columns, listed, union
from lifagu.scale.factor_types import Types
from lifagu.scale.folder_contents import WIDEST


@dataclass(frozen=True, eq=False)
class AlikeVariables:
    """All variables with one look: labels, the place of the observed one (-1: none), how many.

    likelihood: soft evidence, one number per label, None if there is none.
    """

    labels: Labels
    observed: int
    likelihood: Floats | None
    many: int


def load(
    work: Work,
    types: Types,
    by_look: Sequence[AlikeVariables],
    labels: LabelledTables,
    next_id: int,
) -> StoredRows:
    """All factors and soft evidence as rows, from the tables scopes, typed and looks.

    types: with the looks of arguments in the order of the tables. Observed arguments are fixed in
    the tables.
    """
    rows = StoredRows(work, labels, next_id=next_id)
    label_of, arity_of = _labelled(rows, types, by_look)
    queries = _from_scopes(work, types, by_look, label_of, arity_of)
    soft = _soft(rows, by_look)
    if soft is not None:
        queries.setdefault(1, []).append(soft)
    rows.tables = {
        arity: work.view(f"rows_{arity}", union(parts)) for arity, parts in sorted(queries.items())
    }
    return rows


def _labelled(
    rows: StoredRows, types: Types, by_look: Sequence[AlikeVariables]
) -> tuple[Ints, Ints]:
    """The label of each type, -1 where only a number is left, and how many arguments are free."""
    sizes, observed = [len(each.labels) for each in by_look], [each.observed for each in by_look]
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    tables, offsets, looks = types.table.tolist(), types.offsets.tolist(), types.looks.tolist()
    for number, table in enumerate(tables):
        scope = looks[offsets[number] : offsets[number + 1]]
        key = (
            (table,),
            tuple(sizes[look] for look in scope),
            tuple(observed[look] for look in scope),
        )
        alike.setdefault(key, []).append(number)
    if len(alike) > MOST_LABELS:
        raise ObstacleError(f"there are {len(alike)} different tables")
    label_of, arity_of = np.full(len(tables), -1), np.zeros(len(tables), dtype=np.int64)
    for ((table,), shape, values), members in alike.items():
        if len(values) > WIDEST:
            raise ObstacleError(f"a factor has {len(values)} arguments")
        free, many = sum(value < 0 for value in values), int(types.size[members].sum())
        label = rows.labels.given(types.tables[table] if table >= 0 else None, shape, values, many)
        if label is not None:
            label_of[members], arity_of[members] = label, free
            counts = rows.counts.setdefault(free, {})
            counts[label] = counts.get(label, 0) + many
    return label_of, arity_of


def _from_scopes(
    work: Work, types: Types, by_look: Sequence[AlikeVariables], label_of: Ints, arity_of: Ints
) -> dict[int, list[str]]:
    """Queries for the rows of each arity; free arguments come together in one table first."""
    most = int(arity_of.max(initial=0))
    if not most:
        return {}
    observed = np.array([each.observed for each in by_look], dtype=np.int64)
    owner = np.repeat(np.arange(len(arity_of)), np.diff(types.offsets))
    free = (observed[types.looks] < 0) & (label_of[owner] >= 0)
    slot = np.cumsum(free) - 1 - (np.cumsum(free) - free)[types.offsets[owner]]
    chosen = np.full((len(arity_of), most), -1)
    chosen[owner[free], slot[free]] = types.positions[free]
    kept = arity_of > 0
    given = {"type": types.first[kept], "label": label_of[kept], "arity": arity_of[kept]}
    sorts = work.register("sorts", given | {f"p{slot}": chosen[kept, slot] for slot in range(most)})
    places = range(int(types.positions.max()) + 1)
    cases = " ".join(f"WHEN {place} THEN s.v{place}" for place in places)
    shown = [
        "n.label AS label",
        "n.arity AS arity",
        *(f"CASE n.p{slot} {cases} END AS v{slot}" for slot in range(most)),
    ]
    wide = work.store(
        "wide",
        f"""
        SELECT {listed(shown)}
        FROM scopes AS s
        JOIN typed AS t ON t.id = s.id
        JOIN {sorts} AS n ON n.type = t.type
        """,
    )
    return {
        arity: [f"SELECT label, {listed(columns(arity))} FROM {wide} WHERE arity = {arity}"]
        for arity in sorted(set(arity_of[kept].tolist()))
    }


def _soft(rows: StoredRows, by_look: Sequence[AlikeVariables]) -> str | None:
    """A query for soft evidence as rows with one argument; None if there is none.

    What is observed has weight alone.
    """
    alike: dict[tuple[bytes, int], tuple[Floats, list[int]]] = {}
    for look, each in enumerate(by_look):
        if each.likelihood is not None:
            key = each.likelihood.tobytes(), each.observed
            alike.setdefault(key, (each.likelihood, []))[1].append(look)
    if not alike:
        return None
    if len(alike) > MOST_LABELS:
        raise ObstacleError(f"there are {len(alike)} different likelihoods")
    label_of: dict[int, int] = {}
    counts = rows.counts.setdefault(1, {})
    for (_, observed), (likelihood, looks) in alike.items():
        many = sum(by_look[look].many for look in looks)
        label = rows.labels.given(likelihood, likelihood.shape, (observed,), many)
        if label is not None:
            counts[label] = counts.get(label, 0) + many
            label_of |= dict.fromkeys(looks, label)
    if not label_of:
        return None
    soft = {"look": np.array(list(label_of)), "label": np.array(list(label_of.values()))}
    return f"""
        SELECT n.label AS label, l.id AS v0
        FROM looks AS l
        JOIN {rows.work.register("soft", soft)} AS n ON n.look = l.look
        """
