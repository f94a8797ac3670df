"""One cell of the suite: a hospital filled by every method, a row per method and answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lifagu
from research.campaign import Cell, Line, Outcome, Settings
from research.drafts import FilledTables, Floats
from research.holes import scores
from research.holes.completions import (
    CompletedMarginals,
    by_individual,
    completions_of,
    drawn,
    drawn_graph,
    own_tables,
    padded,
)
from research.holes.hospital import DrawnHospital, hospital
from research.holes.methods import METHODS, Method, mean_tables, ones, random_donors, transferred
from research.holes.mixture import HospitalMixture
from research.holes.oracle import Oracle, OwnCompletions
from research.holes.posterior_answers import PosteriorAnswers
from research.holes.scenarios import SCENARIOS

COLUMNS = (
    *("method", "answers", "left", "right", "right_identifiable"),
    *("kl_mean", "kl_maximum", "kl_infinite", "brier", "miscalibration"),
    *("coverage", "width", "outside", "log10_completions", "considered"),
)
DRAWS = 1000  # completions of other individuals that a mixture by individuals considers
FACTS = ("variables", "factors", "observed", "unknown", "identifiable")


def generated(cell: Cell) -> tuple[DrawnHospital, np.random.Generator]:
    """The hospital of a cell, and the randomness left; equal seeds have the same tables."""
    rng = np.random.default_rng([cell.size, cell.seed])
    return hospital(SCENARIOS[cell.group], cell.size, rng), rng


def run(settings: Settings, cell: Cell) -> Outcome:
    """Fill the holes by every method, with so many completions, and compare with the truth."""
    drawn_hospital, rng = generated(cell)
    bench = Bench(drawn_hospital, settings["completions"], rng)
    rows = list(bench.rows())
    facts = {
        "variables": len(drawn_hospital.draft.variables),
        "factors": len(drawn_hospital.draft.factors),
        "observed": len(drawn_hospital.evidence),
        "unknown": len(drawn_hospital.hidden),
        "identifiable": int(bench.identifiable.sum()),
        "bins": scores.taken_bins(rows),
    }
    return Outcome(cell, facts, rows)


class Bench:
    """A hospital, and what is measured about each way to fill it."""

    def __init__(self, subject: DrawnHospital, completions: int, rng: np.random.Generator) -> None:
        self._hospital = subject
        self._marginals = CompletedMarginals(subject)
        self._oracle = Oracle(subject)
        self._completions = completions
        self._rng = rng
        self.identifiable: NDArray[np.bool_] = np.array(
            list(self._oracle.identifiable.values()), dtype=np.bool_
        )

    def rows(self) -> Iterator[Line]:
        """Baselines, every method with every way to answer, and the oracle."""
        yield self._single("all-ones", ones(self._hospital))
        yield self._single("random-donor", random_donors(self._hospital, self._rng))
        yield self._single("mean-of-kind", mean_tables(self._hospital), answers="mean")
        # one for all methods: equal offers then give equal answers
        seed = int(self._rng.integers(2**32))
        for name, method in METHODS.items():
            yield from self._transferred(name, method, np.random.default_rng(seed))
        yield self._single("oracle", self._oracle.best())
        mixture = self._mixture(self._oracle.completions(self._rng), self._rng)
        yield self._row("oracle", "mixture", self._divergences(mixture), considered=DRAWS)

    def _transferred(self, name: str, method: Method, rng: np.random.Generator) -> Iterator[Line]:
        moved = transferred(self._hospital, method)
        best = own_tables(moved.graph, self._hospital)
        left = len(moved.unknown) - len(moved.transferred)
        stated = np.where(np.isin(moved.unknown, moved.transferred), moved.shares, np.nan)
        was_right = scores.right(self._hospital, best)
        yield self._single(name, best) | scores.calibration(stated, was_right) | {"left": left}
        if "mean" in method.answers:
            mean = own_tables(moved.averaged(), self._hospital)
            yield self._single(name, mean, answers="mean") | {"left": left}
        if "mixture" in method.answers:
            yield from self._competing(name, method, moved, best, left, rng)
        if "posterior" in method.answers:
            summed = PosteriorAnswers(moved, self._hospital.evidence)
            found = self._divergences(padded(summed.marginals(self._marginals.names)))
            calibration = scores.calibration(summed.stated(), was_right)
            yield self._row(name, "posterior", found, calibration, left=left)

    def _competing(
        self,
        name: str,
        method: Method,
        moved: lifagu.Transfer,
        best: FilledTables,
        left: int,
        rng: np.random.Generator,
    ) -> Iterator[Line]:
        """Mixture and bounds."""
        several = self._from_posterior if method.draws else self._several
        mixture, lower, upper, considered = several(moved, best, rng)
        counts = {
            "left": left,
            "log10_completions": math.log10(completions_of(moved)),
            "considered": considered,
        }
        yield self._row(name, "mixture", self._divergences(mixture), **counts)
        near = self._marginals.near
        bounds = scores.covered(self._marginals.truth[near], lower[near], upper[near])
        yield self._row(name, "bounds", bounds, **counts)

    def _several(
        self, moved: lifagu.Transfer, best: FilledTables, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats, int]:
        """Mixture, lower and upper ends, and how many completions: all where possible."""
        if completions_of(moved) <= self._completions and len(moved.unknown) == len(
            moved.transferred
        ):
            mixture, _, _ = self._marginals.exactly(moved, "mixture")
            _, lower, upper = self._marginals.exactly(moved, "bounds")
            return mixture, lower, upper, completions_of(moved)
        fillings = drawn(moved, self._hospital, self._completions, rng)
        mixture, _, _ = self._over(fillings)
        _, lower, upper = self._over([best, *fillings])
        return mixture, lower, upper, len(fillings) + 1

    def _from_posterior(
        self, moved: lifagu.Transfer, best: FilledTables, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats, int]:
        """The same where each individual has a posterior: averaged over it, and drawn from it."""
        mixture = self._mixture(by_individual(moved, self._hospital), rng)
        graphs = [drawn_graph(moved, rng) for _ in range(self._completions)]
        fillings = [best, *(own_tables(graph, self._hospital) for graph in graphs)]
        _, lower, upper = self._over(fillings)
        return mixture, lower, upper, len(fillings)

    def _mixture(
        self, completions: Mapping[int, OwnCompletions], rng: np.random.Generator
    ) -> Floats:
        return HospitalMixture(self._hospital, completions, DRAWS, rng).marginals()

    def _single(self, method: str, filling: FilledTables, answers: str = "one") -> Line:
        """A row about one filling."""
        shares = scores.right_shares(scores.right(self._hospital, filling), self.identifiable)
        tables = shares if answers == "one" else {}
        return self._row(
            method, answers, tables | self._divergences(self._marginals.under(filling))
        )

    def _over(self, fillings: Sequence[FilledTables]) -> tuple[Floats, Floats, Floats]:
        """Mean, smallest and largest marginals over several fillings."""
        found = np.stack([self._marginals.under(filling) for filling in fillings])
        return found.mean(axis=0), found.min(axis=0), found.max(axis=0)

    def _divergences(self, answer: Floats) -> Line:
        asked = self._marginals.unobserved
        return scores.divergences(self._marginals.truth[asked], answer[asked])

    def _row(self, method: str, answers: str, *measured: Line, **counts: Any) -> Line:
        row: Line = dict.fromkeys(COLUMNS)
        for each in (*measured, counts):
            row |= each
        return row | {"method": method, "answers": answers}
