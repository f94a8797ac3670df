"""Files: a model's format is told by the ending of its name, compressed ones by a further ``.gz``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from lifagu.errors import FormatError, ModelError
from lifagu.formats.contents import Contents
from lifagu.formats.files import PathLike, ending, read_text, write_text
from lifagu.graph.evidence import EvidenceLike, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.parfactor_graph import ParfactorGraph

FORMATS = {
    ".json": "lifagu's own format, the only one with unknown factors, kinds and individuals",
    ".uai": "UAI competition files, with evidence in .evid files",
    ".fg": "libDAI factor graphs",
    ".blog": "BLOG with parfactors, with evidence and questions",
    ".pfl": "the Prolog Factor Language, with evidence; read only",
}
WRITTEN = tuple(kind for kind in FORMATS if kind != ".pfl")
NETWORKS = {
    ".bif": "Bayesian networks in BIF",
    ".bifxml": "Bayesian networks in XMLBIF",
    ".xmlbif": "Bayesian networks in XMLBIF",
    ".net": "Bayesian networks in Hugin's format",
    ".dsl": "Bayesian networks in Genie's text format",
    ".xdsl": "Bayesian networks in Genie's XML format",
    ".o3prm": "Bayesian networks in O3PRM",
}
# functions by format, imported when a file needs them
_MODELS = {".uai": "uai.parse_uai", ".fg": "fg.parse_fg"}
_CONTENTS = {".json": "native.contents", ".blog": "blog.contents", ".pfl": "pfl.contents"}
_TEXTS = {
    ".json": "native.to_json",
    ".blog": "blog_writer.format_blog",
    ".uai": "uai.format_uai",
    ".fg": "fg.format_fg",
}
_EVIDENCE = (".json", ".evid", ".blog", ".pfl")


def _function(name: str) -> Any:
    """A function of one of the modules beside this one."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"lifagu.formats.{module}"), function)


def contents(path: PathLike) -> Contents:
    """What a model file says: read and parsed once, so that all of it is of one state of the file."""
    kind = ending(path)
    if kind in _CONTENTS:
        found: Contents = _function(_CONTENTS[kind])(read_text(path), str(path))
        return replace(found, model=partial(_named, path, found.model))
    return Contents(
        partial(_named, path, partial(_model_alone, path)), partial(_evidence_alone, path)
    )


def _named(
    path: PathLike, model: Callable[[], FactorGraph | ParfactorGraph]
) -> FactorGraph | ParfactorGraph:
    try:
        return model()
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def _model_alone(path: PathLike) -> FactorGraph:
    """The model in a file that holds nothing else."""
    kind = ending(path)
    if kind in NETWORKS:
        from lifagu.formats.with_pyagrum import read_network

        return read_network(path)
    if kind not in _MODELS:
        raise FormatError(_unknown_ending(path, [*FORMATS, *NETWORKS]))
    graph: FactorGraph = _function(_MODELS[kind])(read_text(path), str(path))
    return graph


def _evidence_alone(path: PathLike) -> dict[str, Observation]:
    """The evidence in a file that holds nothing else, or no evidence."""
    kind = ending(path)
    if kind == ".evid":
        found: dict[str, Observation] = _function("uai.parse_evidence")(read_text(path), str(path))
        return found
    if kind not in FORMATS and kind not in NETWORKS:
        raise FormatError(_unknown_ending(path, list(_EVIDENCE)))
    return {}


def read(path: PathLike) -> FactorGraph | ParfactorGraph:
    """Read a model, told by the ending of its name (see FORMATS; NETWORKS need pyAgrum).

    A file with domains, relations or parfactors (in BLOG and PFL, random variables with arguments)
    gives a relational model, everything else a factor graph.
    """
    return contents(path).model()


def read_evidence(path: PathLike) -> dict[str, Observation]:
    """The evidence in a file: a model's own, a JSON object (name → label), or an ``.evid`` file.

    Models in other formats than .json, .blog and .pfl carry no evidence.
    """
    return contents(path).evidence()


def read_queries(path: PathLike) -> list[str]:
    """The variables that a model file itself asks about; only .blog files do."""
    return contents(path).queries() if ending(path) == ".blog" else []


def write(
    graph: FactorGraph | ParfactorGraph, path: PathLike, evidence: EvidenceLike = None
) -> None:
    """Write a model, replacing the file in one step.

    Evidence goes into the file itself, and for .uai beside it as .uai.evid.

    A relational model is written as it is into .json and .blog, and grounded for the other formats.
    """
    kind = ending(path)
    if isinstance(graph, ParfactorGraph):
        if kind in (".json", ".blog"):
            write_text(path, _function(_TEXTS[kind])(graph, evidence))
            return
        graph, evidence = _grounded(graph, evidence, kind)
    observed = graph.evidence(evidence)
    if kind not in WRITTEN:
        raise FormatError(_not_written(path, kind))
    if kind == ".fg" and observed:
        raise FormatError(
            f"{path}: .fg holds no evidence; write .json or .uai, or leave the evidence out"
        )
    holds_evidence = (observed,) if kind in (".json", ".blog") else ()
    text = _function(_TEXTS[kind])(graph, *holds_evidence)
    seen = (
        _function("uai.format_evidence")(graph, observed) if kind == ".uai" and observed else None
    )
    write_text(path, text)
    if seen is not None:
        write_text(f"{str(path).removesuffix('.gz')}.evid", seen)


def _not_written(path: PathLike, kind: str) -> str:
    if kind in NETWORKS:
        return f"{path}: a factor graph is not a Bayesian network; write {', '.join(WRITTEN)}"
    if kind in FORMATS:
        return f"{path}: {kind} is only read; write {', '.join(WRITTEN)}"
    return _unknown_ending(path, list(WRITTEN))


def _grounded(
    model: ParfactorGraph, evidence: EvidenceLike, kind: str
) -> tuple[FactorGraph, EvidenceLike]:
    """The grounding of a relational model with its evidence; nothing for formats never written."""
    if kind not in WRITTEN:
        return FactorGraph.build().graph(), None
    from lifagu.relational.grounding import expand_evidence, ground

    graph = ground(model)
    return graph, expand_evidence(model, evidence, graph)


def _unknown_ending(path: PathLike, known: list[str]) -> str:
    return f"{path}: the ending '{ending(path)}' tells no known format; known are {', '.join(known)} (each also with .gz)"
