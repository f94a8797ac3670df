"""Random models of many societies that have nothing to do with one another but for something common
to all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from support import exact_societies as single
from support.exact_drafts import Draft, table
from support.exact_societies import BOOLEAN, Asked, answers, sized, unary
from support.naive_inference import TooManyStatesError
from support.naive_society import Logs, Society, added, logs, powers


def society(rng: random.Random) -> Asked:
    """A model of one or many societies and what is known about it."""
    while True:
        with suppress(TooManyStatesError):
            return rng.choice(KINDS)(rng)


@dataclass(frozen=True)
class Copies:
    """So many copies: for each value of what is common to all of them one society, and one for the
    best assignment.
    """

    count: int
    societies: list[Society]
    for_best: list[Society]


def of_copies(outer: Logs, copies: Sequence[Copies], asked: int, *classes: int) -> tuple[Logs, Any]:
    """[e, hub, t, …] for members of one copy of a kind, and the largest weight."""
    totals = [[added(each.total()) for each in kind.societies] for kind in copies]
    bests = [[each.best().max() for each in kind.for_best] for kind in copies]
    tables = []
    for given, start in enumerate(outer):
        rest = start
        for place, kind in enumerate(copies):
            rest = rest + powers(np.array(kind.count - (place == asked)), totals[place][given])
        tables.append(rest + copies[asked].societies[given].members(*classes))
    best = max(
        start
        + sum(
            powers(np.array(kind.count), bests[place][given]) for place, kind in enumerate(copies)
        )
        for given, start in enumerate(outer)
    )
    return np.array(tables), best


def households(rng: random.Random) -> Asked:
    """Households of alike members, with or without hubs, something common, and one observed member
    each.
    """
    draft = Draft(rng)
    many, size = rng.choice(
        [(sized(rng, 4, 15), sized(rng, 3, 10)), (sized(rng, 2, 4), sized(rng, 20, 40))]
    )
    hub, common = rng.random() < 0.5, rng.random() < 0.5
    pair, own, beside, above, over = (table(rng, [2] * arity) for arity in (2, 1, 2, 2, 2))
    draft.domain("H", [many], listed=0)
    draft.domain("P", [size], listed=0)
    draft.relations("M(H,P)" + " B(H)" * hub + " E" * common, BOOLEAN)
    draft.parfactor(["M(H,X)", "M(H,Y)"], ["X != Y"], values=pair)
    draft.parfactor(["M(H,X)"], [], values=own)
    if hub:
        draft.parfactor(["M(H,X)", "B(H)"], [], values=beside)
    if common:
        draft.parfactor(["B(H)" if hub else "M(H,X)", "E"], [], values=over if hub else above)
    observed, same, alike = rng.random() < 0.7, rng.random() < 0.5, rng.random() < 0.5
    labels = [rng.choice(BOOLEAN)] * many if alike else [rng.choice(BOOLEAN) for _ in range(many)]
    chosen = [size if same else rng.randint(2, size) for _ in range(many)]
    for house, label, person in zip(range(1, many + 1), labels, chosen, strict=True):
        if observed:
            draft.evidence[f"M({house},{person})"] = label

    def made(given: int, seen: str | None) -> Society:
        member = logs(own)[None] + np.zeros((2 if hub else 1, 1))
        member = member + (logs(beside).reshape(2, 2).T if hub else 0)
        member = member + (logs(above).reshape(2, 2)[:, given] if common and not hub else 0)
        between = np.broadcast_to(logs(pair).reshape(1, 2, 2), (2 if hub else 1, 2, 2))
        start = (
            logs(over).reshape(2, 2)[:, given]
            if hub and common
            else np.zeros(2 if hub else 1, np.longdouble)
        )
        if seen is None:
            return Society([size], [member], {(0, 0): between}, start)
        fixed = member + logs([seen == label for label in BOOLEAN])
        pairs = dict.fromkeys(itertools.product(range(2), repeat=2), between)
        return Society([size - 1, 1], [member, fixed], pairs, start)

    values = range(2 if common else 1)
    kinds = sorted(set(labels)) if observed else [None]
    societies = [[made(given, seen) for given in values] for seen in kinds]
    counts = [labels.count(seen) if seen else many for seen in kinds]
    copies = [Copies(count, each, each) for count, each in zip(counts, societies, strict=True)]
    asked = kinds.index(labels[0] if observed else None)
    weights, best = of_copies(np.zeros(len(values), np.longdouble), copies, asked, 0)
    names = ["E", "B(1)", "M(1,1)"]
    kept = [common, hub, True]
    weights = weights.reshape(
        [length for length, there in zip(weights.shape, kept, strict=True) if there]
    )
    return answers(draft, list(itertools.compress(names, kept)), weights, best)


def rows(rng: random.Random) -> Asked:
    """F(X,Y), F(X,Z) for all Y ≠ Z beside F(X,Y), G(X,Y): rows that have nothing to do with one
    another, or only E.
    """
    draft = Draft(rng)
    size = rng.choice([sized(rng, 4, 10)] * 6 + [sized(rng, 12, 25)])
    draft.domain("P", [size], listed=0)
    common = rng.random() < 0.5
    draft.relations("F(P,P) G(P,P)" + " E" * common, BOOLEAN)
    pair, own, above = table(rng, [2, 2]), table(rng, [2, 2]), table(rng, [2, 2])
    different = rng.random() < 0.5
    draft.parfactor(
        ["F(X,Y)", "F(X,Z)"], ["Y != Z", *["X != Y", "X != Z"][: 2 * different]], values=pair
    )
    draft.parfactor(["F(X,Y)", "G(X,Y)"], ["X != Y"][:different], values=own)
    if common:
        draft.parfactor(["F(X,Y)", "E"], ["X != Y"][:different], values=above)
    seen = rng.choice([None, "false", "true"])
    if seen:
        draft.evidence["F(1,3)"] = seen

    def made(given: int, add_up: Callable[..., Logs], observed: str | None) -> Society:
        member = add_up(logs(own).reshape(2, 2), axis=1) + (
            logs(above).reshape(2, 2)[:, given] if common else 0
        )
        length = size - different
        fixed = member + logs([observed == label for label in BOOLEAN])
        classes = [member, fixed] if observed else [member]
        pairs = dict.fromkeys(
            itertools.product(range(len(classes)), repeat=2), logs(pair).reshape(1, 2, 2)
        )
        return Society(
            [length - 1, 1] if observed else [length], [unary(each) for each in classes], pairs
        )

    values = range(2 if common else 1)
    copies = [
        Copies(
            count, *([made(given, add_up, each) for given in values] for add_up in (added, np.max))
        )
        for count, each in ([(1, seen), (size - 1, None)] if seen else [(size, None)])
    ]
    weights, best = of_copies(np.zeros(len(values), np.longdouble), copies, 0, 0)
    weights = weights.reshape(weights.shape if common else weights.shape[1:])
    return answers(draft, ["E", "F(1,2)"][not common :], weights.reshape([2] * (1 + common)), best)


def columns(rng: random.Random) -> Asked:
    """#Z[t(Z,X)], p beside t(X,Y), s(X,Y): given p, columns have nothing to do with one another."""
    draft = Draft(rng)
    size, different = sized(rng, 4, 40), rng.random() < 0.5
    draft.domain("P", [size], listed=0)
    draft.relations("t(P,P) s(P,P) p", BOOLEAN)
    length = size - different
    count, own = table(rng, [length + 1, 2]), table(rng, [2, 2])
    draft.parfactor(["#Z[t(Z,X)]", "p"], ["Z != X"][:different], values=count)
    draft.parfactor(["t(X,Y)", "s(X,Y)"], ["X != Y"][:different], values=own)
    seen = rng.choice([None, "false", "true"])
    if seen:
        draft.evidence["t(3,1)"] = seen

    def made(given: int, add_up: Callable[..., Logs], observed: str | None) -> Society:
        member = add_up(logs(own).reshape(2, 2), axis=1)
        fixed = member + logs([observed == label for label in BOOLEAN])
        classes, sizes = ([member, fixed], [length - 1, 1]) if observed else ([member], [length])
        return Society(
            sizes,
            [unary(each) for each in classes],
            extra=lambda _, counts: logs(count).reshape(-1, 2)[
                sum(each[:, 0] for each in counts), given
            ],
        )

    copies = [
        Copies(
            many, *([made(given, add_up, each) for given in range(2)] for add_up in (added, np.max))
        )
        for many, each in ([(1, seen), (size - 1, None)] if seen else [(size, None)])
    ]
    weights, best = of_copies(np.zeros(2, np.longdouble), copies, 0, 0)
    return answers(draft, ["p", "t(2,1)"], weights.reshape(2, 2), best)


def counted_rows(rng: random.Random) -> Asked:
    """#Y[F(X,Y)], S(X) beside S(X), E: given E, everyone has nothing to do with the others."""
    draft = Draft(rng)
    size, different = sized(rng, 4, 40), rng.random() < 0.5
    draft.domain("P", [size], listed=0)
    draft.relations("F(P,P) S(P) E", BOOLEAN)
    length = size - different
    count, own, above = table(rng, [length + 1, 2]), table(rng, [2]), table(rng, [2, 2])
    draft.parfactor(["#Y[F(X,Y)]", "S(X)"], ["Y != X"][:different], values=count)
    draft.parfactor(["F(X,Y)"], ["X != Y"][:different], values=own)
    draft.parfactor(["S(X)", "E"], [], values=above)

    def made(given: int) -> Society:
        return Society(
            [length],
            [np.broadcast_to(logs(own), (2, 2))],
            common=logs(above).reshape(2, 2)[:, given],
            extra=lambda hub, counts: logs(count).reshape(-1, 2)[counts[0][:, 0], hub],
        )

    societies = [made(given) for given in range(2)]
    weights, best = of_copies(
        np.zeros(2, np.longdouble), [Copies(size, societies, societies)], 0, 0
    )
    return answers(draft, ["E", "S(1)", "F(1,2)"], weights, best)


KINDS = [
    single.parted_graph,
    single.clique,
    single.ring,
    single.mutual,
    single.ranked,
    single.ranked_twice,
    single.crossing,
    single.crossing,
    single.others_counted,
    households,
    households,
    rows,
    columns,
    counted_rows,
]
