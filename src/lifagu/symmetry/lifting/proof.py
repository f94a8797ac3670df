"""The proof that a lifted model means the graph: grounded, it has its variables and factors.

Factors are compared as a multiset of (arguments, table), variables by name and range. Near-linear;
nothing is taken from the way the model was made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, group_rows, offsets_of
from lifagu.basics.names import ChosenNames, Names
from lifagu.errors import ModelError
from lifagu.graph.assembly import scopes_of
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.grounding import GroundPieces, ground_pieces
from lifagu.relational.parfactor_graph import ParfactorGraph, Proof


@dataclass(frozen=True, eq=False)
class Difference:
    """Where they differ: factors of the graph, parfactors of the model (-1 is its ground part)."""

    factors: Ints
    parfactors: Ints


def prove(model: ParfactorGraph, graph: FactorGraph) -> Proof:
    """The proof that a model grounds to a graph; else an error names a variable or a factor.

    >>> from lifagu.relational.parfactor_graph import Domain, Parfactor, Relation
    >>> from lifagu.relational.grounding import ground
    >>> parfactor = Parfactor.of("g", ["Sick(X)"], [4, 1])
    >>> model = ParfactorGraph((Domain("X", 3),), (Relation("Sick", ("X",)),), (parfactor,))
    >>> print(*str(prove(model, ground(model))).split(", "), sep="\\n")
    grounded again: the same 3 variables and the same 3 factors
    each as often
    with 1 distinct table
    """
    found = compare(model, graph)
    if isinstance(found, Proof):
        return found
    if len(found.factors):
        factor = graph.factors[int(found.factors[0])]
        what = f"factor '{factor.name}' on ({', '.join(factor.arguments)})"
        raise _differs(f"{what} is not as often in the model as in the graph")
    number = int(found.parfactors[0])
    what = f"parfactor '{model.parfactors[number].name}'" if number >= 0 else "the ground part"
    raise _differs(f"{what} has a ground factor that the graph does not have as often")


def _differs(what: str) -> ModelError:
    return ModelError(f"the lifted model does not mean the graph: {what}")


def compare(model: ParfactorGraph, graph: FactorGraph) -> Proof | Difference:
    """The proof, or where factors differ; variables that differ are an error."""
    pieces = ground_pieces(model)
    number = _numbers(model, pieces, graph)
    known: dict[bytes, int] = {}
    tables, table_of = declared_tables(graph)
    wanted = _table_ids(tables, table_of, known)
    mine = [_table_ids(block.tables, block.table_of, known) for block in pieces.blocks]
    owner = np.repeat(np.arange(-1, len(mine) - 1), list(map(len, mine)))
    lengths = np.concatenate([block.lengths for block in pieces.blocks])
    offsets = offsets_of(lengths)
    arguments = number[np.concatenate([block.arguments for block in pieces.blocks])]
    found = {
        scopes.shape[1]: (factors, np.column_stack((np.concatenate(mine)[factors], scopes)))
        for factors, scopes in scopes_of(offsets, arguments)
    }
    differing: list[tuple[Ints, Ints]] = []
    for factors, scopes in graph.scopes:
        expected = np.column_stack((wanted[factors], scopes))
        others, rows = found.pop(scopes.shape[1], (factors[:0], expected[:0]))
        if not same_rows(expected, rows):
            one, two = _differing(expected, rows)
            differing.append((factors[one], owner[others[two]]))
    differing += [(others[:0], owner[others]) for others, _ in found.values()]
    if differing:
        return Difference(
            np.sort(np.concatenate([each for each, _ in differing])),
            np.unique(np.concatenate([each for _, each in differing])),
        )
    return Proof(len(number), len(graph.factor_names), len(graph.unknown), len(graph.tables))


def _table_ids(tables: Sequence[Floats], table_of: Ints, known: dict[bytes, int]) -> Ints:
    """Number of each factor's table, 0 if unknown; equal for equal potentials, bit by bit."""
    ids = [known.setdefault(table.tobytes(), len(known) + 1) for table in tables]
    return np.array([*ids, 0], dtype=np.int64)[table_of]


# ---- variables


def _numbers(model: ParfactorGraph, pieces: GroundPieces, graph: FactorGraph) -> Ints:
    """For each ground variable of the model the graph's variable of its name, ranges compared."""
    words, part = model.vocabulary, model.ground_part
    numbers = [_found(part.variable_names, pieces.variables.plain, graph.variable_names)]
    labels = [part.variable_declared[pieces.variables.plain]]
    declared = list(part.ranges.declared)
    for relation, rows in enumerate(pieces.variables.existing):
        originals = words.renamed[relation]
        which = originals.which_of(rows)
        own = np.full(len(rows), -1, dtype=np.int64)
        own[which >= 0] = _found(originals.names, which[which >= 0], graph.variable_names)
        spelt = np.flatnonzero(which < 0)
        own[spelt] = graph.variable_names.find_each(
            [words.ground_name(relation, row) for row in rows[spelt].tolist()]
        )
        numbers.append(own)
        labels.append(np.full(len(rows), len(declared)))
        declared.append(words.relations[relation].range)
    number = np.concatenate(numbers)
    _check_variables(number, graph)
    orders = {order: place for place, order in enumerate(graph.ranges.declared)}
    order_of = np.array([orders.get(each, -1) for each in declared], dtype=np.int64)
    mine = order_of[np.concatenate(labels)]
    other = np.flatnonzero(mine != graph.variable_declared[number])
    if len(other):
        name = graph.variable_names[int(number[other[0]])]
        raise _differs(f"variable '{name}' has another range")
    return number


def _found(names: Names, chosen: Ints, wanted: Names) -> Ints:
    """The numbers that the chosen names of one list have in another, -1 if none."""
    if names is wanted:
        return chosen
    if isinstance(names, ChosenNames) and names.names is wanted:
        return names.numbers[chosen]
    return wanted.find_each([names[each] for each in chosen.tolist()])


def _check_variables(number: Ints, graph: FactorGraph) -> None:
    """Every variable of the graph must be there once, and no other."""
    count = len(graph.variable_names)
    if (number < 0).any():
        raise _differs("it has a variable that the graph has not")
    wrong = np.flatnonzero(np.bincount(number, minlength=count) != 1)
    if len(wrong):
        name = graph.variable_names[int(wrong[0])]
        raise _differs(f"variable '{name}' is not once in it")


# ---- multisets of rows


def same_rows(one: Ints, two: Ints) -> bool:
    """Whether two matrices hold the same rows, each as often, in any order.

    Rows are put in order and then compared in full: first by the first column alone, which is
    enough where the others came in the same order, then by a number mixed from all columns, then,
    should rows share one, by all columns.

    >>> same_rows(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [1, 2]]))
    True
    """
    if one.shape != two.shape:
        return False
    orders: tuple[Callable[[Ints], Ints], ...] = (
        lambda rows: np.argsort(rows[:, 0], kind="stable"),
        lambda rows: np.argsort(_mixed(rows)),
        lambda rows: np.lexsort(rows.T),
    )
    return any(np.array_equal(one[order(one)], two[order(two)]) for order in orders)


def _mixed(rows: Ints) -> NDArray[np.uint64]:
    """A number for each row in which all columns have a part."""
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _differing(one: Ints, two: Ints) -> tuple[Ints, Ints]:
    """The rows of two matrices that are not as often in the other."""
    ids = group_rows(np.vstack((one, two)))
    mine, theirs = ids[: len(one)], ids[len(one) :]
    most = int(ids.max(initial=-1)) + 1
    differ = np.bincount(mine, minlength=most) != np.bincount(theirs, minlength=most)
    return np.flatnonzero(differ[mine]), np.flatnonzero(differ[theirs])
