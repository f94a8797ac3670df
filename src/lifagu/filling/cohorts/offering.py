"""Which tables compete for the holes of a place, by cohorts: the likeliest, and who has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.found import PlaceCohorts
from lifagu.filling.cohorts.place_evidence import Counts, TableTokens
from lifagu.filling.cohorts.posterior import LIKELY, CohortPosterior, HolesOfPlace, chunks
from lifagu.filling.donors import Offers

MOST_COMPETING = 20  # tables of a class that are named
FAMILY = 20.0  # spread at which what looks like one table is as likely to be several


@dataclass(frozen=True, eq=False)
class MostProbable(Frozen):
    """For each class of holes its likeliest table: number `table` of `tables`, (T, size).

    donor: a factor that has exactly this table, -1 where nobody has.
    """

    table: Ints
    tables: Floats
    donor: Ints


def table_chances(posterior: CohortPosterior, number: int, kinds: Ints) -> Floats:
    """How likely each table of a place is for holes whose owners are of these kinds, (·, T).

    Exact tables are those that occur twice at least (others cannot be expected anywhere);
    estimated ones are the atoms of the sort of cohorts that counts most.
    """
    shown = posterior.places.places[number].shown
    if not isinstance(shown.evidence, TableTokens):
        here = posterior.cohorts.found[0].places[number]
        return posterior.which(number, kinds, 0) * certainty(here)
    chances = np.zeros((len(kinds), shown.evidence.size))
    for model, weight in enumerate(posterior.cohorts.weights.tolist()):
        chances += weight * posterior.which(number, kinds, model)
    return chances[:, :-1] if len(shown.donors) > 1 else chances


def certainty(here: PlaceCohorts) -> float:
    """How likely what looks like one table is one.

    If it scatters, it may be several that nobody can tell apart.
    """
    if len(here.atoms) != 1 or not np.isfinite(here.spread):
        return 1.0
    return here.spread / (here.spread + FAMILY)


def _in_chunks(posterior: CohortPosterior, number: int) -> Iterator[Floats]:
    """The chances of all classes of holes of a place, some at a time."""
    kinds = posterior.holes[number].kinds
    width = posterior.cohorts.found[0].places[number].choices.shape[1]
    return (table_chances(posterior, number, kinds[some]) for some in chunks(len(kinds), width))


def most_probable(posterior: CohortPosterior, number: int) -> MostProbable:
    """The likeliest table of each class of holes of a place."""
    place = posterior.holes[number].place
    best = _joined([chances.argmax(axis=1) for chances in _in_chunks(posterior, number)])
    if isinstance(place.shown.evidence, TableTokens):
        return MostProbable(best, place.shown.tables, place.shown.donors[best])
    atoms = posterior.cohorts.found[0].places[number].atoms
    return MostProbable(best, place.shown.in_order(atoms), np.full(len(best), -1))


def likeliest_behind(posterior: CohortPosterior, number: int) -> Floats:
    """The likeliest table behind each estimated one of a place, (rows, size)."""
    shown, here = posterior.places.places[number].shown, posterior.cohorts.found[0].places[number]
    which = here.which_known(shown.evidence, posterior.belonging[0][posterior.kind_of])
    return np.asarray(shown.in_order(here.atoms)[which.argmax(axis=1)])


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
        unit="cohort",
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
    best = [_likeliest(chances) for chances in _in_chunks(posterior, number)]
    order = np.vstack([each for each, _ in best])
    weights = np.vstack([each for _, each in best])
    kept = weights >= LIKELY
    kept[:, 0] = True
    support, donors = holders(posterior, number)
    cohort = posterior.belonging[0][holes.kinds].argmax(axis=1)
    nearest = donors[order, cohort[:, None]]
    if not isinstance(holes.place.shown.evidence, TableTokens) or len(holes.place.shown.donors) > 1:
        return _Offered(kept.sum(axis=1), support[order][kept], nearest[kept], weights[kept])
    # nobody shares a table: any of those that there are, by chance
    alone = np.full(len(kept), 1 / max(holes.place.shown.alone, 1))
    first = np.full(len(kept), holes.place.first)
    return _Offered(
        np.ones(len(kept), dtype=np.int64), np.ones(len(kept), dtype=np.int64), first, alone
    )


def _likeliest(chances: Floats) -> tuple[Ints, Floats]:
    """The likeliest few tables of each row, and how likely they are."""
    few = min(MOST_COMPETING, chances.shape[1])
    if chances.shape[1] > 4 * few:  # sorting all would take long
        some = np.sort(np.argpartition(-chances, few - 1, axis=1)[:, :few], axis=1)
        order = np.argsort(-np.take_along_axis(chances, some, axis=1), axis=1, kind="stable")
        order = np.take_along_axis(some, order, axis=1)
    else:
        order = np.argsort(-chances, axis=1, kind="stable")[:, :few]
    return order, np.take_along_axis(chances, order, axis=1)


def holders(posterior: CohortPosterior, number: int) -> tuple[Ints, Ints]:
    """How many known factors have each table (T,), and who of each cohort has it most surely.

    The second is (T, K), for the sort of cohorts that counts most; where nobody of a cohort has a
    table, it is somebody of another.
    """
    place = posterior.places.places[number]
    evidence, belonging = place.shown.evidence, posterior.belonging[0]
    by = belonging[posterior.kind_of[evidence.owners.of]]
    if isinstance(evidence, Counts):
        here = posterior.cohorts.found[0].places[number]
        rows = here.which_known(evidence, belonging[posterior.kind_of])
        table, count = rows.argmax(axis=1), rows.shape[1]
        by = by * rows[np.arange(len(table)), table][:, None]
    else:
        table, count = evidence.codes, evidence.size
    many = np.bincount(table, minlength=count)
    order = np.lexsort((place.known, table))  # those with one table side by side, as declared
    table, known, sure = table[order], place.known[order], np.round(by[order], 9)
    starts = np.flatnonzero(np.diff(table, prepend=-1))
    most = np.repeat(np.maximum.reduceat(sure, starts), np.diff(starts, append=len(table)), axis=0)
    donors = np.full((count, by.shape[1]), place.first, dtype=np.int64)
    for cohort in range(by.shape[1]):
        surest = np.flatnonzero(sure[:, cohort] == most[:, cohort])[::-1]
        donors[table[surest], cohort] = known[surest]  # the first declared comes last
    return np.maximum(many, 1), donors
