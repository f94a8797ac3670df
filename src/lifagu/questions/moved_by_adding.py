"""How far others' answers moved because individuals were added, before anything is seen of these.

A model that is not directed has another distribution of what is shared as soon as somebody is in
it. That is computed, exactly, for what is asked about and for the variables that those who were
added share, where these are few and the model is not large.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from lifagu.errors import LifaguError
from lifagu.questions import in_memory
from lifagu.questions.asking import plan
from lifagu.questions.place import HERE
from lifagu.questions.statement import Statement

MOST_FACTORS = 20_000  # of a model for which this is computed
MOST_ASKED = 30  # variables that are compared
NOTHING = 1e-9  # a move that is none


@dataclass(frozen=True)
class Move:
    """The largest move of a probability by those who were added; variable: "" if not computed."""

    added: tuple[str, ...]
    variable: str = ""
    label: str = ""
    before: float = 0.0
    after: float = 0.0

    def __str__(self) -> str:
        who = self.added[0] if len(self.added) == 1 else f"{len(self.added)} individuals"
        if not self.variable:
            return f"adding {who} may have moved others; how far, so large a model is not asked"
        return (
            f"adding {who} moved P({self.variable}={self.label}) from {self.before:.3g} to "
            f"{self.after:.3g}, more than any other of what is asked and what is shared"
        )


def moved_by_adding(case: Statement, names: Iterable[str]) -> Move | None:
    """The largest move among these variables and the shared ones; None if there is none to tell."""
    if not case.added or case.filling is None or case.place.on not in HERE:
        return None
    added, graph = tuple(name for name, _ in case.added), in_memory.grounded(case)
    before = replace(case, added=(), admitted=())
    count = len(in_memory.grounded(before).variable_names)
    new = graph.arguments >= count
    factor = np.repeat(np.arange(len(graph.factor_names)), np.diff(graph.offsets))
    touched = np.isin(factor, factor[new])
    shared = np.unique(graph.arguments[touched & ~new])
    asked = graph.variable_names.find_each(list(names))
    variables = np.unique(np.concatenate((shared, asked[(asked >= 0) & (asked < count)])))
    seen = in_memory.bound(case).bound
    variables = np.setdiff1d(variables, seen.variables)
    if not len(variables):
        return None
    if len(graph.factor_names) > MOST_FACTORS or len(variables) > MOST_ASKED:
        return Move(added)
    own = {graph.variable_names[each] for each in range(count, len(graph.variable_names))}
    layers = tuple({n: s for n, s in each.items() if n not in own} for each in case.layers)
    questions = [(name,) for name in graph.variable_names.of_nodes(variables)]
    try:
        was, now = (
            plan(replace(each, layers=layers), questions, "auto", {}).run().answers
            for each in (before, replace(case, admitted=()))
        )
    except LifaguError:  # no answer without them, or none that fits: nothing to compare
        return None
    moves = [
        (abs(new - old), (name, label, old, new))
        for (name,), one, other in zip(questions, was, now, strict=True)
        for (label,), old, new in zip(
            one.values, one.probabilities.tolist(), other.probabilities.tolist(), strict=True
        )
    ]
    far, told = max(moves, key=lambda move: move[0])
    return Move(added, *told) if far > NOTHING else None
