"""Numbers in a row as answers are shown, and the transferred factors that they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.filling.filled_by import by_cohorts
from lifagu.inference.question_checks import pieces_of
from lifagu.questions.unsure.choices_as_values import Piece
from lifagu.questions.unsure.parts_and_classes import PartsAndClasses

__all__ = ["NOTHING", "LentTables", "Support", "in_shape", "pieces_of"]

Support = tuple[tuple[str, ...], float | None, int]
NOTHING: Support = ((), None, 0)
_NONE = np.zeros(0, dtype=np.int64)


def in_shape(whole: PartsAndClasses, question: Piece, flat: Floats | None) -> Floats | None:
    """Numbers with an axis per variable of the question, labels as declared; None stays None.

    flat: pieces of the question part after part, by canonical value; observed variables that were
    cut away are no part of them.
    """
    if flat is None:
        return None
    graph = whole.graph
    pieces = pieces_of(question, whole.part_of)
    order = [each for part in sorted(pieces) for each in pieces[part]]
    table = flat.reshape([int(graph.sizes[each]) for each in order])
    value = whole.evidence.value_of_each(len(graph.variable_names))
    for each in question:
        if each not in order:
            table = table[..., None] * (np.arange(graph.sizes[each]) == value[each])
            order.append(each)
    table = table.transpose([order.index(each) for each in question])
    return np.ascontiguousarray(table[np.ix_(*[graph.declared_order(each) for each in question])])


@dataclass(frozen=True, eq=False)
class LentTables:
    """The transferred factors of parts, found once for each set of these."""

    whole: PartsAndClasses
    known: dict[tuple[int, ...], Support] = field(default_factory=dict)

    def of(self, parts: tuple[int, ...]) -> Support:
        """Their names, the smallest share, and how many cohorts filled."""
        if parts not in self.known:
            moved, graph = self.whole.moved, self.whole.moved.original
            found = [self._by_part.get(part, _NONE) for part in parts]
            factors = np.sort(np.concatenate((_NONE, *found)))
            shares = moved.shares[np.searchsorted(graph.unknown, factors)]
            names = tuple(graph.factor_names.of_nodes(factors))
            weakest = float(shares.min()) if len(shares) else None
            self.known[parts] = names, weakest, by_cohorts(moved, factors)
        return self.known[parts]

    @cached_property
    def _by_part(self) -> dict[int, Ints]:
        moved = self.whole.moved
        parts = self.whole.factor_part[moved.transferred]
        order = np.argsort(parts, kind="stable")
        cuts = np.flatnonzero(np.diff(parts[order])) + 1
        groups = np.split(moved.transferred[order], cuts) if len(order) else []
        return {int(self.whole.factor_part[each[0]]): each for each in groups}
