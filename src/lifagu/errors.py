"""The exceptions of lifagu: a small tree, each kind with the exit status of the command line.

An error says what is wrong and why. What to do about it depends on who asks: Python callers give
arguments, the command line takes flags, the page has knobs. So an error may carry a `Remedy`, and
each of the three has words for it.
"""

from __future__ import annotations

import copy
import itertools
import os
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum, unique
from typing import Any, Self

LONGEST = 400  # characters of an error, its remedy included
LONGEST_NAME, LONGEST_PATH = 60, 200  # characters of a single word in it
_LONG_WORD = re.compile(rf"\S{{{LONGEST_NAME + 1},}}")


@unique
class Remedy(StrEnum):
    """What to do about an error, in the words for Python callers."""

    MORE_MEMORY = "give a larger memory_limit, or use a machine with more memory"
    LARGER_LIMIT = "name a memory_limit within which it fits"
    MORE_MEMORY_ON_SPARK = (
        "give a larger memory_limit, or spark.executor.memory where a cluster is used"
    )
    ASK_FOR_LESS = "observe some variables, give a larger memory_limit, or ask for less at once"
    FEWER_JOINTLY = "ask about fewer variables jointly"
    IN_MEMORY = 'where it fits in memory, open it with on="memory"'
    MEMORY_OR_RULE = (
        'where it fits in memory, open it with on="memory", or name a rule such as by="extended"'
    )
    MORE_MEMORY_OR_RULE = 'give a larger memory_limit, or name a rule such as by="extended"'
    LEAVE_OUT = 'leave it out, or open it with on="memory"'
    FILL = "say how they are to be filled: case.fill()"
    WRITE_GROUPS = 'write who is in which group with out=…, or open it with on="memory"'
    FEWER_TYPES = 'open it with on="memory", fill by="lifagu", or leave out the column individual'
    OTHER_TEMP = "free some of it, or give another folder as temp"
    MAKE_FOLDER = 'make one with lifagu.write(model, "big/")'
    WRITE_ELSEWHERE = "name another database, or write into a folder with lifagu.io.write_imputed"
    NO_DATABASE = "leave out database"
    NO_PARAMETERS = "leave out parameters"
    AUTO_OR_BEST = 'fill by="auto", or leave out combine'
    NAME_RULE = 'name the rule that it belongs to, by="extended" or by="lifagu"'
    NO_KEEP_KNOWN = "leave out keep_known"
    ASK_TRANSFER = "ask a transfer: lifagu.transfer(graph)"
    EXACT_ENGINE = 'ask with an exact engine, such as engine="auto"'
    ASK_ALL = "ask about all of it with case.ask_all, or name one of its variables"
    ASK_ONE = "ask about it with case.ask"
    NO_WHERE = "ask about the whole relation, and choose among the answers"
    FEWER_SHOWN = "take the first ones with top=20, or write them all: found.write(path)"
    BY_CLASS = "look at the classes"
    OBSERVE = "observe something: case.observe()"
    SMALLER_FOLDER = "give a larger memory_limit, or validate a part of the model"
    ADD_INSTEAD = "add it instead, which may move others: case.add()"
    ONE_TABLE_OR_ADD = 'ask with combine="best", or add it instead: case.add()'
    NO_ADMISSION = "leave that out, or add instead of admitting: case.add()"
    ALLOW_ENV = 'allow it with env={"NAME": "…"}'
    NAME_DATABASE = "if it is meant so, name the database yourself with database=…"
    LONGER_QUERY = "give its table an index, narrow the query, or give a larger query_timeout"
    TRUST_ROLE = (
        "connect as another one (CREATE ROLE reader LOGIN IN ROLE pg_read_all_data), or give "
        "trust_role=True if you trust it"
    )
    VIEW_INSTEAD = "make it a view of the connection, or give trust_role=True"
    OTHER_PORT = "choose another port (0 takes a free one) or host"


class LifaguError(Exception):
    """Anything lifagu refuses; the message names the offender, the remedy says what to do.

    about: what stands in the remedy for NAME.
    """

    exit_status = 2

    def __init__(self, message: str, *, remedy: Remedy | None = None, about: str = "") -> None:
        super().__init__(message)
        self.message, self.remedy, self.about = message, remedy, about

    def __str__(self) -> str:
        return self.told({})

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args), self.__dict__

    def told(self, words: Mapping[Remedy, str]) -> str:
        """The error on one line, with the remedy in these words, or in those for Python callers.

        >>> full = TooLargeError("the memory does not suffice", remedy=Remedy.MORE_MEMORY)
        >>> full.told({Remedy.MORE_MEMORY: "buy some"})
        'the memory does not suffice; buy some'
        """
        if self.remedy is None:
            return one_line(self.message)
        remedy = words.get(self.remedy, self.remedy.value)
        if self.about:
            remedy = remedy.replace("NAME", self.about)
        return f"{one_line(self.message, LONGEST - len(remedy) - 2)}; {remedy}"

    def saying(self, message: str) -> Self:
        """The same error with another message."""
        other = copy.copy(self)
        other.args, other.message = (message,), message
        return other


def _restored(kind: type[LifaguError], args: tuple[Any, ...]) -> LifaguError:
    """An error that was pickled, whatever its kind is made from; its attributes come after it."""
    return kind.__new__(kind, *args)


class ModelError(LifaguError):
    """A model, a table, a piece of evidence or a question that does not make sense."""


class FormatError(LifaguError):
    """A file that cannot be read or written; the message has its place (file:line or JSON path)."""


class BusyError(FormatError):
    """Somebody else writes there, or has just written; nothing was written, and a later run may."""

    exit_status = 5


class MissingExtraError(LifaguError):
    """An optional dependency is needed and not installed; the message says how to install it."""

    def __init__(self, package: str, what: str, extra: str | None = None) -> None:
        hint = f"pip install 'lifagu[{extra or package}]'"
        super().__init__(f"{what} needs the package {package}; install it with: {hint}")


class NoAnswerError(LifaguError):
    """No answer exists: unknown factors in the queried part, or evidence of probability zero."""

    exit_status = 3


class TooLargeError(LifaguError):
    """It would not fit, or took too long; the message says how much, and what to do instead."""

    exit_status = 4


class NotLiftedError(Exception):
    """What cells of individuals cannot express; the model is then grounded, the text says why."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'Epid'?"`` when a known name is close to the given one, else nothing.

    >>> did_you_mean("Epd", ["Epid", "Sick"])
    "; did you mean 'Epid'?"
    """
    if len(name) > LONGEST_NAME:  # comparing long names takes long, and nobody mistypes them
        return ""
    import difflib

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


def one_line(text: str, most: int = LONGEST) -> str:
    """A text on one line: breaks blanked, signs that cannot be seen escaped, cut where long.

    >>> one_line("'a\\x1b' is no\\n  name")
    "'a\\\\x1b' is no name"
    >>> one_line("x" * 1000) == "x" * 40 + "…" + "x" * 19
    True
    """
    seen = " ".join(text.split())
    if not seen.isprintable():
        seen = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in seen)
    return _cut(_LONG_WORD.sub(_shorter_word, seen), most)


def _shorter_word(word: re.Match[str]) -> str:
    return _cut(word[0], LONGEST_PATH if os.sep in word[0] else LONGEST_NAME)


def _cut(text: str, most: int) -> str:
    """A text without its middle if it is long; the end often says what is wrong."""
    tail = (most - 1) // 3
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"
