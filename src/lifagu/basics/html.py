"""Values that notebooks show as HTML, and tables that become frames of other libraries.

How, is said once by whoever stands above them. So a graph can appear as a figure although values
may not import the room that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

Columns = Mapping[str, Any]  # those of `columns`, which makes frames of them


class Shown:
    """A value that Jupyter, marimo and the like show as HTML."""

    _html: ClassVar[Callable[[Any], str] | None] = None

    def __repr__(self) -> str:
        """What a plan says first; values that say nothing of themselves are as any object."""
        if type(self).__str__ is object.__str__:
            return object.__repr__(self)
        return f"<{type(self).__name__}: {str(self).partition(chr(10))[0]}>"

    def _repr_html_(self) -> str | None:
        """HTML, or None for plain text while nobody has said how."""
        return None if Shown._html is None else Shown._html(self)


def show_with(html: Callable[[Any], str]) -> None:
    """Say how values become HTML."""
    Shown._html = staticmethod(html)


class Framed:
    """What has `tables`, the first of which is one for pandas, polars, pyarrow and the like."""

    _streamed: ClassVar[Callable[[Columns, Any], Any] | None] = None
    _exchanged: ClassVar[Callable[[Columns], Any] | None] = None

    def tables(self) -> dict[str, Columns]:
        """By column: name → columns."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        assert Framed._streamed is not None
        return Framed._streamed(next(iter(self.tables().values())), requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        assert Framed._exchanged is not None
        return Framed._exchanged(next(iter(self.tables().values())))


def frame_with(
    streamed: Callable[[Columns, Any], Any], exchanged: Callable[[Columns], Any]
) -> None:
    """Say how columns become a stream of Arrow's, and what the interchange protocol gives."""
    Framed._streamed, Framed._exchanged = staticmethod(streamed), staticmethod(exchanged)
