"""In which order to sum variables out, and what it will cost, known before anything runs.

Orders are greedy: the variable whose elimination leaves the smallest table first (min-weight).
Where running that would cost much more than planning, others are tried (min-fill, and the order of
the input, which often follows a sensible layout), each only until it is clear that it costs more;
the cheapest plan is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lifagu.basics.cached import cached_property
from lifagu.basics.memory import readable_size
from lifagu.basics.words import counted
from lifagu.inference import elimination_orders
from lifagu.inference.thirds import COPIES, Thirds, divide, least_cost

Order = Callable[
    [elimination_orders.Neighbours, dict[int, int], Collection[int]],
    elimination_orders.Eliminations,
]

BYTES_PER_ENTRY = 8
WORKING_COPIES = 3  # the product, the tables it is made of, and the table that remains
DEAR = 2**15  # entries for each variable from which on a second order is tried …
DEARER = 2**18  # … and all others …
WALKED = 4  # … so many times fewer if there is a walk back, which uses each entry more often …
HOPELESS = 2**64  # … and entries in one table beyond which no order will help
EASY = 2**25  # entries up to which a table fits easily, so that only the total work counts
WORSE = 2  # an order is given up when it costs so many times as much as the best
SMALL = 5000  # variables up to which more than one order is tried
WIDE = 2**16  # entries in all from which on the last variables may be summed out in three groups
ORDERS: dict[str, Order] = {
    "min-fill": elimination_orders.min_fill,
    "weighted min-fill": elimination_orders.weighted_min_fill,
    "input": elimination_orders.input_order,
    "backward input": elimination_orders.backward_order,
}


class TooDearError(Exception):
    """A plan takes more entries than are wanted, as another engine is then cheaper: no refusal."""


class Step(NamedTuple):
    """Sum out one variable: a product over it and its neighbours of `entries` numbers."""

    variable: int
    neighbours: tuple[int, ...]
    entries: int


@dataclass(frozen=True)
class Plan:
    """An elimination order with its cost; `kept` are the variables that remain to the end.

    core: variables that are left after all steps and summed out together, in three groups. Before
    anything else, variables that say nothing about the questions are dropped, together with their
    factors (positions in the part), which leave only a constant.
    """

    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    kept_entries: int
    method: str
    keeps_tables: bool = False
    names: Callable[[int], str] = str
    dropped: tuple[int, ...] = ()
    dropped_factors: frozenset[int] = frozenset()
    log_constant: float = 0.0
    core: Thirds | None = None

    @cached_property
    def largest(self) -> int:
        """Entries of the largest table made."""
        core = self.core.largest if self.core else 0
        return max([self.kept_entries, core, *(step.entries for step in self.steps)])

    @cached_property
    def total(self) -> int:
        """Entries of all tables summed: proportional to the running time."""
        return self._stepped + (self.core.cost if self.core else 0)

    @cached_property
    def _stepped(self) -> int:
        """Entries of all tables of the steps."""
        return sum(step.entries for step in self.steps)

    @property
    def memory(self) -> int:
        """Estimated peak memory in bytes."""
        # what each step leaves for the walk back
        stored = self._stepped // 2 if self.keeps_tables else 0
        core = COPIES * self.core.entries if self.core else 0
        return BYTES_PER_ENTRY * (max(WORKING_COPIES * self.largest, core) + stored)

    def obstacle(self, limit: int) -> str | None:
        """Why the plan does not fit into so many bytes, to end a sentence; None if it does."""
        if self.memory <= limit:
            return None
        dearest = max(self.steps, key=lambda step: step.entries, default=None)
        where = ""
        if dearest and dearest.entries == self.largest:
            where = f" (summing out {self.names(dearest.variable)})"
        return (
            f"needs a table of {readable_count(self.largest)} entries{where}, "
            f"about {readable_size(self.memory)}, but the limit is {readable_size(limit)}"
        )

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        kept = f", keep {', '.join(map(self.names, self.kept))}" if self.kept else ""
        gone = counted(len(self.dropped), "variable")
        dropped = f"drop {gone} that cannot matter, " if self.dropped else ""
        core = f", {self.core}" if self.core else ""
        lines = [
            f"{dropped}eliminate {counted(len(self.steps), 'variable')} in {self.method} order"
            f"{kept}{core}: largest table {self.largest} entries, {self.total} entries in all, "
            f"about {readable_size(self.memory)}"
        ]
        if self.steps:
            lines.append("  dearest steps:")
        for step in sorted(self.steps, key=lambda step: -step.entries)[:3]:
            around = counted(len(step.neighbours), "neighbour")
            lines.append(f"  {self.names(step.variable)} with {around}: {step.entries} entries")
        return "\n".join(lines)


def make_plan(
    scopes: Iterable[Sequence[int]],
    sizes: dict[int, int],
    keep: Sequence[int] = (),
    *,
    keeps_tables: bool = False,
    names: Callable[[int], str] = str,
    most: float = math.inf,
) -> Plan:
    """A good elimination order for tables on these scopes; sizes: those of all variables to handle.

    Where the first order takes more than `most` entries, none is wanted: that is a `TooDearError`.
    More than one is tried only where its cost is small beside that of running.
    """
    near = neighbours(scopes, sizes, keep)
    kept = math.prod([sizes[variable] for variable in keep])

    def plan(order: Order, method: str, most: float) -> Plan | None:
        steps, total = [], 0
        copied = {each: set(others) for each, others in near.items()}
        for variable, around in order(copied, sizes, set(keep)):
            entries = math.prod([sizes[each] for each in around], start=sizes[variable])
            steps.append(Step(variable, tuple(sorted(around)), entries))
            total += entries
            if total > most:
                return None
        return Plan(tuple(steps), tuple(keep), kept, method, keeps_tables, names)

    best = plan(elimination_orders.min_weight, "min-weight", most)
    if best is None:
        raise TooDearError
    dear = len(sizes) * (DEAR // WALKED if keeps_tables else DEAR)
    for method in _further_orders(sizes) if best.largest <= HOPELESS else ():
        if best.total <= dear:
            break
        other = plan(ORDERS[method], method, WORSE * best.total)
        best = min(best, other or best, key=lambda each: (max(each.largest, EASY), each.total))
        dear = max(dear, len(sizes) * DEARER)
    return best


def with_core(plan: Plan, scopes: Sequence[Collection[int]], sizes: dict[int, int]) -> Plan:
    """The plan, its last variables summed out in three groups where that costs less.

    scopes: of all tables, and of all that is asked for together; so kept variables are among the
    last. Cost: linear in steps and scopes, and a few divisions.
    """
    if plan.total < WIDE:
        return plan
    order = [step.variable for step in plan.steps] + list(plan.kept)
    rank = {variable: place for place, variable in enumerate(order)}
    first = [min([rank[each] for each in scope], default=-1) for scope in scopes]
    left = [min([rank[each] for each in step.neighbours], default=-1) for step in plan.steps]
    best, before, states = plan, plan.total, 1
    for begin in reversed(range(len(order))):
        states *= sizes[order[begin]]
        before -= plan.steps[begin].entries if begin < len(plan.steps) else 0
        if before + least_cost(states) >= best.total or len(order) - begin < 3:
            continue
        met = [scope for scope, low in zip(scopes, first, strict=True) if low >= begin]
        met += [plan.steps[each].neighbours for each in range(begin) if left[each] >= begin]
        core = divide({each: sizes[each] for each in order[begin:]}, met)
        if core and before + core.cost < best.total:
            steps = plan.steps[:begin]
            best = replace(plan, steps=steps, kept=(), kept_entries=1, keeps_tables=True, core=core)
    return best


def _further_orders(sizes: dict[int, int]) -> list[str]:
    """Orders to be tried while a plan is dear; weights say nothing if all sizes are equal."""
    if len(sizes) > SMALL:
        return []
    alike = len(set(sizes.values())) == 1
    return [
        *(["min-fill"] if alike else ["weighted min-fill", "min-fill"]),
        "input",
        "backward input",
    ]


def neighbours(
    scopes: Iterable[Sequence[int]], sizes: dict[int, int], keep: Sequence[int]
) -> elimination_orders.Neighbours:
    """For each variable those that it shares a scope with; kept variables share one, too."""
    near: dict[int, set[int]] = {variable: set() for variable in sorted(sizes)}
    for scope in {tuple(scope): None for scope in (*scopes, keep)}:
        for variable in scope:
            near[variable].update(scope)
    for variable, around in near.items():
        around.discard(variable)
    return near


def readable_count(number: int) -> str:
    """The number, or a power of two where it is large."""
    return str(number) if number < 10**6 else f"2^{math.log2(number):.3g}"
