"""Those that predict the same hidden cells as lifagu, each in its usual form, tuned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from research.league.features import Floats
from research.league.rivals.columns import MOST_TUNED, Learner, every_column
from research.league.rivals.imputers import (
    LEAVES,
    NEIGHBOURS,
    chained_equations,
    chained_trees,
    nearest,
)
from research.league.rivals.latent import CLASSES, latent_classes
from research.league.rivals.learners import CATBOOST, FOREST, LIGHTGBM, QUICK_BOOSTING
from research.league.rivals.networks import (
    AGRUM_WEIGHTS,
    PGMPY_WEIGHTS,
    agrum_network,
    pgmpy_network,
)
from research.league.rivals.pooling import STRENGTHS, frequencies, group_pooling
from research.league.rivals.whole import Impute, whole_sheet
from research.league.sheets import Sheet


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
    rows = f"a fifth of the rows (learned from {MOST_TUNED:,} others at most), or frequencies"
    tuning = f"{len(learner.settings)} settings{stops} on {rows}"
    return [
        Rival(
            f"{name}{more}",
            partial(every_column, learner=learner, with_features=made),
            package,
            tuning,
        )
        for more, made in (("", False), (" + features", True))
    ]


def _whole(
    name: str, impute: Impute, settings: Sequence[Any], what: str, package: str | None = None
) -> Rival:
    tuning = f"{what}, share of frequencies mixed in, on a fifth of the cells"
    return Rival(name, partial(whole_sheet, impute=impute, settings=settings), package, tuning)


_ALL = [
    Rival("frequencies", frequencies, None, "none"),
    Rival(
        "group pooling",
        group_pooling,
        None,
        f"each group and pair of groups, {len(STRENGTHS)} strengths, on a fifth of the rows",
    ),
    *_learners("random forest", FOREST, None, ""),
    *_learners("boosting (scikit-learn)", QUICK_BOOSTING, None, " and when to stop"),
    *_learners("LightGBM", LIGHTGBM, "lightgbm", " and when to stop"),
    *_learners("CatBoost", CATBOOST, "catboost", " and when to stop"),
    _whole("KNNImputer", nearest, NEIGHBOURS, f"{len(NEIGHBOURS)} numbers of neighbours"),
    _whole("IterativeImputer with trees", chained_trees, LEAVES, f"{len(LEAVES)} sizes of leaves"),
    _whole(
        "miceforest", chained_equations, (None,), "few trees and rounds, not tuned", "miceforest"
    ),
    _whole(
        "latent classes (EM)",
        latent_classes,
        CLASSES,
        f"{len(CLASSES)} numbers of classes",
        "stepmix",
    ),
    _whole(
        "pyAgrum",
        agrum_network,
        AGRUM_WEIGHTS,
        f"{len(AGRUM_WEIGHTS)} strengths of smoothing",
        "pyagrum",
    ),
    _whole(
        "pgmpy",
        pgmpy_network,
        PGMPY_WEIGHTS,
        f"{len(PGMPY_WEIGHTS)} strengths of smoothing",
        "pgmpy",
    ),
]

RIVALS = {each.name: each for each in _ALL}
