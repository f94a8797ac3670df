"""A case in memory: grounded, with those who were added, its evidence layered, its holes filled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import amount
from lifagu.errors import ModelError, NotLiftedError, Remedy, TooLargeError
from lifagu.graph.evidence import NamedEvidence, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.place import HERE
from lifagu.questions.statement import Statement
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.filling.result import Transfer
    from lifagu.graph.admitted import Admitted

GROUND = 200  # bytes that a variable or a factor of a ground graph takes
FEW_OBSERVED = 1000  # observations that are compared by value, when results are looked up


def is_whole(case: Statement) -> bool:
    """Whether a relational model can be asked as it is: nothing unknown, merged or added."""
    model, filling = case.model, case.filling
    if not isinstance(model, ParfactorGraph) or model.has_unknown:
        return False
    if case.added or case.admitted:
        return False
    return filling is None or not filling.merges_tables


def fills(case: Statement) -> bool:
    """Whether holes are filled, or tables merged; else the model answers as it is."""
    if case.filling is None:
        return False
    return len(grounded(case).unknown) > 0 or case.filling.merges_tables


def grounded(case: Statement) -> FactorGraph:
    """The ground graph with those who were added or admitted."""
    if case.admitted:
        return guests_of(case).graph
    model, conditions = case.model, conditions_key(case)
    if isinstance(model, FactorGraph) and not case.added and conditions is None:
        return model
    from lifagu.relational.grounding import ground

    def compute() -> FactorGraph:
        if not case.added:
            if conditions is not None:
                from lifagu.questions.conditions import conditioned

                return conditioned(case.opened.loaded(case.place), layers(case))
            _check_groundable(case, model)
            case.place.progress.stage("grounding the model")
            return ground(model)
        name, like = case.added[-1]
        return grounded(replace(case, added=case.added[:-1])).with_individual(name, like)

    return case.opened.once(("graph", case.added, conditions), compute)


def before_admission(case: Statement) -> Statement:
    """The case without those who were admitted."""
    return replace(case, admitted=()) if case.admitted else case


def guests_of(case: Statement) -> Admitted:
    """The ground graph with those who were admitted, tables unknown, and who they are."""
    from lifagu.graph.admitted import admitted

    before = before_admission(case)
    key = "admitted", case.admitted, case.added, conditions_key(case)
    return case.opened.once(key, lambda: admitted(grounded(before), case.admitted))


def with_guests(case: Statement, kept: Ints) -> Statement:
    """The case with some of those who were admitted, by number."""
    guests = guests_of(case)
    if len(kept) and len(np.intersect1d(kept, np.arange(len(guests)))) == len(guests):
        return case
    # whoever is like somebody admitted is like the one of the model
    models, chosen = [guests.models[like] for like in guests.like.tolist()], set(kept.tolist())
    pairs = enumerate(zip(guests.names, models, strict=True))
    return replace(case, admitted=tuple(pair for place, pair in pairs if place in chosen))


def conditions_key(case: Statement) -> Hashable:
    """What conditions of learned tables depend on; None where they are those of the data."""
    if case.keeps_own and not case.layers:
        return None
    if case.opened.loaded(case.place).unlearned is None:
        return None
    return case.keeps_own, tuple(map(_Itself, case.layers))


def _check_groundable(case: Statement, model: FactorGraph | ParfactorGraph) -> None:
    """Refuse a grounding that would not fit; what cannot be counted beforehand is tried."""
    from lifagu.basics.memory import default_memory_limit, readable_size
    from lifagu.inference.relational.description import describe_relational

    if not isinstance(model, ParfactorGraph):
        return
    try:
        facts = describe_relational(model)
    except NotLiftedError:
        return
    count, limit = (
        facts["variables"] + facts["factors"],
        case.place.memory_limit or default_memory_limit(),
    )
    if count * GROUND > limit:
        raise TooLargeError(
            f"the model has {amount(count)} variables and factors once it is grounded, which need "
            f"about {readable_size(count * GROUND)}, but the limit is {readable_size(limit)}; "
            "it can be asked as it is",
            remedy=Remedy.MORE_MEMORY,
        )


def observed_count(case: Statement) -> int:
    """How many variables were observed, a range of them counting once."""
    if isinstance(case.model, ParfactorGraph) and is_whole(case):
        return len(case.model.observations(observed(case)))
    return len(bound(case))


def layers(case: Statement) -> list[Mapping[str, Observation]]:
    """What was observed, in layers, first the model's own evidence."""
    own = [case.own_evidence] if case.keeps_own else []
    template = case.opened.loaded(case.place).template if case.layers else None
    if template is None or not template.finer or not isinstance(case.model, FactorGraph):
        return [*own, *case.layers]
    from lifagu.relational.finer_bins import followed

    return [*own, *(followed(case.model, template.finer, each) for each in case.layers)]


def observed(case: Statement) -> Mapping[str, Observation]:
    """All that was observed, by name: ranges stay where the model can be asked as it is.

    On an engine the model's own evidence stays with the model, which is not read for this.
    """
    if case.place.on not in HERE:
        return case.beside_own
    model = case.model
    if isinstance(model, ParfactorGraph) and is_whole(case):
        return model.layered(layers(case))
    return observed_of_graph(case)


def bound(case: Statement) -> NamedEvidence:
    """All that was observed, bound to the ground graph once; wrong names are an error."""
    key = "bound", case.added, case.admitted, case.keeps_own, tuple(map(_Itself, case.layers))
    return case.opened.once(key, lambda: grounded(case).observations(observed_of_graph(case)))


def observed_of_graph(case: Statement) -> Mapping[str, Observation]:
    """All that was observed, by names of the ground graph, in the order in which it was said."""
    model, graph = case.model, grounded(case)
    given = layers(case)
    if isinstance(model, ParfactorGraph):
        before = grounded(replace(case, added=(), admitted=()))
        given = [_by_name(model, each, before, graph) for each in given]
    return graph.layered(given)


def _by_name(
    model: ParfactorGraph, layer: Mapping[str, Observation], before: FactorGraph, after: FactorGraph
) -> Mapping[str, Observation]:
    """A layer in which ranges are what they cover; names of those who were added stay."""
    from lifagu.relational.grounding import expand_evidence

    new = {
        name for name in layer if name in after.variable_names and name not in before.variable_names
    }
    others = {name: seen for name, seen in layer.items() if name not in new}
    return {name: layer[name] for name in layer if name in new} | expand_evidence(
        model, others, before
    )


def transferred(case: Statement) -> Transfer:
    """The graph with its holes filled."""
    filling = case.filling
    if filling is None:
        raise ModelError("the holes of this case stay", remedy=Remedy.FILL)
    from lifagu.filling.transfer import fill

    def compute() -> Transfer:
        if case.admitted:
            from lifagu.questions.admission import filled_with_guests

            before, plain = before_admission(case), replace(filling, combine="best", interval=None)
            moved = transferred(replace(before, filling=plain))
            return filled_with_guests(guests_of(case), grounded(before), moved, plain)
        graph = grounded(case)
        evidence = bound(case) if filling.to_the_letter else None
        case.place.progress.stage("filling unknown factors")
        return fill(graph, replace(filling, combine="best", interval=None), evidence)

    key = transfer_key(case)
    moved = case.opened.once(key, compute)
    if moved.filling.combine == filling.combine:
        return moved
    # records that say so, kept beside the others
    return case.opened.once((filling.combine, *key), lambda: moved.answering(filling.combine))


def lifted(case: Statement) -> ParfactorGraph:
    """The model as it came where nothing is unknown, else the lifted one of the completed graph."""
    model = case.model
    if isinstance(model, ParfactorGraph) and is_whole(case):
        return model
    from lifagu.symmetry.lifting import lift

    def compute() -> ParfactorGraph:
        moved = transferred(case)
        case.place.progress.stage("lifting the model")
        return lift(moved)

    return case.opened.once(("lifted", *transfer_key(case)), compute)


def without_side_effects(case: Statement) -> FactorGraph:
    """The ground graph with those who were admitted, divided by what they sum to; filled if wanted.

    Where holes stay, nobody knows what to divide by: that is unknown, too.
    """
    if case.filling is not None:
        return transferred(case).graph
    from lifagu.questions.admission import with_unfilled_guests

    return with_unfilled_guests(guests_of(case), grounded(before_admission(case)))


def transfer_key(case: Statement) -> tuple[Hashable, ...]:
    """What a transfer depends on: evidence only where it tells arguments apart."""
    filling = case.filling and replace(case.filling, combine="best", interval=None)
    seen: Hashable = None
    if filling is not None and filling.to_the_letter:
        seen = case.keeps_own, tuple(map(_value_of, case.layers))
    return "transfer", case.added, case.admitted, filling, seen, conditions_key(case)


def _value_of(layer: Mapping[str, Observation]) -> Hashable:
    """Something that is equal for equal layers, or for the same one where they are long."""
    return repr(sorted(layer.items())) if len(layer) <= FEW_OBSERVED else _Itself(layer)


class _Itself:
    """A key that equals no other but this very layer's."""

    def __init__(self, layer: Mapping[str, Observation]) -> None:
        self.layer = layer

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.layer is other.layer

    def __hash__(self) -> int:
        return id(self.layer)
