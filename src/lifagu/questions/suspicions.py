"""What looks as if it was not meant so in a model: a line or two each, with the fix.

Nothing is refused for it, and nothing is computed differently. Tables that are learned together are
never suspected: what one says, the others know. Near-linear in the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice

import numpy as np

from lifagu.basics.arrays import Ints, distinct, group_lists, group_rows
from lifagu.basics.words import counted
from lifagu.errors import listed
from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.likeness.merging import equal_up_to_scale
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parsing import parse_argument
from lifagu.relational.template import Template
from lifagu.relational.terms import Argument, Atom, Logical

MOST = 5  # of each sort
FEW = 10  # records behind a counted table below which it is noise
MANY = 20  # observed cells of a relation from which on a label that is never seen is remarkable


OfModel = tuple[tuple[str, ...], tuple[str, ...]]  # more and less misleading than what is not used


def suspected_of_model(loaded: Loaded) -> OfModel:
    """What is suspected whatever was observed, the most misleading first."""
    more = _first_of(loaded, _counted_twice, _said_twice, _meant_as_constants)
    return more, _first_of(loaded, _never_seen, _hardly_counted)


def suspicions(
    of_model: OfModel, loaded: Loaded, layers: Sequence[Mapping[str, Observation]]
) -> tuple[str, ...]:
    """All that is suspected, the most misleading first; layers: what was observed, by name."""
    before, after = of_model
    return (*before, *islice(_not_used(loaded, layers), MOST), *after)


def _first_of(loaded: Loaded, *sorts: Callable[[Loaded], Iterator[str]]) -> tuple[str, ...]:
    return tuple(line for each in sorts for line in islice(each(loaded), MOST))


# ---- how often something is true, counted twice


def _counted_twice(loaded: Loaded) -> Iterator[str]:
    """Pairs of counted tables that both say how often values of the same variables occur."""
    graph, template = loaded.model, loaded.template
    if template is None or not isinstance(graph, FactorGraph):
        return
    names, found = graph.factor_names, dict[int, Ints]()
    if not isinstance(names, GroundNames):
        return
    for number, parfactor in template.parfactors.items():
        table = template.learned.get(parfactor.learned or "")
        if table is None:
            continue
        slots = [at for at, column in enumerate(table.columns) if column not in table.given]
        first = names.start(1 + number)
        factors = np.arange(first, first + len(names.rows[number]))
        arity = np.diff(graph.offsets)[factors]
        whole = graph.offsets[factors[arity == len(table.columns)]]
        found[number] = distinct(graph.arguments[whole[:, None] + np.array(slots, dtype=np.int64)])
    for one, other in combinations(found, 2):
        both = np.intersect1d(found[one], found[other], assume_unique=True)
        if len(both):
            places = (template.parfactors[one].place, template.parfactors[other].place)
            yield (
                f"'{names.rows[one].prefix}' ({places[0]}) and '{names.rows[other].prefix}' "
                f"({places[1]}) are counted apart, and both say how often "
                f"{_sort_of(graph, int(both[0]))} has which value, which then counts twice; make "
                'one conditional on it ("given"), or have both learned together ("table": "learn")'
            )
    yield from _beside_priors(graph, names, template, found)


def _beside_priors(
    graph: FactorGraph, names: GroundNames, template: Template, counted_by: Mapping[int, Ints]
) -> Iterator[str]:
    """Literal priors of single variables beside counted tables that say how often these occur."""
    for number, rows in enumerate(names.rows if counted_by else ()):
        written = template.parfactors.get(number)
        if written is not None and not written.is_literal:
            continue
        factors = names.start(1 + number) + np.arange(len(rows))
        factors = factors[np.diff(graph.offsets)[factors] == 1]
        tables = np.unique(graph.factor_table[factors]).tolist()
        telling = [each for each in tables if each >= 0 and np.ptp(graph.tables[each])]
        told = factors[np.isin(graph.factor_table[factors], telling)]
        own = distinct(graph.arguments[graph.offsets[told]])
        for other, variables in counted_by.items():
            both = np.intersect1d(own, variables, assume_unique=True)
            if len(both):
                yield (
                    f"'{rows.prefix}' (parfactors[{number}]) is a prior of "
                    f"{_sort_of(graph, int(both[0]))}, and "
                    f"'{names.rows[other].prefix}' ({template.parfactors[other].place}) is counted "
                    "and says how often it has which value as well; make that one conditional on "
                    f"it (\"given\"), or leave '{rows.prefix}' out"
                )


def _hardly_counted(loaded: Loaded) -> Iterator[str]:
    """Counted tables behind which hardly any record stands, and which nothing draws to others."""
    graph, template = loaded.model, loaded.template
    if template is None or not isinstance(graph, FactorGraph) or graph.support is None:
        return
    names = graph.factor_names
    for number, parfactor in template.parfactors.items():
        table = template.learned.get(parfactor.learned or "")
        if table is None or table.pool or not isinstance(names, GroundNames):
            continue
        first = names.start(1 + number)
        factors = np.arange(first, first + len(names.rows[number]))
        factors = factors[graph.factor_table[factors] >= 0]
        numbers, one = np.unique(graph.factor_table[factors], return_index=True)
        records = graph.support.total(factors[one])
        few = int((records < FEW).sum())
        if few:
            which = "the table is" if len(numbers) == 1 else f"{few} of {len(numbers)} tables are"
            yield (
                f"'{names.rows[number].prefix}' ({parfactor.place}): {which} counted from fewer "
                f"than {FEW} records (the fewest: {records.min():.0f}); with min_support such a "
                'table is unknown and filled, with "pool" it is drawn to what groups have in common'
            )


def _sort_of(graph: FactorGraph, variable: int) -> str:
    """The relation of a variable, or its name."""
    return graph.variable_names[variable].partition("(")[0].strip()


# ---- the same table twice over the same variables


def _said_twice(loaded: Loaded) -> Iterator[str]:
    graph = loaded.model
    if isinstance(graph, ParfactorGraph):
        yield from _parfactors_twice(graph)
        return
    known = np.flatnonzero(graph.factor_table >= 0)
    if not len(known):
        return
    scale = equal_up_to_scale(graph.tables)[graph.factor_table]
    same = group_rows(np.column_stack((group_lists(graph.offsets, graph.arguments), scale + 1)))
    order = known[np.argsort(same[known], kind="stable")]
    again = np.flatnonzero(same[order][1:] == same[order][:-1])
    told = set[tuple[str, str]]()
    for place in again.tolist():
        pair = graph.factor_names.of_nodes(order[[place, place + 1]])
        sorts = pair[0].partition("(")[0], pair[1].partition("(")[0]
        if _says_nothing(graph, int(order[place])) or sorts in told:
            continue
        told.add(sorts)
        scope = [graph.variable_names[each] for each in graph.scope(int(order[place]))]
        yield _twice(pair[0], pair[1], listed(scope))
        if len(told) >= MOST:
            return


def _parfactors_twice(model: ParfactorGraph) -> Iterator[str]:
    met = dict[tuple[object, ...], str]()
    for each in model.parfactors:
        if each.table is None or not np.ptp(each.table):
            continue
        table = (each.table / each.table.max()).tobytes()
        arguments = ", ".join(map(str, each.arguments))
        key = arguments, tuple(map(str, each.where)), table
        if key in met:
            yield _twice(met[key], each.name, arguments)
        met.setdefault(key, each.name)


def _says_nothing(graph: FactorGraph, factor: int) -> bool:
    table = graph.tables[int(graph.factor_table[factor])]
    return not np.ptp(table)


def _twice(one: str, other: str, scope: str) -> str:
    return (
        f"'{one}' and '{other}' have the same table over {scope}, and both count: is the same "
        "information in both? If so, leave one of them out"
    )


# ---- logical variables that look like constants


def _meant_as_constants(loaded: Loaded) -> Iterator[str]:
    told = set[str]()
    for name, argument, domains in _arguments(loaded):
        if not isinstance(argument, Atom):
            continue
        for term, domain in zip(argument.terms, domains, strict=False):
            if not isinstance(term, Logical) or term.name in told:
                continue
            # X may well stand for anybody where somebody is called x
            spelt = (term.name, term.name.lower())[: len(term.name)]
            meant = next((each for each in spelt if domain.find(each) is not None), None)
            if meant is not None:
                told.add(term.name)
                constant = json.dumps(meant) if meant == term.name else meant
                yield (
                    f"'{name}': {term.name} in {argument} begins with a capital letter, so that it "
                    f"stands for every {domain.name}; if {meant} alone is meant, write {constant}"
                )


def _arguments(loaded: Loaded) -> Iterator[tuple[str, Argument, tuple[Domain, ...]]]:
    """The arguments of all parfactors: of which, what, and the domains of its relation."""
    model, template = loaded.model, loaded.template
    if isinstance(model, ParfactorGraph):
        by_name = {each.name: each for each in model.domains}
        domains = {
            each.name: tuple(by_name[of] for of in each.of if of in by_name)
            for each in model.relations
        }
        every = [(each.name, each.arguments) for each in model.parfactors]
    elif template is not None and isinstance(model.variable_names, GroundNames):
        domains = {each.prefix: each.domains for each in model.variable_names.rows}
        items = json.loads(template.text).get("parfactors", [])
        every = [(str(item["name"]), tuple(map(parse_argument, item["args"]))) for item in items]
    else:
        return
    for name, arguments in every:
        for each in arguments:
            relation = getattr(each, "relation", "")
            yield name, each, domains.get(relation, ())


# ---- observed for nothing, never observed


def _not_used(loaded: Loaded, layers: Sequence[Mapping[str, Observation]]) -> Iterator[str]:
    """What is observed although no factor is about it."""
    graph = loaded.model
    if isinstance(graph, FactorGraph):
        # of somebody new who was added, the model knows nothing
        known = [
            layer
            if isinstance(layer, NamedEvidence)
            else {name: seen for name, seen in layer.items() if name in graph.variable_names}
            for layer in layers
        ]
        seen = graph.evidence(graph.layered(known))
        alone = seen.variables[graph.degrees[seen.variables] == 0]
        sorts = dict.fromkeys(map(graph.variable_names.__getitem__, alone[:1000].tolist()))
        if loaded.template is not None and isinstance(graph.variable_names, GroundNames):
            # of those that no factor is about, there are no variables
            empty = {each.prefix for each in graph.variable_names.rows if not len(each)}
            sorts |= dict.fromkeys(each for each in loaded.template.evidence if each in empty)
    else:
        used = {
            each.relation if isinstance(each, Atom) else each.atom.relation
            for parfactor in graph.parfactors
            for each in parfactor.arguments
        }
        ground = {name.partition("(")[0] for name in graph.ground_part.variable_names}
        sorts = dict.fromkeys(
            name
            for layer in layers
            for name in layer
            if name.partition("(")[0] not in used | ground
        )
    for sort in dict.fromkeys(name.partition("(")[0].strip() for name in sorts):
        yield (
            f"{sort} is observed, but no factor is about it, so that it tells nothing; add a "
            "factor over it and what it tells about, or leave it out"
        )


def _never_seen(loaded: Loaded) -> Iterator[str]:
    """Labels that the data of tables to be learned never shows."""
    task = (loaded.unlearned or loaded).task
    if task is None:
        return
    for cells in task.relations:
        seen = cells.values[cells.values >= 0]
        if len(seen) < MANY:
            continue
        many = np.bincount(seen, minlength=len(cells.labels))
        never = [label for label, count in zip(cells.labels, many, strict=False) if not count]
        if never:
            yield (
                f"{cells.relation} is never {listed(never)} in {counted(len(seen), 'cell')}, so "
                "what is learned about that rests on no record; is the label spelt as in the data?"
            )
