"""Which tables compete for the holes of a place, by cohorts: the likeliest, and who has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.place_evidence import Counts, Tokens
from lifagu.filling.cohorts.posterior import LIKELY, CohortPosterior, HolesOfPlace
from lifagu.filling.donors import Offers

MOST_COMPETING = 20  # tables of a class that are named


@dataclass(frozen=True, eq=False)
class MostProbable(Frozen):
    """For each class of holes its likeliest table: number `table` of `tables`, (T, size).

    donor: a factor that has exactly this table, -1 where nobody has.
    """

    table: Ints
    tables: Floats
    donor: Ints


def table_chances(posterior: CohortPosterior, number: int) -> Floats:
    """How likely each table of a place is for each class of its holes, (classes, T).

    Exact tables are those that occur twice at least (others cannot be expected anywhere);
    estimated ones are the atoms of the sort of cohorts that counts most.
    """
    holes = posterior.holes[number]
    if not isinstance(holes.place.shown.evidence, Tokens):
        return holes.which[0]
    weights = posterior.cohorts.weights
    chances = sum(weight * which for weight, which in zip(weights, holes.which, strict=True))
    return np.asarray(chances)[:, :-1] if len(holes.place.shown.donors) > 1 else np.asarray(chances)


def most_probable(posterior: CohortPosterior, number: int) -> MostProbable:
    """The likeliest table of each class of holes of a place."""
    place = posterior.holes[number].place
    best = table_chances(posterior, number).argmax(axis=1)
    if isinstance(place.shown.evidence, Tokens):
        return MostProbable(best, place.shown.tables, place.shown.donors[best])
    atoms = posterior.cohorts.found[0].places[number].atoms
    return MostProbable(best, place.shown.in_order(atoms), np.full(len(best), -1))


def offers_by_cohorts(posterior: CohortPosterior) -> Offers:
    """The tables that compete for every hole, each class of holes with its own chances."""
    parts = [
        _offered(posterior, number, holes)
        for number, holes in enumerate(posterior.holes)
        if len(holes.kinds)
    ]
    left = posterior.places.left
    receivers = [holes.place.holes for holes in posterior.holes if len(holes.kinds)]
    class_of, classes = list[Ints](), 0
    for holes in posterior.holes:
        if len(holes.kinds):
            class_of.append(classes + holes.class_of)
            classes += len(holes.kinds)
    many = np.concatenate([*(each.many for each in parts), np.zeros(len(left), dtype=np.int64)])
    donors = _joined([each.donors for each in parts])
    return Offers(
        np.concatenate([*receivers, left]),
        np.concatenate([*class_of, classes + np.arange(len(left))]).astype(np.int64),
        np.zeros(sum(map(len, receivers)) + len(left), dtype=np.int64),
        offsets_of(many.astype(np.int64)),
        _joined([each.support for each in parts]),
        np.arange(len(donors)),
        donors,
        posterior.places.keys,
        weights=np.concatenate([np.zeros(0), *(each.weights for each in parts)]),
    )


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Offered(Frozen):
    """Alternatives of the classes of a place, class by class, the likeliest first."""

    many: Ints
    support: Ints
    donors: Ints
    weights: Floats


def _offered(posterior: CohortPosterior, number: int, holes: HolesOfPlace) -> _Offered:
    chances = table_chances(posterior, number)
    few = min(MOST_COMPETING, chances.shape[1])
    order = np.argsort(-chances, axis=1, kind="stable")[:, :few]
    weights = np.take_along_axis(chances, order, axis=1)
    kept = weights >= LIKELY
    kept[:, 0] = True
    support, donors = _having(posterior, number)
    cohort = posterior.belonging[0][holes.kinds].argmax(axis=1)
    nearest = donors[order, cohort[:, None]]
    if not isinstance(holes.place.shown.evidence, Tokens) or len(holes.place.shown.donors) > 1:
        return _Offered(kept.sum(axis=1), support[order][kept], nearest[kept], weights[kept])
    # nobody shares a table: any of those that there are, by chance
    alone = np.full(len(kept), 1 / max(holes.place.shown.alone, 1))
    first = np.full(len(kept), holes.place.first)
    return _Offered(
        np.ones(len(kept), dtype=np.int64), np.ones(len(kept), dtype=np.int64), first, alone
    )


def _having(posterior: CohortPosterior, number: int) -> tuple[Ints, Ints]:
    """How many known factors have each table (T,), and who of each cohort has it most surely.

    The second is (T, K), for the sort of cohorts that counts most; where nobody of a cohort has a
    table, it is somebody of another.
    """
    place = posterior.places.places[number]
    evidence, belonging = place.shown.evidence, posterior.belonging[0]
    by = belonging[posterior.kind_of[evidence.owners.of]]
    if isinstance(evidence, Counts):
        rows = (
            posterior.cohorts.found[0]
            .places[number]
            .which_known(evidence, belonging[posterior.kind_of])
        )
    else:
        rows = np.eye(evidence.size)[evidence.codes]
    table = rows.argmax(axis=1)
    many = np.bincount(table, minlength=rows.shape[1])
    donors = np.full((rows.shape[1], by.shape[1]), place.first, dtype=np.int64)
    for cohort in range(by.shape[1]):
        # the surest of those with each table comes last, the first declared of equal ones
        sure = by[:, cohort] * rows[np.arange(len(table)), table]
        order = np.lexsort((-place.known, np.round(sure, 9)))
        donors[table[order], cohort] = place.known[order]
    return np.maximum(many, 1), donors
