"""What answers by posterior mean, by adding up every cohort, every table and every assignment.

Of a transfer by cohorts only what was found is taken: places, who belongs where, which tables each
cohort has in a place. An individual with several open factors (holes that get a table, estimates
that are cleaned) has a hidden cohort, each hole a hidden table; factors of different individuals
meet in few variables only, so the states of each individual are listed by themselves.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NEVER = 1e-9  # cohorts less likely than this are left out
MOST_STATES = 2**22

Node = tuple[str, Hashable]  # ("value", variable), ("cohort", individual), ("table", factor)
Factor = tuple[tuple[Node, ...], np.ndarray]
Evidence = Mapping[str, Any]


class Impossible(Exception):
    """The evidence has probability zero."""


@dataclass
class Piece:
    """The factors of one individual, and the scopes of those that stay unknown."""

    factors: list[Factor] = field(default_factory=list)
    unknown: list[tuple[Node, ...]] = field(default_factory=list)


class JointOracle:
    """The joint model of cohorts, tables and variables; states: of each node."""

    def __init__(self, moved: Any, weighed: bool = True) -> None:
        self.graph = moved.original
        self.posterior = moved.posterior
        self.states: dict[Node, list[Any]] = {
            ("value", name): list(self._canonical(number))
            for number, name in enumerate(self.graph.variable_names)
        }
        self.pieces: dict[int, Piece] = {}
        self.shares: dict[Node, np.ndarray] = {}
        self.settled = {
            record.factor: record
            for record in moved.record
            if record.unit != "cohort" and record.status == "transferred"
        }
        self.filled = {
            record.factor
            for record in moved.record
            if record.unit == "cohort" and record.status == "transferred"
        }
        self.keep_known = moved.filling.keep_known
        self._open()
        self._list_known()
        self._list_open()
        self._list_isolated()
        if weighed:
            self._weigh()
        self._found_possible: dict[str, bool] = {}

    # ---- the model

    def _canonical(self, variable: int) -> Sequence[str]:
        return self.graph.ranges.canonical[self.graph.variable_range[variable]]

    def _scope(self, factor: int) -> tuple[Node, ...]:
        return tuple(
            ("value", self.graph.variable_names[each]) for each in self.graph.scope(factor)
        )

    def _piece(self, factor: int) -> Piece:
        return self.pieces.setdefault(int(self.posterior.places.owners[factor]), Piece())

    def _in_place_order(self, factor: int, place: Any) -> tuple[Node, ...]:
        """The arguments of a factor as those of the place's first factor that look the same."""
        graph, keys = self.graph, self.posterior.places.keys
        looks = keys[graph.offsets[factor] : graph.offsets[factor + 1]].tolist()
        scope, used = self._scope(factor), []
        for look in keys[graph.offsets[place.first] : graph.offsets[place.first + 1]].tolist():
            used.append(next(at for at, own in enumerate(looks) if own == look and at not in used))
        return tuple(scope[at] for at in used)

    def _open(self) -> None:
        """Who has which open factors: (place, number among its holes or known ones, kind)."""
        names, support = self.graph.factor_names, self.graph.support
        self.open: dict[int, list[tuple[int, int, str]]] = {}
        for number, place in enumerate(self.posterior.places.places):
            for at, hole in enumerate(place.holes.tolist()):
                if names[hole] in self.filled:
                    owner = int(self.posterior.places.owners[hole])
                    self.open.setdefault(owner, []).append((number, at, "hole"))
            if self.keep_known or not place.shown.estimated:
                continue
            for at, known in enumerate(place.known.tolist()):
                if support.estimated[known]:
                    owner = int(self.posterior.places.owners[known])
                    self.open.setdefault(owner, []).append((number, at, "estimate"))
        self.cleaned = {
            int(self.posterior.places.places[number].known[at])
            for opened in self.open.values()
            for number, at, sort in opened
            if sort == "estimate"
        }

    def _list_known(self) -> None:
        for factor, name in enumerate(self.graph.factor_names):
            if factor in self.cleaned or name in self.filled:
                continue
            table = self.graph.table(factor)
            if name in self.settled:
                record = self.settled[name]
                donor = self.graph.factor_names.number(record.donor)
                own = self._scope(factor)
                scope = tuple(own[at] for at in record.alignment)
                self._piece(factor).factors.append((scope, self.graph.table(donor)))
            elif table is None:
                self._piece(factor).unknown.append(self._scope(factor))
            else:
                self._piece(factor).factors.append((self._scope(factor), table))

    def _list_isolated(self) -> None:
        met = {node for piece in self.pieces.values() for node in nodes_of(piece)}
        for number, node in enumerate(sorted({*self.states} - met, key=str)):
            self.pieces[-1 - number] = Piece([((node,), np.ones(len(self.states[node])))])

    def _cohorts(self, individual: int) -> tuple[list[tuple[int, int]], np.ndarray]:
        """The cohorts an individual may be in, (sort, number), and how likely each is."""
        kind = self.posterior.kind_of[individual]
        found = [
            ((sort, cohort), weight * float(share))
            for sort, (weight, belonging) in enumerate(
                zip(self.posterior.cohorts.weights.tolist(), self.posterior.belonging, strict=True)
            )
            for cohort, share in enumerate(belonging[kind])
        ]
        likely = [(each, share) for each, share in found if share > NEVER]
        shares = np.array([share for _, share in likely])
        return [each for each, _ in likely], shares / shares.sum()

    def _list_open(self) -> None:
        for individual, opened in self.open.items():
            cohorts, shares = self._cohorts(individual)
            several = len(opened) > 1 and len(cohorts) > 1
            node: Node = ("cohort", individual)
            if several:
                self.states[node], self.shares[node] = list(cohorts), shares
                self.pieces.setdefault(individual, Piece()).factors.append(((node,), shares))
            for number, at, sort in opened:
                add = self._hole if sort == "hole" else self._estimate
                add(individual, number, at, node if several else None, cohorts, shares)

    def _tables(self, number: int) -> list[np.ndarray]:
        """The tables of a place: exact ones, or the atoms of all sorts of cohorts in a row."""
        shown = self.posterior.places.places[number].shown
        if len(shown.tables):
            return list(shown.tables)
        return [
            table
            for found in self.posterior.cohorts.found
            for table in shown.in_order(found.places[number].atoms)
        ]

    def _placed(self, number: int, sort: int, which: np.ndarray) -> np.ndarray:
        """How likely all tables of a place are if those of one sort of cohorts are so likely."""
        if len(self.posterior.places.places[number].shown.tables):
            return which
        sizes = [len(found.places[number].atoms) for found in self.posterior.cohorts.found]
        return np.concatenate(
            [which if other == sort else np.zeros(size) for other, size in enumerate(sizes)]
        )

    def _chances(self, number: int, at: int, cohort: tuple[int, int]) -> np.ndarray:
        """How likely each table of a place is for one of its holes, its owner in a cohort."""
        sort, own = cohort
        which = self.posterior.which_in(number, sort, np.array([at]), np.array([own]))[0]
        return self._placed(number, sort, which)

    def _share(self, number: int, individual: int) -> np.ndarray:
        """The same before anything is observed."""
        kind = self.posterior.kind_of[[individual]]
        return sum(
            weight * self._placed(number, sort, self.posterior.which(number, kind, sort)[0])
            for sort, weight in enumerate(self.posterior.cohorts.weights.tolist())
        )

    def _hole(
        self,
        individual: int,
        number: int,
        at: int,
        cohort: Node | None,
        cohorts: list[tuple[int, int]],
        _: np.ndarray,
    ) -> None:
        place = self.posterior.places.places[number]
        factor = int(place.holes[at])
        node: Node = ("table", self.graph.factor_names[factor])
        chances = np.array([self._chances(number, at, each) for each in cohorts])
        share = self._share(number, individual)
        scope = self._in_place_order(factor, place)
        shape = [len(self.states[each]) for each in scope]
        tables = np.array([table.reshape(shape) for table in self._tables(number)])
        self.states[node], self.shares[node] = list(range(len(tables))), share
        factors = self._piece(factor).factors
        factors.append(((node, *scope), tables))
        factors.append(((node,), share) if cohort is None else ((cohort, node), chances))

    def _estimate(
        self,
        individual: int,
        number: int,
        at: int,
        cohort: Node | None,
        cohorts: list[tuple[int, int]],
        shares: np.ndarray,
    ) -> None:
        place = self.posterior.places.places[number]
        factor = int(place.known[at])
        scope = self._in_place_order(factor, place)
        shape = [len(self.states[each]) for each in scope]
        evidence, rows = place.shown.evidence, []
        for sort, own in cohorts:
            here = self.posterior.cohorts.found[sort].places[number]
            found = here.cleaned_in(evidence, np.array([at]), np.array([own]))
            rows.append(place.shown.in_order(found)[0].reshape(shape))
        tables = np.array(rows)
        factors = self._piece(factor).factors
        if cohort is None:
            factors.append((scope, np.tensordot(shares, tables, 1)))
        else:
            factors.append(((cohort, *scope), tables))

    # ---- weighing

    def _weigh(self) -> None:
        """Divide every part of an individual's own model by its sum under each of its choices.

        Parts hang together by values alone; weights have a mean of one by sums and shares.
        """
        for piece in self.pieces.values():
            weights = []
            for nodes in self._parts(piece):
                factors = [each for each in piece.factors if {*each[0]} & nodes]
                if any({*scope} & nodes for scope in piece.unknown):
                    continue
                met = dict.fromkeys(node for scope, _ in factors for node in scope)
                asked = [node for node in met if node in self.shares]
                _, sums = self._product(asked, factors, np.add)
                mean = sums
                for node in asked:
                    mean = np.tensordot(self.shares[node], mean, 1)
                if asked and mean > 0:
                    some = sums > 0
                    weights.append(
                        (tuple(asked), np.where(some, mean / np.where(some, sums, 1), 0))
                    )
            piece.factors += weights

    def _parts(self, piece: Piece) -> list[set[Node]]:
        """Values of a piece that hang together by factors."""
        parts: list[set[Node]] = []
        for scope in [scope for scope, _ in piece.factors] + piece.unknown:
            values = {node for node in scope if node[0] == "value"}
            if values:
                joined = [part for part in parts if part & values]
                parts = [part for part in parts if not part & values] + [values.union(*joined)]
        return parts

    def _product(self, asked: Sequence[Node], factors: list[Factor], over: np.ufunc) -> Factor:
        """Factors of one individual multiplied, all nodes but those asked about reduced."""
        nodes = list(dict.fromkeys([*asked, *(node for scope, _ in factors for node in scope)]))
        cohort = next((node for node in nodes if node[0] == "cohort"), None)
        if cohort is None:
            return self._reduced(asked, nodes, factors, over)
        rest, left = [n for n in nodes if n != cohort], [n for n in asked if n != cohort]
        tables = [
            self._reduced(left, rest, [sliced(each, cohort, state) for each in factors], over)[1]
            for state in range(len(self.states[cohort]))
        ]
        return reduced_to(asked, ((cohort, *left), np.array(tables)), over)

    def _reduced(
        self, asked: Sequence[Node], nodes: Sequence[Node], factors: list[Factor], over: np.ufunc
    ) -> Factor:
        """The same; only states to which every single factor gives weight are listed."""
        weight = {node: np.ones(len(self.states[node]), dtype=bool) for node in nodes}
        for scope, table in factors:
            if len(scope) == 1:
                weight[scope[0]] &= table > 0
        where = {node: np.flatnonzero(some) for node, some in weight.items()}
        few = [
            (scope, table[np.ix_(*(where[node] for node in scope))] if scope else table)
            for scope, table in factors
        ]
        sizes = {node: len(some) for node, some in where.items()}
        _, found = reduced_to(asked, multiplied(nodes, few, sizes), over)
        table = np.zeros([len(self.states[node]) for node in asked], dtype=np.longdouble)
        table[np.ix_(*(where[node] for node in asked))] = found
        return tuple(asked), table

    # ---- questions

    def _observed(self, evidence: Evidence) -> tuple[list[Factor], set[Node]]:
        factors: list[Factor] = []
        hard = set()
        for name, seen in evidence.items():
            node: Node = ("value", name)
            labels = self.states[node]
            if isinstance(seen, Mapping):
                likelihood = [float(seen.get(label, 0)) for label in labels]
            else:
                likelihood = [float(label == seen) for label in labels]
            if sum(each > 0 for each in likelihood) == 1:  # one label is left: it was observed
                hard.add(node)
            factors.append(((node,), np.array(likelihood)))
        return factors, hard

    def total(
        self, asked: Sequence[Node], evidence: Evidence, over: np.ufunc = np.add
    ) -> np.ndarray | None:
        """Sums (or maxima) of weights for each combination of states of nodes; None if unknown.

        Without nodes: of the whole model.
        """
        seen, hard = self._observed(evidence)
        everything = {key: piece.factors for key, piece in self.pieces.items()}
        unknown = [scope for piece in self.pieces.values() for scope in piece.unknown]
        listed = [factor for factors in everything.values() for factor in factors] + seen
        kept, missing = (
            reachable(asked, listed, unknown, hard) if asked else (listed, bool(unknown))
        )
        if missing:
            return None
        chosen = {id(table) for _, table in kept}
        parts = [[each for each in some if id(each[1]) in chosen] for some in everything.values()]
        first = {}
        for number, some in enumerate(parts):
            for node in {node for scope, _ in some for node in scope}:
                first.setdefault(node, []).append(number)
        for each in seen:
            if id(each[1]) in chosen:
                where = first.get(each[0][0])
                if where is None:
                    parts.append([each])
                else:
                    parts[where[0]].append(each)
        met = {node: len(where) for node, where in first.items()}
        kept_nodes = {*asked, *(node for node, many in met.items() if many > 1)}
        messages = []
        for some in parts:
            own = list(dict.fromkeys(n for s, _ in some for n in s))
            messages.append(self._product([n for n in own if n in kept_nodes], some, over))
        nodes = list(dict.fromkeys([*asked, *kept_nodes & {n for s, _ in messages for n in s}]))
        return self._reduced(asked, nodes, messages, over)[1]

    def probabilities(self, asked: Sequence[Node], evidence: Evidence) -> np.ndarray | None:
        """Of each combination of states of some nodes; None if an unknown factor stands there."""
        found = self.total(asked, evidence)
        if found is None:
            return None
        key = repr(sorted(evidence.items()))
        if key not in self._found_possible:
            self._found_possible[key] = self._possible(evidence)
        if not self._found_possible[key]:
            raise Impossible
        return np.asarray(found / found.sum(), dtype=float)

    def _possible(self, evidence: Evidence) -> bool:
        """Whether every part without unknown factors has a weight."""
        seen, hard = self._observed(evidence)
        values = {node: np.flatnonzero(table)[0] for (node,), table in seen if node in hard}
        listed = [each for piece in self.pieces.values() for each in piece.factors]
        for scope, table in listed:
            if {*scope} <= hard and not table[tuple(values[node] for node in scope)] > 0:
                return False
        left = set(self.states) - hard
        while left:
            node = left.pop()
            found = self.total([node], evidence)
            if found is not None and not found.sum() > 0:
                return False
            around, _ = reachable([node], listed, [], hard)
            left -= {other for scope, _ in around for other in scope}
        return True

    def answer(self, names: Sequence[str], evidence: Evidence) -> np.ndarray | None:
        """P(names | evidence), labels of each in its declared order."""
        found = self.probabilities([("value", name) for name in names], evidence)
        if found is None:
            return None
        for axis, name in enumerate(names):
            labels = self.states["value", name]
            order = [labels.index(label) for label in self.graph.variable(name).range]
            found = found.take(order, axis)
        return found.reshape(-1)

    def log_total(self, evidence: Evidence) -> float:
        """The log of the total weight, minus infinity for none."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.total([], evidence)))

    def log_best(self, evidence: Evidence) -> float:
        """The log of the largest weight of an assignment, a cohort of each and all tables."""
        with np.errstate(divide="ignore"):
            return float(np.log(self.total([], evidence, np.maximum)))


def nodes_of(piece: Piece) -> list[Node]:
    """The nodes that factors of a piece are about, in order."""
    scopes = [scope for scope, _ in piece.factors] + piece.unknown
    return list(dict.fromkeys(node for scope in scopes for node in scope))


def reachable(
    asked: Iterable[Node],
    factors: list[Factor],
    unknown: list[tuple[Node, ...]],
    observed: set[Node],
) -> tuple[list[Factor], bool]:
    """The factors connected to some nodes but through observed ones; whether one is unknown."""
    found = set(asked)
    scopes = [{*scope} for scope, _ in factors] + [{*scope} for scope in unknown]
    inside = [False] * len(scopes)
    grown = True
    while grown:
        grown = False
        for number, scope in enumerate(scopes):
            if not inside[number] and scope & (found - observed):
                inside[number] = grown = True
                found |= scope
    kept = [
        factor
        for factor, here in zip(factors, inside, strict=False)
        if here or ({*factor[0]} & found and {*factor[0]} <= observed)  # what was observed counts
    ]
    return kept, any(inside[len(factors) :])


def sliced(factor: Factor, node: Node, state: int) -> Factor:
    """A factor where a node is in one state."""
    scope, table = factor
    if node not in scope:
        return factor
    left = tuple(each for each in scope if each != node)
    return left, np.asarray(table).take(state, axis=scope.index(node))


def multiplied(
    nodes: Sequence[Node], factors: Iterable[Factor], sizes: Mapping[Node, int]
) -> Factor:
    """The product of factors as one table over nodes with so many states."""
    if np.prod([float(sizes[node]) for node in nodes]) > MOST_STATES:
        raise ValueError(f"{[sizes[node] for node in nodes]} are too many states to list")
    table = np.ones([sizes[node] for node in nodes], dtype=np.longdouble)
    for scope, own in factors:
        shape = [1] * len(nodes)
        places = [nodes.index(node) for node in scope]
        for place, node in zip(places, scope, strict=True):
            shape[place] = sizes[node]
        order = np.argsort(places)
        table = table * np.asarray(own, dtype=np.longdouble).transpose(order).reshape(shape)
    return tuple(nodes), table


def reduced_to(asked: Sequence[Node], factor: Factor, over: np.ufunc) -> Factor:
    """A factor over some of its nodes, in their order, the others added up or maximised."""
    nodes, table = factor
    gone = tuple(axis for axis, node in enumerate(nodes) if node not in asked)
    left = [node for node in nodes if node in asked]
    table = over.reduce(table, axis=gone) if gone else table
    return tuple(asked), table.transpose([left.index(node) for node in asked])
