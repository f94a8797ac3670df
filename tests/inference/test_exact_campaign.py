"""Random models by the thousand: log Z, marginals, joint answers and best assignments as known.

Every failure names family and seed and prints the model as JSON. With `-m full` the long campaign
runs, and `-k` chooses families: `-k "full and crossing"`. PYTHONPATH names another source tree.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable
from contextlib import suppress
from decimal import localcontext
from typing import Any

import numpy as np
import pytest

import lifagu
from support.exact import closed_forms as closed
from support.exact import copies, societies
from support.exact.checks import Known, WrongError, check, known_of, report, shrunk
from support.exact.closed_forms import large
from support.exact.copies import society
from support.exact.drafts import Draft
from support.exact.families import FAMILIES
from support.exact.listed import listed
from support.helpers import random_model
from support.naive import graphs as naive
from support.naive import inference
from support.naive.alike import Representatives

Model = dict[str, Any]
WITH_ANSWERS = {"listed": listed, "society": society, "large": large}
MORE = {
    "joining": [0] * 14 + [1, 2],
    "told_apart": [0] * 14 + [1, 3],
    "crossing": [0] * 18 + [1, 2, 4],
}
USUALLY_MORE = [0] * 18 + [2, 3, 5]
CHUNK = 250
SHORT = {**dict.fromkeys(FAMILIES, 20), "society": 10, "large": 10}
LONG = {
    "counting": 14_000,
    "joining": 17_000,
    "ground": 20_000,
    "told_apart": 14_000,
    "crossing": 12_000,
    "certain": 18_000,
    "listed": 4_000,
    "society": 600,
    "large": 400,
}


def case(family: str, seed: int) -> tuple[Model, Known]:
    """A model of a family, and what is known about it."""
    rng = random.Random(f"{family} {seed}")
    if family in WITH_ANSWERS:
        return WITH_ANSWERS[family](rng)
    while True:
        draft = Draft(rng, more=rng.choice(MORE.get(family, USUALLY_MORE)))
        FAMILIES[family](draft)
        model = draft.model()
        with suppress(inference.TooManyStatesError):
            return model, known_of(model, rng)


def failures(family: str, seeds: range) -> list[str]:
    """What is wrong with the models of these seeds; the first is also shown made smaller."""
    found = []
    for seed in seeds:
        model, known = case(family, seed)
        try:
            check(model, known, with_total=seed % 8 == 0)
        except WrongError as error:
            found.append(f"family {family}, seed {seed}: {report(model, known, error)}")
            if len(found) == 1 and family not in ("society", "large"):
                found[0] += f"\n  smaller:\n{json.dumps(smaller(model, seed))}"
    return found


def smaller(model: Model, seed: int) -> Model:
    """A smaller model with something wrong, as far as half a minute goes."""
    end = time.monotonic() + 30
    return shrunk(model, lambda each: time.monotonic() < end and is_wrong(each, seed))


def is_wrong(model: Model, seed: int) -> bool:
    """Whether something is wrong with a model that can be read and whose evidence fits."""
    try:
        lifagu.io.from_json(json.dumps(model))
        known = known_of(model, random.Random(seed))
    except (lifagu.LifaguError, inference.TooManyStatesError, KeyError, IndexError, ValueError):
        return False
    if not all(inference.covered(name, known.labels) for name in model.get("evidence", {})):
        return False
    try:
        check(model, known)
    except WrongError:
        return True
    return False


def chunks(sizes: dict[str, int], first: int, step: int) -> list[Any]:
    """Ranges of seeds for each family."""
    return [
        pytest.param(family, range(start, min(start + step, first + size)), id=f"{family}-{start}")
        for family, size in sizes.items()
        for start in range(first, first + size, step)
    ]


@pytest.mark.parametrize(("family", "seeds"), chunks(SHORT, 0, 10))
def test_campaign(family, seeds):
    found = failures(family, seeds)
    assert not found, f"{len(found)} of {len(seeds)} models\n" + "\n".join(found[:3])


@pytest.mark.full
@pytest.mark.parametrize(("family", "seeds"), chunks(LONG, 1000, CHUNK))
def test_full_campaign(family, seeds):
    found = failures(family, seeds)
    assert not found, f"{len(found)} of {len(seeds)} models\n" + "\n".join(found[:3])


# ---- what is known is right


def agree(one: Any, two: Any, names: list[str]) -> None:
    """Two ways of adding up give the same."""
    assert one.log_total == pytest.approx(two.log_total, rel=1e-12, abs=1e-12)
    if one.log_total > -math.inf:
        assert one.log_best == pytest.approx(two.log_best, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(one.joint(names), two.joint(names), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_other_ways_are_enumeration(family):
    for seed in range(12):
        model, known = case(family, seed)
        with suppress(inference.TooManyStatesError):
            enumeration = inference.Enumeration(model)
            agree(enumeration, inference.Elimination(model), list(known.question))
            agree(enumeration, Representatives(model, known.question), list(known.question))


@pytest.mark.parametrize("seed", range(20))
def test_enumeration_is_the_naive_one(seed):
    model, evidence = random_model(seed)
    model = {**model, "evidence": evidence}
    for each in model["variables"]:
        each["range"] = naive.parse(model).variables[each["name"]].labels
    found = inference.Enumeration(model)
    try:
        total, marginals = naive.enumerate_answers(model, evidence)
    except ZeroDivisionError:
        assert found.log_total == -math.inf
        return
    assert found.log_total == pytest.approx(total, rel=1e-12)
    for name, expected in marginals.items():
        assert found.marginal(name).tolist() == pytest.approx(
            [expected[label] for label in found.labels[name]]
        )


@pytest.mark.parametrize("kind", list(dict.fromkeys(copies.KINDS)))
def test_societies_are_enumeration(kind, monkeypatch):
    for seed in range(8):
        monkeypatch.setattr(societies, "LARGEST", 3 + seed % 2)
        model, known = kind(random.Random(seed))
        found = inference.Elimination(model)
        assert known.log_total == pytest.approx(found.log_total, rel=1e-12, abs=1e-12)
        if found.log_total > -math.inf:
            assert known.log_best == pytest.approx(found.log_best, rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(known.joint, found.joint(known.question), atol=1e-12)


KINDS = [
    closed.slots,
    closed.labelled,
    closed.counted,
    closed.crossed,
    closed.friends,
    closed.parted,
    closed.own_tables,
]


@pytest.mark.parametrize("kind", KINDS)
def test_closed_forms_are_enumeration(kind: Callable[..., tuple[Model, Known]]):
    for seed in range(10):
        rng = random.Random(seed)
        with localcontext(prec=50):
            model, known = kind(rng, rng.choice([2, 3, 3] if kind is closed.friends else [2, 3, 4]))
        found = inference.Enumeration(model)
        assert known.log_total == pytest.approx(found.log_total, rel=1e-12, abs=1e-12)
        assert known.count == len(found.labels)
        if found.log_total > -math.inf:
            assert known.log_best == pytest.approx(found.log_best, rel=1e-12, abs=1e-12)
            np.testing.assert_allclose(known.joint, found.joint(known.question), atol=1e-12)
            for name, expected in known.marginals.items():
                np.testing.assert_allclose(found.marginal(name), expected, atol=1e-12)
            world = {name: rng.choice(labels) for name, labels in found.labels.items()}
            world |= {name: seen for name, seen in found.evidence.items() if isinstance(seen, str)}
            assert known.weight(world) == pytest.approx(found.weight(world))
