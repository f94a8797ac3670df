"""What every rival is given: a table with columns to be predicted, hidden cells gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.league.features import Column, Ints, Known
from research.league.loading import Pointer
from research.league.raw_tables import Raw, Target, Told, hide, targets


@dataclass(frozen=True, eq=False)
class Sheet:
    """One table with columns to be predicted, as every rival gets it: hidden cells are gone."""

    table: str
    targets: tuple[Target, ...]
    known: Known

    def plain(self, target: Target) -> list[Column]:
        """The row's own columns, but for the target's, and those that foreign keys lead to."""
        return self.known.plain(self.table, target.columns)

    def made(self, target: Target) -> list[Column]:
        """All features made by hand: plain columns, what was missing, summaries of rows below."""
        return self.known.features(self.table, target.columns)

    def groups(self, target: Target) -> list[Ints]:
        """Codes of columns, but for the target's, that many rows may share."""
        return self.known.groups(self.table, target.columns)


def sheets(
    raw: Raw, pointers: Sequence[Pointer], template: Mapping[str, Any], cells: Sequence[Told]
) -> tuple[list[Sheet], list[str]]:
    """A sheet for each table with hidden cells, and in words what cannot be compared."""
    found = targets(raw, template, cells)
    able = [each for each in found if isinstance(each, Target)]
    known = Known(hide(raw.tables, able), tuple(pointers), raw.tables)
    made = [
        Sheet(table, tuple(each for each in able if each.table == table), known)
        for table in dict.fromkeys(each.table for each in able)
    ]
    return made, [each for each in found if isinstance(each, str)]
