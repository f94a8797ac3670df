"""What answers rest on, by SQL: the tables that were lent within their connected parts.

As in memory, variables whose value was observed cut a part; soft evidence does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.progress import Announce
from lifagu.filling.chance import warning
from lifagu.inference.answer import Answer
from lifagu.questions.by_sql.completing import Completed, Filled
from lifagu.scale.folder_contents import names
from lifagu.scale.lent_tables import (
    Tally,
    find_lent,
    lent_first,
    lent_weakest,
    lent_within,
    register_lent,
)
from lifagu.scale.parts import find_parts

LINK = 200  # bytes that a link between variables takes while parts are finished here, at most
NAME = 200  # that the name of a factor takes


@dataclass(frozen=True)
class Support:
    """The transferred factors that an answer rests on, and the smallest share of agreement."""

    rests_on: tuple[str, ...] = ()
    weakest_share: float | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def given_to(self, answer: Answer) -> Answer:
        """The answer with all this."""
        return replace(
            answer,
            rests_on=self.rests_on,
            weakest_share=self.weakest_share,
            notes=(*answer.notes, *self.notes),
            warnings=(*answer.warnings, *self.warnings),
        )


def supports(
    whole: Completed, asked: Sequence[Sequence[int]], memory: int, stage: Announce
) -> tuple[Support, ...]:
    """What the answer to each question rests on; asked: its variables, but for those with a value.

    memory: in bytes, for what is finished here and for names; too many names are cut, with a note.
    """
    if not isinstance(whole, Filled):
        return (Support(),) * len(asked)
    part_of, lent = _lent_parts(whole, list(chain.from_iterable(asked)), memory, stage)
    by_parts: dict[tuple[int, ...], Support] = {(): Support()}
    found = []
    for question in asked:
        parts = tuple(sorted({part_of[each] for each in question if part_of.get(each) in lent}))
        if parts not in by_parts:
            by_parts[parts] = _support(whole, lent, parts, memory // NAME)
        found.append(by_parts[parts])
    return tuple(found)


def lent_behind(whole: Filled, asked: Sequence[int], memory: int, stage: Announce) -> Tally:
    """How many lent tables the answer about each variable rests on, and their smallest share.

    asked: variables without a value; those whose answers rest on nothing lent are left out.
    """
    part_of, lent = _lent_parts(whole, asked, memory, stage)
    return {each: lent[part] for each, part in part_of.items() if part in lent}


def tallied(tally: Tally, variables: Sequence[int]) -> tuple[Ints, Floats, Ints]:
    """How many tables there are for each variable, the smallest share (nan if none), guesses."""
    found = [tally.get(each, (0, np.nan, 0)) for each in variables]
    counts = np.array([count for count, _, _ in found], dtype=np.int64)
    shares = np.array([share for _, share, _ in found], dtype=np.float64)
    return counts, shares, np.array([guesses for _, _, guesses in found], dtype=np.int64)


def _lent_parts(
    whole: Filled, asked: Sequence[int], memory: int, stage: Announce
) -> tuple[dict[int, int], Tally]:
    """The connected part of each variable asked about, and what was lent within these parts."""
    if not asked or not len(whole.lent_types):
        return {}, {}
    stage("finding what answers rest on")
    journal, free = whole.journal, np.flatnonzero(~whole.hard)
    part_of = find_parts(journal, free, asked, memory // LINK)
    register_lent(journal, whole.lent_types, whole.lent_shares, whole.lent_guesses)
    find_lent(journal)
    return part_of, lent_within(journal)


def _support(whole: Filled, lent: Tally, parts: Sequence[int], most: int) -> Support:
    """What was lent within some parts, at most so many factors by name."""
    numbers = lent_first(whole.journal, parts, most)
    called = names(whole.journal, whole.given, "factors", numbers)
    count, weakest = sum(lent[part][0] for part in parts), min(lent[part][1] for part in parts)
    more = f"rests on {count} transferred factors, of which the first {len(called)} are named"
    notes = (more,) if count > len(called) else ()
    guesses = sum(lent[part][2] for part in parts)
    return Support(tuple(called), weakest, notes, _warnings(whole, parts, guesses, count))


def _warnings(whole: Filled, parts: Sequence[int], guesses: int, count: int) -> tuple[str, ...]:
    """What is to be said where tables are hardly better than guesses."""
    if not guesses or whole.transfer.way != "one":
        return ()
    kind = np.flatnonzero(whole.types.first == lent_weakest(whole.journal, parts))[0]
    place = int(np.searchsorted(whole.transfer.unknown, kind))
    return (warning(guesses, count, *whole.transfer.agreement(place)),)
