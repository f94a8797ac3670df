"""The models that are measured: seeded families of any size, and published Bayesian networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lifagu
from lifagu import FactorGraph

BOOLEAN = [["true", "false"]]
NETWORKS = (
    "asia",
    "survey",
    "sachs",
    "alarm",
    "insurance",
    "hailfinder",
    "win95pts",
    "andes",
    "barley",
)


@dataclass(frozen=True)
class Network:
    """A Bayesian network as a factor graph: children[f] is whose distribution factor f gives."""

    name: str
    graph: FactorGraph
    children: tuple[int, ...]


def epidemic(n: int) -> FactorGraph:
    """The paper's Figure 1 for n persons: f0(Epid), f1(Travel, Sick, Epid), f2(Treat, Sick, Epid).

    4n + 1 variables, 3n + 1 factors, three distinct tables.

    >>> epidemic(2)
    <FactorGraph: 9 variables, 7 factors, 3 distinct tables>
    """
    kinds = ("Travel.{}", "Sick.{}", "Treat.{}.m1", "Treat.{}.m2")
    names = ["Epid", *(kind.format(person) for person in range(n) for kind in kinds)]
    return _epidemic(n, np.tile([1, 2, 2], n), variable_names=names)


def individuals_with_holes(n: int, records: int | None = None, seed: int = 0) -> FactorGraph:
    """n individuals in six hidden cohorts, each with a chain of eight tables; a tenth is unknown.

    A cohort has one of six tables in each place, and one individual in ten another than its cohort.
    records: tables are estimated from so many, and almost all differ.

    >>> individuals_with_holes(100)
    <FactorGraph: 900 variables, 800 factors (82 unknown), 48 distinct tables>
    """
    rng, places = np.random.default_rng(seed), np.arange(8)
    which = rng.integers(0, 6, (6, 8))[rng.integers(0, 6, n)]
    which = np.where(rng.random((n, 8)) < 0.1, rng.integers(0, 6, (n, 8)), which)
    atoms, hole = rng.dirichlet(np.ones(9), (8, 6)), rng.random(8 * n) < 0.1
    tables, numbers = atoms.reshape(-1, 9), (which + 6 * places).reshape(-1)
    settings: dict[str, Any] = {}
    if records is not None:
        counts = rng.multinomial(records, atoms[places, which]) + 1.0
        tables, numbers = (counts / (records + 9)).reshape(-1, 9), np.arange(8 * n)
        settings["support"] = np.where(hole, np.nan, records)
    first = 9 * np.arange(n)[:, None] + places
    return FactorGraph.from_arrays(
        ranges=[["low", "middle", "high"]],
        variable_ranges=np.zeros(9 * n, dtype=np.int64),
        offsets=2 * np.arange(8 * n + 1),
        arguments=np.stack((first, first + 1), axis=-1).reshape(-1),
        tables=tables,
        factor_tables=np.where(hole, -1, numbers),
        kinds=[f"K{place}" for place in range(9)],
        variable_kinds=np.tile(np.arange(9), n),
        individuals=[f"p{person}" for person in range(n)],
        individual_offsets=np.arange(9 * n + 1),
        variable_individuals=np.repeat(np.arange(n), 9),
        **settings,
    )


def epidemic_with_holes(
    n: int, share: float = 0.1, seed: int = 0, individuals: bool = False
) -> FactorGraph:
    """The epidemic for n persons with kinds, and perhaps individuals; a share is unknown.

    >>> epidemic_with_holes(100)
    <FactorGraph: 401 variables, 301 factors (32 unknown), 3 distinct tables>
    """
    hidden = np.random.default_rng(seed).random(3 * n) < share
    settings: dict[str, Any] = {
        "kinds": ["Epid", "Travel", "Sick", "Treat"],
        "variable_kinds": np.concatenate([[0], np.tile([1, 2, 3, 3], n)]),
    }
    if individuals:
        settings["individuals"] = [f"p{person}" for person in range(n)]
        settings["individual_offsets"] = np.concatenate([[0], np.arange(4 * n + 1)])
        settings["variable_individuals"] = np.repeat(np.arange(n), 4)
    return _epidemic(n, np.where(hidden, -1, np.tile([1, 2, 2], n)), **settings)


def epidemic_by_arrays(n: int) -> FactorGraph:
    """The epidemic for n persons with generated names: x0 is Epid, then four variables per person.

    >>> epidemic_by_arrays(1000)
    <FactorGraph: 4001 variables, 3001 factors, 3 distinct tables>
    """
    return _epidemic(n, np.tile([1, 2, 2], n))


def ring(size: int) -> FactorGraph:
    """A ring of ternary variables with one table.

    >>> ring(5)
    <FactorGraph: 5 variables, 5 factors, 1 distinct table>
    """
    places = np.arange(size)
    return FactorGraph.from_arrays(
        ranges=[["0", "1", "2"]],
        variable_ranges=np.zeros(size, dtype=np.int64),
        offsets=2 * np.arange(size + 1),
        arguments=np.stack([places, (places + 1) % size], 1).reshape(-1),
        tables=[[1, 2, 3, 4, 5, 1, 2, 2, 9]],
        factor_tables=np.zeros(size, dtype=np.int64),
    )


def competing_workshops(people: int, workshops: int) -> FactorGraph:
    """Every person with every workshop: one shared table on all pairs, and unary tables.

    >>> competing_workshops(3, 2)
    <FactorGraph: 5 variables, 11 factors, 3 distinct tables>
    """
    first, second = np.arange(people), people + np.arange(workshops)
    pairs = np.stack(np.meshgrid(first, second, indexing="ij"), -1).reshape(-1)
    count = people * workshops
    return FactorGraph.from_arrays(
        ranges=BOOLEAN,
        variable_ranges=np.zeros(people + workshops, dtype=np.int64),
        offsets=np.concatenate(
            [2 * np.arange(count), 2 * count + np.arange(people + workshops + 1)]
        ),
        arguments=np.concatenate([pairs, first, second]),
        tables=[[1, 1.01, 1.02, 0.99], [1, 3], [2, 1]],
        factor_tables=np.concatenate(
            [np.zeros(count, dtype=np.int64), np.ones(people, dtype=np.int64), 2 + 0 * second]
        ),
    )


def smokers_and_friends(people: int) -> FactorGraph:
    """Friends(X, Y), Smokes(X), Smokes(Y) for all X ≠ Y; the first variables are who smokes.

    >>> smokers_and_friends(3)
    <FactorGraph: 9 variables, 9 factors, 2 distinct tables>
    """
    one, other = (
        each.reshape(-1)
        for each in np.meshgrid(np.arange(people), np.arange(people), indexing="ij")
    )
    one, other = one[one != other], other[one != other]
    count = len(one)
    rows = np.stack([people + np.arange(count), one, other], 1)
    return FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(people + count, dtype=np.int64),
        offsets=np.concatenate([3 * np.arange(count), 3 * count + np.arange(people + 1)]),
        arguments=np.concatenate([rows.reshape(-1), np.arange(people)]),
        tables=[[1, 1, 1, 1, 1, 1, 1, 1.01], [1, 3]],
        factor_tables=np.concatenate(
            [np.zeros(count, dtype=np.int64), np.ones(people, dtype=np.int64)]
        ),
    )


def _epidemic(n: int, tables: NDArray[np.int64], **settings: Any) -> FactorGraph:
    """The epidemic with given numbers of the persons' tables."""
    travel, sick, first, second = 1 + 4 * np.arange(n) + np.arange(4)[:, None]
    epid = np.zeros(n, dtype=np.int64)
    # n × 3 × 3
    rows = np.stack([np.stack([other, sick, epid], 1) for other in (travel, first, second)], 1)
    return FactorGraph.from_arrays(
        ranges=BOOLEAN,
        variable_ranges=np.zeros(4 * n + 1, dtype=np.int64),
        offsets=np.concatenate([[0], 1 + 3 * np.arange(3 * n + 1)]),
        arguments=np.concatenate([[0], rows.reshape(-1)]),
        tables=[[1, 3], [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2]],
        factor_tables=np.concatenate([[0], tables]),
        **settings,
    )


def grid(side: int, seed: int = 0) -> FactorGraph:
    """A side × side grid of binary variables; potentials are exp(N(0, 1)), none shared.

    >>> grid(3)
    <FactorGraph: 9 variables, 21 factors, 21 distinct tables>
    """
    random = np.random.default_rng(seed)
    cells = np.arange(side * side).reshape(side, side)
    across = np.stack([cells[:, :-1].reshape(-1), cells[:, 1:].reshape(-1)], 1)
    down = np.stack([cells[:-1].reshape(-1), cells[1:].reshape(-1)], 1)
    pairs = np.concatenate([across, down])
    arity = np.concatenate([np.ones(cells.size, dtype=np.int64), np.full(len(pairs), 2)])
    return FactorGraph.from_arrays(
        ranges=BOOLEAN,
        variable_ranges=np.zeros(cells.size, dtype=np.int64),
        offsets=np.concatenate([[0], np.cumsum(arity)]),
        arguments=np.concatenate([cells.reshape(-1), pairs.reshape(-1)]),
        tables=[np.exp(random.normal(size=2**size)) for size in arity],
        factor_tables=np.arange(len(arity)),
    )


def cohorts(d: int, seed: int = 0) -> FactorGraph:
    """The published *epidemic(d)*: f0(Epid), per person f1(Travel, Sick, Epid), f2(Treat, Sick).

    Entries are drawn from {0.5, 1, 1, 1.5}, the same for all; then each person belongs to one of
    three to five cohorts, the first with probability ½, and cohort k adds ±k/10 (a coin) to the
    person's f2.

    >>> cohorts(10)
    <FactorGraph: 31 variables, 21 factors, 6 distinct tables>
    """
    names = ["Epid", *(f"{kind}.{i}" for i in range(d) for kind in ("Travel", "Sick", "Treat"))]
    return _cohorts(d, np.random.default_rng(seed), 0.0, variable_names=names)


def _cohorts(d: int, random: np.random.Generator, unknown: float, **settings: Any) -> FactorGraph:
    """The cohorts for d persons; each of the persons' factors is unknown with this probability."""
    f1, f2 = random.choice([0.5, 1, 1, 1.5], 8), random.choice([0.5, 1, 1, 1.5], 4)
    f2[0] = 1.0  # so that no cohort takes everything away
    count = min(int(random.integers(3, 6)), d)
    others = 0.5 / max(count - 1, 1)
    cohort = random.choice(count, d, p=[0.5, *[others] * (count - 1)] if count > 1 else [1.0])
    sign = random.integers(0, 2, d)
    shifts = [(k + 1) / 10 * (1 - 2 * coin) for k in range(count) for coin in (0, 1)]
    travel, sick, treat = 1 + 3 * np.arange(d) + np.arange(3)[:, None]
    # f1's arguments, then f2's
    rows = np.stack([travel, sick, np.zeros(d, dtype=np.int64), treat, sick], 1)
    tables = np.stack([np.ones(d, dtype=np.int64), 2 + 2 * cohort + sign], 1).ravel()
    return FactorGraph.from_arrays(
        ranges=BOOLEAN,
        variable_ranges=np.zeros(3 * d + 1, dtype=np.int64),
        offsets=np.concatenate([[0, 1], 1 + np.cumsum(np.tile([3, 2], d))]),
        arguments=np.concatenate([[0], rows.reshape(-1)]),
        tables=[[1, 1], f1, *(f2 + shift for shift in shifts)],
        factor_tables=np.concatenate([[0], np.where(random.random(2 * d) < unknown, -1, tables)]),
        **settings,
    )


def networks() -> Iterator[str]:
    """Names of the published networks that are at hand, small ones first (see `network`)."""
    folder = _network_folder()
    return (
        name for name in NETWORKS if folder is not None and (folder / f"{name}.bif.gz").exists()
    )


def network(name: str) -> Network:
    """Read one of `networks`; the factor of a variable X is called P(X)."""
    folder = _network_folder()
    if folder is None:
        raise FileNotFoundError("the networks come with pgmpy; install it to measure them")
    graph = lifagu.read(folder / f"{name}.bif.gz")
    assert isinstance(graph, FactorGraph)
    children = (graph.variable_names.number(factor[2:-1]) for factor in graph.factor_names)
    return Network(name, graph, tuple(children))


def _network_folder() -> Path | None:
    try:
        return Path(str(files("pgmpy"))) / "utils" / "example_models"
    except ModuleNotFoundError:
        return None


def leaf(network: Network) -> int:
    """The variable without children that depends on the most others; the first of several."""
    parents = {
        child: set(network.graph.scope(factor)) - {child}
        for factor, child in enumerate(network.children)
    }
    inner = set().union(*parents.values())

    def ancestors(variable: int) -> int:
        found: set[int] = set()
        reached = [variable]
        while reached:
            new = parents[reached.pop()] - found
            found |= new
            reached += new
        return len(found)

    return max(sorted(parents.keys() - inner), key=ancestors)


def relabelled(graph: FactorGraph, seed: int = 0) -> FactorGraph:
    """The same graph with all variables and factors in random order; there must be one range.

    >>> relabelled(star(10))
    <FactorGraph: 6 variables, 5 factors, 1 distinct table>
    """
    random = np.random.default_rng(seed)
    new = random.permutation(len(graph.variable_names))
    order = random.permutation(len(graph.factor_names))
    arity = np.diff(graph.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(arity)])
    places = np.repeat(graph.offsets[order] - offsets[:-1], arity) + np.arange(len(graph.arguments))
    return _binary(
        new[graph.arguments[places]], list(graph.tables), graph.factor_table[order], offsets
    )


def torus(side: int) -> FactorGraph:
    """A side × side grid without borders: everything looks alike.

    >>> torus(4)
    <FactorGraph: 16 variables, 32 factors, 1 distinct table>
    """
    cells = np.arange(side * side).reshape(side, side)
    pairs = [np.stack([cells, np.roll(cells, -1, axis)], -1).reshape(-1) for axis in (0, 1)]
    return _binary(np.concatenate(pairs))


def star(arguments: int) -> FactorGraph:
    """One variable in the middle, and pairs with it.

    >>> star(10)
    <FactorGraph: 6 variables, 5 factors, 1 distinct table>
    """
    leaves = 1 + np.arange(arguments // 2)
    return _binary(np.stack([0 * leaves, leaves], 1).reshape(-1))


def path(nodes: int) -> FactorGraph:
    """Pairs in a row: every node is different, and as many rounds as nodes are needed to see it.

    >>> path(5)
    <FactorGraph: 5 variables, 4 factors, 1 distinct table>
    """
    return _binary(np.repeat(np.arange(nodes), 2)[1:-1])


def scattered(arguments: int, seed: int = 0) -> FactorGraph:
    """Random triples, each variable ten times on average and at least once: all different.

    >>> scattered(300)
    <FactorGraph: 30 variables, 100 factors, 1 distinct table>
    """
    random = np.random.default_rng(seed)
    count, factors = arguments // 10, arguments // 3
    rows = random.integers(0, count, (factors, 3))
    rows.reshape(-1)[: 3 * count : 3] = random.permutation(count)
    while len(
        wrong := np.flatnonzero((rows[:, :1] == rows[:, 1:]).any(1) | (rows[:, 1] == rows[:, 2]))
    ):
        rows[wrong, 1:] = random.integers(0, count, (len(wrong), 2))
    return _binary(rows.reshape(-1), [np.arange(1.0, 9.0)], offsets=3 * np.arange(factors + 1))


def _binary(
    arguments: NDArray[np.int64],
    tables: list[Any] | None = None,
    factor_tables: NDArray[np.int64] | None = None,
    offsets: NDArray[np.int64] | None = None,
) -> FactorGraph:
    """Binary variables; by default pairs with one table, not symmetric."""
    offsets = 2 * np.arange(len(arguments) // 2 + 1) if offsets is None else offsets
    return FactorGraph.from_arrays(
        ranges=BOOLEAN,
        variable_ranges=np.zeros(int(arguments.max()) + 1, dtype=np.int64),
        offsets=offsets,
        arguments=arguments,
        tables=tables or [[1, 2, 3, 4]],
        factor_tables=np.zeros(len(offsets) - 1, dtype=np.int64)
        if factor_tables is None
        else factor_tables,
    )
