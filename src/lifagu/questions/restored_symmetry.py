"""How much looks alike again once cohorts say which table is behind each estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.individuals import factor_owners
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import Colouring
from lifagu.symmetry.colour import colour


@dataclass(frozen=True)
class GroupCounts:
    """How many groups look alike."""

    variables: int
    factors: int

    @classmethod
    def of(cls, colouring: Colouring) -> GroupCounts:
        """Of a coloured graph."""
        colours = colouring.variable_colours, colouring.factor_colours
        return cls(*(int(each.max(initial=-1)) + 1 for each in colours))


@dataclass(frozen=True)
class RestoredSymmetry:
    """Groups with tables as they were estimated, and with the likeliest table behind each."""

    individuals: int
    factors: int
    as_estimated: GroupCounts
    by_cohorts: GroupCounts

    def __str__(self) -> str:
        return (
            f"{self.individuals:,} individuals, {self.factors:,} factors: "
            f"{self.as_estimated.factors:,} groups with tables as they were estimated, "
            f"{self.by_cohorts.factors:,} with the likeliest table behind each"
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        ways = {"as_estimated": self.as_estimated, "by_cohorts": self.by_cohorts}
        groups = {
            name: {"variable_groups": each.variables, "factor_groups": each.factors}
            for name, each in ways.items()
        }
        return {"individuals": self.individuals, "factors": self.factors, **groups}


def restored_symmetry(
    moved: Transfer, evidence: Evidence | None, found: Colouring
) -> RestoredSymmetry | None:
    """Groups without and with cohorts, None where these replace no estimated table.

    found: groups of the completed graph.
    """
    if not isinstance(moved, CohortTransfer) or not any(map(len, moved.cleaned)):
        return None
    kept = replace(moved, filling=replace(moved.filling, keep_known=True))
    owners = factor_owners(moved.original)
    return RestoredSymmetry(
        len(np.unique(owners[owners >= 0])) or moved.posterior.places.count,
        len(moved.original.factor_names),
        GroupCounts.of(colour(kept.graph, evidence, **kept.start)),
        GroupCounts.of(found),
    )
