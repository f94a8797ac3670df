"""Colourings: which nodes of a factor graph look alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints, as_ids, frozen, members
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.errors import ModelError
from lifagu.graph.contents import GraphContents
from lifagu.graph.views import counted


@dataclass(frozen=True, eq=False)
class Colouring(Frozen, Shown):
    """Which variables and which factors look alike: dense colours, numbered by first occurrence.

    Parameters
    ----------
    variable_colours : array_like of int, shape (n,)
        The colour of each variable.
    factor_colours : array_like of int, shape (m,)
        The colour of each factor.
    """

    variable_colours: Ints
    factor_colours: Ints

    def __post_init__(self) -> None:
        for name in ("variable_colours", "factor_colours"):
            object.__setattr__(self, name, frozen(as_ids(getattr(self, name), name)))

    @cached_property
    def variable_groups(self) -> list[Ints]:
        """Variables of equal colour, each group in input order, groups by first member."""
        return members(self.variable_colours)

    @cached_property
    def factor_groups(self) -> list[Ints]:
        """Factors of equal colour, each group in input order, groups by first member."""
        return members(self.factor_colours)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Colouring):
            return NotImplemented
        return np.array_equal(self.variable_colours, other.variable_colours) and np.array_equal(
            self.factor_colours, other.factor_colours
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        variables = counted(len(self.variable_groups), "variable group")
        return f"<Colouring: {variables}, {counted(len(self.factor_groups), 'factor group')}>"


def check_colouring(colouring: Any, graph: GraphContents) -> None:
    """The colouring must be one of this graph."""
    if not isinstance(colouring, Colouring):
        raise ModelError(
            f"colouring is a Colouring, as `colour` finds it, not {type(colouring).__name__}"
        )
    sizes = len(colouring.variable_colours), len(colouring.factor_colours)
    if sizes != (len(graph.variable_names), len(graph.factor_names)):
        raise ModelError("the colouring is one of another graph; give one of this graph, or none")
