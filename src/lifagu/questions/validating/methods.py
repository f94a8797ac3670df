"""Ways to fill holes side by side: each rule with the settings that a case has anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from lifagu.basics.inputs import items
from lifagu.errors import ModelError, Remedy
from lifagu.filling.rules import Filling

_OF_A_RULE = {"theta", "steps", "keep_known"}  # what auto does not know, or it alone


def ways(
    filling: Filling | None, rules: Sequence[str], combine: str | Sequence[str] = ""
) -> dict[str, Filling]:
    """The fillings to compare by the name of their rule; the case's own if none is named.

    combine: how all of them use competing tables, else each as its rule does. With several, every
    rule is there in each way that it has, and the name says in which.

    >>> found = ways(Filling(theta=0.5, steps=6), ["auto", "lifagu"])
    >>> found["auto"].theta, found["lifagu"].theta, found["lifagu"].steps
    (0.0, 0.5, 6)
    >>> list(ways(Filling(), ["auto"], ["average", "best"]))
    ['auto, average', 'auto, best']
    """
    if filling is None:
        raise ModelError("the holes of this case stay", remedy=Remedy.FILL)
    several = [combine] if isinstance(combine, str) else items("combine is a list", combine)
    names = items("fill is a list of rules", rules) or [filling.by]
    if len(several) < 2:
        return {name: _with(filling, name, "".join(several)) for name in names}
    return {f"{name}, {way}": _with(filling, name, way) for way in several for name in names}


def _with(filling: Filling, rule: str, combine: str) -> Filling:
    settings = {each.name: getattr(filling, each.name) for each in fields(filling)}
    if rule != filling.by:
        del settings["combine"]
        other = "auto" in (rule, filling.by)
        settings = {name: settings[name] for name in settings if not (other and name in _OF_A_RULE)}
    return Filling.of({**settings, "by": rule, **({"combine": combine} if combine else {})})
