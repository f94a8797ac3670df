"""Two cells of a row at once: joint answers, and how far learners of single columns contradict.

Sex and weight of some captured animals are hidden together. A learner for each column has no joint
answer. One can be made of two learners in either order, P(sex) P(weight | sex) or P(weight)
P(sex | weight), which takes a further model each, and the two joints are not the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lifagu
from research.league.databases import prepared
from research.league.features import Floats
from research.league.loading import MissingError, package, to_csv
from research.league.scores import LEAST

ASKED, SEED = 300, 0  # animals
TOLD = ["species_id", "hindfoot_length", "plot_id", "month", "year"]


def joint_answers(data: Path, folder: Path) -> Iterator[str]:
    """A paragraph with what was found, if the database and the learner are there."""
    source = prepared(["portal"], data, folder, lambda _: None).get("portal")
    try:
        learner = package("lightgbm")
    except MissingError:
        return
    if source is None:
        return
    surveys = pd.read_csv(source / "surveys.csv")
    whole = np.flatnonzero((surveys["sex"].notna() & surveys["weight"].notna()).to_numpy())
    asked = np.sort(np.random.default_rng(SEED).permutation(whole)[:ASKED])
    known = np.setdiff1d(whole, asked)
    edges = np.unique(np.quantile(surveys["weight"].iloc[known], (0.2, 0.4, 0.6, 0.8)))
    sex = surveys["sex"].eq("M").to_numpy(np.int64)
    weight = np.searchsorted(edges, surveys["weight"].to_numpy(), side="left")
    orders = _both_orders(learner, surveys, sex, weight, known, asked)
    alone = orders[0].sum(2, keepdims=True) * orders[1].sum(1, keepdims=True)
    ours = _asked(source, surveys, asked, edges.tolist(), folder)
    losses = [_loss(each, sex[asked], weight[asked]) for each in (ours, alone, *orders)]
    apart = float(np.abs(orders[0] - orders[1]).sum((1, 2)).mean() / 2)
    yield (
        f"**Two cells at once.** Sex and weight of {ASKED} animals of `portal`, both hidden: the "
        f"log loss of both together is {losses[0]:.3f} for lifagu's joint answer. Learners of "
        "single columns (LightGBM) have none: as if the two had nothing to do with each other it "
        f"is {losses[1]:.3f}; sex first, then weight given sex, {losses[2]:.3f}; weight first "
        f"{losses[3]:.3f}. Their two joints contradict each other by {apart:.3f} in the mean "
        "(total variation); those of one factor graph are the same in any order."
    )


def _both_orders(
    learner: Any, surveys: Any, sex: Any, weight: Any, known: Any, asked: Any
) -> tuple[Floats, Floats]:
    """The joint of each animal (sex × weight) by either order."""
    plain = surveys[TOLD].assign(species_id=surveys["species_id"].astype("category"))

    def told(values: Any, **more: Any) -> Any:
        model = learner.LGBMClassifier(
            n_estimators=60, learning_rate=0.1, n_jobs=1, random_state=0, verbosity=-1
        )
        model.fit(plain.assign(**more).iloc[known], values[known])
        return lambda **assumed: model.predict_proba(plain.iloc[asked].assign(**assumed))

    sexes, weights = told(sex)(), told(weight)()
    weight_given, sex_given = told(weight, sex=sex), told(sex, weight_bin=weight)
    first = np.stack([sexes[:, [s]] * weight_given(sex=s) for s in range(2)], axis=1)
    bins = range(weights.shape[1])
    second = np.stack([weights[:, [w]] * sex_given(weight_bin=w) for w in bins], axis=2)
    return first, second


def _asked(source: Path, surveys: Any, asked: Any, edges: list[float], folder: Path) -> Floats:
    """The joint of each animal, told by a draft of the database without these cells."""
    holed = folder / "joint" / source.name
    holed.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.csv"):
        frame = pd.read_csv(path, keep_default_na=False, dtype=str)
        if path.name == "surveys.csv":
            frame.loc[asked, ["sex", "weight"]] = ""
        to_csv(frame, holed / path.name)
    template = json.loads(lifagu.draft(holed).text())
    for relation in template["relations"]:
        if relation["name"] == "Weight":
            relation["range"] = {"edges": edges}
    path = folder / "joint" / "portal.json"
    path.write_text(json.dumps({**template, "source": str(holed)}))
    case = lifagu.open(path)
    names = surveys["record_id"].iloc[asked].tolist()
    answers = [case.ask(f"Sex({name})", f"Weight({name})") for name in names]
    return np.stack([answer.probabilities for answer in answers])


def _loss(joint: Floats, sex: Any, weight: Any) -> float:
    clipped = np.maximum(joint, LEAST)
    clipped /= clipped.sum((1, 2), keepdims=True)
    return float(-np.log(clipped[np.arange(len(sex)), sex, weight]).mean())
