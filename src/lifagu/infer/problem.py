"""What the ground engines solve: one connected part of a graph with its evidence fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lifagu.infer.table import LogTable, Table, from_logs


@dataclass(frozen=True, eq=False)
class Part:
    """Variables connected by factors once the observed ones are removed, and the factors on them.

    sizes: range size of each variable; factors: variables, and log potentials with one axis for each.
    """

    variables: tuple[int, ...]
    sizes: dict[int, int]
    factors: tuple[LogTable, ...]

    @cached_property
    def tables(self) -> list[Table]:
        """The factors as tables on their variables; those with one value only are left out."""
        return from_logs([scope for scope, _ in self.factors], [values for _, values in self.factors])

    def places(self, scopes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Variables as their places in the part."""
        place = {variable: number for number, variable in enumerate(self.variables)}
        return [tuple([place[variable] for variable in scope]) for scope in scopes]
