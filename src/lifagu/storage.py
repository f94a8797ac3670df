"""Where models are kept: text files in the room `formats`, folders of Parquet tables in the room `sql`.

Neither room knows the other; this door above both tells by the path which one is meant.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lifagu.errors import FormatError
from lifagu.evidence import EvidenceLike, Observation
from lifagu.formats import read as read_file
from lifagu.formats import read_evidence as read_file_evidence
from lifagu.formats import write as write_file
from lifagu.grounding import expand_evidence, ground
from lifagu.model import FactorGraph
from lifagu.relational import ParfactorGraph
from lifagu.replacing import PathLike
from lifagu.sql import check_folder, model_tables, read_folder, read_folder_evidence, write_folder


def read(path: PathLike) -> FactorGraph | ParfactorGraph:
    """Read a model: a file by its ending, or a folder of Parquet tables (docs/formats.md).

    Files with domains, relations or parfactors give a relational model, everything else a factor graph.
    """
    return read_folder(path) if is_folder(path) else read_file(path)


def read_evidence(path: PathLike) -> dict[str, Observation]:
    """The evidence in a file or folder: a lifagu model's own, a JSON object (name → label), or an ``.evid`` file.

    Models in other formats carry no evidence.
    """
    return read_folder_evidence(path) if is_folder(path) else read_file_evidence(path)


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
        evidence = expand_evidence(model, evidence, graph) if isinstance(evidence, Mapping) else evidence
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
