"""A most probable assignment of a relational model: found over cells, given to all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.errors import TooLargeError
from lifagu.inference.lifted.assignment import CellValues, GroundValues
from lifagu.inference.lifted.engine import reduce_cells
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.most_probable import Search, plan_search
from lifagu.inference.relational.ground_variables import ground_names
from lifagu.inference.relational.problem import Shattered, shattered, start
from lifagu.inference.relational.questions import GivenEvidence, known_kinds
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_VALUES = 2**26  # ground variables that are given values


@dataclass(frozen=True, eq=False, repr=False)
class RelationalBest(Frozen, Shown):
    """A most probable assignment of all ground variables of a relational model.

    Attributes
    ----------
    whole : Shattered
        The model over cells.
    log_weight : float
        Natural log of the product of all potentials at the assignment.
    values : GroundValues or CellValues
        Canonical values, by kind and individuals.
    plan : str
        What was computed, in words.

    Examples
    --------
    >>> from lifagu import ParfactorGraph
    >>> builder = ParfactorGraph.build().domain("Person", 2).relation("Sick", "Person")
    >>> model = builder.relation("Epidemic").parfactor("p", ["Sick(X)", "Epidemic"], [4, 1, 1, 2])
    >>> best = prepare_relational_best(model.model(), {"Sick(1)": "true"}).run()
    >>> best.assignment
    {'Sick(1)': 'true', 'Sick(2)': 'false', 'Epidemic': 'false'}
    """

    whole: Shattered
    log_weight: float
    values: GroundValues | CellValues
    plan: str

    def __repr__(self) -> str:
        return f"<RelationalBest: log weight {self.log_weight:.6g}>"

    @cached_property
    def assignment(self) -> dict[str, str]:
        """Label of each ground variable, by name."""
        return dict(self._assigned())

    def _assigned(self) -> Iterator[tuple[str, str]]:
        kinds = self.whole.kinds
        numbers = [number for number, kind in enumerate(kinds.kinds) if not kind.counted]
        for name, number, place in ground_names(kinds, numbers):
            value = int(self.whole.observed[number])
            if value < 0:
                value = int(self.values.values[number][place])
            yield name, kinds.labels(number)[value]


@dataclass(frozen=True, eq=False, repr=False)
class PreparedRelationalBest(Shown):
    """The search for a best assignment, planned and ready to run; `str` shows the plan."""

    whole: Shattered
    search: Search

    def __str__(self) -> str:
        return str(self.search)

    def run(self, progress: Tell | None = None) -> RelationalBest:
        """Find it; progress(done, total) is called now and then."""
        log_weight, found = self.search.run(self.whole.kinds.observation, progress)
        return RelationalBest(self.whole, log_weight, found, str(self))


def prepare_relational_best(
    model: ParfactorGraph, evidence: GivenEvidence, memory_limit: int | None = None
) -> PreparedRelationalBest:
    """Plan the search for a most probable assignment; what does not fit is refused."""
    limit = memory_limit_of(memory_limit)
    whole = shattered(model, evidence or {}, ())
    individuals = whole.kinds.individuals
    ground = sum(
        math.prod(individuals.sizes[cell] for cell in cells)
        for cells in individuals.cells_of.values()
    )
    if ground > MOST_VALUES:
        raise TooLargeError(
            f"the best assignment lists {float(ground):.3g} ground variables, "
            f"and {MOST_VALUES:.3g} is the limit; make the domains smaller, or ask for marginals"
        )
    included = known_kinds(whole, [], "the best assignment")
    reduced = reduce_cells(start(whole, included, (), maximise=True))
    return PreparedRelationalBest(whole, plan_search(reduced, limit))
