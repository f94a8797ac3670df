"""What tells about each attribute: candidates of every subject put together, weighed and chosen.

An attribute with many gaps may be missing because of what it is. Its gaps must not tell about
others then, as they would if they were summed over in a table with main effects of both; so nobody
is told by it but along a table that is given the others, and such tables have an order; unless
pairs tell rows that were left out clearly better. Where most attributes of a subject are such, all
are: a network is learned faster than a mixture of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lifagu.basics.progress import Progress
from lifagu.drafting.attributes import Attribute
from lifagu.drafting.candidates import Candidate, along, beside, groups
from lifagu.drafting.choosing import ChosenTables, PairsTold, Weighing, picked_rows
from lifagu.drafting.given import BEYOND, GivenTold
from lifagu.drafting.keys import Link, Sorts
from lifagu.drafting.paths import LinkPath, PathFinder
from lifagu.drafting.seen import SeenTable
from lifagu.drafting.subjects import DraftSubject, Understanding

FOLDS = 5  # of rows that are left out in turn
SPARSE = 0.4  # share of gaps from which on an attribute is told, and tells only along that


@dataclass(frozen=True, eq=False)
class Teller:
    """Weighs candidates; most: tables that are chosen for each attribute."""

    tables: Mapping[str, SeenTable]
    links: tuple[Link, ...]
    sorts: Sorts
    most: int
    seed: int
    progress: Progress

    def chosen(
        self,
        understood: Understanding,
        attributes: Sequence[Attribute],
        asked: Sequence[Attribute],
        listed: Sequence[Candidate] = (),
    ) -> list[ChosenTables]:
        """For each attribute that is to be predicted what tells about it; listed: whole lists."""
        by_subject: dict[str, list[Attribute]] = {name: [] for name in understood.subjects}
        for each in attributes:
            by_subject[each.subject.name].append(each)
        paths = self._paths(understood)
        wanted = {id(each) for each in asked}
        columns = {each.column for each in asked}
        found: list[ChosenTables] = []
        for name, subject in understood.subjects.items():
            targets = [each for each in by_subject[name] if id(each) in wanted]
            if not targets:
                continue
            candidates = [
                *_candidates(subject, by_subject, paths, wanted),
                *groups(subject, self.links, self.sorts, columns),
                *(each for each in listed if each.subject is subject),
            ]
            width = sum(each.size for each in candidates if not each.is_group)
            picked = picked_rows(subject.table.size, width, self.seed)
            share = len(picked) / max(1, subject.table.rows)
            weighing = Weighing(list(candidates), picked, subject.table.size, share)
            places = _places(asked)
            alone = all(each.path is None or each.is_listed for each in candidates)
            is_network = alone and sum(places[id(each)] > 0 for each in targets) > len(targets) / 2
            if is_network:
                places |= _ordered(targets)
            teller = _SubjectTeller(
                candidates, weighing, places, len(targets), is_network, self.most, self.seed
            )
            told: dict[int, ChosenTables] = {}
            for target in sorted(targets, key=lambda each: places[id(each)] or len(places) + 1):
                self.progress.stage(f"choosing what tells about {target.name}")
                self.progress(len(found) + len(told), len(asked))
                told[id(target)] = teller.told(target)
            found += [told[id(each)] for each in targets]
        return found

    def _paths(self, understood: Understanding) -> list[LinkPath]:
        subject_of = dict(understood.subjects)
        for subject in understood.subjects.values():
            subject_of |= dict.fromkeys(subject.sides, subject)
        finder = PathFinder(self.tables, self.links, subject_of)
        found: list[LinkPath] = []
        for subject in understood.subjects.values():
            found += finder.up(subject)
            found += finder.across(subject, understood.lists)
        return found


@dataclass(frozen=True, eq=False)
class _SubjectTeller:
    """Weighs what tells about attributes of one subject, those with many gaps first.

    places: of those that have many gaps, in order; 0 for others, and for those that pairs tell
    better all the same. is_network: whether all are told by given tables.
    """

    candidates: Sequence[Candidate]
    weighing: Weighing
    places: dict[int, int]
    targets: int
    is_network: bool
    most: int
    seed: int

    def told(self, target: Attribute) -> ChosenTables:
        """What tells about one attribute: pairs, or with many gaps one table given others.

        There pairs have to tell rows that were left out better than that one, beyond chance.
        """
        if not self.places[id(target)]:
            return self._pairs(target).run(self.most)
        given = GivenTold(target, self.weighing, _allowed(self.candidates, target, self.places))
        found = given.run(self.targets)
        if self.is_network:
            return found
        pairs = self._pairs(target)
        others = pairs.run(self.most)
        if not self._is_better(target, pairs, given):
            return found
        self.places[id(target)] = 0
        return others

    def _pairs(self, target: Attribute) -> PairsTold:
        places = {**self.places, id(target): 0}
        return PairsTold(target, self.weighing, _allowed(self.candidates, target, places))

    def _is_better(self, target: Attribute, pairs: PairsTold, given: GivenTold) -> bool:
        known = np.flatnonzero(target.codes[self.weighing.picked] >= 0)
        if len(known) < FOLDS:
            return False
        folds = np.array_split(np.random.default_rng(self.seed).permutation(known), FOLDS)
        gained = (pairs.left_out(folds) - given.left_out(folds))[known]
        return bool(gained.sum() > BEYOND * np.sqrt(len(known)) * gained.std())


def _candidates(
    subject: DraftSubject,
    by_subject: Mapping[str, Sequence[Attribute]],
    paths: Sequence[LinkPath],
    wanted: Collection[int],
) -> Iterator[Candidate]:
    yield from beside(subject, by_subject[subject.name])
    for path in paths:
        if path.subject is subject:
            # what its own rows say of their owner, it has as a group already
            told = [each for each in by_subject[path.other.name] if each.listed != subject.name]
            told = [each for each in told if each.coarser is None]
            if path.is_crowded:
                told = [each for each in told if id(each) not in wanted]
            yield from along(path, told, False)
        if path.other is subject and not path.is_crowded:
            told = [each for each in by_subject[path.subject.name] if id(each) in wanted]
            yield from along(path, told, True)


def _places(asked: Sequence[Attribute]) -> dict[int, int]:
    """The place of each attribute among those with many gaps, fewest gaps first; 0 for others."""
    sparse = [each for each in asked if _missing(each) > SPARSE]
    return {**dict.fromkeys(map(id, asked), 0), **_ordered(sparse)}


def _ordered(attributes: Sequence[Attribute]) -> dict[int, int]:
    """The place of each, from 1 on, those with the fewest gaps first."""
    return {id(each): place for place, each in enumerate(sorted(attributes, key=_missing), 1)}


def _missing(attribute: Attribute) -> float:
    """The share of gaps among individuals that could have a value."""
    return 1 - float((attribute.codes >= 0).sum()) / max(1, int(attribute.there.sum()))


def _allowed(
    candidates: Sequence[Candidate], target: Attribute, places: Mapping[int, int]
) -> list[int]:
    """Candidates that may tell about an attribute: not itself, nor whether it is known itself.

    One with many gaps is told by those before it alone, and tells nobody else.
    """
    mine = places[id(target)]
    found = []
    for number, each in enumerate(candidates):
        other = each.other
        if other is None:
            if not (each.is_crossed and mine > 0):
                found.append(number)
            continue
        place = places.get(id(other.coarser or other), 0)
        own = each.path is None and target in (other, other.known_of, other.coarser)
        if other.coarser is not None and (mine > 0 or place > 0):
            continue
        late = place > 0 and (place >= mine or each.path is not None)
        sideways = mine > 0 and each.path is not None
        if not own and not late and not sideways:
            found.append(number)
    return found
