"""Folders that one run holds at a time: locked while it lives, taken over from one that was killed.

The lock is a file in the folder, and the system lets go of it when the process ends, however that
happens. So nobody has to guess from names or times whether a folder is still in use.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lifagu.basics.terminating import undisturbed

try:
    import fcntl
except ImportError:  # Windows; there nobody is refused
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
# seconds before each try: who only tidies up or reads lets go within moments
TRIES = (0, 0.01, 0.02, 0.05, 0.1)


class HeldError(Exception):
    """Another run holds the folder."""


@contextmanager
def held(folder: Path, unless: str = "") -> Iterator[bool]:
    """Hold a folder, made if need be; `HeldError` if another run does.

    What a killed run has left in it is still there. Afterwards the folder is gone, unless a file of
    the name `unless` is in it. Where the system has no locks this gives
    False: then others may be there as well, and everybody removes what is his.
    """
    handle, alone = -1, False
    try:
        with undisturbed():
            handle, alone = _taken(folder)
        yield alone
    finally:
        if handle >= 0:
            with undisturbed():
                _let_go(folder, handle, alone, unless != "" and (folder / unless).exists())


def emptied(folder: Path) -> None:
    """Remove everything in a held folder but its lock."""
    for each in folder.iterdir() if folder.is_dir() else ():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        elif each.name != LOCK:
            with suppress(OSError):
                each.unlink()


def _gone(folder: Path) -> None:
    """Remove the lock, and the folder unless somebody has made another lock in it meanwhile."""
    with suppress(OSError):
        (folder / LOCK).unlink()
        folder.rmdir()


def _let_go(folder: Path, handle: int, alone: bool, keep: bool) -> None:
    """The lock goes last, as everything else in the folder is that of whoever has it."""
    if alone and not keep:
        emptied(folder)
    if not alone:  # Windows removes no file that is open
        os.close(handle)
    if not keep:
        _gone(folder)
    if alone:
        os.close(handle)


def _taken(folder: Path) -> tuple[int, bool]:
    """The lock of a folder as a descriptor, and whether it keeps others out."""
    for wait in TRIES:
        time.sleep(wait)
        handle = _opened(folder)
        locked = _locked(handle)
        if locked is not False and _is_at(handle, folder / LOCK):
            return handle, bool(locked)
        os.close(handle)
    raise HeldError


def _opened(folder: Path) -> int:
    """The file that is the lock, and the folder around it; whoever had it may just remove both."""
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        try:
            return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            if folder.is_symlink():  # to nowhere
                raise
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            raise


def _locked(handle: int) -> bool | None:
    """Whether this run has the lock now; None where the file system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(handle: int, path: Path) -> bool:
    """Whether a descriptor is that of the file that is at this path now."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False
