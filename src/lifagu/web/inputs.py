"""What a page may ask for, checked; mistakes say what is wrong, as on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lifagu.basics.choices import ENGINES, WAYS, EngineName, Way
from lifagu.errors import ModelError, listed
from lifagu.filling.rules import Filling

MOST_NAMES = 1000  # names in one request
MOST_OFFSET = 10**9


@dataclass(frozen=True)
class Request:
    """One request about a model: what was observed, what to ask or list.

    combine: how competing tables are used, nothing for what is usual. evidence: what differs from
    the model's own, None for what is to count as not observed. variables: the names asked about,
    None for those that a page shows on its own. Of lists: value, by whose probability they are
    ranked; having: (relation, label) observed of those that are shown; containing: a text in their
    names; offset: how many come before.
    """

    add: tuple[tuple[str, str], ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    combine: Way | Literal[""] = ""
    engine: EngineName = "auto"
    variables: tuple[str, ...] | None = None
    what: str = ""
    value: str = ""
    unobserved: bool = False
    having: tuple[tuple[str, str], ...] = ()
    containing: str = ""
    offset: int = 0
    scenarios: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Request:
        """The request in a JSON value.

        >>> Request.of({"engine": "bp"}).engine
        'bp'
        """
        if not isinstance(given, dict):
            raise ModelError("a request is a JSON object")
        if wrong := sorted(set(given) - set(CHECKS)):
            raise ModelError(
                f"a request has no field {listed(wrong)}; its fields are {', '.join(CHECKS)}"
            )
        return cls(**{name: CHECKS[name](value) for name, value in given.items()})

    @property
    def filling(self) -> Filling:
        """How holes are filled."""
        return Filling(combine=self.combine)


def _text(name: str, choices: tuple[str, ...] = ()) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if not isinstance(value, str) or (choices and value not in choices):
            raise ModelError(f"{name} is {_shown(value)}; choose one of {', '.join(choices)}")
        return value

    return check


def _names(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ModelError("variables must be a list of names")
    return tuple(_few(value, "variables"))


def _pairs(name: str, about: str) -> Callable[[Any], tuple[tuple[str, str], ...]]:
    def check(value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, list) or not all(_is_pair(each) for each in value):
            raise ModelError(f"{name} must be a list of pairs: {about}")
        return tuple((one, other) for one, other in _few(value, name))

    return check


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(each, str) and each for each in value)
    )


def _evidence(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelError("evidence must be an object: variable → label, or label → likelihood")
    for name, seen in _few(value, "evidence").items():
        if not isinstance(seen, str | dict | None):
            raise ModelError(
                f"the evidence for '{name[:80]}' must be a label, an object label → likelihood, or "
                "null for what is not observed"
            )
    return value


def _scenarios(value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict):
        raise ModelError("scenarios must be an object: name → what is observed in it")
    return {name: _evidence(seen) for name, seen in _few(value, "scenarios").items()}


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ModelError(f"unobserved must be true or false, not {_shown(value)}")
    return value


def _offset(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_OFFSET:
        raise ModelError(f"offset must be a whole number from 0 on, not {_shown(value)}")
    return value


def _few(values: Any, what: str) -> Any:
    if len(values) > MOST_NAMES:
        raise ModelError(
            f"{what} has {len(values)} entries; at most {MOST_NAMES} can be given at once"
        )
    return values


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


CHECKS: dict[str, Callable[[Any], Any]] = {  # by field
    "add": _pairs("add", "a new individual, and one that it is like"),
    "evidence": _evidence,
    "combine": _text("combine", WAYS),
    "engine": _text("engine", ENGINES),
    "variables": _names,
    "what": _text("what"),
    "value": _text("value"),
    "unobserved": _flag,
    "having": _pairs("having", "a relation, and a label of it that was observed"),
    "containing": _text("containing"),
    "offset": _offset,
    "scenarios": _scenarios,
}
