"""JSON as it comes in: what would harm later is refused here, with its line."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import chain
from typing import Any, NoReturn

from lifagu.basics.inputs import is_text
from lifagu.errors import FormatError

MOST_NESTED = 100  # lists and objects within one another
_NO_TEXT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")  # escapes that may be no characters
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def load(text: str, place: str) -> Any:
    """JSON with errors that say where; keys that stand twice and NaN are errors."""

    def constant(word: str) -> NoReturn:
        raise FormatError(
            f"{place}: {word} is not a number that JSON knows; write null for an unknown table"
        )

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            counts = Counter(key for key, _ in items)
            twice = next(key for key in counts if counts[key] > 1)
            raise FormatError(
                f"{place}: the key '{twice}' stands twice in one object; keep one of them"
            )
        return found

    try:
        whole = json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{place}:{error.lineno}: not JSON: {error.msg} (column {error.colno})"
        ) from None
    except ValueError:  # Python refuses whole numbers of more than 4300 digits
        raise FormatError(
            f"{place}: a whole number has too many digits; write it as 1e300"
        ) from None
    except RecursionError:
        raise _too_deep(text, place) from None
    if _is_deep(whole):
        raise _too_deep(text, place)
    if _NO_TEXT.search(text) or not is_text(text):
        _refuse_no_texts(text, place)
    return whole


def _is_deep(whole: Any) -> bool:
    """Whether something is nested beyond what a model needs, told without recursion."""
    level = [whole] if isinstance(whole, list | dict) else []
    for _ in range(MOST_NESTED + 1):
        items = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for each in chain.from_iterable(items) if type(each) in (list, dict)]
        if not level:
            return False
    return True


def _too_deep(text: str, place: str) -> FormatError:
    """The error at the first place that is nested too deeply."""
    depth, start = 0, 0
    for found in _BRACKET.finditer(text):
        depth += (found[0] in "[{") - (found[0] in "]}")
        start = found.start()
        if depth > MOST_NESTED:
            break
    line = text.count("\n", 0, start) + 1
    return FormatError(
        f"{place}:{line}: nested too deeply to be a model, {MOST_NESTED} lists or objects within "
        "one another at the most; write it flatter"
    )


def _refuse_no_texts(text: str, place: str) -> None:
    """Refuse a text that cannot be written anywhere: with NUL, or with half of a character."""
    for found in _STRING.finditer(text):
        if not is_text(json.loads(found[0])):
            line = text.count("\n", 0, found.start()) + 1
            raise FormatError(
                f"{place}:{line}: {found[0]} holds NUL or half of a character, which no file or "
                "database can hold; write another text"
            )
