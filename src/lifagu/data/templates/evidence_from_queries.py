"""Evidence and questions from queries: rows of constants become numbers of ground variables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lifagu.basics.arrays import Ints, distinct, frozen
from lifagu.basics.names import ChosenNames
from lifagu.data.databases.cells import codes_of
from lifagu.data.databases.queries import query_error
from lifagu.data.templates.batches import Batch, batches, check_width, first_repeated, label_numbers
from lifagu.data.templates.factors_from_queries import RowReader
from lifagu.data.templates.likelihoods import label_columns, likelihoods_of
from lifagu.data.templates.numbers_as_evidence import NumericRows, binned, numeric_rows
from lifagu.errors import FormatError, ModelError
from lifagu.graph.bins import BinLabels
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.finer_bins import followed
from lifagu.relational.grounding import expand_evidence, ground_names
from lifagu.relational.template import Asked, Query


class Observer:
    """Looks up ground variables of a loaded graph."""

    def __init__(
        self, reader: RowReader, graph: FactorGraph, numbers: Mapping[str, NumericRows]
    ) -> None:
        """Numbers: evidence that was read before, by relation."""
        self._reader, self._graph, self._numbers = reader, graph, numbers
        self._words = reader.model.vocabulary
        self._names = ground_names(graph)

    # ---- evidence

    def evidence(self) -> Evidence:
        """What was observed: by queries, overridden by what the template itself says."""
        template, number = self._reader.template, self._words.relation_names.number
        parts = {
            number(relation): self._queried(number(relation), query)
            for relation, query in template.evidence.items()
        }
        for fine, coarse in template.finer.items():
            if coarse in template.evidence:
                parts[number(fine)] = self._queried(number(fine), template.evidence[coarse], coarse)
        found = _joined([parts[relation] for relation in sorted(parts)])
        if not template.observed:
            return found
        literal = expand_evidence(self._reader.model, template.observed, self._graph)
        both = followed(self._graph, template.finer, literal)
        return found.overridden(self._graph.evidence(both))

    def _queried(self, relation: int, query: Query, numbers_of: str = "") -> Evidence:
        """The rows (constants…, value) of a relation, without NULL and what no factor has.

        numbers_of: the relation whose numbers they are, if that is another one.
        """
        of = self._words.relations[relation]
        names = tuple(self._reader.database.columns(query))
        if (columns := label_columns(query, names, len(of.of), of.range)) is not None:
            return self._unsure(relation, query, columns)
        rows, value = self._rows_and_values(relation, query, numbers_of)
        variable = np.where(value < 0, -1, self._variables(relation, rows))
        self._refuse_repeated(query, variable)
        there = np.flatnonzero(variable >= 0)
        there = there[np.argsort(variable[there], kind="stable")]
        if not len(there):
            return Evidence()
        canonical = self._graph.declared_order(int(variable[there[0]]))
        return Evidence(frozen(variable[there]), frozen(canonical[value[there]]))

    def _unsure(self, relation: int, query: Query, columns: list[int]) -> Evidence:
        """The rows (constants…, a likelihood for each label) of a relation, without all NULL."""
        labels = self._words.relations[relation].range
        rows, found = [self._no_rows(relation)], [np.zeros((0, len(labels)))]
        for batch in batches(self._reader.database, query, self._reader.progress):
            found.append(likelihoods_of(batch, columns, labels))
            rows.append(self._constants(relation, batch))
        likelihoods = np.vstack(found)
        known = ~np.isnan(likelihoods).any(axis=1)
        variable = np.where(known, self._variables(relation, np.vstack(rows)), -1)
        self._refuse_repeated(query, variable)
        there = np.flatnonzero(variable >= 0)
        there = there[np.argsort(variable[there], kind="stable")]
        if not len(there):
            return Evidence()
        canonical = np.empty_like(likelihoods[there])
        canonical[:, self._graph.declared_order(int(variable[there[0]]))] = likelihoods[there]
        return Evidence(
            soft_variables=frozen(variable[there]), likelihoods=tuple(map(frozen, canonical))
        )

    def _rows_and_values(self, relation: int, query: Query, numbers_of: str) -> tuple[Ints, Ints]:
        """Constants, and the number of the label as declared, -1 for NULL."""
        of, reader = self._words.relations[relation], self._reader
        if isinstance(of.range, BinLabels):
            numbers = self._numbers.get(numbers_of or of.name)
            if numbers is None:
                domains = [reader.constants(each) for each in self._words.domains_of[relation]]
                numbers = numeric_rows(query, of.name, domains, reader.database, reader.progress)
            return numbers.rows, binned(numbers, of.range)
        check_width(query, reader.database.columns(query), [*of.of, "the value"])
        rows, values = [self._no_rows(relation)], [np.zeros(0, dtype=np.int64)]
        for batch in batches(reader.database, query, reader.progress):
            place = len(batch.names) - 1
            cells = batch.cells(place)
            found = codes_of(cells, label_numbers(of.range))
            wrong = (found < 0) & ~cells.missing
            batch.refuse(wrong, lambda row, cells=cells: self._no_label(relation, cells.text(row)))  # type: ignore[misc]
            rows.append(self._constants(relation, batch))
            values.append(found)
        return np.vstack(rows), np.concatenate(values)

    def _no_label(self, relation: int, text: str) -> str:
        of = self._words.relations[relation]
        return f"'{text}' is not a label of relation '{of.name}' ({', '.join(of.range)})"

    def _refuse_repeated(self, query: Query, variables: Ints) -> None:
        if (rows := first_repeated(variables)) is not None:
            name = self._graph.variable_names[int(variables[rows[0] - 1])]
            raise query_error(
                query, f"rows {rows[0]} and {rows[1]}: {name} is observed twice; keep one value"
            )

    def _no_rows(self, relation: int) -> Ints:
        return np.zeros((0, len(self._words.domains_of[relation])), dtype=np.int64)

    def _constants(self, relation: int, batch: Batch) -> Ints:
        """The numbers of the constants in a batch's first columns."""
        of = self._words.domains_of[relation]
        columns = [
            self._reader.constants(domain).numbers(batch, place) for place, domain in enumerate(of)
        ]
        return np.column_stack([np.zeros((len(batch), 0), dtype=np.int64), *columns])

    def _variables(self, relation: int, rows: Ints) -> Ints:
        """The numbers of the ground variables with these constants, -1 where there is none."""
        places = self._names.rows[relation].places(rows)
        return np.where(places < 0, -1, places + self._names.start(1 + relation))

    # ---- questions

    def asked(self) -> ChosenNames:
        """The variables whose marginals are requested, in order, each once."""
        numbers = [np.zeros(0, dtype=np.int64), *map(self._asked, self._reader.template.queries)]
        every = np.concatenate(numbers)
        first = np.sort(np.unique(every, return_index=True)[1])
        return ChosenNames(self._graph.variable_names, frozen(every[first]))

    def _asked(self, asked: Asked) -> Ints:
        if asked.query is not None:
            return self._listed(self._words.relation_names.number(asked.name), asked.query)
        relation = self._words.relation_names.find(asked.name)
        if relation is not None:
            count = len(self._names.rows[relation])
            return self._names.start(1 + relation) + np.arange(count)
        try:
            return np.array([self._graph.variable_names.number(asked.name)])
        except ModelError as error:
            raise FormatError(f"{asked.place}: {error}") from None

    def _listed(self, relation: int, query: Query) -> Ints:
        """The ground variables that a query lists by their constants, by number."""
        reader, of = self._reader, self._words.relations[relation].of
        check_width(query, reader.database.columns(query), list(of))
        parts = [
            self._constants(relation, batch)
            for batch in batches(reader.database, query, reader.progress)
        ]
        rows = np.vstack([self._no_rows(relation), *parts])
        numbers = self._variables(relation, rows)
        if (numbers < 0).any():
            row = int(np.argmax(numbers < 0))
            name = self._words.ground_name(relation, rows[row].tolist())
            raise query_error(
                query,
                f"row {row + 1}: '{name}' does not exist: no ground factor has it as an argument",
            )
        return distinct(numbers)


def _joined(parts: list[Evidence]) -> Evidence:
    """Evidence of several relations in the order of their variables, put together at once."""
    none = np.zeros(0, dtype=np.int64)
    return Evidence(
        frozen(np.concatenate([none, *(each.variables for each in parts)])),
        frozen(np.concatenate([none, *(each.values for each in parts)])),
        frozen(np.concatenate([none, *(each.soft_variables for each in parts)])),
        tuple(one for each in parts for one in each.likelihoods),
    )
