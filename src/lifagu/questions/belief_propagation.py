"""Questions for belief propagation on colour groups, and all marginals as it estimates them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lifagu.basics.columns import Columns, name_column
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Framed, Shown
from lifagu.basics.inputs import LabelShares, LookedUp
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import NoAnswerError, Remedy, listed
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference import propagation as propagation
from lifagu.inference.answer import Convergence
from lifagu.inference.prepared import Planned, Result
from lifagu.inference.question_checks import TooLarge
from lifagu.relational.key_columns import variable_keys
from lifagu.relational.marginal_tables import MarginalTables
from lifagu.symmetry.colour import colour


@dataclass(frozen=True, eq=False, repr=False)
class Propagated(Shown):
    """Questions for belief propagation on colour groups: not exact, as the notes say.

    counts: how many factors came without a table, and how many of them got one.
    """

    graph: FactorGraph
    questions: Sequence[Sequence[str]]
    evidence: EvidenceLike
    settings: dict[str, Any]
    counts: tuple[int, int] = (0, 0)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ("belief propagation is not exact on graphs with loops",)

    def __str__(self) -> str:
        return f"bp engine: belief propagation on {colour(self.graph, self.evidence)}"

    def run(self, progress: Tell | None = None) -> Result:
        """Pass messages until they stand still."""
        if len(self.graph.unknown):
            names = listed(
                [self.graph.factor_names[factor] for factor in self.graph.unknown.tolist()]
            )
            what = f"belief propagation needs every table, but {names} stay unknown"
            raise NoAnswerError(what, remedy=Remedy.EXACT_ENGINE)
        if not self.questions:
            raise NoAnswerError(
                "belief propagation only estimates log Z", remedy=Remedy.EXACT_ENGINE
            )
        groups = colour(self.graph, self.evidence)
        answers = propagation.answers(
            self.graph, self.questions, self.evidence, groups, progress=progress, **self.settings
        )
        return Result(answers, None, answers[0].notes, *self.counts)


@dataclass(frozen=True, eq=False, repr=False)
class BeliefMarginals(Framed, Frozen, Shown, LookedUp[str, Mapping[str, float]]):
    """All marginals as belief propagation estimates them, by name, and how far it came."""

    graph: FactorGraph
    found: Mapping[str, Mapping[str, float]]
    convergence: Convergence | None
    notes: tuple[str, ...]
    engine: str = "bp"
    log_partition: float | None = None
    left_out: Sequence[str] = ()
    too_large: tuple[TooLarge, ...] = field(default=())

    def tables(self) -> dict[str, Columns]:
        """By column: `marginals`, a row per label, and ``wide_…`` for each relation.

        Returns
        -------
        dict
            Name → columns.
        """
        names, every = self.graph.variable_names, np.arange(len(self.found))
        variables = names.find_each(list(self.found))
        keys = variable_keys(self.graph, variables)
        shown = list(self.found.values())
        return MarginalTables(name_column(names, variables), keys, every, shown).tables()

    def __getitem__(self, name: str) -> Mapping[str, float]:
        self.graph.variable_names.number(name)  # a missing one is an error that says what there is
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.found

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __repr__(self) -> str:
        came = "" if self.convergence is None or self.convergence.converged else ", not converged"
        return f"<BeliefMarginals: {counted(len(self), 'variable')}{came}>"

    def __len__(self) -> int:
        return len(self.found)


@dataclass(frozen=True, eq=False, repr=False)
class PlannedBeliefs(Shown):
    """All marginals of a graph, planned for belief propagation."""

    graph: FactorGraph
    asked: Planned[Result]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.asked.notes

    def __str__(self) -> str:
        return str(self.asked)

    def run(self, progress: Tell | None = None) -> BeliefMarginals:
        """Pass messages until they stand still."""
        result = self.asked.run(progress)
        found = {
            answer.variables[0]: LabelShares((str(label), each) for label, each in answer.items())
            for answer in result.answers
        }
        came = result.answers[0].convergence if result.answers else None
        return BeliefMarginals(self.graph, found, came, result.notes)
