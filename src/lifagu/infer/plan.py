"""In which order to sum variables out, and what it will cost: known, printable and refusable before anything runs.

Orders are greedy: the variable whose elimination makes the smallest table first (min-weight). Where that is dear, two
others are tried, the variable that adds the fewest edges first (min-fill) and the order of the input, which often
follows a sensible layout; the cheapest plan is taken. Ties go to the lower variable.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from lifagu.views import counted

BYTES_PER_ENTRY = 8
WORKING_COPIES = 3  # the product, its exponentials, and the table that remains
DEAR = 2**16  # entries from which on a second order is tried …
HOPELESS = 2**64  # … and beyond which no order will help
EASY = 2**25  # entries up to which a table fits easily, so that only the total work counts
SMALL = 5000  # variables up to which min-fill, which looks at pairs of neighbours, is tried


@dataclass(frozen=True)
class Step:
    """Sum out one variable: a product over it and its neighbours of `entries` numbers."""

    variable: int
    neighbours: tuple[int, ...]
    entries: int


@dataclass(frozen=True)
class Plan:
    """An elimination order with its cost; `kept` are the variables that remain to the end."""

    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    kept_entries: int
    method: str
    keeps_tables: bool = False
    names: Callable[[int], str] = str

    @property
    def largest(self) -> int:
        """Entries of the largest table made."""
        return max([self.kept_entries, *(step.entries for step in self.steps)])

    @property
    def total(self) -> int:
        """Entries of all tables summed: proportional to the running time."""
        return sum(step.entries for step in self.steps)

    @property
    def memory(self) -> int:
        """Estimated peak memory in bytes."""
        stored = self.total if self.keeps_tables else 0
        return BYTES_PER_ENTRY * (WORKING_COPIES * self.largest + stored)

    def obstacle(self, limit: int) -> str | None:
        """Why the plan does not fit into so many bytes, as the end of a sentence; None if it does."""
        if self.memory <= limit:
            return None
        dearest = max(self.steps, key=lambda step: step.entries, default=None)
        where = f" (summing out {self.names(dearest.variable)})" if dearest and dearest.entries == self.largest else ""
        return (
            f"needs a table of {_power(self.largest)} entries{where}, about {readable_size(self.memory)}, but the "
            f"limit is {readable_size(limit)}; observe some variables, raise the memory limit, or ask for less at once"
        )

    def __str__(self) -> str:
        kept = f", keep {', '.join(map(self.names, self.kept))}" if self.kept else ""
        head = (
            f"eliminate {counted(len(self.steps), 'variable')} in {self.method} order{kept}: largest table "
            f"{self.largest} entries, {self.total} entries in all, about {readable_size(self.memory)}"
        )
        dearest = sorted(self.steps, key=lambda step: -step.entries)[:3]
        lines = [
            f"  {self.names(step.variable)} with {counted(len(step.neighbours), 'neighbour')}: {step.entries} entries"
            for step in dearest
        ]
        return "\n".join([head, *(["  dearest steps:", *lines] if lines else [])])


def make_plan(
    scopes: Iterable[Sequence[int]],
    sizes: dict[int, int],
    keep: Sequence[int] = (),
    *,
    keeps_tables: bool = False,
    names: Callable[[int], str] = str,
) -> Plan:
    """A good elimination order for tables on these scopes. sizes: range size of every variable to be handled.

    Cost: O(n log n + Σ width²) for min-weight and the input's order, a factor of the width more for min-fill.
    """
    graph = _graph(scopes, sizes, keep)
    kept = math.prod(sizes[variable] for variable in keep)

    def plan(order: Callable[..., list[Step]], method: str) -> Plan:
        steps = order({variable: set(near) for variable, near in graph.items()}, sizes, set(keep))
        return Plan(tuple(steps), tuple(keep), kept, method, keeps_tables, names)

    best = plan(_min_weight, "min-weight")
    if DEAR <= best.largest <= HOPELESS and len(sizes) <= SMALL:
        others = [plan(_min_fill, "min-fill"), plan(_input_order, "input")]
        best = min([best, *others], key=lambda each: (max(each.largest, EASY), each.total))
    return best


def _graph(scopes: Iterable[Sequence[int]], sizes: dict[int, int], keep: Sequence[int]) -> dict[int, set[int]]:
    graph: dict[int, set[int]] = {variable: set() for variable in sorted(sizes)}
    for scope in {tuple(scope) for scope in scopes} | {tuple(keep)}:
        for variable in scope:
            graph[variable].update(scope)
    for variable, near in graph.items():
        near.discard(variable)
    return graph


def _min_weight(graph: dict[int, set[int]], sizes: dict[int, int], keep: set[int]) -> list[Step]:
    # Weights are logs in fixed point, so that adding and taking away neighbours is exact.
    log = {variable: round(math.log2(size) * 2**32) for variable, size in sizes.items()}
    weight = {variable: log[variable] + sum(log[other] for other in near) for variable, near in graph.items()}
    heap = [(weight[variable], variable) for variable in graph if variable not in keep]
    heapq.heapify(heap)
    steps = []
    while heap:
        known, variable = heapq.heappop(heap)
        if variable not in graph or known != weight[variable]:
            continue
        steps.append(_step(graph, variable, sizes))
        near = graph.pop(variable)
        for other in near:
            added = near - graph[other]
            added.discard(other)
            graph[other] |= added
            graph[other].discard(variable)
            weight[other] += sum(log[each] for each in added) - log[variable]
            if other not in keep:
                heapq.heappush(heap, (weight[other], other))
    return steps


def _min_fill(graph: dict[int, set[int]], sizes: dict[int, int], keep: set[int]) -> list[Step]:
    def cost(variable: int) -> tuple[int, int, int]:
        near = graph[variable]
        fill = sum(second not in graph[first] for first, second in combinations(near, 2))
        return fill, math.prod(sizes[each] for each in near), variable

    costs = {variable: cost(variable) for variable in graph if variable not in keep}
    heap = list(costs.values())
    heapq.heapify(heap)
    steps = []
    while heap:
        entry = heapq.heappop(heap)
        variable = entry[2]
        if costs.get(variable) != entry:
            continue
        near = graph[variable]
        steps.append(_eliminate(graph, variable, sizes))
        del costs[variable]
        for other in sorted(near.union(*(graph[each] for each in near))):
            if other in costs and costs[other] != (new := cost(other)):
                costs[other] = new
                heapq.heappush(heap, new)
    return steps


def _input_order(graph: dict[int, set[int]], sizes: dict[int, int], keep: set[int]) -> list[Step]:
    return [_eliminate(graph, variable, sizes) for variable in list(graph) if variable not in keep]


def _eliminate(graph: dict[int, set[int]], variable: int, sizes: dict[int, int]) -> Step:
    """Take a variable out of the graph and join its neighbours."""
    step = _step(graph, variable, sizes)
    near = graph.pop(variable)
    for other in near:
        graph[other] |= near
        graph[other] -= {variable, other}
    return step


def _step(graph: dict[int, set[int]], variable: int, sizes: dict[int, int]) -> Step:
    near = tuple(sorted(graph[variable]))
    return Step(variable, near, sizes[variable] * math.prod(sizes[each] for each in near))


def readable_size(size: int) -> str:
    """``1.5 GiB`` and the like.

    >>> readable_size(3 * 2**29)
    '1.5 GiB'
    """
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2**power:
            return f"{size / 2**power:.3g} {unit}" if size < 2 ** (power + 20) else f"2^{round(math.log2(size))} bytes"
    return f"{size} bytes"


def _power(entries: int) -> str:
    return str(entries) if entries < 10**6 else f"2^{math.log2(entries):.3g}"


def default_memory_limit() -> int:
    """Three quarters of the memory that is free, in bytes (of 8 GiB where the system does not tell)."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        free = 8 * 2**30
    return free * 3 // 4
