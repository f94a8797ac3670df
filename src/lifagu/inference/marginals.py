"""All single marginals at once, kept by class: variables that share one cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_rows
from lifagu.basics.cached import cached_property
from lifagu.basics.columns import Columns, name_column
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Framed, Shown
from lifagu.basics.inputs import LabelShares, LookedUp
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import LifaguError, NoAnswerError, TooLargeError
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.planning import plan_marginals
from lifagu.inference.prepared import Prepared, Ran, Solution
from lifagu.inference.question_checks import TooLarge, told_too_large
from lifagu.relational.key_columns import variable_keys
from lifagu.relational.marginal_tables import MarginalTables

if TYPE_CHECKING:
    from lifagu.inference.over_islands import OverIslands


def prepare_marginals(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    *,
    engine: str = "auto",
    memory_limit: int | None = None,
) -> PreparedMarginals:
    """Plan the marginals of all variables in connected parts without unknown factors that fit.

    What does not fit is left out, and refused only where there is nothing else.
    """
    limit = memory_limit_of(memory_limit)
    prepared, too_large = plan_marginals(graph, evidence, engine=engine, limit=limit)
    return PreparedMarginals(graph, prepared, too_large)


@dataclass(frozen=True, eq=False, repr=False)
class Computed(Frozen, Shown, LookedUp[str, dict[str, float]]):
    """Marginals by name, and how they were computed; too_large: parts that were left out."""

    prepared: Prepared | OverIslands | Ran
    solution: Solution
    too_large: tuple[TooLarge, ...]

    def __getstate__(self) -> dict[str, Any]:
        ran = Ran(self.engine, self.plan, self.prepared.evidence)
        return super().__getstate__() | {"prepared": ran}

    @property
    def log_partition(self) -> float | None:
        """Natural log of the total weight with the evidence; None if something is left out."""
        return self.solution.log_partition

    @property
    def engine(self) -> str:
        """The engine that computed them."""
        return self.prepared.name

    @property
    def plan(self) -> str:
        """What was computed."""
        return str(self.prepared)

    def refusal(self, name: str, variable: str | None = None) -> LifaguError:
        """Why there is no marginal; variable: the name among those left out, if it is another."""
        for part in self.too_large:
            if (variable or name) in part.variables:
                return TooLargeError(f"P({name}) {part.estimate}", remedy=part.remedy)
        return NoAnswerError(
            f"P({name}) has no answer: unknown factors are in the same connected part"
        )


@dataclass(frozen=True, eq=False, repr=False)
class PreparedMarginals(Shown):
    """All marginals planned and ready to run; `str` shows the plan and its cost."""

    graph: FactorGraph
    prepared: Prepared | OverIslands
    too_large: tuple[TooLarge, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([str(self.prepared), *told_too_large(self.too_large), *self.notes])

    def run(self, progress: Tell | None = None) -> AllMarginals:
        """Compute them; progress(done, total) is called now and then."""
        return AllMarginals(
            self.prepared, self.prepared.solve(progress), self.too_large, self.graph
        )


@dataclass(frozen=True, eq=False, repr=False)
class AllMarginals(Framed, Computed):
    """P(variable | evidence) of every variable, by name: label → probability, as declared.

    Variables connected to unknown factors are left out, and those in connected parts that do not
    fit. log_partition is then None.

    Attributes
    ----------
    prepared : Prepared, OverIslands or Ran
        How they were computed.
    solution : Solution
        What was computed.
    too_large : tuple[TooLarge, ...]
        The connected parts that do not fit, with the estimate.
    graph : FactorGraph
        What they are about.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> found = lifagu.marginals(graph, evidence={"B": "true"})
    >>> found
    <AllMarginals: 2 variables, 2 distinct>
    >>> found["B"], round(found["A"]["true"], 6)
    ({'false': 0.0, 'true': 1.0}, 0.666667)
    """

    graph: FactorGraph

    @cached_property
    def variables(self) -> Ints:
        """The variables with a marginal, ascending."""
        graph = self.graph
        known = self.solution.marginals.of_variable[: len(graph.variable_names)] >= 0
        known[self.prepared.evidence.variables] = True
        return np.flatnonzero(known)

    @property
    def left_out(self) -> list[str]:
        """Variables connected to unknown factors, or in parts that are too large."""
        graph = self.graph
        left = np.setdiff1d(np.arange(len(graph.variable_names)), self.variables)
        return [graph.variable_names[variable] for variable in left.tolist()]

    @cached_property
    def classes(self) -> tuple[Ints, list[dict[str, float]]]:
        """For each of `variables` the number of its marginal, and these marginals.

        They are few where many variables share one.
        """
        graph = self.graph
        kinds = np.column_stack(
            (self._numbers[self.variables], graph.variable_declared[self.variables])
        )
        of_variable = group_rows(kinds)
        first = np.full(int(of_variable.max(initial=-1)) + 1, 0)
        first[of_variable[::-1]] = np.arange(len(of_variable))[::-1]
        return of_variable, [
            self._distribution(int(self.variables[place]), int(kinds[place, 0])) for place in first
        ]

    def tables(self) -> dict[str, Columns]:
        """By column: `marginals`, a row per label, and ``wide_…`` for each relation.

        Returns
        -------
        dict
            Name → columns; variables that share a marginal cost no object each.
        """
        names = name_column(self.graph.variable_names, self.variables)
        keys = variable_keys(self.graph, self.variables)
        return MarginalTables(names, keys, *self.classes).tables()

    @cached_property
    def _numbers(self) -> Ints:
        """The number of each variable's marginal; what was observed comes after all others."""
        evidence = self.prepared.evidence
        number = self.solution.marginals.of_variable[: len(self.graph.variable_names)].copy()
        number[evidence.variables] = len(self.solution.marginals) + evidence.values
        return number

    def _distribution(self, variable: int, number: int) -> dict[str, float]:
        graph, marginals = self.graph, self.solution.marginals
        size = int(graph.sizes[variable])
        if number < len(marginals):
            probabilities: Floats = np.exp(np.asarray(marginals.table(number), dtype=np.float64))
        else:
            probabilities = (np.arange(size) == number - len(marginals)).astype(np.float64)
        return LabelShares(
            zip(
                graph.labels(variable),
                probabilities[graph.declared_order(variable)].tolist(),
                strict=True,
            )
        )

    @cached_property
    def _place(self) -> Ints:
        """The place of each variable among those with a marginal, -1 for the others."""
        place = np.full(len(self.graph.variable_names), -1, dtype=np.int64)
        place[self.variables] = np.arange(len(self.variables))
        return place

    def __getitem__(self, name: str) -> dict[str, float]:
        variable = self.graph.variable_names.number(name)
        if self._place[variable] < 0:
            raise self.refusal(name)
        return self._distribution(variable, int(self._numbers[variable]))

    def __contains__(self, name: object) -> bool:
        number = self.graph.variable_names.find(name) if isinstance(name, str) else None
        return number is not None and bool(self._place[number] >= 0)

    def __iter__(self) -> Iterator[str]:
        return map(self.graph.variable_names.__getitem__, self.variables.tolist())

    def __len__(self) -> int:
        return len(self.variables)

    def __repr__(self) -> str:
        return f"<AllMarginals: {counted(len(self), 'variable')}, {len(self.classes[1])} distinct>"
