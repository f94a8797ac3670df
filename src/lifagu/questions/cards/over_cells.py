"""A card of one of very many individuals: over cells, without listing anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lifagu.basics.cached import cached_property
from lifagu.errors import ModelError, NotLiftedError
from lifagu.inference.relational.description import describe_relational
from lifagu.inference.relational.kinds import Kinds
from lifagu.inference.relational.problem import Shattered, shattered
from lifagu.questions import in_memory
from lifagu.questions.cards.answering import (
    FEW_OBSERVED,
    MOST_OTHERS,
    Usual,
    answers_or_why,
    average,
    predicted,
)
from lifagu.questions.cards.card import Card
from lifagu.questions.cards.parts import (
    AlikeIndividual,
    AlikeIndividuals,
    KnownFact,
    LinkedTo,
    PredictedValue,
)
from lifagu.questions.statement import Statement
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_GROUNDED = 200_000  # variables and factors; with more, nobody is listed
MOST_NAMES = 5
NO_REASONS = "reasons are told where the model is small enough to be listed one by one"


def is_large(case: Statement) -> bool:
    """Whether a relational model is better asked as it is than listed one by one."""
    model = case.model
    if not isinstance(model, ParfactorGraph) or not in_memory.is_whole(case):
        return False
    try:
        facts = describe_relational(model)
    except NotLiftedError:
        return False
    return bool(facts["variables"] + facts["factors"] > MOST_GROUNDED)


def card_over_cells(case: Statement, name: str, like: int) -> Card:
    """The card of a constant; what is alike for many others of it stands there once."""
    model = case.model
    if not isinstance(model, ParfactorGraph):
        raise ModelError("cells are those of relational models")
    domain, number = _constant(model, name)
    own = _OverCells(case, model, domain, number)
    called = model.vocabulary.individual(domain, number)
    return Card(
        called,
        model.domains[domain].name,
        tuple(own.known()),
        (),
        0,
        tuple(own.predicted()),
        (),
        (),
        (),
        tuple(own.links()),
        tuple(own.alike(like)),
        (NO_REASONS,),
    )


def _constant(model: ParfactorGraph, name: str) -> tuple[int, int]:
    """The domain and the number of a constant, ``Machine:7`` where two domains have it."""
    found = {}
    for place, domain in enumerate(model.domains):
        for constant in dict.fromkeys((name, name.removeprefix(f"{domain.name}:"))):
            number = domain.find(constant)
            if number is not None:
                found[f"{domain.name}:{constant}"] = place, number
    if len(found) > 1:
        raise ModelError(f"'{name}' is in several domains; say {' or '.join(found)}")
    for each in found.values():
        return each
    sizes = ", ".join(f"{each.name}{each.what_there_is(name)}" for each in model.domains)
    raise ModelError(f"there is no individual '{name}' in the model; its domains are {sizes}")


@dataclass(frozen=True, eq=False)
class _OverCells:
    """A constant of a relational model, told apart from all others."""

    case: Statement
    model: ParfactorGraph
    domain: int
    number: int

    @cached_property
    def _whole(self) -> Shattered:
        evidence = in_memory.observed(self.case)
        return shattered(self.model, evidence, [self._atom])

    @property
    def _atom(self) -> tuple[int, tuple[int, ...]]:
        """A ground variable that names it, and others as few as can be."""
        words = self.model.vocabulary
        several = [
            (len({*of} - {self.domain}), n)
            for n, of in enumerate(words.domains_of)
            if self.domain in of
        ]
        if not several:
            name = words.individual(self.domain, self.number)
            raise ModelError(f"no relation is about {name}, so nothing is known of it")
        relation = min(several)[1]
        of = words.domains_of[relation]
        return relation, tuple(self.number if each == self.domain else 0 for each in of)

    @property
    def _kinds(self) -> Kinds:
        return self._whole.kinds

    @cached_property
    def _cell(self) -> int:
        return self._kinds.cell(self.domain, self.number)

    @cached_property
    def _mine(self) -> list[int]:
        """The kinds that are about it, by relation."""
        kinds = self._kinds
        mine = [
            number
            for number, kind in enumerate(kinds.kinds)
            if not kind.counted and any(cell == self._cell for cell, _ in kind.terms)
        ]
        return sorted(mine, key=kinds.sort_key)

    def _about(self, number: int) -> tuple[str, str, tuple[str, ...]]:
        relation = self.model.relations[self._kinds.kinds[number].relation].name
        return relation, self._kinds.members(number), ()

    def _size(self, number: int) -> int:
        return self._kinds.individuals.members(number)

    def _peers(self, number: int) -> list[int]:
        """The other kinds of its relation."""
        relation, mine = self._kinds.kinds[number].relation, set(self._mine)
        same = (n for n, kind in enumerate(self._kinds.kinds) if kind.relation == relation)
        return [each for each in same if each not in mine and not self._kinds.kinds[each].counted]

    def known(self) -> Iterator[KnownFact]:
        """What was observed for certain."""
        for number in self._mine:
            value = int(self._whole.observed[number])
            if value >= 0:
                usual, label = self._frequencies(number), self._kinds.labels(number)[value]
                share = usual.shares[label]
                yield KnownFact(
                    *self._about(number), label, True, share, usual.of, self._size(number)
                )

    def _frequencies(self, number: int) -> Usual:
        """How often each label was observed in the relation of a kind."""
        labels, relation = self._kinds.labels(number), self._kinds.kinds[number].relation
        counts = dict.fromkeys(labels, 0)
        for each, kind in enumerate(self._kinds.kinds):
            if kind.relation == relation and not kind.counted and self._whole.observed[each] >= 0:
                counts[labels[int(self._whole.observed[each])]] += self._size(each)
        total = sum(counts.values())
        shares = {label: count / max(total, 1) for label, count in counts.items()}
        return Usual(shares, total, "observed")

    def predicted(self) -> Iterator[PredictedValue]:
        """What is expected of the others, each kind once."""
        hidden = [each for each in self._mine if self._whole.observed[each] < 0]
        others = {
            each: [peer for peer in self._peers(each) if self._whole.observed[peer] < 0][
                :MOST_OTHERS
            ]
            for each in hidden
        }
        wanted = dict.fromkeys([*hidden, *(peer for some in others.values() for peer in some)])
        names = [self._kinds.name(each) for each in wanted]
        said = dict(zip(wanted, answers_or_why(self.case, names), strict=True))
        for each in hidden:
            usual = self._frequencies(each)
            if usual.of < FEW_OBSERVED:
                usual = average([(said[peer], self._size(peer)) for peer in others[each]])
            yield predicted(*self._about(each), said[each], usual, self._size(each))

    def links(self) -> Iterator[LinkedTo]:
        """The relations that are about others as well, and variables of nobody in its factors."""
        words = self.model.vocabulary
        for relation, of in enumerate(words.domains_of):
            mine = [n for n in self._mine if self._kinds.kinds[n].relation == relation]
            cells = {cell for n in mine for cell, _ in self._kinds.kinds[n].terms} - {self._cell}
            if not cells or len(of) < 2:
                continue
            found = np.concatenate(
                [self._kinds.constants(cell)[:MOST_NAMES] for cell in sorted(cells)]
            )
            domain = next((each for each in of if each != self.domain), self.domain)
            names = words.domains[domain].texts(np.sort(found)[:MOST_NAMES].tolist())
            count = sum(self._kinds.individuals.sizes[cell] for cell in cells)
            yield LinkedTo(words.relations[relation].name, "relation", count, tuple(names))
        mine_set = set(self._mine)
        shared: dict[str, dict[str, None]] = {}
        for piece in self._whole.pieces:
            numbers = [number for number, _ in piece.arguments]
            if mine_set.intersection(numbers):
                alone = [n for n in numbers if not self._kinds.kinds[n].terms]
                shared.setdefault(piece.name, {}).update(
                    dict.fromkeys(map(self._kinds.name, alone))
                )
        for name, variables in shared.items():
            if variables:
                yield LinkedTo(name, "shared", len(variables), tuple(variables)[:MOST_NAMES])

    def alike(self, most: int) -> Iterator[AlikeIndividuals]:
        """Those from whom nothing that was observed or given tells it apart."""
        kinds = shattered(self.model, in_memory.observed(self.case), ()).kinds
        cell = kinds.cell(self.domain, self.number)
        others = kinds.individuals.sizes[cell] - 1
        first = kinds.partitions[self.domain].first(cell - kinds.first_cell[self.domain], most + 1)
        named = self.model.vocabulary.individuals(
            self.domain, [each for each in first if each != self.number][:most]
        )
        if others:
            nearest = tuple(AlikeIndividual(each, 1.0, (), ()) for each in named)
            measure = "everything: nothing tells it apart from them"
            yield AlikeIndividuals("everything", measure, nearest, others)
