"""Parameters of templates: values that queries name as ``:ward``, and where they stand in SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from lifagu.basics.inputs import shown
from lifagu.errors import ModelError, did_you_mean

ParameterValue = str | int | float | bool
# what is quoted or a comment is one piece, and so is a word or a parameter; all else is a sign.
# What opens and never closes is one to the end, or it would be looked through again from each sign
# A colon right behind a value is none of a parameter: x[1:n], {'a':b}, and x::integer
PIECES = re.compile(
    r"""
    (?P<quoted>
        [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
        | \$(?P<tag>(?:[^\W\d]\w*)?)\$ .*? (?:\$(?P=tag)\$|\Z)
    )
    | (?P<comment>
        --[^\n]* | /\*(?: (?!/\*|\*/). | /\*(?:(?!/\*|\*/).)*\*/ )*+\*/ | /\*.*?(?:\*/|\Z)
    )
    | (?P<word>\w[\w$]*)
    | (?P<parameter>(?<![\w\])}"'`:]):[^\W\d]\w*)
    | (?P<sign>::|\S)
    """,
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


def named_in(sql: str) -> list[str]:
    """The parameters that some SQL names, by first occurrence.

    >>> named_in("SELECT ':no', t::date FROM s -- :no\\n WHERE a=:ward AND b > :ward OR x[1:n]")
    ['ward']
    """
    found = (match[0][1:] for match in PIECES.finditer(sql) if match.lastgroup == "parameter")
    return list(dict.fromkeys(found))


def respelt(
    sql: str, spelt: Mapping[str, str], others: Callable[[str], str] = lambda text: text
) -> str:
    """SQL in which parameters are spelt as a driver wants them; others: of what is between.

    >>> respelt("SELECT :a, ':a'", {"a": "$p"})
    "SELECT $p, ':a'"
    """
    parts, end = list[str](), 0
    for match in PIECES.finditer(sql):
        if match.lastgroup == "parameter" and match[0][1:] in spelt:
            parts += [others(sql[end : match.start()]), spelt[match[0][1:]]]
            end = match.end()
    return "".join([*parts, others(sql[end:])])


def check_name(name: str) -> None:
    """Refuse what cannot stand behind a colon."""
    if not _NAME.fullmatch(name):
        raise ModelError(
            f"'{name}' cannot be named in SQL; call a parameter by letters, digits and _, "
            "a letter first"
        )


def checked_value(value: object) -> ParameterValue:
    """A value that every database takes: a text, a finite number, or true or false."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None:
        raise ModelError("the parameter has no value; write a number, a text, true or false")
    if not isinstance(value, str | int | float):
        raise ModelError(f"a parameter is a number, a text, true or false, not {shown(value)}")
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
            raise ModelError(f"{shown(value)} holds signs that no database takes; leave them out")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ModelError(f"{value} is no number that can be given; write a finite one")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ModelError("the whole number does not fit into 64 bits; write a smaller one")
    return value


def value_like(declared: ParameterValue, given: object) -> ParameterValue:
    """A value of the sort that was declared; a text is read as one.

    >>> value_like(3, "4"), value_like("3", "4"), value_like(True, "false")
    (4, '4', False)
    """
    value = checked_value(given)
    if isinstance(declared, str):
        if isinstance(value, str):
            return value
        expected = "text"
    elif isinstance(declared, bool):
        if isinstance(value, bool) or value in ("true", "false"):
            return value if isinstance(value, bool) else value == "true"
        expected = "truth value, true or false"
    else:
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            text = value.strip()
            return checked_value(int(text) if _WHOLE.fullmatch(text) else float(text))
        if not isinstance(value, str | bool):
            return value
        expected = "number"
    raise ModelError(f"{shown(value)} is no {expected}, as the declared {shown(declared)} is")


def check_known(names: Iterable[str], declared: Mapping[str, ParameterValue], remedy: str) -> None:
    """Refuse a name that was not declared."""
    for name in names:
        if name not in declared:
            close = did_you_mean(str(name), declared)
            raise ModelError(f"the parameter '{name}' is not declared{close or f'; {remedy}'}")
