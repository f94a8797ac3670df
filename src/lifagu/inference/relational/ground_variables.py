"""The ground variables behind kinds, by name: plain ones first, then each relation's by constants."""

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
    owner, constants, places = [], [], []
    width = max((len(kinds.individuals.cells_of[number]) for number in numbers), default=0)
    for number in numbers:
        rows = kinds.individuals.listed(kinds.individuals.cells_of[number])
        owner.append(np.full(len(rows), number))
        columns = [kinds.constants(cell) for cell, _ in kinds.kinds[number].terms]
        terms = kinds.kinds[number].terms
        own = [
            column[rows[:, individual] if individual >= 0 else np.zeros(len(rows), dtype=np.int64)]
            for column, (_, individual) in zip(columns, terms, strict=True)
        ]
        constants.append(np.column_stack([np.zeros((len(rows), 0), dtype=np.int64), *own]))
        places.append(np.pad(rows, ((0, 0), (0, width - rows.shape[1]))))
    rows, own_number, every = (
        np.concatenate(constants),
        np.concatenate(owner),
        np.concatenate(places),
    )
    order = np.lexsort(rows.T[::-1]) if len(of) else np.arange(len(rows))
    for row in order.tolist():
        number = int(own_number[row])
        place = tuple(every[row].tolist()[: len(kinds.individuals.cells_of[number])])
        yield kinds.model.vocabulary.ground_name(relation, rows[row].tolist()), number, place
