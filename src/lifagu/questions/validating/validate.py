"""A case validated: fold by fold, cells are hidden, predicted each way, and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.errors import FormatError, ModelError, Remedy, TooLargeError, listed
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Evidence
from lifagu.questions import in_memory
from lifagu.questions.opened import Opened
from lifagu.questions.place import HERE, LIFTING
from lifagu.questions.statement import Statement
from lifagu.questions.validating.anew import Anew
from lifagu.questions.validating.hiding import Hiding, folds_of
from lifagu.questions.validating.judging import ANEW, SEEN, anew_told
from lifagu.questions.validating.observed_cells import ObservedCells, RelabelledCells
from lifagu.questions.validating.predicting import Answered, predicted, told, unseen
from lifagu.questions.validating.predictions import Predicted, Structure
from lifagu.questions.validating.result import Validation
from lifagu.questions.validating.scores import CellScores
from lifagu.questions.where_to_work import choose
from lifagu.relational.loaded import Loaded


def validate(
    case: Statement, hiding: Hiding, fillings: Mapping[str, Filling], engine: str
) -> Validation:
    """Hide, fill, predict and score."""
    case = _here(case)
    read = case.opened.read(case.place.progress)
    # which cells there are is known before anything is learned
    unlearned = replace(case, opened=Opened(given=replace(read, task=None)))
    graph = in_memory.grounded(unlearned)
    evidence = graph.evidence(in_memory.bound(unlearned))
    cells = ObservedCells.of(graph, evidence)
    untold = read.untold
    hidden, scored, notes = list[Ints](), np.zeros(0, dtype=np.bool_), list[str]()
    if len(cells):
        hidden, scored, notes = folds_of(
            cells, _about_what_is_asked(hiding, read, cells), untold, _finer(read)
        )
        notes = [*_untold_notes(cells, untold), *_learned_notes(read), *notes]
    asked = [(fold, fold[scored[fold]]) for fold in hidden]
    rounds, structure = _Rounds(fillings, engine), Structure()
    if asked:
        rounds, structure = _predicted(case, cells, evidence, hiding, asked, rounds)
    cells, places, baseline, methods, remarks = rounds.scored(cells)
    if not len(places):
        raise _nothing(cells, untold)
    notes += remarks
    settings = {"seed": hiding.seed, "folds": hiding.folds}
    found = Validation(cells, places, baseline, methods, (), settings, structure)
    notes = [each for each in (anew_told(found, next(iter(methods))), *notes) if each]
    return replace(found, notes=tuple(notes))


def _predicted(
    case: Statement,
    cells: ObservedCells,
    evidence: Evidence,
    hiding: Hiding,
    asked: Sequence[tuple[Ints, Ints]],
    rounds: _Rounds,
) -> tuple[_Rounds, Structure]:
    """All folds, each what is hidden and what of it is scored; and what its structure has seen."""
    relations = np.unique(cells.relation_of[np.concatenate([each for _, each in asked])]).tolist()
    names = [cells.relations[each] for each in relations]
    titles = [f"fold {1 + number} of {len(asked)}, " for number in range(len(asked))]
    titles = [""] if len(asked) == 1 else titles
    structure = Structure()
    anew = Anew.of(case, cells, hiding, names) if names else None
    if isinstance(anew, Anew):
        try:
            for (fold, wanted), title in zip(asked, titles, strict=True):
                _drafted_anew(anew, fold, wanted, rounds, title)
            stands = replace(rounds, places=[], expected=[], seen_by=[], said={})
            _as_it_stands(case, cells, evidence, *asked[0], stands, "as it stands, ")
            return rounds, Structure(ANEW, as_it_stands=stands.scored(cells))
        except (ModelError, FormatError, TooLargeError) as error:
            structure = Structure(SEEN, error.message)
            rounds = _Rounds(rounds.fillings, rounds.engine)
    elif anew is not None:
        structure = Structure(SEEN, anew)
    for (fold, wanted), title in zip(asked, titles, strict=True):
        _as_it_stands(case, cells, evidence, fold, wanted, rounds, title)
    return rounds, structure


def _about_what_is_asked(hiding: Hiding, read: Loaded, cells: ObservedCells) -> Hiding:
    """What is hidden, where nobody says: what a template with tables to be learned asks about.

    Its other relations only tell about these, and nothing is learned that would predict them.
    """
    if hiding.only or hiding.cells is not None or read.task is None or not read.asks:
        return hiding
    asked = {read.task.relations[number].relation for number in read.task.asked}
    asked = {_finer(read).get(each, each) for each in asked}
    return replace(hiding, only=tuple(each for each in cells.relations if each in asked))


def _finer(read: Loaded) -> Mapping[str, str]:
    """Relations in finer bins, which nobody asks about, and those that have the same numbers."""
    return read.template.finer if read.template else {}


def _here(case: Statement) -> Statement:
    """The case in memory, where everything is hidden and predicted; refused if it does not fit."""
    if case.place.on not in HERE and not case.opened.is_folder:
        choose(case, "impute")  # refuses a place that takes folders only
    if case.opened.is_folder and case.opened.given is None:
        from lifagu.basics.memory import default_memory_limit, readable_size
        from lifagu.data.parquet.reading import count_arguments

        need = LIFTING * count_arguments(case.opened.path)
        limit = case.place.memory_limit or default_memory_limit()
        if need > limit:
            raise TooLargeError(
                f"{case.opened.path}: cells are hidden and predicted in memory, where this folder "
                f"needs about {readable_size(need)}, but the limit is {readable_size(limit)}",
                remedy=Remedy.SMALLER_FOLDER,
            )
    return replace(case, place=replace(case.place, on="memory"))


@dataclass(eq=False)
class _Rounds:
    """Folds of hidden cells, predicted each way; parts of one prediction are in their order."""

    fillings: Mapping[str, Filling]
    engine: str
    places: list[Ints] = field(default_factory=list)
    expected: list[Floats] = field(default_factory=list)
    seen_by: list[tuple[Ints, ObservedCells]] = field(default_factory=list)
    said: dict[str, list[Answered]] = field(default_factory=dict)

    def add(
        self, fold: Ints, asked: Ints, cells: ObservedCells, usual: Floats, told: Sequence[Answered]
    ) -> None:
        """One fold: what was hidden, what of it is scored, and what each way said."""
        self.places.append(asked)
        self.expected.append(usual)
        self.seen_by.append((fold, cells))
        for name, each in zip(self.fillings, told, strict=True):
            width = min(each.probabilities.shape[1], usual.shape[1])
            each.probabilities[~each.has_answer, :width] = usual[~each.has_answer, :width]
            self.said.setdefault(name, []).append(each)

    def scored(
        self, cells: ObservedCells
    ) -> tuple[ObservedCells, Ints, CellScores, dict[str, Predicted], list[str]]:
        """All cells, those that are scored, ascending, the baseline, what each way says, notes."""
        places = np.concatenate([np.zeros(0, dtype=np.int64), *self.places])
        order = np.argsort(places, kind="stable")  # of the model, whatever the folds
        where = places[order]
        cells = RelabelledCells.joined(cells, self.seen_by)
        sizes, truth = cells.sizes[where], cells.values[where]
        said, notes = {}, list[str]()
        for name in self.fillings:
            parts = self.said.get(name, [])
            stacked = _stacked([each.probabilities for each in parts])[order]
            flags = np.concatenate([np.zeros(0, np.bool_), *(each.has_answer for each in parts)])
            said[name] = Predicted(stacked, flags[order], CellScores.of(stacked, sizes, truth))
            notes += [f"{name}: {remark}" for remark in told(parts)]
        baseline = CellScores.of(_stacked(self.expected)[order], sizes, truth)
        return cells, where, baseline, said, notes


def _as_it_stands(
    case: Statement,
    cells: ObservedCells,
    evidence: Evidence,
    fold: Ints,
    asked: Ints,
    rounds: _Rounds,
    title: str,
) -> None:
    """One fold predicted by a case that learned without it, but whose structure is as it stands."""
    blind, then = unseen(case, cells, evidence, fold)
    usual = then.frequencies(fold)[np.isin(fold, asked)]
    found = []
    for name, filling in rounds.fillings.items():
        case.place.progress.stage(f"predicting hidden cells: {title}{name}")
        way, width = replace(blind, filling=filling), int(then.sizes.max(initial=1))
        found.append(predicted(way, then.variables[asked], width, rounds.engine))
    rounds.add(fold, asked, then, usual, found)


def _drafted_anew(anew: Anew, fold: Ints, asked: Ints, rounds: _Rounds, title: str) -> None:
    """One fold predicted by a draft that never saw it."""
    found, told = anew.fold(fold, asked), []
    known = found.variables >= 0
    for name, filling in rounds.fillings.items():
        anew.case.place.progress.stage(f"predicting hidden cells: {title}{name}")
        width = found.usual.shape[1]
        way = replace(found.case, filling=filling)
        each = predicted(way, found.variables[known], width, rounds.engine)
        probabilities, has_answer = np.zeros((len(asked), width)), np.zeros(len(asked), np.bool_)
        probabilities[known], has_answer[known] = each.probabilities, each.has_answer
        probabilities[~known], has_answer[~known] = found.usual[~known], True
        told.append(each._replace(probabilities=probabilities, has_answer=has_answer))
    rounds.add(fold, asked, found.cells, found.usual, told)


def _stacked(parts: Sequence[Floats]) -> Floats:
    """Rows of several widths, padded with 0 to the widest."""
    parts = [np.zeros((0, 1)), *parts]
    width = max(each.shape[1] for each in parts)
    return np.vstack([np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in parts])


def _untold_notes(cells: ObservedCells, untold: Mapping[str, str]) -> list[str]:
    """Why some relations are not scored."""
    by_table: dict[str, list[str]] = {}
    for relation, table in untold.items():
        if relation in cells.relations:
            by_table.setdefault(table, []).append(relation)
    return [
        f"{listed(relations)} cannot be scored, as '{table}' is counted in records of the table "
        "that these are observed in, and may have seen what is to be hidden; leave out its records"
        for table, relations in by_table.items()
    ]


def _learned_notes(read: Loaded) -> list[str]:
    """What to say of tables that were learned before, perhaps from what is hidden now."""
    learned = () if read.template is None else read.template.were_learned
    if not learned:
        return []
    return [
        f"{len(learned)} tables of this file were learned, perhaps from the very cells that are "
        "hidden now, so that scores may be too good; validate the template they were learned for"
    ]


def _nothing(cells: ObservedCells, untold: Mapping[str, str]) -> ModelError:
    """Why no cell can be hidden."""
    if not len(cells):
        why = "nothing was observed, so that no cell can be hidden"
        return ModelError(why, remedy=Remedy.OBSERVE)
    notes = [*_untold_notes(cells, untold), "none of the cells to be hidden was observed"]
    return ModelError(notes[0])
