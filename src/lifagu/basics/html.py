"""Values that notebooks show as HTML; how, is said once by whoever stands above them.

So a graph can appear as a figure although values may not import the room that draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Shown:
    """A value that Jupyter, marimo and the like show as HTML."""

    _html: ClassVar[Callable[[Any], str] | None] = None

    def _repr_html_(self) -> str | None:
        """HTML, or None for plain text while nobody has said how."""
        return None if Shown._html is None else Shown._html(self)


def show_with(html: Callable[[Any], str]) -> None:
    """Say how values become HTML."""
    Shown._html = staticmethod(html)
