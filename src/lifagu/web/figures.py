"""Scenes for a page to draw, and figures to keep; all drawing is done in the room `drawing`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.drawing.graphs import MOST_NODES, fits
from lifagu.drawing.lifted import LiftedFrom, lifted_scene
from lifagu.errors import ModelError
from lifagu.web.inputs import Request
from lifagu.web.reply import Reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu.drawing import Scene

MOST_DRAWN = MOST_NODES
TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf"}
WHAT = ("graph", "colours", "transfers", "lifted")


def is_drawn(bench: Workbench, request: Request) -> bool:
    """Whether the ground graph can be drawn node by node; a relational model is counted before it
    is grounded.
    """
    facts = bench.facts()
    return facts["variables"] + facts["factors"] <= MOST_DRAWN and fits(bench.case(request).graph)


def plain(scene: Scene) -> dict[str, Any]:
    """A scene as plain values."""
    return asdict(scene)


def lifted_figure(bench: Workbench, request: Request) -> Scene:
    """The lifted model; nodes of one that is small know which nodes of the graph they stand for."""
    case = bench.case(request)
    if not is_drawn(bench, request):
        return lifted_scene(case.lifted)
    moved = case.transfer
    return lifted_scene(
        case.lifted, LiftedFrom(moved.graph, lifagu.colour(moved.graph, **moved.start))
    )


def figure(bench: Workbench, request: Request) -> Reply:
    """A figure as a file: the graph, its groups, who lends to whom, or the lifted model."""
    if request.what not in WHAT:
        raise ModelError(
            f"there is no figure '{request.what[:40]}'; choose one of {', '.join(WHAT)}"
        )
    if request.ending not in TYPES:
        raise ModelError(f"figures are written as {', '.join(TYPES)}, not '{request.ending[:40]}'")
    scene = _scene(bench, request)
    bench.progress.stage("drawing")
    if request.ending == ".svg":
        body = lifagu.drawing.to_svg(scene).encode()
    else:
        body = (lifagu.drawing.to_png if request.ending == ".png" else lifagu.drawing.to_pdf)(scene)
    return Reply(200, TYPES[request.ending], body, f"{request.what}{request.ending}")


def _scene(bench: Workbench, request: Request) -> Scene:
    if request.what == "lifted" or not is_drawn(bench, request):
        return lifted_figure(bench, request)
    return bench.case(request).draw(request.what)
