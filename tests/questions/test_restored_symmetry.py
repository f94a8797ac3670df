"""Noise destroys symmetry and cohorts restore it: groups before and after, and what that costs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lifagu
from lifagu.io import write
from support.helpers import run_cli

TABLES = {"calm": ([0.9, 0.1], [0.8, 0.2]), "wild": ([0.3, 0.7], [0.1, 0.9])}


def _noisy(holes: bool = True) -> tuple[lifagu.FactorGraph, dict[str, str]]:
    """Two sorts of people with two estimated tables each, and what was observed of them."""
    rng = np.random.default_rng(4)
    builder, seen = lifagu.FactorGraph.build(), {}
    for number in range(40):
        who = f"p{number}"
        for place, table in zip(
            ("Sleep", "Mood"), TABLES[["calm", "wild"][number % 2]], strict=True
        ):
            name = f"{place}.{who}"
            builder.variable(name, kind=place, individual=who)
            records = int(rng.integers(150, 250))
            counts = rng.multinomial(records, table)
            open_one = holes and number > 35 and place == "Mood"
            known = None if open_one else (counts / records).tolist()
            more = {} if open_one else {"support": records, "prior": 0}
            builder.factor(f"{place.lower()}.{who}", [name], known, **more)
            seen[name] = ["false", "true"][int(rng.random() < table[1])]
    return builder.graph(), seen


def test_individuals_of_one_cohort_are_alike_again():
    graph, _ = _noisy()
    found = lifagu.open(graph).fill(by="auto").lift()
    # a table for each sort of people and each place, and perhaps one that chance made
    assert 4 <= found.groups.factors <= 5
    sizes = [group.size for group in found.groups.largest if group.sort == "factors"]
    assert all(size >= 16 for size in sizes[:4])
    kept = lifagu.open(graph).fill(by="auto", keep_known=True).lift()
    assert kept.groups.factors > 60
    assert lifagu.ground(found.model).factor_table.shape == graph.factor_table.shape


def test_observations_tell_individuals_apart():
    graph, seen = _noisy()
    found = lifagu.open(graph).fill(by="auto").observe(seen).lift()
    assert 4 < found.groups.factors <= 8


def test_the_default_leaves_a_model_without_holes_alone():
    graph, _ = _noisy(holes=False)
    found = lifagu.open(graph).lift()
    assert found.groups.factors > 60


def test_validation_says_what_it_costs(tmp_path, capsys):
    """One table each is asked of the lifted model; both ways stand side by side."""
    graph, seen = _noisy()
    case = lifagu.open(graph).observe(seen)
    found = case.validate(0.5, fill=["auto"], combine=["average", "best"])
    assert list(found.methods) == ["auto, average", "auto, best"]
    alone = case.validate(0.5, fill=["auto"], combine="best")
    both = found.json()["methods"]
    assert both["auto, best"]["log_loss"] == alone.json()["log_loss"]
    shown = lifagu.open(case.fill(by="auto").transfer.graph).observe(seen)
    by_hand = shown.validate(0.5).json()["log_loss"]
    assert both["auto, best"]["log_loss"] == pytest.approx(by_hand, rel=1e-9)
    path = tmp_path / "noisy.json"
    write(graph, path, seen)
    shown = run_cli(capsys, "validate", path, "--fill", "auto", "--combine", "average", "best")[1]
    assert "auto, average" in shown
    assert "auto, best" in shown


def test_the_same_bytes_whatever_the_hash_seed(tmp_path):
    graph, seen = _noisy()
    path = tmp_path / "noisy.json"
    write(graph, path, seen)
    source = str(Path(lifagu.__file__).parents[1])
    command = [sys.executable, "-m", "lifagu", "lift", str(path), "--fill", "auto", "--json"]
    outputs = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": source},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_what_is_hidden_is_not_among_the_answers():
    """Many questions are answered in one pass over the joint model, whose variables are more."""
    graph, _ = _noisy()
    case = lifagu.open(graph).fill(by="auto")
    names = list(graph.variable_names[:])
    found = case.impute(names)
    assert len(found.marginals) == len(names) > 64
    assert {frozenset(each) for each in found.marginals.distributions} == {
        frozenset(("false", "true"))
    }
