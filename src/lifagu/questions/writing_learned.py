"""Learned templates in files: formats make the text, data the Parquet files beside it."""

from __future__ import annotations

from lifagu.basics.atomic_files import PathLike
from lifagu.errors import FormatError
from lifagu.formats.files import ending
from lifagu.formats.learned_json import learned_template
from lifagu.relational.loaded import Loaded


def write_learned(loaded: Loaded, path: PathLike) -> None:
    """Write a template with what was learned for it; all of its files, or none."""
    if ending(path) != ".json" or str(path).endswith(".gz"):
        raise FormatError(f"{path}: a learned template is a .json file; name one")
    files = learned_template(loaded, path)
    from lifagu.data.parquet.writing import write_beside

    write_beside(path, files.text.encode(), files.tables)
