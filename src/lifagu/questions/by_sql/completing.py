"""A folder of Parquet tables on an engine, its holes filled: what all work there begins with.

`scale` runs statements over all factors, `filling` decides about the few types of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.atomic_files import PathLike
from lifagu.basics.cached import cached_property
from lifagu.basics.progress import Announce
from lifagu.errors import FormatError
from lifagu.filling.result import Transfer
from lifagu.filling.rules import Filling
from lifagu.filling.transfer import transfer_types
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import Ranges
from lifagu.graph.validation import MOST_AXES, table_size_error
from lifagu.likeness.roles import factor_signatures, place_roles, roles
from lifagu.questions.by_sql.agreeing import check_agreement
from lifagu.scale.engines.engine import Engine
from lifagu.scale.evidence import DistinctObservations, observe
from lifagu.scale.factor_types import (
    Looks,
    Types,
    arguments_of,
    find_looks,
    find_types,
    has_unknown,
)
from lifagu.scale.folder_contents import Given, names
from lifagu.scale.individuals import split_by_owner
from lifagu.scale.intake import check_individuals, check_names, take_in
from lifagu.scale.ranges_and_kinds import declared_kinds, declared_ranges


@dataclass(frozen=True, eq=False)
class Completed:
    """A folder taken in. What is many is in tables of the engine; what is few is here.

    The tables: arguments (factor, position, variable) and, side by side, scopes (id, arity, v0, …),
    as given; looks (id, look); typed (id, type); observed (id, observation). graph: one factor for
    each type, as it is in the end, each argument being a variable of its own.
    """

    engine: Engine
    given: Given
    ranges: Ranges
    kinds: list[str]
    observations: DistinctObservations
    looks: Looks
    types: Types
    graph: FactorGraph

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return int(self.types.size[self.types.table < 0].sum())

    @property
    def transferred(self) -> int:
        """How many of them got one."""
        return self.unknown - self.left

    @property
    def left(self) -> int:
        """How many factors have no table in the end."""
        return int(self.types.size[self.graph.unknown].sum())

    @property
    def weakest_share(self) -> float | None:
        """The smallest share of agreement behind a table that was lent; None if none was."""
        return None

    @cached_property
    def _numbers(self) -> list[int | None]:
        """For each look which of the observations its variables have."""
        seen, looks = self.observations, self.looks
        pairs = zip(seen.declared, seen.seen.tolist(), strict=True)
        number_of = {pair: number for number, pair in enumerate(pairs)}
        given = zip(looks.declared.tolist(), looks.seen.tolist(), strict=True)
        return [number_of.get(pair) for pair in given]

    @cached_property
    def observed(self) -> list[Observation | None]:
        """What was observed of the variables with each look: a label, or likelihoods."""
        seen = self.observations
        found: list[Observation | None] = []
        for number in self._numbers:
            value = None if number is None else seen.values[number]
            likelihood = None if number is None else seen.likelihoods[number]
            soft = None if likelihood is None else tuple(likelihood.tolist())
            found.append(soft if value is None else value)
        return found

    @property
    def weights(self) -> list[tuple[float, int]]:
        """Likelihoods that leave one label possible, and of how many variables."""
        seen, found = self.observations, []
        for number, size in zip(self._numbers, self.looks.size.tolist(), strict=True):
            likelihood = None if number is None else seen.likelihoods[number]
            if likelihood is not None and seen.values[number] is not None:  # type: ignore[index]
                found.append((float(likelihood.max()), size))
        return found

    @property
    def hard(self) -> NDArray[np.bool_]:
        """Which looks are of variables whose value was observed."""
        return np.array([isinstance(each, str) for each in self.observed], dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Filled(Completed):
    """The same, filled: transfer says which type lent to which."""

    transfer: Transfer

    @property
    def weakest_share(self) -> float | None:
        """The smallest share of agreement behind a table that was lent; None if none was."""
        return float(self.lent_shares.min()) if len(self.lent_shares) else None

    @property
    def lent_types(self) -> Ints:
        """The types that got a table."""
        return self.types.first[self.transfer.transferred]

    @property
    def lent_shares(self) -> Floats:
        """The share of agreement behind the table of each of them."""
        moved = self.transfer
        shares: Floats = moved.shares[np.searchsorted(moved.unknown, moved.transferred)]
        return shares

    @property
    def lent_guesses(self) -> NDArray[np.bool_]:
        """Whether that is hardly better than a guess."""
        moved = self.transfer
        guesses: NDArray[np.bool_] = moved.guesses[
            np.searchsorted(moved.unknown, moved.transferred)
        ]
        return guesses


def take_on(
    engine: Engine, path: PathLike, evidence: Mapping[str, Observation], stage: Announce
) -> Completed:
    """Take a folder in on an engine; its holes stay.

    evidence: by name, over the folder's own. stage(line): what is being done. What an earlier run
    on the engine's folder finished is taken from there.
    """
    given, ranges, kinds, observations = _taken_in(engine, path, evidence, stage)
    looks, types = _types(engine, given, ranges, observations, False, stage)
    graph = _graph_of_types(engine, given, ranges, kinds, looks, types)
    return Completed(engine, given, ranges, kinds, observations, looks, types, graph)


def fill_on(
    engine: Engine,
    path: PathLike,
    evidence: Mapping[str, Observation],
    filling: Filling,
    stage: Announce,
) -> Filled:
    """The same with its unknown factors filled; refused where that takes cohorts."""
    given, ranges, kinds, observations = _taken_in(engine, path, evidence, stage)
    fills = has_unknown(engine, given)
    looks, types = _types(engine, given, ranges, observations, fills, stage)
    keys, owners = _roles(ranges, looks, observations, filling), np.full(len(types.first), -1)
    companions = np.zeros_like(types.looks)
    if fills and not filling.to_the_letter and given.has_individuals:
        stage("finding what individuals have")
        signatures = factor_signatures(types.offsets, keys[types.looks])
        types, owners, companions = split_by_owner(engine, given, types, signatures)
    graph = _graph_of_types(engine, given, ranges, kinds, looks, types)
    moved = transfer_types(graph, keys[types.looks], types.size, owners, companions, filling)
    if filling.by == "auto":
        places = place_roles(ranges.range_of[looks.declared], looks.degree, looks.kind)
        check_agreement(engine, given, types, moved, places[types.looks])
    return Filled(engine, given, ranges, kinds, observations, looks, types, moved.graph, moved)


def _taken_in(
    engine: Engine, path: PathLike, evidence: Mapping[str, Observation], stage: Announce
) -> tuple[Given, Ranges, list[str], DistinctObservations]:
    """A folder checked, its ranges and kinds, and what was observed."""
    stage(f"checking {path}")
    given = take_in(engine, path)
    check_names(engine, given)
    check_individuals(engine, given)
    ranges = Ranges(tuple(declared_ranges(engine, given)))
    kinds = declared_kinds(engine, given)
    return given, ranges, kinds, observe(engine, given, ranges, evidence)


def _types(
    engine: Engine,
    given: Given,
    ranges: Ranges,
    observations: DistinctObservations,
    fills: bool,
    stage: Announce,
) -> tuple[Looks, Types]:
    """Looks of variables and types of factors; fills: kinds and degrees count, as for roles."""
    stage("finding types of factors")
    looks = find_looks(engine, given, observations, kinds=fills, degrees=fills)
    types = find_types(engine, given, len(looks.declared))
    _check_tables(engine, given, ranges, looks, types)
    return looks, types


def _graph_of_types(
    engine: Engine, given: Given, ranges: Ranges, kinds: list[str], looks: Looks, types: Types
) -> FactorGraph:
    """One factor for each type, with arguments of its own, called as the first such factor."""
    return FactorGraph.from_arrays(
        ranges=ranges.declared,
        variable_ranges=looks.declared[types.looks],
        offsets=types.offsets,
        arguments=np.arange(len(types.looks)),
        tables=types.tables,
        factor_tables=types.table,
        factor_names=names(engine, given, "factors", types.first.tolist()),
        kinds=kinds,
        variable_kinds=looks.kind[types.looks],
    )


def _roles(
    ranges: Ranges, looks: Looks, observations: DistinctObservations, filling: Filling
) -> Ints:
    """The role of each look."""
    kinds = None if filling.to_the_letter else looks.kind
    seen = observations.value_of[looks.seen] if filling.to_the_letter else None
    return roles(ranges.range_of[looks.declared], looks.degree, kinds, seen)


def _check_tables(engine: Engine, given: Given, ranges: Ranges, looks: Looks, types: Types) -> None:
    """Potentials must be as many as the arguments span."""
    sizes = ranges.sizes[ranges.range_of[looks.declared]] if len(looks.declared) else looks.declared
    for number in np.flatnonzero(types.table >= 0).tolist():
        scope = types.looks[types.offsets[number] : types.offsets[number + 1]]
        span = float(np.prod(sizes[scope].astype(np.float64)))
        length = len(types.tables[types.table[number]])
        if span == length and len(scope) <= MOST_AXES:
            continue
        first = int(types.first[number])
        (factor,) = names(engine, given, "factors", [first])
        if len(scope) > MOST_AXES:
            raise FormatError(
                f"{given.folder}: factor '{factor}' has a table and {len(scope)} arguments, "
                f"more than the {MOST_AXES} a table may have; leave out those with a single value"
            )
        arguments = names(engine, given, "variables", arguments_of(engine, first))
        raise FormatError(
            f"{given.folder}: {table_size_error(factor, length, arguments, int(span))}"
        )
