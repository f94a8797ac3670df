"""Random models of alike members whose answers are sums over a society's histograms."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from support.exact.checks import Known
from support.exact.drafts import Draft, symmetric, table
from support.naive.inference import Weights, unfolded
from support.naive.society import Logs, Society, added, histograms, log_factorials, logs, powers

Model = dict[str, Any]
BOOLEAN = ("false", "true")
Asked = tuple[Model, Known]
LARGEST = 100


def sized(rng: random.Random, low: int, high: int) -> int:
    """A size, at most the largest allowed."""
    return rng.randint(min(low, LARGEST), min(high, LARGEST))


def answers(draft: Draft, names: Sequence[str], weights: Logs, log_best: Any) -> Asked:
    """The model, and what follows from the log weights of all combinations of some labels."""
    model = draft.model()
    if (
        draft.domains
        and draft.rng.random() < 0.3
        and not any("#" in str(each["args"]) for each in draft.parfactors)
    ):
        model = unfolded(model)
    naive = Weights(model)
    total = float(added(weights))
    joint = (
        np.exp((weights - added(weights)).astype(float))
        if total > -math.inf
        else np.zeros(weights.shape)
    )
    axes = range(len(names))
    marginals = {
        name: joint.sum(axis=tuple(each for each in axes if each != axis))
        for axis, name in enumerate(names)
    }
    known = Known(
        naive.labels,
        total,
        marginals,
        tuple(names),
        joint,
        float(log_best),
        naive.weight,
        len(naive.labels),
    )
    return model, known


def told_apart(
    draft: Draft, names: Sequence[str], labels: Sequence[str], own: Logs
) -> list[tuple[list[str], Logs]]:
    """Classes of members with unary logs: all alike but for a few, observed or with own tables."""
    rng, left, found = draft.rng, list(names), []
    for _ in range(rng.choice([0, 0, 1, 2])):
        number = rng.randint(1, 3)
        few, left = left[:number], left[number:]
        kind, label = rng.choice(["observed", "soft", "own"]), rng.choice(labels)
        values = [
            float(each == label) if kind == "observed" else rng.choice([0.5, 1, 2])
            for each in labels
        ]
        for name in few:
            if kind == "own":
                draft.factor([name], values)
            else:
                draft.evidence[name] = (
                    label if kind == "observed" else dict(zip(labels, values, strict=True))
                )
        found.append((few, own + logs(values)))
    return [each for each in (*found, (left, own)) if each[0]]


def unary(values: Logs) -> Logs:
    """The same for whatever is common."""
    return values[None]


# ---- ground graphs


def parted_graph(rng: random.Random) -> Asked:
    """A complete graph of two or three parts, some of whose members are told apart."""
    draft = Draft(rng)
    count = rng.choice([2, 2, 3])
    parts, classes = [], []
    for place in range(count):
        labels = ("a", "b", "c") if count == 2 and place and rng.random() < 0.3 else BOOLEAN
        size = (
            sized(rng, 5, 16)
            if count == 3
            else sized(rng, 5, 12)
            if len(labels) == 3
            else sized(rng, 10, 40)
        )
        names = [f"{'ABC'[place]}{member}" for member in range(size)]
        for name in names:
            draft.variable(name, labels)
        values = table(rng, [len(labels)])
        for name in names:
            draft.factor([name], values)
        parts.append((names, labels))
        classes += [(place, *each) for each in told_apart(draft, names, labels, logs(values))]
    pairs = {}
    for one, two in itertools.combinations(range(count), 2):
        values = table(rng, [len(parts[one][1]), len(parts[two][1])])
        for both in itertools.product(parts[one][0], parts[two][0]):
            draft.factor(both, values)
        between = logs(values).reshape(1, len(parts[one][1]), -1)
        pairs |= {
            (a, b): between
            for a, b in itertools.product(range(len(classes)), repeat=2)
            if (classes[a][0], classes[b][0]) == (one, two)
        }
    return of_classes(draft, [each[1:] for each in classes], pairs)


def of_classes(draft: Draft, classes: Sequence[tuple[list[str], Logs]], pairs: Any) -> Asked:
    """What is known where each class has its names and every name is a member."""
    if draft.rng.random() < 0.5:
        draft.rng.shuffle(draft.factors)
    whole = Society([len(names) for names, _ in classes], [unary(own) for _, own in classes], pairs)
    asked = [draft.rng.randrange(len(classes)) for _ in range(2)]
    asked = asked if asked[0] != asked[1] or len(classes[asked[0]][0]) > 1 else asked[:1]
    names = [classes[each][0][-1 - asked[:place].count(each)] for place, each in enumerate(asked)]
    return answers(draft, names, whole.members(*asked)[0], whole.best()[0])


def clique(rng: random.Random) -> Asked:
    """Everyone with everyone, as a graph or as a relation, a few told apart."""
    draft = Draft(rng)
    size, relational, once = sized(rng, 10, 40), rng.random() < 0.5, rng.random() < 0.5
    labels = BOOLEAN if size > 15 or rng.random() < 0.7 else ("a", "b", "c")
    values = (
        symmetric(rng, [len(labels)] * 2)
        if once and not relational
        else table(rng, [len(labels)] * 2)
    )
    own = table(rng, [len(labels)])
    if relational:
        once = False
        draft.domain("P", [size], listed=0)
        draft.relation("S", "P", labels=labels)
        draft.parfactor(["S(X)", "S(Y)"], ["X != Y"], values=values)
        draft.parfactor(["S(X)"], [], values=own)
        names = [f"S({place})" for place in range(1, size + 1)]
    else:
        names = [f"S{place}" for place in range(size)]
        for name in names:
            draft.variable(name, labels)
            draft.factor([name], own)
        for both in (itertools.combinations if once else itertools.permutations)(names, 2):
            draft.factor(both, values)
    classes = told_apart(draft, names, labels, logs(own))
    between = logs(values).reshape(1, len(labels), -1) / (2 if once else 1)
    pairs = dict.fromkeys(itertools.product(range(len(classes)), repeat=2), between)
    return of_classes(draft, classes, pairs)


# ---- rings


def ring(rng: random.Random) -> Asked:
    """Alike groups in a ring, each tied to the next: a product of matrices over histograms."""
    draft = Draft(rng)
    count, size = rng.choice(
        [(sized(rng, 3, 9), sized(rng, 2, 6)), (sized(rng, 3, 4), sized(rng, 12, 18))]
    )
    own, between, within = table(rng, [2]), table(rng, [2, 2]), table(rng, [2, 2])
    groups = [[f"R{place}.{member}" for member in range(size)] for place in range(count)]
    for name in itertools.chain.from_iterable(groups):
        draft.variable(name, BOOLEAN)
        draft.factor([name], own)
    inside = rng.random() < 0.5
    for one, two in zip(groups, groups[1:] + groups[:1], strict=True):
        for both in itertools.product(one, two):
            draft.factor(both, between)
        for both in itertools.permutations(one, 2) if inside else ():
            draft.factor(both, within)
    seen = rng.choice([None, "false", "true"])
    if seen:
        draft.evidence["R0.1"] = seen
    rng.shuffle(draft.factors)
    every = histograms(size, 2)
    factorials = log_factorials(size)
    ways = factorials[size] - factorials[every].sum(axis=1)
    state = sum(powers(every[:, a], logs(own)[a]) for a in range(2))
    for a, b in itertools.product(range(2), repeat=2) if inside else ():
        state = state + powers(every[:, a] * (every[:, b] - (a == b)), logs(within)[2 * a + b])
    step = sum(
        powers(every[:, None, a] * every[None, :, b], logs(between)[2 * a + b])
        for a, b in itertools.product(range(2), repeat=2)
    )
    share = [logs(every[:, a] / np.longdouble(size)) for a in range(2)]
    place = BOOLEAN.index(seen) if seen else None
    both = {
        a: logs(
            every[:, a]
            * np.maximum(every[:, place] - (a == place), 0)
            / np.longdouble(size * (size - 1))
        )
        for a in range(2 if seen else 0)
    }
    around = walked(step, state + ways, count, added)
    first = [both[a] if seen else share[a] for a in range(2)]
    tables = [
        [added(around + first[a][:, None] + share[b][None]) for b in range(2)] for a in range(2)
    ]
    possible = np.where(every[:, place] > 0, 0, -np.inf) if seen else np.zeros(len(every))
    best = (walked(step, state, count, np.max) + possible[:, None]).max()
    return answers(draft, ["R0.0", "R1.0"], np.array(tables), best)


def walked(step: Logs, state: Logs, count: int, add_up: Callable[..., Logs]) -> Logs:
    """[h, k]: all ways round the ring with histogram h in the first group and k in the second."""
    rest = step
    for _ in range(count - 2):
        rest = add_up(rest[:, :, None] + state[None, :, None] + step[None], axis=1)
    return step + rest.T + state[:, None] + state[None]


# ---- pairs


def mutual(rng: random.Random) -> Asked:
    """A(X), S(X,Y) beside S(X,Y), S(Y,X): two variables for each pair, summed out together."""
    draft = Draft(rng)
    size = sized(rng, 8, 40)
    draft.domain("P", [size], listed=0)
    draft.relations("A(P) S(P,P)", BOOLEAN)
    own, beside, back = table(rng, [2]), table(rng, [2, 2]), table(rng, [2, 2])
    draft.parfactor(["A(X)"], [], values=own)
    draft.parfactor(["A(X)", "S(X,Y)"], ["X != Y"], values=beside)
    draft.parfactor(["S(X,Y)", "S(Y,X)"], ["X != Y"], values=back)
    one, two = logs(beside).reshape(2, 2), logs(back).reshape(2, 2)
    four = one[:, None, :, None] + one[None, :, None, :] + two[None, None] + two.T[None, None]
    people = [f"A({place})" for place in range(1, size + 1)]
    classes = told_apart(draft, people, BOOLEAN, logs(own)) if size > 7 else [(people, logs(own))]
    sums, tops = (add_up(four, axis=(2, 3))[None] / 2 for add_up in (added, np.max))
    both = list(itertools.product(range(len(classes)), repeat=2))
    sizes, members = [len(names) for names, _ in classes], [unary(each) for _, each in classes]
    whole = Society(sizes, members, dict.fromkeys(both, sums))
    best = Society(sizes, members, dict.fromkeys(both, tops)).best()[0]
    last = len(classes) - 1
    weights = whole.members(last, last)[0]
    inner = four - added(four, axis=(2, 3))[:, :, None, None] if np.isfinite(sums).all() else None
    names = [f"A({size - 1})", f"A({size})"]
    if inner is None:
        return answers(draft, names, weights, best)
    return answers(
        draft, [*names, f"S({size - 1},{size})"], weights[:, :, None] + added(inner, axis=3), best
    )


def ranked(rng: random.Random) -> Asked:
    """F(X,U), A(X), B(U) where F is observed on a product of two sets: members and others."""
    draft = Draft(rng)
    size, other = sized(rng, 6, 16), sized(rng, 4, 16)
    draft.domain("P", [size], listed=0)
    draft.domain("Q", [other], listed=0)
    draft.relations("A(P) B(Q) F(P,Q)", BOOLEAN)
    values, first, second = table(rng, [2, 2, 2]), table(rng, [2]), table(rng, [2])
    draft.parfactor(["F(X,U)", "A(X)", "B(U)"], [], values=values)
    draft.parfactor(["A(X)"], [], values=first)
    draft.parfactor(["B(U)"], [], values=second)
    inside, among = rng.randint(1, size - 2), rng.randint(1, other - 2)
    seen = rng.choice(BOOLEAN)
    everything = rng.random() < 0.3
    otherwise = rng.choice(BOOLEAN)
    for x, u in itertools.product(range(1, size + 1), range(1, other + 1)):
        if x <= inside and u <= among:
            draft.evidence[f"F({x},{u})"] = seen
        elif everything:
            draft.evidence[f"F({x},{u})"] = otherwise
    cube = logs(values).reshape(2, 2, 2)
    named = {label: cube[place] for place, label in enumerate(BOOLEAN)}

    def made(add_up: Callable[..., Logs]) -> Society:
        rest = named[otherwise] if everything else add_up(cube, axis=0)
        pairs = {
            (a, b): (named[seen] if (a, b) == (0, 2) else rest)[None]
            for a in (0, 1)
            for b in (2, 3)
        }
        members = [unary(logs(first))] * 2 + [unary(logs(second))] * 2
        return Society([inside, size - inside, among, other - among], members, pairs)

    x, u = rng.choice([1, size]), rng.choice([1, other])
    weights = made(added).members(0 if x == 1 else 1, 2 if u == 1 else 3)[0]
    return answers(draft, [f"A({x})", f"B({u})"], weights, made(np.max).best()[0])


def ranked_twice(rng: random.Random) -> Asked:
    """The same over one domain twice, F(X,Y), A(X), B(Y), with and without the diagonal."""
    draft = Draft(rng)
    sizes = [sized(rng, 1, 5) for _ in range(rng.choice([2, 3]))]
    ends = list(itertools.accumulate(sizes))
    draft.domain("P", [ends[-1]], listed=0)
    draft.relations("A(P) B(P) F(P,P)", BOOLEAN)
    values, own, seen = table(rng, [2, 2, 2]), table(rng, [2, 2]), rng.choice(BOOLEAN)
    diagonal = rng.random() < 0.5
    draft.parfactor(["F(X,Y)", "A(X)", "B(Y)"], [] if diagonal else ["X != Y"], values=values)
    draft.parfactor(["A(X)", "B(X)"], [], values=own)
    rows, columns = rng.choice(
        [({0}, {0}), ({0}, {1}), ({0, 1}, {1}), (set(range(len(sizes))), {0})]
    )
    class_of = {
        person: place
        for place, end in enumerate(ends)
        for person in range(end - sizes[place] + 1, end + 1)
    }
    itself = rng.random() < 0.5
    for x, y in itertools.product(class_of, repeat=2):
        if class_of[x] in rows and class_of[y] in columns and (x != y or (diagonal and itself)):
            draft.evidence[f"F({x},{y})"] = seen
    cube, types = logs(values).reshape(2, 2, 2), np.array([[0, 0], [0, 1], [1, 0], [1, 1]])

    def made(add_up: Callable[..., Logs]) -> Society:
        rest, named = add_up(cube, axis=0), cube[BOOLEAN.index(seen)]
        pairs = {
            (c, d): (named if c in rows and d in columns else rest)[
                types[:, 0][:, None], types[:, 1][None]
            ][None]
            for c, d in itertools.product(range(len(sizes)), repeat=2)
        }
        members = []
        for each in range(len(sizes)):
            inside = itself and each in rows and each in columns
            alone = (named if inside else rest)[types[:, 0], types[:, 1]] if diagonal else 0
            members.append(unary(logs(own) + alone))
        return Society(sizes, members, pairs)

    asked = rng.randrange(len(sizes))
    weights = made(added).members(asked)[0].reshape(2, 2)
    return answers(
        draft, [f"A({ends[asked]})", f"B({ends[asked]})"], weights, made(np.max).best()[0]
    )


# ---- several relations of the same individuals


def crossing(rng: random.Random) -> Asked:
    """Two to four relations with tables across, along and among, maybe E; types are counted."""
    draft = Draft(rng)
    count = rng.choice([2, 2, 3, 4])
    size = {2: sized(rng, 8, 36), 3: sized(rng, 4, 8), 4: sized(rng, 3, 4)}[count]
    draft.domain("P", [size], listed=0)
    names = "ABCD"[:count]
    common = rng.random() < 0.3
    draft.relations(" ".join(f"{name}(P)" for name in names) + " E" * common, BOOLEAN)
    types = np.array(list(itertools.product(range(2), repeat=count)))
    values = 2 if common else 1
    member = np.zeros((values, len(types)), np.longdouble)
    between = np.zeros((values, len(types), len(types)), np.longdouble)
    for one, two in itertools.product(range(count), repeat=2):
        if rng.random() < (0.6 if one < two else 0.2):
            across = table(rng, [2, 2])
            draft.parfactor([f"{names[one]}(X)", f"{names[two]}(Y)"], ["X != Y"], values=across)
            between += logs(across).reshape(2, 2)[types[:, one][:, None], types[:, two][None]]
        if one < two and rng.random() < 0.6:
            along = table(rng, [2, 2])
            draft.parfactor([f"{names[one]}(X)", f"{names[two]}(X)"], [], values=along)
            member += logs(along).reshape(2, 2)[types[:, one], types[:, two]]
    for place, name in enumerate(names):
        own = table(rng, [2])
        draft.parfactor([f"{name}(X)"], [], values=own)
        member += logs(own)[types[:, place]]
    if common:
        above = table(rng, [2, 2])
        draft.parfactor(["A(X)", "E"], [], values=above)
        member += logs(above).reshape(2, 2)[types[:, 0]].T
    seen = rng.choice(BOOLEAN) if size < 20 and count < 4 and rng.random() < 0.4 else None
    sizes, members = [size], [member]
    if seen:
        few = rng.randint(1, 2)
        draft.evidence[f"B(1..{few})" if rng.random() < 0.5 or few == 1 else "B(1)"] = seen
        draft.evidence |= {} if f"B(1..{few})" in draft.evidence else {"B(2)": seen}
        sizes, members = (
            [size - few, few],
            [member, member + logs([BOOLEAN[each] == seen for each in types[:, 1]])],
        )
    pairs = dict.fromkeys(itertools.product(range(len(sizes)), repeat=2), between)
    start = np.zeros(values, np.longdouble)
    whole = Society(sizes, members, pairs, start)
    weights = whole.members(0).reshape([values] * common + [2] * count)
    asked = ["E"] * common + [f"{name}({size})" for name in names]
    return answers(draft, asked, weights, whole.best().max())


def others_counted(rng: random.Random) -> Asked:
    """#Y[A(Y)], S(X) for all others Y ≠ X, beside A(X), S(X) and at times pairs."""
    draft = Draft(rng)
    size = sized(rng, 4, 18)
    draft.domain("P", [size], listed=0)
    draft.relations("A(P) S(P)", BOOLEAN)
    count, along = table(rng, [size, 2]), table(rng, [2, 2])
    draft.parfactor(["#Y[A(Y)]", "S(X)"], ["Y != X"], values=count)
    draft.parfactor(["A(X)", "S(X)"], [], values=along)
    pairs = {}
    if rng.random() < 0.4:
        across = table(rng, [2, 2])
        draft.parfactor(["A(X)", "A(Y)"], ["X != Y"], values=across)
        places = np.array([0, 0, 1, 1])
        pairs[0, 0] = logs(across).reshape(2, 2)[places[:, None], places[None]][None]
    rank = logs(count).reshape(-1, 2)

    def extra(_: int, counts: list[np.ndarray]) -> Logs:
        false = counts[0][:, 0] + counts[0][:, 1]
        found = np.zeros(len(false), np.longdouble)
        for place, (a, s) in enumerate(itertools.product(range(2), repeat=2)):
            others = np.clip(false - (a == 0), 0, size - 1)
            for number in range(size):
                found += powers(np.where(others == number, counts[0][:, place], 0), rank[number, s])
        return found

    whole = Society([size], [unary(logs(along))], pairs, extra=extra)
    weights = whole.members(0)[0].reshape(2, 2)
    return answers(draft, [f"A({size})", f"S({size})"], weights, whole.best()[0])
