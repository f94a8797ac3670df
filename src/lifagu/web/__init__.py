"""`lifagu serve`: a page on this machine that shows graphs, holes, colours and answers.

Needs the extra ``web``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.errors import FormatError, MissingExtraError
from lifagu.web.limits import Limits as Limits

if TYPE_CHECKING:
    from lifagu.web.serving import Settings

CHECKED = 2**22  # bytes of a file that is read before anything is served


def serve(model: Path | None = None, *, ready: Callable[[str], None], **settings: Any) -> None:
    """Serve until interrupted; settings as in `lifagu.web.serving.Settings`.

    ready is called with the address.
    """
    if model is not None:
        _check(model, settings.get("opening", {}))
    try:
        from lifagu.web import serving
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtraError(error.name.partition(".")[0], "serving the page", "web") from None
    chosen: Settings = serving.Settings(model, **settings)
    serving.run(chosen, ready)


def _check(model: Path, opening: Mapping[str, Any]) -> None:
    """Refuse now what could not be shown; large models are read when somebody opens them.

    Of a template its database is read now, as nobody can say before how large that is, but nothing
    is learned yet.
    """
    if not model.exists():
        raise FormatError(f"{model}: there is no such file or folder")
    if model.is_file() and model.stat().st_size <= CHECKED:
        lifagu.io.load(model, learn=False, **opening)
