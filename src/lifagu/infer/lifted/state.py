"""What the lifted engine works on: rows and their tables, variables and their sizes, and the log Z collected so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints, first_places, group_rows
from lifagu.evidence import Evidence
from lifagu.infer.lifted.algebra import Table, swappable_slots
from lifagu.infer.lifted.fine import Fine, rounded, stripped
from lifagu.infer.lifted.matrices import Matrices
from lifagu.infer.lifted.rows import Rows, Twins
from lifagu.model import FactorGraph

FEW = 2**16  # potentials up to which extended precision costs nothing


class Pool:
    """Tables by number; equal tables (after their maximum is taken out) have equal numbers."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self._numbers: dict[tuple[tuple[int, ...], bytes], int] = {}
        self._swappable: dict[int, tuple[int, ...]] = {}
        self.scales: list[float] = []
        self.fine: dict[int, tuple[Fine, Table]] = {}  # for small tables on many rows: all digits, and those left out

    def add(self, table: Table, count: int) -> int:
        """Number of a table that stands on `count` rows; its maximum goes to log Z. A zero table makes log Z -inf."""
        highest = table.max(initial=-np.inf)
        if highest == -np.inf:
            self.scales.append(-math.inf)
            highest = np.longdouble(0)
        self.scales.append(float(highest * np.longdouble(count)))
        stripped = np.ascontiguousarray(table - highest, dtype=np.longdouble) + 0
        key = (stripped.shape, np.asarray(stripped, dtype=np.float64).tobytes())
        number = self._numbers.setdefault(key, len(self.tables))
        if number == len(self.tables):
            self.tables.append(stripped)
        return number

    def add_fine(self, table: Fine, count: int) -> int:
        """The same for a table of many digits."""
        highest, rest = stripped(table)
        main, left_out = rounded(rest)
        number = self.add(main, count)
        if highest.is_finite():
            self.scales.append(float(highest * count))
        self.fine.setdefault(number, (rest, left_out))
        return number

    def copy(self) -> Pool:
        """A pool that goes on from here on its own; tables are shared."""
        other = Pool()
        other.tables, other.scales = list(self.tables), list(self.scales)
        other._numbers, other._swappable, other.fine = dict(self._numbers), dict(self._swappable), dict(self.fine)
        return other

    def parts(self, number: int) -> tuple[Table, ...]:
        """Tables whose sum is the table: itself and, where it was known, what its digits leave out."""
        return (self.tables[number], self.fine[number][1]) if number in self.fine else (self.tables[number],)

    def __getitem__(self, number: int) -> Table:
        return self.tables[number]

    def slot_classes(self, arity: int, labels: Ints) -> Ints:
        """For each label which slots of its table may be swapped: rows of class numbers."""
        distinct, number = np.unique(labels, return_inverse=True)
        classes = [self._classes(label) for label in distinct.tolist()]
        return np.array(classes, dtype=np.int64).reshape(len(distinct), arity)[number.reshape(-1)]

    def _classes(self, number: int) -> tuple[int, ...]:
        if number not in self._swappable:
            self._swappable[number] = swappable_slots(self.tables[number])
        return self._swappable[number]


@dataclass(frozen=True, eq=False)
class Deferred:
    """Rows that single individuals are listed for, put aside until all rows are.

    arguments: for each slot the variable, and an n×k matrix of the places of its individuals in their cells.
    """

    arguments: tuple[tuple[int, Ints], ...]
    label: int


@dataclass(eq=False)
class State:
    """Rows, tables and variables; variables made by counting are numbered after the graph's.

    open[v]: variable v is still there and may be eliminated now; kept ones never are. original: the name of each of the
    first `originals` variables. deferred: rows that are put aside while others are still over cells, whose variables
    are not open until then. ties: variables that are histograms of others from the start, and what they count; neither
    is open until they are counted. listed: where the ground variables of a kind begin and stop, and its name.
    """

    rows: Rows
    pool: Pool
    sizes: Ints
    open: NDArray[np.bool_]
    present: NDArray[np.bool_]
    kept: frozenset[int]
    original: Callable[[int], str]
    originals: int
    maximise: bool = False  # take the best instead of adding up
    deferred: tuple[Deferred, ...] = ()
    ties: dict[int, Twins] = field(default_factory=dict)
    listed: dict[int, tuple[int, str]] = field(default_factory=dict)

    def name(self, variable: int) -> str:
        """The name of a variable, also of those that steps added."""
        if variable < self.originals:
            return self.original(variable)
        for first, (stop, kind) in self.listed.items():
            if first <= variable < stop:
                return f"one like {kind}"
        return f"histogram {variable - self.originals}"

    @property
    def log_sizes(self) -> NDArray[np.float64]:
        """log2 of each variable's range size."""
        return np.log2(self.sizes)

    def add_variable(self, size: int) -> int:
        """A new variable; returns its number."""
        number = len(self.sizes)
        self.sizes = np.append(self.sizes, size)
        self.open = np.append(self.open, True)
        self.present = np.append(self.present, True)
        return number

    def save(self) -> Callable[[], None]:
        """Remember the state as it is; calling what is returned brings it back."""
        rows, sizes, scales = self.rows, self.sizes, len(self.pool.scales)
        open_, present = self.open.copy(), self.present.copy()

        def restore() -> None:
            self.rows, self.sizes = rows, sizes
            self.open, self.present = open_.copy(), present.copy()
            del self.pool.scales[scales:]

        return restore

    def retire(self, variables: Ints) -> None:
        """These variables are gone."""
        self.open[variables] = False
        self.present[variables] = False


def start(graph: FactorGraph, evidence: Evidence, included: NDArray[np.bool_], keep: Iterable[int]) -> State:
    """The graph's included variables with the evidence fixed: rows sharing a table and observed values together.

    included[v]: whether v, and so the factors on it, takes part; observed variables take no part of their own.
    """
    observed = evidence.value_of_each(len(graph.variable_names))
    pool = Pool()
    precise = np.longdouble if graph.tables.values.size <= FEW else np.float64
    with np.errstate(divide="ignore"):
        logs = np.log(graph.tables.values.astype(precise))
    parts: list[tuple[Ints, int]] = []
    for factors, matrix in graph.scopes:
        fixed = observed[matrix] >= 0
        takes_part = np.where(fixed, True, included[matrix]).all(axis=1) & (graph.factor_table[factors] >= 0)
        factors, matrix, fixed = factors[takes_part], matrix[takes_part], fixed[takes_part]
        numbers = graph.factor_table[factors]
        kinds = group_rows(np.column_stack((numbers, np.where(fixed, observed[matrix] + 1, 0))))
        order = np.argsort(kinds, kind="stable")
        bounds = np.concatenate(([0], np.cumsum(np.bincount(kinds)))) if len(kinds) else np.zeros(1, dtype=np.int64)
        for kind, example in enumerate(first_places(kinds).tolist()):
            rows = order[bounds[kind] : bounds[kind + 1]]
            span = slice(graph.tables.offsets[numbers[example]], graph.tables.offsets[numbers[example] + 1])
            table = logs[span].reshape(graph.sizes[matrix[example]])
            table = table[tuple(int(observed[v]) if observed[v] >= 0 else slice(None) for v in matrix[example])]
            parts.append((matrix[rows][:, ~fixed[example]], pool.add(np.asarray(table), len(rows))))
    parts += _soft(evidence, observed, included, pool)
    all_rows, _ = Matrices({}, {}).plus(parts)
    present = included & (observed < 0)
    kept, name = frozenset(keep), graph.variable_names.__getitem__
    state = State(all_rows, pool, graph.sizes.copy(), present.copy(), present, kept, name, len(graph.sizes))
    state.open[list(kept)] = False
    return state


def _soft(evidence: Evidence, observed: Ints, included: NDArray[np.bool_], pool: Pool) -> list[tuple[Ints, int]]:
    """Soft evidence as unary rows."""
    found = []
    with np.errstate(divide="ignore"):
        for variable, likelihood in zip(evidence.soft_variables.tolist(), evidence.likelihoods, strict=True):
            logs = np.log(likelihood.astype(np.longdouble))
            if observed[variable] >= 0:
                found.append((np.zeros((1, 0), dtype=np.int64), pool.add(logs[observed[variable]], 1)))
            elif included[variable]:
                found.append((np.array([[variable]]), pool.add(logs, 1)))
    return found
