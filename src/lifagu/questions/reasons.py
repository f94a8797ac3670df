"""Why an answer is as it is: what each observation near it told, and which records stand behind it.

An observation's part is found by leaving it out: the answer is asked for again as if nobody had
made it. That takes a question for each, so it is done for few variables, and for those observations
that share a factor with one, or with something unknown beside it that is no hub.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.html import Shown
from lifagu.basics.words import counted
from lifagu.graph.assembly import taken_lists
from lifagu.graph.evidence import NamedEvidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import factors_with
from lifagu.inference.answer import Answer
from lifagu.questions import asking, in_memory
from lifagu.questions.conditions import condition_relations
from lifagu.questions.statement import Statement
from lifagu.relational.finer_bins import same_numbers
from lifagu.relational.grounding import ground_names
from lifagu.relational.loaded import Loaded

if TYPE_CHECKING:
    from lifagu.relational.learning_task import TableToLearn

MOST_LEFT_OUT = 12  # observations that are left out in turn, the nearest ones
MANY = 50  # factors of a variable on which so many others depend: it is not left out, nor leads on
AT_A_TIME = 1000  # factors of unknown variables that are looked at, until enough is found
HARDLY = 0.005  # by how much a probability must move for an observation to be told


@dataclass(frozen=True)
class ObservationReason:
    """An observation, and how probable the answer's top label would be without it."""

    variable: str
    value: str
    without: float


@dataclass(frozen=True)
class TableReason:
    """A learned table behind an answer: for which group, and from how many records."""

    table: str
    group: str
    records: float


@dataclass(frozen=True, eq=False, repr=False)
class Reasons(Shown):
    """Why an answer is as it is.

    Attributes
    ----------
    variable, value : str
        What was asked about, and its most probable label.
    probability : float
        How probable that is.
    observations : tuple of ObservationReason
        What was observed near it, what told most first.
    tables : tuple of TableReason
        The learned tables that are about the variable, those with the fewest records first.
    """

    variable: str
    value: str
    probability: float
    observations: tuple[ObservationReason, ...]
    tables: tuple[TableReason, ...]

    @property
    def telling(self) -> tuple[ObservationReason, ...]:
        """The observations without which the probability would be another one."""
        told = self.observations
        return tuple(e for e in told if abs(e.without - self.probability) >= HARDLY)

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            **{name: getattr(self, name) for name in ("variable", "value", "probability")},
            "observations": [vars(each) for each in self.observations],
            "tables": [vars(each) for each in self.tables],
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<Reasons: {self.variable}={self.value} with {self.probability:.0%}>"

    def _lines(self) -> Iterator[str]:
        yield f"why {self.variable} is {self.value} with {self.probability:.0%}:"
        told = self.telling
        for each in told:
            yield f"  without {each.variable}={each.value} it would be {each.without:.0%}"
        silent = len(self.observations) - len(told)
        if silent:
            more = "more " if told else ""
            yield f"  {counted(silent, f'{more}observation')} near it hardly told anything"
        for table in self.tables:
            whose = f" of {table.group}" if table.group else ""
            yield f"  {table.table}: learned from {counted(round(table.records), 'record')}{whose}"


def reasons(case: Statement, variable: str) -> Reasons:
    """What an answer about one variable rests on."""
    return reasons_of_each(case, [variable])[0]


def reasons_of_each(case: Statement, variables: Sequence[str]) -> list[Reasons]:
    """What answers rest on; an observation that is near several variables is left out once."""
    answers = _asked(case, variables)
    graph, seen = in_memory.grounded(case), in_memory.bound(case)
    about: dict[int, list[str]] = {}  # by observed variable those that it is near
    for variable in variables:
        number = graph.variable_names.number(variable)
        for each in _observed_near(graph, seen.bound.variables, number):
            about.setdefault(each, []).append(variable)
    told: dict[str, list[ObservationReason]] = {each: [] for each in variables}
    for number, some in about.items():
        name = graph.variable_names[number]
        for variable, without in _asked(_without(case, graph, seen, name), some).items():
            probability = _probability(without, _top(answers[variable]))
            told[variable].append(ObservationReason(name, str(seen[name]), probability))
    return [_reasons(case, answers[each], told[each]) for each in variables]


def _reasons(case: Statement, answer: Answer, told: list[ObservationReason]) -> Reasons:
    """The reasons for an answer, what told most first."""
    (variable,), top = answer.variables, _top(answer)
    probability, value = _probability(answer, top), answer.ranges[0][top]
    told.sort(key=lambda each: -abs(each.without - probability))
    graph, loaded = in_memory.grounded(case), case.opened.loaded(case.place)
    tables = _tables(loaded, graph, graph.variable_names.number(variable))
    return Reasons(variable, value, probability, tuple(told), tuple(tables))


def _asked(case: Statement, variables: Sequence[str]) -> dict[str, Answer]:
    """An answer about each."""
    planned = asking.plan(case, [(each,) for each in variables], "auto", {})
    return dict(zip(variables, planned.run(case.place.progress).answers, strict=True))


def _top(answer: Answer) -> int:
    """The place of the most probable label."""
    return int(np.argmax(answer.probabilities))


def _probability(answer: Answer, top: int) -> float:
    return float(answer.probabilities.reshape(-1)[top])


def _observed_near(graph: FactorGraph, observed: Ints, variable: int) -> list[int]:
    """Observed variables that share a factor with this one, or with unknown ones beside it.

    None if it was observed itself. What is behind a hub is not near: one of very many strangers
    hardly tells anything. No more is looked at than it takes to find enough.
    """
    if _among(np.array([variable]), observed)[0]:
        return []
    direct = np.concatenate([np.zeros(0, dtype=np.int64), *_beside(graph, np.array([variable]))])
    unknown = direct[~_among(direct, observed)]
    unknown = unknown[(graph.degrees[unknown] <= MANY) | (unknown == variable)]
    found: dict[int, None] = {}
    for around in chain([direct], _beside(graph, np.unique(unknown))):
        near = around[_among(around, observed) & (graph.degrees[around] <= MANY)]
        found |= dict.fromkeys(near.tolist())
        if len(found) >= MOST_LEFT_OUT:
            break
    return [*found][:MOST_LEFT_OUT]


def _beside(graph: FactorGraph, variables: Ints) -> Iterator[Ints]:
    """All variables that share a factor with some, so many factors at a time."""
    factors = factors_with(graph, variables)
    for start in range(0, len(factors), AT_A_TIME):
        some = factors[start : start + AT_A_TIME]
        yield taken_lists(graph.offsets, graph.arguments, some)[0]


def _among(variables: Ints, ascending: Ints) -> NDArray[np.bool_]:
    """Which of some variables are among very many."""
    if not len(ascending):
        return np.zeros(len(variables), dtype=np.bool_)
    places = np.minimum(np.searchsorted(ascending, variables), len(ascending) - 1)
    return np.asarray(ascending[places] == variables)


def _without(case: Statement, graph: FactorGraph, seen: NamedEvidence, name: str) -> Statement:
    """The case in which one observation was not made.

    Conditions of learned tables are observed or not; of others it is enough that any label is as
    likely.
    """
    conditions = condition_relations(case.opened.loaded(case.place))
    number = np.array([graph.variable_names.number(name)])
    if conditions and int(ground_names(graph).origins(number)[0]) - 1 in conditions:
        others = seen.bound.without(number, len(graph.variable_names))
        return replace(case, layers=(graph.observations(others),), keeps_own=False)
    unsaid = {name: dict.fromkeys(graph.variable(name).range, 1.0)}
    return replace(case, layers=(*case.layers, unsaid))


def _tables(loaded: Loaded, graph: FactorGraph, variable: int) -> Iterator[TableReason]:
    """Learned tables about a variable, in finer bins too, those with the fewest records first."""
    task, learned = loaded.task, loaded.learned
    if task is None or learned is None:
        return
    variables = np.array([variable])
    if loaded.template is not None:
        variables = same_numbers(graph, loaded.template.finer, variables)
    found = set()
    for factor in factors_with(graph, variables).tolist():
        for at, table, told in zip(loaded.learned_at, task.tables, learned.tables, strict=True):
            if at <= factor < at + len(table):
                number = int(table.in_stack[factor - at])
                found.add(
                    TableReason(table.name, _group(table, number), float(told.records[number]))
                )
    yield from sorted(found, key=lambda each: (each.records, each.table))


def _group(table: TableToLearn, number: int) -> str:
    """The group that a table of the stack is for; empty for the common one."""
    for level, start in zip(table.levels, table.starts, strict=False):
        if start <= number < start + len(level.parent):
            return f"{level.column} {', '.join(level.keys[number - start])}"
    return ""
