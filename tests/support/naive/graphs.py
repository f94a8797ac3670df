"""Naive reference implementations, written from the definitions and for nothing but clarity.

"Paper" is *Lifting Factor Graphs with Some Unknown Factors*; "semantics" are the decisions of this
project. Everything is pairwise, recursive or exhaustive, and meant for models with a handful of
variables. A table is a dictionary from tuples of labels to potentials, so ranges belong to it, the
order of labels within a range cannot matter, and equality is equality of numbers (0.0 and -0.0 are
one number).
"""

from __future__ import annotations

import copy
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from statistics import median
from typing import Any

Table = dict[tuple[str, ...], float]
Evidence = dict[str, Any]
Keys = dict[str, tuple[Hashable, ...]]
Groups = list[list[str]]


@dataclass(frozen=True)
class Variable:
    name: str
    labels: tuple[str, ...]
    kind: str | None
    owner: str | None
    company: tuple[str, ...] = ()


@dataclass(frozen=True)
class Factor:
    name: str
    args: tuple[str, ...]
    table: Table | None


@dataclass(frozen=True)
class Graph:
    variables: dict[str, Variable]
    factors: list[Factor]


# ---- Reading and small table operations (semantics §1)


def text(label: Any) -> str:
    """A label as text: JSON numbers and booleans are read as they are written."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def parse(model: dict[str, Any]) -> Graph:
    """The ground part of a model; a variable's owner is the first individual it lists.

    The others are its company.
    """
    variables: dict[str, Variable] = {}
    for entry in model["variables"]:
        labels = entry.get("range", ["false", "true"])
        labels = model["ranges"][labels] if isinstance(labels, str) else labels
        individual = entry.get("individual") or [None]
        owner, *company = [individual] if isinstance(individual, str) else individual
        variables[entry["name"]] = Variable(
            entry["name"], tuple(map(text, labels)), entry.get("kind"), owner, tuple(company)
        )
    factors = []
    for entry in model.get("factors", []):
        values = entry.get("table")
        values = model["tables"][values] if isinstance(values, str) else values
        states = list(product(*(variables[name].labels for name in entry["args"])))
        if values is not None and len(values) != len(states):
            raise ValueError(
                f"factor {entry['name']!r} has {len(values)} potentials for {len(states)} states"
            )
        table = None if values is None else dict(zip(states, map(float, values), strict=True))
        factors.append(Factor(entry["name"], tuple(entry["args"]), table))
    return Graph(variables, factors)


def reorder(table: Table, order: Sequence[int]) -> Table:
    """The table with its argument ``order[i]`` moved to position i."""
    return {tuple(state[i] for i in order): value for state, value in table.items()}


def swapped(table: Table, i: int, j: int) -> Table:
    """The table with arguments i and j exchanged."""
    order = list(range(len(next(iter(table)))))
    order[i], order[j] = j, i
    return reorder(table, order)


def frozen(table: Table) -> Hashable:
    return frozenset(table.items())


def bag(items: Iterable[Hashable]) -> Hashable:
    """A multiset as a hashable value."""
    return frozenset(Counter(items).items())


# ---- Roles and signatures (semantics §3; the paper's symmetric 2-step neighbourhoods)


def degree(graph: Graph, name: str) -> int:
    """The number of factors a variable is in, unknown ones included."""
    return sum(name in factor.args for factor in graph.factors)


def role(
    graph: Graph, name: str, evidence: Evidence, kinds: bool, evidence_in_roles: bool
) -> tuple[Any, ...]:
    """(range, degree), plus kind if declared, plus evidence if that belongs to roles; sortable."""
    variable = graph.variables[name]
    kind = (variable.kind,) if kinds and variable.kind is not None else ()
    seen = (text(evidence[name]),) if evidence_in_roles and name in evidence else ()
    return tuple(sorted(variable.labels)), degree(graph, name), kind, seen


def all_roles(
    graph: Graph, evidence: Evidence, structure_only: bool, evidence_in_roles: bool
) -> dict[str, Any]:
    return {
        name: role(graph, name, evidence, not structure_only, evidence_in_roles)
        for name in graph.variables
    }


def hubs(graph: Graph, kinds: bool) -> set[str]:
    """Variables alone in their kind where others repeat, or above ten times the median degree."""
    middle = median(degree(graph, name) for name in graph.variables) if graph.variables else 0
    found = {name for name in graph.variables if degree(graph, name) > 10 * middle}
    sizes = Counter(v.kind for v in graph.variables.values() if kinds and v.kind is not None)
    if any(size > 1 for size in sizes.values()):
        found |= {name for name, v in graph.variables.items() if kinds and sizes.get(v.kind) == 1}
    return found


def message(
    graph: Graph, name: str, target: Factor, depth: int, roles: dict[str, Any], hub: set[str]
) -> Hashable:
    """What a variable tells a factor, ``2 * depth`` steps deep, never walking back.

    At depth 1 that is its role (the paper's 2-step neighbourhood), hubs included; deeper, a hub
    sends only its name and any other variable its role and the multiset of what its other factors
    tell it. A factor tells (its table, arguments sorted stably by role, or "?"; the receiver's slot
    in that order, also for "?"; the other arguments' messages).
    """
    if depth == 1:
        return roles[name]
    if name in hub:
        return ("hub", name)
    heard = []
    for factor in graph.factors:
        if name in factor.args and factor.name != target.name:
            order = sorted(range(len(factor.args)), key=lambda i: roles[factor.args[i]])
            table = "?" if factor.table is None else frozen(reorder(factor.table, order))
            args = [factor.args[i] for i in order]
            others = tuple(
                message(graph, a, factor, depth - 1, roles, hub) for a in args if a != name
            )
            heard.append((table, args.index(name), others))
    return (roles[name], bag(heard))


def incoming(graph: Graph, roles: dict[str, Any], hub: set[str], depth: int) -> Keys:
    """For each factor the messages of its arguments as listed; its signature is their multiset."""
    return {
        f.name: tuple(message(graph, a, f, depth, roles, hub) for a in f.args)
        for f in graph.factors
    }


# ---- Possibly identical factors (the paper's definition; alignment by semantics §3)


def bijection(donor: Factor, receiver: Factor, keys: Keys) -> tuple[int, ...] | None:
    """The receiver's position for each donor position so that keys match; None if there is none.

    Permutations come in lexicographic order, so among equal keys the first one found keeps the
    order of the lists.
    """
    theirs, ours = keys[donor.name], keys[receiver.name]
    if len(theirs) != len(ours):
        return None
    return next(
        (
            p
            for p in permutations(range(len(ours)))
            if all(ours[p[i]] == k for i, k in enumerate(theirs))
        ),
        None,
    )


def possibly_identical(f: Factor, g: Factor, keys: Keys) -> bool:
    """f ≈ g: symmetric, and one is unknown or the tables are equal once aligned."""
    aligned = bijection(f, g, keys)
    if aligned is None:
        return False
    if f.table is None or g.table is None:
        return True
    return f.table == reorder(g.table, aligned)


def ambiguous(donor: Factor, keys: Keys) -> bool:
    """Swapping positions of equal key changes the donor's table, so list order decided."""
    assert donor.table is not None
    pairs = combinations(range(len(donor.args)), 2)
    own = keys[donor.name]
    return any(own[i] == own[j] and swapped(donor.table, i, j) != donor.table for i, j in pairs)


def largest_agreeing(
    candidates: list[Any], agree: Callable[[Any, Any], bool]
) -> tuple[list[Any], bool]:
    """The largest set of agreeing candidates, the first among equals, and if there was a tie."""
    sets = [[i for i, other in enumerate(candidates) if agree(one, other)] for one in candidates]
    best = max(sets, key=len, default=[])
    return [candidates[i] for i in best], any(len(s) == len(best) and s != best for s in sets)


# ---- Transfer (Algorithm 1; semantics §3)


def verdict(
    factor: Factor, candidates: int, agreeing: int, tie: bool, theta: float
) -> dict[str, Any]:
    """A record without its donor: share = agreeing / candidates, compared with θ by >=."""
    share = agreeing / candidates if candidates else None
    status = (
        "no_candidate" if share is None else "transferred" if share >= theta else "below_threshold"
    )
    return {
        "factor": factor.name,
        "status": status,
        "donor": None,
        "candidates": candidates,
        "agreeing": agreeing,
        "share": share,
        "tie": tie,
        "alignment": None,
        "ambiguous_alignment": False,
    }


def give(
    record: dict[str, Any], donor: Factor, receiver: Factor, keys: Keys, positional: bool = False
) -> Factor:
    """The receiver with the donor's table, its arguments re-ordered; completes the record."""
    order = tuple(range(len(receiver.args))) if positional else bijection(donor, receiver, keys)
    assert order is not None
    record.update(
        donor=donor.name, alignment=list(order), ambiguous_alignment=ambiguous(donor, keys)
    )
    return Factor(receiver.name, tuple(receiver.args[i] for i in order), donor.table)


def from_factors(
    graph: Graph, receiver: Factor, theta: float, keys: Keys
) -> tuple[dict[str, Any], Factor]:
    """Algorithm 1 for one unknown factor, from known factors possibly identical to it."""
    others = [f for f in graph.factors if f.name != receiver.name]
    candidates = [
        f for f in others if f.table is not None and possibly_identical(receiver, f, keys)
    ]
    best, tie = largest_agreeing(candidates, lambda f, g: possibly_identical(f, g, keys))
    record = verdict(receiver, len(candidates), len(best), tie, theta)
    if record["status"] == "transferred":
        receiver = give(record, best[0], receiver, keys)
    return record, receiver


def ranges(graph: Graph, factor: Factor) -> list[set[str]]:
    return [set(graph.variables[name].labels) for name in factor.args]


def owner(graph: Graph, factor: Factor) -> str | None:
    """The common owner of the arguments that have one; None if they differ or nobody owns any."""
    owners = {graph.variables[name].owner for name in factor.args} - {None}
    return owners.pop() if len(owners) == 1 else None


def in_company(graph: Graph, keys: Keys) -> Keys:
    """Roles to which company belongs, where an owner has several factors in equal roles."""

    def place(factor: Factor) -> tuple[str | None, frozenset[Any]]:
        return owner(graph, factor), frozenset(Counter(keys[factor.name]).items())

    often = Counter(map(place, graph.factors))
    return {
        factor.name: tuple(
            (key, graph.variables[name].company if owner(graph, factor) and twins > 1 else ())
            for key, name in zip(keys[factor.name], factor.args, strict=True)
        )
        for factor in graph.factors
        for twins in [often[place(factor)]]
    }


def partners(receivers: list[Factor], donors: list[Factor], keys: Keys) -> dict[str, Factor] | None:
    """A one-to-one match of factors: receiver's factor name -> donor's factor, or None.

    Reading of "factors match in roles one to one and whose known tables equal those of the
    receiver's known factors": both sides have equally many factors; every donor factor is known;
    the receiver's known factors choose first, in list order, the first donor factor left that is
    possibly identical; then the unknown ones do, in list order.
    """
    left = list(donors)
    if len(left) != len(receivers) or any(f.table is None for f in left):
        return None
    matched = {}
    for factor in sorted(receivers, key=lambda f: f.table is None):
        partner = next((f for f in left if possibly_identical(factor, f, keys)), None)
        if partner is None:
            return None
        left.remove(partner)
        matched[factor.name] = partner
    return matched


def from_individuals(
    graph: Graph, receiver: Factor, theta: float, keys: Keys
) -> tuple[dict[str, Any], Factor] | None:
    """One unknown factor filled from individuals like its owner; None without owner or donor.

    Reading of the semantics: all factors of an individual (those it owns) are matched, see
    ``partners``. Donor individuals agree when the tables they would give form the same multiset,
    whatever their order. Individuals are ordered by their first factor; the first one of the
    winning set gives all tables, its factors are the donors. ``ambiguous_assignment`` is true iff
    the owner has another unknown factor of the same signature, even if both get equal tables. Below
    θ nothing is given; the rule for single factors applies only when no donor individual exists.
    """
    person = owner(graph, receiver)
    if person is None:
        return None
    belongings: dict[str, list[Factor]] = {}
    for factor in graph.factors:
        if (name := owner(graph, factor)) is not None:
            belongings.setdefault(name, []).append(factor)
    own = belongings.pop(person)
    unknown = [f for f in own if f.table is None]
    matches = [
        match
        for theirs in belongings.values()
        if (match := partners(own, theirs, keys)) is not None
    ]
    if not matches:
        return None
    gifts = [{f.name: match[f.name] for f in unknown} for match in matches]
    best, tie = largest_agreeing(
        gifts, lambda a, b: partners([*a.values()], [*b.values()], keys) is not None
    )
    record = verdict(receiver, len(matches), len(best), tie, theta)
    if record["status"] == "transferred":
        twins = [
            f
            for f in unknown
            if f.name != receiver.name and bijection(f, receiver, keys) is not None
        ]
        record["ambiguous_assignment"] = bool(twins)
        receiver = give(record, best[0][receiver.name], receiver, keys)
    return record, receiver


def transfer(
    model: dict[str, Any],
    theta: float,
    evidence: Evidence = None,
    *,
    structure_only: bool = False,
    evidence_in_roles: bool = False,
    steps: int | None = None,
    use_individuals: bool = True,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Fill unknown factors: the completed model and a record per unknown factor, in order.

    All candidates come from the model as given, never from tables already transferred. A record's
    ``unit`` says whether donor individuals or donor factors were counted. ``steps``
    (2, 4, 6, …) puts k-step signatures in the place of roles throughout (candidates, agreement,
    alignment), leaves individuals out, backs off by two steps for each factor without a candidate,
    and records the ``steps`` used (2 if there is no candidate at all).
    """
    if evidence is None:
        evidence = {}
    if steps is not None and (steps < 2 or steps % 2):
        raise ValueError(f"steps must be 2, 4, 6, …, not {steps}")
    graph = parse(model)
    roles = all_roles(graph, evidence, structure_only, evidence_in_roles)
    hub = hubs(graph, not structure_only)
    depths = range((steps or 2) // 2, 0, -1)
    levels = {2 * depth: incoming(graph, roles, hub, depth) for depth in depths}
    individuals = use_individuals and not structure_only and steps is None
    apart = in_company(graph, levels[2]) if individuals else {}
    records, completed = [], copy.deepcopy(model)
    for position, factor in enumerate(graph.factors):
        if factor.table is not None:
            continue
        found = None
        if individuals:
            found = from_individuals(graph, factor, theta, apart)
            found = found or from_individuals(graph, factor, theta, levels[2])
        unit = "individual" if found else "factor"
        for level, keys in levels.items():
            if not found or found[0]["status"] == "no_candidate":
                found, used = from_factors(graph, factor, theta, keys), level
        assert found is not None
        record, filled = found
        records.append({**record, "unit": unit, **({"steps": used} if steps else {})})
        if filled.table is not None:
            states = product(*(graph.variables[name].labels for name in filled.args))
            completed["factors"][position].update(
                args=list(filled.args), table=[filled.table[s] for s in states]
            )
    return completed, records


# ---- Colour passing (the paper's preliminaries; semantics §2)


def canonical_order(table: Table) -> tuple[int, ...]:
    """The first order of arguments that makes the sorted list of entries smallest."""
    arity = len(next(iter(table)))
    return min(permutations(range(arity)), key=lambda order: sorted(reorder(table, order).items()))


def swappable_sets(table: Table) -> list[int]:
    """For each argument the smallest position of its set, joined by swaps that change nothing."""
    sets = list(range(len(next(iter(table)))))
    for i, j in combinations(range(len(sets)), 2):
        if swapped(table, i, j) == table:
            sets = [sets[i] if s == sets[j] else s for s in sets]
    return [sets.index(s) for s in sets]


def numbered(signatures: dict[str, Hashable]) -> dict[str, int]:
    """Colours numbered by first occurrence in input order."""
    numbers: dict[Hashable, int] = {}
    return {
        name: numbers.setdefault(signature, len(numbers)) for name, signature in signatures.items()
    }


def groups(colours: dict[str, int]) -> Groups:
    """Members in input order, groups ordered by first member."""
    return [
        [name for name, own in colours.items() if own == colour]
        for colour in dict.fromkeys(colours.values())
    ]


def colour_passing(
    model: dict[str, Any],
    evidence: Evidence = None,
    start_factors: dict[str, Hashable] | None = None,
    *,
    commutative: bool = False,
    structure_only: bool = False,
    evidence_in_roles: bool = False,
) -> tuple[Groups, Groups]:
    """Variable and factor groups after synchronous rounds, until no colour is split.

    Factors left unknown start with one colour per class: equal multisets of roles, kinds and
    evidence as the options say, in any way of filling. ``start_factors`` replaces the start colours
    of the factors it names. ``commutative``: known factors are brought to a canonical order of
    arguments, swappable arguments share a position, and their colours are sorted within their set;
    unknown factors keep their arguments as listed, each its own position.
    """
    if evidence is None:
        evidence = {}
    graph = parse(model)
    roles = all_roles(graph, evidence, structure_only, evidence_in_roles)
    start: dict[str, Hashable] = {}
    shape: dict[str, tuple[list[str], list[int]]] = {}
    for f in graph.factors:
        args, table, slots = list(f.args), f.table, list(range(len(f.args)))
        if commutative and table is not None:
            order = canonical_order(table)
            args, table = [args[i] for i in order], reorder(table, order)
            slots = swappable_sets(table)
        start[f.name] = (
            ("?", bag(roles[a] for a in args)) if table is None else ("known", frozen(table))
        )
        shape[f.name] = args, slots
    for name, colour in (start_factors or {}).items():
        start[name] = ("given", colour)
    factor_colour = numbered(start)
    seen = {name: text(evidence[name]) for name in evidence}
    variable_colour = numbered(
        {n: (frozenset(v.labels), seen.get(n)) for n, v in graph.variables.items()}
    )
    while True:
        before = len(set(factor_colour.values())) + len(set(variable_colour.values()))
        factor_colour = numbered(
            {
                name: (
                    factor_colour[name],
                    tuple(
                        sorted(
                            (slot, variable_colour[a]) for a, slot in zip(args, slots, strict=True)
                        )
                    ),
                )
                for name, (args, slots) in shape.items()
            }
        )
        variable_colour = numbered(
            {
                name: (
                    variable_colour[name],
                    bag(
                        [
                            (factor_colour[f], slot)
                            for f, (args, slots) in shape.items()
                            for a, slot in zip(args, slots, strict=True)
                            if a == name
                        ]
                    ),
                )
                for name in graph.variables
            }
        )
        if len(set(factor_colour.values())) + len(set(variable_colour.values())) == before:
            return groups(variable_colour), groups(factor_colour)


# ---- Answers (semantics §5)


def enumerate_answers(
    model: dict[str, Any], evidence: Evidence = None
) -> tuple[float, dict[str, dict[str, float]]]:
    """(log of the total weight with the evidence, P(variable = label | evidence)), exhaustively."""
    if evidence is None:
        evidence = {}
    graph = parse(model)
    unknown = [f.name for f in graph.factors if f.table is None]
    if unknown:
        raise ValueError(f"unknown factors remain: {', '.join(unknown)}")
    weights: dict[str, dict[str, list[float]]] = {
        n: {s: [] for s in v.labels} for n, v in graph.variables.items()
    }
    every: list[float] = []
    for state in product(
        *([text(evidence[n])] if n in evidence else v.labels for n, v in graph.variables.items())
    ):
        world = dict(zip(graph.variables, state, strict=True))
        every.append(
            math.prod((f.table or {})[tuple(world[a] for a in f.args)] for f in graph.factors)
        )
        for name, label in world.items():
            weights[name][label].append(every[-1])
    total = math.fsum(every)
    if total == 0:
        raise ZeroDivisionError("the evidence has probability zero")
    return math.log(total), {
        n: {s: math.fsum(w) / total for s, w in by.items()} for n, by in weights.items()
    }


# ---- Random models


def random_table(rng: random.Random, labels: Sequence[tuple[str, ...]], zeros: float) -> Table:
    """Few distinct values, so that equal and symmetric tables are common; never all zero."""
    states = list(product(*labels))
    table = {
        s: 0.0 if rng.random() < zeros else rng.choice([0.5, 1.0, 1.0, 2.0, 3.0]) for s in states
    }
    return table if any(table.values()) else {**table, rng.choice(states): 1.0}


def random_model(
    rng: random.Random,
    *,
    variables: int = 8,
    factors: int = 10,
    unknown: float = 0.3,
    zeros: float = 0.1,
    ternary: float = 0.2,
    kinds: bool = False,
    individuals: bool = False,
) -> dict[str, Any]:
    """A small model of look-alike blocks around hubs; ``unknown``, ``zeros``, ``ternary``: shares.

    All blocks copy one list of scopes, with two tables for each shape, often chosen by the block's
    hidden cohort, at times in another order of arguments or labels, doubled or missing; a few stray
    factors follow. Unknown factors are scattered or belong to few blocks. Some variables stay
    isolated. With ``kinds`` some kinds are coarse or missing; with ``individuals`` blocks are
    individuals.
    """
    size = rng.randint(1, min(3, variables))
    hub = [f"H{i}" for i in range(min(rng.choice([0, 1, 1, 1, 2]), variables - size))]
    blocks = [[f"B{i}.{j}" for j in range(size)] for i in range((variables - len(hub)) // size)]
    names = hub + [name for block in blocks for name in block]
    names += [f"I{i}" for i in range(variables - len(names))]
    spot = {name: name.split(".")[-1] for name in names}  # variables of one spot look alike
    boolean, other, three = ("false", "true"), ("off", "on"), ("hi", "lo", "mid")
    look = {
        s: three if rng.random() < ternary else rng.choice([boolean] * 5 + [other])
        for s in spot.values()
    }
    labels = {name: look[spot[name]] if rng.random() > 0.03 else boolean for name in names}
    turned = {name for name in names if rng.random() < 0.3}
    label_order = {
        n: tuple(rng.sample(own, len(own))) if n in turned else own for n, own in labels.items()
    }
    pool: dict[tuple[tuple[str, ...], ...], list[Table]] = {}
    listed: list[dict[str, Any]] = []

    def add(args: Sequence[str], choice: int, hidden: float) -> None:
        """One factor, its arguments possibly permuted, with a table of the pool."""
        shape = tuple(labels[name] for name in args)
        tables = pool.setdefault(shape, [random_table(rng, shape, zeros) for _ in range(2)])
        order = rng.sample(range(len(args)), len(args)) if rng.random() < 0.25 else range(len(args))
        args, table = [args[i] for i in order], reorder(tables[choice], order)
        values = [table[state] for state in product(*(label_order[name] for name in args))]
        listed.append({"args": args, "table": None if rng.random() < hidden else values})

    spots = [*range(size), *hub]
    scopes = [
        rng.sample(spots, rng.randint(1, min(3, len(spots)))) for _ in range(rng.randint(1, 4))
    ]
    # each cohort's table for a scope
    habits = [rng.choice([[0, 0], [0, 1], [1, 0], [0, 1]]) for _ in scopes]
    scattered, blemish = rng.random() < 0.5, rng.choice([0.0, 0.0, 0.05, 0.15])
    for block in blocks:
        cohort, struck = rng.choice([0, 0, 1]), rng.random() < unknown
        hidden = unknown if scattered else rng.choice([0.5, 1.0]) * struck
        for scope, habit in zip(scopes, habits, strict=True):
            for _ in range(rng.choice([0, 2]) if rng.random() < blemish else 1):
                choice = rng.randint(0, 1) if rng.random() < blemish else habit[cohort]
                add([s if isinstance(s, str) else block[s] for s in scope], choice, hidden)
    del listed[factors:]
    for _ in range(rng.choice([0, 0, 0, 1, factors - len(listed)])):
        if len(listed) < factors:
            add(rng.sample(names, rng.randint(1, min(3, len(names)))), rng.randint(0, 1), unknown)
    if rng.random() < 0.5:
        rng.shuffle(listed)
    entries = [describe(rng, name, label_order[name]) for name in names]
    coarse, sparse = rng.random() < 0.2, rng.random() < 0.2
    for entry in entries:
        name = entry["name"]
        if kinds and not (sparse and rng.random() < 0.3):
            entry["kind"] = "any" if coarse and name[0] == "B" else "kind" + spot[name]
        if individuals and name[0] == "B":
            person = name.split(".")[0].lower()
            entry["individual"] = rng.choice([person, [person], [person, "b0"]])
    named = {"flag": ["false", "true"], "level": ["hi", "lo", "mid"]}
    return {
        "format": "lifagu/1",
        "ranges": named,
        "variables": entries,
        "factors": [{"name": f"f{i}", **entry} for i, entry in enumerate(listed)],
    }


def describe(rng: random.Random, name: str, labels: tuple[str, ...]) -> dict[str, Any]:
    """A variable with its range by name, in place, or left out where that means the same."""
    short = {("false", "true"): [{}, {"range": "flag"}], ("hi", "lo", "mid"): [{"range": "level"}]}
    return {"name": name, **rng.choice([{"range": list(labels)}, *short.get(labels, [])])}
