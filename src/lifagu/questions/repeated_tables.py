"""The same table twice over the same variables, whose information then counts twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_lists, group_rows
from lifagu.errors import listed
from lifagu.graph.factor_graph import FactorGraph
from lifagu.likeness.merging import equal_up_to_scale
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    Constraint,
    CountingFormula,
    Logical,
    Term,
)

LOOKED_AT = 20_000  # pairs of factors, as sorts that repeat one another do so for everybody
SMALL = 2**12  # potentials of a table of a parfactor up to which all orders are compared
FEW_ARGUMENTS = 4  # and how many arguments it may have


def said_twice(loaded: Loaded) -> Iterator[str]:
    """Pairs of tables that are equal up to a factor, over the same variables in whatever order."""
    if isinstance(loaded.model, ParfactorGraph):
        yield from _parfactors_twice(loaded.model)
        return
    told = set[tuple[str, str]]()
    for one, other in _pairs(loaded.model):
        names = loaded.model.factor_names.of_nodes(np.array([one, other]))
        sorts = names[0].partition("(")[0], names[1].partition("(")[0]
        if sorts not in told:
            told.add(sorts)
            scope = [loaded.model.variable_names[each] for each in loaded.model.scope(one)]
            yield _twice(names[0], names[1], listed(scope))


def _twice(one: str, other: str, scope: str) -> str:
    return (
        f"'{one}' and '{other}' have the same table over {scope}, and both count: is the same "
        "information in both? If so, leave one of them out"
    )


# ---- ground factors


def _pairs(graph: FactorGraph) -> Iterator[tuple[int, int]]:
    known = np.flatnonzero(graph.factor_table >= 0)
    if not len(known):
        return
    values, starts = graph.tables.values, graph.tables.offsets[:-1]
    telling = np.maximum.reduceat(values, starts) > np.minimum.reduceat(values, starts)
    known = known[telling[graph.factor_table[known]]]
    scale = equal_up_to_scale(graph.tables)[graph.factor_table]
    lists = group_lists(graph.offsets, graph.arguments)
    same = group_rows(np.column_stack((lists, scale + 1)))
    yield from islice(_neighbours(known, same), LOOKED_AT)
    sets = group_lists(graph.offsets, graph.arguments, ordered=False)
    for one, other in islice(_neighbours(known, sets), LOOKED_AT):
        if lists[one] != lists[other] and _is_turned(graph, one, other):
            yield one, other


def _neighbours(factors: Ints, groups: Ints) -> Iterator[tuple[int, int]]:
    """Factors of one group that follow one another."""
    order = factors[np.argsort(groups[factors], kind="stable")]
    again = np.flatnonzero(groups[order][1:] == groups[order][:-1])
    yield from zip(order[again].tolist(), order[again + 1].tolist(), strict=True)


def _is_turned(graph: FactorGraph, one: int, other: int) -> bool:
    """Whether two factors of different sorts have one table, up to the order of their arguments."""
    names = graph.factor_names.of_nodes(np.array([one, other]))
    if names[0].partition("(")[0] == names[1].partition("(")[0]:
        return False  # one parfactor in both directions, which is meant so
    mine, theirs = graph.scope(one), graph.scope(other)
    if len(set(mine)) < len(mine):
        return False
    first, second = (graph.tables[int(graph.factor_table[each])] for each in (one, other))
    return _same(first, second.transpose([theirs.index(each) for each in mine]))


def _same(one: Floats, other: Floats) -> bool:
    return np.allclose(one / one.max(), other / other.max(), rtol=1e-12, atol=0)


# ---- parfactors


def _parfactors_twice(model: ParfactorGraph) -> Iterator[str]:
    """Parfactors whose arguments are the same, whatever their logical variables are called."""
    sizes = {each.name: len(each.range) for each in model.relations}
    met = dict[tuple[object, ...], str]()
    for each in model.parfactors:
        if each.table is None or not np.ptp(each.table):
            continue
        spelt = _spelt(each, sizes)
        if spelt in met:
            arguments = ", ".join(map(str, each.arguments))
            yield _twice(met[spelt], each.name, arguments)
        met.setdefault(spelt, each.name)


def _spelt(parfactor: Parfactor, sizes: Mapping[str, int]) -> tuple[object, ...]:
    """The same for all parfactors that differ in the order and names of what they list, only."""
    arguments, table = parfactor.arguments, parfactor.table
    assert table is not None
    atoms = [each for each in arguments if isinstance(each, Atom)]
    shape, orders = table.shape, [tuple(range(len(arguments)))]
    if len(atoms) == len(arguments) <= FEW_ARGUMENTS and len(table) <= SMALL:
        shape = tuple(sizes[each.relation] for each in atoms)
        orders = list(permutations(range(len(arguments))))
    scaled = (table / table.max()).reshape(shape)
    return min(
        (
            *_renamed([arguments[place] for place in order], parfactor.where),
            scaled.transpose(order if len(shape) == len(order) else None).tobytes(),
        )
        for order in orders
    )


def _renamed(
    arguments: Sequence[Argument], where: Sequence[Constraint]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Arguments and constraints as texts, logical variables being numbered by first occurrence."""
    inner = [each if isinstance(each, Atom) else each.atom for each in arguments]
    logicals = dict.fromkeys(term for atom in inner for term in atom.logicals)
    number: dict[Term, Term] = {each: Logical(f"X{place}") for place, each in enumerate(logicals)}
    texts = [
        ("#" if isinstance(each, CountingFormula) else "")
        + str(Atom(atom.relation, tuple(number.get(term, term) for term in atom.terms)))
        + (str(number[each.variable]) if isinstance(each, CountingFormula) else "")
        for each, atom in zip(arguments, inner, strict=True)
    ]
    return tuple(texts), tuple(sorted(_constraint(each, number) for each in where))


def _constraint(constraint: Constraint, number: Mapping[Term, Term]) -> str:
    if isinstance(constraint, Comparison):
        sides = [str(number.get(each, each)) for each in (constraint.left, constraint.right)]
        return f"{constraint.equal} {sorted(sides)}"
    names = [str(number.get(each, each)) for each in constraint.variables]
    return f"{constraint.inside} {names} {list(constraint.rows)}"
