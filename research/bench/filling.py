"""Estimated tables with holes: how far the filled ones are from the truth, beside imputers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from research.bench.imputers import IMPUTERS
from research.bench.part import Part, begin, duration, sized
from research.bench.timing import best_time
from research.campaign import Cell
from research.drafts import Floats
from research.holes.noisy.fillings import (
    NOISY_METHODS,
    NoisyMethod,
    filled,
    pooled,
    tables_in,
    uniform,
)
from research.holes.noisy.measures import TruthBeside, joint_of
from research.holes.noisy.oracle import CountsOracle
from research.holes.noisy.population import EstimatedPopulation
from research.holes.noisy.runs import generated_population

SCENARIOS = (
    *("records-5", "records-20", "records-50", "records-200"),
    *("varied-20", "unknown-40", "continuum", "independent"),
)
MEASURES = {"kl_tables": "Filled tables", "kl_marginals": "All single marginals"}
Scores = dict[str, dict[str, str]]


def main() -> None:
    """Measure and print."""
    part = begin(
        "Filling estimated tables",
        ("lifagu", "numpy", "scikit-learn"),
        "Individuals in six hidden cohorts, seven tables each, estimated from records; a tenth of",
        "the tables is unknown, and of new individuals all but one or two (from `lifagu experiment",
        "holes`). KL(truth ‖ answer) in thousandths of a nat, mean over seeds. Imputers get the",
        "tables as numbers, latent classes the counts; these fill holes and leave known tables as",
        "they are. The oracle knows how all was drawn, but not who belongs where.",
    )
    found = {name: _scores(name, part) for name in (SCENARIOS[1:2] if part.small else SCENARIOS)}
    for measure, title in MEASURES.items():
        part.section(title)
        part.table(["scenario", *WAYS], _rows(found, measure))
    part.section("Time", f"Scenario {SCENARIOS[1]}, holes filled once.")
    part.table(["individuals", *WAYS], _times(part))
    shown = ", ".join(f"{name} {value}" for name, value in found[SCENARIOS[1]]["kl_tables"].items())
    part.in_short(f"divergence of filled tables, 20 records each: {shown}.")


def _rows(found: dict[str, Scores], measure: str) -> Iterator[list[str]]:
    for name, scores in found.items():
        yield [name, *(scores[measure][way] for way in WAYS)]


def _scores(scenario: str, part: Part) -> Scores:
    people, seeds = (20, 1) if part.small else (400, 5)
    cells = [Cell(scenario, people, seed) for seed in range(seeds)]
    measured = [_measured(generated_population(cell)) for cell in cells]
    return {
        measure: {
            name: "not installed"
            if measured[0][name] is None
            else f"{1000 * np.mean([each[name][measure] for each in measured]):.3g}"
            for name in WAYS
        }
        for measure in MEASURES
    }


def _measured(subject: EstimatedPopulation) -> dict[str, Any]:
    truth = TruthBeside(subject)
    found: dict[str, Any] = {}
    for name, fill in WAYS.items():
        try:
            tables = fill(subject)
        except ModuleNotFoundError:
            found[name] = None
            continue
        found[name] = truth.tables(tables) | truth.marginals(joint_of(tables))
    return found


def _times(part: Part) -> Iterator[list[str]]:
    for people in (10, 20) if part.small else (100, 400, 1_600):
        subject = generated_population(Cell(SCENARIOS[1], people, 0))
        cells = []
        for name, fill in WAYS.items():
            try:
                seconds = best_time(partial(fill, subject))
            except ModuleNotFoundError:
                cells.append("not installed")
                continue
            part.point("Filling estimated tables", "individuals", name, people, seconds)
            cells.append(duration(seconds))
        yield [sized(people), *cells]


def _by_library(method: NoisyMethod, subject: EstimatedPopulation) -> list[Floats]:
    moved = filled(subject, method)
    one = method.answers[0] == "one"
    return tables_in(moved.graph if one else moved.averaged(), subject)


def _by_oracle(subject: EstimatedPopulation) -> list[Floats]:
    oracle = CountsOracle(subject)
    return [oracle.tables(place) for place in range(len(subject.places))]


WAYS: dict[str, Callable[[EstimatedPopulation], list[Floats]]] = {
    "uniform": uniform,
    "pooled": pooled,
    **{name: partial(_by_library, method) for name, method in NOISY_METHODS.items()},
    **IMPUTERS,
    "oracle": _by_oracle,
}


if __name__ == "__main__":
    main()
