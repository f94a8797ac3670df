"""Folders for what is only needed while a run lives, in the system's place for temporary files.

What killed runs have left there is removed by the next one that wants such a folder.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lifagu.basics.held_folders import LOCK, HeldError, held

PREFIX = "lifagu-"
_OWN = re.compile(rf"{PREFIX}[a-z]+-[0-9a-f]{{20}}")


@contextmanager
def temporary_folder(what: str, within: Path | None = None) -> Iterator[Path]:
    """A folder of this run alone, gone afterwards; what: a word for its name.

    There is a file in it that keeps it from being taken for one of a killed run.
    """
    place = within or Path(tempfile.gettempdir())
    _tidy(place)
    folder = place / f"{PREFIX}{what}-{secrets.token_hex(10)}"
    with held(folder):
        yield folder


def _tidy(place: Path) -> None:
    """Remove folders of this user whose runs have ended without doing so."""
    with suppress(OSError):
        for folder in place.glob(f"{PREFIX}*"):
            if _OWN.fullmatch(folder.name) and _may_be_left(folder):
                with suppress(HeldError, OSError), held(folder):
                    continue


def _may_be_left(folder: Path) -> bool:
    """Whether a folder was made here by this user: a lock is in it, or nothing yet."""
    try:
        own = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
        return own and folder.is_dir() and ((folder / LOCK).exists() or not any(folder.iterdir()))
    except OSError:
        return False
