"""Parfactors taken apart over cells: a pattern for each way to put individuals into cells.

Individuals of one cell are either the same or different: each of these ways is a pattern of its
own, so that inside a pattern all individuals of a cell differ. Cost: the number of patterns,
whatever the sizes of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, group_rows, members
from lifagu.errors import NotLiftedError
from lifagu.inference.lifted.cells.pattern import Argument
from lifagu.inference.lifted.counting import MOST_ENTRIES
from lifagu.inference.lifted.integers import histogram_places, histograms, number_of_histograms
from lifagu.inference.relational.kinds import Binding, Kinds
from lifagu.relational.bound_parfactors import BoundArgument, BoundParfactor
from lifagu.relational.ground_tables import diagonal
from lifagu.relational.substitutions import substitutions

MOST_PATTERNS = 20_000  # beyond it listing the rows is no dearer
# of individuals who are told apart, up to which each is an argument of a counting formula's table
FEW_STATES = 2**12


@dataclass(frozen=True, eq=False)
class Piece:
    """Rows with one table: cells and arguments of a pattern, and potentials (None: unknown).

    listed: for rows that are listed one by one, for each argument the places of its individuals in
    their cells; many: how many they are.
    """

    name: str
    cells: tuple[int, ...]
    arguments: tuple[Argument, ...]
    table: Floats | None
    listed: tuple[Ints, ...] | None = None
    many: int = 1


def shatter(kinds: Kinds, bound: BoundParfactor) -> Iterator[Piece]:
    """The pieces of one parfactor."""
    table = None if bound.table is None else bound.table.reshape(bound.shape)
    for made, bindings in enumerate(_bindings(kinds, bound)):
        if made > MOST_PATTERNS:
            raise NotLiftedError(
                f"parfactor '{bound.name}' falls into more than {MOST_PATTERNS} patterns"
            )
        cells = {individual: cell for cell, individual in bindings if individual >= 0}
        arguments: list[Argument] = []
        values = table
        for argument in bound.arguments:
            if argument.counted < 0:
                arguments.append(_argument(kinds, argument, bindings))
                continue
            terms, fixed = _counted(kinds, bound, argument, bindings)
            values = _along(values, len(arguments), argument.size, terms, fixed)
            arguments += [term.argument for term in terms]
        yield _different(
            bound.name, tuple(cells[each] for each in range(len(cells))), arguments, values
        )


def _different(
    name: str, cells: tuple[int, ...], arguments: Sequence[Argument], table: Floats | None
) -> Piece:
    """A piece whose arguments differ: where two fall together, the diagonal counts."""
    first = np.array([arguments.index(argument) for argument in arguments], dtype=np.int64)
    kept = tuple(argument for place, argument in enumerate(arguments) if first[place] == place)
    if table is not None and len(kept) < len(arguments):
        shape = [size for place, size in enumerate(table.shape) if first[place] == place]
        table = diagonal(table.reshape(-1), list(table.shape), first).reshape(shape)
    return Piece(name, cells, kept, table)


# ---- ways to put individuals


def _bindings(kinds: Kinds, bound: BoundParfactor) -> Iterator[tuple[Binding, ...]]:
    """All ways that constraints admit for logical variables to fall into cells and coincide."""
    allowed = [_allowed(kinds, bound, variable) for variable in range(bound.free)]
    partners = [bound.partners(variable) for variable in range(bound.free)]
    sizes = kinds.individuals.sizes

    def extend(done: tuple[Binding, ...], used: int) -> Iterator[tuple[Binding, ...]]:
        variable = len(done)
        if variable == bound.free:
            if _admitted(kinds, bound, done):
                yield done
            return
        apart = {done[each] for each in partners[variable] if each < variable}
        for cell in allowed[variable]:
            if sizes[cell] == 1:
                options = [(cell, -1)]
            else:
                there = list(dict.fromkeys(binding for binding in done if binding[0] == cell))
                options = there + ([(cell, used)] if len(there) < sizes[cell] else [])
            for option in options:
                if option not in apart:
                    yield from extend((*done, option), used + (option == (cell, used)))

    return extend((), 0)


def _allowed(kinds: Kinds, bound: BoundParfactor, variable: int) -> list[int]:
    """The cells that satisfy the constraints on one logical variable; cells are never divided."""
    names = [domain.name for domain in kinds.model.vocabulary.domains]
    domain = names.index(bound.domains[variable].name)
    cells = kinds.partitions[domain].firsts
    inside = np.ones(len(cells), dtype=np.bool_)
    for left, code, equal in bound.comparisons:
        if left == variable and code < 0:
            inside &= (cells == ~code) == equal
    for variables, rows, within in bound.memberships:
        if variables == (variable,):
            inside &= np.isin(cells, rows[:, 0]) == within
    return [kinds.first_cell[domain] + cell for cell in np.flatnonzero(inside).tolist()]


def _admitted(kinds: Kinds, bound: BoundParfactor, done: Sequence[Binding]) -> bool:
    """Whether explicit constraints between logical variables hold; constants are told apart."""
    for variables, rows, inside in bound.memberships:
        if len(variables) > 1:
            alone = all(done[each][1] < 0 for each in variables)
            constants = [kinds.constant(done[each][0], 0) for each in variables] if alone else []
            if (alone and bool((rows == constants).all(axis=1).any())) != inside:
                return False
    return True


def _argument(
    kinds: Kinds, argument: BoundArgument, bindings: Sequence[Binding], own: Binding = (-1, -1)
) -> Argument:
    """An argument under some bindings; own: that of the counted logical variable."""
    if argument.relation < 0:
        return kinds.plain(argument.variable), ()
    terms = []
    for code, domain in zip(
        argument.codes, kinds.model.vocabulary.domains_of[argument.relation], strict=True
    ):
        if code < 0:
            terms.append((kinds.cell(domain, ~code), -1))
        else:
            terms.append(own if code == argument.counted else bindings[code])
    return kinds.of(argument.relation, terms)


# ---- counting formulas


class _Term(NamedTuple):
    """An argument that a counting formula stands for, and what its values count: values × size."""

    argument: Argument
    counts: NDArray[Any]


def _counted(
    kinds: Kinds, bound: BoundParfactor, argument: BoundArgument, bindings: Sequence[Binding]
) -> tuple[list[_Term], Ints]:
    """The arguments a counting formula stands for, and what observed cells add to the counts.

    Individuals that are told apart are arguments themselves, or one histogram if they are many;
    those of a cell are one histogram. One that must not be counted, but is not in the formula, is
    counted all the same and then taken away: the histogram of all Y ≠ X is that of all Y less the
    value of X.
    """
    size = argument.size
    beside = [
        bindings[code] for code in dict.fromkeys(argument.codes) if 0 <= code != argument.counted
    ]
    apart = [bindings[each] for each in bound.partners(argument.counted)]
    single: list[Argument] = []
    terms: list[_Term] = []
    fixed = np.zeros(size, dtype=np.int64)
    fresh = 1 + max((individual for _, individual in bindings), default=-1)
    for cell in _allowed(kinds, bound, argument.counted):
        members_of = kinds.individuals.sizes[cell]
        there = [(cell, -1)]
        if members_of > 1:
            there = list(dict.fromkeys(each for each in beside if each[0] == cell))
        single += [_argument(kinds, argument, bindings, own) for own in there if own not in apart]
        many = members_of - len(there)
        if not many:
            continue
        less = list(dict.fromkeys(each for each in apart if each[0] == cell and each not in there))
        number, names = _argument(kinds, argument, bindings, (cell, fresh))
        if (value := kinds.value(number)) >= 0:
            fixed[value] += many - len(less)
            continue
        histogram = _histogram(kinds, bound.name, number, names, fresh, many)
        terms.append(_Term(histogram, histograms(many, size)))
        taken = [_argument(kinds, argument, bindings, own) for own in less]
        terms += [_Term(own, -np.eye(size, dtype=np.int64)) for own in taken]
    return [*_told_apart(kinds, single, size, fixed), *terms], fixed


def _told_apart(kinds: Kinds, single: Sequence[Argument], size: int, fixed: Ints) -> list[_Term]:
    """Counted individuals that are told apart: each an argument, or one histogram if many.

    Observed ones are added to the fixed counts.
    """
    left = []
    for number, names in single:
        if (value := kinds.value(number)) >= 0:
            fixed[value] += 1
        else:
            left.append((number, names))
    if size ** len(left) <= FEW_STATES:
        return [_Term(each, np.eye(size, dtype=np.int64)) for each in left]
    states = number_of_histograms(len(left), size)
    if states > MOST_ENTRIES or len({names for _, names in left}) > 1:
        raise NotLiftedError(f"a counting formula over {len(left)} individuals who are told apart")
    number = kinds.histogram([each for each, _ in left], -1, states)
    return [_Term((number, left[0][1]), histograms(len(left), size))]


def _histogram(
    kinds: Kinds, name: str, number: int, names: tuple[int, ...], fresh: int, many: int
) -> Argument:
    """The histogram of a kind over one of the individuals in its name."""
    states = number_of_histograms(many, kinds.sizes[number])
    if states > MOST_ENTRIES:
        raise NotLiftedError(f"parfactor '{name}' counts over {states} histograms")
    logical = names.index(fresh)
    return kinds.histogram([number], logical, states), names[:logical] + names[logical + 1 :]


def _along(
    table: Floats | None, axis: int, size: int, terms: Sequence[_Term], fixed: Ints
) -> Floats | None:
    """A table with the axis of a counting formula replaced by those of what it stands for.

    Values that cannot go together, as less than nothing would be left, have potential 0.
    """
    if table is None:
        return None
    total = fixed[None]
    for term in terms:
        if len(total) * len(term.counts) > MOST_ENTRIES:
            raise NotLiftedError("a counting formula over too many combinations of individuals")
        total = (total[:, None, :] + term.counts).reshape(-1, size)
    possible = np.asarray((total >= 0).all(axis=1))
    some = np.where(possible[:, None], total, total[int(np.argmax(possible))])
    chosen = np.take(table, histogram_places(some), axis=axis)
    chosen = np.where(possible.reshape(-1, *(1,) * (table.ndim - axis - 1)), chosen, 0.0)
    sizes = [len(term.counts) for term in terms]
    return chosen.reshape([*table.shape[:axis], *sizes, *table.shape[axis + 1 :]])


# ---- rows that are listed one by one


def listed(kinds: Kinds, bound: BoundParfactor) -> Iterator[Piece]:
    """The ground factors of a parfactor that lists single individuals, grouped by their kinds."""
    if any(argument.counted >= 0 for argument in bound.arguments):
        raise NotLiftedError(f"parfactor '{bound.name}' counts under an explicit constraint")
    rows = substitutions(bound)
    constants = [_constants(argument, rows) for argument in bound.arguments]
    table = None if bound.table is None else bound.table.reshape(bound.shape)
    places = [(argument.relation, argument.variable) for argument in bound.arguments]
    yield from listed_pieces(kinds, bound.name, places, constants, table)


def _constants(argument: BoundArgument, rows: Ints) -> Ints:
    """The constants of one argument in every ground factor: substitutions × terms."""
    columns = [np.full(len(rows), ~code) if code < 0 else rows[:, code] for code in argument.codes]
    return np.column_stack([np.zeros((len(rows), 0), dtype=np.int64), *columns])


def listed_pieces(
    kinds: Kinds,
    name: str,
    places: Sequence[tuple[int, int]],
    constants: Sequence[Ints],
    table: Floats | None,
) -> Iterator[Piece]:
    """Ground factors with one table, grouped by the kinds they are on.

    places: for each argument its relation, or -1 and its plain variable; constants: for each, rows
    × terms.
    """
    words = kinds.model.vocabulary
    domains = [
        domain for relation, _ in places if relation >= 0 for domain in words.domains_of[relation]
    ]
    terms = np.column_stack(constants)
    columns = [np.zeros(len(terms), dtype=np.int64)]
    for right, domain in enumerate(domains):
        columns.append(kinds.partitions[domain].cells(terms[:, right]))
        same_domain = [left for left in range(right) if domains[left] == domain]
        columns += [(terms[:, right] == terms[:, left]).astype(np.int64) for left in same_domain]
    for same in members(group_rows(np.column_stack(columns))):
        yield _listed_piece(kinds, name, places, [own[same] for own in constants], table)


def _listed_piece(
    kinds: Kinds,
    name: str,
    places: Sequence[tuple[int, int]],
    constants: Sequence[Ints],
    table: Floats | None,
) -> Piece:
    """Listed rows on the same kinds."""
    arguments: list[Argument] = []
    own_places: list[Ints] = []
    individuals: dict[Binding, int] = {}
    for (relation, variable), own in zip(places, constants, strict=True):
        if relation < 0:
            arguments.append((kinds.plain(variable), ()))
            own_places.append(own)
            continue
        of = kinds.model.vocabulary.domains_of[relation]
        bindings = kinds.bind(relation, own[0].tolist(), individuals)
        arguments.append(kinds.of(relation, bindings))
        named = [individual for _, individual in bindings]
        terms = [named.index(each) for each in arguments[-1][1]]
        parts = [kinds.partitions[of[term]].places(own[:, term]) for term in terms]
        own_places.append(np.column_stack([np.zeros((len(own), 0), dtype=np.int64), *parts]))
    piece = _different(name, (), arguments, table)
    first = [arguments.index(argument) for argument in piece.arguments]
    places_of = tuple(own_places[place] for place in first)
    return Piece(name, (), piece.arguments, piece.table, places_of, len(constants[0]))
