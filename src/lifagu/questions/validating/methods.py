"""Ways to fill holes side by side: each rule with the settings that a case has anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from lifagu.basics.inputs import items
from lifagu.errors import ModelError, Remedy
from lifagu.filling.rules import Filling

_MEAN_A_RULE = ("by", "structure_only", "published", "steps", "profiles", "unknown")


def ways(
    filling: Filling | None, rules: Sequence[str], unknown: str | Sequence[str] = ""
) -> dict[str, Filling]:
    """The fillings to compare by the name of their rule; the case's own if none is named.

    unknown: how all of them use competing tables, else each as its rule does. With several, every
    rule is there in each way, and the name says in which.

    >>> found = ways(Filling(theta=0.5, steps=6), ["steps", "profiles"])
    >>> found["steps"].steps, found["profiles"].steps, found["profiles"].theta
    (6, None, 0.5)
    >>> list(ways(Filling(), ["cohorts"], ["posterior", "one"]))
    ['cohorts, posterior', 'cohorts, one']
    """
    if filling is None:
        raise ModelError("the holes of this case stay", remedy=Remedy.FILL)
    several = [unknown] if isinstance(unknown, str) else items("unknown is a list", unknown)
    if len(several) < 2:
        return _by_rule(filling, rules, "".join(several))
    return {
        f"{name}, {way}": each
        for way in several
        for name, each in _by_rule(filling, rules, way).items()
    }


def _by_rule(filling: Filling, rules: Sequence[str], unknown: str) -> dict[str, Filling]:
    names = items("fill is a list of rules", rules)
    if not names:
        return {filling.by: replace(filling, unknown=unknown) if unknown else filling}
    settings = {
        each.name: getattr(filling, each.name)
        for each in fields(filling)
        if each.name not in _MEAN_A_RULE
    }
    if filling.unknown != Filling(by=filling.by).unknown:
        settings["unknown"] = filling.unknown
    if unknown:
        settings["unknown"] = unknown
    found = {}
    for name in names:
        steps = {"steps": filling.steps} if name == "steps" else {}
        found[name] = Filling.of({**settings, **steps, "by": name})
    return found
