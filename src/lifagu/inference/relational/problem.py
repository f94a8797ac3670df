"""A relational model as a problem over cells: kinds of variables and patterns of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import (
    Floats,
    Ints,
    by_first_occurrence,
    connected_parts,
    group_rows,
    members,
)
from lifagu.basics.frozen import Frozen
from lifagu.errors import ModelError, NotLiftedError
from lifagu.graph.evidence import Observation
from lifagu.inference.lifted.careful_table import given
from lifagu.inference.lifted.cells import Pattern, Patterns
from lifagu.inference.lifted.fifty_digits import total
from lifagu.inference.lifted.problem import Deferred, Problem, Tie, Variables
from lifagu.inference.lifted.rows import classes_of
from lifagu.inference.lifted.tables import TablePool
from lifagu.inference.relational.kinds import Kinds
from lifagu.inference.relational.shattering import (
    MOST_PATTERNS,
    Piece,
    listed,
    listed_pieces,
    shatter,
)
from lifagu.inference.relational.telling_apart import (
    deferred_parfactors,
    defers_ground_part,
    partitions,
)
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.relations import GroundAtom


@dataclass(frozen=True, eq=False)
class Shattered(Frozen):
    """A model over cells: its kinds, and its pieces without what was observed.

    part_of[v]: the connected part of each kind, -1 if it was observed; unknown: for each unknown
    piece its name and part (-1 if all of it was observed).
    """

    kinds: Kinds
    observed: Ints
    pieces: tuple[Piece, ...]
    part_of: Ints
    unknown: tuple[tuple[str, int], ...]


def shattered(
    model: ParfactorGraph, evidence: Mapping[str, Observation], named: Iterable[GroundAtom]
) -> Shattered:
    """Take a model apart over cells; named: those asked for jointly, so told apart from others.

    What cells cannot express is a `NotLiftedError`.
    """
    seen = model.observations(evidence)
    deferred = deferred_parfactors(model)
    kinds = Kinds(model, partitions(model, seen, frozenset(named), deferred), seen)
    pieces: list[Piece] = list(_ground_pieces(kinds))
    for number, bound in enumerate(model.bound):
        pieces += listed(kinds, bound) if number in deferred else shatter(kinds, bound)
        if len(pieces) > MOST_PATTERNS:
            raise NotLiftedError(f"the model falls into more than {MOST_PATTERNS} patterns")
    _add_without_factors(kinds)
    _check_existence(kinds, pieces)
    _check_evidence(kinds)
    observed = np.array([kinds.value(number) for number in range(len(kinds))], dtype=np.int64)
    without = tuple(_sliced(piece, observed) for piece in pieces)
    part_of = _parts(kinds, observed, without)
    unknown = tuple(
        (piece.name, int(part_of[piece.arguments[0][0]]) if piece.arguments else -1)
        for piece in without
        if piece.table is None
    )
    return Shattered(kinds, observed, without, part_of, unknown)


def _add_without_factors(kinds: Kinds) -> None:
    """Plain variables, and relations without individuals, exist even if no factor has them."""
    for variable in range(len(kinds.model.ground_part.variable_names)):
        if variable not in kinds.model.places:
            kinds.plain(variable)
    for relation, of in enumerate(kinds.model.vocabulary.domains_of):
        if not of:
            kinds.of(relation, ())


def _check_existence(kinds: Kinds, pieces: Sequence[Piece]) -> None:
    """A kind exists as a whole: listed rows must reach every one of its ground variables."""
    reached: dict[int, list[Ints]] = {}
    for piece in pieces:
        for slot, (number, _) in enumerate(piece.arguments):
            if piece.listed is not None:
                reached.setdefault(number, []).append(piece.listed[slot])
    for piece in pieces:
        for number, _ in piece.arguments if piece.listed is None else ():
            reached.pop(number, None)
    for number, places in reached.items():
        if len(np.unique(np.concatenate(places), axis=0)) < kinds.individuals.members(number):
            raise NotLiftedError(
                f"{kinds.name(number)} exists for some individuals only, who are listed one by one"
            )


def _check_evidence(kinds: Kinds) -> None:
    """Evidence on a single ground variable is about one that exists."""
    for observed in kinds.evidence:
        if observed.relation >= 0 and not observed.is_range:
            place = (observed.relation, tuple(low for low, _ in observed.spans))
            if kinds.find(place) is None:
                raise ModelError(missing(observed.name))


def missing(name: str) -> str:
    """What to say about a ground variable that no factor has."""
    return f"'{name}' does not exist in the model: no ground factor has it as an argument"


def _ground_pieces(kinds: Kinds) -> Iterable[Piece]:
    """The factors of the ground part; tables in the declared orders of their arguments."""
    model = kinds.model
    part = model.ground_part
    if len(part.factor_names) > MOST_PATTERNS:
        raise NotLiftedError(f"the model has {len(part.factor_names)} ground factors")
    aside = defers_ground_part(model)
    for factors, scopes in part.scopes:
        if not scopes.shape[1]:
            yield from (
                Piece(part.factor_names[each], (), (), part.factors[each].table)
                for each in factors.tolist()
            )
            continue
        code = np.column_stack((part.factor_table[factors] + 1, part.variable_declared[scopes]))
        where = np.array(
            [model.places.get(each, (-1,))[0] for each in range(len(part.variable_names))]
        )
        plain = np.where(where < 0, np.arange(len(where)) + 1, 0)
        for same in members(group_rows(np.column_stack((code, where[scopes] + 1, plain[scopes])))):
            table = part.factors[int(factors[same[0]])].table
            places = [
                (int(where[each]), int(each) if where[each] < 0 else -1) for each in scopes[same[0]]
            ]
            constants = [_constants(model, scopes[same, slot]) for slot in range(scopes.shape[1])]
            name = part.factor_names[int(factors[same[0]])]
            for piece in listed_pieces(kinds, name, places, constants, table):
                yield from [piece] if aside else _one_by_one(piece)


def _constants(model: ParfactorGraph, variables: Ints) -> Ints:
    """The constants of some variables of the ground part, none for plain ones."""
    return np.array(
        [model.places.get(each, (0, ()))[1] for each in variables.tolist()], dtype=np.int64
    ).reshape(len(variables), -1)


def _one_by_one(piece: Piece) -> Iterable[Piece]:
    """Listed rows on individuals that are told apart: each is a pattern without individuals."""
    return [Piece(piece.name, (), piece.arguments, piece.table) for _ in range(piece.many)]


def _sliced(piece: Piece, observed: Ints) -> Piece:
    """A piece at the observed values."""
    fixed = [int(observed[number]) for number, _ in piece.arguments]
    left = [slot for slot, value in enumerate(fixed) if value < 0]
    table = piece.table
    if table is not None:
        table = np.asarray(table[tuple(value if value >= 0 else slice(None) for value in fixed)])
    places = None if piece.listed is None else tuple(piece.listed[slot] for slot in left)
    arguments = tuple(piece.arguments[slot] for slot in left)
    return Piece(piece.name, piece.cells, arguments, table, places or None, piece.many)


def _parts(kinds: Kinds, observed: Ints, pieces: Sequence[Piece]) -> Ints:
    """The connected part of each kind; a histogram is connected with what it counts."""
    first, second = [], []
    for piece in pieces:
        for number, _ in piece.arguments[1:]:
            first.append(piece.arguments[0][0])
            second.append(number)
    for number, kind in enumerate(kinds.kinds):
        for counted, _ in kind.counted:
            first.append(number)
            second.append(counted)
    parts = connected_parts(
        len(kinds), np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)
    )
    return by_first_occurrence(np.where(observed >= 0, -1, parts))


def start(
    model: Shattered, included: NDArray[np.bool_], keep: Iterable[int], maximise: bool
) -> Problem[Pattern]:
    """The problem over cells, of the included kinds; kept ones stay."""
    kinds, tables = model.kinds, TablePool()
    alike: dict[object, tuple[Floats, list[tuple[Piece, Pattern, int]]]] = {}
    for piece in [*model.pieces, *_soft(kinds, model.observed)]:
        if piece.table is not None and all(included[each] for each, _ in piece.arguments):
            pattern = Pattern(piece.cells, piece.arguments)
            many = piece.many
            if piece.listed is None:
                many *= kinds.individuals.weight(pattern)
            key = piece.table.shape, piece.table.tobytes()
            alike.setdefault(key, (piece.table, []))[1].append((piece, pattern, many))
    rows: list[tuple[Pattern, Ints]] = []
    aside: list[Deferred] = []
    weights = []
    for table, same in alike.values():
        label, weight = tables.add(given(table), sum(many for _, _, many in same))
        weights.append(weight)
        for piece, pattern, _ in same:
            if piece.listed is None:
                rows.append((pattern, np.array([label])))
            else:
                own = zip((each for each, _ in piece.arguments), piece.listed, strict=True)
                aside.append(Deferred(tuple(own), label))
    patterns, _ = Patterns(kinds.individuals, {}, {}).plus(rows)
    present, kept, ties = included & (model.observed < 0), frozenset(keep), _ties(kinds, included)
    open_now = present.copy()
    closed = [
        *kept,
        *(int(each) for tie in ties for each in (*tie.variables, *tie.classes.variables)),
    ]
    open_now[[*closed, *(each for deferred in aside for each, _ in deferred.arguments)]] = False
    variables = Variables(
        np.array(kinds.sizes, dtype=np.int64), open_now, present, kinds.name, len(kinds)
    )
    return Problem(patterns, tables, variables, kept, total(weights), maximise, tuple(aside), ties)


def _soft(kinds: Kinds, observed: Ints) -> Iterable[Piece]:
    """Soft evidence as rows of one argument; what is observed has weight alone."""
    seen = kinds.observation
    for kind, likelihood in zip(seen.soft_variables.tolist(), seen.likelihoods, strict=True):
        cells = kinds.individuals.cells_of[kind]
        piece = Piece(kinds.name(kind), cells, ((kind, tuple(range(len(cells)))),), likelihood)
        yield _sliced(piece, observed)


def _ties(kinds: Kinds, present: NDArray[np.bool_]) -> tuple[Tie, ...]:
    """The kinds that are histograms, and what they count."""
    ties = []
    for number, kind in enumerate(kinds.kinds):
        if kind.counted and present[number]:
            members = np.array([each for each, _ in kind.counted])
            logical = kind.counted[0][1]
            many = sum(map(kinds.individuals.members, members.tolist())) // max(
                kinds.individuals.members(number), 1
            )
            ties.append(Tie(np.array([number]), classes_of([members], [many], logical)))
    return tuple(ties)
