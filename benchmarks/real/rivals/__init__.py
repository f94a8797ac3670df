"""Those that predict the same hidden cells as lifagu, each in its usual form, tuned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from features import Floats
from rivals.columns import Learner, every_column
from rivals.learners import BOOSTING, CATBOOST, FOREST, LIGHTGBM
from rivals.pooling import STRENGTHS, frequencies, group_pooling
from sheets import Sheet


@dataclass(frozen=True, eq=False)
class Rival:
    """A way to predict hidden cells.

    predict: for each relation of a sheet a row of probabilities for each of its hidden cells;
    package: what it needs, if not always there; tuning: what was tried to make it good, in a line.
    """

    name: str
    predict: Callable[[Sheet], dict[str, Floats]]
    package: str | None
    tuning: str


def _learners(name: str, learner: Learner, package: str | None, stops: str) -> list[Rival]:
    tuning = f"{len(learner.settings)} settings{stops} on a fifth of the rows, or frequencies"
    return [
        Rival(
            f"{name}{more}",
            partial(every_column, learner=learner, with_features=made),
            package,
            tuning,
        )
        for more, made in (("", False), (" + features", True))
    ]


_ALL = [
    Rival("frequencies", frequencies, None, "none"),
    Rival(
        "group pooling",
        group_pooling,
        None,
        f"each group and pair of groups, {len(STRENGTHS)} strengths, on a fifth of the rows",
    ),
    *_learners("random forest", FOREST, None, ""),
    *_learners("boosting (scikit-learn)", BOOSTING, None, " and when to stop"),
    *_learners("LightGBM", LIGHTGBM, "lightgbm", " and when to stop"),
    *_learners("CatBoost", CATBOOST, "catboost", " and when to stop"),
]

RIVALS = {each.name: each for each in _ALL}
