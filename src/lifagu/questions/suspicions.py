"""What looks as if it was not meant so in a model: a line or two each, with the fix.

Nothing is refused for it, and nothing is computed differently. Tables that are learned together are
never suspected: what one says, the others know. Near-linear in the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.repeated_tables import said_twice
from lifagu.questions.suspected_counts import counted_twice, hardly_observed, never_seen
from lifagu.relational.domains import Domain
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parsing import parse_argument
from lifagu.relational.terms import Argument, Atom, Logical, term_text

MOST = 5  # of each sort

OfModel = tuple[tuple[str, ...], tuple[str, ...]]  # more and less misleading than what is not used


def suspected_of_model(loaded: Loaded) -> OfModel:
    """What is suspected whatever was observed, the most misleading first."""
    more = _first_of(loaded, counted_twice, said_twice, _meant_as_constants)
    return more, _first_of(loaded, never_seen, hardly_observed)


def suspicions(
    of_model: OfModel, loaded: Loaded, layers: Sequence[Mapping[str, Observation]]
) -> tuple[str, ...]:
    """All that is suspected, the most misleading first; layers: what was observed, by name."""
    before, after = of_model
    return (*before, *islice(_not_used(loaded, layers), MOST), *after)


def _first_of(loaded: Loaded, *sorts: Callable[[Loaded], Iterator[str]]) -> tuple[str, ...]:
    return tuple(line for each in sorts for line in islice(each(loaded), MOST))


# ---- logical variables that look like constants


def _meant_as_constants(loaded: Loaded) -> Iterator[str]:
    told = set[str]()
    for place, name, argument, domains in _arguments(loaded):
        # what is counted is a logical variable in any case
        known = told if isinstance(argument, Atom) else {*told, argument.variable.name}
        atom = argument if isinstance(argument, Atom) else argument.atom
        for term, domain in zip(atom.terms, domains, strict=False):
            if not isinstance(term, Logical) or term.name in known:
                continue
            # X may well stand for anybody where somebody is called x
            spelt = (term.name, term.name.lower())[: len(term.name)]
            meant = next((each for each in spelt if domain.find(each) is not None), None)
            if meant is not None:
                told.add(term.name)
                yield (
                    f"'{name}' (parfactors[{place}]): {term.name} in {argument} begins with a "
                    f"capital letter, so that it stands for every {domain.name}; if {meant} alone "
                    f"is meant, write {term_text(meant)}"
                )


def _arguments(loaded: Loaded) -> Iterator[tuple[int, str, Argument, tuple[Domain, ...]]]:
    """The arguments of parfactors: of which, what, and the domains of its relation.

    Where rows name the constants, their columns are called as logical variables on purpose.
    """
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
        every = [
            (str(item["name"]), tuple(map(parse_argument, () if "rows" in item else item["args"])))
            for item in items
        ]
    else:
        return
    for place, (name, arguments) in enumerate(every):
        for each in arguments:
            atom = each if isinstance(each, Atom) else each.atom
            yield place, name, each, domains.get(atom.relation, ())


# ---- observed for nothing


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
    queries = loaded.template.evidence if loaded.template is not None else {}
    for sort in dict.fromkeys(name.partition("(")[0].strip() for name in sorts):
        place = f" ({queries[sort].place})" if sort in queries else ""
        yield (
            f"{sort} is observed{place}, but no factor is about it, so that it tells nothing; add "
            "a factor over it and what it tells about, or leave it out"
        )
