"""Where an engine keeps its tables while it works: gone afterwards, unless it was interrupted."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, failing
from lifagu.basics.held_folders import HeldError, emptied, held, removed
from lifagu.basics.inputs import real_path
from lifagu.basics.memory import default_memory_limit
from lifagu.basics.temporary_folders import PREFIX, temporary_folder
from lifagu.errors import BusyError, FormatError, ModelError, Remedy
from lifagu.filling.rules import Filling
from lifagu.questions.place import Place
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.journal import Journal

STEPS = 2  # counts up when steps or tables change: what was interrupted before begins anew
BESIDE = 0.4  # of the memory limit goes to what is finished here, the rest to the engine


def memory_limit(place: Place) -> int:
    """How many bytes may be used at a place."""
    return default_memory_limit() if place.memory_limit is None else place.memory_limit


@contextmanager
def journal_of(place: Place, limit: int, *about: object) -> Iterator[Journal]:
    """An engine within a limit in bytes, and what it has finished; about: as for `workplace`."""
    with (
        workplace(place.temp, place.resume, *about, place.on.partition("=")[0]) as folder,
        closing(open_engine(place.on, folder, limit)) as engine,
    ):
        yield Journal(engine)


@contextmanager
def workplace(temp: PathLike | None, resume: bool, *about: object) -> Iterator[Path]:
    """A folder for an engine, gone afterwards; where temp was named it stays if interrupted.

    about: what the work is about; another folder, another state of it or another question gets
    another place.
    """
    if temp is None:
        if resume:
            raise ModelError(
                "only what is kept in a folder can be resumed", remedy=Remedy.SAME_TEMP
            )
        with ExitStack() as stack:
            with failing(tempfile.gettempdir(), "no folder can be made here"):
                folder = stack.enter_context(temporary_folder("run"))
            yield folder
        return
    folder = Path(temp) / f"{PREFIX}{_key((STEPS, *about))}"
    with ExitStack() as stack:
        with failing(temp, "no folder can be made here"):
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                stack.enter_context(held(folder, keep=True))
            except HeldError:
                raise BusyError(
                    f"{temp}: another run works there on the same; wait for it, or name another "
                    "folder"
                ) from None
        if not resume:
            emptied(folder)
        try:
            yield folder
        except BusyError:  # later it is only to be written
            raise
        except (FormatError, ModelError):
            removed(folder)
            raise
        removed(folder)


def _key(about: tuple[object, ...]) -> str:
    """A short name for what some work is about; folders with the sizes and times of their files."""

    def plain(value: object) -> object:
        if isinstance(value, Path):
            return [str(real_path(value)), _state(value)]
        if isinstance(value, Filling):
            return asdict(value)
        if isinstance(value, Mapping):
            return sorted(value.items(), key=lambda item: item[0])
        return repr(value)

    return hashlib.sha256(json.dumps(about, default=plain).encode()).hexdigest()[:16]


def _state(folder: Path) -> list[tuple[str, int, int]]:
    """Size and time of each table in a folder; one that is just being replaced is left out."""
    found = []
    for each in sorted(folder.glob("*.parquet")):
        with suppress(FileNotFoundError):
            state = each.stat()
            found.append((each.name, state.st_size, state.st_mtime_ns))
    return found
