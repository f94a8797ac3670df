"""Imputers of scikit-learn and miceforest, on cells in 0 and 1 or in categories."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from research.league.features import Floats
from research.league.rivals.whole import Gaps, normalised

NEIGHBOURS = (10, 30, 100)
MOST_NEAR = 4_000  # rows among which neighbours are
LEAVES = (5, 20)  # least rows of a leaf of chained trees
MOST_CHAINED = 3_000  # rows that chained trees learn from
FILLING, TELLING = 10, 100  # trees of a column while gaps are filled, and of one that is asked
DATASETS, CHAINS = 3, 2  # imputed data sets, and how often each goes over all columns
MOST_IMPUTED = 5_000  # rows that miceforest learns from
LIGHT = {"num_iterations": 30, "num_threads": 1}  # of its boosted trees


def nearest(gaps: Gaps, neighbours: int) -> list[Floats]:
    """Shares of labels among the nearest rows, by scikit-learn's KNNImputer."""
    cells, rows = gaps.one_hot() / np.sqrt(2), gaps.rows  # two labels are 1 apart
    imputer = KNNImputer(n_neighbors=neighbours, weights="distance", keep_empty_features=True)
    filled = imputer.fit(cells[gaps.some(MOST_NEAR)]).transform(cells[rows])
    return gaps.parted(filled, rows)


def chained_trees(gaps: Gaps, leaf: int) -> list[Floats]:
    """Shares of labels in trees, from all other columns as scikit-learn's IterativeImputer fills.

    Columns are filled as numbers of labels: a column for each label would tell its siblings.
    """
    cells, rows, learned = gaps.numbers(), gaps.rows, gaps.some(MOST_CHAINED)
    settings = {"min_samples_leaf": leaf, "max_features": 0.3, "n_jobs": 1, "random_state": 0}
    imputer = IterativeImputer(
        ExtraTreesRegressor(FILLING, **settings),
        max_iter=2,
        n_nearest_features=40,
        skip_complete=True,
        keep_empty_features=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few rounds, as said
        filled = imputer.fit_transform(cells[learned])
    filled_rows, found = imputer.transform(cells[rows]), []
    for place, asked in enumerate(gaps.asked):
        known = gaps.codes[learned, place] >= 0
        model = ExtraTreesClassifier(TELLING, **settings)
        model.fit(np.delete(filled[known], place, 1), gaps.codes[learned[known], place])
        told = np.zeros((len(asked), gaps.sizes[place]))
        others = np.delete(filled_rows[np.searchsorted(rows, asked)], place, 1)
        told[:, model.classes_] = model.predict_proba(others)
        found.append(normalised(told))
    return found


def chained_equations(gaps: Gaps, _: None) -> list[Floats]:
    """Probabilities of labels from miceforest's last models, over several imputed data sets."""
    import miceforest

    frame = _categories(gaps)
    learned = frame.iloc[gaps.some(MOST_IMPUTED)].reset_index(drop=True)
    kernel = miceforest.ImputationKernel(
        learned, DATASETS, mean_match_strategy="fast", random_state=0
    )
    kernel.mice(CHAINS, **LIGHT)
    rows = gaps.rows
    asked = frame.iloc[rows].reset_index(drop=True)
    imputed = kernel.impute_new_data(asked, random_state=0)
    completed = [imputed.complete_data(dataset) for dataset in range(DATASETS)]
    return [
        normalised(
            np.mean(
                [
                    _told(kernel, place, number, each.iloc[np.searchsorted(rows, cells)])
                    for number, each in enumerate(completed)
                ],
                axis=0,
            )
        )
        for place, cells in enumerate(gaps.asked)
    ]


def _categories(gaps: Gaps) -> Any:
    """Columns of categories, with gaps."""
    return pd.DataFrame(
        {
            f"c{place}": pd.Categorical.from_codes(column, categories=list(range(size)))
            for place, (column, size) in enumerate(zip(gaps.codes.T, gaps.sizes, strict=True))
        }
    )


def _told(kernel: Any, place: int, dataset: int, rows: Any) -> Floats:
    """What a target's last model tells of rows whose other cells are filled."""
    column = f"c{place}"
    told: Floats = kernel.get_model(column, dataset).predict(rows.drop(columns=column))
    return told if told.ndim == 2 else np.column_stack((1 - told, told))
