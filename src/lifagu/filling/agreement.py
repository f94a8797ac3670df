"""Where nothing competes: classes of holes whose candidates all agree, which LIFAGU settles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints, group_rows
from lifagu.filling.alignment import aligned_tables
from lifagu.filling.donors import Offers, best
from lifagu.filling.result import Transfer
from lifagu.likeness.merging import scaled_tables

FEWEST = 2  # individuals that match as a whole and agree, where others have other tables


def agreed_offers(plain: Transfer) -> list[Offers]:
    """The offers of a transfer to classes whose candidates all agree on tables that are exact.

    A single individual that matches as a whole agrees with nobody: its tables are taken only if all
    factors in such places have them.
    """
    return [offers.only(_agreed(plain, offers)) for offers in plain.offers]


def _agreed(plain: Transfer, offers: Offers) -> NDArray[np.bool_]:
    graph, agreed = plain.original, offers.alternatives == 1
    places = np.flatnonzero(agreed[offers.class_of])
    doubtful = np.zeros(len(places), dtype=np.bool_)
    if graph.support is not None:
        doubtful |= graph.support.estimated[offers.donors_of(places, best(offers))]
    if offers.unit == "individual":
        few = offers.candidates[offers.class_of[places]] < FEWEST
        if few.any():
            receivers = offers.receivers[places]
            doubtful |= few & (_tables_in_places(plain, offers.keys)[receivers] > 1)
    agreed[offers.class_of[places[doubtful]]] = False
    return np.asarray(agreed)


def _tables_in_places(plain: Transfer, keys: Ints) -> Ints:
    """For each factor how many different tables there are in places like its own."""
    graph, signatures = plain.original, plain.signatures
    tables = scaled_tables(graph.tables) if plain.filling.up_to_scale else graph.tables
    aligned = aligned_tables(graph, tables, keys)
    known = np.flatnonzero(aligned >= 0)
    pairs = np.column_stack((signatures[known], aligned[known]))
    one = np.unique(group_rows(pairs), return_index=True)[1]
    count = np.bincount(signatures[known[one]], minlength=int(signatures.max(initial=-1)) + 1)
    return np.asarray(count[signatures])
