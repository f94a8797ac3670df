"""Random worlds in which many places have one shape, with numbers of their own or shared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lifagu import FactorGraph
from support.naive.individuals import Factor, Floats, World

LABELS: dict[int, list[tuple[str, ...]]] = {
    1: [("only",)],
    2: [("false", "true"), ("true", "false"), ("x", "y")],
    3: [("a", "b", "c"), ("c", "a", "b")],
    4: [("p", "q", "r", "s")],
}
MOST_STATES = 300  # of an individual


@dataclass(frozen=True)
class Shape:
    """What an individual looks like: labels, rows of its factors, and of those it shares.

    hubs: for each of these a place, and which shared variable comes before or after it.
    """

    labels: tuple[tuple[str, ...], ...]
    scopes: tuple[tuple[int, ...], ...]
    hubs: tuple[tuple[int, int, bool], ...]


@dataclass
class Draft:
    """A world in the making. style: how tables are drawn; pool: those drawn, to be had again."""

    rng: np.random.Generator
    style: str = "normal"
    again: float = 0.0
    labels: list[tuple[str, ...]] = field(default_factory=list)
    factors: list[Factor] = field(default_factory=list)
    shared: list[int] = field(default_factory=list)
    pieces: list[tuple[int, ...]] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    pool: dict[tuple[int, ...], list[Floats]] = field(default_factory=dict)

    @classmethod
    def start(cls, rng: np.random.Generator) -> Draft:
        """Nothing yet."""
        style = str(rng.choice(["normal", "normal", "whole", "zeros", "wide"]))
        return cls(rng, style, float(rng.choice([0, 0, 0.3, 0.8])))

    def one_of(self, *numbers: int) -> int:
        return int(self.rng.choice(numbers))

    def some_labels(self, *sizes: int) -> tuple[str, ...]:
        named = LABELS[self.one_of(*(sizes or (1, 2, 2, 2, 3, 3, 4)))]
        return named[int(self.rng.integers(len(named)))]

    def variable(self, labels: tuple[str, ...]) -> int:
        self.labels.append(labels)
        return len(self.labels) - 1

    def share(self, labels: tuple[str, ...]) -> int:
        self.shared.append(self.variable(labels))
        return self.shared[-1]

    def table(self, sizes: Sequence[int]) -> Floats:
        """A new table, or one that was drawn before."""
        kept = self.pool.setdefault(tuple(sizes), [])
        if kept and self.rng.random() < self.again:
            return kept[int(self.rng.integers(len(kept)))]
        kept.append(self._new_table(tuple(sizes)))
        return kept[-1]

    def _new_table(self, sizes: tuple[int, ...]) -> Floats:
        rng = self.rng
        table = np.exp(rng.normal(size=sizes))
        if self.style == "whole" or (self.style == "zeros" and rng.random() < 0.5):
            table = rng.integers(1, 5, sizes).astype(np.float64)
        if self.style == "zeros" and rng.random() < 0.4:
            table = np.where(rng.random(sizes) < 0.3, 0.0, table)
            table.reshape(-1)[rng.integers(table.size)] = 1.5
        if self.style == "wide":
            table = (
                table
                * 10.0 ** float(rng.choice([-150, 0, 0, 120]))
                * np.exp(8 * rng.normal(size=sizes))
            )
        return table

    def factor(self, *scope: int) -> None:
        self.factors.append((scope, self.table([len(self.labels[variable]) for variable in scope])))

    # ---- individuals

    def shape(self, hubs: int) -> Shape:
        """A small connected graph, rows maybe twice or turned, tied to some of so many hubs."""
        rng = self.rng
        labels = [self.some_labels()]
        for _ in range(self.one_of(0, 1, 2, 3, 4, 5)):
            labels.append(self.some_labels())
            if math.prod(map(len, labels)) > MOST_STATES:
                labels.pop()
        count = len(labels)
        scopes = [
            tuple(rng.permutation([place, int(rng.integers(place))]).tolist())
            for place in range(1, count)
        ]
        for _ in range(self.one_of(0, 0, 1, 2)):
            scopes.append(tuple(rng.permutation(count)[: self.one_of(1, 2, 2, 3)].tolist()))
        if scopes and rng.random() < 0.3:
            scopes.append(scopes[int(rng.integers(len(scopes)))][:: self.one_of(-1, 1)])
        if not scopes:
            scopes.append((0,))
        ties = [
            (place, int(rng.integers(hubs)), bool(rng.random() < 0.5))
            for place in range(count)
            if hubs and rng.random() < 0.5
        ]
        return Shape(tuple(labels), tuple(scopes), tuple(ties))

    def individual(self, shape: Shape, hubs: Sequence[int] = ()) -> None:
        """One more individual of a shape; hubs: the variables it shares."""
        own = [self.variable(labels) for labels in shape.labels]
        self.pieces.append(tuple(own))
        for scope in shape.scopes:
            self.factor(*(own[place] for place in scope))
        for place, hub, first in shape.hubs:
            self.factor(*((hubs[hub], own[place]) if first else (own[place], hubs[hub])))

    def row(self, length: int, hubs: Sequence[int] = ()) -> None:
        """Variables in a row, here and there with their own tables and tied to what is shared."""
        one = self.some_labels(2, 3)
        places = [
            self.variable(one if self.rng.random() < 0.8 else self.some_labels())
            for _ in range(length)
        ]
        self.rows.add(len(self.pieces))
        self.pieces.append(tuple(places))
        unary, tied = self.rng.choice([0.0, 0.5, 1.0]), self.rng.choice([0.2, 1.0])
        for place in places:
            if self.rng.random() < unary or length == 1:
                self.factor(place)
            for hub in hubs:
                if self.rng.random() < tied:
                    self.factor(place, hub)
        for pair in itertools.pairwise(places):
            for _ in range(self.one_of(1, 1, 1, 2)):
                self.factor(*pair[:: self.one_of(-1, 1)])

    # ---- what was observed

    def world(self) -> World:
        """The world with evidence, each individual's differently."""
        hard, soft = self.rng.choice([0.0, 0.15, 0.5, 0.8]), self.rng.choice([0.0, 0.0, 0.2])
        seen: dict[int, int] = {}
        likely: dict[int, Floats] = {}
        for variable, labels in enumerate(self.labels):
            drawn = self.rng.random()
            if drawn < hard * (0.3 if variable in self.shared else 1):
                seen[variable] = int(self.rng.integers(len(labels)))
            elif drawn > 1 - soft:
                likely[variable] = self.table([len(labels)])
        return World(
            self.labels,
            self.factors,
            tuple(self.shared),
            self.pieces,
            frozenset(self.rows),
            hard=seen,
            soft=likely,
        )


# ---- kinds of worlds


def apart(draft: Draft, most: int) -> None:
    """Individuals of one to three shapes who share nothing."""
    shapes = [draft.shape(0) for _ in range(draft.one_of(1, 1, 2, 3))]
    for _ in range(draft.one_of(1, 2, most // 2, most)):
        draft.individual(shapes[int(draft.rng.integers(len(shapes)))])


def around_one(draft: Draft, most: int) -> None:
    """Individuals of one to three shapes around one variable."""
    hub = draft.share(draft.some_labels())
    if draft.rng.random() < 0.5:
        draft.factor(hub)
    shapes = [draft.shape(1) for _ in range(draft.one_of(1, 1, 2, 3))]
    for _ in range(draft.one_of(1, 2, most // 2, most)):
        draft.individual(shapes[int(draft.rng.integers(len(shapes)))], [hub])


def around_two(draft: Draft, most: int) -> None:
    """Individuals tied to one, the other or both of two variables, which may be tied themselves."""
    hubs = [draft.share(draft.some_labels()) for _ in range(2)]
    if draft.rng.random() < 0.5:
        draft.factor(*hubs)
    shapes = [draft.shape(2) for _ in range(draft.one_of(1, 2))]
    for _ in range(draft.one_of(1, most // 2, most)):
        order = hubs[:: draft.one_of(-1, 1, 1)]
        draft.individual(shapes[int(draft.rng.integers(len(shapes)))], order)


def in_wards(draft: Draft, most: int) -> None:
    """Individuals around the variables of their wards, which are tied to that of the hospital."""
    hospital = draft.share(draft.some_labels(2, 3))
    inside = draft.some_labels(2, 2, 3)
    wards = [draft.share(inside) for _ in range(draft.one_of(1, 2, 3, 4))]
    for ward in wards:
        draft.factor(hospital, ward)
    shapes = [draft.shape(1) for _ in range(draft.one_of(1, 1, 2))]
    for number in range(draft.one_of(2, most // 2, most)):
        draft.individual(shapes[int(draft.rng.integers(len(shapes)))], [wards[number % len(wards)]])


def in_a_row(draft: Draft, most: int) -> None:
    """One long row of variables, or a few, perhaps tied to a variable that they share."""
    hubs = [draft.share(draft.some_labels(2, 3))] if draft.rng.random() < 0.4 else []
    for _ in range(draft.one_of(1, 1, 3)):
        draft.row(draft.one_of(1, 2, 3, most // 2, most), hubs)


def mixed(draft: Draft, most: int) -> None:
    """All of these beside one another."""
    for kind in (apart, around_one, in_a_row):
        kind(draft, max(2, most // 3))


def alike(draft: Draft, most: int) -> None:
    """One shape around one variable, and few tables: some individuals have the same ones."""
    draft.again = float(draft.rng.choice([0.5, 0.9, 1.0]))
    around_one(draft, most)


def observed(draft: Draft, most: int) -> None:
    """Dense individuals with the same tables, told apart by what was observed of them."""
    labels = [draft.some_labels(2, 2, 3, 3, 4) for _ in range(draft.one_of(3, 4, 4, 5))]
    while math.prod(map(len, labels)) > MOST_STATES:
        labels.pop()
    hubs = [draft.share(draft.some_labels(2, 3))] if draft.rng.random() < 0.3 else []
    pairs = list(itertools.combinations(range(len(labels)), 2))
    tables = [draft.table([len(labels[one]), len(labels[other])]) for one, other in pairs]
    links = [draft.table([len(draft.labels[hub]), len(labels[0])]) for hub in hubs]
    for _ in range(draft.one_of(2, most // 2, most)):
        own = [draft.variable(each) for each in labels]
        draft.pieces.append(tuple(own))
        draft.factors += [
            ((own[one], own[other]), table)
            for (one, other), table in zip(pairs, tables, strict=True)
        ]
        draft.factors += [((hub, own[0]), table) for hub, table in zip(hubs, links, strict=True)]


KINDS: dict[str, Callable[[Draft, int], None]] = {
    each.__name__: each
    for each in (apart, around_one, around_two, in_wards, in_a_row, mixed, alike, observed)
}


def drawn(kind: str, seed: int, most: int) -> World:
    """The world of a kind with a seed, of at most so many individuals."""
    draft = Draft.start(np.random.default_rng([seed, *kind.encode()]))
    KINDS[kind](draft, most)
    world = draft.world()
    if kind != "observed" or world.hard:
        return world
    first = world.pieces[0][0]
    return replace(
        world,
        hard={first: 0},
        soft={each: likelihood for each, likelihood in world.soft.items() if each != first},
    )


# ---- as graphs


def graph_of(world: World) -> FactorGraph:
    """The graph of a world: equal tables are handed in once, variables are called v0, v1, …"""
    ranges = list(dict.fromkeys(world.labels))
    numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
    tables: list[Floats] = []
    of_factor = []
    for _, table in world.factors:
        key = table.shape, table.tobytes()
        if key not in numbers:
            numbers[key] = len(tables)
            tables.append(table.reshape(-1))
        of_factor.append(numbers[key])
    return FactorGraph.from_arrays(
        ranges=ranges,
        variable_ranges=[ranges.index(labels) for labels in world.labels],
        offsets=np.cumsum([0, *(len(scope) for scope, _ in world.factors)]),
        arguments=np.array(
            [variable for scope, _ in world.factors for variable in scope], dtype=np.int64
        ),
        tables=tables,
        factor_tables=np.array(of_factor, dtype=np.int64),
        variable_names="v",
    )


def evidence_of(world: World) -> dict[str, str | dict[str, float]]:
    """Its evidence by name."""
    found: dict[str, str | dict[str, float]] = {
        f"v{variable}": world.labels[variable][value] for variable, value in world.hard.items()
    }
    for variable, likelihood in world.soft.items():
        found[f"v{variable}"] = dict(zip(world.labels[variable], likelihood.tolist(), strict=True))
    return found
