"""Figures of models: what there is to see is computed here and drawn by the room `drawing`.

This file composes: `colour`, `transfer` and `lift` say what there is to see, `drawing` makes a
scene of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifagu.basics.atomic_files import PathLike, replaced_file
from lifagu.basics.choices import FIGURES, Figure
from lifagu.basics.inputs import flag, instance
from lifagu.basics.inputs import path as as_path
from lifagu.drawing.converting import to_pdf, to_png
from lifagu.drawing.graphs import Loan, fits, graph_scene, recoloured
from lifagu.drawing.lifted import LiftedFrom, is_groundable, lifted_scene
from lifagu.drawing.scene import Scene
from lifagu.drawing.svg import to_svg
from lifagu.errors import FormatError, ModelError, TooLargeError
from lifagu.filling.result import Transfer
from lifagu.filling.transfer import transfer
from lifagu.graph.evidence import Evidence, EvidenceLike
from lifagu.graph.factor_graph import Colouring, FactorGraph, check_colouring
from lifagu.relational.grounding import expand_evidence, ground
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.symmetry.colour import colour, colour_rounds
from lifagu.symmetry.lifting import lift

Model = FactorGraph | ParfactorGraph | Transfer
ENDINGS = (".svg", ".png", ".pdf")


def draw(
    model: Model,
    what: Figure | None = None,
    *,
    evidence: EvidenceLike = None,
    colouring: Colouring | None = None,
    commutative: bool = False,
) -> Scene:
    """A figure of a model, which notebooks show; `plot` writes it to a file.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph or Transfer
        What to draw. A graph beyond 2,000 nodes is shown lifted, and a note says so.
    what : {"graph", "colours", "lifted", "transfers"}, optional
        The graph as it is; what looks alike in one colour and sign; one node per group, with sizes;
        arrows from donors to receivers. By default a transfer shows its arrows, others themselves.
    evidence : mapping or Evidence, optional
        Observed variables are marked, and colours tell them apart.
    colouring : Colouring, optional
        Groups to show instead of those that colour passing finds.
    commutative : bool
        Whether colour passing knows which arguments may be swapped.

    Returns
    -------
    Scene

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B"])
    >>> draw(graph.factor("f", ["A", "B"], [1, 2, 3, 4]).graph())
    <Scene: graph, 3 nodes, 2 edges>
    """
    usual = _usual(model)
    what = usual if what is None else what
    if not isinstance(what, str) or what not in FIGURES:
        raise ModelError(f"there is no figure '{what}'; choose one of {', '.join(FIGURES)}")
    flag("commutative", commutative)
    if isinstance(model, ParfactorGraph) and (what == "lifted" or not is_groundable(model)):
        return _instead(lifted_scene(model), what, "What this model means")
    whole = model if isinstance(model, Transfer) else ground(model)
    graph = whole.shown if isinstance(whole, Transfer) else whole
    if isinstance(model, ParfactorGraph):
        evidence = expand_evidence(model, evidence, graph)
    seen = graph.evidence(evidence)
    if what == "transfers" and not isinstance(whole, Transfer):
        whole = transfer(graph, evidence=seen)
    if what == "graph" and fits(graph):
        return graph_scene(graph, evidence=seen)
    if what == "lifted" or not fits(graph):
        scene = _instead(_lifted(whole), what, f"A graph of {_sizes(graph)}")
        return _saying(scene, whole)
    if colouring is not None:
        check_colouring(colouring, graph)
    groups = colouring or _colours(whole, seen, commutative)
    if what == "colours" or not isinstance(whole, Transfer):
        return _saying(graph_scene(graph, what=what, colouring=groups, evidence=seen), whole)
    loans, reasons = _loans(whole)
    scene = graph_scene(
        graph, what=what, colouring=groups, evidence=seen, loans=loans, reasons=reasons
    )
    return _saying(scene, whole)


def plot(
    model: Model | Scene,
    path: PathLike,
    what: Figure | None = None,
    *,
    evidence: EvidenceLike = None,
    colouring: Colouring | None = None,
    commutative: bool = False,
) -> Scene:
    """Write a figure to a file, replacing it in one step, and return it.

    Equal figures give equal bytes as SVG and PNG. PNG and PDF need the extra ``plot``.

    Parameters
    ----------
    model : FactorGraph, ParfactorGraph, Transfer or Scene
        What to draw.
    path : path
        Ends in .svg, .png or .pdf.
    what, evidence, colouring, commutative
        As in `draw`.

    Returns
    -------
    Scene
    """
    ending = check_figure(path)
    scene = (
        model
        if isinstance(model, Scene)
        else draw(model, what, evidence=evidence, colouring=colouring, commutative=commutative)
    )
    image = (
        to_svg(scene).encode()
        if ending == ".svg"
        else to_png(scene)
        if ending == ".png"
        else to_pdf(scene)
    )
    with replaced_file(path) as temporary:
        temporary.write_bytes(image)
    return scene


def draw_rounds(
    model: FactorGraph | Transfer, evidence: EvidenceLike = None, *, commutative: bool = False
) -> list[Scene]:
    """One figure per round of colour passing, first the start: colours change, nothing moves.

    Parameters
    ----------
    model : FactorGraph or Transfer
        A graph of at most 2,000 nodes.
    evidence : mapping or Evidence, optional
        As in `draw`.
    commutative : bool
        As in `draw`.

    Returns
    -------
    list of Scene

    Examples
    --------
    >>> graph = FactorGraph.build().variables(["A", "B", "C"])
    >>> graph = graph.factors({"f": ["A", "B"], "g": ["C", "B"]}, [1, 2, 3, 4]).graph()
    >>> [[group.sign for group in scene.groups if group.size] for scene in draw_rounds(graph)]
    [['1', 'a'], ['1', '2', 'a'], ['1', '2', 'a']]
    """
    instance("draw_rounds", model, FactorGraph, Transfer)
    flag("commutative", commutative)
    shown = model.shown if isinstance(model, Transfer) else model
    if not fits(shown):
        raise TooLargeError(
            f"rounds are drawn node by node, and a graph of {_sizes(shown)} is too large for that"
        )
    graph, settings = _start(model, commutative)
    rounds = list(colour_rounds(graph, graph.evidence(evidence), **settings))
    scene = graph_scene(shown, evidence=shown.evidence(evidence))
    first = int(rounds[-1].variable_colours.max(initial=-1)) + 1
    return [recoloured(scene, shown, each, first) for each in rounds]


def check_figure(path: PathLike) -> str:
    """The ending of a file for a figure; any other is an error."""
    ending = as_path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FormatError(
            f"{path}: figures are written as {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )
    return ending


def _usual(model: Model) -> Figure:
    if isinstance(model, ParfactorGraph):
        return "lifted"
    if isinstance(model, Transfer):
        return "transfers"
    if isinstance(model, FactorGraph):
        return "graph"
    raise ModelError(
        "figures are drawn of a FactorGraph, a ParfactorGraph or a Transfer, not "
        f"{type(model).__name__}"
    )


def _colours(whole: FactorGraph | Transfer, evidence: Evidence, commutative: bool) -> Colouring:
    graph, settings = _start(whole, commutative)
    return colour(graph, evidence, **settings)


def _start(whole: FactorGraph | Transfer, commutative: bool) -> tuple[FactorGraph, dict[str, Any]]:
    """The completed graph, and how colour passing starts on it."""
    if isinstance(whole, FactorGraph):
        return whole, {"commutative": commutative}
    return whole.graph, {**whole.start, "commutative": commutative or whole.filling.commutative}


def _lifted(whole: FactorGraph | Transfer) -> Scene:
    """The lifted graph; of a small one with its groups, in the colours of its own figure."""
    graph = whole.graph if isinstance(whole, Transfer) else whole
    source = (
        LiftedFrom(graph, _colours(whole, graph.evidence(None), commutative=False))
        if fits(graph)
        else None
    )
    return lifted_scene(lift(graph), source)


def _instead(scene: Scene, what: str, of: str) -> Scene:
    """A lifted scene, with a note if another one was asked for."""
    if what == "lifted":
        return scene
    return replace(
        scene,
        notes=(
            f"{of} is too large to be drawn node by node; this is its lifted graph",
            *scene.notes,
        ),
    )


def _saying(scene: Scene, whole: FactorGraph | Transfer) -> Scene:
    """The same with a note where answers use more than the tables that are shown."""
    said = whole.stand_in if isinstance(whole, Transfer) else ""
    return replace(scene, notes=(*scene.notes, said)) if said else scene


def _sizes(graph: FactorGraph) -> str:
    return f"{len(graph.variable_names):,} variables and {len(graph.factor_names):,} factors"


def _loans(moved: Transfer) -> tuple[list[Loan], dict[int, str]]:
    """Who takes whose table, and what is said about each unknown factor."""
    unknown = moved.original.unknown.tolist()
    records = dict(zip(unknown, moved.record, strict=True))
    reasons = {factor: record.reason for factor, record in records.items()}
    shares = dict(zip(unknown, moved.shares.tolist(), strict=True))
    pairs = sorted(
        (receiver, donor)
        for receivers, donors, _ in moved.loans()
        for receiver, donor in zip(receivers.tolist(), donors.tolist(), strict=True)
    )
    return [
        Loan(receiver, donor, shares[receiver], reasons[receiver], records[receiver].way == "best")
        for receiver, donor in pairs
    ], reasons
