"""A template with what was learned for it, written: its text, and Parquet files of many groups."""

from __future__ import annotations

import errno
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, failing, replaced_files
from lifagu.basics.inputs import real_path
from lifagu.errors import FormatError
from lifagu.formats.learned_json import learned_template
from lifagu.relational.loaded import Loaded


def check_learned(path: PathLike, template: PathLike) -> None:
    """Refuse now, before long work, a file that could not be written, or the template itself."""
    if Path(path).suffix.lower() != ".json":
        raise FormatError(f"{path}: a learned template is written as .json")
    if real_path(path) == real_path(template):
        raise FormatError(
            f"{path}: this is the template itself, which says what is to be learned; "
            "name another file"
        )
    with failing(path, "cannot be written here"):
        if not Path(path).parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder")


def write_learned(loaded: Loaded, path: PathLike) -> None:
    """Write a learned template; its files take their places all together, or none does."""
    check_learned(path, "" if loaded.template is None else loaded.template.place)
    made = learned_template(loaded, path)
    with replaced_files(path, list(made.tables)) as (text, *files):
        text.write_text(made.text, encoding="utf-8")
        if made.tables:
            from lifagu.data.duck import Duck
            from lifagu.data.parquet.copying import copy_columns

            with Duck(threads=1) as duck:
                for file, columns in zip(files, made.tables.values(), strict=True):
                    copy_columns(duck, columns, file, Path(path).with_name(file.name))
