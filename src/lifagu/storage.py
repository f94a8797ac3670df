"""Where models are kept: text files in the room `formats`, folders of Parquet tables and databases in the room `sql`.

Neither room knows the other; this door above both tells by the path which one is meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from lifagu.columns import Columns
from lifagu.errors import FormatError
from lifagu.evidence import EvidenceLike, Observation
from lifagu.formats import read as read_file
from lifagu.formats import read_evidence as read_file_evidence
from lifagu.formats import read_queries, read_template
from lifagu.formats import write as write_file
from lifagu.grounding import expand_evidence, ground
from lifagu.model import FactorGraph
from lifagu.relational import ParfactorGraph
from lifagu.replacing import PathLike
from lifagu.sql import (
    check_folder,
    check_writable,
    load_template,
    model_tables,
    read_folder,
    read_folder_evidence,
    write_folder,
)
from lifagu.sql import write_results as write_into
from lifagu.template import Loaded, Source


def load(path: PathLike, database: str | None = None, progress: Callable[[str], None] | None = None) -> Loaded:
    """Read a model, its evidence and its questions at once: a file by its ending, a folder, or a template.

    A template's database is asked once; database: the path or URL of another one than it names. progress(text) is
    told what is being read. What `read` and `read_evidence` give are parts of this.
    """
    if is_folder(path):
        _refuse_database(path, database)
        return Loaded(read_folder(path), read_folder_evidence(path))
    template = read_template(path)
    if template is not None:
        source = template.source if database is None else _named(database)
        return replace(load_template(template, source, progress), source=source)
    _refuse_database(path, database)
    return Loaded(read_file(path), read_file_evidence(path), read_queries(path))


def read(path: PathLike, database: str | None = None) -> FactorGraph | ParfactorGraph:
    """Read a model: a file by its ending, a folder of Parquet tables (docs/formats.md), or a template with its data.

    Files with domains, relations or parfactors give a relational model, everything else a factor graph. database: the
    path or URL of the database that a template is to read instead of its own.
    """
    if is_folder(path):
        _refuse_database(path, database)
        return read_folder(path)
    if read_template(path) is not None:
        return load(path, database).model
    _refuse_database(path, database)
    return read_file(path)


def read_evidence(path: PathLike, database: str | None = None) -> dict[str, Observation]:
    """The evidence in a file or folder: a model's or template's own, a JSON object (name → label), an ``.evid`` file.

    Models in other formats carry no evidence.
    """
    if is_folder(path):
        return read_folder_evidence(path)
    if read_template(path) is None:
        return read_file_evidence(path)
    return dict(load(path, database).evidence)


def write_results(database: str | Source, tables: Mapping[str, Columns]) -> None:
    """Put result tables ``lifagu_…`` into a database, given by path or URL, all in one transaction or none.

    Each takes the place of an earlier one of its name; nothing else is touched.
    """
    write_into(_named(database), tables)


def check_database(database: str | Source) -> None:
    """Refuse now, before long work, a database that `write_results` would refuse."""
    check_writable(_named(database))


def _named(database: str | Source) -> Source:
    """A database that was named on the command line or in Python: paths are relative to the current folder."""
    return database if isinstance(database, Source) else Source(database, place="database")


def _refuse_database(path: PathLike, database: str | None) -> None:
    if database is not None:
        raise FormatError(f"{path}: this model reads no database; a template names its source in the file")


def write(graph: FactorGraph | ParfactorGraph, path: PathLike, evidence: EvidenceLike = None) -> None:
    """Write a model, replacing the file or folder in one step.

    Evidence goes along with the model, and beside .uai as .uai.evid. A relational model is written as it is into .json
    and .blog, and grounded for everything else.
    """
    if not is_folder(path):
        write_file(graph, path, evidence)
        return
    check_target(path)
    if isinstance(graph, ParfactorGraph):
        model, graph = graph, ground(graph)
        evidence = expand_evidence(model, evidence, graph)
    write_folder(path, model_tables(graph, graph.evidence(evidence)))


def check_target(path: PathLike) -> None:
    """Refuse now, before long work, a folder that writing would refuse to replace."""
    if is_folder(path):
        check_folder(path)


def is_folder(path: PathLike) -> bool:
    """Whether a path means a folder of Parquet tables: it is one, ends with a slash, or is new and has no ending.

    >>> is_folder("big/"), is_folder("new"), is_folder("model.json")
    (True, True, False)
    """
    place = Path(path)
    if place.suffix.lower() == ".parquet" and not place.is_dir():
        raise FormatError(f"{path}: a model is a folder of Parquet tables, not one of them; name the folder")
    slashed = os.fspath(path).endswith(("/", os.sep))
    return place.is_dir() or slashed or not (place.suffix or place.exists())
