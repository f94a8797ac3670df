"""Evidence that is numeric, and ranges that data decides on: bins of numbers, labels by a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints, group_rows
from lifagu.basics.progress import Announce
from lifagu.data.databases import Database
from lifagu.data.databases.cells import Cells, distinct_texts
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import batches, check_width
from lifagu.data.templates.constants import Constants, in_order
from lifagu.graph.bins import BinLabels, finer_edges, number_of, quantile_edges
from lifagu.graph.ranges import Labels
from lifagu.relational.domains import Domain
from lifagu.relational.parsing import parse_ground
from lifagu.relational.template import HiddenCells, Query, RangeToFind, Template


@dataclass(frozen=True, eq=False)
class NumericRows:
    """Numbers that were observed: rows[n×k] of constants, and values[n], nan where that is NULL."""

    rows: Ints
    values: Floats


def numeric_rows(
    query: Query, relation: str, domains: list[Constants], database: Database, progress: Announce
) -> NumericRows:
    """The rows (constants…, number) of a relation's evidence."""
    names = database.columns(query)
    check_width(query, names, [*(each.domain.name for each in domains), "the value"])
    rows, values = [np.zeros((0, len(domains)), dtype=np.int64)], [np.zeros(0)]
    for batch in batches(database, query, progress):
        cells = batch.cells(len(names) - 1)
        numbers = numbers_in(cells)
        batch.refuse(np.isnan(numbers) & ~cells.missing, _no_number(relation, cells))
        columns = [each.numbers(batch, place) for place, each in enumerate(domains)]
        rows.append(np.column_stack([np.zeros((len(batch), 0), dtype=np.int64), *columns]))
        values.append(numbers)
    return NumericRows(np.vstack(rows), np.concatenate(values))


def _no_number(relation: str, cells: Cells) -> Callable[[int], str]:
    return lambda row: (
        f"'{cells.text(row)}' is no number, and relation '{relation}' has bins of numbers; "
        "make it one in the query, or NULL"
    )


def numbers_in(cells: Cells) -> Floats:
    """Values as numbers, nan for NULL and for what is none; texts are read."""
    if cells.values.dtype.kind in "iufb":
        found = cells.values.astype(np.float64)
        found[cells.missing] = np.nan
        return found
    known = (number_of(each) for each in cells.values.tolist())
    return np.array([np.nan if each is None else each for each in known], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class RangeFinder:
    """Finds the ranges of a template that data decides on; domains: all of them, by name.

    What was read on the way is kept, by relation.
    """

    template: Template
    database: Database
    progress: Announce
    domains: Mapping[str, Domain]
    hidden: HiddenCells
    numbers: dict[str, NumericRows] = field(default_factory=dict)

    def found(self) -> dict[str, Labels]:
        """The labels of each range, by where it stands."""
        labels: dict[str, Labels] = {}
        ranges = self.template.ranges.items()
        for place, wanted in sorted(ranges, key=lambda each: each[1].within is not None):
            if wanted.query is not None:
                labels[place] = self._listed(wanted.query)
                continue
            bins = self._bins(wanted, labels)
            alike = [each for each in labels.values() if isinstance(each, BinLabels)]
            if wanted.labels is None and any(
                each == bins and each.edges != bins.edges for each in alike
            ):
                bins = bins.exact
            labels[place] = bins
        return labels

    def _bins(self, wanted: RangeToFind, labels: Mapping[str, Labels]) -> BinLabels:
        """Bins of numbers, perhaps within others that are known already."""
        if isinstance(wanted.labels, BinLabels):
            return wanted.labels
        numbers, within = self._values(wanted), wanted.within
        if within is None:
            return BinLabels.of(quantile_edges(numbers, wanted.bins))
        known = labels[within] if isinstance(within, str) else None
        edges = known.edges if isinstance(known, BinLabels) else [float(e) for e in within]
        return BinLabels.of(finer_edges(numbers, edges, wanted.bins))

    def _listed(self, query: Query) -> Labels:
        """The values that a query gives, as labels in order; NULL is none."""
        check_width(query, self.database.columns(query), ["the label"])
        found: dict[str, None] = {}
        for batch in batches(self.database, query, self.progress):
            texts, which = distinct_texts(batch.cells(0))
            batch.refuse(_empty(texts, which), lambda _: "an empty text is no label")
            found.update(dict.fromkeys(texts[each] for each in np.unique(which) if each >= 0))
        if not found:
            raise query_error(query, "the query gives no value; a range needs one label at least")
        return tuple(in_order(found))

    def _values(self, wanted: RangeToFind) -> Floats:
        """The numbers that were observed of some relations, without hidden cells."""
        parts = [np.zeros(0)]
        for relation, names in wanted.relations.items():
            if any(each not in self.domains for each in names):
                continue  # the model says so
            of = [self.domains[each] for each in names]
            literal = self._literal(relation, of)
            unseen = np.vstack([literal.rows, self.hidden.get(relation, literal.rows[:0])])
            mine = [_without(literal, self.hidden.get(relation, literal.rows[:0]))]
            if (query := self.template.evidence.get(relation)) is not None:
                mine.append(_without(self._rows(relation, of, query), unseen))
            parts += [each[~np.isnan(each)] for each in mine]
        return np.concatenate(parts)

    def _rows(self, relation: str, of: list[Domain], query: Query) -> NumericRows:
        if relation not in self.numbers:
            constants = list(map(Constants, of))
            self.numbers[relation] = numeric_rows(
                query, relation, constants, self.database, self.progress
            )
        return self.numbers[relation]

    def _literal(self, relation: str, of: list[Domain]) -> NumericRows:
        """Numbers that the template itself observes, whatever queries say of the same cells."""
        rows, values = [], []
        for name, observed in self.template.observed.items():
            head, constants = parse_ground(name) or (name, ())
            number = number_of(observed) if isinstance(observed, str) else None
            if head == relation and len(constants) == len(of) and number is not None:
                pairs = zip(of, constants, strict=True)
                cell = [one.find(each) if isinstance(each, str) else None for one, each in pairs]
                if None not in cell:
                    rows.append(cell)
                    values.append(number)
        return NumericRows(
            np.array(rows, dtype=np.int64).reshape(len(rows), len(of)), np.array(values)
        )


def _without(numbers: NumericRows, unseen: Ints) -> Floats:
    """The numbers of other cells than these."""
    known = group_rows(np.vstack((unseen, numbers.rows)))
    left: Floats = numbers.values[known[len(unseen) :] > known[: len(unseen)].max(initial=-1)]
    return left


def _empty(texts: list[str], which: Ints) -> NDArray[np.bool_]:
    """Where an empty text is."""
    blank = np.array([*(not each for each in texts), False], dtype=np.bool_)
    return np.asarray(blank[which])


def binned(numbers: NumericRows, labels: BinLabels) -> Ints:
    """The bin of each number, -1 where there is none."""
    return np.where(np.isnan(numbers.values), -1, labels.places(numbers.values))
