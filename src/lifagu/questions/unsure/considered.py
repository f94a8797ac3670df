"""Questions over competing tables, planned and answered: `consider`, and what it gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, distinct
from lifagu.basics.cached import cached_property
from lifagu.basics.html import Shown
from lifagu.basics.progress import Tell
from lifagu.errors import NoAnswerError, Remedy, TooLargeError, listed
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.parts import taken
from lifagu.inference.answer import Answer
from lifagu.inference.planning import prepare
from lifagu.inference.prepared import Asked, Prepared, Result
from lifagu.questions.unsure.choice_weights import impossible
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.computed_parts import ComputedParts
from lifagu.questions.unsure.copies import Copies
from lifagu.questions.unsure.draws import SEED, usual_draws
from lifagu.questions.unsure.intervals import Intervals
from lifagu.questions.unsure.mixing import Combined, bounded, jointly, mixed, split
from lifagu.questions.unsure.parts_and_classes import Flags, PartsAndClasses
from lifagu.questions.unsure.rests_on import NOTHING, LentTables, Support, in_shape, pieces_of
from lifagu.questions.unsure.units import Unit, needed_by, units_of
from lifagu.questions.unsure.words import note_on, plan_of

if TYPE_CHECKING:
    from lifagu.inference.over_islands import OverIslands


def consider(
    moved: Transfer,
    questions: Sequence[Sequence[str]],
    evidence: Evidence,
    unknown: str,
    settings: dict[str, Any],
) -> Asked:
    """Plan answers over all combinations of the tables that matter, or over draws of them."""
    whole = PartsAndClasses.of(moved, evidence, cut=unknown == "bounds")
    names = moved.original.variable_names
    asked = [tuple(names.number(name) for name in each) for each in questions]
    if unknown == "bounds" and hasattr(moved, "drawn"):
        return Intervals(whole, tuple(map(tuple, questions)), tuple(asked), settings)
    draws = usual_draws(len(moved.original.factor_names))
    units = units_of(whole, asked, draws)
    _check_complete(whole, {unit.classes: unit.witnesses for unit in units}.values())
    considered = Considered(
        whole, unknown, tuple(map(tuple, questions)), tuple(asked), tuple(units), draws, settings
    )
    # plans the winning tables, and so refuses what is wrong with the questions
    str(considered)
    return considered


def _check_complete(whole: PartsAndClasses, witnesses: Iterable[tuple[int, ...]]) -> None:
    """Refuse a mixture that weighs tables by what is not known to the end."""
    parts = [part for some in witnesses for part in some if whole.left[part]]
    if parts:
        left = whole.graph.unknown[np.isin(whole.factor_part[whole.graph.unknown], parts)]
        names = listed([whole.graph.factor_names[factor] for factor in left.tolist()])
        raise NoAnswerError(
            "a mixture weighs tables by how well they explain the evidence, and that is undefined "
            f"while {names} stay "
            "unknown",
            remedy=Remedy.LOWER_THETA,
        )


@dataclass(frozen=True, eq=False, repr=False)
class Considered(Shown):
    """Questions planned over competing tables; `str` shows the plan, `run` computes.

    asked: the questions by number; draws: how many combinations are drawn where not all are
    computed; with_support: whether answers say what they rest on, which is long for many.
    """

    whole: PartsAndClasses
    unknown: str
    questions: tuple[tuple[str, ...], ...]
    asked: tuple[Piece, ...]
    units: tuple[Unit, ...]
    draws: int
    settings: dict[str, Any]
    seed: int = SEED
    with_support: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return ()

    @cached_property
    def _winning(self) -> Prepared | OverIslands:
        """The plan of the questions with the winning tables, in their own parts."""
        parts = np.array([each for unit in self.units for each in unit.parts], dtype=np.int64)
        asked = np.array([each for question in self.asked for each in question], dtype=np.int64)
        inside = np.isin(self.whole.factor_part, parts)
        free = np.flatnonzero(np.isin(self.whole.part_of, parts))
        return self._prepared(inside, np.concatenate((free, asked)), self.questions)

    def _prepared(
        self, inside: Flags, variables: Ints, questions: Sequence[Sequence[str]] = ()
    ) -> Prepared | OverIslands:
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
        return np.array(sorted(needed_by(self.units)), dtype=np.int64)

    @cached_property
    def _pieces(self) -> dict[int, tuple[Piece, ...]]:
        """What each part is asked, each once."""
        pieces: dict[int, dict[Piece, None]] = {}
        for unit in self.units:
            for place in unit.places:
                for part, piece in pieces_of(self.asked[place], self.whole.part_of).items():
                    pieces.setdefault(part, {})[piece] = None
        return {part: tuple(each) for part, each in pieces.items()}

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
                yield place, found[pieces_of(self.asked[place], self.whole.part_of)[part]]
            return
        for place in unit.places:
            own = pieces_of(self.asked[place], self.whole.part_of)
            answers, rows = jointly(computed, unit, [own[part] for part in unit.parts])
            yield place, put(computed, unit, answers, rows)

    def _answer(self, place: int, unit: Unit, found: Combined) -> Answer:
        """What was found, as an answer: axes and labels as asked, and what it rests on."""
        shaped = [in_shape(self.whole, self.asked[place], each) for each in found[:4]]
        answer, error, lower, upper = shaped
        if answer is None:
            raise NoAnswerError("nothing was found")
        total = answer.sum()
        with np.errstate(divide="ignore"):
            logs = np.log(answer) - math.log(total)
        subject = self.whole.graph
        support = self._support(unit, self.asked[place]) if self.with_support else NOTHING
        note = note_on(self.unknown, unit, self.draws, found)
        return Answer(
            self.questions[place],
            tuple(subject.labels(each) for each in self.asked[place]),
            logs,
            None,
            self._winning.name,
            str(self),
            (note,) if note else (),
            *support,
            _beyond(lower, np.exp(logs), np.minimum),
            _beyond(upper, np.exp(logs), np.maximum),
            error=error,
        )

    def _support(self, unit: Unit, question: Piece) -> Support:
        """The transferred factors that an answer rests on, and the smallest share of them."""
        parts = (
            unit.parts
            if self.unknown == "bounds"
            else tuple(dict.fromkeys((*unit.parts, *unit.witnesses)))
        )
        if np.isin(question, self.whole.evidence.variables).all():
            parts = ()
        return self._lent.of(parts)

    @cached_property
    def _lent(self) -> LentTables:
        return LentTables(self.whole)


def _beyond(limits: Floats | None, answer: Floats, farther: Any) -> Floats | None:
    """Limits between which the answer lies, whatever was rounded."""
    return None if limits is None else farther(limits, answer)
