"""The command line: argument parsing, exit statuses and nothing else; commands are imported when they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lifagu.cli.parser import make_parser
from lifagu.errors import LifaguError, TooLargeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (0 done, 2 bad input, 3 no answer, 4 too large, 130 interrupted)."""
    options = make_parser().parse_args(arguments)
    try:
        from lifagu.cli import commands

        commands.COMMANDS[options.command](options)
        sys.stdout.flush()
    except LifaguError as error:
        return _fail(str(error), error.exit_status)
    except MemoryError:
        return _fail("the memory ran out; set a lower --memory-limit to be told beforehand", TooLargeError.exit_status)
    except BrokenPipeError:  # the reader of a pipe has left, as in: lifagu … | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was half-written", 130)
    return 0


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return status
