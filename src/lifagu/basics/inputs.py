"""Single values as they were handed in: of the right kind, or refused in one line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from lifagu.errors import FormatError, ModelError, did_you_mean, listed

Key = TypeVar("Key")
Value = TypeVar("Value", covariant=True)


def shown(value: Any) -> str:
    """A value in an error: one line, not too long.

    >>> shown("2G"), shown(["x"] * 99)
    ("'2G'", "['x', 'x', 'x', 'x', 'x', 'x', 'x', 'x',…")
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:40].rstrip() + "…"


def number(what: str, value: Any) -> float:
    """A number that is no truth value and not nan.

    >>> number("theta", "0.5")
    Traceback (most recent call last):
    lifagu.errors.ModelError: theta is a number, not '0.5'
    """
    if not isinstance(value, Real) or isinstance(value, bool) or value != value:
        raise ModelError(f"{what} is a number, not {shown(value)}")
    return float(value)


def whole(what: str, value: Any, least: int, of: str = "") -> int:
    """A whole number from some number on; of: what it counts, for the error.

    >>> whole("memory_limit", "2G", 1, of=" of bytes")
    Traceback (most recent call last):
    lifagu.errors.ModelError: memory_limit is a whole number of bytes, 1 or more, not '2G'
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ModelError(f"{what} is a whole number{of}, {least} or more, not {shown(value)}")
    return int(value)


def flag(what: str, value: Any) -> bool:
    """A truth value, numpy's included."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise ModelError(f"{what} is True or False, not {shown(value)}")
    return bool(value)


def text(what: str, value: Any) -> str:
    """A text that is not empty, such as a name."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{what} has the name {shown(value)}; names are non-empty texts")
    if not is_text(value):
        raise ModelError(f"{what} has the name {shown(value)}; {NO_TEXT}")
    return value


def constant(what: str, value: Any) -> str:
    """The name of an individual; a whole number, as keys of databases are, stands for its text.

    >>> constant("an individual", 7), constant("an individual", "M-7")
    ('7', 'M-7')
    """
    is_number = isinstance(value, Integral) and not isinstance(value, bool)
    return text(what, str(int(value)) if is_number else value)


NO_TEXT = "NUL and halves of characters are in no text"


def is_text(value: str) -> bool:
    """Whether files and databases can hold a text: without NUL, and without half characters.

    >>> is_text("Eve"), is_text("\\0"), is_text("\\ud800")
    (True, False, False)
    """
    if "\0" in value:
        return False
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:
        return False


def label_text(value: Any) -> str | None:
    """A label as handed in as its text: truth values and whole numbers too; None for all else.

    >>> [label_text(each) for each in ("low", True, 5, 5.0, [1])]
    ['low', 'true', '5', '5', None]
    """
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "ndim") and hasattr(value, "item") and not value.ndim:
        value = value.item()  # numpy's
        return str(value) if isinstance(value, str) else label_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return str(int(value)) if value.is_integer() else repr(value)
    return None


def named_values(value: Any) -> Mapping[Any, Any] | None:
    """A mapping, or a Series of pandas with its index as names; None for all else."""
    if isinstance(value, Mapping):
        return value
    if all(hasattr(value, each) for each in ("index", "to_dict", "items")) and not isinstance(
        value, type
    ):
        found = dict(value.items())
        if len(found) == len(value):
            return found
        raise ModelError("a Series has a name in its index twice; give each once")
    return None


class LookedUp(Mapping[Key, Value]):
    """A mapping whose errors say what there is, so that `get` asks before it looks up."""

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default where there is none.

        Parameters
        ----------
        key : label, tuple of labels or str
            As in brackets.
        default : object, optional
            What else to give.

        Returns
        -------
        float or mapping
        """
        return self[key] if key in self else default  # noqa: SIM401  this is what get does


class LabelShares(dict[str, float]):
    """A marginal, label → probability, which is looked up as labels are handed in.

    >>> coin = LabelShares({"true": 0.75, "false": 0.25})
    >>> coin[True], coin.get(False), coin.get("perhaps"), True in coin
    (0.75, 0.25, None, True)
    """

    def __missing__(self, label: Any) -> float:
        text = label_text(label)
        if text is None or not super().__contains__(text):
            close = did_you_mean(text or "", self)
            raise ModelError(f"there is no label {shown(label)}; there are {listed(self)}{close}")
        return self[text]

    def __contains__(self, label: object) -> bool:
        text = label_text(label)
        return text is not None and super().__contains__(text)

    def get(self, label: Any, default: Any = None) -> Any:
        """The probability of a label, or the default where there is none.

        Parameters
        ----------
        label : str, bool, int or numpy scalar
            As in brackets.
        default : object, optional
            What else to give.

        Returns
        -------
        float
        """
        return self[label] if label in self else default  # noqa: SIM401  this is what get does


def chosen(what: str, value: Any, options: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in options:
        close = did_you_mean(value, options) if isinstance(value, str) else ""
        raise ModelError(f"{what} is {shown(value)}; choose one of {', '.join(options)}{close}")
    return value


def items(what: str, value: Any) -> list[Any]:
    """What a list, a tuple or anything else that is no text and no mapping holds."""
    try:
        if isinstance(value, str | bytes | Mapping):
            raise TypeError
        return list(value)
    except TypeError:
        raise ModelError(f"{what}, not {shown(value)}") from None


def instance(what: str, value: Any, *kinds: type) -> None:
    """A value of one of some kinds, as in "lift takes a FactorGraph or a Transfer"."""
    if not isinstance(value, kinds):
        expected = " or a ".join(each.__name__ for each in kinds)
        raise ModelError(f"{what} takes a {expected}, not {type(value).__name__}")


def callback(what: str, value: Any) -> None:
    """A function to be called, or None."""
    if value is not None and not callable(value):
        raise ModelError(f"{what} is a function to be called now and then, not {shown(value)}")


def path(value: Any) -> Path:
    """Where a file or folder is."""
    if not isinstance(value, str | os.PathLike) or "\0" in os.fspath(value):
        raise FormatError(f"a path is a text or a Path, not {shown(value)}")
    if not os.fspath(value):
        raise FormatError("a path is empty; name a file or a folder")
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise FormatError(f"no file can be called {os.fspath(value)!a}; {NO_TEXT}") from None
    return Path(value)


def real_path(value: str | os.PathLike[str]) -> Path:
    """A path without links, as far as they lead; unlike that of `Path` it does not mind circles."""
    return Path(os.path.realpath(path(value)))


def from_home(value: str) -> Path:
    """A path with ``~`` as somebody's home; where nobody is called so, it is a name like others."""
    return Path(os.path.expanduser(value))  # noqa: PTH111 - that of Path fails then


def by_name(what: str, value: Any, example: str) -> Mapping[str, Any]:
    """Values by name, none of them where nothing was given.

    >>> by_name("parameters", ["ward"], '{"ward": 4}')
    Traceback (most recent call last):
    lifagu.errors.ModelError: parameters are a mapping from names, such as {"ward": 4}
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ModelError(f"{what} are a mapping from names, such as {example}")
    return value


def certain_label(likelihoods: Mapping[str, float]) -> str | None:
    """The only label that likelihoods leave possible; None if there are several.

    >>> certain_label({"no": 0, "yes": 0.5}), certain_label({"no": 0.1, "yes": 0.5})
    ('yes', None)
    """
    possible = [label for label, likelihood in likelihoods.items() if likelihood > 0]
    return possible[0] if len(possible) == 1 else None
