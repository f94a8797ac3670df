"""A template with what was learned for it, written: its text, and Parquet files of many groups."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, replaced_file
from lifagu.errors import FormatError
from lifagu.formats.learned_json import learned_template
from lifagu.relational.loaded import Loaded


def check_learned(path: PathLike) -> None:
    """Refuse now, before long work, a file that could not hold a template."""
    if Path(path).suffix.lower() != ".json":
        raise FormatError(f"{path}: a learned template is written as .json")


def write_learned(loaded: Loaded, path: PathLike) -> None:
    """Write a learned template; no file is replaced before all of them are there.

    Files of groups take their places before the text that names them.
    """
    check_learned(path)
    made = learned_template(loaded, path)
    with ExitStack() as stack:
        text = stack.enter_context(replaced_file(path))
        text.write_text(made.text, encoding="utf-8")
        if made.tables:
            from lifagu.data.duck import Duck
            from lifagu.data.parquet.copying import copy_columns

            duck = stack.enter_context(Duck(threads=1))
            for name, columns in made.tables.items():
                target = Path(path).parent / name
                copy_columns(duck, columns, stack.enter_context(replaced_file(target)), target)
