"""One cell of the paper's evaluation: a ground truth, its holes filled, and one row per query."""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lifagu
from research.drafts import TruthDraft
from research.harness import Cell, Floats, Line, Outcome, Settings, divergence, write_whole
from research.paper.families import employee, epidemic
from research.paper.instances import Generator, Instance
from research.paper.text import similar, text

GENERATORS: dict[str, Generator] = {
    "text": text,
    "similar": similar,
    "employee": employee,
    "epidemic": epidemic,
}
FACTS = (
    *("variables", "factors", "cohorts", "largest_cohort", "unknown", "left", "right"),
    *("variable_groups", "factor_groups", "largest_group", "seconds_transfer", "seconds_lift"),
)
GUESSES = ("dropped", "random donor", "mean table")  # what one could do in place of the transfer


def generated(cell: Cell) -> tuple[Instance, np.random.Generator]:
    """The instance of a cell, and the randomness that is left."""
    rng = np.random.default_rng([zlib.crc32(cell.group.encode()), cell.size, cell.seed])
    return GENERATORS[cell.group](cell.size, rng), rng


def exported(folder: Path, cell: Cell) -> None:
    """The instance as two JSON files: with its holes, and its truth; and what is asked of it."""
    folder.mkdir(parents=True, exist_ok=True)
    instance, _ = generated(cell)
    name = f"{cell.group}-{cell.size}-{cell.seed}"
    lifagu.write(instance.draft.without(instance.hidden), folder / f"{name}.json")
    lifagu.write(instance.draft.graph(), folder / f"{name}.truth.json")
    write_whole(folder / f"{name}.queries.txt", "\n".join(instance.questions) + "\n")


def run(settings: Settings, cell: Cell) -> Outcome:
    """Fill the holes as published, compare with the truth, and time the first queries."""
    instance, rng = generated(cell)
    draft, hidden, questions = instance.draft, instance.hidden, instance.questions
    truth = draft.graph()
    completed, facts = _filled(instance, settings["theta"])
    start = time.process_time()
    lifted = lifagu.lift(completed)
    facts["seconds_lift"] = time.process_time() - start
    ways = dict(zip(GUESSES, guesses(draft, hidden, rng), strict=True))
    expected = _answers(truth, questions)
    far = {
        name: divergence(expected, _answers(graph, questions))
        for name, graph in {
            "transfer": completed,
            **{name: draft.graph(tables) for name, tables in ways.items()},
        }.items()
    }
    touched = {argument for factor in hidden for argument in draft.factors[factor].arguments}
    _seconds(truth, questions[0], "ground")  # the first query of a process pays for more
    _seconds(lifted, questions[0], "lifted")
    rows: list[Line] = []
    for place, question in enumerate(questions):
        row: Line = {"query": question, "touched": question in touched}
        row |= {name: float(each[place]) for name, each in far.items()}
        timed = place < settings["timed"]
        row["seconds_ground"] = _seconds(truth, question, "ground") if timed else None
        row["seconds_lifted"] = _seconds(lifted, question, "lifted") if timed else None
        rows.append(row)
    return Outcome(cell, facts, rows)


def _answers(graph: lifagu.FactorGraph, questions: Sequence[str]) -> Floats:
    """P(question) for each question, one row each, by whatever exact engine is fastest."""
    found = lifagu.marginals(graph)
    return np.array([list(found[question].values()) for question in questions])


def _seconds(
    model: lifagu.FactorGraph | lifagu.ParfactorGraph, question: str, engine: Any
) -> float:
    """CPU seconds of one query: "ground" by variable elimination, "lifted" without grounding."""
    start = time.process_time()
    lifagu.query(model, question, engine=engine)
    return time.process_time() - start


def _filled(instance: Instance, theta: float) -> tuple[lifagu.FactorGraph, dict[str, Any]]:
    """The completed model, and facts about it; what θ leaves unknown is dropped."""
    draft, hidden = instance.draft, instance.hidden
    holed = draft.without(hidden)
    start = time.process_time()
    completed = lifagu.transfer(holed, theta, by="lifagu").graph
    seconds = time.process_time() - start
    found = {factor: completed.factors[factor].table for factor in hidden}
    left = {
        factor: np.ones_like(draft.factors[factor].table)
        for factor in found
        if found[factor] is None
    }
    if left:
        completed = draft.graph({**found, **left})
    colouring = lifagu.colour(completed)
    return completed, {
        "variables": len(draft.variables),
        "factors": len(draft.factors),
        "cohorts": len(instance.cohort_sizes),
        "largest_cohort": max(instance.cohort_sizes),
        "unknown": len(hidden),
        "left": len(left),
        "right": sum(
            table is not None and np.array_equal(table, draft.factors[factor].table)
            for factor, table in found.items()
        ),
        "variable_groups": len(colouring.variable_groups),
        "factor_groups": len(colouring.factor_groups),
        "largest_group": max(map(len, colouring.variable_groups)),
        "seconds_transfer": seconds,
    }


def guesses(
    draft: TruthDraft, hidden: Sequence[int], rng: np.random.Generator
) -> list[dict[int, Floats]]:
    """Unknown factors dropped, from a random possibly identical factor, and the mean of those."""
    places = draft.signatures()
    known = defaultdict(list)
    for factor in sorted(set(range(len(places))) - set(hidden)):
        known[places[factor]].append(draft.factors[factor].table)
    alike = {factor: known[places[factor]] for factor in hidden}
    return [
        {factor: np.ones_like(tables[0]) for factor, tables in alike.items()},
        {factor: tables[rng.integers(len(tables))] for factor, tables in alike.items()},
        {
            factor: np.mean([each / each.sum() for each in _shaped(tables)], axis=0)
            for factor, tables in alike.items()
        },
    ]


def _shaped(tables: Sequence[Floats]) -> list[Floats]:
    """Those that have the shape of the first; axes are compared by position, as in the paper."""
    return [each for each in tables if each.shape == tables[0].shape]
