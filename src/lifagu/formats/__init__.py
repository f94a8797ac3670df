"""Files: a model's format is told by the ending of its name, compressed ones by a further ``.gz``."""

from __future__ import annotations

from collections.abc import Callable

from lifagu.errors import FormatError, ModelError
from lifagu.evidence import EvidenceLike, Observation
from lifagu.formats import blog, fg, native, pfl, uai
from lifagu.formats.blog_writer import format_blog
from lifagu.formats.files import PathLike, ending, read_text, write_text
from lifagu.formats.template_json import parse_template
from lifagu.grounding import expand_evidence, ground
from lifagu.model import FactorGraph
from lifagu.relational import ParfactorGraph
from lifagu.template import Template

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
_PARSERS: dict[str, Callable[[str, str], FactorGraph | ParfactorGraph]] = {
    ".json": native.from_json,
    ".uai": uai.parse_uai,
    ".fg": fg.parse_fg,
    ".blog": blog.parse_blog,
    ".pfl": pfl.parse_pfl,
}
_EVIDENCE: dict[str, Callable[[str, str], dict[str, Observation]]] = {
    ".json": native.parse_evidence,
    ".evid": uai.parse_evidence,
    ".blog": blog.parse_evidence,
    ".pfl": pfl.parse_evidence,
}


def read(path: PathLike) -> FactorGraph | ParfactorGraph:
    """Read a model: .json, .uai, .fg, .blog and .pfl, and Bayesian networks through pyAgrum where it is installed.

    A file with domains, relations or parfactors (in BLOG and PFL, random variables with arguments) gives a relational
    model, everything else a factor graph.
    """
    kind = ending(path)
    if kind in NETWORKS:
        from lifagu.formats.with_pyagrum import read_network

        return read_network(path)
    if kind not in _PARSERS:
        raise FormatError(_unknown_ending(path, [*FORMATS, *NETWORKS]))
    try:
        return _PARSERS[kind](read_text(path), str(path))
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def read_evidence(path: PathLike) -> dict[str, Observation]:
    """The evidence in a file: a model's own, a JSON object (name → label), or an ``.evid`` file.

    Models in other formats than .json, .blog and .pfl carry no evidence.
    """
    kind = ending(path)
    if kind in _EVIDENCE:
        return _EVIDENCE[kind](read_text(path), str(path))
    if kind in FORMATS or kind in NETWORKS:
        return {}
    raise FormatError(_unknown_ending(path, list(_EVIDENCE)))


def read_queries(path: PathLike) -> list[str]:
    """The variables that a model file itself asks about; only .blog files do."""
    return blog.parse_queries(read_text(path), str(path)) if ending(path) == ".blog" else []


def read_template(path: PathLike) -> Template | None:
    """What a .json file says if it is a template, None if it is an ordinary model or another file."""
    return parse_template(read_text(path), str(path)) if ending(path) == ".json" else None


def write(graph: FactorGraph | ParfactorGraph, path: PathLike, evidence: EvidenceLike = None) -> None:
    """Write a model, replacing the file in one step; evidence goes into the file itself, and beside .uai as .uai.evid.

    A relational model is written as it is into .json and .blog, and grounded for the other formats.
    """
    kind = ending(path)
    if isinstance(graph, ParfactorGraph):
        if kind in (".json", ".blog"):
            write_text(path, (native.to_json if kind == ".json" else format_blog)(graph, evidence))
            return
        graph, evidence = _grounded(graph, evidence, kind)
    observed = graph.evidence(evidence)
    if kind == ".json":
        write_text(path, native.to_json(graph, observed))
    elif kind == ".uai":
        text, seen = uai.format_uai(graph), uai.format_evidence(graph, observed)
        write_text(path, text)
        if observed:
            write_text(f"{str(path).removesuffix('.gz')}.evid", seen)
    elif kind == ".fg":
        if observed:
            raise FormatError(f"{path}: .fg holds no evidence; write .json or .uai, or leave the evidence out")
        write_text(path, fg.format_fg(graph))
    elif kind == ".blog":
        write_text(path, format_blog(graph, observed))
    elif kind in NETWORKS:
        raise FormatError(f"{path}: a factor graph is not a Bayesian network; write {', '.join(WRITTEN)}")
    elif kind in FORMATS:
        raise FormatError(f"{path}: {kind} is only read; write {', '.join(WRITTEN)}")
    else:
        raise FormatError(_unknown_ending(path, list(WRITTEN)))


def _grounded(model: ParfactorGraph, evidence: EvidenceLike, kind: str) -> tuple[FactorGraph, EvidenceLike]:
    """The grounding of a relational model, with its evidence; nothing is grounded for formats that are not written."""
    if kind not in WRITTEN:
        return FactorGraph.build().graph(), None
    graph = ground(model)
    return graph, expand_evidence(model, evidence, graph)


def _unknown_ending(path: PathLike, known: list[str]) -> str:
    return (
        f"{path}: the ending '{ending(path)}' tells no known format; known are {', '.join(known)} (each also with .gz)"
    )
