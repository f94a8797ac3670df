"""Questions about whole relations: which variables are meant, and their marginals in one pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.choices import LIFTED_ENGINES
from lifagu.basics.inputs import text, whole
from lifagu.basics.names import ChosenNames, Names
from lifagu.basics.words import amount
from lifagu.errors import (
    ModelError,
    NoAnswerError,
    NotLiftedError,
    Remedy,
    TooLargeError,
    did_you_mean,
    listed,
)
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Observation
from lifagu.graph.evidence import by_name as as_named
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels
from lifagu.inference.relational.ground_variables import listed_names
from lifagu.inference.relational.marginals import ClassMarginals, prepare_relational_marginals
from lifagu.questions import in_memory
from lifagu.questions.asking import refuse_conditions, subject, with_known_guests
from lifagu.questions.findings import Distribution, Requested
from lifagu.questions.relation_answer import RelationAnswer
from lifagu.questions.requested_marginals import asked_numbers, of_kind, request, request_of_graph
from lifagu.questions.statement import Statement
from lifagu.questions.where_to_work import choose
from lifagu.relational.key_columns import NO_KEYS
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_NAMED = 10**5  # individuals without names that are listed one by one where classes do not do


@dataclass(frozen=True)
class Wanted:
    """Which individuals are asked about, and how.

    where: a condition in SQL that holds for them. by_name: list those without names as well, not
    their classes, as scenarios do. most: refuse more of them. bp: settings of belief propagation.
    unobserved: only those of whom it was not observed.
    """

    engine: str = "auto"
    where: str | None = None
    by_name: bool = False
    most: int | None = None
    bp: Mapping[str, Any] = field(default_factory=dict)
    unobserved: bool = False


def ask_all(
    case: Statement,
    relation: str,
    wanted: Wanted,
    *,
    top: int | None = None,
    value: str | int | None = None,
) -> RelationAnswer:
    """The marginals of all individuals of a relation, or of those wanted, perhaps ranked."""
    text("a relation that is asked about", relation)
    choose(case, "a whole relation", wanted.engine)
    check_relation(case, relation)
    case = with_known_guests(case)
    if top is not None:
        whole("top", top, 1)
    found = _answered(case, relation, wanted)
    if not len(found) and found.left_out:
        raise NoAnswerError(
            f"P({relation}) has no answer: unknown factors are in the same connected part as "
            f"{listed(found.left_out, 3)}"
        )
    if wanted.unobserved:
        found = found.taken(np.flatnonzero(~found.observed))
        found = replace(found, total=len(found))
    value = found.checked(value)
    return found if top is None else found.ranked(top, value)


def _answered(case: Statement, relation: str, wanted: Wanted) -> RelationAnswer:
    """The same, not ranked: by class over cells where that can be done, else in a graph."""
    if wanted.where is not None:
        from lifagu.questions.individuals_where import variables_where

        chosen = variables_where(case, relation, wanted.where)
        return _of_graph(case, relation, wanted, chosen)
    model, evidence = subject(case, wanted.engine)
    if isinstance(model, ParfactorGraph) and wanted.engine in LIFTED_ENGINES:
        number = model.vocabulary.relation_names.find(relation)
        found = None if number is None else _over_cells(case, model, as_named(evidence))
        if number is not None and found is not None:
            return _of_classes(found, number, wanted.by_name)
    return _of_graph(case, relation, wanted)


def _over_cells(
    case: Statement, model: ParfactorGraph, evidence: Mapping[str, Observation]
) -> ClassMarginals | None:
    """All marginals by class; None where each individual may have one of its own."""
    try:
        planned = prepare_relational_marginals(model, evidence, case.place.memory_limit)
    except NotLiftedError:
        return None
    case.place.progress.stage("answering")
    return planned.run(case.place.progress)


def check_relation(case: Statement, relation: str) -> None:
    """The name must be that of a relation, or of a kind."""
    if case.is_relation(relation):
        return
    if is_single(case, relation):
        raise ModelError(f"'{relation}' is a single variable", remedy=Remedy.ASK_ONE)
    model = case.opened.read(case.place.progress).model
    part = model if isinstance(model, FactorGraph) else model.ground_part
    known = list(dict.fromkeys([*part.kinds, *_relations(model)]))
    there = f", which has {', '.join(known[:8])}" if known else ""
    raise ModelError(
        f"there is no relation '{relation}' in the model"
        f"{did_you_mean(relation, known) or there or ', whose variables have no kinds'}"
    )


def is_single(case: Statement, name: str) -> bool:
    """Whether this is a variable of a ground model, or a relation of nobody."""
    model = case.opened.read(case.place.progress).model
    part = model if isinstance(model, FactorGraph) else model.ground_part
    return name in part.variable_names or name in _relations(model, plain=True)


def _relations(model: FactorGraph | ParfactorGraph, plain: bool = False) -> list[str]:
    """The relations of a relational model that are of something, or the others."""
    if isinstance(model, FactorGraph):
        return []
    return [each.name for each in model.vocabulary.relations if bool(each.of) != plain]


def _of_graph(
    case: Statement, relation: str, wanted: Wanted, chosen: Ints | None = None
) -> RelationAnswer:
    """The marginals in a ground graph; chosen: some of the relation's variables, by number."""
    model, _ = subject(case, wanted.engine)
    asked: FactorGraph | Transfer = (
        in_memory.grounded(case) if isinstance(model, ParfactorGraph) else model
    )
    graph = asked if isinstance(asked, FactorGraph) else asked.original
    seen, every = graph.evidence(in_memory.bound(case)), of_kind(graph, relation)
    variables = every if chosen is None else chosen
    if wanted.most is not None and len(variables) > wanted.most:
        what = f"{relation} has {len(variables)} individuals, too many to list in one object"
        raise TooLargeError(what, remedy=Remedy.FEWER_SHOWN)
    values = seen.value_of_each(len(graph.variable_names))
    unseen = variables[values[variables] < 0]
    refuse_conditions(case, ChosenNames(graph.variable_names, unseen), {})
    settings: dict[str, Any] = {
        "engine": wanted.engine,
        "memory_limit": case.place.memory_limit,
        **({"bp": wanted.bp} if wanted.bp else {}),
    }
    progress = case.place.progress
    progress.stage("answering")
    if isinstance(asked, FactorGraph):
        requested = request_of_graph(asked, variables, seen, settings, progress)
    else:
        requested = request(asked, variables, seen, asked.way, settings, progress)
    observed = values[asked_numbers(graph, requested.names)] >= 0
    return RelationAnswer(
        relation, requested, observed, _labels(graph, every), total=len(requested)
    )


def _labels(graph: FactorGraph, variables: Ints) -> Labels:
    """The labels of some variables, the first one's first; in the order of the model."""
    first = np.sort(np.unique(graph.variable_declared[variables], return_index=True)[1])
    every = [graph.labels(variable) for variable in variables[first].tolist()]
    return tuple(dict.fromkeys(label for labels in every for label in labels))


def _of_classes(found: ClassMarginals, relation: int, by_name: bool) -> RelationAnswer:
    """The classes of a relation, or its individuals by name where they have names."""
    words, kinds = found.model.vocabulary, found.whole.kinds
    known = [each for each in found.known if kinds.kinds[each].relation == relation]
    classes = tuple(map(found.class_of, known))
    count = sum(each.count for each in classes)
    named = all(words.domains[each].constants is not None for each in words.domains_of[relation])
    if by_name and not named and count > MOST_NAMED:
        name, many = words.relations[relation].name, amount(count)
        what = f"{name} has {many} individuals, told apart differently"
        raise TooLargeError(f"{what} under each scenario", remedy=Remedy.ASK_ONE)
    names: Names = Names("variable", [each.members for each in classes])
    of, about = np.arange(len(classes)), NO_KEYS
    if (named or by_name) and count <= MOST_NAMED:
        names, kind_of = listed_names(kinds, known)
        order = np.argsort(known, kind="stable")
        of = order[np.searchsorted(np.array(known, dtype=np.int64)[order], kind_of)]
        classes, about = (), found.about(names)
    shares: list[Distribution] = [
        {label: (share, None, None) for label, share in found.class_of(each).probabilities.items()}
        for each in known
    ]
    left = [kinds.members(each) for each in found.left if kinds.kinds[each].relation == relation]
    unanswered = Names("variable", left)
    requested = Requested.plain(names, of, tuple(shares), unanswered, about=about)
    seen = np.array([found.whole.observed[each] >= 0 for each in known], dtype=np.bool_)
    labels = words.relations[relation].range
    name = words.relations[relation].name
    return RelationAnswer(name, requested, seen[of], labels, classes, len(names))
