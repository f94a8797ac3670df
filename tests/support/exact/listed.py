"""Random models that name their individuals: explicit constraints and many ground factors."""

from __future__ import annotations

import itertools
import random
from typing import Any

from support.exact.checks import Known, known_of
from support.exact.drafts import Draft, table

BOOLEAN = ("false", "true")
Rows = list[list[str]]


def listed(rng: random.Random) -> tuple[dict[str, Any], Known]:
    """A model of this kind and what is known about it."""
    draft = Draft(rng)
    large = rng.random() < 0.12
    if large:
        named(draft)
    else:
        rng.choice([constrained, constrained, listed_pairs, listed_counts])(draft)
        draft.decorate()
    if not large and rng.random() < 0.6:
        draft.observe_some()
    model = draft.model()
    return model, known_of(model, rng)


def some_rows(draft: Draft, *domains: str) -> Rows:
    """Tuples of constants: any, a ring, a star, or a product of sets, at times repeated."""
    rng = draft.rng
    constants = [draft.constants(each) for each in domains]
    every = [list(row) for row in itertools.product(*constants)]
    kinds = [every, rng.sample(every, rng.randint(1, len(every)))]
    parts = [rng.sample(each, rng.randint(1, len(each))) for each in constants]
    kinds.append([list(row) for row in itertools.product(*parts)])
    if len(domains) == 2:
        first, second = constants
        kinds.append(
            [[one, second[place % len(second)]] for place, one in enumerate(first, start=1)]
        )
        kinds.append([[first[0], two] for two in second])
    rows = rng.choice(kinds)
    return rows + rows[:1] if rng.random() < 0.1 else rows


def constraint(draft: Draft, names: str, rows: Rows) -> dict[str, Any]:
    """A constraint that admits these tuples, or at times excludes them."""
    return {"vars": list(names), "in" if draft.rng.random() < 0.75 else "not_in": rows}


def constrained(draft: Draft) -> None:
    """Listed pairs of a few individuals, up to 64 of them, beside parfactors for all."""
    rng = draft.rng
    size = draft.domain("P", [2, 3, 4, 5, 6, 7, 8])
    draft.domain("Q", [1, 2, 3])
    draft.relations("E S(P) R(P) V(Q)", BOOLEAN if size > 3 else None)
    for _ in range(rng.choice([1, 1, 2])):
        args, names, domains = rng.choice(
            [
                (["S(X)", "S(Y)"], "XY", "PP"),
                (["S(X)", "S(Y)"], "YX", "PP"),
                (["S(X)", "R(Y)"] if size < 6 else ["S(X)", "S(Y)", "E"], "XY", "PP"),
                (["S(X)", "V(U)"], "XU", "PQ"),
                (["S(X)", "E"], "X", "P"),
                (["S(X)", "S(Y)", "V(U)"], "XYU", "PPQ"),
            ]
        )
        where: list[Any] = [constraint(draft, names, some_rows(draft, *domains))]
        where += ["X != Y"] if {"X", "Y"} <= set(names) and rng.random() < 0.3 else []
        draft.parfactor(args, where)
    beside = ["S(X)", "S(X) E", "S(X) S(Y) | X != Y", "V(U) E", "S(X) S(Y)"] + ["S(X) R(X)"] * (
        size < 6
    )
    for text in rng.sample(beside, rng.choice([0, 1, 1, 2])):
        draft.shape(text)


def listed_pairs(draft: Draft) -> None:
    """A relation that exists for listed pairs only, nearly all of them observed."""
    rng = draft.rng
    draft.domain("P", [2, 3, 5, 6, 7])
    draft.relations("E S(P) F(P,P)", BOOLEAN)
    where = [constraint(draft, "XY", some_rows(draft, "P", "P"))]
    draft.parfactor(
        rng.choice([["F(X,Y)", "S(X)"], ["F(X,Y)", "S(X)", "S(Y)"], ["F(X,Y)", "E"], ["F(X,Y)"]]),
        where,
    )
    if rng.random() < 0.4:
        draft.parfactor(["F(X,Y)", "S(Y)"], where)
    for text in rng.sample(
        ["S(X)", "S(X) E", "S(X) S(Y) | X != Y", "F(X,X) E"], rng.choice([0, 1])
    ):
        draft.shape(text)
    pairs = [name for name in draft.existing() if name.startswith("F")]
    rng.shuffle(pairs)
    common = draft.value("F")
    alike, soft = rng.random() < 0.5, rng.choice([0, 0, 0.1])
    for name in pairs[rng.randint(0, 4) :]:
        draft.observe(name, common if alike else draft.value(name, soft))


def listed_counts(draft: Draft) -> None:
    """Counting formulas over listed individuals."""
    rng = draft.rng
    draft.domain("P", [2, 3, 4, 5])
    draft.relations("E A(P) S(P)", BOOLEAN if rng.random() < 0.7 else None)
    if rows := rng.sample(
        [[each] for each in draft.constants("P")], rng.randint(1, len(draft.constants("P")))
    ):
        draft.parfactor(
            rng.choice([["#X[A(X)]"], ["#X[A(X)]", "E"], ["#X[A(X)]", "S(Y)"]]),
            [constraint(draft, "X", rows)],
        )
    for text in rng.sample(
        ["A(X)", "A(X) E", "A(X) A(Y) | X != Y", "A(X) S(X)", "#X[A(X)]"], rng.choice([0, 1, 1])
    ):
        draft.shape(text)


def named(draft: Draft) -> None:
    """More than 64 individuals with their own factors, or in a ring, beside common parfactors."""
    rng = draft.rng
    size = draft.domain("P", range(65, 76))
    draft.relations("E S(P) R(P)", BOOLEAN)
    people = draft.constants("P")
    kinds = rng.sample(["own", "chain", "couples", "ring", "star"], rng.choice([1, 1, 2]))
    values = [table(rng, [2, 2]) for _ in range(rng.choice([1, 2, size]))]
    own = [table(rng, [2]) for _ in range(rng.choice([1, 2, size]))]
    for place, person in enumerate(people):
        if "own" in kinds and rng.random() < 0.97:
            draft.factor([f"S({person})"], own[place % len(own)])
        if "chain" in kinds and place:
            draft.factor([f"S({people[place - 1]})", f"S({person})"], values[place % len(values)])
        if "couples" in kinds and place % 2:
            draft.factor([f"S({people[place - 1]})", f"S({person})"], values[place % len(values)])
        if "star" in kinds:
            draft.factor([f"S({person})", "E"], values[place % len(values)])
    if "ring" in kinds:
        rows = [[one, two] for one, two in zip(people, people[1:] + people[:1], strict=True)]
        draft.parfactor(["S(X)", "S(Y)"], [{"vars": ["X", "Y"], "in": rows}])
    for text in rng.sample(
        ["S(X)", "S(X) E", "S(X) R(X)", "R(X) E", "S(X) | X != @P"], rng.choice([1, 1, 2])
    ):
        draft.shape(text)
    for person in rng.sample(people, rng.choice([0, 0, 1, 5, 60])):
        draft.observe(f"S({person})", draft.value("S", rng.choice([0, 0.2])))
