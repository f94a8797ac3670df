"""A learner for each column, tuned on training rows held out.

A fifth of the training rows is held out to stop early and to choose among a learner's settings and
plain frequencies; then it is fitted again on all of them. Hidden cells are seen by nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.league.features import Column, Floats, Ints, folds, rates
from research.league.pooling import common
from research.league.raw_tables import Target
from research.league.scores import clipped_losses
from research.league.sheets import Sheet

# training rows; of more, chance picks so many
MOST_TUNED, MOST_HELD, MOST_FITTED = 50_000, 10_000, 50_000
MOST_FEATURES = 150  # those that tell most about the label, each alone
BINS = 8  # of a number, to see how much it tells
LEAST_ROWS = 10  # training rows; with fewer there is nothing to tune on
Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to learn from: their features, NaN where unknown, and the numbers of their labels."""

    features: Floats
    values: Ints


@dataclass(frozen=True, eq=False)
class Learner:
    """A classifier of rows.

    settings: those to be tried; fit: a model from a setting, rows, which features are categories,
    and rows to stop early on, if any; rounds: what early stopping found, as a part of the setting.
    """

    settings: tuple[Setting, ...]
    fit: Callable[[Setting, Rows, list[bool], Rows | None], Any]
    rounds: Callable[[Any], Setting]


def every_column(sheet: Sheet, learner: Learner, with_features: bool) -> dict[str, Floats]:
    """What a learner tells of each column's hidden cells."""
    return {
        each.told.relation: one_column(sheet, each, learner, with_features)
        for each in sheet.targets
    }


def one_column(sheet: Sheet, target: Target, learner: Learner, with_features: bool) -> Floats:
    """What a learner tells of a column's hidden cells, from plain columns or made features."""
    usual = common(target)
    seen = np.count_nonzero(np.bincount(target.values))
    if seen < 2 or len(target.rows) < LEAST_ROWS:
        return usual
    target = _limited(target)
    fold, labels = folds(len(target.rows), 0), len(target.told.labels)
    columns = sheet.made(target) if with_features else sheet.plain(target)
    groups = sheet.groups(target) if with_features else []
    trained, asked, categories = _matrices(columns, groups, target, fold)
    setting = _tuned(learner, Rows(trained, target.values), fold == 0, categories, labels)
    if setting is None:
        return usual
    model = learner.fit(setting, Rows(trained, target.values), categories, None)
    return _spread(model, asked, labels)


def _limited(target: Target) -> Target:
    """No more training rows than a learner is given."""
    if len(target.rows) <= MOST_FITTED:
        return target
    kept = np.sort(np.random.default_rng(0).choice(len(target.rows), MOST_FITTED, replace=False))
    return replace(target, rows=target.rows[kept], values=target.values[kept])


def _matrices(
    columns: Sequence[Column], groups: Sequence[Ints], target: Target, fold: Ints
) -> tuple[Floats, Floats, list[bool]]:
    """Features of training rows and of asked ones, and which are categories."""
    tells = [_information(each, target) for each in columns]
    order = np.argsort(tells, kind="stable")[::-1][:MOST_FEATURES]
    kept = [columns[place] for place in sorted(order.tolist()) if tells[place] > 0]
    labels = len(target.told.labels)
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


def _information(column: Column, target: Target) -> float:
    """How much a feature tells about the label of training rows, in nats."""
    values = column.values[target.rows]
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0
    if column.is_category:
        codes = np.where(np.isfinite(values), values, known.max() + 1).astype(np.int64)
    else:
        edges = np.unique(np.quantile(known, np.arange(1, BINS) / BINS))
        codes = np.where(np.isfinite(values), np.searchsorted(edges, values), BINS)
    labels = len(target.told.labels)
    both = np.bincount(codes * labels + target.values, minlength=(codes.max() + 1) * labels)
    both = both.reshape(-1, labels) / len(values)
    apart = both.sum(1, keepdims=True) * both.sum(0)
    return float((both[both > 0] * np.log(both[both > 0] / apart[both > 0])).sum())


def _tuned(
    learner: Learner, rows: Rows, held: NDArray[np.bool_], categories: list[bool], labels: int
) -> Setting | None:
    """The setting that tells held-out rows best, with its rounds; None if frequencies do."""
    features, values = rows.features, rows.values
    train, test = _some(np.flatnonzero(~held), MOST_TUNED), _some(np.flatnonzero(held), MOST_HELD)
    test = test[np.isin(values[test], values[train])]
    counts = np.bincount(values[train], minlength=labels)
    varies = _varies(features[train])
    if not len(test) or np.count_nonzero(counts) < 2 or not varies.any():
        return None
    features, categories = features[:, varies], np.array(categories)[varies].tolist()
    learned, stopped = (Rows(features[each], values[each]) for each in (train, test))
    usual = np.tile(counts / counts.sum(), (len(test), 1))
    best, setting = float(clipped_losses(usual, values[test]).mean()), None
    for each in learner.settings:
        model = learner.fit(each, learned, categories, stopped)
        loss = float(clipped_losses(_spread(model, stopped.features, labels), values[test]).mean())
        if loss < best:
            best, setting = loss, {**each, **learner.rounds(model)}
    return setting


def _some(rows: Ints, most: int) -> Ints:
    """As many rows, picked by chance: neighbours in a file are often alike."""
    found: Ints = np.random.default_rng(0).permutation(rows)[:most]
    return found


def _varies(features: Floats) -> NDArray[np.bool_]:
    """Which features are not the same everywhere; to be unknown is a value of its own."""
    same = (features == features[0]) | (np.isnan(features) & np.isnan(features[0]))
    varies: NDArray[np.bool_] = ~same.all(0)
    return varies


def _spread(model: Any, features: Floats, labels: int) -> Floats:
    """Probabilities of all labels, those never seen in training 0."""
    found = np.zeros((len(features), labels))
    found[:, model.classes_] = model.predict_proba(features)
    return found
