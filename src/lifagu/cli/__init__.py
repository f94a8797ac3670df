"""The command line: parsing, and exit statuses; commands are imported when they run.

What a status means stands in `exit_statuses.py`; each kind of error has its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from lifagu.basics.memory import default_memory_limit
from lifagu.basics.terminating import Terminated, terminable
from lifagu.cli.exit_statuses import INTERRUPTED
from lifagu.cli.parser import make_parser
from lifagu.cli.remedies import FLAGS
from lifagu.cli.streams import LostOutputError, forget, guarded
from lifagu.errors import LifaguError, TooLargeError, one_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    with guarded():
        return _run(sys.argv[1:] if arguments is None else arguments)


def _run(given: Sequence[str]) -> int:
    try:
        try:
            _do(given)
        finally:  # whatever ends it, such as help that was asked for
            sys.stdout.flush()
    except LifaguError as error:
        return _fail(error.told(FLAGS), error.exit_status)
    except RecursionError:
        return _fail("something is nested too deeply; make it flatter", LifaguError.exit_status)
    except BrokenPipeError:  # the reader of a pipe has left, as in: lifagu … | head
        forget(sys.stdout)
    except LostOutputError as error:
        forget(sys.stdout)
        message = f"the output cannot be written: {error.strerror}"
        return _fail(message, LifaguError.exit_status)
    except Terminated as asked:
        return _fail("terminated; nothing was half-written", asked.exit_status)
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        return _fail(f"{what}{error.strerror or error}", LifaguError.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was half-written", INTERRUPTED)
    return 0


def _do(given: Sequence[str]) -> None:
    parser = make_parser()
    if not given:  # somebody looks what there is
        parser.print_help()
        return
    options = parser.parse_args(given)
    from lifagu.cli import commands

    there = default_memory_limit()
    try:
        with terminable():
            commands.COMMANDS[options.command](options)
    except MemoryError:
        remedy = "ask for less, or use a machine with more memory"
        if (getattr(options, "memory_limit", None) or 0) > there:
            remedy = "set a lower --memory-limit to be told beforehand"
        raise TooLargeError(f"the memory ran out; {remedy}") from None


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"error: {one_line(message)}\n")
    sys.stderr.flush()
    return status
