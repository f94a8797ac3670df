"""Files: a model's format is told by the ending of its name, without a further ``.gz``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from lifagu.basics.atomic_files import replaced_files, settle
from lifagu.errors import FormatError, ModelError
from lifagu.formats.budget import Budget
from lifagu.formats.contents import Contents
from lifagu.formats.files import FORMATS as FORMATS
from lifagu.formats.files import NETWORKS, PathLike, as_bytes, ending, read_within, write_text
from lifagu.graph.evidence import EvidenceLike, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.parfactor_graph import ParfactorGraph

# functions by format, imported when a file needs them
_MODELS = {".uai": "uai.parse_uai", ".fg": "fg.parse_fg"}
_CONTENTS = {".json": "native.contents", ".blog": "blog.contents"}
_TEXTS = {
    ".json": "native.to_json",
    ".blog": "blog_writer.format_blog",
    ".uai": "uai.format_uai",
    ".fg": "fg.format_fg",
}
_EVIDENCE = (".json", ".evid", ".blog")


def _function(name: str) -> Any:
    """A function of one of the modules beside this one."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"lifagu.formats.{module}"), function)


def contents(path: PathLike, memory_limit: int | None = None) -> Contents:
    """What a model file says: read and parsed once, so that all of it is of one state of the file.

    A file with domains, relations or parfactors (in BLOG, random variables with arguments)
    gives a relational model, everything else a factor graph. Only .json and .blog files carry
    evidence beside a model; a .json or .evid file may hold nothing else. What reading it may take
    is as `Budget` says.
    """
    kind = ending(path)
    text_of = partial(read_within, path, memory_limit)
    if kind in _CONTENTS:
        text, budget = text_of()
        paid = () if kind == ".json" else (budget,)  # whose numbers announce nothing
        found: Contents = _function(_CONTENTS[kind])(text, str(path), *paid)
    else:
        found = Contents(
            partial(_model_alone, path, text_of), partial(_evidence_alone, path, text_of)
        )
    return replace(found, model=partial(_named, path, found.model))


def _named(
    path: PathLike, model: Callable[[], FactorGraph | ParfactorGraph]
) -> FactorGraph | ParfactorGraph:
    try:
        return model()
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def _model_alone(path: PathLike, text_of: Callable[[], tuple[str, Budget]]) -> FactorGraph:
    """The model in a file that holds nothing else."""
    kind = ending(path)
    if kind in NETWORKS:
        from lifagu.formats.networks import read_network

        return read_network(path, *text_of())
    if kind not in _MODELS:
        raise FormatError(_unknown_ending(path, [*FORMATS, *NETWORKS]))
    text, budget = text_of()
    graph: FactorGraph = _function(_MODELS[kind])(text, str(path), budget)
    return graph


def _evidence_alone(
    path: PathLike, text_of: Callable[[], tuple[str, Budget]]
) -> dict[str, Observation]:
    """The evidence in a file that holds nothing else, or no evidence."""
    kind = ending(path)
    if kind == ".evid":
        for model in (os.fspath(path)[: -len(".evid")], f"{os.fspath(path)[: -len('.evid')]}.gz"):
            settle(model)  # which it may have been written beside
        found: dict[str, Observation] = _function("uai.parse_evidence")(text_of()[0], str(path))
        return found
    if kind not in FORMATS and kind not in NETWORKS:
        raise FormatError(_unknown_ending(path, _EVIDENCE))
    return {}


def read_queries(path: PathLike) -> list[str]:
    """The variables that a model file itself asks about.

    Parameters
    ----------
    path
        A model file. Only ``.blog`` files hold questions.

    Returns
    -------
    list of str
        Names of ground variables, in the order of the file; empty for other formats.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.blog"
    ...     _ = path.write_text("random Boolean Epid; query Epid;")
    ...     read_queries(path)
    ['Epid']
    """
    return contents(path).queries() if ending(path) == ".blog" else []


def write(
    graph: FactorGraph | ParfactorGraph, path: PathLike, evidence: EvidenceLike = None
) -> None:
    """Write a model, replacing the file in one step.

    Evidence goes into the file itself, and for .uai beside it as .uai.evid. A relational model is
    written as it is into .json and .blog, and grounded for the other formats.
    """
    kind = ending(path)
    if kind not in FORMATS:
        raise FormatError(_not_written(path, kind))
    if isinstance(graph, ParfactorGraph):
        if kind in (".json", ".blog"):
            write_text(path, _function(_TEXTS[kind])(graph, evidence))
            return
        from lifagu.relational.grounding import expand_evidence, ground

        model, graph = graph, ground(graph)
        evidence = expand_evidence(model, evidence, graph)
    observed = graph.evidence(evidence)
    if kind == ".fg" and observed:
        raise FormatError(
            f"{path}: .fg holds no evidence; write .json or .uai, or leave the evidence out"
        )
    holds_evidence = (observed,) if kind in (".json", ".blog") else ()
    text = _function(_TEXTS[kind])(graph, *holds_evidence)
    if kind != ".uai" or not observed:
        write_text(path, text)
        return
    seen = _function("uai.format_evidence")(graph, observed)
    beside = f"{Path(path).name.removesuffix('.gz')}.evid"
    with replaced_files(path, [beside]) as (model_file, evidence_file):
        model_file.write_bytes(as_bytes(path, text))
        evidence_file.write_bytes(as_bytes(beside, seen))


def _not_written(path: PathLike, kind: str) -> str:
    if kind in NETWORKS:
        return f"{path}: a factor graph is not a Bayesian network; write {', '.join(FORMATS)}"
    return _unknown_ending(path, FORMATS)


def _unknown_ending(path: PathLike, known: Iterable[str]) -> str:
    return (
        f"{path}: the ending '{ending(path)}' tells no known format; "
        f"known are {', '.join(known)} (each also with .gz)"
    )
