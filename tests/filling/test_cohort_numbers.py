"""The numbers of cohorts: evidence, gains, expectation and maximisation, by hand and naively."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifagu.basics.log_gamma import log_evidence, log_gamma
from lifagu.filling.cohorts.choosing import alike_individuals, find_cohorts
from lifagu.filling.cohorts.fitting import Cohorts, CohortShape, _size_evidence, clusters, fit
from lifagu.filling.cohorts.found import FoundCohorts, PlaceCohorts
from lifagu.filling.cohorts.place_evidence import Counts, Owners, TableTokens
from lifagu.filling.cohorts.place_tables import SharedTables, pair_gains
from support.naive import cohorts as naive

TWO_TABLES = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])


def everybody(count):
    """One row each."""
    return Owners(np.arange(count), count)


def counted(rng, people, records, tables=TWO_TABLES, spread=None):
    """Records of people who have one of some tables each, varied if wanted: evidence, who."""
    who = rng.integers(len(tables), size=people)
    shares = tables[who]
    if spread is not None:
        shares = np.array([rng.dirichlet(spread * each) for each in shares])
    raw = np.array([rng.multinomial(records, each) for each in shares], dtype=float)
    return Counts(raw[:, None], everybody(people)), who


def tokens(rng, people, size, places=3):
    """Exact tables of two cohorts; the second has the last table of each place."""
    who = rng.integers(2, size=people)
    found = []
    for _ in range(places):
        codes = np.where(rng.random(people) < 0.85, who * (size - 1), rng.integers(size))
        found.append(TableTokens(codes, size, everybody(people)))
    return found, who


# ---- the gamma function, and evidence


@given(st.floats(1e-9, 1e12))
def test_log_gamma_is_that_of_the_standard_library(number):
    found = float(log_gamma(np.array([number]))[0])
    assert found == pytest.approx(math.lgamma(number), rel=1e-10, abs=1e-9)


@given(
    st.lists(st.integers(0, 6), min_size=3, max_size=3),
    st.lists(st.floats(0.01, 20), min_size=3, max_size=3),
)
def test_log_evidence_is_that_of_an_urn(counts, prior):
    found = log_evidence(np.array([[counts]], dtype=float), np.array([prior]))
    assert found.shape == (1,)
    assert found[0] == pytest.approx(naive.urn_log_evidence(counts, prior), rel=1e-9, abs=1e-9)


def test_given_combinations_have_urns_of_their_own():
    counts, prior = [[3, 1], [0, 2]], [[0.5, 0.5], [2.0, 1.0]]
    found = log_evidence(np.array([counts], dtype=float), np.array(prior))
    each = [naive.urn_log_evidence(*pair) for pair in zip(counts, prior, strict=True)]
    assert found[0] == pytest.approx(sum(each))


def test_gains_of_joining_are_those_of_computing_it_again():
    rng = np.random.default_rng(0)
    totals, prior = rng.gamma(1.0, 5.0, (5, 2, 3)), rng.gamma(1.0, size=(2, 3))
    gains = pair_gains(totals, prior)
    for first in range(5):
        for second in range(5):
            if second <= first:
                assert gains[first, second] == -np.inf
                continue
            before = log_evidence(totals[[first, second]], prior).sum()
            after = log_evidence(totals[first] + totals[second], prior)
            assert gains[first, second] == pytest.approx(float(after - before))


def test_evidence_of_sizes_is_an_urn_of_halves():
    sizes = [4, 1, 0]
    found = _size_evidence(np.array(sizes, dtype=float))
    assert found == pytest.approx(naive.urn_log_evidence(sizes, [0.5] * 3))


def total_evidence(cohorts):
    places = sum(float(log_evidence(each.totals, each.prior).sum()) for each in cohorts.places)
    return places + _size_evidence(cohorts.sizes)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_merging_joins_the_best_pair_while_evidence_grows(seed, shared, monkeypatch):
    rng = np.random.default_rng(seed)
    places = [counted(rng, 24, 8)[0], *tokens(rng, 24, 3, places=1)[0]]
    cohorts = Cohorts(places, np.ones(24))
    cohorts.seed(8, rng)
    cohorts.improve(2)
    if shared:
        own = cohorts.places[0]
        cohorts.places[0] = SharedTables(own, cohorts.belonging(), own.totals[:1])
        cohorts.improve(2)
        often = cohorts.places[0]._usual
        monkeypatch.setattr(SharedTables, "_usual", often)
    joined = []
    for place in cohorts.places:
        merge = place.merge

        def noted(into, gone, merge=merge):
            merge(into, gone)
            joined.append((into, gone))

        place.merge = noted
    totals = [place.totals.copy() for place in cohorts.places]
    sizes, before = cohorts.sizes.copy(), total_evidence(cohorts)
    cohorts.merge()
    assert total_evidence(cohorts) >= before
    # the same, greedily, computing everything again for each pair
    current, pairs = before, []
    while len(sizes) > 1:
        best = None
        for first in range(len(sizes)):
            for second in range(first + 1, len(sizes)):
                tried = [np.delete(each, second, axis=0) for each in totals]
                for new, old in zip(tried, totals, strict=True):
                    new[first] += old[second]
                size = np.delete(sizes, second)
                size[first] += sizes[second]
                value = _size_evidence(size) + sum(
                    float(log_evidence(each, place.prior).sum())
                    for each, place in zip(tried, cohorts.places, strict=True)
                )
                if best is None or value > best[0] + 1e-9:
                    best = value, tried, size, (first, second)
        if best[0] <= current:
            break
        current, totals, sizes = best[:3]
        pairs.append(best[3])
    assert joined[:: len(cohorts.places)] == pairs
    assert cohorts.sizes == pytest.approx(sizes)
    assert total_evidence(cohorts) == pytest.approx(current)


# ---- expectation and maximisation


def objective(cohorts):
    """Log probability of what is shown, and of tables and shares under their priors.

    That is Σ log Σ_k π_k P(i | k) + Σ prior · log φ + 0.1 Σ log π_k: what every round of
    expectation and maximisation raises while concentrations stay as they are.
    """
    logs = np.log(cohorts.prior)[None]
    value = 0.1 * np.log(cohorts.prior).sum()
    for place in cohorts.places:
        if isinstance(place, SharedTables):
            rows = place.evidence.log_likelihood(np.log(place.atoms))
            most = rows.max(axis=1, keepdims=True)
            mixed = np.log(np.exp(rows - most) @ place.choices.T) + most
            logs = logs + place.evidence.owners.summed(mixed)
            value += (place.pooled * np.log(place.atoms)).sum()
            value += (place.prior * np.log(place.choices)).sum()
        else:
            rows = place.evidence.log_likelihood(np.log(place.tables))
            logs = logs + place.evidence.owners.summed(rows)
            value += (place.prior * np.log(place.tables)).sum()
    most = logs.max(axis=1)
    each = np.log(np.exp(logs - most[:, None]).sum(axis=1)) + most
    return float(value + cohorts.weights @ each)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shared", [False, True])
def test_no_round_lowers_the_objective(seed, shared, monkeypatch):
    rng = np.random.default_rng(seed)
    people = 30
    evidence = counted(rng, people, 12, spread=20.0)[0]
    places = [
        Counts(evidence.raw, evidence.owners, 10.0),
        *tokens(rng, people, 4)[0],
        Counts(rng.poisson(2.0, (people, 2, 2)).astype(float), everybody(people)),
    ]
    cohorts = Cohorts(places, rng.integers(1, 4, people).astype(float))
    cohorts.seed(5, rng)
    if shared:
        for number in (0, 4):
            own = cohorts.places[number]
            by = cohorts.belonging() * cohorts.weights[:, None]
            cohorts.places[number] = SharedTables(own, by, own.totals[:2])
        # the usual choice is found anew each round; held still, it is a prior like others
        monkeypatch.setattr(SharedTables, "_usual", property(lambda own: uniform(own)))
        cohorts._update(cohorts.belonging())
    values = []
    for _ in range(25):
        values.append(objective(cohorts))
        cohorts._update(cohorts.belonging())
    assert np.diff(values).min() > -1e-9 * abs(values[0])
    assert values[-1] > values[0]


def uniform(place):
    return np.full(place.atoms.shape[0], 1 / place.atoms.shape[0])


def test_rows_count_as_often_as_they_stand_for():
    rng = np.random.default_rng(3)
    codes, many = rng.integers(3, size=(12, 2)), rng.integers(1, 5, 12)
    few = [TableTokens(codes[:, place], 3, everybody(12)) for place in range(2)]
    all_of = np.repeat(codes, many, axis=0)
    every = [TableTokens(all_of[:, place], 3, everybody(len(all_of))) for place in range(2)]
    start = rng.dirichlet(np.ones(3), 12)
    one, other = Cohorts(few, many.astype(float)), Cohorts(every, np.ones(len(all_of)))
    one._update(start)
    other._update(np.repeat(start, many, axis=0))
    for cohorts in (one, other):
        cohorts.improve(10)
    assert np.repeat(one.belonging(), many, axis=0) == pytest.approx(other.belonging())
    assert total_evidence(one) == pytest.approx(total_evidence(other))


# ---- who belongs where, which table, and what is behind an estimate


def small_found(rng, spread=np.inf):
    """Three cohorts; a place of four exact tables and one of two estimated ones, G = 2."""
    exact = rng.dirichlet(np.ones(4), 3)
    choices = rng.dirichlet(np.ones(2), 3)
    atoms = rng.dirichlet(np.ones(3), (2, 2))
    empty = np.zeros((0, 1, 1))
    places = (
        PlaceCohorts(exact, empty, empty[:, 0], np.inf),
        PlaceCohorts(choices, atoms, np.full((2, 2), 9.0), spread),
    )
    return FoundCohorts(rng.dirichlet(np.ones(3)), places)


def shown_by(rng, people=4):
    """Nothing, one or several rows in each place."""
    first = np.array([0, 0, 1, 3])
    second = np.array([0, 1, 1, 2])
    raw = rng.integers(0, 4, (4, 2, 3)).astype(float)
    return (
        TableTokens(rng.integers(4, size=4), 4, Owners(first, people)),
        Counts(raw, Owners(second, people)),
    )


def likelihoods(found, shown, person, spread, leave=None):
    """Of each thing that somebody shows, under each cohort; leave: a row of counts."""
    exact, estimated = found.places
    rows = [
        [float(own[code]) for own in exact.choices]
        for code, owner in zip(shown[0].codes, shown[0].owners.of, strict=True)
        if owner == person
    ]
    for row, owner in enumerate(shown[1].owners.of):
        if owner == person and row != leave:
            records = effective(shown[1].raw[row], spread)
            rows.append(
                [naive.under_cohort(records, own, estimated.atoms) for own in estimated.choices]
            )
    return rows


def effective(raw, spread):
    return raw.tolist() if np.isinf(spread) else naive.discounted(raw.tolist(), spread)


@pytest.mark.parametrize("spread", [np.inf, 6.0])
@pytest.mark.parametrize("seed", range(5))
def test_belonging_and_tables_are_sums_over_all_cohorts_and_tables(seed, spread):
    rng = np.random.default_rng(seed)
    found, shown = small_found(rng, spread), shown_by(rng)
    belonging = found.belonging(shown)
    exact, estimated = found.places
    for person in range(4):
        naively = naive.belonging(
            found.prior.tolist(), likelihoods(found, shown, person, spread) or [[1.0] * 3]
        )
        assert belonging[person] == pytest.approx(naively)
        for place in found.places:
            assert place.which(belonging[[person]])[0] == pytest.approx(
                naive.table_of_hole(naively, place.choices)
            )
    behind = estimated.which_known(shown[1], belonging)
    cleaned = estimated.cleaned(shown[1], belonging)
    for row, person in enumerate(shown[1].owners.of):
        others = likelihoods(found, shown, person, spread, leave=row)
        raw = shown[1].raw[row]
        wanted = naive.table_behind(
            found.prior, others, effective(raw, spread), estimated.choices, estimated.atoms
        )
        assert behind[row] == pytest.approx(wanted)
        if np.isinf(spread):
            table = np.tensordot(wanted, estimated.atoms, axes=1)
        else:
            table = naive.varied(raw, wanted, estimated.atoms, spread)
        assert cleaned[row] == pytest.approx(table)
        assert cleaned[row].sum(axis=1) == pytest.approx(1)
    assert (exact.which_known(shown[0], belonging) == np.eye(4)[shown[0].codes]).all()


def test_no_records_are_cleaned_to_the_pooled_table_and_very_many_to_their_own():
    rng = np.random.default_rng(1)
    found = small_found(rng, 6.0)
    none = (
        TableTokens(np.zeros(0, dtype=int), 4, Owners(np.zeros(0, dtype=int), 2)),
        Counts(np.array([np.zeros((2, 3)), [[7e9, 2e9, 1e9], [1e9, 1e9, 8e9]]]), everybody(2)),
    )
    belonging = found.belonging(none)
    assert belonging[0] == pytest.approx(found.prior)
    cleaned = found.places[1].cleaned(none[1], belonging)
    pooled = np.tensordot(found.prior @ found.places[1].choices, found.places[1].atoms, axes=1)
    assert cleaned[0] == pytest.approx(pooled)
    assert cleaned[1] == pytest.approx(np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), abs=1e-6)


# ---- spread


@pytest.mark.parametrize("concentration", [5.0, 20.0, 80.0])
def test_spread_recovers_the_concentration_of_a_dirichlet(concentration):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        evidence, who = counted(rng, 400, 100, spread=concentration)
        weights = np.eye(2)[who]
        found.append(evidence.spread_around(TWO_TABLES[:, None], weights).spread)
    assert np.mean(found) == pytest.approx(concentration, rel=0.1)


def test_no_spread_is_found_where_there_is_none():
    chance = 0
    for seed in range(40):
        evidence, who = counted(np.random.default_rng(seed), 200, 30)
        chance += evidence.spread_around(TWO_TABLES[:, None], np.eye(2)[who]).spread < np.inf
    assert chance <= 4  # two standard errors: one in forty


def test_records_beyond_the_spread_tell_ever_less():
    raw = np.array([[[10.0, 30.0]], [[1000.0, 3000.0]], [[1.0, 0.0]]])
    found = Counts(raw, everybody(3), 9.0).effective
    assert found[0] == pytest.approx(np.array([10, 30]) * 10 / 49)
    assert found.sum(axis=1) == pytest.approx([400 / 49, 40000 / 4009, 1.0])
    assert (found.sum(axis=1) < 10).all()


# ---- finding


def same_groups(who, cohort):
    """Whether two ways to group are one."""
    pairs = set(zip(who.tolist(), cohort.tolist(), strict=True))
    return len(pairs) == len(set(who.tolist())) == len(set(cohort.tolist()))


def test_tables_of_a_place_are_found_without_anybody_saying_how_many():
    rng = np.random.default_rng(0)
    tables = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    evidence, who = counted(rng, 60, 60, tables)
    found = clusters(evidence, rng)
    assert same_groups(who, found.belonging.argmax(axis=1))
    shares = found.totals[:, 0] / found.totals[:, 0].sum(axis=1, keepdims=True)
    assert np.sort(shares.max(axis=1)) == pytest.approx([0.8] * 3, abs=0.04)


@pytest.mark.parametrize("shared", [False, True])
def test_the_number_of_cohorts_is_found(shared):
    rng = np.random.default_rng(2)
    who = rng.integers(3, size=60)
    places = []
    for of_cohort in ([0, 0, 1], [0, 1, 1], [1, 0, 1]):
        shares = TWO_TABLES[np.array(of_cohort)[who]]
        raw = np.array([rng.multinomial(40, each) for each in shares], dtype=float)
        places.append(Counts(raw[:, None], everybody(60)))
    found = fit(places, np.ones(60), CohortShape(None, shared), rng)
    assert same_groups(who, found.belonging().argmax(axis=1))
    if shared:
        assert [len(place.atoms) for place in found.places] == [2, 2, 2]


def test_one_cohort_is_pooling():
    rng = np.random.default_rng(4)
    evidence = counted(rng, 30, 10)[0]
    found = FoundCohorts.of(fit([evidence], np.ones(30), CohortShape(1, shared=False), rng))
    assert found.prior == pytest.approx([1.0])
    pooled = evidence.raw.sum(axis=0)
    # half a record more in each entry, so that few records rule nothing out
    assert found.places[0].atoms[0] == pytest.approx(pooled / pooled.sum(), abs=2e-3)


def test_individuals_are_alike_where_they_show_the_same():
    first = TableTokens(np.array([0, 1, 0, 1, 1]), 2, Owners(np.array([0, 1, 2, 3, 4]), 6))
    second = TableTokens(np.array([1, 0, 0, 1]), 2, Owners(np.array([0, 0, 2, 2]), 6))
    found = alike_individuals([first, second])
    assert found.tolist() == [0, 1, 0, 1, 1, 2]  # in which order tables are listed says nothing
    counts = Counts(np.ones((2, 1, 2)), Owners(np.array([0, 1]), 6))
    assert alike_individuals([first, counts]).tolist() == [0, 1, 2, 3, 3, 4]


def test_sorts_are_averaged_by_weights_that_sum_to_one():
    rng = np.random.default_rng(0)
    found = find_cohorts(tokens(rng, 40, 3)[0], estimated=False)
    assert found.weights.sum() == pytest.approx(1)
    assert len(found.weights) == len(found.found)
    for each in found.found:
        assert each.prior.sum() == pytest.approx(1)
        assert all(place.choices.sum(axis=1) == pytest.approx(1) for place in each.places)


# ---- several tables of one individual in one place


def test_tables_that_stand_side_by_side_tell_of_one_another():
    """All have two tables in the only place, always equal ones: knowing one is knowing both."""
    rng = np.random.default_rng(0)
    who = rng.integers(2, size=40)
    evidence = TableTokens(np.repeat(who, 2), 2, Owners(np.repeat(np.arange(40), 2), 40))
    found = FoundCohorts.of(fit([evidence], np.ones(40), CohortShape(1, shared=False), rng))
    place = found.places[0]
    shown = TableTokens(np.array([0, 1]), 2, Owners(np.array([0, 1]), 3))
    belonging = found.belonging([shown])
    which = place.which_beside(place.which(belonging), np.arange(3), shown, belonging)
    share = np.mean(who == 0)
    assert place.which(belonging)[0] == pytest.approx([share, 1 - share], abs=0.01)
    # pairs are counted both ways, half a pair added to what there is and to what is expected
    zeros, ones = 2 * (who == 0).sum(), 2 * (who == 1).sum()
    chance = 80 * np.outer(*[place.choices[0]] * 2)
    beside = (np.diag([zeros, ones]) + 0.5) / (chance + 0.5)
    assert place.beside == pytest.approx(beside)
    assert which[0] == pytest.approx(place.choices[0] * beside[0] / (place.choices[0] @ beside[0]))
    assert which[0][0] > 0.95
    assert which[1][1] > 0.95
    assert which[2] == pytest.approx(place.choices[0])  # who shows nothing
