"""Standard output that says when it is lost, and standard error that may be lost."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class LostOutputError(OSError):
    """What was to be written has nowhere to go."""


class Output:
    """A stream in front of another one; what the system refuses there goes to a handler."""

    def __init__(self, stream: Any, refused: Callable[[OSError], None]) -> None:
        self._stream, self._refused = stream, refused

    def write(self, text: str) -> int:
        """Write a text."""
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._refused(error)
            return len(text)

    def flush(self) -> None:
        """Let everything be written."""
        try:
            self._stream.flush()
        except OSError as error:
            self._refused(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Closed(io.TextIOBase):
    """In place of a stream that was closed before the program began."""

    def write(self, text: str) -> int:
        """There is nowhere to write to."""
        raise OSError(errno.EBADF, "it is closed")


@contextmanager
def guarded() -> Iterator[None]:
    """Standard output raises `LostOutputError`, or `BrokenPipeError` where the reader has left.

    What cannot be written to standard error is lost: there is nowhere to say so.
    """
    _occupy()
    kept = sys.stdout, sys.stderr
    out, err = (Closed() if each is None else each for each in kept)
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = Output(out, _lost), Output(err, lambda _: forget(err))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def _lost(error: OSError) -> None:
    if isinstance(error, BrokenPipeError):
        raise error
    raise LostOutputError(error.errno, error.strerror or str(error)) from None


def _occupy() -> None:
    """Let no file that is opened later stand where a standard stream was closed."""
    while True:
        number = os.open(os.devnull, os.O_RDWR)
        if number > 2:
            os.close(number)
            return


def forget(stream: Any) -> None:
    """What is still to be written to a stream goes nowhere, without a complaint at the end."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
