"""The exceptions of lifagu: one small tree, each kind with the exit status the command line gives it."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
from typing import Any


class LifaguError(Exception):
    """Anything lifagu refuses; the message names the offender and the remedy, in one line."""

    exit_status = 2

    def __str__(self) -> str:
        return super().__str__().replace("\n", "\\n")  # names may hold anything

    def __reduce__(self) -> Any:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[LifaguError], given: tuple[Any, ...], state: dict[str, Any]) -> LifaguError:
    """An error that was pickled, as it was: what it says is not put together twice."""
    error = kind.__new__(kind, *given)
    error.__dict__.update(state)
    return error


class ModelError(LifaguError):
    """A model, a table, a piece of evidence or a question that does not make sense."""


class FormatError(LifaguError):
    """A file that cannot be read or written; the message carries its place (file:line or JSON path)."""


class MissingExtraError(LifaguError):
    """An optional dependency is needed and not installed; the message says how to install it."""

    def __init__(self, package: str, what: str, extra: str | None = None) -> None:
        hint = f"pip install 'lifagu[{extra or package}]'"
        super().__init__(f"{what} needs the package {package}; install it with: {hint}")


class NoAnswerError(LifaguError):
    """The question has no answer: unknown factors in the queried part, or evidence of probability zero."""

    exit_status = 3


class TooLargeError(LifaguError):
    """Refused because it would not fit; the message holds the estimate and what to do instead."""

    exit_status = 4


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'Epid'?"`` when a known name is close to the given one, else nothing.

    >>> did_you_mean("Epd", ["Epid", "Sick"])
    "; did you mean 'Epid'?"
    """
    close = difflib.get_close_matches(name, list(itertools.islice(known, 10_000)), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def listed(names: Iterable[str], limit: int = 5) -> str:
    """Names for an error message, the first few of many.

    >>> listed(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    names = list(names)
    more = len(names) - limit
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:limit])} and {more} more"
