"""Layers over a source: tables of a database as they would be if some values were missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LayeredTable:
    """A table that stands before one of the database, which is left as it is.

    name: in the catalogue, and alone, without its schema, in queries; rows: its rows, numbered, as
    they stand after FROM; number: what their number is called; columns: of the table; key: those
    that tell rows apart, none where their number does; hidden: by column the keys, as texts, of
    those whose value is NULL; flag: a further column that says whether a condition held before.
    """

    name: str
    rows: str
    number: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    hidden: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)
    flag: tuple[str, str] | None = None
