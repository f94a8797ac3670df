"""What observations say about one hole: whom its owner is like before and after, and by what.

Which observation told most is found by leaving each out in turn; that takes a question for each, so
it is asked about single holes only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, by_first_occurrence, first_places
from lifagu.basics.cached import cached_property
from lifagu.basics.inputs import certain_label
from lifagu.errors import NoAnswerError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.hidden_cohorts import HiddenChoices
from lifagu.filling.cohorts.hidden_tables import HiddenTables
from lifagu.filling.cohorts.joint_model import JointModel
from lifagu.filling.cohorts.named_tables import NamedTables
from lifagu.filling.cohorts.offering import holders
from lifagu.filling.individuals import factor_owners
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import Evidence, EvidenceLike, NamedEvidence
from lifagu.inference.planning import prepare
from lifagu.questions.posterior_model import posterior_model
from lifagu.questions.told_table import CohortTold, ObservationTold, TableTold, ToldTable

MOST_LEFT_OUT = 20  # observations of its own that are left out in turn, to see what they told
HARDLY = 1e-3  # nats below which an observation tells nothing
MOVED = 0.01  # by how much a probability must have moved to be told unasked


def told_table(moved: Transfer, factor: str, evidence: EvidenceLike) -> ToldTable | None:
    """What observations say about the table of an unknown factor.

    None where it is not cohorts that fill it by posterior, or what was observed is impossible.
    """
    number = moved.original.factor_names.number(factor)
    if not isinstance(moved, CohortTransfer) or moved.way != "average":
        return None
    hole = int(moved.joint.opened[number]) - len(moved.joint.cohorts)
    if hole < 0:
        return None
    try:
        return _Telling(moved, number, hole, moved.original.evidence(evidence)).told()
    except NoAnswerError:
        return None


def most_told(
    moved: Transfer, posteriors: Floats, evidence: EvidenceLike, most: int
) -> list[ToldTable]:
    """The same of the holes whose likeliest table moved most, one for each of so many owners.

    posteriors: how likely these tables are, for each unknown factor.
    """
    if not isinstance(moved, CohortTransfer):
        return []
    far = np.nan_to_num(np.abs(posteriors - moved.shares))
    order = np.argsort(-far, kind="stable")
    order = order[far[order] >= MOVED]
    owners = moved.posterior.places.owners[moved.unknown[order]]
    chosen = order[first_places(by_first_occurrence(owners))][:most]
    names = moved.original.factor_names.of_nodes(moved.unknown[chosen])
    told = [told_table(moved, name, evidence) for name in names]
    return [each for each in told if each is not None]


@dataclass(frozen=True, eq=False)
class _Telling:
    """A factor, its hole (a place in `JointModel.tables`), and what was observed."""

    moved: CohortTransfer
    factor: int
    hole: int
    seen: Evidence

    def told(self) -> ToldTable:
        graph, before, after = self.moved.original, self._shares, self._asked(self.seen)
        owner = int(factor_owners(graph)[self.factor])
        usual, cohort = self._all_cohorts.shares, self._cohorts_given(after, self.seen)
        same = self._likeliest(before) == self._likeliest(after)
        return ToldTable(
            factor=graph.factor_names[self.factor],
            owner=graph.individuals[owner] if owner >= 0 else None,
            cohorts=self._cohort_count,
            cohort_before=self._cohort(usual),
            cohort_after=self._cohort(cohort),
            table_before=self._table(before, usual),
            table_after=self._table(after, usual if same else cohort),
            told_by=self._told_by(after),
        )

    # ---- the hole

    @property
    def _model(self) -> JointModel:
        return posterior_model(self.moved)

    @cached_property
    def _place(self) -> int:
        return self.moved.reasons.place_of(self.factor)

    @cached_property
    def _owner(self) -> int:
        return int(self.moved.posterior.places.owners[self.factor])

    @property
    def _here(self) -> slice:
        tables = self._model.tables
        return slice(*tables.offsets[[self.hole, self.hole + 1]].tolist())

    @property
    def _shares(self) -> Floats:
        return self._model.tables.shares[self._here]

    # ---- tables

    def _asked(self, seen: Evidence) -> Floats:
        """How likely each choice of its table is, given some observations."""
        return self._hidden(len(self._model.cohorts) + self.hole, seen)

    def _hidden(self, place: int, seen: Evidence) -> Floats:
        graph = self._model.graph
        name = graph.variable_names[self._model.first_variable + place]
        (answer,) = prepare(graph, [(name,)], seen).run().answers
        return np.asarray(answer.probabilities, dtype=np.float64)

    def _table(self, chances: Floats, cohorts: Floats) -> TableTold:
        """The likeliest table, and who has it of the likeliest cohort."""
        best = self._likeliest(chances)
        number = int(self._model.tables.choices[self._here][best])
        shown = self.moved.posterior.places.places[self._place].shown
        donor = self.moved.posterior.places.places[self._place].first
        if len(shown.donors) != 1:
            first = len(self.moved.posterior.cohorts.found[0].prior)
            nearest = int(cohorts[:first].argmax())
            donor = int(holders(self.moved.posterior, self._place)[1][number, nearest])
        name = self.moved.original.factor_names[donor]
        return TableTold(name, self._chance(chances, best))

    @cached_property
    def _named(self) -> NamedTables:
        """Its own choices alone."""
        every, tables = NamedTables.of(self.moved), self._model.tables
        own = HiddenChoices(
            tables.who[[self.hole]],
            np.array([0, len(self._shares)]),
            tables.choices[self._here],
            self._shares,
        )
        return NamedTables(own, every.compared[self._here], every.named[self._here])

    def _likeliest(self, chances: Floats) -> int:
        return int(self._named.likeliest(chances)[0])

    def _chance(self, chances: Floats, choice: int) -> float:
        """How likely a choice is, such that the likeliest one's share is that of its record."""
        record = int(np.searchsorted(self.moved.unknown, self.factor))
        usual = self._named.among(self._shares)[self._likeliest(self._shares)]
        sure = float(self.moved.shares[record]) / usual
        return float(sure * self._named.among(chances)[choice])

    # ---- cohorts

    @cached_property
    def _all_cohorts(self) -> HiddenChoices:
        """All cohorts of all sorts as what the owner may be in."""
        kind = self.moved.posterior.kind_of[[self._owner]]
        shares = self.moved.posterior.shares(kind)[0]
        count = len(shares)
        return HiddenChoices(
            np.array([self._owner]), np.array([0, count]), np.arange(count), shares
        )

    def _cohorts_given(self, chances: Floats, seen: Evidence) -> Floats:
        """How likely the owner is in each cohort of each sort, given observations.

        A cohort that is no variable of the model is known by this table alone.
        """
        hidden = self._model.cohorts
        if len(place := np.flatnonzero(hidden.who == self._owner)):
            found = np.zeros(len(self._all_cohorts.choices))
            own = slice(*hidden.offsets[[place[0], place[0] + 1]].tolist())
            found[hidden.choices[own]] = self._hidden(int(place[0]), seen)
            return found
        holes = self.moved.posterior.places.places[self._place].holes
        filled = np.flatnonzero(holes == self.factor)
        tables = HiddenTables(self.moved.posterior, self._place, filled)
        zero = np.zeros(1, dtype=np.int64)
        by = tables.by_cohort(zero, self._all_cohorts, zero)
        joint = self._all_cohorts.shares[:, None] * by.reshape(-1, len(chances))
        return np.asarray(joint @ (chances / np.maximum(joint.sum(axis=0), 1e-300)))

    def _cohort(self, chances: Floats) -> CohortTold:
        """The likeliest cohort of the sort that tells reasons."""
        reasons, posterior = self.moved.reasons, self.moved.posterior
        first = sum(len(found.prior) for found in posterior.cohorts.found[: reasons.sort])
        own = chances[first : first + self._cohort_count]
        best = int(own.argmax())
        kind = int(posterior.kind_of[self._owner])
        total = float(own.sum())
        return CohortTold(*reasons.named(best, kind), float(own[best]) / total if total else 0.0)

    @property
    def _cohort_count(self) -> int:
        return len(self.moved.posterior.cohorts.found[self.moved.reasons.sort].prior)

    # ---- which observation did it

    def _told_by(self, after: Floats) -> ObservationTold | None:
        """What would leave the table furthest from what it is, were it not observed."""
        best, found = self._likeliest(after), None
        for variable, left in self._leaving_out():
            without = self._asked(left)
            nats = _divergence(after, without)
            if nats > (HARDLY if found is None else found.nats):
                chance = self._chance(without, best), self._chance(after, best)
                found = ObservationTold(*self._observation(variable), *chance, nats)
        return found

    def _leaving_out(self) -> Iterator[tuple[int | None, Evidence]]:
        """What was observed but for one observation of the owner, or but for those of others."""
        graph, seen = self.moved.original, self.seen
        mine = np.isin(np.arange(len(graph.variable_names)), self._own_variables)
        observed = np.sort(seen.about)
        for variable in observed[mine[observed]][:MOST_LEFT_OUT].tolist():
            yield variable, seen.without(np.array([variable]), len(mine))
        if len(others := observed[~mine[observed]]):
            yield None, seen.without(others, len(mine))

    @cached_property
    def _own_variables(self) -> Ints:
        """The arguments of the owner's factors."""
        graph = self.moved.original
        own = self.moved.posterior.places.owners == self._owner
        return np.unique(graph.arguments[np.repeat(own, np.diff(graph.offsets))])

    def _observation(self, variable: int | None) -> tuple[str | None, str]:
        if variable is None:
            return None, "what was observed of others"
        graph = self.moved.original
        name = graph.variable_names[variable]
        value = NamedEvidence(self.seen, graph.bearers)[name]
        label = certain_label(value) if isinstance(value, Mapping) else value
        return name, label if isinstance(label, str) else "unsure"


def _divergence(true: Floats, other: Floats) -> float:
    """Kullback and Leibler's, in nats.

    >>> round(_divergence(np.array([0.5, 0.5]), np.array([0.9, 0.1])), 4)
    0.5108
    """
    some = true > 0
    return float((true[some] * np.log(true[some] / np.maximum(other[some], 1e-300))).sum())
