"""Models to keep: the completed or the lifted one, in a format by its ending."""

from __future__ import annotations

import lifagu
from lifagu.errors import ModelError
from lifagu.web.inputs import Request
from lifagu.web.reply import Reply
from lifagu.web.workbench import Workbench

ENDINGS = (".json", ".uai", ".fg", ".blog")
WITH_EVIDENCE = (".json", ".blog")


def written(bench: Workbench, request: Request) -> Reply:
    """The completed or lifted model as a file, with the evidence where the format holds it beside
    the model.
    """
    if request.what not in ("completed", "lifted"):
        raise ModelError(f"there is no file '{request.what[:40]}'; choose completed or lifted")
    if request.ending not in ENDINGS:
        raise ModelError(f"models are written as {', '.join(ENDINGS)}, not '{request.ending[:40]}'")
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
