"""Latent classes, fitted by EM on rows with gaps: StepMix."""

from __future__ import annotations

from research.league.features import Floats
from research.league.rivals.whole import Gaps, normalised

CLASSES = (2, 4, 8, 16)
MOST_ROWS = 5_000  # to learn from
MOST_STEPS = 50  # of EM


def latent_classes(gaps: Gaps, classes: int) -> list[Floats]:
    """P(cell | the row's other known cells), where a row's cells depend only on its class."""
    from stepmix import StepMix

    cells = gaps.numbers()
    model = StepMix(
        classes, measurement="categorical_nan", max_iter=MOST_STEPS, progress_bar=0, random_state=0
    )
    model.fit(cells[gaps.some(MOST_ROWS)])
    tables = model.get_parameters()["measurement"]["pis"]
    tables = tables.reshape(classes, len(gaps.sizes), -1)
    return [
        normalised(model.predict_proba(cells[asked]) @ tables[:, place, : gaps.sizes[place]])
        for place, asked in enumerate(gaps.asked)
    ]
