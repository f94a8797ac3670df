"""A ground graph some of whose tables are to be learned: what there is to learn, and it put in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_value, group_rows, members
from lifagu.basics.memory import readable_size
from lifagu.basics.words import amount
from lifagu.errors import FormatError, TooLargeError, listed
from lifagu.graph.bins import BinLabels
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.grounding import ground_names
from lifagu.relational.learning_task import (
    ArgumentCells,
    FixedTables,
    GroupLevel,
    KnownCells,
    LearningTask,
    TableToLearn,
)
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.shared_arrays import SharedArrays
from lifagu.relational.template import HiddenCells

MOST = 2**26  # potentials of all tables of one parfactor, half a gigabyte


@dataclass(frozen=True, eq=False)
class LearnedFactors:
    """A parfactor whose table is to be learned: its number, where it stands, and how.

    given: the arguments it is conditional on; levels: groups with tables of their own.
    """

    number: int
    place: str
    given: tuple[int, ...]
    levels: tuple[GroupLevel, ...]


def to_be_learned(
    loaded: Loaded, model: ParfactorGraph, wanted: Sequence[LearnedFactors], hidden: HiddenCells
) -> Loaded:
    """What was loaded, with what there is to learn; hidden: cells that nobody is to have observed.

    Near-linear in the ground factors. Where nothing was observed at all, it is an error.
    """
    found = with_task(loaded, model, wanted, hidden)
    assert found.task is not None
    relations = found.task.relations
    learned = {slot.relation for table in found.task.tables for slot in table.slots}
    seen = {number for number in learned if (relations[number].values >= 0).any()}
    if seen:
        return replace(found, warnings=(*found.warnings, *_unobserved(found, seen)))
    names = listed(sorted(relations[number].relation for number in learned))
    was = "was" if len(learned) == 1 else "were"
    raise FormatError(
        f"{wanted[0].place}: there is nothing to learn from: {names} {was} never observed; "
        "give evidence"
    )


def _unobserved(loaded: Loaded, seen: set[int]) -> list[str]:
    """Which tables there is nothing to learn from for, but for those of hidden cohorts."""
    assert loaded.task is not None
    cohorts = loaded.template.cohorts if loaded.template else frozenset()
    found = []
    for table in loaded.task.tables:
        names = {loaded.task.relations[slot.relation].relation for slot in table.slots}
        if not names & cohorts and not any(slot.relation in seen for slot in table.slots):
            was = "was" if len(names) == 1 else "were"
            found.append(
                f"{table.place}: '{table.name}' has nothing to be learned from: "
                f"{listed(sorted(names))} {was} never observed"
            )
    return found


def with_task(
    loaded: Loaded, model: ParfactorGraph, wanted: Sequence[LearnedFactors], hidden: HiddenCells
) -> Loaded:
    """The same, whatever was observed."""
    graph = loaded.model
    assert isinstance(graph, FactorGraph)
    cells = _Cells.of(model, graph)
    tables, starts, shared = [], [], SharedArrays()
    for each in wanted:
        start, slots = _slots(model, graph, cells, each, shared)
        bound = model.bound[each.number]
        _refuse_large(bound.name, each, bound.shape)
        tables.append(TableToLearn(bound.name, each.place, slots, each.given, each.levels))
        starts.append(start)
    learned = {slot.relation for table in tables for slot in table.slots}
    taken = [range(at, at + len(each)) for at, each in zip(starts, tables, strict=True)]
    template, names = loaded.template, graph.factor_names
    for number, parfactor in template.parfactors.items() if template else ():
        if parfactor.is_within and isinstance(names, GroundNames):
            taken.append(range(names.start(1 + number), names.start(2 + number)))
    fixed = _fixed(graph, cells, taken)
    touching = [each for each in fixed if any(slot.relation in learned for slot in each.slots)]
    relations = cells.known(model, graph, graph.evidence(loaded.evidence), hidden)
    queried = set(cells.relation[loaded.query_numbers()].tolist())
    queried |= {number for number, each in enumerate(relations) if each.relation in loaded.asks}
    place = {each.name: number for number, each in enumerate(model.relations)}
    for fine, coarse in template.finer.items() if template else ():
        if place[coarse] in queried:
            queried.add(place[fine])
    task = LearningTask(
        relations, tuple(tables), tuple(touching), _asked(relations, learned, queried)
    )
    return replace(loaded, task=task, learned_at=tuple(starts))


def _refuse_large(name: str, wanted: LearnedFactors, shape: tuple[int, ...]) -> None:
    """Tables that would not fit are refused before anybody tries."""
    states = math.prod(map(int, shape))
    many = 1 + sum(len(level.parent) for level in wanted.levels)
    if many * states > MOST:
        each = f"{amount(many, ',')} tables of " if many > 1 else ""
        raise TooLargeError(
            f"{wanted.place}: parfactor '{name}' would have {each}{amount(states, ',')} potentials "
            f"({' × '.join(map(str, shape))}), {readable_size(many * states * 8)}; "
            "use fewer labels, such as bins, fewer arguments, or fewer groups"
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """For each ground variable the number of its relation, and its cell there.

    Plain variables, which are as many relations with a single cell, follow the relations.
    """

    names: GroundNames
    relation: Ints
    cell: Ints

    @classmethod
    def of(cls, model: ParfactorGraph, graph: FactorGraph) -> _Cells:
        """Number the cells of a grounding."""
        names, count = ground_names(graph), len(model.relations)
        every = np.arange(len(names))
        origin = names.origins(every)
        starts = np.array([names.start(each) for each in range(count + 1)])
        plain = origin == 0
        relation = np.where(plain, count + every, origin - 1)
        return cls(names, relation, np.where(plain, 0, every - starts[origin]))

    def known(
        self, model: ParfactorGraph, graph: FactorGraph, evidence: Evidence, hidden: HiddenCells
    ) -> tuple[KnownCells, ...]:
        """What was observed of each relation and plain variable, but for hidden cells."""
        values = evidence.value_of_each(len(self.names))
        for number, rows in enumerate(self.names.rows):
            if (unseen := hidden.get(model.relations[number].name)) is not None:
                places = rows.places(unseen)
                values[self.names.start(1 + number) + places[places >= 0]] = -1
        found = []
        for number, (of, rows) in enumerate(zip(model.relations, self.names.rows, strict=True)):
            start = self.names.start(1 + number)
            mine = values[start : start + len(rows)]
            ordered = len(of.range) if isinstance(of.range, BinLabels) else 0
            found.append(
                KnownCells(of.name, of.range, declared_values(graph, start, mine), ordered)
            )
        for variable in range(self.names.start(1) if self.names.rows else len(self.names)):
            mine = declared_values(graph, variable, values[variable : variable + 1])
            name = self.names[variable]
            found.append(KnownCells(name, graph.labels(variable), mine))
        return tuple(found)


def declared_values(graph: FactorGraph, variable: int, values: Ints) -> Ints:
    """Canonical values as places of labels in the order in which a variable declares them."""
    if not len(values):
        return values
    order = graph.ranges.to_canonical(int(graph.variable_declared[variable]))
    return np.append(order, -1)[values]


def _slots(
    model: ParfactorGraph,
    graph: FactorGraph,
    cells: _Cells,
    wanted: LearnedFactors,
    shared: SharedArrays,
) -> tuple[int, tuple[ArgumentCells, ...]]:
    """The first ground factor of a parfactor, and the cells of all of them."""
    names = graph.factor_names
    assert isinstance(names, GroundNames)
    start, count = names.start(1 + wanted.number), len(names.rows[wanted.number])
    bound = model.bound[wanted.number]
    if not count:
        raise FormatError(f"{wanted.place}: parfactor '{bound.name}' has no ground factor")
    arity = len(bound.arguments)
    short = np.diff(graph.offsets[start : start + count + 1]) < arity
    if short.any():
        factor = names[start + int(np.argmax(short))]
        raise FormatError(
            f"{wanted.place}: two arguments of {factor} are the same variable, from which no "
            "table can be learned; leave such rows out, as with where X != Y"
        )
    first = graph.offsets[start]
    matrix = graph.arguments[first : first + count * arity].reshape(count, arity)
    return start, tuple(
        ArgumentCells(int(cells.relation[column[0]]), shared.one(cells.cell[column]))
        for column in matrix.T
    )


def _fixed(graph: FactorGraph, cells: _Cells, learned: Sequence[range]) -> list[FixedTables]:
    """All other ground factors, those of one parfactor over the same relations together."""
    names = graph.factor_names
    assert isinstance(names, GroundNames)
    mine = np.ones(len(names), dtype=np.bool_)
    for each in learned:
        mine[each.start : each.stop] = False
    if not mine.any():
        return []
    tables, table_of = declared_tables(graph)
    found = []
    for factors, scopes in graph.scopes:
        kept = mine[factors]
        factors, scopes = factors[kept], scopes[kept]
        origins = names.origins(factors)
        for alike in members(group_rows(np.column_stack((origins, cells.relation[scopes])))):
            numbers, columns = table_of[factors[alike]], scopes[alike].T
            known = numbers >= 0
            first, place = by_value(numbers[known])
            of_each = np.full(len(numbers), -1, dtype=np.int64)
            of_each[known] = place
            rows = [tables[each] for each in numbers[known][first].tolist()]
            slots = tuple(ArgumentCells(int(cells.relation[c[0]]), cells.cell[c]) for c in columns)
            origin, one = int(origins[alike[0]]), names[int(factors[alike[0]])]
            name = names.rows[origin - 1].prefix if origin else one
            found.append(FixedTables(name, slots, _stacked(rows), of_each))
    return found


def _stacked(rows: Sequence[Floats]) -> Floats:
    return np.array(rows) if len(rows) else np.zeros((0, 0))


def _asked(relations: Sequence[KnownCells], learned: set[int], queried: set[int]) -> frozenset[int]:
    """The relations to be predicted: those asked for, else those with gaps, else all."""
    if queried & learned:
        return frozenset(queried & learned)
    seen = {number for number in learned if (relations[number].values >= 0).any()}
    gaps = {number for number in seen if (relations[number].values < 0).any()}
    return frozenset(gaps or seen)
