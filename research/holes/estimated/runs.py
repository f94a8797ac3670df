"""One cell of the suite of estimated tables: every way to fill, a row for each.

Tables of place p are arrays individuals × given × values, not necessarily normalised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

import lifagu
from research.harness import Cell, Floats, Line, Outcome, Settings, divergence
from research.holes.estimated.network import (
    SHARED,
    SIZES,
    VARIABLES,
    WIDTH,
    Bools,
    Ints,
    joints,
    marginals,
)
from research.holes.estimated.oracle import CountsOracle
from research.holes.estimated.population import (
    PRIOR,
    EstimatedPopulation,
    graph_with_holes,
    normalised,
    population,
)
from research.holes.estimated.scenarios import NOISY

OBSERVED = {"kl_marginals": 0.0, "kl_marginals_30": 0.3, "kl_marginals_70": 0.7}
DIVERGENCES = ("kl_tables", "kl_new", "kl_known", *OBSERVED)
COLUMNS = ("method", "answers", *DIVERGENCES)
FACTS = ("people", "factors", "unknown")
SMALL = 1e-12  # an answer that rules out what is possible is charged as if it gave it this much


def generated(cell: Cell) -> EstimatedPopulation:
    """The population of a cell; equal seeds have the same tables."""
    return population(NOISY[cell.group], cell.size, np.random.default_rng([cell.size, cell.seed]))


def run(_: Settings, cell: Cell) -> Outcome:
    """Fill the holes in every way, and compare with the truth."""
    subject = generated(cell)
    facts = {
        "people": len(subject.known),
        "factors": int(subject.known.size),
        "unknown": int((~subject.known).sum()),
    }
    return Outcome(cell, facts, list(EstimatedBench(subject).rows()))


class EstimatedBench:
    """A population, and what is measured about each way to fill it."""

    def __init__(self, subject: EstimatedPopulation) -> None:
        self._subject = subject

    def rows(self) -> Iterator[Line]:
        """What knows less, the library's ways, and the oracle."""
        uniform = [np.ones_like(table[:1]) for table in self._subject.truth]
        yield self._row("uniform", "one", beside_known(self._subject, uniform))
        yield self._row("pooled", "mean", beside_known(self._subject, pools(self._subject)))
        graph = graph_with_holes(self._subject)
        extended = lifagu.transfer(graph, by="extended")
        yield self._row("extended", "one", tables_in(extended.graph, self._subject))
        auto = lifagu.transfer(graph, by="auto")
        yield self._row("auto", "one", tables_in(auto.graph, self._subject))
        expected = tables_in(auto.averaged(), self._subject)
        yield self._row("auto", "average", expected) | self._answers(auto)
        oracle = CountsOracle(self._subject)
        tables = [oracle.tables(place) for place in range(len(self._subject.places))]
        yield self._row("oracle", "average", tables, oracle.joint())

    def _row(
        self, method: str, answers: str, tables: Sequence[Floats], joint: Floats | None = None
    ) -> Line:
        """Divergences of tables, and of marginals under them or under a joint distribution."""
        holes = ~self._subject.known.T
        errors = table_errors(self._subject, tables, holes)
        new = np.concatenate([self._subject.new[hidden] for hidden in holes])
        row: Line = {"method": method, "answers": answers}
        row["kl_tables"] = float(errors.mean())
        row["kl_new"] = float(errors[new].mean())
        row["kl_known"] = float(table_errors(self._subject, tables, ~holes).mean())
        joint = joint_of(tables) if joint is None else joint
        return row | {
            name: self._far(name, *self._under(joint, share)) for name, share in OBSERVED.items()
        }

    def _answers(self, moved: lifagu.Transfer) -> Line:
        """The divergences of the library's own answers, classes and tables summed out."""
        people, shared = len(self._subject.known), self._subject.scenario.shared
        line: Line = {}
        for name, share in OBSERVED.items():
            told = lifagu.marginals(moved, evidence=self._subject.evidence(share))
            found = np.zeros((people, len(VARIABLES), WIDTH))
            for place, (variable, size) in enumerate(SIZES.items()):
                for each in range(people):
                    found[each, place, :size] = list(told[f"{variable}.{each}"].values())
            epidemic = np.array(list(told[SHARED].values())) if shared else np.ones(1)
            line[name] = self._far(name, found, epidemic)
        return line

    @cached_property
    def _truth(self) -> dict[str, tuple[Floats, Floats]]:
        joint = joint_of(self._subject.truth)
        return {name: self._under(joint, share) for name, share in OBSERVED.items()}

    def _under(self, joint: Floats, share: float) -> tuple[Floats, Floats]:
        return marginals(joint, self._subject.values, self._subject.observed(share))

    def _far(self, name: str, found: Floats, epidemic_found: Floats) -> float:
        """Mean divergence of all unobserved single marginals, that of Epid among them."""
        truth, epidemic = self._truth[name]
        errors = divergence(truth, np.maximum(found, SMALL * (truth > 0)))
        unobserved = errors[~self._subject.observed(OBSERVED[name])]
        shared = divergence(epidemic, np.maximum(epidemic_found, SMALL))
        return float(np.append(unobserved, shared[None][: len(epidemic) - 1]).mean())


def joint_of(tables: Sequence[Floats]) -> Floats:
    """P(values | Epid) of every individual with these tables."""
    return joints([each[:, None] for each in tables], np.ones((len(tables[0]), 1)))


def pools(subject: EstimatedPopulation) -> list[Floats]:
    """For each place the frequencies in the records behind known tables: 1 × given × values."""
    return [
        normalised(counts[subject.known[:, place]].sum(axis=0, keepdims=True) + PRIOR)
        for place, counts in enumerate(subject.counts)
    ]


def beside_known(subject: EstimatedPopulation, fillings: Sequence[Floats]) -> list[Floats]:
    """These tables where there are holes, known ones as estimated."""
    return [
        np.where(subject.known[:, place, None, None], own, filling)
        for place, (own, filling) in enumerate(zip(subject.given, fillings, strict=True))
    ]


def table_errors(subject: EstimatedPopulation, tables: Sequence[Floats], which: Bools) -> Floats:
    """KL(true ‖ filled) of these tables (places × individuals), mean over given combinations."""
    return np.concatenate(
        [
            divergence(truth[wanted], normalised(table[wanted])).mean(axis=1)
            for truth, table, wanted in zip(subject.truth, tables, which, strict=True)
        ]
    )


def tables_in(graph: lifagu.FactorGraph, subject: EstimatedPopulation) -> list[Floats]:
    """The tables of a completed graph, arguments as listed; uniform where it still has holes."""
    factors = np.argsort(subject.order).reshape(subject.known.shape)
    return [
        _of_place(graph, factors[:, place], _listed(subject, place)).reshape(truth.shape)
        for place, truth in enumerate(subject.truth)
    ]


def _listed(subject: EstimatedPopulation, place: int) -> Ints:
    """The variables of a place's factors by number: individuals × arguments."""
    people, shared = len(subject.known), subject.scenario.shared
    own = subject.places[place]
    columns = [
        np.zeros(people, dtype=np.int64)
        if name == SHARED
        else shared + len(VARIABLES) * np.arange(people) + VARIABLES.index(name)
        for name in (*own.given, own.child)
    ]
    return np.column_stack(columns)


def _of_place(graph: lifagu.FactorGraph, factors: Ints, listed: Ints) -> Floats:
    """Factors × states; a filled factor may list its arguments in another order."""
    number = graph.factor_table[factors]
    scopes = graph.arguments[graph.offsets[factors][:, None] + np.arange(listed.shape[1])]
    orders = (scopes[:, None, :] == listed[:, :, None]).argmax(axis=2)
    sizes = graph.sizes[listed[0]]
    found = np.ones((len(factors), int(sizes.prod())))
    for order in np.unique(orders, axis=0):
        here = (orders == order).all(axis=1) & (number >= 0)
        states = graph.tables.offsets[number[here]][:, None] + np.arange(found.shape[1])
        axes = sizes[np.argsort(order)]
        tables = graph.tables.values[states].reshape(-1, *axes)
        found[here] = tables.transpose(0, *(1 + order)).reshape(-1, found.shape[1])
    return found
