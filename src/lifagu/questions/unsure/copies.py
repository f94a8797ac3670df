"""Connected parts under many choices of tables: each choice a copy, many small copies in one graph.

A large part is completed and computed for one choice after the other, by the engine that was asked
for; of small parts, thousands of copies are computed at once, and those that are equal once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct, offsets_of
from lifagu.basics.names import ChosenNames
from lifagu.errors import NoAnswerError, Remedy, TooLargeError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import taken
from lifagu.inference.many_parts import solve_models
from lifagu.inference.marginals import prepare_marginals
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.plan import TooDearError
from lifagu.inference.planning import prepare
from lifagu.questions.unsure.alternatives import Alternatives, slots_of
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses

SMALL = 2**9  # factors of a part up to which copies of it are put together
TOGETHER = 2**14  # factors of all copies that are put together
DEAR = 2**20  # entries of one copy's plan from which on it is computed for itself
FEW = 64  # questions up to which each is asked for itself
MANY_NUMBERS = 2**25  # beyond which answers to be drawn from are kept with fewer digits

Piece = tuple[int, ...]


class Request(NamedTuple):
    """A part, one row of choices for each copy (by its classes), and what each copy is asked."""

    part: int
    rows: Ints
    pieces: tuple[Piece, ...]


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

    def answered(self, requests: Sequence[Request]) -> Iterator[tuple[int, CopyAnswers]]:
        """The place of each request and what came of it, in any order."""
        waiting: list[int] = []
        held = 0
        for place, request in enumerate(requests):
            if not self._is_small(request.part):
                yield place, self._one_by_one(request)
                continue
            waiting.append(place)
            held += self._price(request)
            if held >= TOGETHER:
                yield from self._together(requests, waiting)
                waiting, held = [], 0
        yield from self._together(requests, waiting)

    def _is_small(self, part: int) -> bool:
        quick = self.settings.get("engine", "auto") in ("auto", "ground")
        return quick and int(self.whole.factor_counts[part]) <= SMALL

    def _price(self, request: Request) -> int:
        return len(request.rows) * (1 + int(self.whole.factor_counts[request.part]))

    def size_of(self, pieces: Sequence[Piece]) -> Ints:
        """Where the answer to each piece begins in a row of answers, and where the last ends."""
        sizes = self.whole.graph.sizes
        return offsets_of(np.array([int(sizes[list(each)].prod()) for each in pieces], dtype=int))

    def merged(self, part: int) -> list[Ints]:
        """For each class of a part, and each of its alternatives, the first that is the same."""
        classes = self.whole.classes_in(part)
        if not self._is_small(part):
            return [np.arange(self.whole.sizes[each]) for each in classes]
        factors, _ = self.whole.factors_in(np.array([part]))
        own = self.whole.class_of[factors]
        return [self._alternatives.merged(factors[own == each]) for each in classes.tolist()]

    # ---- many small ones

    @cached_property
    def _alternatives(self) -> Alternatives:
        small = self.parts[self.whole.factor_counts[self.parts] <= SMALL]
        factors, _ = self.whole.factors_in(small)
        return Alternatives.of(self.whole, factors[self.whole.class_of[factors] >= 0])

    def _together(
        self, requests: Sequence[Request], places: Sequence[int]
    ) -> Iterator[tuple[int, CopyAnswers]]:
        """Small parts at once; if that is dear for one of them, each copy for itself."""
        if not places:
            return
        try:
            found = self._solved([requests[place] for place in places])
        except (TooDearError, TooLargeError):
            found = [self._one_by_one(requests[place]) for place in places]
        yield from zip(places, found, strict=True)

    def _solved(self, requests: Sequence[Request]) -> list[CopyAnswers]:
        graph, variable, model_of = self._put_together(requests)
        evidence = _repeated(self.whole.evidence, variable, len(self.whole.graph.variable_names))
        firsts = offsets_of(np.array([len(each.rows) for each in requests]))
        key = model_of * len(self.whole.graph.variable_names) + variable
        asked = [
            tuple(np.searchsorted(key, copy * len(self.whole.graph.variable_names) + piece))
            for request, first in zip(requests, firsts.tolist(), strict=False)
            for copy in range(first, first + len(request.rows))
            for piece in map(np.array, request.pieces)
        ]
        asked = [tuple(map(int, each)) for each in asked]
        limit = memory_limit_of(self.settings.get("memory_limit"))
        logs, tables = solve_models(graph, evidence, asked, model_of, limit=limit, most=DEAR)
        apart = np.zeros_like(logs)
        if any(self.whole.observed[each.part] and self._weighs(each) for each in requests):
            apart, _ = solve_models(graph, Evidence(), (), model_of, limit=limit, most=DEAR)
        found, at = [], 0
        for request, first in zip(requests, firsts.tolist(), strict=False):
            stop = first + len(request.rows)
            own = tables[at : at + (stop - first) * len(request.pieces)]
            at += len(own)
            weights = self._log_weights(request, logs[first:stop], apart[first:stop])
            flat = [each.reshape(-1) for each in own]
            answers = np.exp(np.concatenate(flat)) if flat else np.zeros(0)
            found.append(CopyAnswers(weights, answers.reshape(stop - first, -1)))
        return found

    def _put_together(self, requests: Sequence[Request]) -> tuple[FactorGraph, Ints, Ints]:
        """The graph of all copies, for each variable which one it is, and of which copy."""
        whole, graph, lent = self.whole, self.whole.graph, self._alternatives
        parts = np.repeat([each.part for each in requests], [len(each.rows) for each in requests])
        factors, counts = whole.factors_in(parts)
        copy = np.repeat(np.arange(len(parts)), counts)
        free, free_counts = whole.variables_in(parts)
        numbers = graph.factor_table[factors]
        slots, lengths = slots_of(graph.offsets, factors)
        offsets = offsets_of(lengths)
        is_open = np.flatnonzero(whole.class_of[factors] >= 0)
        if len(is_open):
            widths = np.repeat(
                [each.rows.shape[1] for each in requests], [len(each.rows) for each in requests]
            )
            chosen = np.concatenate([each.rows.reshape(-1) for each in requests])
            at = offsets_of(widths)[copy[is_open]] + whole.class_places[factors[is_open]]
            entries = lent.first[lent.place[factors[is_open]]] + chosen[at]
            numbers[is_open] = lent.number[entries]
            into, wide = slots_of(offsets, is_open)
            order, _ = slots_of(lent.order_first, entries)
            slots[into] = np.repeat(graph.offsets[factors[is_open]], wide) + lent.orders[order]
        many = len(graph.variable_names)
        arguments = np.repeat(copy, lengths) * many + graph.arguments[slots]
        own = np.repeat(np.arange(len(parts)), free_counts) * many + free
        keys = distinct(np.concatenate((arguments, own)))
        variable = keys % many
        joined = replace(
            graph,
            variable_names=ChosenNames(graph.variable_names, variable),
            variable_declared=graph.variable_declared[variable],
            variable_kind=graph.variable_kind[variable],
            individual_offsets=np.zeros(len(keys) + 1, dtype=np.int64),
            individual_ids=np.zeros(0, dtype=np.int64),
            factor_names=ChosenNames(graph.factor_names, factors),
            tables=lent.tables,
            factor_table=numbers,
            offsets=offsets,
            arguments=np.searchsorted(keys, arguments),
        )
        return joined, variable, keys // many

    def _weighs(self, request: Request) -> bool:
        return bool(self.whole.witness[request.part])

    def _log_weights(self, request: Request, logs: Floats, apart: Floats) -> Floats:
        """How probable each copy makes what was observed in it; or whether it is possible."""
        if not self._weighs(request):
            return np.zeros(len(logs))
        with np.errstate(invalid="ignore"):
            likely = logs - apart if self.whole.observed[request.part] else np.zeros(len(logs))
        return np.where(np.isfinite(logs), likely, -np.inf)

    # ---- few large ones

    def _one_by_one(self, request: Request) -> CopyAnswers:
        found = [self._alone(request, row) for row in request.rows]
        many = len(found) * len(found[0][1]) > MANY_NUMBERS
        answers = np.stack([each.astype(np.float32) if many else each for _, each in found])
        return CopyAnswers(np.array([weight for weight, _ in found]), answers)

    def _alone(self, request: Request, row: Ints) -> tuple[float, Floats]:
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
        """Log Z and the probabilities of all pieces in a row."""
        if len(pieces) > FEW and all(len(each) == 1 for each in pieces):
            return self._all_marginals(graph, evidence, number, pieces)
        names = graph.variable_names
        questions = [[names[int(number[each])] for each in piece] for piece in pieces]
        result = prepare(graph, questions, evidence, **self.settings).run()
        found = []
        for answer, piece in zip(result.answers, pieces, strict=True):
            orders = [np.argsort(self.whole.graph.declared_order(each)) for each in piece]
            found.append(answer.probabilities[np.ix_(*orders)].reshape(-1))
        return result.log_partition, np.concatenate((*found, np.zeros(0)))

    def _all_marginals(
        self, graph: FactorGraph, evidence: Evidence, number: Ints, pieces: Sequence[Piece]
    ) -> tuple[float | None, Floats]:
        found = prepare_marginals(graph, evidence, **self.settings).run()
        if found.too_large:
            raise found.refusal(found.too_large[0].variables[0])
        offsets = self.size_of(pieces)
        variables = number[np.array(pieces)[:, 0]]
        seen = evidence.value_of_each(len(graph.variable_names))[variables]
        answers = np.zeros(int(offsets[-1]))
        answers[offsets[:-1][seen >= 0] + seen[seen >= 0]] = 1.0
        hidden = np.flatnonzero(seen < 0)
        sizes = np.diff(offsets)[hidden]
        into, _ = slots_of(offsets, hidden)
        marginals = found.solution.marginals
        answers[into] = np.exp(marginals.in_a_row(variables[hidden], offsets_of(sizes)))
        return found.log_partition, answers


def _repeated(evidence: Evidence, variable: Ints, count: int) -> Evidence:
    """The evidence of copies; variable: which one each is a copy of, of so many."""
    values = evidence.value_of_each(count)[variable]
    soft = np.full(count, -1, dtype=np.int64)
    soft[evidence.soft_variables] = np.arange(len(evidence.soft_variables))
    hard, softly = np.flatnonzero(values >= 0), np.flatnonzero(soft[variable] >= 0)
    likelihoods = [evidence.likelihoods[each] for each in soft[variable[softly]].tolist()]
    return Evidence(hard, values[hard], softly, tuple(likelihoods))
