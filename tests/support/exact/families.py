"""Families of small random models, each around one way of lifting, all to be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from support.exact.drafts import Draft, nudged, single, table

Model = dict[str, Any]
BOOLEAN = ("false", "true")
ALL_DIFFERENT = ", ".join(f"{one} != {two}" for one, two in itertools.combinations("XYZW", 2))
THREE_DIFFERENT = "X != Y, X != Z, Y != Z"


# ---- counting formulas

COUNTS = [
    "#X[A(X)]",
    "#X[A(X)]",
    "#X[A(X)] E",
    "#X[A(X)] E",
    "E #X[A(X)]",
    "#Y[F(X,Y)] |? Y != X",
    "#Y[F(X,Y)] S(X) |? Y != X",
    "#Y[F(Y,X)] A(X) |? Y != X",
    "#X[A(X)] B(U)",
    "#X[W(X,U)] B(U)",
    "#U[W(X,U)] A(X)",
    "#X[A(X)] #U[B(U)]",
    "#X[A(X)] #Y[S(Y)]",
    "#Y[A(Y)] S(X) | Y != X",
    "#Y[A(Y)] A(X) |? Y != X",
    "#X[A(X)] |? X != @P",
    "#X[A(X)] E | X != @P",
    "#X[A(X)] A(@P)",
]
BESIDE_COUNTS = [
    "A(X)",
    "A(X) E",
    "A(X) A(Y) |? X != Y",
    "A(X) A(Y) | X != Y",
    "A(X) S(X)",
    "A(X) S(Y) |? X != Y",
    "S(X) S(Y) | X != Y",
    "A(X) B(U)",
    "F(X,Y) S(X) |? X != Y",
    "W(X,U) E",
    "A(@P) E",
]


def counting(draft: Draft) -> None:
    """Counting formulas alone, with a variable, over two domains, beside pairs; some observed."""
    rng = draft.rng
    size = draft.domain("P", [0, 1, 1, 2, 2, 2, 3, 3, 3, 4])
    draft.domain("Q", [1, 1, 2, 3])
    draft.relations("E A(P) S(P) F(P,P) B(Q) W(P,Q)", BOOLEAN if size > 4 else None)
    for text in rng.sample(COUNTS, rng.choice([1, 1, 2])) + rng.sample(
        BESIDE_COUNTS, rng.choice([0, 1, 1, 2])
    ):
        draft.shape(text)
    if rng.random() < 0.2:
        soft = rng.choice([0, 0, 0.3])
        names = [name for name in draft.existing() if name.startswith("A(")]
        for name in names[rng.choice([0, 0, 1, 2]) :]:
            draft.observe(name, draft.value(name, soft))
    draft.decorate()
    draft.observe_some()


# ---- self-joins

JOINS = [
    [f"S(X) S(Y) S(Z) |? {THREE_DIFFERENT}"],
    [f"S(X) S(Y) S(Z) | {THREE_DIFFERENT}"],
    [f"S(X) S(Y) S(Z) S(W) |? {ALL_DIFFERENT}"],
    [f"T(X,Y,Z) S(X) S(Y) S(Z) |? {THREE_DIFFERENT}"],
    ["A(X) F(X,Y) |? X != Y", "F(X,Y) F(Y,X) |? X != Y"],
    [f"F(X,Y) F(X,Z) |? {THREE_DIFFERENT}", "F(X,Y) G(X,Y) |? X != Y"],
    ["F(X,Y) F(X,Z) | Y != Z", "F(X,Y) G(X,Y)"],
    ["#Z[t(Z,X)] p |? Z != X", "t(X,Y) s(X,Y) |? X != Y"],
    ["#Z[t(X,Z)] A(X) |? Z != X", "t(X,Y) s(X,Y) |? X != Y"],
    [f"F(X,Y) F(Y,Z) |? {THREE_DIFFERENT}"],
    [f"F(X,Y) F(Y,Z) F(X,Z) |? {THREE_DIFFERENT}"],
    ["F(X,Y) S(X) S(Y) |? X != Y"],
    ["F(X,Y) F(Y,X) S(X) |? X != Y"],
    ["F(X,Y) F(Y,Y) | X != Y"],
]
BESIDE_JOINS = [
    "S(X)",
    "S(X) p",
    "S(X) A(X)",
    "S(X) A(Y) |? X != Y",
    "F(X,Y) |? X != Y",
    "F(X,X)",
    "F(X,Y) S(Y) |? X != Y",
    "G(X,Y) p |? X != Y",
    "F(X,@P) A(X)",
    "S(@P) p",
    "t(X,Y) S(X) |? X != Y",
]


def joining(draft: Draft) -> None:
    """Tables on several variables of one relation."""
    rng = draft.rng
    size = draft.domain("P", [0, 1, 2, 2, 2, 2, 3, 3])
    draft.relations(
        "p S(P) A(P) F(P,P) G(P,P) t(P,P) s(P,P) T(P,P,P)", BOOLEAN if size > 2 else None
    )
    for text in rng.choice(JOINS) + rng.sample(BESIDE_JOINS, rng.choice([0, 0, 1, 1, 2])):
        draft.shape(text)
    draft.decorate()
    draft.observe_some()


# ---- ground graphs


def ground_graph(draft: Draft) -> None:
    """Graphs with many symmetries, some of them broken by evidence or by a few tables."""
    rng = draft.rng
    rng.choice([parted, parted, households, ring_of_groups, clique])(draft)
    if rng.random() < 0.3 and draft.factors:
        for factor in rng.sample(draft.factors, min(len(draft.factors), rng.randint(1, 3))):
            spans = [len(draft.labels[name]) for name in factor["args"]]
            factor["table"] = (
                nudged(rng, factor["table"]) if rng.random() < 0.5 else table(rng, spans)
            )
    if rng.random() < 0.2 and draft.factors:
        for factor in rng.sample(draft.factors, rng.randint(1, len(draft.factors))):
            turn(draft, factor)
    if rng.random() < 0.5:
        rng.shuffle(draft.variables)
        rng.shuffle(draft.factors)
    if rng.random() < 0.1:
        draft.variable("Single")
    draft.decorate()
    draft.observe_some()


def turn(draft: Draft, factor: Model) -> None:
    """List the two arguments of a factor the other way round, with the same meaning."""
    if len(factor["args"]) == 2:
        rows, columns = (len(draft.labels[name]) for name in factor["args"])
        factor["args"] = factor["args"][::-1]
        factor["table"] = [
            factor["table"][row * columns + column]
            for column in range(columns)
            for row in range(rows)
        ]


def connect(draft: Draft, scopes: list[list[str]], values: list[float] | None = None) -> None:
    """One table for several scopes."""
    if scopes:
        values = values or table(draft.rng, [len(draft.labels[name]) for name in scopes[0]])
        for scope in scopes:
            draft.factor(scope, values)


def group(draft: Draft, stem: str, size: int, labels: tuple[str, ...] | None = None) -> list[str]:
    """Variables of equal range, at times with equal or different tables of their own."""
    labels = labels or draft.some_labels()
    names = [f"{stem}{place}" for place in range(size + draft.more)]
    for name in names:
        draft.variable(name, labels)
    own = draft.rng.choice(["none", "none", "equal", "different"])
    if own == "equal":
        connect(draft, [[name] for name in names])
    for name in names if own == "different" else []:
        draft.factor([name])
    return names


def parted(draft: Draft) -> None:
    """Complete graphs of two or three parts."""
    rng = draft.rng
    count = rng.choice([2, 2, 3])
    equal = rng.randint(1, 5)
    parts = [
        group(
            draft,
            "ABC"[place],
            equal if rng.random() < 0.6 and count == 2 else rng.randint(1, 4),
            BOOLEAN if rng.random() < 0.6 else None,
        )
        for place in range(count)
    ]
    for one, two in itertools.combinations(parts, 2):
        connect(draft, [[a, b] for a in one for b in two])


def inside(draft: Draft, names: list[str], kind: str, values: list[float] | None = None) -> None:
    """Connect the members of a group with one another: each pair once, twice, or in a circle."""
    pairs = {
        "once": itertools.combinations(names, 2),
        "twice": itertools.permutations(names, 2),
        "circle": zip(names, names[1:] + names[:1], strict=True) if len(names) > 2 else [],
        "none": [],
    }[kind]
    connect(draft, [list(pair) for pair in pairs], values)


def households(draft: Draft) -> None:
    """Households of alike members, with or without a hub each and something common to all."""
    rng = draft.rng
    labels = BOOLEAN if rng.random() < 0.7 else draft.some_labels()
    kind, hub, common = (
        rng.choice(["once", "twice", "circle", "none"]),
        rng.random() < 0.5,
        rng.random() < 0.5,
    )
    pair, beside, above = (table(rng, [len(labels), spans]) for spans in (len(labels), 2, 2))
    over = table(rng, [2, 2])
    if common:
        draft.variable("E", BOOLEAN)
    for house in range(rng.randint(1, 3)):
        names = group(
            draft, f"M{house}.", rng.choice([1, 2, 3, 4]) if rng.random() < 0.3 else 3, labels
        )
        inside(draft, names, kind, pair)
        if hub:
            draft.variable(f"H{house}", BOOLEAN)
            connect(draft, [[name, f"H{house}"] for name in names], beside)
        if common and hub:
            draft.factor([f"H{house}", "E"], over)
        elif common:
            connect(draft, [[name, "E"] for name in names], above)


def ring_of_groups(draft: Draft) -> None:
    """Alike groups in a ring, each connected with the next."""
    rng = draft.rng
    labels, count, size = (
        BOOLEAN if rng.random() < 0.8 else draft.some_labels(),
        rng.randint(3, 5),
        rng.randint(1, 3),
    )
    values, kind = table(rng, [len(labels)] * 2), rng.choice(["none", "none", "once", "twice"])
    own = table(rng, [len(labels)] * 2)
    groups = [group(draft, f"R{place}.", size, labels) for place in range(count)]
    for one, two in zip(groups, groups[1:] + groups[:1], strict=True):
        inside(draft, one, kind, own)
        connect(draft, [[a, b] for a in one for b in two], values)


def clique(draft: Draft) -> None:
    """Everyone with everyone, and different tables of their own."""
    rng = draft.rng
    names = group(draft, "C", rng.randint(2, 6), BOOLEAN if rng.random() < 0.6 else None)
    inside(draft, names, rng.choice(["once", "twice"]))
    for name in names if rng.random() < 0.7 else []:
        draft.factor([name])
    if rng.random() < 0.3:
        draft.variable("E")
        connect(draft, [[name, "E"] for name in names])
    if rng.random() < 0.2:
        connect(draft, [list(three) for three in itertools.permutations(names[:4], 3)])


# ---- evidence that tells individuals apart


def told_apart(draft: Draft) -> None:
    """Households, ranks and ranges: evidence that splits individuals in ways of its own."""
    rng = draft.rng
    rng.choice([observed_members, ranked, overlapping, overlapping])(draft)
    draft.decorate()
    if rng.random() < 0.2:
        draft.observe_some()


def observed_members(draft: Draft) -> None:
    """One observed member of each household, the same or another."""
    rng = draft.rng
    draft.domain("H", [1, 2, 2, 3])
    draft.domain("P", [1, 2, 3, 3])
    draft.relations("E M(H,P) A(P) B(H)", BOOLEAN if rng.random() < 0.7 else None)
    draft.shape("M(H,X) M(H,Y) |? X != Y")
    beside = [
        "M(H,X) E",
        "M(H,X) B(H)",
        "M(H,X) A(X)",
        "M(H,X) M(G,X) |? H != G",
        "M(H,X)",
        "B(H) E",
        "A(X) A(Y) | X != Y",
    ]
    for text in rng.sample(beside, rng.choice([0, 1, 1, 2])):
        draft.shape(text)
    same, alike = rng.random() < 0.4, rng.random() < 0.5
    person = rng.choice(draft.constants("P"))
    value = draft.value("M", 0.2)
    for place, house in enumerate(draft.constants("H")):
        people = draft.constants("P")
        chosen = (
            person
            if same
            else people[place % len(people)]
            if rng.random() < 0.7
            else rng.choice(people)
        )
        if rng.random() < 0.9:
            draft.observe(f"M({house},{chosen})", value if alike else draft.value("M", 0.2))


def ranked(draft: Draft) -> None:
    """A product of two sets observed, pair by pair, over one domain or two, maybe diagonal."""
    rng = draft.rng
    draft.domain("P", [2, 3, 3, 4])
    other = "P"
    if rng.random() < 0.5:
        other = "Q"
        draft.domain("Q", [1, 2, 3, 4])
    draft.relations(f"E A(P) B({other}) F(P,{other})", BOOLEAN if rng.random() < 0.8 else None)
    where = " |? X != Y" if other == "P" else ""
    shapes = [
        f"F(X,Y) A(X) B(Y){where}",
        f"F(X,Y) A(X){where}",
        f"F(X,Y) B(Y){where}",
        f"F(X,Y) E{where}",
    ]
    shapes += (
        ["F(X,Y) F(Y,X) |? X != Y", "A(X) B(Y) | X != Y", f"F(X,Y) A(Y){where}"]
        if other == "P"
        else ["A(X) B(Y)"]
    )
    for text in rng.sample(shapes, rng.choice([1, 2, 2])) + rng.sample(
        ["A(X)", "B(X)", "A(X) E"], rng.choice([0, 1])
    ):
        draft.shape(text)
    rows, columns = draft.constants("P"), draft.constants(other)
    first = set(rng.sample(rows, rng.randint(1, len(rows))))
    second = (
        first
        if other == "P" and rng.random() < 0.3
        else set(rng.sample(columns, rng.randint(1, len(columns))))
    )
    values = [[draft.value("F", 0.1) for _ in range(2)] for _ in range(2)]
    one_value, everything = rng.random() < 0.6, rng.random() < 0.3
    for row, column in itertools.product(rows, columns):
        if everything or (row in first and column in second):
            draft.observe(
                f"F({row},{column})",
                values[0][0] if one_value else values[row in first][column in second],
            )


def overlapping(draft: Draft) -> None:
    """Ranges that overlap, also where the overlap does not exist."""
    rng = draft.rng
    draft.domain("P", [2, 2, 3, 3, 4], listed=0)
    draft.domain("Q", [1, 2, 3], listed=0)
    draft.relations("E A(P) F(P,P) W(P,Q)", BOOLEAN if rng.random() < 0.8 else None)
    shapes = [
        "F(X,Y) A(X) | X != Y",
        "F(X,Y) A(X) A(Y) | X != Y",
        "F(X,Y) E | X != Y",
        "F(X,Y) F(Y,X) | X != Y",
    ]
    shapes += ["W(X,U) A(X)", "W(X,U) E", "A(X) E", "F(X,Y) A(Y)", "W(X,U) W(Y,U) | X != Y"]
    for text in rng.sample(shapes, rng.choice([1, 2, 2, 3])):
        draft.shape(text)
    for name in rng.choices(["F", "F", "W", "A"], k=rng.randint(2, 4)):
        draft.observe(draft.some_range(name), draft.value(name, 0.2))
    if rng.random() < 0.4 and draft.domains["P"] > 2:
        size = draft.domains["P"]
        middle = rng.randint(1, size)
        draft.observe(f"F(1..{middle},{middle}..{size})", draft.value("F"))
        draft.observe(f"F({middle}..{size},1..{middle})", draft.value("F"))


# ---- several unary relations


def crossing(draft: Draft) -> None:
    """Two to four relations of the same individuals, with tables across and along the diagonal."""
    rng = draft.rng
    count = rng.choice([2, 2, 3, 3, 4])
    draft.domain(
        "P", [0, 1, 2, 2, 3, 3, 4] if count == 2 else [1, 2, 2, 3] if count == 3 else [1, 2, 2]
    )
    names = "ABCD"[:count]
    for name in names:
        draft.relation(name, "P", labels=BOOLEAN if rng.random() < 0.75 else None)
    across, along, among = (
        rng.choice([0.3, 0.7, 1]),
        rng.choice([0, 0.5, 1]),
        rng.choice([0, 0, 0.4]),
    )
    for one, two in itertools.combinations(names, 2):
        if rng.random() < across:
            draft.shape(rng.choice([f"{one}(X) {two}(Y) | X != Y", f"{one}(X) {two}(Y) |? X != Y"]))
        if rng.random() < across / 3:
            draft.shape(f"{two}(X) {one}(Y) | X != Y")
        if rng.random() < along:
            draft.shape(f"{one}(X) {two}(X)")
    for name in names:
        if rng.random() < among:
            draft.shape(f"{name}(X) {name}(Y) |? X != Y")
        if rng.random() < 0.3:
            draft.shape(f"{name}(X)")
    one, two, three = rng.sample(names, 3) if count > 2 else [*names, names[0]]
    more = [
        f"{one}(X) {two}(X) {three}(Y) |? X != Y",
        f"{one}(X) {two}(Y) {three}(Z) |? {THREE_DIFFERENT}",
    ]
    more += [
        f"{one}(X) E",
        f"{one}(X) {two}(Y) E |? X != Y",
        f"{one}(@P) {two}(X)",
        f"{one}(X) {two}(Y) | X != @P",
    ]
    draft.relation("E", labels=BOOLEAN)
    for text in rng.sample(more, rng.choice([0, 0, 1, 1])):
        draft.shape(text)
    draft.decorate()
    draft.observe_some()


# ---- certainty

POOL = [
    "E",
    "D",
    "A(X)",
    "A(Y)",
    "B(X)",
    "F(X,Y)",
    "F(Y,X)",
    "F(X,X)",
    "W(X,U)",
    "V(U)",
    "A(@P)",
    "F(X,@P)",
]
POOL += ["#Z[A(Z)]", "#T[F(X,T)]"]


def certain(draft: Draft) -> None:
    """Tables of zeros but for one entry, factors without arguments, empty domains, all terms."""
    rng = draft.rng
    draft.domain("P", [0, 1, 2, 2, 3])
    draft.domain("Q", [0, 1, 1, 2])
    draft.relations("E D A(P) B(P) F(P,P) W(P,Q) V(Q)")
    for _ in range(rng.randint(1, 3)):
        args = rng.sample(POOL, rng.randint(1, 3))
        where = " |? X != Y" if {"X", "Y"} <= set("".join(args)) else ""
        draft.shape(" ".join(args) + where, single if rng.random() < 0.3 else None)
    for _ in range(rng.choice([0, 1, 1, 2])):
        draft.factor([], [rng.choice([0.5, 1, 3, 1e-200])])
    if rng.random() < 0.1:
        draft.parfactor([], [], values=[rng.choice([0.5, 2])])
    if rng.random() < 0.2:
        draft.variable("Plain", BOOLEAN)
    draft.decorate()
    draft.observe_some()


FAMILIES: dict[str, Callable[[Draft], None]] = {
    "counting": counting,
    "joining": joining,
    "ground": ground_graph,
    "told_apart": told_apart,
    "crossing": crossing,
    "certain": certain,
}
