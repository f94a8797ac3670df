"""One cell of the suite of estimated tables: every way to fill, a row per method and answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import lifagu
from lifagu.basics.cached import cached_property
from research.campaign import Cell, Line, Outcome, Settings
from research.drafts import Floats
from research.holes.completions import drawn_graph
from research.holes.noisy.fillings import (
    NOISY_METHODS,
    NoisyMethod,
    beside_known,
    filled,
    pooled,
    settles,
    tables_in,
    uniform,
)
from research.holes.noisy.measures import OBSERVED, TruthBeside, joint_of
from research.holes.noisy.network import SHARED, SIZES, VARIABLES, WIDTH
from research.holes.noisy.oracle import CountsOracle
from research.holes.noisy.population import EstimatedPopulation, population
from research.holes.noisy.scenarios import NOISY
from research.holes.posterior_answers import PosteriorAnswers
from research.holes.scores import calibration, taken_bins

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
        "bins": taken_bins(rows),
    }
    return Outcome(cell, facts, rows)


class NoisyBench:
    """A population, and what is measured about each way to fill it."""

    def __init__(self, subject: EstimatedPopulation, draws: int, rng: np.random.Generator) -> None:
        self._subject = subject
        self._truth = TruthBeside(subject)
        self._draws = draws
        self._rng = rng
        self._posterior: tuple[lifagu.Transfer, Line] | None = None  # the last one that was asked

    def rows(self) -> Iterator[Line]:
        """Baselines, the library's ways, and the oracle."""
        yield self._row("uniform", "one", uniform(self._subject))
        yield self._row("pooled", "mean", pooled(self._subject))
        for name, method in NOISY_METHODS.items():
            if self._subject.scenario.individuals or not method.needs_individuals:
                yield from self._by_method(name, method)
        yield from self._by_oracle()

    @cached_property
    def _default(self) -> lifagu.Transfer:
        return filled(self._subject, NOISY_METHODS["auto"])

    def _filled(self, name: str) -> lifagu.Transfer:
        """The holes filled by a method; where nothing is settled, cohorts are the default."""
        if name == "auto" or (name == "cohorts" and not settles(self._default)):
            return self._default
        return filled(self._subject, NOISY_METHODS[name])

    def _by_method(self, name: str, method: NoisyMethod) -> Iterator[Line]:
        moved = self._filled(name)
        best = tables_in(moved.graph, self._subject)
        share = np.where(np.isin(moved.unknown, moved.transferred), moved.shares, np.nan)
        stated = self._calibration(self._placed(moved, share), best)
        mean = tables_in(moved.averaged(), self._subject)
        for answers in method.answers:
            if answers == "posterior":
                yield self._row(name, answers, mean) | self._summed_out(moved, best)
            else:
                yield self._row(name, answers, best if answers == "one" else mean, stated)
        if method.draws:
            yield self._row(f"{name}-kept", "mean", beside_known(self._subject, mean))
            drawn = [drawn_graph(moved, self._rng) for _ in range(self._draws)]
            draws = [tables_in(graph, self._subject) for graph in drawn]
            yield self._several(name, mean, draws)

    def _summed_out(self, moved: lifagu.Transfer, best: Sequence[Floats]) -> Line:
        """Marginals by posterior, and the confidence in tables when most is observed."""
        if self._posterior is None or self._posterior[0] is not moved:
            shares = OBSERVED.values()
            summed = {
                each: PosteriorAnswers(moved, self._subject.evidence(each)) for each in shares
            }
            found = {share: self._marginals(each) for share, each in summed.items()}
            stated = self._placed(moved, summed[max(shares)].stated())
            line = self._truth.answers(found) | self._calibration(stated, best)
            self._posterior = moved, line
        return dict(self._posterior[1])

    def _marginals(self, summed: PosteriorAnswers) -> tuple[Floats, Floats]:
        """Individuals × variables × values, and Epid; shorter ranges end with zeros."""
        people, shared = len(self._subject.known), self._subject.scenario.shared
        names = [f"{name}.{each}" for name in VARIABLES for each in range(people)]
        answers = summed.marginals([*names, *[SHARED] * shared])
        found = np.zeros((people, len(VARIABLES), WIDTH))
        for place, size in enumerate(SIZES.values()):
            found[:, place, :size] = answers[place * people : (place + 1) * people]
        return found, answers[-1] if shared else np.ones(1)

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

    def _placed(self, moved: lifagu.Transfer, stated: Floats) -> Floats:
        """What is stated of each unknown factor, as individuals × places."""
        placed = np.full(self._subject.known.size, np.nan)
        placed[self._subject.order[moved.unknown]] = stated
        return placed.reshape(self._subject.known.shape)

    def _calibration(self, stated: Floats, best: Sequence[Floats]) -> dict[str, Any]:
        """Of the stated confidence in the most probable table, where there are several."""
        if self._subject.scenario.truth not in ("cohorts", "independent"):
            return {}
        holes = ~self._subject.known
        was_right = self._truth.right(best)[holes]
        return {"right": float(was_right.mean())} | calibration(stated[holes], was_right)
