"""Estimated tables: populations as described, the oracle against Bayes' rule by enumeration."""

from itertools import product

import numpy as np
import pytest

import lifagu
from lifagu.experiments.holes.noisy.network import SIZES, VARIABLES, joints, marginals
from lifagu.experiments.holes.noisy.oracle import CountsOracle
from lifagu.experiments.holes.noisy.population import (
    graph_with_holes,
    labels,
    normalised,
    population,
)
from lifagu.experiments.holes.noisy.scenarios import NOISY


def drawn(name, individuals=30, seed=0):
    return population(NOISY[name], individuals, np.random.default_rng(seed))


# ---- populations


@pytest.mark.parametrize("name", NOISY)
def test_populations_have_what_their_scenario_says(name):
    subject, scenario = drawn(name, 60), NOISY[name]
    people = 60 + round(60 * scenario.new)
    assert subject.known.shape == (people, 7)
    assert set(subject.known[subject.new].sum(axis=1)) <= {1, 2}
    for place, truth, counts in zip(subject.places, subject.truth, subject.counts, strict=True):
        assert truth.shape == counts.shape == (people, *place.shape)
        np.testing.assert_allclose(truth.sum(axis=-1), 1)
        assert (counts.sum(axis=(1, 2)) == scenario.records).all()
    share = 1 - subject.known[~subject.new].mean()
    assert abs(share - (0.165 if not scenario.at_random else scenario.unknown)) < 0.08
    np.testing.assert_allclose(
        [subject.observed(0.3).mean(), subject.observed(0.7).mean()], [0.3, 0.7], atol=0.08
    )


def test_cohorts_decide_about_all_tables_but_that_of_age():
    subject = drawn("records-50", 200)
    for place in range(1, 7):
        tables = [set(subject.atom[place][subject.cohorts == each]) for each in range(6)]
        assert all(len(each) == 1 for each in tables)
        assert len(set.union(*tables)) == subject.places[place].tables
    assert len(set(subject.atom[0][subject.cohorts == 0])) == 4


def test_own_tables_vary_as_much_as_their_concentration_says():
    subject = drawn("varied-20", 2000)
    atoms = subject.source.atoms[1][subject.atom[1]]
    off = ((subject.truth[1] - atoms) ** 2).mean()
    assert off == pytest.approx((atoms * (1 - atoms) / 21).mean(), rel=0.1)


def test_equal_seeds_have_equal_tables():
    first, second = drawn("records-5"), drawn("unknown-40")
    assert all(map(np.array_equal, first.source.atoms, second.source.atoms))


# ---- graphs


@pytest.mark.parametrize("name", ["records-20", "shared"])
def test_marginals_are_those_of_the_graph(name):
    subject = drawn(name, 6)
    known = np.ones_like(subject.known)
    whole = graph_with_holes(type(subject)(**{**vars(subject), "known": known}))
    tables = [each[:, None] for each in subject.given]
    joint = joints(tables, np.ones((len(known), 1)))
    for share in (0.0, 0.5):
        observed = subject.observed(share)
        found, epidemic = marginals(joint, subject.values, observed)
        answers = lifagu.marginals(whole, evidence=subject.evidence(share))
        for individual, place in np.argwhere(~observed):
            variable = VARIABLES[place]
            answer = answers[f"{variable}.{individual}"]
            expected = [answer[label] for label in labels(variable)]
            assert found[individual, place, : len(expected)] == pytest.approx(expected)
        if subject.scenario.shared:
            assert epidemic == pytest.approx(list(answers["Epid"].values()))


def test_holes_and_background_knowledge_are_as_declared():
    graph = graph_with_holes(drawn("unknown-40"))
    subject = drawn("unknown-40")
    assert (graph.factor_table < 0).sum() == (~subject.known).sum()
    names = [f"{subject.places[n % 7].name}.{n // 7}" for n in subject.order]
    assert list(graph.factor_names) == names
    assert graph_with_holes(drawn("no-individuals")).individuals == ()
    assert graph.individuals[:2] == ("p0", "p1")


# ---- the oracle


def brute_force(subject, person):
    """P(cohort, atoms) of a person by enumeration of all combinations, from pseudo-densities."""
    source, weights = subject.source, {}
    for cohort in range(len(source.weights)):
        for atoms in product(*(range(len(each)) for each in source.atoms)):
            weight = source.weights[cohort]
            for place, atom in enumerate(atoms):
                weight *= source.chances[place][cohort, atom]
                if weight and subject.known[person, place]:
                    weight *= likelihood(subject, person, place, atom)
            if weight:
                weights[cohort, atoms] = weight
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def likelihood(subject, person, place, atom):
    """P(records in their order | atom), record by record (Pólya's urn where tables vary)."""
    table, result = subject.source.atoms[place][atom], 1.0
    for given, counts in enumerate(subject.counts[place][person].astype(int)):
        urn = table[given] * subject.source.variation
        for value, count in enumerate(counts):
            for _ in range(count):
                if np.isinf(subject.source.variation):
                    result *= table[given, value]
                else:
                    result *= urn[value] / urn.sum()
                    urn[value] += 1
    return result


@pytest.mark.parametrize("name", ["records-5", "varied-20-few", "independent"])
def test_the_oracle_is_bayes_rule(name):
    subject = drawn(name, 5)
    oracle = CountsOracle(subject)
    tables = [oracle.tables(place) for place in range(7)]
    joint = oracle.joint()
    for person in range(3):
        expected = brute_force(subject, person)
        means = [np.zeros(place.shape) for place in subject.places]
        whole = np.zeros(tuple(SIZES.values()))
        for (_, atoms), weight in expected.items():
            own = []
            for place, atom in enumerate(atoms):
                table = subject.source.atoms[place][atom]
                if np.isfinite(subject.source.variation) and subject.known[person, place]:
                    seen = subject.counts[place][person]
                    table = normalised(subject.source.variation * table + seen)
                own.append(table)
                means[place] += weight * table
            age, travel, sick, *others = own
            whole += weight * np.einsum(
                "a,at,ts,sx,sy,sz,sw->atsxyzw", age[0], travel, sick, *others
            )
        for place in range(7):
            assert tables[place][person] == pytest.approx(means[place], rel=1e-6)
        assert joint[person, 0] == pytest.approx(whole, rel=1e-6)


def test_the_oracles_draws_average_to_its_tables_and_cover_the_truth():
    subject = drawn("varied-20", 300)
    oracle, rng = CountsOracle(subject), np.random.default_rng(1)
    draws = [oracle.drawn(rng) for _ in range(300)]
    inside = []
    for place in range(7):
        own = np.stack([each[place] for each in draws])
        assert np.abs(own.mean(axis=0) - oracle.tables(place)).max() < 0.12
        low, high = np.quantile(own, [0.05, 0.95], axis=0)
        truth = subject.truth[place]
        inside.append(((low <= truth) & (truth <= high))[..., :-1].ravel())
    assert 0.87 < np.concatenate(inside).mean() < 0.93
