"""Which cells are hidden in which fold: a share of them, whole individuals, or those of a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.atomic_files import PathLike
from lifagu.basics.inputs import items, number, shown, whole
from lifagu.basics.words import counted
from lifagu.errors import FormatError, ModelError, did_you_mean
from lifagu.formats.csv_table import read_csv
from lifagu.questions.validating.observed_cells import ObservedCells

Pairs = Iterable[tuple[str, str]]  # relation and individual of cells


@dataclass(frozen=True)
class Hiding:
    """What is hidden: a share, so many individuals, or cells by relation and individual.

    With several folds the share is one part of so many, and every cell is hidden once, with those
    of its individual where whole individuals are hidden.
    """

    share: float = 0.2
    individuals: int | None = None
    cells: tuple[tuple[str, str], ...] | None = None
    seed: int = 0
    folds: int = 1
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < number("hide", self.share) < 1:
            raise ModelError(f"hide is a share between 0 and 1, such as 0.2, not {self.share}")
        whole("seed", self.seed, 0)
        whole("folds", self.folds, 1)
        if self.individuals is not None:
            whole("hide_individuals", self.individuals, 1)
        if self.cells is not None and (self.individuals is not None or self.folds > 1):
            raise ModelError(
                "cells that are named are hidden as they are; "
                "leave out the number of individuals or of folds"
            )

    @property
    def rng(self) -> np.random.Generator:
        """Where chance comes from, the same each time."""
        return np.random.default_rng(self.seed)


def hiding_of(
    share: float,
    individuals: int | None,
    hidden: PathLike | Pairs | None,
    seed: int,
    folds: int,
    only: Sequence[str],
) -> Hiding:
    """What is to be hidden, as it was handed in: cells by a file, or as pairs."""
    pairs: tuple[tuple[str, str], ...] | None = None
    if isinstance(hidden, str | os.PathLike):
        pairs = pairs_in(hidden)
    elif hidden is not None:
        listed = items("hidden is a file, or pairs of relation and individual", hidden)
        for each in listed:
            if not isinstance(each, tuple | list) or list(map(type, each)) != [str, str]:
                raise ModelError(f"a hidden cell is a pair of texts, not {shown(each)}")
        pairs = tuple((relation, individual) for relation, individual in listed)
    relations = items("only is a list of relations", only)
    return Hiding(share, individuals, pairs, seed, folds, tuple(relations))


def pairs_in(path: PathLike) -> tuple[tuple[str, str], ...]:
    """The cells that a CSV file names in its columns relation and individual."""
    first, *rows = read_csv(path) or [[]]
    header = [each.strip().lower() for each in first]
    for column in ("relation", "individual"):
        if header.count(column) != 1:
            raise FormatError(
                f"{path}: a file of hidden cells has the columns relation and individual, "
                f"but this one has {', '.join(header) or 'none'}"
            )
    found = [dict(zip(header, row, strict=False)) for row in rows if row]
    return tuple((row.get("relation", ""), row.get("individual", "")) for row in found)


def folds_of(
    cells: ObservedCells, hiding: Hiding, untold: Iterable[str], finer: Mapping[str, str]
) -> tuple[list[Ints], NDArray[np.bool_], list[str]]:
    """For each fold the cells that are hidden, ascending; which cells are scored; what to say."""
    for relation in {*hiding.only, *(each for each, _ in hiding.cells or ())} & set(finer):
        raise ModelError(
            f"'{relation}' is '{finer[relation]}' in finer bins; name '{finer[relation]}'"
        )
    scored = _scored(cells, hiding.only, {*untold, *finer})
    if hiding.cells is not None:
        found, notes = _named(cells, hiding.cells)
        return [found], scored, notes
    if hiding.individuals is not None:
        return _individuals(cells, hiding, hiding.individuals, scored), scored, []
    offered = hiding.rng.permutation(np.flatnonzero(scored))
    if hiding.folds > 1:
        _check_folds(len(offered), hiding.folds, "cell")
        return [np.sort(offered[fold :: hiding.folds]) for fold in range(hiding.folds)], scored, []
    many = max(1, round(hiding.share * len(offered)))
    return [np.sort(offered[:many])], scored, []


def _scored(cells: ObservedCells, only: Sequence[str], untold: Iterable[str]) -> NDArray[np.bool_]:
    for relation in only:
        if relation not in cells.relations:
            close = did_you_mean(str(relation), cells.relations)
            raise ModelError(
                f"nothing of a relation '{relation}' was observed{close}; "
                f"observed are {', '.join(cells.relations)}"
            )
    left_out = set(untold)
    wanted = [
        (not only or relation in only) and relation not in left_out for relation in cells.relations
    ]
    return np.array(wanted, dtype=np.bool_)[cells.relation_of]


def _individuals(
    cells: ObservedCells, hiding: Hiding, many: int, scored: NDArray[np.bool_]
) -> list[Ints]:
    """Whole individuals: all of their cells are hidden, whether these are scored or not."""
    owner = cells.owners
    offered = hiding.rng.permutation(np.unique(owner[scored & (owner >= 0)]))
    if hiding.folds > 1:
        _check_folds(len(offered), hiding.folds, "individual")
        chosen = [offered[fold :: hiding.folds] for fold in range(hiding.folds)]
    elif many > len(offered):
        have = counted(len(offered), "individual")
        raise ModelError(f"{many} individuals are to be hidden, but {have} can be; hide fewer")
    else:
        chosen = [offered[:many]]
    return [np.flatnonzero(np.isin(owner, each)) for each in chosen]


def _check_folds(count: int, folds: int, sort: str) -> None:
    if 0 < count < folds:
        raise ModelError(
            f"there are {counted(folds, 'fold')}, but {counted(count, sort)} to hide; "
            "take fewer folds"
        )


def _named(cells: ObservedCells, pairs: Sequence[tuple[str, str]]) -> tuple[Ints, list[str]]:
    """The cells that were named; those that nobody observed have nothing to be compared with."""
    found: set[int] = set()
    missing = []
    kinds = {*cells.relations, *cells.graph.kinds}
    for relation, individual in pairs:
        places = cells.places_by_name.get((relation, individual.replace(", ", ",")))
        if places is None and relation not in kinds and relation not in cells.graph.variable_names:
            close = did_you_mean(relation, cells.relations)
            raise ModelError(f"hidden cells name a relation '{relation}', which is unknown{close}")
        if places is None:
            missing.append(f"{relation}({individual})" if individual else relation)
        found.update(places or ())
    notes = []
    if missing:
        notes.append(
            f"{counted(len(missing), 'cell')} of those to be hidden, such as {missing[0]}, "
            "nobody observed, so that there is nothing to compare with"
        )
    return np.array(sorted(found), dtype=np.int64), notes
