"""Questions to a graph of very many islands: equal ones are computed once, over cells.

One island stands for all that are equal to it, as an individual stands for others of its cell in a
relational model, so that the cost follows what is different and not how many there are. Islands
that are asked about jointly are told apart from others first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, owners
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import NotLiftedError, TooLargeError
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import taken
from lifagu.inference.islands import Islands, StandIns, islands_of
from lifagu.inference.lifted.careful_table import given
from lifagu.inference.lifted.cells import Individuals, Pattern, Patterns
from lifagu.inference.lifted.engine import reduce_cells
from lifagu.inference.lifted.fifty_digits import total
from lifagu.inference.lifted.problem import Problem, Variables
from lifagu.inference.lifted.tables import TablePool
from lifagu.inference.planning_by_part import plan_rest
from lifagu.inference.prepared import Prepared, Questions, Result, Solution, Staying
from lifagu.inference.question_checks import kept_for

MOST_LEFT = 4096  # factors of all that stand for others, beyond which nothing is gained
MANY = 4  # islands for each that stands for others, from which on it pays


@dataclass(frozen=True, eq=False, repr=False)
class OverIslands(Staying):
    """Questions planned on the islands that stand for others.

    small: the plan; evidence: all that was observed; chosen: what the plan is about; told: for how
    many islands these stand, in words; notes: remarks beside the answers.
    """

    small: Prepared
    evidence: Evidence
    chosen: _FewIslands
    told: str
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The engine that does the work."""
        return self.small.name

    @property
    def total(self) -> int:
        """Numbers to be computed for what the lifted steps have left."""
        return self.small.total

    def __str__(self) -> str:
        more = [each for each in self.notes if each not in self.small.notes]
        return "\n".join([self.told, str(self.small), *more])

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers. progress(done, total) is called now and then."""
        result = self.small.run(progress)
        plan = str(self)
        answers = [replace(each, plan=plan, notes=self.notes) for each in result.answers]
        return replace(result, answers=answers, notes=self.notes)

    def solve(self, progress: Tell | None = None) -> Solution:
        """Compute log Z and all that was asked for; marginals are those of the whole graph."""
        found = self.small.solve(progress)
        return replace(found, marginals=found.marginals.spread(self.chosen.alike_of_all))


def over_islands(graph: FactorGraph, posed: Questions) -> OverIslands | None:
    """A plan on few islands that stand for all; None where they are many.

    posed: questions to a graph in which nothing is unknown or left out.
    """
    islands = graph.once(islands_of)
    if islands is None:
        return None
    jointly = [each for question in posed.asked if len(question) > 1 for each in question]
    some = islands.stand_ins(islands.codes(posed.evidence), islands.on(jointly))
    if MANY * len(some.islands) > len(islands):
        return None
    chosen = _FewIslands.of(graph, islands, some, posed.evidence)
    if len(chosen.graph.factor_names) > MOST_LEFT:
        return None
    try:
        planned = chosen.planned(posed)
    except (NotLiftedError, TooLargeError):
        return None  # the graph as it is may still do
    which = f"{len(islands)} parts, apart from {counted(len(islands.shared), 'shared variable')}"
    told = f"{len(some.islands)} stand for {which}"
    return OverIslands(planned, posed.evidence, chosen, told, planned.notes)


@dataclass(frozen=True, eq=False)
class _FewIslands:
    """The graph of the shared variables and the islands that stand for others.

    observed: the value of each of its variables, -1 without one; cell: the stand-in that each
    variable is on, -1 for shared ones; many: for how many islands each stand-in stands; number: of
    each variable of the whole graph here, -1 for those that others stand for.
    """

    graph: FactorGraph
    evidence: Evidence
    observed: Ints
    cell: Ints
    many: Ints
    number: Ints
    islands: Islands
    some: StandIns

    @classmethod
    def of(
        cls, whole: FactorGraph, islands: Islands, some: StandIns, evidence: Evidence
    ) -> _FewIslands:
        own, _ = taken_lists(islands.variable_starts, islands.variables, some.islands)
        factors, _ = taken_lists(islands.factor_starts, islands.factors, some.islands)
        variables = np.union1d(islands.shared, own)
        graph, number = taken(whole, variables, np.union1d(islands.among_shared, factors))
        here = evidence.renumbered(number)
        on = islands.of_variable[variables]
        cell = np.where(on < 0, -1, some.of_island[on])
        observed = here.value_of_each(len(variables))
        return cls(graph, here, observed, cell, some.many, number, islands, some)

    def alike(self, variables: Ints) -> Ints:
        """The variables here that stand for some of the whole graph."""
        islands, some = self.islands, self.some
        on = islands.of_variable[variables]
        first = islands.variable_starts[some.islands[some.of_island[on]]] + islands.place[variables]
        first[on < 0] = 0
        return self.number[np.where(on < 0, variables, islands.variables[first])]

    @property
    def alike_of_all(self) -> Ints:
        """The same of each variable of the whole graph."""
        return self.alike(np.arange(len(self.number)))

    def planned(self, posed: Questions) -> Prepared:
        """The questions about those that stand for others, each under its own title."""
        asked = tuple([tuple(self.alike(np.array(each)).tolist()) for each in posed.asked])
        free = {each for question in asked for each in question if self.observed[each] < 0}
        alone = all(self.cell[each] < 0 or self.many[self.cell[each]] == 1 for each in free)
        walks = posed.everything or len(set(asked)) > 1 or not alone
        keep = kept_for(asked, walks, self.evidence)
        reduced = reduce_cells(self._problem(keep))
        here = replace(posed, subject=self.graph, evidence=self.evidence, asked=asked)
        return plan_rest(here, reduced, walks)

    def _problem(self, keep: list[int]) -> Problem[Pattern]:
        """Rows of islands that are alone are listed, those of others are patterns over cells."""
        tables, rows, weights = TablePool(), [], []
        for scope, cell, potentials in self._factors():
            free = [each for each in scope if self.observed[each] < 0]
            fixed = tuple(
                [int(value) if value >= 0 else slice(None) for value in self.observed[scope]]
            )
            alone = cell < 0 or self.many[cell] == 1
            often = 1 if alone else int(self.many[cell])
            label, weight = tables.add(given(np.asarray(potentials[fixed])), often)
            weights.append(weight)
            arguments = tuple([(each, self._named(each)) for each in free])
            rows.append((Pattern(() if alone else (cell,), arguments), np.array([label])))
        sizes = self.many.tolist()
        names = {each: self._cells(each) for each in range(len(self.cell))}
        patterns, _ = Patterns(Individuals(sizes, names), {}, {}).plus(rows)
        present = self.observed < 0
        open_now: NDArray[np.bool_] = present.copy()
        open_now[keep] = False
        called = self.graph.variable_names
        variables = Variables(
            self.graph.sizes.copy(), open_now, present, called.__getitem__, len(called)
        )
        return Problem(patterns, tables, variables, frozenset(keep), total(weights))

    def _factors(self) -> Iterator[tuple[list[int], int, Floats]]:
        """The arguments, the stand-in (-1: none) and the table of each factor, and likelihoods."""
        graph = self.graph
        scopes = np.split(graph.arguments, graph.offsets[1:-1])
        cells = np.full(len(scopes), -1, dtype=np.int64)
        np.maximum.at(cells, owners(graph.offsets), self.cell[graph.arguments])
        shown = zip(scopes, cells.tolist(), graph.factor_table.tolist(), strict=True)
        for scope, cell, table in shown:
            yield scope.tolist(), cell, graph.tables[table]
        soft = zip(self.evidence.soft_variables.tolist(), self.evidence.likelihoods, strict=True)
        for variable, likelihood in soft:
            yield [variable], int(self.cell[variable]), likelihood

    def _cells(self, variable: int) -> tuple[int, ...]:
        """The cell that a variable names an individual of, if it stands for several."""
        cell = int(self.cell[variable])
        return () if cell < 0 or self.many[cell] == 1 else (cell,)

    def _named(self, variable: int) -> tuple[int, ...]:
        return (0,) if self._cells(variable) else ()
