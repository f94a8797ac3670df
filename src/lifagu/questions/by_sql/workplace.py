"""Where an engine keeps its tables while it works; they are gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from lifagu.basics.atomic_files import failing
from lifagu.basics.memory import default_memory_limit
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.questions.place import Place
from lifagu.scale.engines.engine import Engine
from lifagu.scale.engines.opening import open_engine

BESIDE = 0.4  # of the memory limit goes to what is finished here, the rest to the engine


def memory_limit(place: Place) -> int:
    """How many bytes may be used at a place."""
    return default_memory_limit() if place.memory_limit is None else place.memory_limit


@contextmanager
def engine_of(place: Place, limit: int) -> Iterator[Engine]:
    """An engine within a limit in bytes, with a folder of its own, within `place.temp` if named."""
    within = Path(tempfile.gettempdir() if place.temp is None else place.temp)
    with ExitStack() as stack:
        with failing(within, "no folder can be made here"):
            within.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(temporary_folder("run", within))
        yield stack.enter_context(closing(open_engine(place.on, folder, limit)))
