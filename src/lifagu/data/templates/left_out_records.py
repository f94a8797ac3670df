"""Records that show hidden cells and so are not counted; and cells of which nobody can tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, group_rows
from lifagu.data.databases.cells import Cells
from lifagu.data.templates.constants import Constants
from lifagu.relational.bound_parfactors import BoundArgument
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.template import Template


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The records that show a hidden cell, told by their key.

    constants: for each column of the key the way to numbers of constants; shown: for each argument
    with hidden cells its terms (a place in the key, or ~number of a constant) and these cells, a
    row of constants each.
    """

    constants: tuple[Constants, ...]
    shown: tuple[tuple[tuple[int, ...], Ints], ...]

    @classmethod
    def of(
        cls,
        key: Sequence[int],
        constants: Sequence[Constants],
        arguments: Sequence[BoundArgument],
        hidden: Mapping[int, Ints],
    ) -> LeftOut:
        """From the logical variables that the key names, and hidden cells by number of relation."""
        shown = []
        for argument in arguments:
            cells = hidden.get(argument.relation)
            if cells is not None and len(cells) and _is_told(argument, key):
                terms = tuple(key.index(code) if code >= 0 else code for code in argument.codes)
                shown.append((terms, cells))
        return cls(tuple(constants), tuple(shown))

    def __bool__(self) -> bool:
        return bool(self.shown)

    def among(self, key: Sequence[Cells]) -> NDArray[np.bool_]:
        """Which of some records are left out, from the columns of their key."""
        numbers = [each.found(cells) for each, cells in zip(self.constants, key, strict=True)]
        left = np.zeros(len(key[0]), dtype=np.bool_)
        for terms, cells in self.shown:
            columns = [
                numbers[term] if term >= 0 else np.full(len(left), ~term, dtype=np.int64)
                for term in terms
            ]
            rows = np.column_stack(columns)
            known = group_rows(np.vstack((cells, rows)) + 1)
            left |= known[len(cells) :] <= known[: len(cells)].max()
        return left


def untold_relations(template: Template, model: ParfactorGraph) -> dict[str, str]:
    """Relations whose cells a counted table shows without saying whose they are, and that table."""
    found: dict[str, str] = {}
    for number, parfactor in template.parfactors.items():
        learned = None if parfactor.learned is None else template.learned[parfactor.learned]
        if learned is None or learned.key == ():
            continue
        bound = model.bound[number]
        wanted = {column.lower() for column in learned.key or ()}
        key = [place for place, name in enumerate(bound.logicals) if name.lower() in wanted]
        for argument in bound.arguments:
            if argument.relation >= 0 and not _is_told(argument, key):
                found.setdefault(model.relations[argument.relation].name, str(parfactor.learned))
    return found


def _is_told(argument: BoundArgument, key: Sequence[int]) -> bool:
    """Whether a key says which cell of an argument a record shows."""
    logical = [code for code in argument.codes if code >= 0]
    return bool(logical) and all(code in key for code in logical)
