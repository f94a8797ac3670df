"""Those that predict the same hidden cells as lifagu, each in its usual form, tuned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from research.harness import Floats
from research.league.pooling import frequencies, group_pooling
from research.league.sheets import Sheet

# for each relation of a sheet a row of probabilities for each of its hidden cells
Predict = Callable[[Sheet], dict[str, Floats]]


def _learner(name: str, with_features: bool, sheet: Sheet) -> dict[str, Floats]:
    """A learner for each column; what it needs is imported only where it runs."""
    from research.league.columns import every_column

    learner = getattr(import_module("research.league.learners"), name)
    return every_column(sheet, learner, with_features)


RIVALS: dict[str, Predict] = {
    "frequencies": frequencies,
    "group pooling": group_pooling,
    **{
        f"{title}{more}": partial(_learner, name, made)
        for title, name in (
            ("random forest", "FOREST"),
            ("LightGBM", "LIGHTGBM"),
            ("CatBoost", "CATBOOST"),
        )
        for more, made in (("", False), (" + features", True))
    },
}
