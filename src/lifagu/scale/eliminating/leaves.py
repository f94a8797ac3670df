"""Variables that stand in one row only are summed out of it, several of one row together."""

from __future__ import annotations

from collections.abc import Collection

from lifagu.scale.eliminating.rows import StoredRows, projected
from lifagu.scale.eliminating.work import among, chosen, columns, listed

Key = tuple[int, int]  # a label and a slot


def is_leaf(kept: Collection[int]) -> str:
    """Whether a variable has one place and is not kept, as SQL."""
    return f"many = 1 AND NOT {among('v', kept)}"


def sum_out_leaves(rows: StoredRows, degrees: str, kept: Collection[int]) -> int:
    """Sum out all variables with one place, but for those that are kept; how many there were.

    Exact on any rows: what is summed out of a row stands in no other one.
    """
    inside = is_leaf(kept)
    found = rows.work.rows(
        f"""
        SELECT place, count(*)
        FROM {degrees}
        WHERE {inside}
        GROUP BY place
        ORDER BY place
        """
    )
    many = {rows.label_slot(place): count for place, count in found}
    leaves = rows.work.view("leaves", f"SELECT v FROM {degrees} WHERE {inside}")
    arity_of = rows.arity_of()
    queries: dict[int, list[str]] = {}
    marked = {
        arity: _marked(rows, arity, many, leaves)
        for arity in sorted({arity_of[label] for label, _ in many})
    }
    for arity, table in marked.items():
        for target, parts in _without_leaves(rows, arity, table).items():
            queries.setdefault(target, []).extend(parts)
    for target in queries.keys() & rows.tables.keys():
        if target not in marked:  # the rows of this arity stay as they are
            queries[target].append(projected(rows.tables[target], "label", range(target)))
    rows.replaced(queries)
    return sum(many.values())


def _without_leaves(rows: StoredRows, arity: int, marked: str) -> dict[int, list[str]]:
    """Queries for the rows of one arity without their leaves, by the arity they have then."""
    found = rows.work.rows(
        f"""
        SELECT label, mask, count(*)
        FROM {marked}
        GROUP BY label, mask
        ORDER BY label, mask
        """
    )
    new: dict[int, dict[int, int]] = {}
    for label, mask, count in found:
        label_then = _summed(rows, label, mask, count) if mask else label
        if label_then is not None:
            new.setdefault(mask, {})[label] = label_then
    queries: dict[int, list[str]] = {arity: []}
    for mask, labels in new.items():
        slots = [slot for slot in range(arity) if not mask >> slot & 1]
        renamed = chosen("label", labels, -1) if mask else "label"
        queries.setdefault(len(slots), []).append(
            projected(marked, renamed, slots, f"mask = {mask}")
        )
    return queries


def _marked(rows: StoredRows, arity: int, many: dict[Key, int], leaves: str) -> str:
    """A table of the rows of one arity and which of their slots hold leaves.

    Where all rows with a label have a leaf in a slot, the label says so; only else the leaves are
    looked up.
    """
    counts, masks, joins = rows.counts[arity], [], []
    for slot in range(arity):
        here = {label: many[label, slot] for label in counts if (label, slot) in many}
        if all(here[label] == counts[label] for label in here):
            if here:
                masks.append(f"CASE WHEN {among('r.label', here)} THEN {1 << slot} ELSE 0 END")
        else:
            masks.append(f"CASE WHEN l{slot}.v IS NULL THEN 0 ELSE {1 << slot} END")
            joins.append(f"LEFT JOIN {leaves} AS l{slot} ON r.v{slot} = l{slot}.v")
    shown = listed(f"r.{slot} AS {slot}" for slot in columns(arity))
    query = f"""
        SELECT r.label AS label, {shown}, {" + ".join(masks)} AS mask
        FROM {rows.tables[arity]} AS r
        {" ".join(joins)}
        """
    return rows.work.store("marked", query) if joins else rows.work.view("marked", query)


def _summed(rows: StoredRows, label: int, mask: int, count: int) -> int | None:
    """The label of a table without the slots of a mask."""
    shape = rows.labels.shape(label)
    gone = [slot for slot in range(len(shape)) if mask >> slot & 1]
    order = gone + [slot for slot in range(len(shape)) if not mask >> slot & 1]
    axes = tuple(order.index(slot) for slot in range(len(shape)))
    return rows.labels.summed(
        [(label, axes)], tuple(shape[slot] for slot in order), len(gone), count
    )
