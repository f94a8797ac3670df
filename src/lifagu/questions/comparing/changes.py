"""`Changes`: what changed between two results, as one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.basics.html import Shown
from lifagu.questions.comparing.found import FoundChanges
from lifagu.questions.comparing.words import changes_in_words


@dataclass(frozen=True, eq=False, repr=False)
class Changes(FoundChanges, Shown):
    """What changed between two results, and why; `compare` makes it.

    What it holds is said in `FoundChanges`; `str` says it in words, `json` as plain values.
    """

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return changes_in_words(self)

    def __repr__(self) -> str:
        return f"<Changes: {self.changed} of {self.compared} answers changed>"
