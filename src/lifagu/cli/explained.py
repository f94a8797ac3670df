"""Why tables were filled as they were, in the lines of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from lifagu.questions.doubts import weakest_behind

if TYPE_CHECKING:
    from lifagu import Transfer

MOST_EXPLAINED = 3  # tables behind answers


def explained(moved: Transfer, factor: str) -> str:
    """Who agrees, who is nearest and what would settle it, below the reason for a table."""
    return indent(str(moved.explain(factor)), " " * 6)


def weakest_explained(moved: Transfer, variables: Sequence[str], factors: Sequence[str]) -> str:
    """The reasons for the weakest of the filled tables behind answers, each told once."""
    return "\n".join(
        f"{each.factor}: {each.reason}\n{explained(moved, each.factor)}"
        for each in weakest_behind(moved, variables, factors, MOST_EXPLAINED)
    )
