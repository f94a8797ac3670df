"""Undirected tables learned together: scales found, and multiples of them chosen on hidden cells.

The composite likelihood counts an interaction from both sides, and so trusts it too much. How far
penalties have to be raised for that is told by cells that are hidden: a fifth of what was observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.learning.composite import Composite
from lifagu.learning.group_scales import group_multiples
from lifagu.learning.parameters import Parameters
from lifagu.learning.polishing import STEPS, polished
from lifagu.learning.scales import (
    FIRST,
    LATER,
    ROUNDS,
    Heard,
    Multipliers,
    ScaledFit,
    first_fit,
    fitted,
    multiplied,
    multiplied_kinds,
    next_round,
)
from lifagu.relational.learning_task import LearningSettings

HIDDEN = 0.2  # the share of observed cells that are hidden while choosing
TRIED = {"joint": (2.5, 4.0, 6.0), "condition": (1.0, 1.5, 2.2)}
TURNS = 2  # how often groups' multiples are found
TRIAL, LAST = 25, 50  # steps of each trial, and of the last fit


@dataclass(frozen=True, eq=False)
class Chosen:
    """Parameters, their penalties, how many of each block the data decide upon, and the score.

    hidden: how many cells were; score, baseline: their mean log loss, and that of frequencies;
    without: by table how much is lost without it, in nats a hidden cell.
    """

    vector: Floats
    penalty: Floats
    effective: Floats
    hidden: int
    score: float
    baseline: float
    without: Floats


def chosen(
    parameters: Parameters,
    settings: LearningSettings,
    latest: dict[str, Floats],
    heard: Heard | None = None,
) -> Chosen:
    """Learn the tables of some parameters together; latest: takes what is found meanwhile."""
    parameters = parameters.smoothed
    values = [each.values for each in parameters.task.relations]
    random = settings.random("hiding")
    told = [at_most(each, settings.sample, random) for each in values]
    hidden = [hidden_labels(each, random) for each in values]
    seen = [np.where(each >= 0, -1, label) for each, label in zip(hidden, values, strict=True)]
    asked = [at_most(each, settings.sample, random) for each in hidden]

    scaled = _scaled(Composite.of(parameters, values, told), latest, heard)
    parameters = parameters.mixed(scaled.mixings)
    test = Composite.of(parameters, seen, asked)
    known = [at_most(each, settings.sample, random) for each in seen]
    trial = Composite.of(parameters, seen, known)
    penalty, vector = _multiplied(trial, test, scaled.penalty, heard)
    score, baseline = _mean(test.losses(vector)), _frequencies(seen, test)
    without = test.losses_without(vector) / max(test.count, 1)

    whole = Composite.of(parameters, values)
    latest["vector"] = vector = fitted(whole, penalty, scaled.vector, LAST, heard)
    if sum(len(values[each]) for each in parameters.task.asked) <= settings.polished:
        vector = polished(parameters, vector, penalty, settings.random("chains"), heard)
        latest["vector"] = vector
    plain = parameters.unmixed(vector)
    return Chosen(plain, penalty, scaled.effective, test.count, score, baseline, without)


def steps_in_all() -> int:
    """About how many steps `chosen` takes, for those who wait."""
    trials = sum(len(each) - 1 for each in TRIED.values())
    return 2 * FIRST + ROUNDS * LATER + (trials + TURNS) * TRIAL + LAST + STEPS


def hidden_labels(values: Ints, random: np.random.Generator) -> Ints:
    """The labels of some observed cells, which are to be hidden; -1 for all others."""
    return np.where((random.random(len(values)) < HIDDEN) & (values >= 0), values, -1)


def at_most(labels: Ints, many: int, random: np.random.Generator) -> Ints:
    """The labels of so many observed cells at most, chosen at random; -1 for the others."""
    cells = np.flatnonzero(labels >= 0)
    if len(cells) <= many:
        return labels
    found = np.full_like(labels, -1)
    kept = random.choice(cells, many, replace=False)
    found[kept] = labels[kept]
    return found


def _scaled(composite: Composite, latest: dict[str, Floats], heard: Heard | None) -> ScaledFit:
    """A scale for each table, found in rounds."""
    fit = ScaledFit(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))
    for number in range(ROUNDS + 1):
        fit = next_round(composite, fit, heard) if number else first_fit(composite, heard)
        latest |= {field.name: getattr(fit, field.name) for field in fields(ScaledFit)}
    return fit


def _multiplied(
    trial: Composite, test: Composite, penalty: Floats, heard: Heard | None
) -> tuple[Floats, Floats]:
    """Penalties with which hidden cells are told best, and the parameters that they lead to."""
    best, vector = _multipliers(trial, test, penalty, heard)
    penalty = multiplied(trial.parameters, penalty, best)
    for _ in range(TURNS):
        by = group_multiples(test, vector, penalty, trial.curvature(vector))
        if (by == 1).all():
            break
        sizes = [block.stop - block.start for block in trial.parameters.blocks]
        penalty = penalty * np.repeat(by, sizes)
        vector = fitted(trial, penalty, vector, TRIAL, heard)
    return penalty, vector


def _multipliers(
    trial: Composite, test: Composite, penalty: Floats, heard: Heard | None
) -> tuple[Multipliers, Floats]:
    """Those with which hidden cells are told best, one after the other, and their parameters."""
    known: dict[Multipliers, tuple[float, Floats]] = {}
    parameters = trial.parameters

    def tried(by: Multipliers, start: Floats, steps: int) -> float:
        if by not in known:
            penalties = multiplied(parameters, penalty, by)
            vector = fitted(trial, penalties, start, steps, heard)
            known[by] = _mean(test.losses(vector)), vector
        return known[by][0]

    best = Multipliers()
    tried(best, np.zeros(parameters.size), FIRST)
    there = multiplied_kinds(parameters)
    for name in TRIED:
        if name in there:
            start = known[best][1]
            choices = [replace(best, **{name: each}) for each in TRIED[name]]
            best = min(choices, key=lambda by: tried(by, start, TRIAL))
    return best, known[best][1]


def _mean(losses: Sequence[Floats]) -> float:
    every = np.concatenate([np.zeros(0), *losses])
    return float(every.mean()) if len(every) else float("nan")


def _frequencies(seen: Sequence[Ints], test: Composite) -> float:
    """The mean log loss of hidden cells if all that is known is how often each label was seen."""
    losses = []
    for each in test.told:
        counts = np.bincount(seen[each.relation][seen[each.relation] >= 0], minlength=each.size)
        shares = np.maximum(counts / max(counts.sum(), 1), 1e-4)
        losses.append(-np.log(shares / shares.sum())[each.labels])
    return _mean(losses)
