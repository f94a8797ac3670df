"""Parts computed for all their combinations, or for those that were drawn, and put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints, first_places, group_rows
from lifagu.basics.progress import Tell
from lifagu.questions.unsure.choice_weights import Classes, choice_weights
from lifagu.questions.unsure.choices_as_values import Piece, RowsWanted
from lifagu.questions.unsure.copies import Copies, CopyAnswers
from lifagu.questions.unsure.draws import drawn_places
from lifagu.questions.unsure.units import Unit, needed_by

ALL, DRAWN = "all", "drawn"


class PartTable(NamedTuple):
    """What was computed of a part: which row each combination (or draw) has, and the rows."""

    row_of: Ints
    found: CopyAnswers


@dataclass(frozen=True, eq=False)
class ComputedParts:
    """Parts, computed once for all questions about them.

    pieces[part]: what is asked of it; draws, seed: of combinations that are drawn; winning first:
    whether the winning tables are a draw before all others.
    """

    copies: Copies
    pieces: Mapping[int, tuple[Piece, ...]]
    draws: int
    seed: int
    winning_first: bool
    tables: dict[tuple[int, str], PartTable] = field(default_factory=dict)
    _choices: dict[int, Ints] = field(default_factory=dict)
    _weights: dict[Classes, Floats] = field(default_factory=dict)

    def compute(self, units: Sequence[Unit], progress: Tell | None) -> None:
        """Compute all parts that these need."""
        wanted = [
            *((part, ALL) for part in needed_by(unit for unit in units if unit.exact)),
            *((part, DRAWN) for part in needed_by(unit for unit in units if not unit.exact)),
        ]
        prepared = [self._rows(part, how) for part, how in wanted]
        requests = [
            RowsWanted(part, rows, self.pieces.get(part, ()))
            for (part, _), (rows, _) in zip(wanted, prepared, strict=True)
        ]
        done, total = 0, sum(len(each.rows) for each in requests)
        for place, found in self.copies.answered(requests):
            self.tables[wanted[place]] = PartTable(prepared[place][1], found)
            done += len(requests[place].rows)
            if progress:
                progress(done, total)

    def _rows(self, part: int, how: str) -> tuple[Ints, Ints]:
        """The rows of choices to compute, and for each combination or draw which row it has."""
        merged = self.copies.merged(part)
        if how == ALL:
            kept = [np.unique(each) for each in merged]
            rows = np.array(list(product(*map(np.ndarray.tolist, kept))), dtype=np.int64)
            shape = [len(each) for each in kept]
            at = [np.searchsorted(few, each) for few, each in zip(kept, merged, strict=True)]
            numbers = np.arange(len(rows)).reshape(shape)[np.ix_(*at)]
            return rows.reshape(len(rows), len(kept)), np.asarray(numbers)
        return self.distinct_rows(part, self.chosen(self.copies.whole.classes_in(part).tolist()))

    def distinct_rows(self, part: int, choices: Ints) -> tuple[Ints, Ints]:
        """The rows of choices that differ in a part, and which of them each row is."""
        for column, each in enumerate(self.copies.merged(part)):
            choices[:, column] = each[choices[:, column]]
        same = group_rows(choices) if choices.shape[1] else np.zeros(len(choices), dtype=np.int64)
        return choices[first_places(same)], same

    def chosen(self, classes: Iterable[int]) -> Ints:
        """The choice of each of these classes in each draw: draws × classes."""
        nobody = np.zeros((self.draws + self.winning_first, 0), dtype=np.int64)
        return np.column_stack([nobody, *map(self._chosen, classes)])

    def _chosen(self, number: int) -> Ints:
        if number not in self._choices:
            shares = self.copies.whole.moved.open_classes[number].shares
            places = drawn_places(shares, number, self.draws, self.seed)
            self._choices[number] = np.append(places[: self.winning_first] * 0, places)
        return self._choices[number]

    # ---- how much each combination counts

    def shares_of(self, unit: Unit) -> Floats:
        """The probability of each combination of a unit's classes, in a row; all is computed."""
        if unit.classes not in self._weights:
            spoken: dict[Classes, Floats] = {}
            for part in unit.witnesses:
                table = self.tables[part, ALL]
                classes = tuple(self.copies.whole.classes_in(part).tolist())
                spoken[classes] = spoken.get(classes, 0.0) + table.found.log_weights[table.row_of]
            met = {each for classes in (unit.classes, *spoken) for each in classes}
            shares = {each: self.copies.whole.moved.open_classes[each].shares for each in met}
            self._weights[unit.classes] = choice_weights(
                unit.classes, shares, spoken, self.copies.settings
            )
        return self._weights[unit.classes].reshape(-1)

    def log_weights_of(self, unit: Unit) -> Floats:
        """The log of how much each draw counts: as the witnesses say."""
        logs = np.zeros(self.draws + self.winning_first)
        for part in unit.witnesses:
            table = self.tables[part, DRAWN]
            logs = logs + table.found.log_weights[table.row_of]
        return logs

    def rows_of(self, unit: Unit) -> list[Ints]:
        """For each part of a unit the row of each of the unit's combinations, or of each draw."""
        if not unit.exact:
            return [self.tables[part, DRAWN].row_of for part in unit.parts]
        sizes, found = self.copies.whole.sizes, []
        for part in unit.parts:
            own = set(self.copies.whole.classes_in(part).tolist())
            shape = [int(sizes[each]) if each in own else 1 for each in unit.classes]
            full = [int(sizes[each]) for each in unit.classes]
            rows = self.tables[part, ALL].row_of.reshape(shape)
            found.append(np.broadcast_to(rows, full).reshape(-1))
        return found

    def answers_of(self, unit: Unit, part: int) -> Floats:
        """The answers about a part, a row for each copy."""
        return self.tables[part, ALL if unit.exact else DRAWN].found.answers
