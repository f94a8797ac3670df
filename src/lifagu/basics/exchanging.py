"""Two files or folders exchanged in one step, by the call that Linux and macOS have for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_HERE = -100  # AT_FDCWD: paths are relative to the current folder
_LINUX_EXCHANGE, _MACOS_SWAP = 2, 2  # RENAME_EXCHANGE, RENAME_SWAP


def exchanged(one: Path, other: Path) -> bool:
    """Let two paths change places, so that neither is ever missing; False where that cannot be.

    Some file systems do not know it. Nothing has changed then, and whoever asked renames.
    """
    exchange = _system_call()
    if exchange is None:
        return False
    sys.audit("lifagu.exchange", str(one), str(other))
    return exchange(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """The call of this system, if it has one."""
    import ctypes

    try:
        library: Any = ctypes.CDLL(None)
        if sys.platform == "linux":
            return lambda one, other: int(
                library.renameat2(_HERE, one, _HERE, other, _LINUX_EXCHANGE)
            )
        if sys.platform == "darwin":
            return lambda one, other: int(library.renamex_np(one, other, _MACOS_SWAP))
    except (OSError, TypeError):
        return None
    return None
