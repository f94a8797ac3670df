"""Variables in a few rows are summed out with all that are in the same tables, in the same slots.

The rows around a variable are its block. Blocks of the same shape (the same sequence of places,
neighbours coinciding in the same way) make one new table, computed once. A set of shapes can go at
the same time if no row holds two of their variables. Mostly the labels prove that: if the variables
stand in one slot only of each table, no row holds two. Else rows with two are looked for, and where
there are some, of every such pair one at most is taken.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from lifagu.scale.eliminating.rows import MOST_LABELS, ObstacleError, StoredRows, projected
from lifagu.scale.eliminating.work import among, columns, listed, union, values

MOST_ROWS = 16  # around a variable that is considered
MOST_NEAR = 48  # argument places around it
ALWAYS = 4.0  # log2 of the entries of a new table that is small enough in any case
DEAR = 12.0  # log2 of the entries of a new table that is made only where nothing else helps
BITS = 40  # of ids, by which of two variables in one row one is chosen
LARGER = 16  # times as large is a class looked at row by row, rather than taking proved ones
MOST_TRIED = 4  # such classes
FEW = 1000  # variables that a statement may list


@dataclass(frozen=True)
class Shape:
    """Places (label, slot) in order, for each neighbour its first equal one; many: how often."""

    key: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    near: tuple[int, ...]
    many: int

    @property
    def beside(self) -> int:
        """How many argument places there are for each place of the variable."""
        return len(self.near) // max(len(self.key) - len(self.near), 1)

    @property
    def neighbours(self) -> tuple[int, ...]:
        """The argument places at which each distinct neighbour stands first."""
        return tuple(sorted({place for place in self.near if place >= 0}))


@dataclass(frozen=True)
class Found:
    """The blocks of candidates: a table of v, places p0…, neighbours n0… and their firsts f0…."""

    table: str
    depth: int
    beside: int
    shapes: list[Shape]

    @property
    def key(self) -> list[str]:
        """The columns in which blocks of one shape agree."""
        return [*columns(self.depth, "p"), *columns(self.depth * self.beside, "f")]


def sum_out_blocks(rows: StoredRows, degrees: str, kept: Collection[int]) -> int:
    """Sum out whole classes of variables that are in a few rows; how many variables these were.

    Classes that leave small tables go first, whatever goes together with them at once. Raises an
    `ObstacleError` if there are none.
    """
    found = _blocks(rows, degrees, kept)
    ordered = sorted(found.shapes, key=lambda shape: _order(rows, shape))
    if gone := _sum_out_cheap(rows, found, [shape for shape in ordered if _is_cheap(rows, shape)]):
        return gone
    for shape in [shape for shape in ordered if _cost(rows, shape) <= DEAR][:MOST_TRIED]:
        if separate := _separate(rows, found, shape):
            return _sum_out(rows, found, [separate[0]], separate[1])
    least = min(_cost(rows, shape) for shape in found.shapes)
    if least > DEAR:
        raise ObstacleError(
            f"summing out any variable makes a table of at least 2^{least:.0f} entries"
        )
    raise ObstacleError(
        "variables that look alike stand in rows together, and no regular part of them does not"
    )


def _sum_out_cheap(rows: StoredRows, found: Found, cheap: Sequence[Shape]) -> int:
    """Sum out classes that labels prove independent, or part of a much larger one; how many."""
    taken = _independent(cheap)
    gone = sum(shape.many for shape in taken)
    for shape in sorted(cheap, key=lambda each: -each.many)[:MOST_TRIED]:
        if shape.many > LARGER * gone and (separate := _separate(rows, found, shape)):
            return _sum_out(rows, found, [separate[0]], separate[1])
    return _sum_out(rows, found, taken, found.table) if taken else 0


def _blocks(rows: StoredRows, degrees: str, kept: Collection[int]) -> Found:
    """The blocks of all variables with few rows, and their shapes."""
    work, beside = rows.work, max(max(rows.tables) - 1, 0)
    most = max(min(MOST_ROWS, MOST_NEAR // max(beside, 1)), 1)
    inside = f"many <= {most} AND NOT {among('v', kept)}"
    ((depth, outside),) = work.rows(
        f"""
        SELECT
            max(CASE WHEN {inside} THEN many ELSE 0 END),
            sum(CASE WHEN {inside} THEN 0 ELSE 1 END)
        FROM {degrees}
        """
    )
    if not depth:
        raise ObstacleError(f"every variable that is left stands in more than {most} rows")
    candidates = f"JOIN (SELECT v FROM {degrees} WHERE {inside}) AS c ON c.v = e.v"
    if outside <= FEW:
        others = work.rows(f"SELECT v FROM {degrees} WHERE NOT ({inside}) ORDER BY v")
        candidates = f"WHERE NOT {among('e.v', [v for (v,) in others])}"
    pivoted = _pivoted(rows, depth, beside, candidates)
    firsts = [f"{_first(place)} AS f{place}" for place in range(depth * beside)]
    table = work.view("blocks", f"SELECT {listed(['p.*', *firsts])} FROM {pivoted} AS p")
    key = listed([*columns(depth, "p"), *columns(depth * beside, "f")])
    counted = work.rows(
        f"""
        SELECT {key}, count(*)
        FROM {table}
        GROUP BY {key}
        ORDER BY {key}
        """
    )
    if len(counted) > MOST_LABELS:
        raise ObstacleError(
            f"there are {len(counted)} kinds of variables, each with tables of its own"
        )
    return Found(table, depth, beside, [_shape(rows, row, depth) for row in counted])


def _pivoted(rows: StoredRows, depth: int, beside: int, candidates: str) -> str:
    """A table with one row per variable: its places in order, the neighbours at each; -1 for none.

    candidates: how entries e are joined or restricted to the variables considered.
    """
    shown = ["v"]
    for rank in range(depth):
        shown.append(f"coalesce(max(CASE WHEN rank = {rank} THEN place END), -1) AS p{rank}")
        for other in range(beside):
            value = f"max(CASE WHEN rank = {rank} THEN o{other} END)"
            shown.append(f"coalesce({value}, -1) AS n{rank * beside + other}")
    return rows.work.store(
        "pivoted",
        f"""
        WITH entries AS (
            {rows.entries(beside)}
        ),
        found AS (
            SELECT e.*
            FROM entries AS e
            {candidates}
        ),
        ranked AS (
            SELECT
                *,
                row_number() OVER (
                    PARTITION BY v ORDER BY {listed(["place", *columns(beside, "o")])}
                ) - 1 AS rank
            FROM found
        )
        SELECT {listed(shown)}
        FROM ranked
        GROUP BY v
        """,
    )


def _first(place: int) -> str:
    """The first place with the same neighbour, -1 where there is none."""
    cases = "".join(f" WHEN n{place} = n{other} THEN {other}" for other in range(place))
    return f"CASE WHEN n{place} = -1 THEN -1{cases} ELSE {place} END"


def _shape(rows: StoredRows, row: Sequence[int], depth: int) -> Shape:
    places = tuple(rows.label_slot(place) for place in row[:depth] if place >= 0)
    return Shape(tuple(row[:-1]), places, tuple(row[depth:-1]), int(row[-1]))


# ---- which of them


def _sizes(rows: StoredRows, shape: Shape) -> dict[int, int]:
    """The range size of the neighbour at each argument place around a variable."""
    sizes: dict[int, int] = {}
    for rank, (label, slot) in enumerate(shape.places):
        others = [size for other, size in enumerate(rows.labels.shape(label)) if other != slot]
        sizes |= {rank * shape.beside + number: size for number, size in enumerate(others)}
    return sizes


def _cost(rows: StoredRows, shape: Shape) -> float:
    """log2 of the entries of the table that is left."""
    sizes = _sizes(rows, shape)
    return sum(math.log2(sizes[place]) for place in shape.neighbours)


def _is_cheap(rows: StoredRows, shape: Shape) -> bool:
    largest = max(sum(map(math.log2, rows.labels.shape(label))) for label, _ in shape.places)
    return _cost(rows, shape) <= max(largest, ALWAYS)


def _order(rows: StoredRows, shape: Shape) -> tuple[float, int, tuple[int, ...]]:
    return _cost(rows, shape), -shape.many, shape.key


def _independent(shapes: Sequence[Shape]) -> list[Shape]:
    """Shapes, in order, whose variables are in one slot of a table: no row holds two of them."""
    slot_of: dict[int, int] = {}
    taken = []
    for shape in shapes:
        if len(set(shape.places)) == len({label for label, _ in shape.places}) and all(
            slot_of.get(label, slot) == slot for label, slot in shape.places
        ):
            slot_of |= dict(shape.places)
            taken.append(shape)
    return taken


def _separate(rows: StoredRows, found: Found, shape: Shape) -> tuple[Shape, str] | None:
    """Variables of one shape of which no row holds two, and a table of their blocks; None if few.

    All of them where possible, else those alone in their rows or whose ids have a bit that none
    beside them has; the bit is the one that leaves most.
    """
    if _independent([shape]):
        return shape, found.table
    work, pairs = rows.work, zip(found.key, shape.key, strict=True)
    same = " AND ".join(f"{name} = {value}" for name, value in pairs)
    members = work.view("members", f"SELECT v FROM {found.table} WHERE {same}")
    beside = work.store(
        "beside",
        f"""
        WITH pairs AS (
            {_pairs(rows, shape, members)}
        )
        SELECT v, bit_or(near) AS near
        FROM pairs
        GROUP BY v
        """,
    )
    free = [f"sum(CASE WHEN {_has_bit(bit)} THEN 1 ELSE 0 END)" for bit in range(BITS)]
    ((met, *best),) = work.rows(f"SELECT count(*), {listed(free)} FROM {beside}")
    chosen, taken = found.table, shape.many
    if met:
        bit = max(range(BITS), key=lambda each: (best[each] or 0, -each))
        taken = shape.many - met + (best[bit] or 0)
        chosen = work.view(
            "chosen",
            f"""
            SELECT b.*
            FROM {found.table} AS b
            WHERE {same} AND NOT EXISTS (
                SELECT 1 FROM {beside} AS o WHERE o.v = b.v AND NOT {_has_bit(bit, "o.")}
            )
            """,
        )
    return None if LARGER * taken < shape.many else (replace(shape, many=taken), chosen)


def _pairs(rows: StoredRows, shape: Shape, members: str) -> str:
    """A query for all members that stand in a row with another one near them."""
    arity_of = rows.arity_of()
    slots: dict[int, set[int]] = {}
    for label, slot in shape.places:
        slots.setdefault(arity_of[label], set()).add(slot)
    return union(
        [
            f"""
            SELECT r.v{one} AS v, r.v{other} AS near
            FROM {rows.tables[arity]} AS r
            JOIN {members} AS a ON r.v{one} = a.v
            JOIN {members} AS b ON r.v{other} = b.v
            """
            for arity, places in sorted(slots.items())
            for one in sorted(places)
            for other in sorted(places - {one})
        ]
    )


def _has_bit(bit: int, of: str = "") -> str:
    return f"(({of}v & {1 << bit}) <> 0 AND ({of}near & {1 << bit}) = 0)"


# ---- summing out


def _sum_out(rows: StoredRows, found: Found, shapes: Sequence[Shape], blocks: str) -> int:
    """Replace the rows of the blocks with these shapes by one row each, on the neighbours."""
    layouts: list[tuple[int, ...]] = []
    new = []
    for shape in shapes:
        label = _new_label(rows, shape)
        if shape.neighbours not in layouts:
            layouts.append(shape.neighbours)
        new.append((*shape.key, -1 if label is None else label, layouts.index(shape.neighbours)))
    same = " AND ".join(f"b.{name} = s.{name}" for name in found.key)
    shown = listed(
        f"b.{name} AS {name}" for name in ["v", *columns(found.depth * found.beside, "n")]
    )
    taken = rows.work.view(
        "taken",
        f"""
        SELECT {shown}, s.label AS label, s.layout AS layout
        FROM {blocks} AS b
        JOIN {values([*found.key, "label", "layout"], new)} AS s ON {same}
        """,
    )
    queries = {arity: _left(rows, arity, shapes, taken) for arity in _touched(rows, shapes)}
    for number, places in enumerate(layouts):
        if not places:  # nothing is left but a number
            continue
        target = len(places)
        near = "".join(f", n{place} AS v{slot}" for slot, place in enumerate(places))
        if target not in queries and target in rows.tables:
            queries[target] = [projected(rows.tables[target], "label", range(target))]
        queries.setdefault(target, []).append(
            f"""
            SELECT CAST(label AS BIGINT) AS label{near}
            FROM {taken}
            WHERE layout = {number}
            """
        )
    rows.replaced(queries)
    return sum(shape.many for shape in shapes)


def _touched(rows: StoredRows, shapes: Sequence[Shape]) -> list[int]:
    arity_of = rows.arity_of()
    return sorted({arity_of[label] for shape in shapes for label, _ in shape.places})


def _left(rows: StoredRows, arity: int, shapes: Sequence[Shape], taken: str) -> list[str]:
    """Queries for the rows of one arity that hold none of the variables summed out.

    Where all rows with a label do, the label says so; only else the variables are looked up.
    """
    used: dict[int, dict[int, int]] = {}
    for shape in shapes:
        for label, slot in shape.places:
            if label in rows.counts[arity]:
                slots = used.setdefault(label, {})
                slots[slot] = slots.get(slot, 0) + shape.many
    gone = [
        label for label, slots in used.items() if sum(slots.values()) == rows.counts[arity][label]
    ]
    if len(gone) == len(rows.counts[arity]):
        return []
    looked_up = sorted(
        {slot for label, slots in used.items() if label not in gone for slot in slots}
    )
    where = [f"NOT {among('label', gone)}"]
    where += [
        f"NOT EXISTS (SELECT 1 FROM {taken} AS t WHERE t.v = r.v{slot})" for slot in looked_up
    ]
    return [projected(f"{rows.tables[arity]} AS r", "label", range(arity), " AND ".join(where))]


def _new_label(rows: StoredRows, shape: Shape) -> int | None:
    """The label of the table that is left of a block."""
    sizes = _sizes(rows, shape)
    axis = {place: 1 + number for number, place in enumerate(shape.neighbours)}
    parts = []
    for rank, (label, slot) in enumerate(shape.places):
        others = [
            axis[shape.near[rank * shape.beside + number]]
            for number in range(len(rows.labels.shape(label)) - 1)
        ]
        parts.append((label, (*others[:slot], 0, *others[slot:])))
    label, slot = shape.places[0]
    own = rows.labels.shape(label)[slot]
    whole = (own, *(sizes[place] for place in shape.neighbours))
    return rows.labels.summed(parts, whole, 1, shape.many)
