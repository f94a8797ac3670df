"""The usual learners of a single column: forests and two kinds of boosted trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from research.league.columns import Learner, Rows, Setting
from research.league.features import Floats, Ints

MOST_ROUNDS, PATIENCE = 300, 10
TREES = 100
DRAWN = 40  # features that each split of CatBoost is chosen from, by chance
MOST_ONE_HOT = 30  # labels of a category; CatBoost counts targets for those with more


# ---- forests


def _fit_forest(setting: Setting, rows: Rows, _: list[bool], __: Rows | None) -> Any:
    """Codes of categories are numbers to a forest."""
    model = RandomForestClassifier(TREES, **setting, n_jobs=1, random_state=0)
    return model.fit(rows.features, rows.values)


def _no_rounds(_: Any) -> Setting:
    return {}


FOREST = Learner(
    tuple(
        {"min_samples_leaf": leaf, "max_features": share}
        for leaf, share in ((1, "sqrt"), (5, "sqrt"), (5, 0.3), (20, 0.3))
    ),
    _fit_forest,
    _no_rounds,
)


# ---- LightGBM


def _fit_lightgbm(setting: Setting, rows: Rows, categories: list[bool], stop: Rows | None) -> Any:
    import lightgbm

    model = lightgbm.LGBMClassifier(
        **{"n_estimators": MOST_ROUNDS, **setting},
        min_child_samples=5,
        n_jobs=1,
        random_state=0,
        deterministic=True,
        verbosity=-1,
    )
    seen: Mapping[str, Any] = {}
    if stop is not None:
        patience = lightgbm.early_stopping(PATIENCE, verbose=False)
        seen = {"eval_set": [(stop.features, stop.values)], "callbacks": [patience]}
    places = np.flatnonzero(categories).tolist()
    return model.fit(rows.features, rows.values, categorical_feature=places, **seen)


def _lightgbm_rounds(model: Any) -> Setting:
    return {"n_estimators": max(1, model.best_iteration_)}


LIGHTGBM = Learner(
    tuple(
        {"learning_rate": rate, "num_leaves": leaves, "reg_lambda": 5.0}
        for rate, leaves in product((0.05, 0.15), (6, 24))
    ),
    _fit_lightgbm,
    _lightgbm_rounds,
)


# ---- CatBoost


@dataclass(frozen=True, eq=False)
class _WithCategories:
    """A model of CatBoost that is given matrices, with codes of categories as its own."""

    model: Any
    categories: list[bool]

    @property
    def classes_(self) -> Ints:
        return np.asarray(self.model.classes_, dtype=np.int64)

    def predict_proba(self, features: Floats) -> Floats:
        told: Floats = self.model.predict_proba(_frame(features, self.categories))
        return told


def _frame(features: Floats, categories: list[bool]) -> Any:
    """Columns of numbers and of categories, with -1 for a category that is unknown."""
    columns = {
        place: np.nan_to_num(column, nan=-1.0).astype(np.int64) if is_category else column
        for place, (column, is_category) in enumerate(zip(features.T, categories, strict=True))
    }
    return pd.DataFrame(columns)


def _fit_catboost(setting: Setting, rows: Rows, categories: list[bool], stop: Rows | None) -> Any:
    import catboost

    model = catboost.CatBoostClassifier(
        **{"iterations": MOST_ROUNDS, **setting},
        rsm=min(1.0, DRAWN / len(categories)),
        one_hot_max_size=MOST_ONE_HOT,
        max_ctr_complexity=1,
        border_count=32,
        cat_features=np.flatnonzero(categories).tolist(),
        od_type="Iter",
        od_wait=PATIENCE,
        thread_count=1,
        random_seed=0,
        allow_writing_files=False,
        verbose=False,
    )
    seen = None if stop is None else (_frame(stop.features, categories), stop.values)
    model.fit(_frame(rows.features, categories), rows.values, eval_set=seen)
    return _WithCategories(model, categories)


def _catboost_rounds(fitted: _WithCategories) -> Setting:
    return {"iterations": fitted.model.best_iteration_ + 1}


CATBOOST = Learner(
    ({"learning_rate": 0.15, "depth": 4}, {"learning_rate": 0.15, "depth": 6}),
    _fit_catboost,
    _catboost_rounds,
)
