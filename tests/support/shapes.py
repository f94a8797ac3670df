"""Ground graphs of many shapes, by name and at random, for tests of lifting."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from typing import Any

from lifagu import FactorGraph

A = [1, 2, 3, 5]  # a table that no two arguments may be swapped in
B = [7, 1, 2, 1]
TRIPLE = list(range(1, 9))
COUNTED = [
    [1, 5, 7, 3][sum(each[:3])] + 10 * each[3] for each in itertools.product((0, 1), repeat=4)
]
Scope = tuple[Sequence[str], Any]


def graph(
    variables: Iterable[str | tuple[str, dict[str, Any]]], scopes: Iterable[Scope]
) -> FactorGraph:
    """A graph from names (or names with settings) and (arguments, table) pairs."""
    builder = FactorGraph.build()
    for each in variables:
        name, settings = (each, {}) if isinstance(each, str) else each
        builder.variable(name, **settings)
    for number, (arguments, table) in enumerate(scopes):
        builder.factor(f"f{number}", arguments, table)
    return builder.graph()


def counts(length: int, values: Sequence[float]) -> list[float]:
    """A symmetric table over so many Boolean arguments: values by how many are true."""
    return [values[sum(each)] for each in itertools.product((0, 1), repeat=length)]


def names(stem: str, *sizes: int) -> list[str]:
    """Names such as Treat0_1 for all combinations."""
    return [stem + "_".join(map(str, each)) for each in itertools.product(*map(range, sizes))]


def shape(name: str) -> FactorGraph:
    """A graph by the name of its shape."""
    return SHAPES[name]()


def _regions(pairs: Iterable[tuple[int, int]]) -> FactorGraph:
    homes = [([f"Sick{person}", f"Region{person % 3}"], A) for person in range(6)]
    return graph(
        [*names("Region", 3), *names("Sick", 6)],
        [*homes, *(([f"Sick{p}", f"Sick{q}"], B) for p, q in pairs)],
    )


def _counted_friends() -> FactorGraph:
    others = [(p, q) for p in range(4) for q in range(4) if p != q]
    scopes: list[Scope] = [
        ([*(f"F{p}_{q}" for one, q in others if one == p), f"S{p}"], COUNTED) for p in range(4)
    ]
    scopes += [([f"F{p}_{q}", f"S{p}", f"S{q}"], TRIPLE) for p, q in others]
    return graph([*names("S", 4), *(f"F{p}_{q}" for p, q in others)], scopes)


def _treatments(owners: bool = False, order: Sequence[str] = ("m1", "m2", "m3")) -> FactorGraph:
    people = ("al", "bo", "eve")
    variables = [
        *(
            (f"Treat.{p}.{m}", {"kind": "Treat", "individual": [p, m] if owners else []})
            for p in people
            for m in order
        ),
        *((f"Sick.{p}", {"kind": "Sick", "individual": p if owners else []}) for p in people),
    ]
    return graph(
        variables, [([*(f"Treat.{p}.{m}" for m in order), f"Sick.{p}"], COUNTED) for p in people]
    )


PAIRS = [(p, q) for p in range(6) for q in range(6) if p != q]
SHAPES = {
    "product": lambda: graph(
        [*names("A", 3), *names("B", 4)],
        [([f"A{a}", f"B{b}"], A) for a in range(3) for b in range(4)],
    ),
    "star": lambda: graph(
        ["Hub", *names("Leaf", 5)], [([f"Leaf{each}", "Hub"], A) for each in range(5)]
    ),
    "matching": lambda: graph(
        [*names("A", 4), *reversed(names("B", 4))],
        [([f"A{each}", f"B{each}"], A) for each in range(4)],
    ),
    "two matchings": lambda: graph(
        [*names("A", 4), *names("B", 4)],
        [
            *(([f"A{each}", f"B{each}"], A) for each in range(4)),
            *(([f"A{each}", f"B{(each + 1) % 4}"], B) for each in range(4)),
        ],
    ),
    "ring": lambda: graph(
        names("P", 5), [([f"P{each}", f"P{(each + 1) % 5}"], A) for each in range(5)]
    ),
    "successor chain": lambda: graph(
        names("P", 5), [([f"P{each}", f"P{each + 1}"], A) for each in range(4)]
    ),
    "copies of a chain": lambda: graph(
        names("P", 3, 3),
        [([f"P{copy}_{each}", f"P{copy}_{each + 1}"], A) for copy in range(3) for each in range(2)],
    ),
    "all but a matching": lambda: graph(
        [*names("A", 4), *names("B", 4)],
        [([f"A{a}", f"B{(a + 2) % 4}"], A) for a in range(4)]
        + [([f"A{a}", f"B{(a + b) % 4}"], A) for a in range(4) for b in (0, 1)],
    ),
    "all pairs": lambda: graph(names("P", 6), [([f"P{p}", f"P{q}"], A) for p, q in PAIRS]),
    "all triples": lambda: graph(
        names("P", 4),
        [([f"P{each}" for each in row], TRIPLE) for row in itertools.permutations(range(4), 3)],
    ),
    "friends": lambda: graph(
        [*names("S", 6), *(f"F{p}_{q}" for p, q in PAIRS)],
        [([f"F{p}_{q}", f"S{p}", f"S{q}"], TRIPLE) for p, q in PAIRS],
    ),
    "edges": lambda: graph(
        [*names("P", 5), *(f"E{p}_{(p + step) % 5}" for p in range(5) for step in (1, 2))],
        [
            ([f"E{p}_{(p + step) % 5}", f"P{p}", f"P{(p + step) % 5}"], TRIPLE)
            for p in range(5)
            for step in (1, 2)
        ],
    ),
    "regions": lambda: _regions([]),
    "pairs within regions": lambda: _regions([(p, q) for p, q in PAIRS if p % 3 == q % 3]),
    "pairs across regions": lambda: _regions(PAIRS),
    "linked through a third": lambda: graph(
        [*names("Sick", 3), *reversed(names("Travel", 3)), *names("Treat", 3, 2)],
        [([f"Treat{p}_{m}", f"Sick{p}"], A) for p in range(3) for m in range(2)]
        + [([f"Travel{p}", f"Treat{p}_{m}"], B) for p in range(3) for m in range(2)],
    ),
    "treated, others smoke": lambda: graph(
        [*names("Sick", 4), *names("Smokes", 4), *names("Treat", 4, 2)],
        [([f"Treat{p}_{m}", f"Sick{p}"], A) for p in range(4) for m in range(2)]
        + [
            ([f"Treat{p}_{m}", f"Smokes{q}"], B)
            for p in range(4)
            for m in range(2)
            for q in range(4)
            if p != q
        ],
    ),
    "latin square": lambda: graph(
        [*names("A", 3), *names("B", 3), *names("C", 3)],
        [([f"A{a}", f"B{b}", f"C{(a + b) % 3}"], TRIPLE) for a in range(3) for b in range(3)],
    ),
    "parallel": lambda: graph(["A", "B", "C", "D"], [(["A", "B"], A), (["C", "D"], A)] * 2),
    "parallel here and there": lambda: graph(
        names("P", 6),
        [(["P0", "P1"], A), (["P1", "P0"], A)] * 2
        + [([f"P{2 + e}", f"P{2 + (e + 1) % 4}"], A) for e in range(4)] * 2,
    ),
    "very parallel": lambda: graph(["A"], [(["A"], [1, 2])] * 100),
    "unknown": lambda: graph(
        ["Hub", *names("Leaf", 3)], [([f"Leaf{each}", "Hub"], None) for each in range(3)]
    ),
    "ternary": lambda: graph(
        [(name, {"range": ["low", "mid", "high"]}) for name in names("P", 4)],
        [([f"P{p}", f"P{q}"], list(range(9))) for p in range(4) for q in range(4) if p != q],
    ),
    "label orders": lambda: graph(
        [
            ("A0", {"range": ["t", "f"]}),
            ("A1", {"range": ["f", "t"]}),
            ("A2", {"range": ["t", "f"]}),
        ],
        [(["A0"], [1, 2]), (["A1"], [2, 1]), (["A2"], [1, 2])],
    ),
    "isolated": lambda: graph(names("P", 4), [(["P0"], [1, 2]), (["P1"], [1, 2])]),
    "one counted factor": lambda: graph(
        [*names("Com", 3), "Rev"],
        [
            *(([f"Com{each}"], [1, 2]) for each in range(3)),
            ([*names("Com", 3), "Rev"], COUNTED),
            (["Rev"], [1, 4]),
        ],
    ),
    "rows and columns": lambda: graph(
        names("G", 3, 4),
        [
            *(
                ([f"G{row}_{column}" for column in range(4)], counts(4, [1, 5, 7, 3, 9]))
                for row in range(3)
            ),
            *(
                ([f"G{row}_{column}" for row in range(3)], counts(3, [1, 5, 7, 3]))
                for column in range(4)
            ),
        ],
    ),
    "counted friends": _counted_friends,
    "counted treatments": _treatments,
    "counted treatments of individuals": lambda: _treatments(owners=True),
    "counted out of order": lambda: graph(
        [*names("Com", 3), "R0", "R1"],
        [(["Com0", "Com1", "Com2", "R0"], COUNTED), (["Com2", "Com0", "Com1", "R1"], COUNTED)],
    ),
    "overlapping individuals": lambda: graph(
        [(f"T.{p}", {"individual": p}) for p in "abc"]
        + [(f"S.{p}", {"individual": p}) for p in "ab"],
        [*(([f"T.{p}"], [1, 2]) for p in "abc"), *(([f"S.{p}"], [1, 3]) for p in "ab")],
    ),
    "contradicting individuals": lambda: graph(
        [(f"{kind}.{p}", {"individual": p}) for kind in "TS" for p in "abc"],
        [([f"T.{p}", f"S.{q}"], A) for p, q in ("ab", "bc", "ca")],
    ),
    "individuals decide": lambda: graph(
        [(f"{kind}.{p}", {"individual": p}) for kind in "TS" for p in "abc"],
        [([f"T.{p}", f"S.{q}"], A) for p, q in ("ab", "bc", "ca")]
        + [([f"T.{p}", f"S.{p}"], B) for p in "abc"],
    ),
    "nothing but individuals": lambda: graph(
        [(f"T.{p}.{m}", {"individual": [p, m]}) for p in "ab" for m in "cde"],
        [([f"T.{p}.{m}"], [1, 2]) for p in "ab" for m in "cde"],
    ),
}


def random_graph(seed: int) -> FactorGraph:
    """A small relational structure grounded by hand: products, X ≠ Y, successors, holes, unknowns.

    Names come in several styles, some of them those of ground variables; kinds and individuals may
    be declared.
    """
    rng = random.Random(seed)
    domains = {"P": range(rng.randint(1, 4)), "D": range(rng.randint(1, 3))}
    labels = [("false", "true")] * 4 + [("true", "false"), ("a", "b", "c")]
    relations = [
        (
            f"R{letter}",
            [rng.choice("PD") for _ in range(rng.choice([0, 1, 1, 2]))],
            rng.choice(labels),
        )
        for letter in "abcd"[: rng.randint(1, 4)]
    ]
    places = [
        (name, of, values, row)
        for name, of, values in relations
        for row in itertools.product(*(domains[d] for d in of))
    ]
    rng.shuffle(places)
    builder = FactorGraph.build()
    style, kinds, owners = rng.randrange(4), rng.random() < 0.4, rng.random() < 0.4
    called = {}
    for number, (name, of, values, row) in enumerate(places):
        constants = [f"{domain.lower()}{each}" for domain, each in zip(of, row, strict=True)]
        spelt = f"{name}({','.join(constants)})" if constants else name
        called[name, row] = [
            ".".join([name, *constants]),
            f"v{number}",
            spelt,
            f"{name}({number + 1})",
        ][style]
        builder.variable(
            called[name, row],
            values,
            kind=name if kinds else None,
            individual=constants if owners else (),
        )
    scopes = [
        scope
        for _ in range(rng.randint(1, 4))
        for scope in _random_scopes(rng, relations, domains, called)
    ]
    rng.shuffle(scopes)
    for number, (arguments, table) in enumerate(scopes):
        builder.factor(
            f"f{number}" if rng.random() < 0.9 else f"g{number}({number})", arguments, table
        )
    return builder.graph()


def _random_scopes(rng: random.Random, relations: Any, domains: Any, called: Any) -> list[Scope]:
    """The ground factors of one random parfactor, with a random kind of constraint."""
    atoms = [
        (name, [d + rng.choice("12") for d in of], labels)
        for name, of, labels in rng.choices(relations, k=3)
    ]
    atoms = atoms[: rng.randint(1, 3)]
    logicals = sorted({term for _, terms, _ in atoms for term in terms})
    pairs = [(one, two) for one, two in itertools.combinations(logicals, 2) if one[0] == two[0]]
    span = math.prod(len(labels) for *_, labels in atoms)
    table = None if rng.random() < 0.15 else [rng.randint(1, 2) for _ in range(span)]
    mode = rng.choice(["all", "unequal", "successor", "holes"])
    found: list[Scope] = []
    for values in itertools.product(*(domains[each[0]] for each in logicals)):
        theta = dict(zip(logicals, values, strict=True))
        admitted = {
            "all": True,
            "unequal": all(theta[one] != theta[two] for one, two in pairs),
            "successor": all(
                (theta[one] + 1) % len(domains[one[0]]) == theta[two] for one, two in pairs
            ),
            "holes": rng.random() < 0.7,
        }[mode]
        scope = [called[name, tuple(theta[term] for term in terms)] for name, terms, _ in atoms]
        if admitted and len(set(scope)) == len(scope):
            found += [(scope, table)] * rng.choice([1] * 9 + [2])
    return found
