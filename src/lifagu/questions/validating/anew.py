"""A drafted template drafted anew in each fold, from data in which hidden values are NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints, frozen, group_rows
from lifagu.basics.cached import cached_property
from lifagu.data.databases import opened
from lifagu.data.templates import load_template
from lifagu.data.templates.constants import Constants
from lifagu.data.templates.numbers_as_evidence import NumericRows, numeric_rows
from lifagu.drafting.anew import DraftAgain
from lifagu.errors import FormatError, ModelError
from lifagu.graph.bins import BinLabels
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Labels
from lifagu.questions import in_memory
from lifagu.questions.opened import Opened
from lifagu.questions.statement import Statement
from lifagu.questions.validating.hiding import Hiding
from lifagu.questions.validating.observed_cells import ObservedCells
from lifagu.relational.domains import Domain
from lifagu.relational.finer_bins import same_numbers
from lifagu.relational.ground_names import RowNames
from lifagu.relational.grounding import ground_names
from lifagu.relational.loaded import Loaded
from lifagu.relational.predicted_cells import with_hidden

_CHANGED = "the database was changed while it was read; try again"


@dataclass(frozen=True, eq=False)
class CellsAnew(ObservedCells):
    """The same cells with the labels that they have in a draft made anew; ranges: by relation."""

    ranges: Mapping[int, Labels]

    @cached_property
    def sizes(self) -> Ints:
        """How many labels each cell could have."""
        found = self.graph.sizes[self.variables]
        for relation, labels in self.ranges.items():
            found[self.relation_of == relation] = len(labels)
        return frozen(found)

    def labels(self, place: int) -> tuple[str, ...]:
        """The labels of a cell, as they were when it was hidden."""
        return self.ranges.get(int(self.relation_of[place])) or super().labels(place)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Cells of one relation: rows[n×k] of the numbers of constants, and their places."""

    relation: str
    domains: tuple[Domain, ...]
    rows: Ints
    places: Ints

    @property
    def texts(self) -> set[tuple[str, ...]]:
        """The constants as texts."""
        columns = [
            [domain.constant(each) for each in column.tolist()]
            for domain, column in zip(self.domains, self.rows.T, strict=True)
        ]
        return set(zip(*columns, strict=True))

    def check_same(self, other: RowNames) -> None:
        """Refuse a relation over other individuals, whose numbers would mean others."""
        if self.domains != other.domains:
            raise FormatError(_CHANGED)


@dataclass(frozen=True, eq=False)
class Fold:
    """A draft that never saw the hidden cells, to be asked about those that are scored.

    cells: all of them, as they are labelled there; variables: of scored ones in the draft, -1 for
    those that it does not speak of; usual: the frequencies that it saw of each.
    """

    case: Statement
    cells: ObservedCells
    variables: Ints
    usual: Floats


@dataclass(frozen=True, eq=False)
class Anew:
    """A template that can be drafted again, beside what it is and its cells."""

    again: DraftAgain
    case: Statement
    cells: ObservedCells
    hiding: Hiding
    kept: dict[str, NumericRows] = field(default_factory=dict)

    @classmethod
    def of(
        cls, case: Statement, cells: ObservedCells, hiding: Hiding, scored: Sequence[str]
    ) -> Anew | str | None:
        """The template of a case, or why its structure is taken as it is; None if it is no draft.

        scored: relations of which cells are.
        """
        read = case.opened.read(case.place.progress)
        template = read.template
        if template is None or template.drafted is None or read.task is None:
            return None
        if not template.drafted.is_unedited:
            return "the template was edited after it was drafted"
        source = read.source or template.source
        if source is None:
            return "the template names no database"
        if case.layers or case.added or case.admitted or not case.keeps_own:
            return "observations and individuals beside the database are in no draft"
        try:
            again = DraftAgain.of(template, source, case.place.progress)
        except (ModelError, FormatError) as error:
            return error.message
        for relation in scored:
            if relation not in again.columns:
                return f"{relation} is no column, but made of others, which would still tell it"
        return cls(again, case, cells, hiding)

    @property
    def asked(self) -> list[str]:
        """The relations that the template asks about, that are columns."""
        read = self.case.opened.read(self.case.place.progress)
        names = (each.partition("(")[0].strip() for each in read.asks)
        return [name for name in dict.fromkeys(names) if name in self.again.columns]

    def fold(self, hidden: Ints, scored: Ints) -> Fold:
        """The draft without hidden cells; scored: those of them that are, ascending."""
        rows = _rows_of(self.cells, hidden)
        layered, asked = set(self.again.columns), self.asked
        if self.hiding.individuals is not None:  # what else they have is not observed below
            layered &= {*asked, *(self.cells.relations[each] for each in self._relations(scored))}
        keys = {name: found.texts for name, found in rows.items() if name in layered}
        progress = self.case.place.progress
        progress.stage("drafting without hidden values")
        template, source = self.again.without(keys, asked)
        loaded = load_template(
            template, source, lambda what: progress.stage(f"reading without hidden values: {what}")
        )
        assert isinstance(loaded.model, FactorGraph)
        return self._fold(loaded, loaded.model, rows, scored)

    def _relations(self, places: Ints) -> list[int]:
        """The relations of some cells, by number."""
        found: list[int] = np.unique(self.cells.relation_of[places]).tolist()
        return found

    def _fold(
        self, loaded: Loaded, graph: FactorGraph, hidden: dict[str, _Rows], scored: Ints
    ) -> Fold:
        names, of = ground_names(graph), self.cells.relation_of[scored]
        lists = {each.prefix: number for number, each in enumerate(names.rows)}
        variables, values = np.full(len(scored), -1), self.cells.values.copy()
        ranges: dict[int, Labels] = {}
        for relation, found in _rows_of(self.cells, scored).items():
            number = self.cells.relations.index(relation)
            if relation not in lists:
                continue
            own = names.rows[lists[relation]]
            found.check_same(own)
            there = own.places(found.rows)
            start = names.start(1 + lists[relation])
            variables[of == number] = np.where(there < 0, -1, start + there)
            ranges[number] = graph.labels(start)
            values[scored[of == number]] = self._values(found, ranges[number])
        cells = CellsAnew(
            self.cells.graph,
            self.cells.variables,
            frozen(values),
            self.cells.relations,
            self.cells.relation_of,
            ranges,
        )
        evidence = graph.evidence(loaded.evidence)
        usual = self._usual(cells, ObservedCells.of(graph, evidence), scored)
        gone = self._not_seen(
            names.rows, [names.start(1 + each) for each in lists.values()], hidden
        )
        left = replace(cells.evidence_without(evidence, gone), of=None)
        asked = variables[variables >= 0]
        if loaded.template is not None:  # what tells about them may do so in finer bins
            asked = same_numbers(graph, loaded.template.finer, asked)
        loaded = replace(with_hidden(loaded, asked), evidence=graph.observations(left))
        learned = in_memory.grounded(replace(self.case, opened=Opened(given=loaded)))
        case = replace(
            self.case,
            opened=Opened(given=Loaded(learned, {})),
            layers=(learned.observations(left),),
            keeps_own=False,
        )
        return Fold(case, cells, variables, usual)

    def _values(self, found: _Rows, labels: Labels) -> Ints:
        """The places of true labels: of numbers in the bins that there are now."""
        was = self.cells.labels(int(found.places[0]))
        if tuple(was) == tuple(labels) and not isinstance(labels, BinLabels):
            return self.cells.values[found.places]
        if not isinstance(labels, BinLabels):
            raise FormatError(_CHANGED)
        numbers = self._numbers(found)
        return labels.places(numbers)

    def _numbers(self, found: _Rows) -> Floats:
        """The numbers behind cells, which bins of the template itself do not tell."""
        if found.relation not in self.kept:
            template = self.again.template
            with opened(self.again.source) as database:
                self.kept[found.relation] = numeric_rows(
                    template.evidence[found.relation],
                    found.relation,
                    list(map(Constants, found.domains)),
                    database,
                    lambda _: None,
                )
        known = self.kept[found.relation]
        seen = ~np.isnan(known.values)
        ids = group_rows(np.vstack((known.rows[seen], found.rows)))
        first, wanted = ids[: seen.sum()], ids[seen.sum() :]
        values = np.full(int(ids.max(initial=-1)) + 1, np.nan)
        values[first] = known.values[seen]
        if np.isnan(values[wanted]).any():
            raise FormatError(_CHANGED)
        return np.asarray(values[wanted])

    def _usual(self, cells: CellsAnew, seen: ObservedCells, scored: Ints) -> Floats:
        """How often each label was seen in the relation of each cell that is scored."""
        usual = np.zeros((len(scored), int(cells.sizes.max(initial=1))))
        for number in self._relations(scored):
            here, relation = cells.relation_of[scored] == number, cells.relations[number]
            if number not in cells.ranges:
                mine = self.cells.frequencies(scored)
                usual[here, : mine.shape[1]] = mine[here]
                continue
            size = len(cells.ranges[number])
            counts = np.zeros(size)
            if relation in seen.relations:
                of = seen.relation_of == seen.relations.index(relation)
                counts = np.bincount(seen.values[of], minlength=size).astype(np.float64)
            counts = counts if counts.any() else np.ones(size)
            usual[here, :size] = counts / counts.sum()
        return usual

    def _not_seen(
        self, lists: Sequence[RowNames], starts: Sequence[int], hidden: Mapping[str, _Rows]
    ) -> Ints:
        """The variables of a draft that must not be seen, where the layer cannot hide them.

        Those of hidden cells, and of whole individuals that are hidden all that tells about them.
        """
        found = [np.zeros(0, dtype=np.int64)]
        owners: dict[str, list[Ints]] = {}
        if self.hiding.individuals is not None:
            for each in hidden.values():
                if each.domains:
                    owners.setdefault(each.domains[0].name, []).append(each.rows[:, 0])
        for own, start in zip(lists, starts, strict=True):
            if own.prefix in hidden:
                there = own.places(hidden[own.prefix].rows)
                found.append(start + there[there >= 0])
            if own.domains and own.domains[0].name in owners:
                gone = np.concatenate(owners[own.domains[0].name])
                found.append(start + np.flatnonzero(np.isin(own.rows[:, 0], gone)))
        return np.unique(np.concatenate(found))


def _rows_of(cells: ObservedCells, places: Ints) -> dict[str, _Rows]:
    """Some cells by relation, with the numbers of their constants."""
    names, variables = ground_names(cells.graph), cells.variables[places]
    origins, found = names.origins(variables), {}
    for number in np.unique(origins).tolist():
        if number:
            own, here = names.rows[number - 1], origins == number
            rows = own.rows[variables[here] - names.start(number)]
            found[own.prefix] = _Rows(own.prefix, own.domains, rows, places[here])
    return found
