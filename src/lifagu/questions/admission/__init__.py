"""Individuals admitted to a model so that only what is observed of them moves others."""

from __future__ import annotations

from lifagu.errors import ModelError, Remedy
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.filling.transfer import fill
from lifagu.graph.admitted import Admitted, admitted
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer
from lifagu.questions.admission.joining import joined


def filled_with_guests(
    guests: Admitted, before: FactorGraph, base: Transfer, filling: Filling
) -> AdmittedTransfer:
    """A filled graph with those who were admitted to it; their holes are filled like an example's.

    before: the graph without them; base: the same, filled.
    """
    if filling.to_the_letter:
        what = "who is admitted is filled whatever was observed, so arguments differ by none of it"
        raise ModelError(what, remedy=Remedy.NO_ADMISSION)
    examples = _examples(guests, before)
    lent = tuple(fill(each.graph, filling) for each in examples)
    return AdmittedTransfer.of(guests, examples, base, lent)


def with_unfilled_guests(guests: Admitted, graph: FactorGraph) -> FactorGraph:
    """A graph whose holes stay with those who were admitted; what divides theirs is unknown."""
    examples = _examples(guests, graph)
    return joined(guests, examples, graph, [each.graph for each in examples])


def _examples(guests: Admitted, before: FactorGraph) -> tuple[Admitted, ...]:
    """One of those who are like the same individual by itself, so that others do not count."""
    return tuple(admitted(before, [pair]) for pair in guests.examples)
