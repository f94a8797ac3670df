"""Files and folders that are replaced whole or not at all: written beside, then put into place.

Beside a target there is a hidden folder for the time being, which one run holds at a time: what is
new is in there, and for a moment what was old. Whoever finds it left by a run that was killed ends
what that had begun, or takes it back.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from lifagu.basics.inputs import path as as_path
from lifagu.basics.inputs import real_path
from lifagu.errors import BusyError, FormatError, TooLargeError

PathLike = str | os.PathLike[str]
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NO_ROOM = "; free some room there, or name another place"
BESIDE = ".lifagu"  # ends the name of the folder beside a target
NEW, OLD, READY = "new", "old", "ready"  # what is in there
WAITS = (0, 0.001, 0.01, 0.1, 0.5)  # seconds before each look at what is being put into place


@contextmanager
def replaced_file(path: PathLike) -> Iterator[Path]:
    """Where to write a file, which takes the place of the path at the end, whole."""
    with replaced_files(path, ()) as (temporary,):
        yield temporary


@contextmanager
def replaced_files(path: PathLike, others: Sequence[str]) -> Iterator[list[Path]]:
    """Where to write a file and others beside it; all take their places at the end, or none does.

    others: names in the same folder, which are in place before the file at the path is.
    """
    from lifagu.basics.terminating import undisturbed

    target = as_path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise FormatError(
            f"{path}: this is a device or a pipe, which no file replaces; name a file"
        )
    with _beside(target, path) as folder, failing(path, "cannot be written"):
        written = [folder / name for name in (target.name, *others)]
        yield written
        with undisturbed():
            for each in written:
                _keep_mode(each, target.with_name(each.name))
            _into_place(folder.parent, written[::-1], target.parent)


@contextmanager
def replaced_folder(path: PathLike, replaceable: Collection[str]) -> Iterator[Path]:
    """A temporary folder to write into, which takes the place of the path at the end.

    A folder that is there already is replaced if it holds nothing but files with replaceable names,
    in which ``*`` stands for anything.
    """
    from lifagu.basics.terminating import undisturbed

    check_replaceable(path, replaceable)
    target = real_path(path)
    with _beside(target, path) as folder:
        temporary = folder / target.name
        try:
            with failing(path, "cannot be written"):
                temporary.mkdir()
                yield temporary
                check_replaceable(path, replaceable)
                with undisturbed():
                    _keep_mode(temporary, target)
                    _folder_into_place(temporary, target, folder.with_name(OLD))
        except (FormatError, TooLargeError) as error:
            raise error.saying(error.message.replace(str(temporary), str(path))) from None


def check_replaceable(path: PathLike, replaceable: Collection[str]) -> None:
    """Refuse a path that holds something other than a folder with files of these names."""

    target = Path(path)
    if target.exists() and not target.is_dir():
        raise FormatError(
            f"{path}: this is a file and would be replaced by a folder; name another place"
        )
    held = sorted(target.iterdir()) if target.exists() else []
    foreign = [
        each.name
        for each in held
        if not (each.is_file() and any(fnmatchcase(each.name, own) for own in replaceable))
    ]
    if foreign:
        raise FormatError(
            f"{path}: this folder holds '{foreign[0]}', which is not lifagu's to replace; "
            "name a new or an empty folder"
        )


def is_being_replaced(path: PathLike) -> bool:
    """Whether a folder stands aside just now, for the moment before another takes its place.

    One that stands aside since a run was killed is put back first.
    """
    target = real_path(path)
    if target.exists():
        return False
    settle(target)
    return not target.exists() and _is_unsettled(target)


def settle(path: PathLike, tidy: bool = False) -> None:
    """Before a path is read: what a run that was killed had begun to put into place is there.

    If that run is alive, this waits for it, a moment. tidy: remove also what else it has left.
    """
    target = Path(path)
    for wait in WAITS:
        if not (_is_unsettled(target) or (tidy and _folder_beside(target).exists())):
            return
        from lifagu.basics.held_folders import HeldError, held

        time.sleep(wait)
        # who may only read leaves it to others
        with suppress(HeldError, OSError), held(_folder_beside(target), unless=READY):
            _settle(target)


def names_in(folder: PathLike) -> list[str]:
    """What a folder holds, in order; nothing where there is none that can be read."""
    try:
        return sorted(each.name for each in Path(folder).iterdir())
    except OSError:
        return []


@contextmanager
def failing(path: PathLike, how: str) -> Iterator[None]:
    """What the system refuses in here becomes an error that begins with the path."""
    try:
        yield
    except OSError as error:
        kind = TooLargeError if error.errno in DISK_FULL else FormatError
        raise kind(
            f"{path}: {how}: {error.strerror or error}{NO_ROOM * (kind is TooLargeError)}"
        ) from None


# ---- the folder beside a target


def _folder_beside(target: Path) -> Path:
    return target.parent / f".{target.name}{BESIDE}"


@contextmanager
def _beside(target: Path, shown: PathLike) -> Iterator[Path]:
    """An empty folder within the one beside a target, of this run alone; gone afterwards."""
    from lifagu.basics.held_folders import HeldError, emptied, held

    place = _folder_beside(target)
    try:
        with ExitStack() as holding:
            with failing(shown, "cannot be written here"):
                alone = holding.enter_context(held(place, unless=READY))
                _settle(target)
                if alone:
                    emptied(place)
                own = place / (NEW if alone else f"{NEW}-{os.getpid()}-{threading.get_ident()}")
                own.mkdir()
            if not alone:
                holding.callback(shutil.rmtree, own, ignore_errors=True)
            yield own
    except HeldError:
        raise BusyError(
            f"{shown}: is being written by another run; wait for it, or choose another place"
        ) from None


def _is_unsettled(target: Path) -> bool:
    """Whether something has been begun beside a target that must not stay as it is."""
    place = _folder_beside(target)
    return (place / READY).exists() or ((place / OLD).exists() and not target.exists())


def _settle(target: Path) -> None:
    """Bring to its end what a killed run had agreed on, and put back what it had set aside."""
    place = _folder_beside(target)
    if (place / READY).exists():
        _rename(place, target.parent)
    if (place / OLD).exists() and not target.exists():
        (place / OLD).rename(target)


# ---- into place


def _into_place(place: Path, written: Sequence[Path], folder: Path) -> None:
    """Files into a folder; of several a list is kept until all are there, for whoever comes later.

    From the moment in which the list is there, all of them count.
    """
    if len(written) == 1:
        written[0].replace(folder / written[0].name)
        return
    for each in written:
        if (folder / each.name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    listed = place / f"{READY}.part"
    listed.write_text(json.dumps([f"{each.parent.name}/{each.name}" for each in written]))
    listed.rename(place / READY)
    _rename(place, folder)


def _rename(place: Path, folder: Path) -> None:
    """Put the files of a list into place, those that are not there yet."""
    for name in json.loads((place / READY).read_text()):
        with suppress(FileNotFoundError):
            (place / name).replace(folder / Path(name).name)
    (place / READY).unlink()


def _folder_into_place(temporary: Path, target: Path, aside: Path) -> None:
    """Exchange two folders; where the system cannot, what stood there is set aside for a moment."""
    from lifagu.basics.exchanging import exchanged

    if not target.exists():
        temporary.rename(target)
    elif not exchanged(temporary, target):
        target.rename(aside)
        try:
            temporary.rename(target)
        except BaseException:
            aside.rename(target)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _keep_mode(written: Path, target: Path) -> None:
    """What replaces something may be read and written by those who could before."""
    with suppress(FileNotFoundError):
        written.chmod(target.stat().st_mode & 0o777)
