"""The peer: gradient boosting for each column, tuned, on the cells that `lifagu validate` hid.

    python benchmarks/real/boosting.py TEMPLATE CELLS.csv SOURCE [--database NAME]

scikit-learn's HistGradientBoostingClassifier, one for each relation, from the raw columns around
the row (see `features`) and rates of its groups, counted out of fold. A fifth of the training rows
is held out to stop early and to choose among the settings of GRID and plain frequencies; then the
model is fitted again on all of them. Hidden cells are seen by nobody.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from databases import DATABASES
from features import Column, Known, folds, rates
from loading import Pointer
from raw_tables import Raw, Target, Told, hide, read_cells, targets
from scores import clipped_losses

GRID = tuple(
    {"learning_rate": rate, "max_leaf_nodes": leaves, "l2_regularization": penalty}
    for rate, leaves, penalty in product((0.05, 0.15), (6, 24), (1.0, 20.0))
)
MOST_ROUNDS, PATIENCE = 300, 10
MOST_TUNED, MOST_HELD, MOST_FITTED = (
    5_000,
    2_000,
    50_000,
)  # training rows; of more, chance picks so many
MOST_FEATURES = 1_000  # those that are known most often
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Boosted:
    """What is told of one relation's hidden cells: by frequencies, and by boosting; seconds."""

    told: Told
    frequencies: Floats
    probabilities: Floats
    seconds: float
    setting: str


def boosted(
    raw: Raw, pointers: Sequence[Pointer], template: dict[str, Any], cells: Sequence[Told]
) -> Iterator[Boosted | str]:
    """Each relation's cells predicted, or in a word why that cannot be."""
    found = targets(raw, template, cells)
    yield from (each for each in found if isinstance(each, str))
    able = [each for each in found if isinstance(each, Target)]
    known = Known(hide(raw.tables, able), tuple(pointers), raw.tables)
    for target in able:
        yield _one(known, target)


def _one(known: Known, target: Target) -> Boosted:
    start = time.perf_counter()
    labels = len(target.told.labels)
    counts = np.bincount(target.values, minlength=labels)
    common = np.tile(counts / max(1, counts.sum()), (len(target.asked), 1))
    if np.count_nonzero(counts) < 2 or counts.sum() < 10:
        return Boosted(target.told, common, common, time.perf_counter() - start, "frequencies")
    target = _limited(target)
    features = known.features(target.table, target.columns)
    groups = known.groups(target.table, target.columns)
    fold = folds(len(target.rows), 0)
    trained, asked, categories = _matrices(features, groups, target, fold, labels)
    setting = _tuned(trained, target.values, fold == 0, categories, labels)
    if setting is None:
        return Boosted(target.told, common, common, time.perf_counter() - start, "frequencies")
    model = _model(setting, categories, early_stopping=False)
    model.fit(trained, target.values)
    told = _spread(model, asked, labels)
    said = ", ".join(f"{name} {value:g}" for name, value in setting.items())
    return Boosted(target.told, common, told, time.perf_counter() - start, said)


def _limited(target: Target) -> Target:
    """No more training rows than the peer is given."""
    if len(target.rows) <= MOST_FITTED:
        return target
    kept = np.sort(np.random.default_rng(0).choice(len(target.rows), MOST_FITTED, replace=False))
    return Target(
        *(target.told, target.table, target.columns),
        *(target.rows[kept], target.values[kept], target.asked),
    )


def _matrices(
    features: Sequence[Column], groups: Sequence[Any], target: Target, fold: Any, labels: int
) -> tuple[Floats, Floats, list[bool]]:
    """Features of training rows and of asked ones, and which are categories."""
    shares = [float(np.isfinite(each.values[target.rows]).mean()) for each in features]
    order = np.argsort(shares, kind="stable")[::-1][:MOST_FEATURES]
    kept = [features[place] for place in sorted(order.tolist()) if shares[place] > 0]
    pairs = [rates(each, target.rows, target.values, labels, fold, target.asked) for each in groups]
    trained = np.column_stack(
        [*(each.values[target.rows] for each in kept), *(own for own, _ in pairs)]
        or [np.zeros(len(target.rows))]
    )
    asked = np.column_stack(
        [*(each.values[target.asked] for each in kept), *(other for _, other in pairs)]
        or [np.zeros(len(target.asked))]
    )
    categories = [each.is_category for each in kept]
    return trained, asked, categories + [False] * (trained.shape[1] - len(categories))


def _tuned(
    features: Floats, values: Any, held: NDArray[np.bool_], categories: list[bool], labels: int
) -> dict[str, float] | None:
    """The setting that tells held-out rows best, with its rounds; None if frequencies do."""
    train, test = _some(np.flatnonzero(~held), MOST_TUNED), _some(np.flatnonzero(held), MOST_HELD)
    test = test[np.isin(values[test], values[train])]
    counts = np.bincount(values[train], minlength=labels)
    if not len(test) or np.count_nonzero(counts) < 2:
        return None
    known = np.isfinite(features[train]).any(0)
    features, categories = features[:, known], np.array(categories)[known].tolist()
    usual = np.tile(counts / counts.sum(), (len(test), 1))
    best, setting = float(clipped_losses(usual, values[test]).mean()), None
    for each in GRID:
        model = _model(each, categories, early_stopping=True)
        model.fit(features[train], values[train], X_val=features[test], y_val=values[test])
        told = _spread(model, features[test], labels)
        loss = float(clipped_losses(told, values[test]).mean())
        if loss < best:
            best, setting = loss, {**each, "max_iter": _rounds(model)}
    return setting


def _some(rows: Any, most: int) -> Any:
    """As many rows, picked by chance: neighbours in a file are often alike."""
    return np.random.default_rng(0).permutation(rows)[:most]


def _rounds(model: Any) -> int:
    """After how many rounds held-out rows were told best."""
    return max(1, int(np.argmax(model.validation_score_[1:])) + 1)


def _model(setting: dict[str, float], categories: list[bool], early_stopping: bool) -> Any:
    return HistGradientBoostingClassifier(
        **{"max_iter": MOST_ROUNDS, **setting},
        categorical_features=categories,
        early_stopping=early_stopping,
        n_iter_no_change=PATIENCE,
        min_samples_leaf=5,
        random_state=0,
    )


def _spread(model: Any, features: Floats, labels: int) -> Floats:
    """Probabilities of all labels, those never seen in training 0."""
    found = np.zeros((len(features), labels))
    found[:, model.classes_] = model.predict_proba(features)
    return found


def main() -> None:
    """Print a row for each relation."""
    parser = argparse.ArgumentParser(description="Tuned boosting on hidden cells")
    parser.add_argument("template", type=Path)
    parser.add_argument("cells", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--database", choices=DATABASES, help="whose foreign keys to use")
    options = parser.parse_args()
    pointers = DATABASES[options.database].pointers if options.database else ()
    template = json.loads(options.template.read_text())
    warnings.simplefilter("ignore", UserWarning)
    for each in boosted(Raw(options.source), pointers, template, read_cells(options.cells)):
        if isinstance(each, str):
            print(each)
            continue
        told = (each.frequencies, each.probabilities, each.told.probabilities)
        losses = [clipped_losses(one, each.told.truth).mean() for one in told]
        print(
            f"{each.told.relation}: {len(each.told.truth)} cells, frequencies {losses[0]:.3f}, "
            f"boosting {losses[1]:.3f}, lifagu {losses[2]:.3f}, {each.seconds:.1f} s, "
            f"{each.setting}",
            flush=True,
        )


if __name__ == "__main__":
    main()
