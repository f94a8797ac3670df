"""What the ground engines solve: one connected part of a graph with its evidence fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifagu.basics.arrays import Ints
from lifagu.basics.cached import cached_property
from lifagu.inference.table import LogTable, Table, from_logs, log_values


class _Placed:
    """Something on numbered variables."""

    variables: tuple[int, ...]

    def places(self, scopes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Variables as their places in the part."""
        place = {variable: number for number, variable in enumerate(self.variables)}
        return [tuple([place[variable] for variable in scope]) for scope in scopes]


@dataclass(frozen=True, eq=False)
class Part(_Placed):
    """Variables connected by factors once the observed ones are removed, and the factors on them.

    sizes: range size of each variable; factors: variables, and log potentials with one axis for
    each. may_drop: whether there may be variables that cannot matter.
    """

    variables: tuple[int, ...]
    sizes: dict[int, int]
    factors: tuple[LogTable, ...]
    may_drop: bool = True

    @cached_property
    def tables(self) -> list[Table]:
        """The factors as tables on their variables; those with one value only are left out."""
        return from_logs(
            [scope for scope, _ in self.factors], [values for _, values in self.factors]
        )

    @property
    def given(self) -> Sequence[LogTable]:
        """Variables and numbers of each factor, as they were given."""
        return self.factors


@dataclass(frozen=True, eq=False)
class TablePart(_Placed):
    """The same, given as tables on variables with more than one value; logs when wanted."""

    variables: tuple[int, ...]
    sizes: dict[int, int]
    tables: list[Table]
    may_drop: bool = True

    @cached_property
    def factors(self) -> tuple[LogTable, ...]:
        """Variables, and log potentials with one axis for each."""
        return tuple([(table.ranks, log_values(table)) for table in self.tables])

    @cached_property
    def given(self) -> Sequence[LogTable]:
        """Variables and numbers of each table, as they were given."""
        return [(table.ranks, table.values) for table in self.tables]


AnyPart = Part | TablePart


@dataclass(frozen=True, eq=False)
class Residual:
    """Connected parts, the part of each variable (-1: gone), and the log weight of all else.

    row_of[p][i]: arity and row of factor i of part p.
    """

    parts: tuple[AnyPart, ...]
    part_of: Ints
    row_of: tuple[tuple[tuple[int, int], ...], ...]
    log_constant: float
