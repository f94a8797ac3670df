"""The ground variables behind kinds by name: plain ones, then each relation's by constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.names import Names
from lifagu.inference.relational.kinds import Kinds
from lifagu.relational.ground_names import GroundNames, RowNames


def ground_names(
    kinds: Kinds, numbers: Sequence[int]
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Name, kind and places of its individuals in their cells, of every ground variable."""
    plain, lists = ground_rows(kinds, numbers)
    for number in plain:
        yield kinds.name(number), number, ()
    cells_of, words = kinds.individuals.cells_of, kinds.model.vocabulary
    for each in lists:
        for row, number in enumerate(each.kinds.tolist()):
            name = words.ground_name(each.relation, each.constants[row].tolist())
            yield name, number, tuple(each.places[row, : len(cells_of[number])].tolist())


class GroundRows(NamedTuple):
    """The ground variables of one relation: constants, ascending; kinds; places in their cells."""

    relation: int
    constants: Ints
    kinds: Ints
    places: Ints


def ground_rows(kinds: Kinds, numbers: Sequence[int]) -> tuple[list[int], list[GroundRows]]:
    """The plain variables among these kinds, and the ground variables of each relation."""
    by_relation: dict[int, list[int]] = {}
    for number in numbers:
        by_relation.setdefault(kinds.kinds[number].relation, []).append(number)
    plain = sorted(by_relation.pop(-1, []), key=lambda each: kinds.kinds[each].variable)
    return plain, [_of_relation(kinds, *each) for each in sorted(by_relation.items())]


def listed_names(kinds: Kinds, numbers: Sequence[int]) -> tuple[GroundNames, Ints]:
    """The names of the same in the same order, made on demand, and the kind of each."""
    plain, lists = ground_rows(kinds, numbers)
    words, given = kinds.model.vocabulary, Names("variable", map(kinds.name, plain))
    rows = []
    for relation, of in zip(words.relations, words.domains_of, strict=True):
        domains = tuple(map(words.domains.__getitem__, of))
        rows.append(RowNames(relation.name, domains, np.zeros((0, len(of)), dtype=np.int64)))
    for found in lists:
        new = words.renamed[found.relation]
        which = new.which_of(found.constants)
        rows[found.relation] = replace(
            rows[found.relation], rows=found.constants, names=new.names, which=which
        )
    every = [np.array(plain, dtype=np.int64), *(each.kinds for each in lists)]
    return GroundNames("variable", given, rows, words), np.concatenate(every)


def _of_relation(kinds: Kinds, relation: int, numbers: Sequence[int]) -> GroundRows:
    """The ground variables of one relation, by constants."""
    of = kinds.model.vocabulary.domains_of[relation]
    cells_of = kinds.individuals.cells_of
    owners, constants, places = [], [], []
    width = max((len(cells_of[number]) for number in numbers), default=0)
    for number in numbers:
        rows = kinds.individuals.listed(cells_of[number])
        owners.append(np.full(len(rows), number))
        constants.append(kinds.terms(kinds.kinds[number], rows))
        places.append(np.pad(rows, ((0, 0), (0, width - rows.shape[1]))))
    terms, owner, every = map(np.concatenate, (constants, owners, places))
    order = np.lexsort(terms.T[::-1]) if len(of) else np.arange(len(terms))
    return GroundRows(relation, terms[order], owner[order], every[order])
