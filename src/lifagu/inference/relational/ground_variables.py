"""The ground variables behind kinds by name: plain ones, then each relation's by constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lifagu.inference.relational.kinds import Kinds


def ground_names(
    kinds: Kinds, numbers: Sequence[int]
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Name, kind and places of its individuals in their cells, of every ground variable."""
    by_relation: dict[int, list[int]] = {}
    for number in numbers:
        by_relation.setdefault(kinds.kinds[number].relation, []).append(number)
    for number in sorted(by_relation.pop(-1, []), key=lambda each: kinds.kinds[each].variable):
        yield kinds.name(number), number, ()
    for relation, own in sorted(by_relation.items()):
        yield from _of_relation(kinds, relation, own)


def _of_relation(
    kinds: Kinds, relation: int, numbers: Sequence[int]
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """The ground variables of one relation, by constants."""
    of = kinds.model.vocabulary.domains_of[relation]
    cells_of = kinds.individuals.cells_of
    owners, constants, places = [], [], []
    width = max((len(cells_of[number]) for number in numbers), default=0)
    for number in numbers:
        rows = kinds.individuals.listed(cells_of[number])
        own = [np.zeros((len(rows), 0), dtype=np.int64)]
        for cell, individual in kinds.kinds[number].terms:
            # a cell without individuals in the name has one member
            place = rows[:, individual] if individual >= 0 else np.zeros(len(rows), dtype=np.int64)
            own.append(kinds.constants(cell)[place][:, None])
        owners.append(np.full(len(rows), number))
        constants.append(np.concatenate(own, axis=1))
        places.append(np.pad(rows, ((0, 0), (0, width - rows.shape[1]))))
    terms, owner, every = map(np.concatenate, (constants, owners, places))
    order = np.lexsort(terms.T[::-1]) if len(of) else np.arange(len(terms))
    for row in order.tolist():
        number = int(owner[row])
        name = kinds.model.vocabulary.ground_name(relation, terms[row].tolist())
        yield name, number, tuple(every[row, : len(cells_of[number])].tolist())
