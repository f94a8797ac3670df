"""Questions about ground variables of a relational model, planned over cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.errors import ModelError, NoAnswerError, NotLiftedError
from lifagu.graph.evidence import Observation
from lifagu.graph.ranges import Labels
from lifagu.inference.lifted.engine import reduce_cells
from lifagu.inference.memory_limit import memory_limit_of
from lifagu.inference.planning_by_part import plan_rest
from lifagu.inference.prepared import Prepared, Questions
from lifagu.inference.question_checks import (
    Question,
    asked_for,
    check_question,
    kept_for,
    no_answer,
)
from lifagu.inference.relational.kinds import Kinds
from lifagu.inference.relational.problem import Shattered, missing, shattered, start
from lifagu.inference.relational.telling_apart import lists_individuals
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.relations import GroundAtom

GivenEvidence = Mapping[str, Observation] | None


@dataclass(frozen=True, eq=False)
class KindsAsked:
    """The kinds of a model as what answers are about; values stand in their declared order."""

    kinds: Kinds

    @cached_property
    def sizes(self) -> Ints:
        """The range size of each kind."""
        return np.array(self.kinds.sizes, dtype=np.int64)

    def labels(self, variable: int) -> Labels:
        """The labels of a kind's values."""
        return self.kinds.labels(variable)

    def declared_order(self, variable: int) -> Ints:
        """For each of these labels the value that stands for it."""
        return np.arange(self.kinds.sizes[variable])


def prepare_relational(
    model: ParfactorGraph,
    questions: Sequence[Sequence[str]],
    evidence: GivenEvidence,
    memory_limit: int | None = None,
) -> Prepared:
    """Plan the answers to several questions; none at all asks for log Z alone.

    Individuals named in a joint question are told apart from others; a question about one variable
    is answered by its kind, unless some rows list individuals, who are then all different. What
    cells cannot express is a `NotLiftedError`.
    """
    limit = memory_limit_of(memory_limit)
    found = [[model.place_of(name) for name in names] for names in questions]
    lists = lists_individuals(model)
    if lists and len(set(map(tuple, found))) > 1:
        raise NotLiftedError("several questions about individuals who are listed one by one")
    named = [
        place for places in found if lists or len(places) > 1 for place in places if place[0] >= 0
    ]
    whole = shattered(model, evidence or {}, named)
    titles = tuple(tuple(_title(model, place) for place in places) for places in found)
    asked = [_question(whole, *pair, limit) for pair in zip(titles, found, strict=True)]
    included = known_kinds(whole, asked, "log Z")
    cells_of = whole.kinds.individuals.cells_of
    walks = len(set(asked)) > 1 or any(
        cells_of[number] for question in asked for number in question
    )
    seen = whole.kinds.observation
    keep = kept_for(asked, walks, seen)
    reduced = reduce_cells(start(whole, included, keep, maximise=False))
    subject, known = KindsAsked(whole.kinds), not whole.unknown
    posed = Questions(subject, seen, "lifted", tuple(asked), titles, limit, whole=known)
    return plan_rest(posed, reduced, walks)


def known_kinds(whole: Shattered, asked: Sequence[Question], what: str) -> NDArray[np.bool_]:
    """Which kinds are in parts without unknown factors; questions about others are refused.

    what: what else is refused where a factor is unknown, if nothing in particular is asked.
    """
    holes = {part for _, part in whole.unknown}
    known = ~np.isin(whole.part_of, sorted(holes)) | (whole.part_of < 0)
    for question in asked:
        for number in question:
            if not known[number]:
                names = [name for name, part in whole.unknown if part == whole.part_of[number]]
                title = asked_for(whole.kinds.name, len(whole.kinds), [(number,)])
                raise NoAnswerError(no_answer(title, list(dict.fromkeys(names))))
    if not asked and whole.unknown and what:
        raise NoAnswerError(
            no_answer(what, list(dict.fromkeys(name for name, _ in whole.unknown)), where="")
        )
    return np.asarray(known & (whole.observed < 0))


def _question(
    whole: Shattered, names: tuple[str, ...], places: Sequence[GroundAtom], limit: int
) -> Question:
    """A question as kinds."""
    question = []
    for name, place in zip(names, places, strict=True):
        kind = whole.kinds.find(place)
        if kind is None:
            raise ModelError(missing(name))
        question.append(kind)
    check_question(names, [whole.kinds.sizes[kind] for kind in question], limit)
    return tuple(question)


def _title(model: ParfactorGraph, place: GroundAtom) -> str:
    relation, constants = place
    if relation < 0:
        return model.ground_part.variable_names[constants[0]]
    return model.vocabulary.ground_name(relation, constants)
