"""What there is in a relational model, counted over cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from lifagu.graph.parts import describe_supports
from lifagu.graph.supports import Supports, exact, joined
from lifagu.inference.relational.problem import shattered
from lifagu.relational.parfactor_graph import ParfactorGraph


def describe_relational(model: ParfactorGraph) -> dict[str, Any]:
    """Sizes, unknown factors and what can be asked, as plain values.

    What cells cannot express is a `NotLiftedError`. Cost: the number of classes, whatever the sizes
    of the domains.
    """
    whole = shattered(model, {}, ())
    kinds, individuals = whole.kinds, whole.kinds.individuals
    ground = [
        (
            piece,
            piece.many * individuals.choices(piece.cells) if piece.listed is None else piece.many,
        )
        for piece in whole.pieces
    ]
    holes = sorted({part for _, part in whole.unknown})
    classes = [number for number, kind in enumerate(kinds.kinds) if not kind.counted]
    open_classes = [number for number in classes if not np.isin(whole.part_of[number], holes)]
    open_classes.sort(key=kinds.sort_key)
    return {
        "domains": {domain.name: domain.size for domain in model.domains},
        "relations": [relation.name for relation in model.relations],
        "parfactors": len(model.parfactors),
        **describe_supports(_supports(model)),
        "variables": sum(map(individuals.members, classes)),
        "classes_of_variables": len(classes),
        "factors": sum(count for _, count in ground),
        "unknown_factors": sum(count for piece, count in ground if piece.table is None),
        "unknown_examples": list(dict.fromkeys(name for name, _ in whole.unknown))[:5],
        "largest_arity": max((len(piece.arguments) for piece, _ in ground), default=0),
        "answerable_variables": sum(map(individuals.members, open_classes)),
        "example_query": kinds.name(open_classes[0]) if open_classes else None,
    }


def _supports(model: ParfactorGraph) -> Supports:
    """The supports of parfactors, each counted once, and of ground factors."""
    part = model.ground_part
    own = Supports.of([bound.support for bound in model.bound])
    return joined([own, part.support or exact(len(part.factor_names))])
