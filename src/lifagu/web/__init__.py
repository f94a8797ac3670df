"""`lifagu serve`: a page on this machine that shows graphs, holes, colours and answers. Needs the extra ``web``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifagu.errors import FormatError, MissingExtraError
from lifagu.web.limits import Limits as Limits

if TYPE_CHECKING:
    from lifagu.web.serving import Settings


def serve(model: Path | None = None, *, ready: Callable[[str], None], **settings: Any) -> None:
    """Serve until interrupted; ready is called with the address. settings as in `lifagu.web.serving.Settings`."""
    if model is not None and not model.exists():
        raise FormatError(f"{model}: there is no such file or folder")
    try:
        from lifagu.web import serving
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise MissingExtraError(error.name.partition(".")[0], "lifagu serve", "web") from None
    chosen: Settings = serving.Settings(model, **settings)
    serving.run(chosen, ready)
