"""The command line: argument parsing, exit statuses and nothing else; commands are imported when
they run.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from lifagu.cli.parser import make_parser
from lifagu.cli.remedies import FLAGS
from lifagu.errors import LifaguError, TooLargeError, one_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (0 done, 2 bad input, 3 no answer, 4 too large,
    130 interrupted).
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        options = make_parser().parse_args(arguments)
        from lifagu.cli import commands

        commands.COMMANDS[options.command](options)
        sys.stdout.flush()
    except LifaguError as error:
        return _fail(error.told(FLAGS), error.exit_status)
    except MemoryError:
        return _fail(
            "the memory ran out; set a lower --memory-limit to be told beforehand",
            TooLargeError.exit_status,
        )
    except BrokenPipeError:  # the reader of a pipe has left, as in: lifagu … | head
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        return _fail(f"the output cannot be written: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was half-written", 130)
    return 0


def _forget_output() -> None:
    """What is still to be written has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {one_line(message)}\n")
    return status
