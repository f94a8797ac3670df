"""Estimated tables with holes: how far the filled ones are from the truth, beside imputers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from imputers import IMPUTERS
from lifagu.experiments.campaign import Cell
from lifagu.experiments.drafts import Floats
from lifagu.experiments.holes.noisy.fillings import (
    NOISY_METHODS,
    filled,
    pooled,
    tables_in,
    uniform,
)
from lifagu.experiments.holes.noisy.measures import TruthBeside, joint_of
from lifagu.experiments.holes.noisy.oracle import CountsOracle
from lifagu.experiments.holes.noisy.population import EstimatedPopulation
from lifagu.experiments.holes.noisy.runs import generated_population
from part import Part, begin

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
    found = {name: _scores(name, part) for name in (SCENARIOS[:2] if part.small else SCENARIOS)}
    for measure, title in MEASURES.items():
        part.section(title)
        head = list(next(iter(found.values()))[measure])
        part.table(["scenario", *head], _rows(found, measure))
    last = found.get("records-50") or next(iter(found.values()))
    shown = ", ".join(f"{name} {value}" for name, value in last["kl_tables"].items())
    part.in_short(f"divergence of filled tables: {shown}.")


def _rows(found: dict[str, Scores], measure: str) -> Iterator[list[str]]:
    for name, scores in found.items():
        yield [name, *scores[measure].values()]


def _scores(scenario: str, part: Part) -> Scores:
    people, seeds = (40, 1) if part.small else (400, 5)
    cells = [Cell(scenario, people, seed) for seed in range(seeds)]
    measured = [dict(_measured(generated_population(cell))) for cell in cells]
    return {
        measure: {
            name: "not installed"
            if any(each[name] is None for each in measured)
            else f"{1000 * np.mean([each[name][measure] for each in measured]):.3g}"
            for name in measured[0]
        }
        for measure in MEASURES
    }


def _measured(subject: EstimatedPopulation) -> Iterator[tuple[str, dict[str, float] | None]]:
    truth = TruthBeside(subject)
    for name, tables in _tables(subject):
        if tables is None:
            yield name, None
            continue
        yield name, truth.tables(tables) | truth.marginals(joint_of(tables))


def _tables(subject: EstimatedPopulation) -> Iterator[tuple[str, list[Floats] | None]]:
    yield "uniform", uniform(subject)
    yield "pooled", pooled(subject)
    for name, method in NOISY_METHODS.items():
        moved = filled(subject, method)
        graph = moved.graph if method.answers[0] == "one" else moved.averaged()
        yield name, tables_in(graph, subject)
    for name, imputer in IMPUTERS.items():
        try:
            yield name, imputer(subject)
        except ModuleNotFoundError:
            yield name, None
    oracle = CountsOracle(subject)
    yield "oracle", [oracle.tables(place) for place in range(len(subject.places))]


if __name__ == "__main__":
    main()
