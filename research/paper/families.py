"""The two families of ground truths that the authors used: Boolean, with one shared variable.

Cohorts come about by adding a constant to every entry of one table: ±k/10 with k = 1 for half of
the individuals and otherwise evenly from 2, …, c, where c is 3, 4 or 5, and the sign by the toss of
a coin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import lifagu
from research.drafts import DraftFactor, DraftVariable, Floats, TruthDraft
from research.paper.instances import LEAST, MOST, Instance, hide_by_group

ENTRIES = (0.5, 1.0, 1.0, 1.5)


def employee(d: int, rng: np.random.Generator) -> Instance:
    """Rev, and for each person Com and Sal.

    f_com(Com) = (1, 1) plus the cohort's constant, f_rev(Com, Rev), f_sal(…).

    A constant added to (1, 1) changes no distribution, so the cohorts differ in their tables only.
    """
    shifts = _shifts(d, rng)
    with_rev, with_salary = _drawn((2, 2), rng), _drawn((2, 2, 2), rng)
    variables, factors = [DraftVariable("Rev")], []
    for person, shift in enumerate(shifts.tolist(), 1):
        competence, salary = f"Com.{person}", f"Sal.{person}"
        variables += [DraftVariable(competence), DraftVariable(salary)]
        factors += [
            DraftFactor(f"f_com.{person}", (competence,), np.ones(2) + shift),
            DraftFactor(f"f_rev.{person}", (competence, "Rev"), with_rev),
            DraftFactor(f"f_sal.{person}", (competence, "Rev", salary), with_salary),
        ]
    return _instance(TruthDraft(tuple(variables), tuple(factors)), shifts, "Com", rng)


def epidemic(d: int, rng: np.random.Generator) -> Instance:
    """Epid, and for each person Travel, Sick and Treat.

    f1(Travel, Sick, Epid), f2(Treat, Sick) plus the cohort's constant.

    0.5 − 5/10 is a potential of zero, which the paper excludes but the recipe allows; a table that
    would hold nothing else is drawn again.
    """
    shifts = _shifts(d, rng)
    spread, treated = _drawn((2, 2, 2), rng), _drawn((2, 2), rng)
    while treated.max() + shifts.min() <= 0:
        treated = _drawn((2, 2), rng)
    variables, factors = [DraftVariable("Epid")], [DraftFactor("f0", ("Epid",), np.ones(2))]
    for person, shift in enumerate(shifts.tolist(), 1):
        travel, sick, treat = f"Travel.{person}", f"Sick.{person}", f"Treat.{person}"
        variables += [DraftVariable(travel), DraftVariable(sick), DraftVariable(treat)]
        factors += [
            DraftFactor(f"f1.{person}", (travel, sick, "Epid"), spread),
            DraftFactor(f"f2.{person}", (treat, sick), treated + shift),
        ]
    return _instance(TruthDraft(tuple(variables), tuple(factors)), shifts, "Sick", rng)


def _instance(draft: TruthDraft, shifts: Floats, asked: str, rng: np.random.Generator) -> Instance:
    truth = draft.graph()
    groups = _members(lifagu.colour(truth).factor_colours)
    # two individuals that differ make everything different: equal tables then
    if max(map(len, groups)) == 1:
        groups = _members(truth.factor_table)
    count = int(np.ceil(rng.uniform(LEAST, MOST) * len(draft.factors)))
    hidden = hide_by_group(groups, count, rng)
    questions = tuple(f"{asked}.{person}" for person in range(1, len(shifts) + 1))
    _, sizes = np.unique(shifts, return_counts=True)
    return Instance(draft, tuple(sizes.tolist()), hidden, questions)


def _members(colours: NDArray[np.int64]) -> list[list[int]]:
    return [np.flatnonzero(colours == colour).tolist() for colour in range(int(colours.max()) + 1)]


def _shifts(d: int, rng: np.random.Generator) -> Floats:
    """What is added for each individual; drawn again until k differ: three, or d if less."""
    cohorts = int(rng.integers(3, 6))
    chances = [0.5, *[0.5 / (cohorts - 1)] * (cohorts - 1)]
    index = rng.choice(cohorts, size=d, p=chances)
    while len(np.unique(index)) < min(3, d):
        index = rng.choice(cohorts, size=d, p=chances)
    shifts: Floats = rng.choice([-1, 1], size=d) * (index + 1) / 10
    return shifts


def _drawn(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return rng.choice(ENTRIES, size=shape)
