"""Ground truths as the paper's text describes them, to the letter, in the plainest graph.

The text asks for 2d to 3d variables and as many factors, and three to five cohorts of variables,
one of which holds about half of them all while the others share the rest evenly at random; it names
neither a structure nor the distribution of potentials. Here one variable is shared by all: each
other one is linked to it by a factor with its cohort's table, and the shared one has a factor of
its own, so there are as many factors as variables. Potentials are drawn evenly from (0, 1].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from research.drafts import DraftFactor, DraftVariable, Floats, TruthDraft
from research.paper.instances import Instance, five_to_ten_percent, hide_by_place

SHARED = "R0"
SIMILAR = 0.1  # how far the potentials of similar cohorts are apart, as a share


def text(d: int, rng: np.random.Generator) -> Instance:
    """Cohorts whose tables have nothing to do with one another."""
    return _instance(d, rng, similar=None)


def similar(d: int, rng: np.random.Generator) -> Instance:
    """Cohorts that "behave not completely different": potentials within 10 % of a common table."""
    return _instance(d, rng, similar=SIMILAR)


def _instance(d: int, rng: np.random.Generator, similar: float | None) -> Instance:
    cohort = _cohorts(d, rng)
    tables = _tables(int(cohort.max()) + 1, rng, similar)
    names = [f"R{number}" for number in range(1, len(cohort) + 1)]
    factors = [DraftFactor("f0", (SHARED,), _potentials((2,), rng))]
    factors += [
        DraftFactor(f"f{number}", (name, SHARED), tables[each])
        for number, (name, each) in enumerate(zip(names, cohort.tolist(), strict=True), 1)
    ]
    draft = TruthDraft(tuple(map(DraftVariable, [SHARED, *names])), tuple(factors))
    hidden = hide_by_place(draft.signatures(), five_to_ten_percent(len(factors), rng), rng)
    questions = rng.choice([SHARED, *names], size=d, replace=False).tolist()
    return Instance(draft, tuple(np.bincount(cohort).tolist()), hidden, tuple(questions))


def _cohorts(d: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Each variable's cohort, in random order: the first has half of all, none is empty."""
    # four, of which one is shared, cannot be three cohorts
    variables = int(rng.integers(max(2 * d, 5), 3 * d + 1))
    first = variables // 2
    rest = variables - 1 - first
    others = int(rng.integers(2, min(4, rest) + 1))
    drawn = np.concatenate([np.arange(others), rng.integers(others, size=rest - others)])
    return rng.permutation(np.concatenate([np.zeros(first, dtype=np.int64), 1 + drawn]))


def _tables(count: int, rng: np.random.Generator, similar: float | None) -> list[Floats]:
    if similar is None:
        return [_potentials((2, 2), rng) for _ in range(count)]
    common = _potentials((2, 2), rng)
    return [common * rng.uniform(1 - similar, 1 + similar, size=(2, 2)) for _ in range(count)]


def _potentials(shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    return 1.0 - rng.random(shape)
