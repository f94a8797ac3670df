"""The lifted model of a coloured folder: it is small, and is asked in memory.

Colours alone do not say how a graph hangs together: a hexagon and two triangles look alike. But
they do where each member of a class has one way up to a root, as all variables of a person have in
an epidemic: then the graphs below the members of the root class are copies of each other. So
classes are placed below a root, level by level, and each level is a logical variable. Where two
ways lead from one class to another, statements compare for every member where they end. Variables
that are alone in their class, such as hubs and those asked about, are plain variables. Classes that
cannot be placed are listed one by one, and refused where these are many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints, offsets_of
from lifagu.errors import Remedy, TooLargeError
from lifagu.graph.evidence import Observation
from lifagu.graph.ranges import Labels
from lifagu.relational.domains import Domain
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.relations import Relation
from lifagu.relational.terms import Atom, Logical
from lifagu.scale.engines.engine import Engine

MOST_LISTED = 100_000  # arguments of factors that are listed one by one
MOST_COMPARED = 200  # classes that hang together, of which statements compare where ways end
Path = tuple[int, ...]  # the levels of a class, from the root on


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of nodes, by number: how many members each has, the first one, its look or type.

    scopes[f]: the class of variables at each position of a class of factors.
    """

    variables: list[int]
    first: Ints
    look: Ints
    factors: list[int]
    type: Ints
    scopes: list[list[int]]


@dataclass(frozen=True, eq=False)
class Contents:
    """What is known of nodes: labels and observations by look, table(type), names(variables).

    weights: of observations that were given as likelihoods, and of how many variables each.
    """

    labels: Sequence[Labels]
    observations: Sequence[Observation | None]
    weights: Sequence[tuple[float, int]]
    table: Callable[[int], Floats | None]
    names: Callable[[list[int]], list[str]]


def read_classes(engine: Engine, most: int) -> Classes:
    """The classes that `number_groups` has stored, by one member of each; too many are refused.

    most: how many arguments these may have.
    """
    count = engine.count("factor_group_sizes f JOIN arguments a ON a.factor = f.first")
    count += engine.count("variable_group_sizes")
    if count > most:
        raise TooLargeError(
            f"the lifted model is too large: {count} arguments do not look alike, and {most} fit",
            remedy=Remedy.MORE_MEMORY,
        )
    variables, first, look = engine.integers(
        """
        SELECT g.size, g.first, l.look
        FROM variable_group_sizes g
        JOIN looks l ON l.id = g.first
        ORDER BY g.group_id
        """
    )
    factors, kind = engine.integers(
        """
        SELECT g.size, t.type
        FROM factor_group_sizes g
        JOIN typed t ON t.id = g.first
        ORDER BY g.group_id
        """
    )
    owner, arguments = engine.integers(
        """
        SELECT f.group_id AS factor, v.group_id AS variable
        FROM factor_group_sizes f
        JOIN arguments a ON a.factor = f.first
        JOIN variable_groups v ON v.id = a.variable
        ORDER BY f.group_id, a.position
        """
    )
    ends = offsets_of(np.bincount(owner, minlength=len(factors)))[1:-1]
    scopes = [each.tolist() for each in np.split(arguments, ends)] if len(factors) else []
    return Classes(variables.tolist(), first, look, factors.tolist(), kind, scopes)


def lifted_model(
    engine: Engine, classes: Classes, contents: Contents
) -> tuple[ParfactorGraph, dict[str, Observation]]:
    """A relational model that means the folder, and its evidence.

    Variables alone in their class have their own names in it, all others have names made here.
    """
    placing = _Placing(engine, classes)
    writing = _Writing(classes, contents, placing)
    for factor, path in placing.factors.items():
        writing.add_factors(factor, path)
    for variable, path in placing.variables.items():
        writing.add_variables(variable, path)
    for weight, size in contents.weights:
        writing.add_weight(weight, size)
    listed = [each for each in range(len(classes.variables)) if each not in placing.variables]
    if listed:
        writing.add_listed(engine, listed)
    return writing.model(), writing.evidence


# ---- where each class is placed


@dataclass(eq=False)
class _Part:
    """Classes that hang together, as far as they are placed below the root.

    ways: how each class was reached, and by which position; second: other ways between classes.
    """

    root: int
    variables: dict[int, Path]
    factors: dict[int, Path] = field(default_factory=dict)
    ways: list[tuple[str, int, int, int]] = field(default_factory=list)
    second: list[tuple[int, int, int]] = field(default_factory=list)


class _Placing:
    """Classes placed below roots; those that cannot be placed are left out.

    variables, factors: the path of each class; sizes: how many members a level has below each
    member of the one above; uses: the classes of factors around a class of variables.
    """

    def __init__(self, engine: Engine, classes: Classes) -> None:
        self._engine, self._classes = engine, classes
        alone = (each for each, size in enumerate(classes.variables) if size == 1)
        self.variables: dict[int, Path] = dict.fromkeys(alone, ())
        self.factors: dict[int, Path] = {}
        self.sizes: list[int] = []
        self.uses: dict[int, list[int]] = {}
        for factor, scope in enumerate(classes.scopes):
            for variable in dict.fromkeys(scope):
                self.uses.setdefault(variable, []).append(factor)
        for variables in list(self._together()):
            levels, part = len(self.sizes), self._below_root(variables)
            if part is not None and self._agree(part):
                self.variables |= part.variables
                self.factors |= part.factors
            else:
                del self.sizes[levels:]
        for factor, scope in enumerate(classes.scopes):
            if all(self.variables.get(each) == () for each in scope):
                self.factors[factor] = self._below((), classes.factors[factor])

    def _together(self) -> Iterator[list[int]]:
        """Classes of several variables that hang together, without those alone in their class."""
        seen: set[int] = set(self.variables)
        for start in range(len(self._classes.variables)):
            if start in seen:
                continue
            seen.add(start)
            found = [start]
            for variable in found:
                for factor in self.uses.get(variable, ()):
                    more = dict.fromkeys(self._classes.scopes[factor])
                    found += [each for each in more if each not in seen]
                    seen.update(more)
            yield found

    def _below_root(self, together: Sequence[int]) -> _Part | None:
        """The classes placed below the smallest one; None if a member has several ways up."""
        sizes = self._classes.variables
        root = min(together, key=lambda each: (sizes[each], each))
        part = _Part(root, {root: self._below((), sizes[root])})
        queue = deque([root])
        while queue:
            above = queue.popleft()
            for factor in self.uses.get(above, ()):
                if factor not in part.factors:
                    fits = self._place_factor(part, above, factor, queue)
                    if not fits:
                        return None
        return part if not part.second or len(together) <= MOST_COMPARED else None

    def _place_factor(self, part: _Part, above: int, factor: int, queue: deque[int]) -> bool:
        """Place a class of factors and the classes below it; whether all have one way up."""
        scope, size = self._classes.scopes[factor], self._classes.factors[factor]
        entry = scope.index(above)
        path = self._below(part.variables[above], size // self._classes.variables[above])
        part.factors[factor] = path
        part.ways.append(("factor", factor, above, entry))
        for position, each in enumerate(scope):
            if position == entry or each in self.variables:
                continue
            if each in part.variables:
                if path[: len(part.variables[each])] != part.variables[each]:
                    return False
                part.second.append((factor, position, each))
            elif size != self._classes.variables[each]:
                return False
            else:
                part.variables[each] = path
                part.ways.append(("variable", each, factor, position))
                queue.append(each)
        return True

    def _below(self, path: Path, members: int) -> Path:
        """The path one level further down, where there are several members below each."""
        if members == 1:
            return path
        self.sizes.append(members)
        return (*path, len(self.sizes) - 1)

    def _agree(self, part: _Part) -> bool:
        """Whether second ways end where the first ones do, for every member.

        For each class, statements store which member of each level is above (id, level, member).
        """
        if not part.second:
            return True
        engine, made = self._engine, [f"way_variable_{part.root}"]
        (level,) = part.variables[part.root]
        engine.create(made[0], _beginning("variable", part.root, level))
        for side, number, source, position in part.ways:
            other = "variable" if side == "factor" else "factor"
            new = part.factors[number][len(part.variables[source]) :] if side == "factor" else ()
            begins = f"UNION ALL {_beginning(side, number, new[0])}" if new else ""
            made.append(f"way_{side}_{number}")
            engine.create(
                made[-1],
                f"""
                SELECT a.{side} AS id, w.level, w.member
                FROM arguments a
                JOIN {side}_groups g ON g.id = a.{side} AND g.group_id = {number}
                JOIN way_{other}_{source} w ON w.id = a.{other}
                WHERE a.position = {position}
                {begins}
                """,
            )
        apart = [
            engine.value(
                f"""
                SELECT count(*)
                FROM arguments a
                JOIN way_factor_{factor} f ON f.id = a.factor
                JOIN way_variable_{each} v ON v.id = a.variable AND v.level = f.level
                WHERE a.position = {position} AND v.member <> f.member
                """
            )
            for factor, position, each in part.second
        ]
        engine.discard(*made)
        return not any(apart)


def _beginning(side: str, number: int, level: int) -> str:
    """A query for a class whose members are a level themselves."""
    return f"""
        SELECT id, CAST({level} AS BIGINT) AS level, id AS member
        FROM {side}_groups
        WHERE group_id = {number}
        """


# ---- the model that is written


class _Writing:
    """Collects the relations and parfactors of a lifted model."""

    def __init__(self, classes: Classes, contents: Contents, placing: _Placing) -> None:
        self._classes, self._contents, self._placing = classes, contents, placing
        self._domains = tuple(Domain(f"D{level}", size) for level, size in enumerate(placing.sizes))
        self._relations: list[Relation] = []
        self._parfactors: list[Parfactor] = []
        self.evidence: dict[str, Observation] = {}
        alone = [each for each, path in placing.variables.items() if not path]
        called = contents.names(classes.first[alone].tolist()) if alone else []
        self._names = dict(zip(alone, called, strict=True))
        self._mark = "c"  # begins the names made here, and no other
        while any(each.startswith(self._mark) for each in called):
            self._mark += "c"

    def model(self) -> ParfactorGraph:
        """The model, once all is added."""
        return ParfactorGraph(self._domains, tuple(self._relations), tuple(self._parfactors))

    def add_variables(self, number: int, path: Path) -> None:
        """A class of variables as a relation, or as a variable of its own name."""
        look = int(self._classes.look[number])
        name, seen = f"{self._mark}{number}", self._contents.observations[look]
        names = () if path else ((self._names[number],),)
        self._relate(name, path, self._contents.labels[look], names)
        if path and number not in self._placing.uses:
            ones = np.ones(len(self._contents.labels[look]))
            self._parfactors.append(Parfactor(f"exists {name}", (_atom(name, path),), ones))
        if seen is not None:
            spans = ",".join(f"1..{self._placing.sizes[level]}" for level in path)
            self.evidence[f"{name}({spans})" if path else self._names[number]] = seen

    def add_factors(self, number: int, path: Path) -> None:
        """A class of factors as a parfactor."""
        classes = self._classes
        paths = [self._placing.variables[each] for each in classes.scopes[number]]
        pairs = zip(classes.scopes[number], paths, strict=True)
        arguments = [_atom(f"{self._mark}{each}", above) for each, above in pairs]
        if path != max(paths, key=len, default=()):  # the last level is in no argument
            several = f"{self._mark}_{number}"
            self._relate(several, path, ("only",), ())
            arguments.append(_atom(several, path))
        table = self._contents.table(int(classes.type[number]))
        self._parfactors.append(Parfactor(f"f{number}", tuple(arguments), table))

    def add_weight(self, weight: float, size: int) -> None:
        """A factor of all states, so many times."""
        name = f"{self._mark}_w{len(self._relations)}"
        self._domains += (Domain(f"W{len(self._relations)}", size),)
        self._relations.append(Relation(name, (self._domains[-1].name,), ("only",)))
        arguments = (Atom(name, (Logical("X"),)),)
        self._parfactors.append(Parfactor(f"weight {name}", arguments, np.array([weight])))

    def add_listed(self, engine: Engine, listed: Sequence[int]) -> None:
        """All variables of some classes, and their factors, one by one."""
        classes, wanted = self._classes, set(listed)
        around = [each for each, scope in enumerate(classes.scopes) if not wanted.isdisjoint(scope)]
        count = sum(classes.factors[each] * len(classes.scopes[each]) for each in around)
        count += sum(classes.variables[each] for each in listed)
        if count > MOST_LISTED:
            raise TooLargeError(
                f"the lifted model is too large: what looks alike there hangs together in rings or "
                f"pairs, with {count} arguments to be listed, and {MOST_LISTED} may be",
                remedy=Remedy.IN_MEMORY,
            )
        engine.register("listed_classes", {"group_id": np.array(listed)})
        ids, groups = engine.integers(
            """
            SELECT g.id, g.group_id
            FROM variable_groups g
            JOIN listed_classes l ON l.group_id = g.group_id
            ORDER BY g.id
            """
        )
        called = dict(zip(ids.tolist(), self._contents.names(ids.tolist()), strict=True))
        for variable, group in zip(ids.tolist(), groups.tolist(), strict=True):
            look = int(classes.look[group])
            seen = self._contents.observations[look]
            labels = self._contents.labels[look]
            self._relate(f"{self._mark}_v{variable}", (), labels, ((called[variable],),))
            if seen is not None:
                self.evidence[called[variable]] = seen
        engine.register("listed_factors", {"group_id": np.array(around, dtype=np.int64)})
        rows = engine.integers(
            """
            SELECT a.factor, f.group_id AS factor_of, a.variable, v.group_id AS variable_of
            FROM factor_groups f
            JOIN listed_factors l ON l.group_id = f.group_id
            JOIN arguments a ON a.factor = f.id
            JOIN variable_groups v ON v.id = a.variable
            ORDER BY a.factor, a.position
            """
        )
        scopes: dict[tuple[int, int], list[Atom]] = {}
        for factor, group, variable, of in zip(*(each.tolist() for each in rows), strict=True):
            name = f"{self._mark}_v{variable}" if of in wanted else f"{self._mark}{of}"
            scopes.setdefault((factor, group), []).append(Atom(name))
        for (factor, group), scope in scopes.items():
            table = self._contents.table(int(classes.type[group]))
            self._parfactors.append(Parfactor(f"f{group} {factor}", tuple(scope), table))

    def _relate(self, name: str, path: Path, labels: Labels, names: tuple[Any, ...]) -> None:
        of = tuple(self._domains[level].name for level in path)
        self._relations.append(Relation(name, of, labels, names))


def _atom(name: str, path: Path) -> Atom:
    return Atom(name, tuple(Logical(f"X{level}") for level in path))
