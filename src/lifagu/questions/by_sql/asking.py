"""Questions to a folder of Parquet tables: it is lifted where it is, and the lifted model is asked.

The lifted model is small and in memory; variables that are asked about are told apart in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from lifagu.basics.arrays import Ints, connected_parts
from lifagu.basics.atomic_files import PathLike
from lifagu.basics.progress import Announce, Tell
from lifagu.errors import NoAnswerError
from lifagu.filling.chance import warning
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.inference.answer import Answer
from lifagu.inference.prepared import Asked, Result
from lifagu.inference.question_checks import check_question, no_answer
from lifagu.questions.by_sql.agreeing import first_names
from lifagu.questions.by_sql.completing import Completed, Filled, fill_on, take_on
from lifagu.questions.by_sql.lifting import find_groups, in_order, pass_on
from lifagu.questions.by_sql.workplace import BESIDE, engine_of, memory_limit
from lifagu.questions.place import Place
from lifagu.questions.planning import prepare
from lifagu.relational.ground_parts import declared_tables
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.scale.colour_rounds import Sizes, told_apart
from lifagu.scale.factor_types import looks_of
from lifagu.scale.folder_contents import names, numbers_of
from lifagu.scale.lent_tables import Tally, find_lent, lent_first, lent_weakest, lent_within
from lifagu.scale.lifted_model import Classes, Contents, lifted_model, read_classes
from lifagu.scale.results import number_groups

CLASS = 4000  # bytes that an argument of a class takes in the lifted model, at most
NAME = 200  # that the name of a factor takes


@dataclass(frozen=True, eq=False)
class LiftedThere:
    """A folder whose lifted model is here, with the classes that it is made of.

    part[v]: the connected part of a class of variables, observed ones being cut out (-1); the same
    of classes of factors, -1 where all around are observed. asked: the class of each variable asked
    about, by number.
    """

    whole: Completed
    classes: Classes
    model: ParfactorGraph
    evidence: dict[str, Observation]
    part: Ints
    factor_part: Ints
    asked: dict[int, int]

    def part_of(self, variable: int) -> int:
        """The connected part of a variable asked about, -1 if it is observed."""
        return int(self.part[self.asked[variable]])

    @property
    def unknown(self) -> Ints:
        """The classes of factors without a table."""
        types = self.whole.types.first[self.whole.graph.unknown]
        return np.flatnonzero(np.isin(self.classes.type, types))

    @property
    def unknown_parts(self) -> Ints:
        """The connected parts with a factor without a table."""
        return np.setdiff1d(self.factor_part[self.unknown], [-1])

    def check_known(self, questions: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> None:
        """Refuse questions whose part has a factor without a table; none at all ask for log Z."""
        unknown = self.unknown
        for question in questions or [()]:
            parts = {self.part_of(numbers[name]) for name in question} - {-1}
            behind = (
                unknown[np.isin(self.factor_part[unknown], list(parts))] if question else unknown
            )
            if len(behind):
                whole = self.whole
                types = np.flatnonzero(np.isin(whole.types.first, self.classes.type[behind]))
                named = first_names(whole.engine, whole.given, whole.types, types)
                where = {} if question else {"where": ""}
                asked = f"P({', '.join(question)})" if question else "log Z"
                raise NoAnswerError(no_answer(asked, named, **where))

    def lent(self) -> Tally:
        """What was lent within each part: how many tables, the smallest share, how many guesses.

        Stores lent_factors, as `find_lent` says.
        """
        whole = self.whole
        if not isinstance(whole, Filled) or not len(whole.lent_types):
            return {}
        lent = whole.lent_types, whole.lent_shares, whole.lent_guesses
        find_lent(whole.engine, self.factor_part, *lent)
        return lent_within(whole.engine)


@dataclass(frozen=True, eq=False)
class PlannedBySql:
    """Questions to the lifted model of a folder: `str` shows what was lifted, and the plan.

    unknown: how many factors came without a table; transferred: how many of them got one;
    weakest_share: the smallest share of agreement among those, None if there are none.
    """

    prepared: Asked
    head: str
    supports: tuple[Support, ...]
    unknown: int
    transferred: int
    weakest_share: float | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks beside the answers."""
        return self.prepared.notes

    def __str__(self) -> str:
        return f"{self.head}\n{self.prepared}"

    def run(self, progress: Tell | None = None) -> Result:
        """Compute the answers."""
        result, plan = self.prepared.run(progress), str(self)
        pairs = zip(result.answers, self.supports, strict=True)
        answers = [support.given_to(replace(answer, plan=plan)) for answer, support in pairs]
        return Result(answers, result.log_partition, result.notes, self.unknown, self.transferred)


@dataclass(frozen=True)
class Support:
    """The transferred factors that an answer rests on, and the smallest share of agreement."""

    rests_on: tuple[str, ...] = ()
    weakest_share: float | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def given_to(self, answer: Answer) -> Answer:
        """The answer with all this."""
        return replace(
            answer,
            rests_on=self.rests_on,
            weakest_share=self.weakest_share,
            notes=(*answer.notes, *self.notes),
            warnings=(*answer.warnings, *self.warnings),
        )


def plan_by_sql(
    folder: PathLike,
    questions: Sequence[Sequence[str]],
    evidence: Mapping[str, Observation],
    filling: Filling | None,
    place: Place,
) -> PlannedBySql:
    """Lift a folder and plan the answers to questions (tuples of names).

    No question asks for log Z alone. evidence: added to the folder's own, which it overrides name
    by name. filling: how unknown factors are filled first, None leaves them unknown. place: on
    which engine.
    """
    limit, stage = memory_limit(place), place.progress.stage
    with engine_of(place, int((1 - BESIDE) * limit)) as engine:
        whole: Completed = (
            take_on(engine, folder, evidence, stage)
            if filling is None
            else fill_on(engine, folder, evidence, filling, stage)
        )
        numbers = numbers_of(engine, whole.given, chain.from_iterable(questions))
        look_of = looks_of(engine, numbers.values())
        for question in questions:
            declared = [whole.looks.declared[look_of[numbers[name]]] for name in question]
            sizes = [len(whole.ranges.declared[each]) for each in declared]
            check_question(question, sizes, limit)
        memory, asked = int(BESIDE * limit), list(numbers.values())
        in_order(whole)
        found = find_groups(whole, memory, stage, exact=True)
        here = lifted_here(whole, *found, asked, memory, stage)
        here.check_known(questions, numbers)
        prepared = prepare(here.model, questions, here.evidence, memory_limit=limit)
        supports = _supports(here, questions, numbers, memory)
    classes, counts = here.classes, whole.given.counts
    head = (
        f"lifted by {engine.dialect.name}: {counts['variables']} variables in "
        f"{len(classes.variables)} classes, {counts['factors']} factors in {len(classes.factors)}"
    )
    return PlannedBySql(
        prepared, head, supports, whole.unknown, whole.transferred, whole.weakest_share
    )


def lifted_here(
    whole: Completed,
    sizes: Sizes,
    counts: Mapping[str, int],
    asked: Sequence[int],
    memory: int,
    stage: Announce,
) -> LiftedThere:
    """The lifted model of a folder in which some variables are told apart from all others.

    sizes, counts: of its groups. memory: in bytes, what may be used here, beside the engine.
    """
    engine = whole.engine
    if len(asked):
        chosen = np.unique(np.array(asked, dtype=np.int64))
        sizes, state = told_apart(engine, sizes, counts, chosen)
        number_groups(engine, pass_on(engine, sizes, memory, stage, state))
    stage("lifting")
    classes = read_classes(engine, memory // CLASS)
    model, evidence = lifted_model(engine, classes, _contents(whole))
    part, factor_part = _parts(whole, classes)
    return LiftedThere(
        whole, classes, model, evidence, part, factor_part, _classes_of(whole, asked)
    )


def _contents(whole: Completed) -> Contents:
    """What is known of the nodes of a folder, tables as they are in the end."""
    tables, table_of = declared_tables(whole.graph)
    number_of = dict(zip(whole.types.first.tolist(), table_of.tolist(), strict=True))
    return Contents(
        [whole.ranges.declared[each] for each in whole.looks.declared.tolist()],
        whole.observed,
        whole.weights,
        lambda kind: None if number_of[kind] < 0 else tables[number_of[kind]],
        lambda numbers: names(whole.engine, whole.given, "variables", numbers),
    )


def _parts(whole: Completed, classes: Classes) -> tuple[Ints, Ints]:
    """The connected part of each class of variables and factors, observed ones being cut out."""
    count, hard = len(classes.variables), whole.hard[classes.look]
    lengths = [len(scope) for scope in classes.scopes]
    factors = np.repeat(np.arange(len(lengths)), lengths)
    variables = np.array(list(chain.from_iterable(classes.scopes)), dtype=np.int64)
    free = ~hard[variables]
    factors, variables = factors[free], variables[free]
    part = connected_parts(count + len(lengths), variables, count + factors)
    cut = np.ones(len(lengths), dtype=np.bool_)
    cut[factors] = False
    return np.where(hard, -1, part[:count]), np.where(cut, -1, part[count:])


def _classes_of(whole: Completed, asked: Sequence[int]) -> dict[int, int]:
    """The class of each variable asked about."""
    if not asked:
        return {}
    whole.engine.register("asked", {"id": np.unique(np.array(asked, dtype=np.int64))})
    variables, groups = whole.engine.integers(
        """
        SELECT g.id, g.group_id
        FROM variable_groups g
        JOIN asked q ON q.id = g.id
        """
    )
    whole.engine.drop("asked")
    return dict(zip(variables.tolist(), groups.tolist(), strict=True))


def _supports(
    here: LiftedThere, questions: Sequence[Sequence[str]], numbers: Mapping[str, int], memory: int
) -> tuple[Support, ...]:
    """What the answer to each question rests on; memory: in bytes, for names; more are cut."""
    lent = here.lent()
    by_parts: dict[tuple[int, ...], Support] = {(): Support()}
    found = []
    for question in questions:
        own = {here.part_of(numbers[name]) for name in question}
        parts = tuple(sorted(own & lent.keys()))
        if parts not in by_parts:
            by_parts[parts] = _support(here.whole, lent, parts, memory // NAME)
        found.append(by_parts[parts])
    return tuple(found)


def _support(whole: Completed, lent: Tally, parts: Sequence[int], most: int) -> Support:
    """What was lent within some parts, at most so many factors by name."""
    numbers = lent_first(whole.engine, parts, most)
    called = names(whole.engine, whole.given, "factors", numbers)
    count, weakest = sum(lent[part][0] for part in parts), min(lent[part][1] for part in parts)
    more = f"rests on {count} transferred factors, of which the first {len(called)} are named"
    notes = (more,) if count > len(called) else ()
    guesses = sum(lent[part][2] for part in parts)
    warnings: tuple[str, ...] = ()
    if guesses and isinstance(whole, Filled) and whole.transfer.way == "best":
        kind = np.flatnonzero(whole.types.first == lent_weakest(whole.engine, parts))[0]
        place = int(np.searchsorted(whole.transfer.unknown, kind))
        warnings = (warning(guesses, count, *whole.transfer.agreement(place)),)
    return Support(tuple(called), weakest, notes, warnings)
