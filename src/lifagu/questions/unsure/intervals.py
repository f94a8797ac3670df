"""Bounds where tables themselves can be drawn: quantiles of the answers over drawn models.

A transfer with `drawn(rng)` knows how sure it is of the tables; then the smallest and largest
answer over all that is possible say little, and an interval says what is likely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats, distinct, offsets_of
from lifagu.basics.cached import cached_property
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import NoAnswerError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Prepared, Result
from lifagu.questions.unsure.choice_weights import impossible
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.copies import answers_in_a_row
from lifagu.questions.unsure.draws import INTERVAL, MODELS, SEED
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses
from lifagu.questions.unsure.rests_on import NOTHING, LentTables

if TYPE_CHECKING:
    from lifagu.inference.over_islands import OverIslands


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Shown):
    """Questions planned over models that are drawn; the answer is their mean."""

    whole: PartsAndClasses
    questions: tuple[tuple[str, ...], ...]
    asked: tuple[Piece, ...]
    settings: dict[str, Any]
    draws: int = MODELS
    seed: int = SEED
    with_support: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    @cached_property
    def _first(self) -> Prepared | OverIslands:
        return prepare(self.whole.graph, self.questions, self.whole.evidence, **self.settings)

    def __str__(self) -> str:
        return f"{counted(self.draws, 'drawn model')}, each:\n{self._first}"

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        found: list[Floats] = []
        for done, graph in enumerate(self._models()):
            try:
                row = answers_in_a_row(graph, self.whole.evidence, self.asked, self.settings)[1]
                found.append(row)
            except NoAnswerError:  # under these tables the evidence is impossible
                if len(graph.unknown):
                    raise
            if progress:
                progress(done + 1, self.draws)
        if not found:
            raise impossible()
        rows = np.stack(found)
        sizes = self.whole.graph.sizes
        lengths = [int(sizes[list(each)].prod()) for each in self.asked]
        offsets = offsets_of(np.array(lengths, dtype=np.int64)).tolist()
        lent = LentTables(self.whole)
        answers = [
            self._answer(place, rows[:, start:stop], lent)
            for place, (start, stop) in enumerate(pairwise(offsets))
        ]
        notes = tuple(dict.fromkeys(note for each in answers for note in each.notes))
        return Result(answers, None, notes, *self.whole.moved.counts)

    def _models(self) -> Iterator[FactorGraph]:
        rng = np.random.default_rng(self.seed)
        moved: Any = self.whole.moved
        for _ in range(self.draws):
            yield moved.drawn(rng)

    def _answer(self, place: int, rows: Floats, lent: LentTables) -> Answer:
        graph, question = self.whole.graph, self.asked[place]
        shape = (-1, *graph.sizes[list(question)].tolist())
        labels = np.ix_(*[graph.declared_order(each) for each in question])
        tables = np.stack([each[labels] for each in rows.reshape(shape)])
        parts = self.whole.part_of[list(question)]
        support = NOTHING
        if self.with_support:
            support = lent.of(tuple(distinct(parts[parts >= 0]).tolist()))
        lower, upper = np.quantile(tables, INTERVAL, axis=0)
        mean = tables.mean(axis=0)
        lower, upper = np.minimum(lower, mean), np.maximum(upper, mean)
        with np.errstate(divide="ignore"):
            logs = np.log(mean / mean.sum())
        low, high = (f"{100 * each:.0f} %" for each in INTERVAL)
        note = (
            f"the mean of {counted(len(tables), 'drawn model')}; "
            f"bounds are the {low} and {high} quantiles of their answers"
        )
        return Answer(
            self.questions[place],
            tuple(graph.labels(each) for each in question),
            logs,
            None,
            self._first.name,
            str(self),
            (note,),
            *support,
            lower,
            upper,
            error=tables.std(axis=0, ddof=1) / np.sqrt(len(tables)) if len(tables) > 1 else None,
        )
