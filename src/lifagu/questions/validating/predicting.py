"""Hidden cells predicted: a case that never saw them, and what it says about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.names import ChosenNames
from lifagu.basics.words import counted
from lifagu.errors import FormatError
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Convergence
from lifagu.inference.question_checks import TooLarge
from lifagu.questions import in_memory
from lifagu.questions.opened import Opened
from lifagu.questions.requested_marginals import request
from lifagu.questions.statement import Statement
from lifagu.questions.validating.observed_cells import ObservedCells
from lifagu.relational.finer_bins import same_numbers
from lifagu.relational.grounding import ground_names
from lifagu.relational.loaded import Loaded
from lifagu.relational.predicted_cells import with_hidden


def unseen(
    case: Statement, cells: ObservedCells, evidence: Evidence, hidden: Ints
) -> tuple[Statement, ObservedCells]:
    """The case in which nobody observed the hidden cells, and all cells as they are in it.

    No table was counted or learned from hidden cells, and no bins were made of them.
    """
    again = _read_again(case, cells, hidden)
    if again is None:  # what is filled without looking at evidence is filled once
        graph = cells.graph
        opened = case.opened.once(("unseen", case.added), lambda: Opened(given=Loaded(graph, {})))
    else:
        graph = in_memory.grounded(replace(case, opened=Opened(given=again)))
        opened = Opened(given=Loaded(graph, {}))
        if not np.array_equal(graph.variable_kind, cells.graph.variable_kind):
            raise FormatError(
                f"{case.opened.path}: the database was changed while it was read; try again"
            )
        cells, evidence = _relabelled(case, again, cells, evidence)
    left = replace(cells.evidence_without(evidence, _hidden(case, cells, hidden)), of=None)
    layers = (graph.observations(left),)
    return replace(case, opened=opened, layers=layers, keeps_own=False, added=()), cells


def _read_again(case: Statement, cells: ObservedCells, hidden: Ints) -> Loaded | None:
    """What was loaded, as if hidden cells were not there; None where that makes no difference."""
    loaded, progress = case.opened.read(case.place.progress), case.place.progress
    template = loaded.template
    if template is None or not isinstance(loaded.model, FactorGraph):
        return None
    counts = any(each.counts_evidence for each in template.parfactors.values())
    if not counts and loaded.task is None and not template.has_quantiles:
        return None
    variables = _hidden(case, cells, hidden)
    if not counts and not template.has_quantiles:
        return with_hidden(loaded, variables)
    from lifagu.data.templates import load_template

    again = load_template(
        template,
        loaded.source,
        lambda what: progress.stage(f"reading again: {what}"),
        _by_constants(loaded.model, variables),
    )
    return with_hidden(again, variables)


def _hidden(case: Statement, cells: ObservedCells, places: Ints) -> Ints:
    """Hidden variables, and those that are the same numbers in other bins."""
    template, variables = case.opened.read(case.place.progress).template, cells.variables[places]
    return same_numbers(cells.graph, template.finer, variables) if template else variables


def _relabelled(
    case: Statement, again: Loaded, cells: ObservedCells, evidence: Evidence
) -> tuple[ObservedCells, Evidence]:
    """The cells and what was observed, with the labels that bins have now."""
    if again.template is None or not again.template.has_quantiles:
        return cells, evidence
    now = replace(case, opened=Opened(given=replace(again, task=None)))
    graph = in_memory.grounded(now)
    seen = graph.evidence(in_memory.bound(now))
    return ObservedCells.of(graph, seen), seen


def _by_constants(graph: FactorGraph, variables: Ints) -> dict[str, Ints]:
    """Ground variables of a template by relation, as rows of numbers of constants."""
    names = ground_names(graph)
    own = variables[variables < len(names)]  # those who were added are in no database
    which = names.origins(own)
    return {
        rows.prefix: rows.rows[own[which == place] - names.start(place)]
        for place, rows in enumerate(names.rows, start=1)
        if (which == place).any()
    }


class Answered(NamedTuple):
    """A distribution for each hidden cell, padded with 0, and which of them have an answer.

    too_large: those that do not fit, part by part; convergence: of belief propagation.
    """

    probabilities: Floats
    has_answer: NDArray[np.bool_]
    too_large: tuple[TooLarge, ...] = ()
    convergence: Convergence | None = None


def predicted(case: Statement, variables: Ints, width: int, engine: str) -> Answered:
    """What a case that never saw hidden cells says about their variables; width: most labels."""
    moved = in_memory.transferred(case)
    seen = moved.original.evidence(in_memory.bound(case))
    settings = {"engine": engine, "memory_limit": case.room}
    asked = np.sort(variables)
    found = request(moved, asked, seen, case.way, settings, case.place.progress)
    rows = np.zeros((len(found.distributions), width))
    for row, distribution in zip(rows, found.distributions, strict=True):
        row[: len(distribution)] = [each[0] for each in distribution.values()]
    answered = np.zeros(len(asked), dtype=np.bool_)
    result = np.zeros((len(asked), rows.shape[1]))
    if len(found) and isinstance(found.names, ChosenNames):
        places = np.searchsorted(asked, found.names.numbers)
        answered[places] = True
        result[places] = rows[found.of] / rows[found.of].sum(axis=1, keepdims=True)
    order = np.searchsorted(asked, variables)
    return Answered(result[order], answered[order], found.too_large, found.convergence)


def told(folds: Sequence[Answered]) -> Iterator[str]:
    """What is to be said about the answers: which there are not, and which are not exact."""
    wide = [part for each in folds for part in each.too_large]
    left = sum(len(part.variables) for part in wide)
    scored = "they are scored with the frequencies of their relation"
    if count := sum(int((~each.has_answer).sum()) for each in folds) - left:
        yield (
            f"{counted(count, 'cell')} had no answer, as unknown factors stay connected to them; "
            f"{scored}"
        )
    if wide:
        yield (
            f"{counted(left, 'cell')} left out, as what is connected to {wide[0].variables[0]} "
            f"{wide[0].estimate}; {scored}; the engine bp answers them, but not exactly"
        )
    came = [each.convergence for each in folds if each.convergence]
    if came:
        astray = sum(not each.converged for each in came)
        how = f"did NOT converge in {astray} of {len(came)} runs" if astray else "converged"
        yield f"answers are those of belief propagation, which are not exact; it {how}"
