"""Conditions of learned tables: what-if observes them, and they are not predicted."""

import json

import numpy as np
import pytest

import lifagu
from lifagu.learning import learn


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Forty people; how ill they are is asked, fever is a condition that some lack."""
    monkeypatch.setattr(learn, "NARROW", 0)  # the composite way, however small
    random = np.random.default_rng(0)
    evidence, parfactors = {}, []
    for person in range(1, 41):
        ill = random.integers(0, 2)
        told = {"Ill": ill, "Fever": ill ^ (random.random() < 0.2), "Pain": random.integers(0, 2)}
        told["Tired"] = ill ^ (random.random() < 0.3)
        for name, value in told.items():
            if random.random() > (0.3 if name != "Pain" else 0):
                evidence[f"{name}({person})"] = ["no", "yes"][int(value)]
    for first, second in (("Ill", "Fever"), ("Ill", "Pain"), ("Ill", "Tired"), ("Tired", "Fever")):
        arguments = [f"{first}(P)", f"{second}(P)"]
        parfactors.append({"name": f"{first}{second}", "args": arguments, "table": "learn"})
    alike = {"Fever": None, "Pain": "yes", "Tired": "yes", "Ill": None}
    for person, fever in ((1, None), (2, "yes"), (3, None)):
        for name, value in {**alike, "Fever": fever}.items():
            evidence.pop(f"{name}({person})", None)
            if value:
                evidence[f"{name}({person})"] = value
    path = tmp_path / "clinic.json"
    path.write_text(
        json.dumps(
            {
                "format": "lifagu/1",
                "domains": {"Person": 40},
                "relations": [
                    {"name": name, "of": ["Person"], "range": ["no", "yes"]}
                    for name in ("Ill", "Fever", "Pain", "Tired")
                ],
                "parfactors": parfactors,
                "evidence": evidence,
                "queries": ["Ill", "Tired"],
            }
        )
    )
    return path


def test_a_condition_that_is_observed_later_tells_as_in_the_data(clinic):
    case = lifagu.open(clinic)
    unknown, known = case.ask("Ill(1)")["yes"], case.ask("Ill(2)")["yes"]
    assert unknown == pytest.approx(case.ask("Ill(3)")["yes"], rel=1e-12)
    assert abs(unknown - known) > 0.02
    what_if = case.observe({"Fever(1)": "yes"})
    assert what_if.ask("Ill(1)")["yes"] == pytest.approx(known, rel=1e-12)
    assert what_if.ask("Ill(3)")["yes"] == pytest.approx(unknown, rel=1e-12)
    assert case.ask("Ill(1)")["yes"] == pytest.approx(unknown, rel=1e-12)


def test_what_is_forgotten_of_a_condition_tells_no_more(clinic):
    case = lifagu.open(clinic)
    told = {"Pain(2)": "yes", "Tired(2)": "yes"}
    forgotten = case.forget().observe(told).ask("Ill(2)")["yes"]
    assert forgotten == pytest.approx(case.ask("Ill(1)")["yes"], rel=1e-12)


def test_learned_files_do_the_same(clinic, tmp_path):
    case = lifagu.open(clinic)
    case.learn().write(tmp_path / "learned.json")
    again = lifagu.open(tmp_path / "learned.json")
    for each in (case, again):
        found = each.observe({"Fever(1)": "yes"}).ask("Ill(1)")["yes"]
        assert found == pytest.approx(case.ask("Ill(2)")["yes"], rel=1e-12)


def test_conditions_are_not_predicted(clinic):
    case = lifagu.open(clinic)
    with pytest.raises(lifagu.NoAnswerError, match="Fever only tells about others"):
        case.ask("Fever(1)")
    assert case.ask("Fever(2)")["yes"] == 1.0
    assert case.observe({"Fever(1)": "no"}).ask("Fever(1)")["no"] == 1.0
    with pytest.raises(lifagu.ModelError, match="give one label instead of likelihoods"):
        case.observe({"Fever(1)": {"no": 0.2, "yes": 0.8}}).ask("Ill(1)")
    assert case.learn().notes[0].startswith("Fever, Pain tell about others")
    asked = {name.partition("(")[0] for name in case.impute().marginals.names}
    assert asked == {"Ill", "Tired"}


def test_answers_agree_with_enumeration(clinic):
    case = lifagu.open(clinic).observe({"Fever(1)": "yes"})
    names = ("Ill(1)", "Ill(3)", "Tired(5)")
    assert [case.ask(name, engine="ground")["yes"] for name in names] == pytest.approx(
        [case.ask(name)["yes"] for name in names], rel=1e-9
    )
