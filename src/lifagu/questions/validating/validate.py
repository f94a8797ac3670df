"""A case validated: fold by fold, cells and tables are hidden, predicted each way, and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import counted
from lifagu.errors import ModelError, Remedy, TooLargeError, listed
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Evidence
from lifagu.questions import in_memory
from lifagu.questions.opened import Opened
from lifagu.questions.place import HERE, LIFTING
from lifagu.questions.statement import Statement
from lifagu.questions.validating.hidden_tables import (
    TablePlaces,
    TableScores,
    folds_of_tables,
    score_tables,
)
from lifagu.questions.validating.hiding import Hiding, folds_of
from lifagu.questions.validating.observed_cells import ObservedCells
from lifagu.questions.validating.predicting import predicted, unseen
from lifagu.questions.validating.predictions import Predicted
from lifagu.questions.validating.result import Validation
from lifagu.questions.validating.scores import CellScores
from lifagu.questions.where_to_work import choose


def validate(
    case: Statement,
    hiding: Hiding,
    hide_tables: float | None,
    fillings: Mapping[str, Filling],
    engine: str,
) -> Validation:
    """Hide, fill, predict and score; tables too if a share of them is to be hidden."""
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
        hidden, scored, notes = folds_of(cells, hiding, untold)
        notes = [*_untold_notes(cells, untold), *notes]
    places, baseline, said = _predictions(case, cells, evidence, hidden, scored, fillings, engine)
    if not len(places) and hide_tables is None:
        raise _nothing(cells, untold)
    scores = {} if hide_tables is None else _tables(case, hiding, hide_tables, fillings, evidence)
    if scores and len(cells) and any(each.unknown == "posterior" for each in fillings.values()):
        notes.append("hidden tables are scored as they are filled before anything is observed")
    for name, each in said.items():
        if count := int((~each.answered).sum()):
            notes.append(
                f"{name}: {counted(count, 'cell')} had no answer, as unknown factors stay "
                "connected to them; they are scored with the frequencies of their relation"
            )
    methods = {name: replace(each, tables=scores.get(name)) for name, each in said.items()}
    settings = {"seed": hiding.seed, "folds": hiding.folds}
    return Validation(cells, places, baseline, methods, tuple(notes), settings)


def _here(case: Statement) -> Statement:
    """The case in memory, where everything is hidden and predicted; refused if it does not fit."""
    if case.place.on not in HERE and not case.opened.is_folder:
        choose(case, "impute")  # refuses a place that takes folders only
    if case.opened.is_folder and case.opened.given is None:
        from lifagu.data.parquet.reading import count_arguments
        from lifagu.inference.memory_limit import default_memory_limit, readable_size

        need = LIFTING * count_arguments(case.opened.path)
        limit = case.place.memory_limit or default_memory_limit()
        if need > limit:
            raise TooLargeError(
                f"{case.opened.path}: cells are hidden and predicted in memory, where this folder "
                f"needs about {readable_size(need)}, but the limit is {readable_size(limit)}",
                remedy=Remedy.SMALLER_FOLDER,
            )
    return replace(case, place=replace(case.place, on="memory"))


def _predictions(
    case: Statement,
    cells: ObservedCells,
    evidence: Evidence,
    folds: Sequence[Ints],
    scored: np.ndarray[Any, np.dtype[np.bool_]],
    fillings: Mapping[str, Filling],
    engine: str,
) -> tuple[Ints, CellScores, dict[str, Predicted]]:
    """The hidden cells that are scored, ascending, the baseline, and what each way says."""
    width = int(cells.sizes.max(initial=1))
    places, expected = [np.zeros(0, dtype=np.int64)], [np.zeros((0, width))]
    found = {name: ([np.zeros((0, width))], [np.zeros(0, dtype=np.bool_)]) for name in fillings}
    for number, fold in enumerate(folds):
        asked = fold[scored[fold]]
        blind = unseen(case, cells, evidence, fold)
        usual = cells.frequencies(fold)[scored[fold]]
        places.append(asked)
        expected.append(usual)
        for name, filling in fillings.items():
            title = f"fold {number + 1} of {len(folds)}, " if len(folds) > 1 else ""
            case.place.progress.stage(f"predicting hidden cells: {title}{name}")
            probabilities, answered = predicted(
                replace(blind, filling=filling), cells, asked, engine
            )
            probabilities[~answered] = usual[~answered]
            found[name][0].append(probabilities)
            found[name][1].append(answered)
    order = np.argsort(np.concatenate(places), kind="stable")  # of the model, whatever the folds
    where = np.concatenate(places)[order]
    sizes, truth = cells.sizes[where], cells.values[where]
    said = {}
    for name, (parts, flags) in found.items():
        stacked = np.vstack(parts)[order]
        scores = CellScores.of(stacked, sizes, truth)
        said[name] = Predicted(stacked, np.concatenate(flags)[order], scores)
    return where, CellScores.of(np.vstack(expected)[order], sizes, truth), said


def _tables(
    case: Statement,
    hiding: Hiding,
    share: float,
    fillings: Mapping[str, Filling],
    evidence: Evidence,
) -> dict[str, TableScores]:
    """The scores of hidden tables by way of filling."""
    places = TablePlaces.of(in_memory.grounded(case))
    folds = folds_of_tables(places, share, hiding)
    found: dict[str, list[TableScores]] = {name: [] for name in fillings}
    for fold in folds:
        for name, filling in fillings.items():
            case.place.progress.stage(f"filling hidden tables: {name}")
            found[name].append(score_tables(places, fold, filling, evidence))
    return {name: TableScores.joined(parts) for name, parts in found.items()}


def _untold_notes(cells: ObservedCells, untold: Mapping[str, str]) -> list[str]:
    """Why some relations are not scored."""
    by_table: dict[str, list[str]] = {}
    for relation, table in untold.items():
        if relation in cells.relations:
            by_table.setdefault(table, []).append(relation)
    return [
        f"{listed(relations)} cannot be scored, as the counted table '{table}' may have seen what "
        "is to be hidden; say with its key whose records they are"
        for table, relations in by_table.items()
    ]


def _nothing(cells: ObservedCells, untold: Mapping[str, str]) -> ModelError:
    """Why no cell can be hidden."""
    if not len(cells):
        why = "nothing was observed, so that no cell can be hidden"
        return ModelError(why, remedy=Remedy.HIDE_TABLES)
    notes = [*_untold_notes(cells, untold), "none of the cells to be hidden was observed"]
    return ModelError(notes[0])
