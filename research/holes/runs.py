"""One cell of the suite of exact tables: a hospital filled in every way, a row for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lifagu
from research.drafts import FilledTables
from research.harness import Cell, Floats, Line, Outcome, Settings, divergence
from research.holes.baselines import OwnCompletions, averaged, by_profile, by_share, weightiest
from research.holes.hospital import DrawnHospital, hospital
from research.holes.mixture import HospitalMixture, padded
from research.holes.oracle import Oracle
from research.holes.scenarios import SCENARIOS

# how lifagu.transfer is called; rows of "auto" are the default, which need not commit to a table
LIBRARY: dict[str, dict[str, Any]] = {
    "lifagu": {"by": "lifagu"},
    "steps-4": {"by": "extended", "steps": 4},
    "extended": {"by": "extended"},
    "auto": {"by": "auto"},
}
RULES = {"share": by_share, "profiles": by_profile}
COLUMNS = ("method", "answers", "left", "right", "right_sure", "off", "kl", "kl_maximum")
FACTS = ("variables", "factors", "observed", "unknown", "sure")
DRAWS = 1000  # completions of other individuals that a mixture considers
BINS = 10
ROUNDING = 1e-9
NOISY = 0.25  # how far two noisy versions of a table may be apart; others are much further


def generated(cell: Cell) -> tuple[DrawnHospital, np.random.Generator]:
    """The hospital of a cell, and the randomness left; equal seeds have the same tables."""
    rng = np.random.default_rng([cell.size, cell.seed])
    return hospital(SCENARIOS[cell.group], cell.size, rng), rng


def run(_: Settings, cell: Cell) -> Outcome:
    """Fill the holes in every way, and compare with the truth."""
    drawn, rng = generated(cell)
    bench = Bench(drawn, rng)
    rows = list(bench.rows())
    facts = {
        "variables": len(drawn.draft.variables),
        "factors": len(drawn.draft.factors),
        "observed": len(drawn.evidence),
        "unknown": len(drawn.hidden),
        "sure": int(bench.sure.sum()),
    }
    return Outcome(cell, facts, rows)


class Bench:
    """A hospital, and what is measured about each way to fill it."""

    def __init__(self, subject: DrawnHospital, rng: np.random.Generator) -> None:
        self._hospital, self._rng = subject, rng
        self._names = [variable.name for variable in subject.draft.variables]
        self._asked = np.array([name not in subject.evidence for name in self._names])
        self._truth = self._marginals(subject.draft.graph())
        self._oracle = Oracle(subject)
        self.sure = np.array([self._oracle.identifiable[each] for each in subject.hidden])

    def rows(self) -> Iterator[Line]:
        """What knows less, the rules, the library's ways, and the oracle."""
        yield self._single("dropped", "one", dict.fromkeys(self._hospital.hidden))
        yield from (self._single(*each) for each in self._of_kind())
        holed = self._hospital.draft.without(self._hospital.hidden)
        for name, rule in RULES.items():
            offered = rule(holed)
            yield self._single(name, "one", weightiest(offered))
            yield self._single(name, "mean", averaged(offered))
            own = {int(each[1:]): completions for each, completions in offered.items()}
            yield self._averaged(name, own)
        for name, settings in LIBRARY.items():
            yield from self._by_library(
                name, lifagu.transfer(holed, 0.0, self._hospital.evidence, **settings)
            )
        yield self._single("oracle", "one", self._oracle.best())
        yield self._averaged("oracle", self._oracle.completions(self._rng))

    def _of_kind(self) -> Iterator[tuple[str, str, FilledTables]]:
        """A random donor of the kind, and the mean of all tables of the kind."""
        known = defaultdict(list)
        for factor, origin in self._hospital.known.items():
            table = self._hospital.draft.factors[factor].table
            known[origin.kind].append(table.transpose(np.argsort(origin.order)))
        donors, means = {}, {}
        for factor, origin in self._hospital.unknown.items():
            tables = known[origin.kind]
            donors[factor] = tables[self._rng.integers(len(tables))].transpose(origin.order)
            mean = np.mean([table / table.sum() for table in tables], axis=0)
            means[factor] = mean.transpose(origin.order)
        yield "random donor", "one", donors
        yield "mean of kind", "mean", means

    def _by_library(self, name: str, moved: lifagu.Transfer) -> Iterator[Line]:
        best = self._own_tables(moved.graph)
        left = len(moved.unknown) - len(moved.transferred)
        stated = np.where(np.isin(moved.unknown, moved.transferred), moved.shares, np.nan)
        off = miscalibration(stated, self._right(best))
        yield self._single(name, "one", best) | {"off": off, "left": left}
        if name == "auto":
            answer = self._marginals(moved)
            yield self._row(name, "average", answer) | {"left": left}

    def _single(self, method: str, answers: str, filling: FilledTables) -> Line:
        """A row about one table each; a factor that nobody can fill is dropped."""
        factors = self._hospital.draft.factors
        tables: dict[int, Floats | None] = {
            factor: np.ones_like(factors[factor].table) for factor in self._hospital.hidden
        }
        tables |= {factor: table for factor, table in filling.items() if table is not None}
        row = self._row(method, answers, self._marginals(self._hospital.draft.graph(tables)))
        if answers == "one":
            right = self._right(filling)
            row["right"] = float(right.mean())
            row["right_sure"] = float(right[self.sure].mean()) if self.sure.any() else None
        return row

    def _averaged(self, method: str, completions: Mapping[int, OwnCompletions]) -> Line:
        """A row about answers averaged over what the holes may be."""
        mixture = HospitalMixture(self._hospital, completions, DRAWS, self._rng)
        return self._row(method, "average", mixture.marginals())

    def _row(self, method: str, answers: str, found: Floats) -> Line:
        far = divergence(self._truth[self._asked], found[self._asked])
        row: Line = dict.fromkeys(COLUMNS)
        return row | {
            "method": method,
            "answers": answers,
            "kl": float(far.mean()),
            "kl_maximum": float(far.max()),
        }

    def _marginals(self, model: lifagu.FactorGraph | lifagu.Transfer) -> Floats:
        """All single marginals, variables × values; shorter ranges end with zeros."""
        found = lifagu.marginals(model, evidence=self._hospital.evidence)
        return padded([np.array(list(found[name].values())) for name in self._names])

    def _own_tables(self, graph: lifagu.FactorGraph) -> FilledTables:
        """The tables of a completed graph in the holes, axes as the arguments were listed."""
        filling: dict[int, Floats | None] = {}
        for place in self._hospital.hidden:
            factor = graph.factors[place]
            order = [
                factor.arguments.index(each)
                for each in self._hospital.draft.factors[place].arguments
            ]
            filling[place] = None if factor.table is None else factor.table.transpose(order)
        return filling

    def _right(self, filling: FilledTables) -> NDArray[np.bool_]:
        """Whether each hole got its true table, up to a factor (and noise, if there is some)."""
        tolerance = NOISY if self._hospital.scenario.noise else ROUNDING
        found = []
        for factor in self._hospital.hidden:
            table, truth = filling.get(factor), self._hospital.draft.factors[factor].table
            if table is None:
                found.append(False)
                continue
            ratio = (table / table.sum()) / (truth / truth.sum())
            found.append(bool(np.abs(np.log(ratio)).max() <= tolerance))
        return np.array(found)


def miscalibration(stated: Floats, right: NDArray[np.bool_]) -> float | None:
    """Mean distance, over tenths, between stated confidence and the share of right tables.

    Where nothing is stated (nan), nothing counts.

    >>> miscalibration(np.array([0.9, 0.9, np.nan]), np.array([True, False, True]))
    0.4
    """
    there = np.isfinite(stated)
    if not there.any():
        return None
    sure, correct = stated[there], right[there].astype(np.float64)
    bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    apart = np.bincount(bins, sure - correct, minlength=BINS)
    return float(np.abs(apart).sum() / len(sure))
