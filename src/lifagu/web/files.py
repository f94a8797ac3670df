"""Files to keep, models and figures, and scenes to draw; drawing is done in its own room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import lifagu
from lifagu.basics.choices import FIGURES
from lifagu.drawing.graphs import MOST_NODES, fits
from lifagu.drawing.lifted import LiftedFrom, lifted_scene
from lifagu.errors import ModelError
from lifagu.web.inputs import Request
from lifagu.web.reply import Reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu.drawing import Scene

READABLE = 200  # nodes of a drawing that can still be read on a page
MODEL_ENDINGS = (".json", ".uai", ".fg", ".blog")
WITH_EVIDENCE = (".json", ".blog")
FIGURE_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf"}


def is_drawn(bench: Workbench, request: Request, most: int = READABLE) -> bool:
    """Whether the ground graph can be drawn node by node, told by counts before it is grounded."""
    facts = bench.came.describe()
    return facts["variables"] + facts["factors"] <= most and fits(bench.case(request).graph)


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
    what = next((each for each in FIGURES if each == request.what), None)
    if what is None:
        raise ModelError(
            f"there is no figure '{request.what[:40]}'; choose one of {', '.join(FIGURES)}"
        )
    if request.ending not in FIGURE_TYPES:
        raise ModelError(
            f"figures are written as {', '.join(FIGURE_TYPES)}, not '{request.ending[:40]}'"
        )
    if what == "lifted" or not is_drawn(bench, request, MOST_NODES):
        scene = lifted_figure(bench, request)
    else:
        scene = bench.case(request).draw(what)
    bench.progress.stage("drawing")
    if request.ending == ".svg":
        body = lifagu.drawing.to_svg(scene).encode()
    else:
        body = (lifagu.drawing.to_png if request.ending == ".png" else lifagu.drawing.to_pdf)(scene)
    return Reply(200, FIGURE_TYPES[request.ending], body, f"{request.what}{request.ending}")


def written(bench: Workbench, request: Request) -> Reply:
    """The completed or lifted model as a file, with the evidence where the format holds it."""
    if request.what not in ("completed", "lifted"):
        raise ModelError(f"there is no file '{request.what[:40]}'; choose completed or lifted")
    if request.ending not in MODEL_ENDINGS:
        raise ModelError(
            f"models are written as {', '.join(MODEL_ENDINGS)}, not '{request.ending[:40]}'"
        )
    case = bench.case(request)
    evidence, model = case.evidence, case.lifted if request.what == "lifted" else case.completed
    bench.progress.stage("writing the model")
    path = bench.folder / f"{request.what}{request.ending}"
    try:
        lifagu.write(model, path, evidence if request.ending in WITH_EVIDENCE else None)
        body = path.read_bytes()
    finally:
        path.unlink(missing_ok=True)
    kind = "application/json" if request.ending == ".json" else "text/plain; charset=utf-8"
    return Reply(200, kind, body, f"{request.what}{request.ending}")
