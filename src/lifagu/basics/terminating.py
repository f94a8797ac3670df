"""Signals that ask a command to end: it then cleans up as after Ctrl-C, and nothing cuts in twice.

The signal becomes an exception of the main thread, so that everything that is open is closed on the
way out. Steps of which half would leave something behind are not disturbed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lifagu.errors import MissingExtraError

# to hang up is unknown to Windows
ASKING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Terminated(KeyboardInterrupt):
    """Somebody has asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_status = 128 + number


class _Waiting:
    """How deep the main thread is in steps that nothing may cut short, and what came meanwhile.

    last: the latest wish to end, whenever it came.
    """

    depth = 0
    came: BaseException | None = None
    last: BaseException | None = None


@contextmanager
def terminable() -> Iterator[None]:
    """Wishes to end become `Terminated` in here, and Ctrl-C waits for steps that must not break.

    What is ignored stays so, as `nohup` and shells want it; only the main thread may set this up.
    Packages that are cut short while they are imported say that they are broken or missing, which
    becomes the wish again.
    """
    before = {}
    _Waiting.last = None
    if threading.current_thread() is threading.main_thread():
        for each in ASKING:
            if signal.getsignal(each) == signal.SIG_DFL:
                before[each] = signal.signal(each, _asked)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            before[signal.SIGINT] = signal.signal(signal.SIGINT, _asked)
    try:
        yield
    except (ImportError, MissingExtraError):
        if _Waiting.last is None:
            raise
        raise _Waiting.last from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _asked(number: int, frame: FrameType | None) -> None:
    """Raise at once, or after the step that must not break; one wish to terminate is enough."""
    if number == signal.SIGINT:
        came: BaseException = KeyboardInterrupt()
    else:
        came = Terminated(number)
        for each in ASKING:
            signal.signal(each, signal.SIG_IGN)
    _Waiting.last = came
    if not _Waiting.depth:
        raise came
    if not isinstance(_Waiting.came, Terminated):
        _Waiting.came = came


@contextmanager
def undisturbed() -> Iterator[None]:
    """A short step that is not cut in two: whoever asks the process to end waits until it is over.

    Other threads are never disturbed by signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _Waiting.depth += 1
    try:
        yield
    finally:
        _Waiting.depth -= 1
        if not _Waiting.depth and _Waiting.came is not None:
            came, _Waiting.came = _Waiting.came, None
            raise came
