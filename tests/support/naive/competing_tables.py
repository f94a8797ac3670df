"""Answers over competing tables, by trying every combination; written from the definitions.

A *unit* is a list of factors that are filled together: all factors of an individual for whom a
donor individual exists, else a single unknown factor. Units that look alike form a class and make
the same choice in every combination.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable
from itertools import product
from typing import Any

from support.naive import graphs as naive

Model = dict[str, Any]
Evidence = dict[str, Any]
Unit = list[naive.Factor]
# share; unknown factor -> table, arguments as it lists them
Alternative = tuple[float, dict[str, naive.Table]]
Combinations = list[tuple[float, Model]]  # weight, completed model
Distribution = dict[tuple[str, ...], float]
Span = tuple[Distribution, Distribution]  # smallest, largest


def look(unit: Unit, keys: naive.Keys, positional: bool) -> Hashable:
    """The multiset of signatures and tables, arguments sorted by role unless by position."""
    looks = []
    for factor in unit:
        own = keys[factor.name]
        order = range(len(own)) if positional else sorted(range(len(own)), key=own.__getitem__)
        looks.append(
            (naive.bag(own), factor.table and naive.frozen(naive.reorder(factor.table, order)))
        )
    return naive.bag(looks)


def alternatives_of(
    graph: naive.Graph, units: list[Unit], donors: list[Unit], keys: naive.Keys, positional: bool
) -> list[Alternative]:
    """The alternatives of one class, declared first comes first; donors that look alike agree.

    positional: tables are compared as listed, and copied so where the ranges fit.
    """
    agreeing: dict[Hashable, list[Unit]] = {}
    for donor in donors:
        agreeing.setdefault(look(donor, keys, positional), []).append(donor)
    found: list[Alternative] = [(len(same) / len(donors), {}) for same in agreeing.values()]
    for (_, tables), (donor, *_) in zip(found, agreeing.values(), strict=True):
        for unit in units:
            lent = naive.partners(unit, donor, keys) or {}
            for receiver in (f for f in unit if f.table is None):
                giver = lent[receiver.name]
                as_listed = positional and naive.ranges(graph, giver) == naive.ranges(
                    graph, receiver
                )
                filled = naive.give({}, giver, receiver, keys, as_listed)
                order = [filled.args.index(name) for name in receiver.args]
                tables[receiver.name] = naive.reorder(filled.table or {}, order)
    return found


def competing(
    model: Model,
    theta: float,
    evidence: Evidence,
    *,
    structure_only: bool = False,
    published: bool = False,
) -> tuple[list[list[Alternative]], list[str]]:
    """The alternatives of each class that has some and passes θ, and what stays unknown."""
    graph = naive.parse(model)
    roles = naive.all_roles(graph, evidence, structure_only or published, published)
    keys: naive.Keys = {f.name: tuple(roles[a] for a in f.args) for f in graph.factors}
    homes: dict[str, Unit] = {}
    for factor in graph.factors:
        if not (structure_only or published) and (person := naive.owner(graph, factor)):
            homes.setdefault(person, []).append(factor)
    classes: dict[Hashable, tuple[list[Unit], list[Unit], naive.Keys]] = {}  # receivers, donors
    single, served = [[f] for f in graph.factors], set()
    whole, apart = list(homes.values()), naive.in_company(graph, keys)
    for level, (pool, told) in enumerate([(whole, apart), (whole, keys), (single, keys)]):
        for unit in pool:
            donors = [other for other in pool if naive.partners(unit, other, told) is not None]
            holes = {f.name for f in unit if f.table is None} - served
            if holes and (donors or pool is single):
                found_in = level, look(unit, told, False)
                classes.setdefault(found_in, ([], donors, told))[0].append(unit)
                served |= holes
    every = [
        alternatives_of(graph, units, donors, told, published)
        for units, donors, told in classes.values()
    ]
    found = [offers for offers in every if any(share >= theta for share, _ in offers)]
    filled = {name for offers in found for name in offers[0][1]}
    return found, [f.name for f in graph.factors if f.table is None and f.name not in filled]


def completed(model: Model, tables: Iterable[dict[str, naive.Table]]) -> Model:
    """The model with the tables of some factors filled in."""
    graph, model = naive.parse(model), copy.deepcopy(model)
    new = {name: table for each in tables for name, table in each.items()}
    for entry in model["factors"]:
        if entry["name"] in new:
            states = product(*(graph.variables[name].labels for name in entry["args"]))
            entry["table"] = [new[entry["name"]][state] for state in states]
    return model


def winning(model: Model, classes: list[list[Alternative]]) -> Model:
    """Every class with its largest alternative, the first declared among equals."""
    return completed(model, [max(offers, key=lambda offer: offer[0])[1] for offers in classes])


def mean(model: Model, classes: list[list[Alternative]]) -> Model:
    """Every class with the share-weighted mean of its tables, each normalised to sum 1."""
    filled: dict[str, naive.Table] = {}
    for share, tables in (offer for offers in classes for offer in offers):
        for name, table in tables.items():
            average, total = (
                filled.setdefault(name, dict.fromkeys(table, 0.0)),
                math.fsum(table.values()),
            )
            filled[name] = {
                state: average[state] + share * value / total for state, value in table.items()
            }
    return completed(model, [filled])


def combinations(model: Model, classes: list[list[Alternative]]) -> Combinations:
    """One table per class in all ways; the weight is the product of the shares."""
    choices = product(*classes)
    return [
        (math.prod(s for s, _ in choice), completed(model, [t for _, t in choice]))
        for choice in choices
    ]


def weight(model: Model, *observations: Evidence) -> float:
    """The total weight with the observations fixed, each a label or likelihoods by label."""
    labels = {v.name: v.labels for v in naive.parse({**model, "factors": []}).variables.values()}
    hard, factors = {}, list(model["factors"])
    for name, seen in (item for each in observations for item in each.items()):
        if isinstance(seen, dict):
            factors.append(
                {
                    "name": f"soft {name}",
                    "args": [name],
                    "table": [seen[label] for label in labels[name]],
                }
            )
        elif hard.setdefault(name, seen) != seen:
            return 0.0
    try:
        return math.exp(naive.enumerate_answers({**model, "factors": factors}, hard)[0])
    except ZeroDivisionError:
        return 0.0


def posterior(model: Model, question: tuple[str, ...], evidence: Evidence) -> Distribution | None:
    """P(question | evidence) of a complete model; None if the evidence is impossible."""
    variables = naive.parse({**model, "factors": []}).variables
    states = list(product(*(variables[name].labels for name in question)))
    weights = [weight(model, evidence, dict(zip(question, state, strict=True))) for state in states]
    total = math.fsum(weights)
    return (
        {state: each / total for state, each in zip(states, weights, strict=True)}
        if total
        else None
    )


def mixture(
    pairs: Combinations, question: tuple[str, ...], evidence: Evidence
) -> Distribution | None:
    """Σ w P(e) P(q | e) / Σ w P(e) over the combinations; None if all exclude the evidence."""
    answers = [
        (share * explained / weight(model), posterior(model, question, evidence) or {})
        for share, model in pairs
        if (explained := weight(model, evidence))
    ]
    total = math.fsum(share for share, _ in answers)
    return (
        {s: math.fsum(share * a[s] for share, a in answers) / total for s in answers[0][1]}
        if answers
        else None
    )


def bounds(pairs: Combinations, question: tuple[str, ...], evidence: Evidence) -> Span | None:
    """The smallest and largest answers over the combinations in which the evidence is possible."""
    answers = [a for _, model in pairs if (a := posterior(model, question, evidence)) is not None]
    every = {state: [a[state] for a in answers] for state in (answers or [{}])[0]}
    return (
        ({s: min(v) for s, v in every.items()}, {s: max(v) for s, v in every.items()})
        if answers
        else None
    )
