"""One cell of the suite of estimated tables: every way to fill, a row per method and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import lifagu
from lifagu.experiments.campaign import Cell, Line, Outcome, Settings
from lifagu.experiments.drafts import Floats
from lifagu.experiments.holes.noisy.fillings import (
    NOISY_METHODS,
    NoisyMethod,
    filled,
    pooled,
    tables_in,
    uniform,
)
from lifagu.experiments.holes.noisy.measures import TruthBeside, joint_of
from lifagu.experiments.holes.noisy.oracle import CountsOracle
from lifagu.experiments.holes.noisy.population import EstimatedPopulation, population
from lifagu.experiments.holes.noisy.scenarios import NOISY
from lifagu.experiments.holes.scores import calibration

NOISY_COLUMNS = (
    *("method", "answers", "kl_tables", "kl_new", "kl_known"),
    *("kl_marginals", "kl_marginals_30", "kl_marginals_70", "right", "brier", "miscalibration"),
    *("table_intervals", "table_coverage", "table_width"),
    *("marginal_intervals", "marginal_coverage", "marginal_width"),
)
NOISY_FACTS = ("people", "factors", "unknown")


def generated_population(cell: Cell) -> EstimatedPopulation:
    """The population of a cell; equal seeds have the same tables."""
    rng = np.random.default_rng([cell.size, cell.seed])
    return population(NOISY[cell.group], cell.size, rng)


def run_noisy(settings: Settings, cell: Cell) -> Outcome:
    """Fill the holes by every method, with so many draws for intervals."""
    subject = generated_population(cell)
    rng = np.random.default_rng([cell.size, cell.seed, 1])
    rows = list(NoisyBench(subject, settings["draws"], rng).rows())
    facts = {
        "people": len(subject.known),
        "factors": int(subject.known.size),
        "unknown": int((~subject.known).sum()),
        "bins": {row["method"]: bins for row in rows if (bins := row.pop("bins", None))},
    }
    return Outcome(cell, facts, rows)


class NoisyBench:
    """A population, and what is measured about each way to fill it."""

    def __init__(self, subject: EstimatedPopulation, draws: int, rng: np.random.Generator) -> None:
        self._subject = subject
        self._truth = TruthBeside(subject)
        self._draws = draws
        self._rng = rng

    def rows(self) -> Iterator[Line]:
        """Baselines, the library's ways, and the oracle."""
        yield self._row("uniform", "one", uniform(self._subject))
        yield self._row("pooled", "mean", pooled(self._subject))
        for name, method in NOISY_METHODS.items():
            if self._subject.scenario.individuals or not method.needs_individuals:
                yield from self._by_method(name, method)
        yield from self._by_oracle()

    def _by_method(self, name: str, method: NoisyMethod) -> Iterator[Line]:
        moved = filled(self._subject, method)
        best = tables_in(moved.graph, self._subject)
        stated = self._calibration(self._stated(moved), best)
        mean = tables_in(moved.averaged(), self._subject)
        for answers in method.answers:
            yield self._row(name, answers, best if answers == "one" else mean, stated)
        if method.draws:
            drawn = [moved.drawn(self._rng) for _ in range(self._draws)]  # type: ignore[attr-defined]
            draws = [tables_in(graph, self._subject) for graph in drawn]
            yield self._several(name, mean, draws)

    def _by_oracle(self) -> Iterator[Line]:
        oracle = CountsOracle(self._subject)
        tables = [oracle.tables(place) for place in range(len(self._subject.places))]
        weights = [oracle.atoms(place) for place in range(len(tables))]
        best = [
            atoms[own.argmax(axis=1)]
            for atoms, own in zip(self._subject.source.atoms, weights, strict=True)
        ]
        sure = np.column_stack([own.max(axis=1) for own in weights])
        yield self._row("oracle", "mean", tables, self._calibration(sure, best))
        draws = [oracle.drawn(self._rng) for _ in range(self._draws)]
        yield self._several("oracle", tables, draws, oracle.joint())

    def _several(
        self,
        name: str,
        mean: Sequence[Floats],
        draws: Sequence[Sequence[Floats]],
        joint: Floats | None = None,
    ) -> Line:
        """A row about answers averaged over draws, or over what they are drawn from."""
        if joint is None:
            joint = np.mean([joint_of(draw) for draw in draws], axis=0)
        measured = self._truth.intervals(draws)
        return self._row(name, "mixture", mean, measured, joint=joint)

    def _row(
        self,
        method: str,
        answers: str,
        tables: Sequence[Floats],
        *measured: Line,
        joint: Floats | None = None,
    ) -> Line:
        row: Line = dict.fromkeys(NOISY_COLUMNS)
        row |= self._truth.tables(tables)
        row |= self._truth.marginals(joint_of(tables) if joint is None else joint)
        for each in measured:
            row |= each
        return row | {"method": method, "answers": answers}

    def _stated(self, moved: lifagu.Transfer) -> Floats:
        """The confidence in the table that each hole takes: individuals × places."""
        stated = np.full(self._subject.known.size, np.nan)
        filled = np.isin(moved.unknown, moved.transferred)
        stated[self._subject.order[moved.unknown[filled]]] = moved.shares[filled]
        return stated.reshape(self._subject.known.shape)

    def _calibration(self, stated: Floats, best: Sequence[Floats]) -> dict[str, Any]:
        """Of the stated confidence in the most probable table, where there are several."""
        if self._subject.scenario.truth not in ("cohorts", "independent"):
            return {}
        holes = ~self._subject.known
        was_right = self._truth.right(best)[holes]
        return {"right": float(was_right.mean())} | calibration(stated[holes], was_right)
