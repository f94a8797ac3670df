"""Files that belong together, all of one state, whoever replaces them meanwhile.

An opened file stays what it is when another takes its place. It is read through its descriptor
where the system gives that a path of its own, as Linux does; elsewhere, and on other machines, by
its path, and what it led to is compared.
"""

from __future__ import annotations

import math
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from lifagu.basics.atomic_files import PathLike, is_being_replaced
from lifagu.basics.inputs import real_path
from lifagu.errors import FormatError, LifaguError

DESCRIPTORS = "/proc/self/fd"
ATTEMPTS = 5
SETTLING = 0.1  # seconds within which somebody who replaces files one by one is done
# seconds before each look at what changes
WAITS = (0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
State = tuple[int, int, int, int]  # the device, the number on it, the size, and when it was written
Result = TypeVar("Result")


class ChangedError(FormatError):
    """Files were changed while they were read."""


@dataclass(frozen=True)
class PinnedFile:
    """A file that was opened, or found missing.

    shown: what the user calls it; path: where it was looked for; folder: which folder that was in;
    own_path: where it can be read whatever stands at its path now, if there is such a place.
    """

    shown: str
    path: Path
    folder: State | None
    descriptor: int = -1
    state: State | None = None
    own_path: str | None = None

    @property
    def source(self) -> str:
        """The path by which this process reads it."""
        return self.own_path or str(self.path)

    def is_replaced(self, before: float = math.inf) -> bool:
        """Whether another file is at its path now, or none; before: put there until this time."""
        if _state_at(self.path) == self.state:
            return False
        try:
            return self.path.stat().st_ctime <= before
        except OSError:
            return True

    def is_written(self) -> bool:
        """Whether it was written into."""
        return _state(os.fstat(self.descriptor)) != self.state

    def in_its_folder(self) -> bool:
        """Whether its path still leads into the same folder, whatever that holds now."""
        found = _state_at(self.path.parent, stat.S_ISDIR)
        return found is not None and self.folder is not None and found[:2] == self.folder[:2]

    def unsettled(self, what: str) -> ChangedError:
        """The error about a file to which something happened meanwhile."""
        return ChangedError(
            f"{self.shown}: was {what} while it was read; run again when nobody writes there"
        )


class Pinned:
    """Files by name, all as they were at one moment; place: what the user calls all of them."""

    def __init__(
        self, place: PathLike, looked_for: Mapping[str, PinnedFile], opened: ExitStack
    ) -> None:
        self.place = str(place)
        self.files = {name: file for name, file in looked_for.items() if file.state is not None}
        self._looked_for, self._opened = looked_for, opened
        self._since = time.time()

    def __enter__(self) -> Pinned:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Let go of the files; if they were changed meanwhile, this comes before any error."""
        with self._opened:
            if error is None or isinstance(error, LifaguError):
                self.check()
                self.check_together()

    def close(self) -> None:
        """Let go of the files."""
        self._opened.close()

    @property
    def states(self) -> dict[str, list[int]]:
        """What tells this state from others: the size and the time of each file."""
        return {
            name: list(file.state[2:])
            for name, file in self.files.items()
            if file.state is not None
        }

    @contextmanager
    def watched(self, by_path: bool = False) -> Iterator[None]:
        """What is read in here is of the state that was pinned, or this is the error."""
        try:
            yield
        except LifaguError:
            self.check(by_path)
            raise
        self.check(by_path)

    def check(self, by_path: bool = False) -> None:
        """Refuse files that were written into; by_path: or replaced, as they are read so."""
        for file in self.files.values():
            if file.is_written() or ((by_path or file.own_path is None) and file.is_replaced()):
                raise file.unsettled("changed")

    def check_together(self) -> None:
        """Refuse files of which one was replaced as soon as they were pinned.

        Others may have been just before. Folders that were replaced as a whole are no such case,
        nor are files that were replaced later on.
        """
        for file in self._looked_for.values():
            if file.is_replaced(self._since + SETTLING) and file.in_its_folder():
                raise file.unsettled("replaced")


def pin(place: PathLike, files: Mapping[str, Path], by_path: Collection[str] = ()) -> Pinned:
    """Open files that belong together, those that there are, all as they were at one moment.

    by_path: those that can only be read by their paths. All are opened, then looked at again: if
    each still stands at its path, there was a moment when all of them did.
    """
    for wait in WAITS:
        time.sleep(wait)
        with ExitStack() as opened:
            found = {name: _opened(path, opened, name in by_path) for name, path in files.items()}
            missing = not any(file.state for file in found.values())
            moving = missing and bool(files) and is_being_replaced(place)
            if not moving and all(
                _state_at(path) == found[name].state for name, path in files.items()
            ):
                return Pinned(place, found, opened.pop_all())
    raise FormatError(
        f"{place}: is being replaced all the time; read it when nobody writes there, or read a copy"
    )


NOTHING = Pinned("", {}, ExitStack())


def until_settled(work: Callable[[], Result]) -> Result:
    """The result of reading files, read again a few times where they changed meanwhile."""
    for wait in WAITS[-ATTEMPTS:-1]:
        with suppress(ChangedError):
            return work()
        time.sleep(wait)
    return work()


def of_one_folder(folder: Path, work: Callable[[], Result]) -> Result:
    """The result of reading files of a folder, read again if another took its place meanwhile."""

    def check(before: State | None) -> None:
        now = _state_at(folder, stat.S_ISDIR)
        if before is None or now is None or before[:2] != now[:2]:
            raise ChangedError(
                f"{folder}: was replaced while it was read; run again when nobody writes there"
            )

    def attempt() -> Result:
        before = _state_at(folder, stat.S_ISDIR)
        try:
            found = work()
        except LifaguError:
            check(before)
            raise
        check(before)
        return found

    return until_settled(attempt)


def _opened(path: Path, opened: ExitStack, by_path: bool) -> PinnedFile:
    """A file, opened if there is one."""
    folder = real_path(path.parent)
    missing = PinnedFile(str(path), folder / path.name, _state_at(folder, stat.S_ISDIR))
    try:
        # else a pipe would wait for a writer
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return missing
    except OSError as error:
        raise FormatError(f"{path}: cannot be read: {error.strerror}") from None
    opened.callback(os.close, descriptor)
    found, own = os.fstat(descriptor), f"{DESCRIPTORS}/{descriptor}"
    if not stat.S_ISREG(found.st_mode):
        return missing
    own_path = None if by_path or _state_at(own) != _state(found) else own
    return replace(missing, descriptor=descriptor, state=_state(found), own_path=own_path)


def _state_at(path: PathLike, is_sort: Callable[[int], bool] = stat.S_ISREG) -> State | None:
    """What tells a file from others, and from itself once written into; None if there is none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return _state(found) if is_sort(found.st_mode) else None


def _state(found: os.stat_result) -> State:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
