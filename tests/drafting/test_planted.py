"""What tells is found, validated and worth it; what is noise stays noise: nothing leaks."""

from random import Random

import pytest

from support.drafts import made, walked
from support.planted_databases import NOISE, PLANTED

CLEAR = 0.15  # of the log loss of frequencies that must be gained
CHANCE = 3.5  # standard errors


def gain_of(told):
    """What was gained over frequencies, and how far that is from nothing."""
    gain = told["gain"]
    return gain["log_loss"], gain["log_loss"] / max(gain["standard_error"], 1e-3)


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found_and_worth_it(name, tmp_path):
    make, relation, table = PLANTED[name]
    found = walked(made("sqlite", tmp_path, make(Random(7))), tmp_path, steps=["validate"])
    assert not found.error
    assert any(table in each for each in found.tables), found.tables
    told = found.validation["relations"][relation]
    gain, errors = gain_of(told)
    assert gain > CLEAR * told["baseline"]["log_loss"]
    assert errors > 2


def stays_noise(name, seed, folder):
    found = walked(made("sqlite", folder, NOISE[name](Random(seed))), folder, steps=["validate"])
    assert not found.error
    for relation, told in found.validation["relations"].items():
        gain, errors = gain_of(told)
        assert errors < CHANCE, relation
        assert gain < 0.08, relation
    return sum(not each.endswith(" alone") for each in found.tables)


@pytest.mark.parametrize("name", NOISE)
def test_noise_is_not_told_better_than_by_frequencies(name, tmp_path):
    stays_noise(name, 11, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("name", NOISE)
def test_noise_hardly_ever_has_tables(name, tmp_path):
    assert sum(stays_noise(name, seed, tmp_path) > 0 for seed in range(20, 30)) <= 4


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found_by_other_chance(name, seed, tmp_path):
    make, relation, table = PLANTED[name]
    found = walked(made("sqlite", tmp_path, make(Random(seed))), tmp_path, steps=["validate"])
    assert any(table in each for each in found.tables), found.tables
    assert found.validation["relations"][relation]["gain"]["log_loss"] > 0
