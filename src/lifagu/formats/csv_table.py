"""Results as comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from lifagu.errors import FormatError
from lifagu.formats.files import PathLike, ending, read_text, write_text


def read_csv(path: PathLike) -> list[list[str]]:
    """The rows of a CSV file as texts, its header first."""
    rows = csv.reader(StringIO(read_text(path), newline=""))
    try:
        return list(rows)
    except csv.Error as error:
        raise FormatError(f"{path}:{rows.line_num}: {error}") from None


def write_csv(path: PathLike, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a ``.csv`` or ``.csv.gz`` file in one step; numbers read back as they were.

    Parameters
    ----------
    path
        Where to write; a file that is there is replaced.
    header
        The titles of the columns.
    rows
        One sequence of values a row; None becomes an empty field.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     write_csv(path, ["variable", "true"], [["Epid", 0.1], ["Sick", None]])
    ...     path.read_text()
    'variable,true\\nEpid,0.1\\nSick,\\n'
    """
    if ending(path) != ".csv":
        raise FormatError(f"{path}: tables are written as .csv (or .csv.gz)")
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())
