"""Filling an individual's unknown factors from individuals that agree with it on its other tables.

An individual's *profile* is what it has in each of its places: the tables of its factors of one
signature. The candidates of an unknown factor are the known factors in such a place whose owners
agree with its own in every place that is informative about this one and known of it. Where nobody
does, the least informative place is left out, and so on, down to all known factors in such a place.
Unlike donors as a whole (individuals.py), donors may have holes of their own, and places that say
nothing, such as tables that everybody has differently, do not stand in the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import (
    Ints,
    by_first_occurrence,
    distinct,
    group_lists,
    group_rows,
    members,
)
from lifagu.filling.donors import Offers, offers_from_candidates
from lifagu.filling.individuals import factor_owners
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph

MOST_PLACES = 6  # that are compared: at most 2 to this power different sets of known ones
MOST_CONSIDERED = 24  # places, the commonest, whose information is measured
CHANCE = 3.0  # standard deviations by which places must agree beyond what chance alone would do


@dataclass(frozen=True, eq=False)
class Places:
    """What each individual has in each of its places, sorted by individual.

    owner[p], signature[p]; token[p]: number of its tables there, -1 if one of them is unknown;
    first[i] … first[i+1]-1 are the places of individual i.
    """

    owner: Ints
    signature: Ints
    token: Ints
    first: Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """Receivers in classes; donor[i] may lend to class of[i]; places[c]: how many agree."""

    receivers: Ints
    class_of: Ints
    of: Ints
    donor: Ints
    places: Ints


def offers_by_profile(graph: FactorGraph, signatures: Ints, aligned: Ints, keys: Ints) -> Offers:
    """Offers to unknown factors of individuals that share informative tables with others.

    Cost: for each signature with unknown factors, near-linear in the factors of individuals that
    have it, times the number of different sets of known informative places.
    """
    owner = factor_owners(graph)
    places = _places(owner, signatures, aligned)
    owned = np.flatnonzero(owner >= 0)
    wanted = distinct(signatures[owned[aligned[owned] < 0]])
    owned = owned[np.isin(signatures[owned], wanted)]
    found = [
        _candidates(places, owner, signatures, aligned, owned[group])
        for group in members(np.searchsorted(wanted, signatures[owned]))
    ]
    counts = [len(each.places) for each in found]
    shift = np.cumsum([0, *counts])
    return offers_from_candidates(
        _joined([each.receivers for each in found]),
        _joined([each.class_of + at for each, at in zip(found, shift, strict=False)]),
        _joined([each.of + at for each, at in zip(found, shift, strict=False)]),
        _joined([each.donor for each in found]),
        aligned,
        keys,
        agreed=_joined([each.places for each in found]),
    )


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def _places(owner: Ints, signatures: Ints, aligned: Ints) -> Places:
    owned = np.flatnonzero(owner >= 0)
    factors = owned[np.lexsort((aligned[owned], signatures[owned], owner[owned]))]
    pair = np.column_stack((owner[factors], signatures[factors]))
    starts = (
        np.flatnonzero(np.concatenate(([True], (pair[1:] != pair[:-1]).any(axis=1))))
        if len(pair)
        else owned
    )
    tables = aligned[factors]
    tokens = group_lists(np.append(starts, len(factors)), tables + 1)
    tokens[tables[starts] < 0] = -1  # sorted, so unknown ones come first
    individuals = int(owner.max(initial=-1)) + 1
    first = np.searchsorted(owner[factors][starts], np.arange(individuals + 1))
    return Places(owner[factors][starts], signatures[factors][starts], tokens, first)


def _candidates(
    places: Places, owner: Ints, signatures: Ints, aligned: Ints, factors: Ints
) -> Candidates:
    """Receivers and candidates among the factors of one signature."""
    homes = distinct(owner[factors])
    row = np.searchsorted(homes, owner[factors])
    features = _features(places, homes, int(signatures[factors[0]]))
    known = aligned[factors] >= 0
    features = features[:, _informative(features[row[known]], aligned[factors[known]])]
    return _backed_off(factors[~known], features[row[~known]], factors[known], features[row[known]])


def _features(places: Places, homes: Ints, signature: int) -> Ints:
    """What individuals have in their commonest other places: from 1 on, 0 none, -1 unknown.

    One row per individual, one column per place, in the order in which such places are declared.
    """
    here, _ = taken_lists(places.first, np.arange(len(places.owner)), homes)
    rows = np.repeat(np.arange(len(homes)), np.diff(places.first)[homes])
    other = places.signature[here] != signature
    here, rows = here[other], rows[other]
    frequency = np.bincount(places.signature[here])
    common = np.argsort(-frequency, kind="stable")[:MOST_CONSIDERED]
    common = np.sort(common[frequency[common] > 0])
    column = np.full(len(frequency), -1, dtype=np.int64)
    column[common] = np.arange(len(common))
    column = column[places.signature[here]]
    kept = column >= 0
    tokens = places.token[here[kept]]
    features = np.zeros((len(homes), len(common)), dtype=np.int64)
    features[rows[kept], column[kept]] = np.where(tokens < 0, -1, tokens + 1)
    return features


def _informative(features: Ints, tables: Ints) -> Ints:
    """The columns that tell something about the tables, best first."""
    scores = np.array(
        [round(_information(column, tables), 6) for column in features.T], dtype=np.float64
    )
    best = np.argsort(-scores, kind="stable")[:MOST_PLACES]
    return best[scores[best] > 0]


def _information(column: Ints, tables: Ints) -> float:
    """How much a column tells about tables: Wilks's G less its expectation, 0 if it may be chance.

    Values that stand but once tell nobody anything and are left out.
    Wilks (1938), The large-sample distribution of the likelihood ratio for testing composite
    hypotheses.
    """
    column, tables = column[column >= 0], tables[column >= 0]
    repeated = (np.bincount(column)[column] > 1) & (np.bincount(tables)[tables] > 1)
    if not repeated.any():
        return 0.0
    first, second = by_first_occurrence(column[repeated]), by_first_occurrence(tables[repeated])
    pair = group_rows(np.column_stack((first, second)))
    joint, rows, columns = np.bincount(pair), np.bincount(first), np.bincount(second)
    expected = np.zeros(len(joint))
    expected[pair] = rows[first] * columns[second] / len(pair)
    statistic = 2 * float(np.sum(joint * np.log(joint / expected)))
    freedom = (len(rows) - 1) * (len(columns) - 1)
    return (
        max(statistic - freedom, 0.0)
        if statistic > freedom + CHANCE * np.sqrt(2 * freedom)
        else 0.0
    )


def _backed_off(receivers: Ints, wanted: Ints, donors: Ints, offered: Ints) -> Candidates:
    """Receivers that find donors which agree with them; columns are left out from the last one on.

    wanted, offered: what receivers and donors have in each column, -1 unknown.
    """
    class_of = np.full(len(receivers), -1, dtype=np.int64)
    agreed: list[int] = []
    found: list[tuple[Ints, Ints]] = []
    known = wanted >= 0
    codes = known @ (1 << np.arange(wanted.shape[1]))
    for width in range(wanted.shape[1], 0, -1):
        open_ = np.flatnonzero((class_of < 0) & known[:, width - 1])
        for group in members(by_first_occurrence(codes[open_] % (1 << width))):
            rows = open_[group]
            columns = np.flatnonzero(known[rows[0], :width])
            alike = group_rows(1 + np.concatenate((wanted[rows][:, columns], offered[:, columns])))
            asked, lent = alike[: len(rows)], alike[len(rows) :]
            lent = np.where(lent > asked.max(), -1, lent)  # nobody here has what these donors have
            served = np.bincount(lent[lent >= 0], minlength=int(asked.max()) + 1) > 0
            number = np.append(np.where(served, len(agreed) + np.cumsum(served) - 1, -1), -1)
            class_of[rows] = number[asked]
            lending = np.flatnonzero(number[lent] >= 0)
            found.append((number[lent[lending]], donors[lending]))
            agreed += [len(columns)] * int(served.sum())
    filled = class_of >= 0
    return Candidates(
        receivers[filled],
        class_of[filled],
        _joined([of for of, _ in found]),
        _joined([donor for _, donor in found]),
        np.array(agreed, dtype=np.int64),
    )
