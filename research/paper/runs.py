"""One cell of the paper's experiment: a ground truth, its holes filled, and one row per query."""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

import lifagu
from lifagu.basics.choices import EngineName
from research.campaign import Cell, Outcome, Settings
from research.divergence import divergence
from research.drafts import Floats, TruthDraft
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
    *("variables", "factors", "cohorts", "largest_cohort", "unknown", "right"),
    *("variable_groups", "factor_groups", "largest_group", "seconds_transfer", "seconds_lift"),
)
COLUMNS = (
    *("query", "touched", "kl", "kl_random_donor", "kl_ones"),
    *("seconds_ground", "seconds_lifted"),
)


def generated(cell: Cell) -> tuple[Instance, np.random.Generator]:
    """The instance of a cell, and the randomness that is left."""
    rng = np.random.default_rng([zlib.crc32(cell.group.encode()), cell.size, cell.seed])
    return GENERATORS[cell.group](cell.size, rng), rng


def run(settings: Settings, cell: Cell) -> Outcome:
    """Fill the holes as published (θ = 0), compare with the truth, time the first queries."""
    instance, rng = generated(cell)
    draft, hidden, questions = instance.draft, instance.hidden, instance.questions
    truth = draft.graph()
    moved, lifted, facts = _filled(instance)
    expected = _answers(truth, questions)
    ones = {factor: np.ones_like(draft.factors[factor].table) for factor in hidden}
    donors = random_donors(draft, hidden, rng)
    divergences = [
        divergence(expected, _answers(graph, questions))
        for graph in (moved.graph, draft.graph(donors), draft.graph(ones))
    ]
    touched = {argument for factor in hidden for argument in draft.factors[factor].arguments}
    # the first query of a process pays for more than itself
    engines: dict[EngineName, lifagu.FactorGraph | lifagu.ParfactorGraph] = {
        "ground": truth,
        "lifted": lifted,
    }
    for engine, model in engines.items():
        _seconds(model, questions[0], engine)
    rows = []
    for place, question in enumerate(questions):
        seconds: list[float | None] = [None, None]
        if place < settings["timed"]:
            seconds = [_seconds(model, question, engine) for engine, model in engines.items()]
        distances = [float(each[place]) for each in divergences]
        values = (question, question in touched, *distances, *seconds)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return Outcome(cell, facts, rows)


def _answers(graph: lifagu.FactorGraph, questions: Sequence[str]) -> Floats:
    """P(question) for each question, one row each, by whatever exact engine is fastest."""
    found = lifagu.marginals(graph)
    return np.array([list(found[question].values()) for question in questions])


def _seconds(
    model: lifagu.FactorGraph | lifagu.ParfactorGraph, question: str, engine: EngineName
) -> float:
    """CPU seconds of one query: "ground" by variable elimination, "lifted" without grounding."""
    start = time.process_time()
    lifagu.query(model, question, engine=engine)
    return time.process_time() - start


def _filled(instance: Instance) -> tuple[lifagu.Transfer, lifagu.ParfactorGraph, dict[str, Any]]:
    """The holes filled, the completed model lifted, and the facts about both."""
    draft, hidden = instance.draft, instance.hidden
    holed = draft.without(hidden)
    start = time.process_time()
    moved = lifagu.transfer(holed, 0.0, published=True)
    completed = moved.graph
    filled = time.process_time()
    lifted = lifagu.lift(moved)
    end = time.process_time()
    colouring = lifagu.colour(completed)
    facts = {
        "variables": len(draft.variables),
        "factors": len(draft.factors),
        "cohorts": len(instance.cohort_sizes),
        "largest_cohort": max(instance.cohort_sizes),
        "unknown": len(hidden),
        "right": right_tables(draft, completed, hidden),
        "variable_groups": len(colouring.variable_groups),
        "factor_groups": len(colouring.factor_groups),
        "largest_group": max(map(len, colouring.variable_groups)),
        "seconds_transfer": filled - start,
        "seconds_lift": end - filled,
    }
    return moved, lifted, facts


def random_donors(
    draft: TruthDraft, hidden: tuple[int, ...], rng: np.random.Generator
) -> dict[int, Floats]:
    """For each unknown factor the table of a known one that is possibly identical, whichever."""
    places = draft.signatures()
    known = defaultdict(list)
    for factor in sorted(set(range(len(places))) - set(hidden)):
        known[places[factor]].append(factor)
    return {factor: draft.factors[rng.choice(known[places[factor]])].table for factor in hidden}


def right_tables(draft: TruthDraft, completed: lifagu.FactorGraph, hidden: tuple[int, ...]) -> int:
    """How many unknown factors got the table they had."""
    pairs = ((completed.factors[factor].table, draft.factors[factor].table) for factor in hidden)
    return sum(filled is not None and np.array_equal(filled, truth) for filled, truth in pairs)
