"""Questions over competing tables, planned and answered: `consider`, and what it gives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.errors import NoAnswerError, Remedy, TooLargeError, listed
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.parts import taken
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Prepared, Result
from lifagu.questions.unsure.choice_weights import impossible
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.computed_parts import ComputedParts
from lifagu.questions.unsure.copies import Copies
from lifagu.questions.unsure.draws import SEED, usual_draws
from lifagu.questions.unsure.mixing import Combined, bounded, jointly, mixed, split
from lifagu.questions.unsure.parts_and_classes import Flags, PartsAndClasses
from lifagu.questions.unsure.units import Unit, units_of
from lifagu.questions.unsure.words import note_on, plan_of


def consider(
    moved: Transfer,
    questions: Sequence[Sequence[str]],
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
) -> Considered:
    """Plan answers over all combinations of the tables that matter, or over draws of them."""
    whole = PartsAndClasses.of(moved, evidence, cut=unknown == "bounds")
    names = moved.original.variable_names
    asked = [tuple(names.number(name) for name in each) for each in questions]
    draws = usual_draws(len(moved.original.factor_names))
    units = units_of(whole, asked, draws)
    considered = Considered(
        whole, unknown, tuple(map(tuple, questions)), tuple(asked), tuple(units), draws, settings
    )
    # plans the winning tables, and so refuses what is wrong with the questions
    str(considered)
    for unit in units:
        _check_complete(whole, unit)
    return considered


def _check_complete(whole: PartsAndClasses, unit: Unit) -> None:
    """Refuse a mixture that weighs tables by what is not known to the end."""
    parts = np.array([each for each in unit.witnesses if whole.left[each]], dtype=np.int64)
    if len(parts):
        left = whole.graph.unknown[np.isin(whole.factor_part[whole.graph.unknown], parts)]
        names = listed([whole.graph.factor_names[factor] for factor in left.tolist()])
        raise NoAnswerError(
            "a mixture weighs tables by how well they explain the evidence, and that is undefined "
            f"while {names} stay "
            "unknown",
            remedy=Remedy.LOWER_THETA,
        )


@dataclass(frozen=True, eq=False)
class Considered(Shown):
    """Questions planned over competing tables; `str` shows the plan, `run` computes.

    asked: the questions by number; draws: how many combinations are drawn where not all are
    computed.
    """

    whole: PartsAndClasses
    unknown: str
    questions: tuple[tuple[str, ...], ...]
    asked: tuple[Piece, ...]
    units: tuple[Unit, ...]
    draws: int
    settings: dict[str, Any]
    seed: int = SEED

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    @cached_property
    def _winning(self) -> Prepared:
        """The plan of the questions with the winning tables, in their own parts."""
        parts = np.array([each for unit in self.units for each in unit.parts], dtype=np.int64)
        asked = np.array([each for question in self.asked for each in question], dtype=np.int64)
        inside = np.isin(self.whole.factor_part, parts)
        free = np.flatnonzero(np.isin(self.whole.part_of, parts))
        return self._prepared(inside, np.concatenate((free, asked)), self.questions)

    def _prepared(
        self, inside: Flags, variables: Ints, questions: Sequence[Sequence[str]] = ()
    ) -> Prepared:
        """Questions to the factors inside, with the winning tables, and these variables."""
        graph = self.whole.graph
        met = graph.arguments[np.repeat(inside, np.diff(graph.offsets))]
        both = distinct(np.concatenate((variables, met)))
        own, number = taken(graph, both, np.flatnonzero(inside))
        return prepare(own, questions, self.whole.evidence.renumbered(number), **self.settings)

    @cached_property
    def _plan(self) -> str:
        return plan_of(self.unknown, self.units, self.draws, str(self._winning))

    def __str__(self) -> str:
        return self._plan

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        self._check_possible()
        computed = self._computed(self._needed, self._pieces)
        computed.compute(self.units, progress)
        answers: dict[int, Answer] = {}
        for unit in self.units:
            for place, found in self._combined(computed, unit):
                answers[place] = self._answer(place, unit, found)
        ordered = [answers[place] for place in range(len(self.questions))]
        notes = tuple(dict.fromkeys(note for each in ordered for note in each.notes))
        return Result(ordered, None, notes, *self.whole.moved.counts)

    def _computed(self, parts: Ints, pieces: dict[int, tuple[Piece, ...]]) -> ComputedParts:
        copies = Copies(self.whole, parts, self.settings)

        first = self.unknown == "bounds"
        return ComputedParts(copies, pieces, self.draws, self.seed, winning_first=first)

    @cached_property
    def _needed(self) -> Ints:
        return distinct(
            np.array([part for unit in self.units for part in unit.needed], dtype=np.int64)
        )

    @cached_property
    def _pieces(self) -> dict[int, tuple[Piece, ...]]:
        """What each part is asked, each once."""
        pieces: dict[int, dict[Piece, None]] = {}
        for unit in self.units:
            for place in unit.places:
                for part, piece in self._pieces_of(self.asked[place]).items():
                    pieces.setdefault(part, {})[piece] = None
        return {part: tuple(each) for part, each in pieces.items()}

    def _pieces_of(self, question: Piece) -> dict[int, Piece]:
        pieces: dict[int, Piece] = {}
        for variable in question:
            if (part := int(self.whole.part_of[variable])) >= 0:
                pieces[part] = (*pieces.get(part, ()), variable)
        return pieces

    # ---- what is impossible whatever is asked

    def _check_possible(self) -> None:
        """Evidence that is impossible elsewhere has no answer, whatever is asked here.

        With bounds also evidence that is impossible here with the winning tables.
        """
        whole, graph = self.whole, self.whole.graph
        zeros = [
            graph.tables.values,
            whole.moved.original.tables.values,
            *whole.evidence.likelihoods,
        ]
        if all(each.all() for each in zeros):
            return
        elsewhere = ~whole.left
        if self.unknown != "bounds":
            elsewhere[self._needed] = ~whole.touched[self._needed]
        try:
            self._check_winning(elsewhere)
        except NoAnswerError:
            others = np.flatnonzero(elsewhere & whole.witness)
            if self.unknown == "bounds" or not len(others):
                raise
            self._check_winning(elsewhere & ~whole.touched)
            self._check_others(others)

    def _check_winning(self, wanted: Flags) -> None:
        """Refuse evidence that is impossible in the wanted parts with the winning tables."""
        inside = np.append(wanted, True)[self.whole.factor_part]  # with what is observed throughout
        inside &= self.whole.graph.factor_table >= 0
        try:
            self._prepared(inside, np.zeros(0, dtype=np.int64)).run()
        except TooLargeError:  # then nobody can tell, here as elsewhere
            return

    def _check_others(self, parts: Ints) -> None:
        """Refuse evidence that is impossible in other parts with all their tables."""
        witnesses = self.whole.witnesses_of(self.whole.classes_of(parts))
        exact = bool(self.whole.combinations[witnesses].max() <= self.draws)
        unit = Unit((), (), tuple(witnesses.tolist()), (), exact, 0.0)
        computed = self._computed(witnesses, {})
        computed.compute([unit], None)
        if exact:
            computed.shares_of(unit)
        elif not np.isfinite(computed.log_weights_of(unit)).any():
            raise impossible()

    # ---- putting answers together

    def _combined(self, computed: ComputedParts, unit: Unit) -> Iterator[tuple[int, Combined]]:
        """Each question of a unit (by place) and what came of it."""
        put = bounded if self.unknown == "bounds" else mixed
        if not unit.parts:
            sure = np.ones(1)
            ends = (sure, sure) if self.unknown == "bounds" else (None, None)
            yield from ((place, Combined(sure, None, *ends)) for place in unit.places)
            return
        if len(unit.parts) == 1:
            (part,), (rows,) = unit.parts, computed.rows_of(unit)
            pieces = self._pieces[part]
            flat = put(computed, unit, computed.answers_of(unit, part), rows)
            found = dict(zip(pieces, split(flat, computed.copies.size_of(pieces)), strict=True))
            for place in unit.places:
                yield place, found[self._pieces_of(self.asked[place])[part]]
            return
        for place in unit.places:
            own = self._pieces_of(self.asked[place])
            answers, rows = jointly(computed, unit, [own[part] for part in unit.parts])
            yield place, put(computed, unit, answers, rows)

    def _answer(self, place: int, unit: Unit, found: Combined) -> Answer:
        """What was found, as an answer: axes and labels as asked, and what it rests on."""
        shaped = [self._shaped(place, unit, each) for each in found[:4]]
        answer, error, lower, upper = shaped
        if answer is None:
            raise NoAnswerError("nothing was found")
        total = answer.sum()
        with np.errstate(divide="ignore"):
            logs = np.log(answer) - math.log(total)
        subject = self.whole.graph
        rests_on, weakest = self._support(unit, self.asked[place])
        note = note_on(self.unknown, unit, self.draws, found)
        return Answer(
            self.questions[place],
            tuple(subject.labels(each) for each in self.asked[place]),
            logs,
            None,
            self._winning.name,
            str(self),
            (note,) if note else (),
            rests_on,
            weakest,
            _beyond(lower, np.exp(logs), np.minimum),
            _beyond(upper, np.exp(logs), np.maximum),
            error=error,
        )

    def _shaped(self, place: int, unit: Unit, flat: Floats | None) -> Floats | None:
        """Numbers as an array with an axis per variable of the question, labels as declared."""
        if flat is None:
            return None
        question, graph = self.asked[place], self.whole.graph
        pieces = self._pieces_of(question)
        order = [each for part in unit.parts for each in pieces[part]]
        table = flat.reshape([int(graph.sizes[each]) for each in order])
        value = self.whole.evidence.value_of_each(len(graph.variable_names))
        for each in question:
            if each not in order:  # observed, and cut away
                certain = np.arange(graph.sizes[each]) == value[each]
                table = table[..., None] * certain
                order.append(each)
        table = table.transpose([order.index(each) for each in question])
        return np.ascontiguousarray(
            table[np.ix_(*[graph.declared_order(each) for each in question])]
        )

    def _support(self, unit: Unit, question: Piece) -> tuple[tuple[str, ...], float | None]:
        """The transferred factors that an answer rests on, and the smallest share of them."""
        parts = unit.parts if self.unknown == "bounds" else unit.needed
        if np.isin(question, self.whole.evidence.variables).all():
            parts = ()
        return self._supports.of(parts)

    @cached_property
    def _supports(self) -> Supports:
        return Supports(self.whole, {})


@dataclass(frozen=True, eq=False)
class Supports:
    """The transferred factors of parts, found once for each set of these."""

    whole: PartsAndClasses
    known: dict[tuple[int, ...], tuple[tuple[str, ...], float | None]]

    def of(self, parts: tuple[int, ...]) -> tuple[tuple[str, ...], float | None]:
        """Their names, and the smallest share."""
        if parts not in self.known:
            moved, graph = self.whole.moved, self.whole.moved.original
            found = [self._by_part.get(part, _NONE) for part in parts]
            factors = np.sort(np.concatenate((_NONE, *found)))
            shares = moved.shares[np.searchsorted(graph.unknown, factors)]
            names = tuple(graph.factor_names.of_nodes(factors))
            self.known[parts] = names, float(shares.min()) if len(shares) else None
        return self.known[parts]

    @cached_property
    def _by_part(self) -> dict[int, Ints]:
        moved = self.whole.moved
        parts = self.whole.factor_part[moved.transferred]
        order = np.argsort(parts, kind="stable")
        cuts = np.flatnonzero(np.diff(parts[order])) + 1
        groups = np.split(moved.transferred[order], cuts) if len(order) else []
        return {int(self.whole.factor_part[each[0]]): each for each in groups}


_NONE = np.zeros(0, dtype=np.int64)


def _beyond(limits: Floats | None, answer: Floats, farther: Any) -> Floats | None:
    """Limits between which the answer lies, whatever was rounded."""
    return None if limits is None else farther(limits, answer)
