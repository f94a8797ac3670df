"""Where the data of a template is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where the data is: a path or URL as written, or files by the name of the table each is to be.

    Parameters
    ----------
    address : str or mapping
        The path or URL, or the file of each table.
    folder : str
        What relative paths are relative to.
    place : str
        Where in which template it stands, for errors.
    """

    address: str | Mapping[str, str]
    folder: str = "."
    place: str = "source"
