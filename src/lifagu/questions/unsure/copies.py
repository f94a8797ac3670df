"""Connected parts under many choices of tables: how each row of choices weighs and what it answers.

Of parts that are not large all rows are computed at once (`choices_as_values`), several small parts
in one graph; a large part is completed and computed for one row after the other, by the engine that
was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct, offsets_of
from lifagu.basics.cached import cached_property
from lifagu.errors import NoAnswerError, Remedy, TooLargeError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import taken
from lifagu.inference.marginals import prepare_marginals
from lifagu.inference.planning import prepare
from lifagu.questions.unsure.alternatives import Alternatives, slots_of
from lifagu.questions.unsure.choices_as_values import Piece, Placed, RowsWanted, stacked
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses

LARGE = 2**12  # factors of a part from which on its rows are computed one by one
TOGETHER = 2**11  # factors of small parts that are put together
FEW = 64  # questions up to which each is asked for itself


class CopyAnswers(NamedTuple):
    """Of each copy of a part: how it weighs (log), and the answers' probabilities in a row."""

    log_weights: Floats
    answers: Floats


@dataclass(frozen=True, eq=False)
class Copies:
    """Some parts that can be computed for any choices of their classes' alternatives."""

    whole: PartsAndClasses
    parts: Ints
    settings: dict[str, Any]

    def answered(self, requests: Sequence[RowsWanted]) -> Iterator[tuple[int, CopyAnswers]]:
        """The place of each request and what came of it, in any order."""
        waiting: list[int] = []
        held = 0
        for place, request in enumerate(requests):
            if not self._at_once(request.part):
                yield place, self._one_by_one(request)
                continue
            waiting.append(place)
            held += 1 + int(self.whole.factor_counts[request.part])
            if held >= TOGETHER:
                yield from self._together(requests, waiting)
                waiting, held = [], 0
        yield from self._together(requests, waiting)

    def _at_once(self, part: int) -> bool:
        """Whether all rows of a part are computed at once."""
        quick = self.settings.get("engine", "auto") in ("auto", "ground")
        return quick and int(self.whole.factor_counts[part]) <= LARGE

    def size_of(self, pieces: Sequence[Piece]) -> Ints:
        """Where the answer to each piece begins in a row of answers, and where the last ends."""
        sizes = self.whole.graph.sizes
        return offsets_of(np.array([int(sizes[list(each)].prod()) for each in pieces], dtype=int))

    def merged(self, part: int) -> list[Ints]:
        """For each class of a part, and each of its alternatives, the first that is the same."""
        classes = self.whole.classes_in(part)
        if not self._at_once(part):
            return [np.arange(self.whole.sizes[each]) for each in classes]
        factors, _ = self.whole.factors_in(np.array([part]))
        own = self.whole.class_of[factors]
        return [self._alternatives.merged(factors[own == each]) for each in classes.tolist()]

    # ---- all rows at once

    @cached_property
    def _alternatives(self) -> Alternatives:
        small = self.parts[self.whole.factor_counts[self.parts] <= LARGE]
        factors, _ = self.whole.factors_in(small)
        return Alternatives.of(self.whole, factors[self.whole.class_of[factors] >= 0])

    def _together(
        self, requests: Sequence[RowsWanted], places: Sequence[int]
    ) -> Iterator[tuple[int, CopyAnswers]]:
        """Several parts in one graph; if one of them is impossible or dear, each row for itself."""
        if not places:
            return
        try:
            found = self._solved([requests[place] for place in places])
        except (NoAnswerError, TooLargeError):
            found = [self._one_by_one(requests[place]) for place in places]
        yield from zip(places, found, strict=True)

    def _solved(self, requests: Sequence[RowsWanted]) -> list[CopyAnswers]:
        graph, evidence, placed = stacked(self.whole, self._alternatives, requests)
        settings = {**self.settings, "engine": "ground"}
        asked = [each for part in placed for each in ((part.row,), *part.questions)]
        seen = iter(prepare(graph, asked, evidence, **settings).run().answers)
        apart = self._apart(graph, requests, placed, settings)
        found = []
        for part in placed:
            logs = next(seen).log_probabilities
            joint = [next(seen).log_probabilities for _ in part.questions]
            before = apart.get(part.row)
            with np.errstate(invalid="ignore"):  # where a row is impossible before and after
                likely = np.zeros(len(logs)) if before is None else logs - before
            possible = np.isfinite(logs)
            flat = [each.reshape(len(logs), -1) for each in joint]
            answers = np.concatenate((np.zeros((len(logs), 0)), *flat), axis=1)
            answers = np.exp(answers - np.where(possible, logs, 0.0)[:, None])
            found.append(CopyAnswers(np.where(possible, likely, -np.inf), answers))
        return found

    def _apart(
        self,
        graph: FactorGraph,
        requests: Sequence[RowsWanted],
        placed: Sequence[Placed],
        settings: dict[str, Any],
    ) -> dict[str, Floats]:
        """The logs of how rows weigh before anything is observed, where observations count."""
        rows = [
            part.row
            for part, request in zip(placed, requests, strict=True)
            if self._weighs(request) and self.whole.observed[request.part]
        ]
        if not rows:
            return {}
        found = prepare(graph, [(row,) for row in rows], None, **settings).run().answers
        return {row: each.log_probabilities for row, each in zip(rows, found, strict=True)}

    def _weighs(self, request: RowsWanted) -> bool:
        return bool(self.whole.witness[request.part])

    # ---- few large ones

    def _one_by_one(self, request: RowsWanted) -> CopyAnswers:
        weights = np.zeros(len(request.rows))
        answers = np.zeros((len(request.rows), int(self.size_of(request.pieces)[-1])))
        for place, row in enumerate(request.rows):
            weights[place], answers[place] = self._alone(request, row)
        return CopyAnswers(weights, answers)

    def _alone(self, request: RowsWanted, row: Ints) -> tuple[float, Floats]:
        """The weight and the answers of one copy."""
        graph, evidence, number = self._completed(request.part, row)
        nothing = np.zeros(int(self.size_of(request.pieces)[-1]))
        weighs, observed = self._weighs(request), bool(self.whole.observed[request.part])
        if not request.pieces and not weighs:
            return 0.0, nothing
        try:
            log_z, answers = self._asked(graph, evidence, number, request.pieces)
        except NoAnswerError:  # all unknown factors are left out, so its weight is zero
            return -np.inf, nothing
        if not (weighs and observed):
            return 0.0, answers
        total = prepare(graph, [], None, **self.settings).run().log_partition
        if log_z is None or total is None:
            raise TooLargeError(
                "a mixture needs the weight of the evidence, and that does not fit",
                remedy=Remedy.ASK_FOR_LESS,
            )
        return log_z - total, answers

    def _completed(self, part: int, row: Ints) -> tuple[FactorGraph, Evidence, Ints]:
        """A part with these choices, its evidence, and the number of each variable in it."""
        whole = self.whole
        classes = [whole.moved.open_classes[each] for each in whole.classes_in(part).tolist()]
        chosen = zip(classes, row.tolist(), strict=True)
        graph = whole.moved.completed((each, int(each.alternatives[at])) for each, at in chosen)
        factors, _ = whole.factors_in(np.array([part]))
        free, _ = whole.variables_in(np.array([part]))
        met = graph.arguments[slots_of(graph.offsets, factors)[0]]
        own, number = taken(graph, distinct(np.concatenate((free, met))), factors)
        return own, whole.evidence.renumbered(number), number

    def _asked(
        self, graph: FactorGraph, evidence: Evidence, number: Ints, pieces: Sequence[Piece]
    ) -> tuple[float | None, Floats]:
        own = [tuple(number[list(piece)].tolist()) for piece in pieces]
        return answers_in_a_row(graph, evidence, own, self.settings)


def answers_in_a_row(
    graph: FactorGraph, evidence: Evidence, questions: Sequence[Piece], settings: dict[str, Any]
) -> tuple[float | None, Floats]:
    """Log Z, and the probabilities of all questions in a row, by canonical value.

    Many questions about single variables are answered by one pass over all marginals.
    """
    if len(questions) > FEW and all(len(each) == 1 for each in questions):
        return _all_marginals(graph, evidence, np.array(questions)[:, 0], settings)
    names = [[graph.variable_names[each] for each in question] for question in questions]
    result = prepare(graph, names, evidence, **settings).run()
    found = []
    for answer, question in zip(result.answers, questions, strict=True):
        orders = [np.argsort(graph.declared_order(each)) for each in question]
        found.append(answer.probabilities[np.ix_(*orders)].reshape(-1))
    return result.log_partition, np.concatenate((*found, np.zeros(0)))


def _all_marginals(
    graph: FactorGraph, evidence: Evidence, variables: Ints, settings: dict[str, Any]
) -> tuple[float | None, Floats]:
    found = prepare_marginals(graph, evidence, **settings).run()
    if found.too_large:
        raise found.refusal(found.too_large[0].variables[0])
    offsets = offsets_of(graph.sizes[variables])
    seen = evidence.value_of_each(len(graph.variable_names))[variables]
    answers = np.zeros(int(offsets[-1]))
    answers[offsets[:-1][seen >= 0] + seen[seen >= 0]] = 1.0
    hidden = np.flatnonzero(seen < 0)
    into, sizes = slots_of(offsets, hidden)
    marginals = found.solution.marginals
    answers[into] = np.exp(marginals.in_a_row(variables[hidden], offsets_of(sizes)))
    return found.log_partition, answers
