"""Cohorts as a picture: who is where and how surely, who has holes, what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.words import stem
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.reasons import CohortReasons
from lifagu.questions.cards.alike import names_of_owners
from lifagu.web.inputs import Request
from lifagu.web.workbench import Workbench

MOST_COHORTS = 24
MOST_SHOWN = 60  # individuals of one cohort
MOST_TELLING = 3  # places by which a cohort is told from others
MOST_STATES = 16  # of a table that is shown as bars
TELLING = 0.02  # how far a table is from the usual one, at least, to tell something
NO_COHORTS = "Cohorts have filled nothing here: no tables compete, or another rule was chosen."
ONE_COHORT = "Nobody can be told apart: there is one cohort, and it is everybody."


def cohorts(bench: Workbench, request: Request) -> dict[str, Any]:
    """The cohorts by size, each with its members, its holes, and what its tables are like."""
    case = bench.case(request)
    moved = None if case.is_whole else case.transfer
    if not isinstance(moved, CohortTransfer) or not len(moved.posterior.belonging):
        return {"cohorts": [], "more": 0, "note": NO_COHORTS}
    picture = _Picture(moved)
    listed = [picture.cohort(each) for each in picture.by_size[:MOST_COHORTS].tolist()]
    return {
        "cohorts": listed,
        "more": max(len(picture.by_size) - MOST_COHORTS, 0),
        "note": ONE_COHORT if len(listed) == 1 else "",
    }


class _Picture:
    """The sort of cohorts that counts most, with everybody where they most likely belong."""

    def __init__(self, moved: CohortTransfer) -> None:
        self._graph = moved.original
        self._reasons: CohortReasons = moved.reasons
        self._posterior = moved.posterior
        belonging: Floats = self._posterior.belonging[self._reasons.sort]
        self._shares = belonging[self._posterior.kind_of]
        self._cohort_of: Ints = self._shares.argmax(axis=1)
        self._names = names_of_owners(self._graph, self._posterior.places.owners)
        sizes = np.bincount(self._cohort_of, minlength=belonging.shape[1])
        order = np.argsort(-sizes, kind="stable")
        self.by_size: Ints = order[sizes[order] > 0]
        places = self._posterior.places.places
        self._open = set(np.concatenate([each.owner_of_hole for each in places]).tolist())
        self._tables = [self._of_place(number) for number in range(len(places))]

    def cohort(self, cohort: int) -> dict[str, Any]:
        """One of them."""
        people = np.flatnonzero(self._cohort_of == cohort)
        sure = self._shares[people, cohort]
        order = np.argsort(-sure, kind="stable")
        shown = [
            {
                "name": self._names.get(who, ""),
                "share": float(self._shares[who, cohort]),
                "has_holes": who in self._open,
            }
            for who in people[order][:MOST_SHOWN].tolist()
        ]
        return {
            "number": int(np.flatnonzero(self.by_size == cohort)[0]) + 1,
            "size": len(people),
            "members": shown,
            "holes": sum(who in self._open for who in people.tolist()),
            "told_by": list(self._told_by(cohort)),
        }

    def _of_place(self, number: int) -> Floats:
        """The table to expect in each cohort of the sort, as shares that sum to one."""
        rows = np.cumsum([0, *(len(each.prior) for each in self._posterior.cohorts.found)])
        sort = self._reasons.sort
        tables = self._posterior.by_cohort(number)[rows[sort] : rows[sort + 1]]
        shares: Floats = tables / np.maximum(tables.sum(axis=1, keepdims=True), 1e-300)
        return shares

    def _told_by(self, cohort: int) -> Iterator[dict[str, Any]]:
        """The sorts of tables in which a cohort is furthest from what is usual."""
        sizes = np.bincount(self._cohort_of, minlength=len(self._tables[0]))
        apart = []
        for number, tables in enumerate(self._tables):
            usual = sizes @ tables / sizes.sum()
            apart.append((float(np.abs(tables[cohort] - usual).sum() / 2), number, usual))
        apart = [each for each in apart if each[0] >= TELLING and len(each[2]) <= MOST_STATES]
        apart.sort(key=lambda each: (-each[0], each[1]))
        for far, number, usual in apart[:MOST_TELLING]:
            place = self._posterior.places.places[number]
            yield {
                "name": stem(self._graph.factor_names[place.first]),
                "table": self._tables[number][cohort].tolist(),
                "usual": usual.tolist(),
                "states": self._states(place.first),
                "apart": far,
            }

    def _states(self, factor: int) -> list[str]:
        """The states of a factor's table in words, in the order of the table."""
        graph = self._graph
        named = [""]
        for variable in graph.scope(factor):
            head = graph.variable_names[variable].partition("(")[0].partition(".")[0]
            labels = [f"{head} {each}" for each in graph.labels(variable)]
            named = [f"{one}, {other}" if one else other for one in named for other in labels]
        return named
