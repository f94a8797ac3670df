"""The command line: parsing, and exit statuses; commands are imported when they run.

What a status means stands in `exit_statuses.py`; each kind of error has its own.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from lifagu.basics.terminating import Terminated, terminable
from lifagu.cli.exit_statuses import INTERRUPTED
from lifagu.cli.parser import make_parser
from lifagu.cli.remedies import FLAGS
from lifagu.errors import LifaguError, TooLargeError, one_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        given, parser = sys.argv[1:] if arguments is None else arguments, make_parser()
        if not given:  # somebody looks what there is
            parser.print_help()
            return 0
        options = parser.parse_args(given)
        from lifagu.cli import commands

        with terminable():
            commands.COMMANDS[options.command](options)
            sys.stdout.flush()
    except LifaguError as error:
        return _fail(error.told(FLAGS), error.exit_status)
    except MemoryError:
        message = "the memory ran out; set a lower --memory-limit to be told beforehand"
        return _fail(message, TooLargeError.exit_status)
    except BrokenPipeError:  # the reader of a pipe has left, as in: lifagu … | head
        _forget_output()
        return 0
    except OSError as error:
        _forget_output()
        message = f"the output cannot be written: {error.strerror or error}"
        return _fail(message, LifaguError.exit_status)
    except Terminated as asked:
        return _fail("terminated; nothing was half-written", asked.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was half-written", INTERRUPTED)
    return 0


def _forget_output() -> None:
    """What is still to be written has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {one_line(message)}\n")
    return status
