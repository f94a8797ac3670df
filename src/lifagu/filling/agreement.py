"""Where nothing competes: classes of holes whose candidates all agree, which LIFAGU settles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, first_places, group_rows
from lifagu.filling.alignment import aligned_tables
from lifagu.filling.donors import Offers, best
from lifagu.filling.result import Transfer
from lifagu.likeness.merging import scaled_tables
from lifagu.likeness.roles import factor_signatures

FEWEST = 2  # individuals that match as a whole and agree, where others have other tables


def agreed_offers(plain: Transfer, estimated: NDArray[np.bool_] | None = None) -> list[Offers]:
    """The offers of a transfer to classes whose candidates all agree on tables that are exact.

    A single individual that matches as a whole agrees with nobody: its tables are taken only if all
    factors in such places have them. estimated[m]: whose tables are estimates; without it, those
    that have a support.
    """
    support = plain.original.support
    if estimated is None and support is not None:
        estimated = support.estimated
    return [offers.only(_agreed(plain, offers, estimated)) for offers in plain.offers]


def unsettled(plain: Transfer, settled: Sequence[Offers]) -> Ints:
    """The unknown factors that get nothing from these offers."""
    return np.setdiff1d(plain.unknown, np.concatenate([each.receivers for each in settled]))


def competing(
    plain: Transfer, keys: Ints, estimated: NDArray[np.bool_] | None = None
) -> tuple[Ints, Ints]:
    """The unknown factors that agreement leaves to cohorts, and how many tables there are for each.

    keys[e]: what each argument looks like to cohorts (`likeness.roles.place_roles`). Factors in
    places where nothing is known are left out, as nobody can say anything about them.
    """
    rest = unsettled(plain, agreed_offers(plain, estimated))
    signatures = factor_signatures(plain.original.offsets, keys)
    tables = _tables_in_places(plain, signatures, keys)[rest]
    return rest[tables > 0], tables[tables > 0]


def _agreed(
    plain: Transfer, offers: Offers, estimated: NDArray[np.bool_] | None
) -> NDArray[np.bool_]:
    agreed = offers.alternatives == 1
    places = np.flatnonzero(agreed[offers.class_of])
    doubtful = np.zeros(len(places), dtype=np.bool_)
    if estimated is not None:
        doubtful |= estimated[offers.donors_of(places, best(offers))]
    if offers.unit == "individual":
        few = offers.candidates[offers.class_of[places]] < FEWEST
        if few.any():
            receivers = offers.receivers[places]
            own = factor_signatures(plain.original.offsets, offers.keys)
            tables = _tables_in_places(plain, own, offers.keys)
            doubtful |= few & (tables[receivers] > 1)
    agreed[offers.class_of[places[doubtful]]] = False
    return np.asarray(agreed)


def _tables_in_places(plain: Transfer, signatures: Ints, keys: Ints) -> Ints:
    """For each factor how many different tables there are in places with its signature."""
    graph = plain.original
    tables = scaled_tables(graph.tables) if plain.filling.up_to_scale else graph.tables
    aligned = aligned_tables(graph, tables, keys)
    known = np.flatnonzero(aligned >= 0)
    pairs = np.column_stack((signatures[known], aligned[known]))
    one = first_places(group_rows(pairs))
    count = np.bincount(signatures[known[one]], minlength=int(signatures.max(initial=-1)) + 1)
    return np.asarray(count[signatures])
