"""Ground graphs whose kinds and individuals are declared oddly: repeated, with gaps, astray."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LABELS = [["false", "true"]] * 6 + [["true", "false"], ["a", "b", "c"]]
MOST_VARIABLES = 8
MOST_ARGUMENTS = 5
Scope = tuple[list[str], int]  # arguments, and which of the tables for such arguments


@dataclass(frozen=True)
class Place:
    """A variable: whose it is meant to be, of which kind, and what is declared of that."""

    name: str
    individual: str
    kind: str
    declared: dict[str, Any]


def odd_model(seed: int) -> dict[str, Any]:
    """A small model as in a file, with everything that may be declared here and missing there.

    An individual may own several variables of one kind, or none; individuals may be listed in
    another order, all be one, or be left out, and so may kinds; factors take a variable, all of a
    kind, of an individual or of both, pairs or anything, some of them twice; tables are often
    symmetric, or symmetric in all arguments but one.
    """
    rng = random.Random(seed)
    places = _places(rng)
    common = rng.choice(LABELS)
    mixed = rng.random() < 0.15
    ranges = {each.name: rng.choice(LABELS) if mixed else common for each in places}
    scopes = [scope for _ in range(rng.randint(1, 4)) for scope in _scopes(rng, places)]
    if rng.random() < 0.3:
        rng.shuffle(scopes)
    tables: dict[Any, Any] = {}
    factors = []
    for number, (arguments, which) in enumerate(scopes):
        shape = tuple(len(ranges[name]) for name in arguments)
        if (shape, which) not in tables:
            tables[shape, which] = _table(rng, shape)
        factors.append({"name": f"f{number}", "args": arguments, "table": tables[shape, which]})
    variables = [
        {"name": each.name, "range": ranges[each.name], **each.declared} for each in places
    ]
    return {"format": "lifagu/1", "variables": variables, "factors": factors}


def _places(rng: random.Random) -> list[Place]:
    people = [f"i{number}" for number in range(rng.randint(1, 4))]
    kinds, copies, style = "KLM"[: rng.randint(1, 3)], rng.choice([1, 2, 2, 3]), rng.randrange(5)
    found = []
    for person, kind, copy in itertools.product(people, kinds, range(copies)):
        lists = [[person], rng.choice([[person], []]), [person, rng.choice("mn")], [people[0]], []][
            style
        ]
        lists = lists[::-1] if rng.random() < 0.1 else lists
        lists = list(dict.fromkeys([*lists, rng.choice(people)])) if rng.random() < 0.05 else lists
        declared: dict[str, Any] = {"individual": lists} if lists else {}
        declared |= {"kind": kind} if rng.random() < (0.93 if kind != "M" else 0.2) else {}
        if rng.random() < 0.9:
            found.append(Place(f"{kind}.{person}.{copy}", person, kind, declared))
    found = found[: MOST_VARIABLES - 1]
    if rng.random() < 0.5 or not found:
        found.append(Place("Hub", "", "", {}))
    if rng.random() < 0.2:
        rng.shuffle(found)
    return found


def _scopes(rng: random.Random, places: Sequence[Place]) -> list[Scope]:
    """The factors of one rule, most of them once, with one table for each shape."""
    names = [each.name for each in places]
    groups = {"individual": lambda each: (each.individual,), "kind": lambda each: (each.kind,)}
    groups["both"] = lambda each: (each.individual, each.kind)
    how = rng.choice(["alone", *groups, "pairs", "anything", "with the hub"])
    if how in groups:
        keys = dict.fromkeys(map(groups[how], places))
        found = [[each.name for each in places if groups[how](each) == key] for key in keys]
    elif how == "with the hub":
        hub = [name for name in names if name == "Hub"]
        people = dict.fromkeys(each.individual for each in places if each.individual)
        found = [
            [each.name for each in places if each.individual == key][:3] + hub for key in people
        ]
    elif how == "pairs":
        pairs = itertools.permutations(places, 2)
        found = [[one.name, two.name] for one, two in pairs if one.individual == two.individual]
    elif how == "anything":
        found = [
            rng.sample(names, min(len(names), rng.randint(0, 4))) for _ in range(rng.randint(1, 4))
        ]
    else:
        found = [[name] for name in names]
    which, kept = rng.randrange(3), []
    for arguments in (each[:MOST_ARGUMENTS] for each in found):
        if rng.random() < 0.1:
            rng.shuffle(arguments)
        kept += [(arguments, which)] * rng.choice([0] + [1] * 14 + [2])
    return kept


def _table(rng: random.Random, shape: tuple[int, ...]) -> list[int] | None:
    """Unknown, symmetric, symmetric but for one argument, or anything; positive."""
    how = rng.random()
    if how < 0.08:
        return None
    if len(shape) < 2 or len(set(shape)) > 1 or how < 0.3:
        return [rng.randint(1, 4) for _ in range(math.prod(shape))]
    apart = rng.randrange(len(shape)) if how < 0.45 else len(shape)
    values: dict[Any, int] = {}
    states = itertools.product(range(shape[0]), repeat=len(shape))
    keys = (
        (each[apart : apart + 1], tuple(sorted(each[:apart] + each[apart + 1 :])))
        for each in states
    )
    return [values.setdefault(key, rng.randint(1, 5)) for key in keys]
