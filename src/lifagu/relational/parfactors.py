"""Parfactors: a table, its arguments with logical variables, and constraints on these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, frozen
from lifagu.basics.frozen import Frozen
from lifagu.basics.inputs import shown
from lifagu.errors import ModelError
from lifagu.graph.given_supports import given_positions, support_of
from lifagu.graph.table_support import TableSupport
from lifagu.graph.tables import as_floats, not_numbers, potential_fault
from lifagu.relational.parsing import parse_argument, parse_comparison
from lifagu.relational.terms import (
    Argument,
    Atom,
    Comparison,
    Constraint,
    CountingFormula,
    Membership,
)


@dataclass(frozen=True, eq=False)
class Parfactor(Frozen):
    """A ground factor with this table for every admitted substitution of the logical variables.

    `Parfactor.of` takes arguments and constraints as texts.

    Parameters
    ----------
    name : str
        Its name.
    arguments : tuple of Atom or CountingFormula
        What it is about, such as ``Sick(X)``.
    table : ndarray or None
        Flat, row-major over the arguments as listed, the last one fastest; None if unknown.
    where : tuple of Comparison or Membership
        The constraints on substitutions.
    support : TableSupport, optional
        How many records stand behind the table, which every ground factor has.
    """

    name: str
    arguments: tuple[Argument, ...]
    table: Floats | None
    where: tuple[Constraint, ...] = ()
    support: TableSupport | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a parfactor has the name {self.name!r}; names are non-empty texts")
        if self.table is not None and (fault := potential_fault(self.table)):
            raise ModelError(f"parfactor '{self.name}' has {fault}")
        for each in self.arguments:
            if not isinstance(each, Atom | CountingFormula):
                raise ModelError(
                    f"parfactor '{self.name}' has the argument {shown(each)}; "
                    "write it as in Sick(X)"
                )
        for constraint in self.where:
            if not isinstance(constraint, Comparison | Membership):
                raise ModelError(
                    f"parfactor '{self.name}' has the constraint {shown(constraint)}; write X != Y"
                )

    @classmethod
    def of(
        cls,
        name: str,
        arguments: Iterable[str | Argument],
        table: Any,
        where: Iterable[str | Constraint] = (),
        *,
        support: Any = None,
        given: Any = None,
        prior: Any = None,
    ) -> Parfactor:
        """A parfactor with arguments and constraints as texts.

        Parameters
        ----------
        name : str
            Its name.
        arguments : iterable of str
            ``Sick(X)``, ``Epid``, ``#X[Sick(X)]``.
        table : array_like or None
            Potentials, nested or flat; None if unknown.
        where : iterable of str
            ``X != Y``, ``X != eve``, ``X = eve``.
        support : float or array_like, optional
            How many records stand behind the table, in all or for each combination of the given
            arguments.
        given : str or iterable of str, optional
            The arguments that the table is conditional on; if missing, the table tells.
        prior : float or array_like, optional
            What was added to every count.

        Returns
        -------
        Parfactor

        Examples
        --------
        >>> print(Parfactor.of("g", ["Friends(X,Y)", "Smokes(X)"], [1, 1, 1, 2], ["X != Y"]))
        g: Friends(X,Y), Smokes(X) where X != Y
        """
        parsed = tuple(
            parse_argument(each) if isinstance(each, str) else each for each in arguments
        )
        return cls(
            name,
            parsed,
            potentials(name, table),
            tuple(parse_comparison(each) if isinstance(each, str) else each for each in where),
            parfactor_support(name, parsed, support, given, prior),
        )

    def __str__(self) -> str:
        where = f" where {', '.join(map(str, self.where))}" if self.where else ""
        return f"{self.name}: {', '.join(map(str, self.arguments))}{where}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parfactor):
            return NotImplemented
        if (self.name, self.arguments, self.where) != (other.name, other.arguments, other.where):
            return False
        if self.support != other.support:
            return False
        if self.table is None or other.table is None:
            return self.table is other.table
        return np.array_equal(self.table, other.table)

    __hash__ = None  # type: ignore[assignment]


def parfactor_support(
    name: str, arguments: Iterable[Argument], support: Any, given: Any, prior: Any
) -> TableSupport | None:
    """The support of a parfactor from plain values; given: arguments as texts."""
    owner, texts = f"parfactor '{name}'", list(map(str, arguments))
    return support_of(owner, support, given_positions(owner, texts, given), prior)


def potentials(name: str, table: Any) -> Floats | None:
    """Nested numbers as the flat table of a parfactor; None stays unknown."""
    if table is None:
        return None
    values = as_floats(table)
    if values is None:
        raise not_numbers(f"parfactor '{name}'")
    return frozen(values + 0.0)


class ParfactorError(ModelError):
    """What is wrong in which part of which parfactor; readers of files add where it stands.

    steps: ("args", 2) or ("where", 0), ("args",) for all arguments, nothing for the whole.
    """

    def __init__(self, number: int, name: str, steps: tuple[str | int, ...], text: str) -> None:
        part = "".join(f"[{step}]" if isinstance(step, int) else step for step in steps)
        super().__init__(f"parfactor '{name}': {part + ': ' if part else ''}{text}")
        self.number, self.steps, self.text = number, steps, text
