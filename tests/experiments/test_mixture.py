"""The oracle's mixture beside the average over all completions, one by one, in the library."""

from itertools import product

import numpy as np
import pytest

import lifagu
from lifagu.experiments.holes.hospital import hospital
from lifagu.experiments.holes.mixture import HospitalMixture
from lifagu.experiments.holes.oracle import Oracle
from lifagu.experiments.holes.scenarios import Scenario

SCENARIOS = {
    "plain": Scenario("", share=0.2),
    "evidence": Scenario("", share=0.2, evidence=0.5),
    "permuted": Scenario("", share=0.2, permuted=True, evidence=0.3),
    "leak": Scenario("", share=0.1, leak=0.2),
    "missing": Scenario("", share=0.15, missing=0.3, evidence=0.3),
}


def enumerated(subject, oracle):
    """Σ w P(evidence) P(variable | evidence) over all completions, each asked of the library."""
    factors = list(subject.unknown)
    chances = {factor: oracle.chances(subject.unknown[factor].kind) for factor in factors}
    owners = sorted({origin.individual for origin in subject.unknown.values()})
    total, sums = 0.0, {}
    for types in product(*(range(chances[factor].shape[1]) for factor in factors)):
        weight = 1.0
        for owner in owners:
            own = oracle.cohorts[owner].copy()
            for factor, number in zip(factors, types, strict=True):
                if subject.unknown[factor].individual == owner:
                    own *= chances[factor][:, number]
            weight *= own.sum()
        if not weight:
            continue
        pairs = zip(factors, types, strict=True)
        tables = {factor: oracle.table(factor, number) for factor, number in pairs}
        graph = subject.draft.graph(tables)
        seen = lifagu.log_partition(graph, evidence=subject.evidence)
        weight *= np.exp(seen - lifagu.log_partition(graph))
        total += weight
        for name, answer in lifagu.marginals(graph, evidence=subject.evidence).items():
            sums[name] = sums.get(name, 0.0) + weight * np.array(list(answer.values()))
    return {name: each / total for name, each in sums.items()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_mixture_is_the_average_over_all_completions(name):
    subject = hospital(SCENARIOS[name], 3, np.random.default_rng(5))
    oracle, rng = Oracle(subject), np.random.default_rng(0)
    expected = enumerated(subject, oracle)
    found = HospitalMixture(subject, oracle.completions(rng), 4000, rng).marginals()
    apart = max(
        np.abs(row[: len(expected[variable.name])] - expected[variable.name]).max()
        for variable, row in zip(subject.draft.variables, found, strict=True)
        if variable.name not in subject.evidence
    )
    assert apart < 2e-3


def test_whoever_is_like_nobody_gets_fresh_tables():
    subject = hospital(Scenario("", share=0.1, cold=1.0), 40, np.random.default_rng(0))
    oracle, rng = Oracle(subject), np.random.default_rng(0)
    assert all(cohorts.sum() == 0 for cohorts in oracle.cohorts.values())
    found = HospitalMixture(subject, oracle.completions(rng), 100, rng).marginals()
    assert np.allclose(found.sum(axis=1), 1)
