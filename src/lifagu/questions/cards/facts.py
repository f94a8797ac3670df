"""What was observed about an individual, and what is expected of the rest, beside what is usual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.cached import cached_property
from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.cards.answering import (
    FEW_OBSERVED,
    MOST_OTHERS,
    Usual,
    answers_or_why,
    average,
    predicted,
)
from lifagu.questions.cards.individual import Individual
from lifagu.questions.cards.parts import KnownFact, More, PredictedValue
from lifagu.questions.conditions import condition_relations
from lifagu.questions.statement import Statement
from lifagu.relational.grounding import ground_names

MOST_OF_RELATION = 8  # facts, and predictions, of one relation


@dataclass(frozen=True, eq=False)
class Facts:
    """The variables of an individual, observed or not, and all that was observed."""

    case: Statement
    who: Individual
    seen: NamedEvidence

    @property
    def _graph(self) -> FactorGraph:
        return self.who.graph

    @cached_property
    def _values(self) -> Ints:
        """The observed value of each variable, -1 where there is none."""
        return self.seen.bound.value_of_each(len(self._graph.variable_names))

    # ---- known

    def known(self) -> tuple[tuple[KnownFact, ...], tuple[More, ...]]:
        """What was observed, the first of each relation, and how many more there are."""
        values = self._values
        soft = np.isin(self.who.variables, self.seen.bound.soft_variables)
        mine = self.who.variables[(values[self.who.variables] >= 0) | soft]
        shown, more = self._first_of_each(mine)
        return tuple(self._known(each, values) for each in shown), more

    def _known(self, variable: int, values: Ints) -> KnownFact:
        about = self._about(variable)
        said, own = self.seen[about[1]], int(values[variable])
        peers = values[self.who.peers(variable)]
        observed = int((peers >= 0).sum())
        return KnownFact(
            *about,
            self._likeliest(variable, said),
            own >= 0,
            int((peers == own).sum()) / observed if own >= 0 else None,
            observed,
        )

    def _likeliest(self, variable: int, said: Observation) -> str:
        """What was observed, or is likeliest where that is not certain."""
        if isinstance(said, str):
            return said
        if isinstance(said, Mapping):
            return max(said, key=said.__getitem__)
        return self._graph.labels(variable)[int(np.argmax(said))]

    def _first_of_each(self, variables: Ints) -> tuple[list[int], tuple[More, ...]]:
        """The first variables of each relation, and how many more there are."""
        found: dict[str, list[int]] = {}
        for each in variables.tolist():
            found.setdefault(self.who.relation(each), []).append(each)
        shown = [each for some in found.values() for each in some[:MOST_OF_RELATION]]
        left = {name: len(some) - MOST_OF_RELATION for name, some in found.items()}
        return shown, tuple(More(name, count) for name, count in left.items() if count > 0)

    # ---- predicted

    def predicted(self) -> tuple[tuple[PredictedValue, ...], tuple[More, ...], tuple[str, ...]]:
        """What is expected of the others, how many more there are, and what only tells."""
        values = self._values
        hidden = self.who.variables[values[self.who.variables] < 0]
        asked, conditions = self._without_conditions(hidden)
        shown, more = self._first_of_each(asked)
        by_relation: dict[tuple[str, int], list[int]] = {}
        for each in shown:
            key = self.who.relation(each), len(self.who.of(each))
            by_relation.setdefault(key, []).append(each)
        peers = {key: self.who.peers(some[0]) for key, some in by_relation.items()}
        others = {
            key: self._some_others(these[values[these] < 0])
            for key, these in peers.items()
            if (values[these] >= 0).sum() < FEW_OBSERVED
        }
        wanted = dict.fromkeys([*shown, *(each for some in others.values() for each in some)])
        names = self._graph.variable_names.of_nodes(np.array([*wanted], dtype=np.int64))
        said = dict(zip(wanted, answers_or_why(self.case, names), strict=True))
        found = []
        for key, some in by_relation.items():
            if key in others:
                usual = average([(said[each], 1) for each in others[key]])
            else:
                usual = self._frequencies(some[0], values[peers[key]])
            found += [predicted(*self._about(each), said[each], usual) for each in some]
        return tuple(found), more, conditions

    def _without_conditions(self, variables: Ints) -> tuple[Ints, tuple[str, ...]]:
        """Those that can be asked about, and relations of the others, which only tell."""
        conditions = condition_relations(self.case.opened.loaded(self.case.place))
        if not conditions or self.case.added:
            return variables, ()
        tells = np.isin(ground_names(self._graph).origins(variables) - 1, conditions)
        names = dict.fromkeys(self.who.relation(each) for each in variables[tells].tolist())
        return variables[~tells], tuple(names)

    def _some_others(self, peers: Ints) -> list[int]:
        """Some variables that are not about it, from all over the relation."""
        peers = peers[~np.isin(peers, self.who.variables)]
        places = np.linspace(0, len(peers) - 1, min(len(peers), MOST_OTHERS)).astype(np.int64)
        chosen: list[int] = peers[places].tolist()
        return chosen

    def _about(self, variable: int) -> tuple[str, str, tuple[str, ...]]:
        """The relation and name of a variable, and whom else it is about."""
        name = self._graph.variable_names[variable]
        return self.who.relation(variable), name, self.who.others(variable)

    def _frequencies(self, variable: int, values: Ints) -> Usual:
        """How often each label was observed in a relation."""
        labels, order = self._graph.labels(variable), self._graph.declared_order(variable)
        seen = values[values >= 0]
        counts: Floats = np.bincount(seen, minlength=len(labels))[order] / max(len(seen), 1)
        return Usual(dict(zip(labels, counts.tolist(), strict=True)), len(seen), "observed")
