"""Relational models as in a lifagu file, by hand and at random."""

import itertools
import json
import math
from collections import Counter

import lifagu
from support.helpers import ROOT, SCHEMA

LIFTED = sorted((ROOT / "tests/cases/lifted").glob("*.json"))


def relational(**parts):
    """A model as in a lifagu file, read."""
    text = json.dumps({"format": "lifagu/1", "domains": {}, **parts})
    SCHEMA.validate(json.loads(text))
    return lifagu.io.from_json(text)


def people(size=3, **parts):
    relations = [
        {"name": "Epid"},
        {"name": "Sick", "of": ["Person"]},
        {"name": "Friends", "of": ["Person", "Person"]},
    ]
    return {"domains": {"Person": size, "Drug": ["m1", "m2"]}, "relations": relations, **parts}


def scopes(graph):
    """The ground factors as a multiset of (name, arguments, potentials)."""
    return Counter(
        (
            each.name,
            each.arguments,
            None if each.table is None else tuple(each.table.reshape(-1).tolist()),
        )
        for each in graph.factors
    )


def random_relational(rng):
    """A small random relational model with every kind of constraint."""
    sizes = {"A": rng.randint(0, 4), "B": rng.choice([["b1", "b2", "b3"], ["b1"], 2])}
    constants = {
        name: [str(each) for each in (range(1, size + 1) if isinstance(size, int) else size)]
        for name, size in sizes.items()
    }
    relations = [
        {"name": "P"},
        {"name": "R", "of": ["A"], "range": ["x", "y", "z"]},
        {"name": "S", "of": ["A", "A"]},
        {"name": "T", "of": ["A", "B"]},
    ]
    atoms = ["P", "R(X)", "R(Y)", "S(X,Y)", "S(Y,X)", "S(X,X)", "T(X,U)", "T(Y,U)", "T(Y,V)"]
    atoms += [f"R({each})" for each in constants["A"][:1]] + [
        f"T(X,{each})" for each in constants["B"][:1]
    ]
    parfactors = []
    for number in range(rng.randint(1, 4)):
        args = rng.sample(atoms, rng.randint(1, 3))
        used = [each for each in "XYUV" if any(each in arg.partition("(")[2] for arg in args)]
        domain = {"X": "A", "Y": "A", "U": "B", "V": "B"}
        where = [
            f"{one} != {two}" for one, two in (("X", "Y"), ("U", "V")) if {one, two} <= set(used)
        ]
        where = rng.sample(where, rng.randint(0, len(where)))
        for each in used:
            if rng.random() < 0.2 and constants[domain[each]]:
                where.append(
                    f"{each} {rng.choice(['=', '!='])} {rng.choice(constants[domain[each]])}"
                )
        if len(used) > 1 and rng.random() < 0.4:
            chosen = rng.sample(used, 2)
            rows = [
                list(row)
                for row in itertools.product(*(constants[domain[each]] for each in chosen))
            ]
            key = rng.choice(["in", "not_in"])
            least = min(len(rows), key == "in")  # admitting nothing of something is a mistake
            where.append({"vars": chosen, key: rng.sample(rows, rng.randint(least, len(rows)))})
        span = math.prod(3 if arg.startswith("R") else 2 for arg in args)
        table = None if rng.random() < 0.2 else [rng.randint(1, 9) for _ in range(span)]
        parfactors.append({"name": f"g{number}", "args": args, "where": where, "table": table})
    return {"domains": sizes, "relations": relations, "parfactors": parfactors}
