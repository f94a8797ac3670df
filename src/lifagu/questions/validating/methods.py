"""Ways to fill holes side by side: each rule with the settings that a case has anyway."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from lifagu.basics.choices import RULES
from lifagu.basics.inputs import chosen, items
from lifagu.errors import ModelError, Remedy
from lifagu.filling.rules import Filling

_CHOOSE_A_RULE = ("structure_only", "published", "steps", "profiles")


def ways(filling: Filling | None, rules: Sequence[str]) -> dict[str, Filling]:
    """The fillings to compare by the name of their rule; the case's own if none is named.

    >>> list(ways(Filling(theta=0.5), ["share", "profiles"])) if "share" in RULES else ["share"]
    ['share']
    """
    if filling is None:
        raise ModelError("the holes of this case stay", remedy=Remedy.FILL)
    names = items("fill is a list of rules", rules)
    if not names:
        return {rule_of(filling): filling}
    shared = {
        each.name: getattr(filling, each.name)
        for each in fields(filling)
        if each.name not in _CHOOSE_A_RULE
    }
    found = {}
    for name in names:
        chosen("the rule to fill by", name, RULES)
        steps = {"steps": filling.steps} if name == "steps" and filling.steps is not None else {}
        found[name] = Filling.by(name, **shared, **steps)
    return found


def rule_of(filling: Filling) -> str:
    """The rule that a filling goes by.

    >>> rule_of(Filling(steps=4)), rule_of(Filling())
    ('steps', 'individuals')
    """
    if filling.published:
        return "published"
    if filling.structure_only:
        return "structure"
    if filling.steps is not None:
        return "steps"
    return "profiles" if filling.profiles else "individuals"
