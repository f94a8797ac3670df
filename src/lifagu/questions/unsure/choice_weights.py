"""How much each choice of alternatives counts, exactly: choices as variables of a small graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import NoAnswerError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.planning import prepare

Classes = tuple[int, ...]


def choice_weights(
    wanted: Classes,
    shares: Mapping[int, Floats],
    witnesses: Mapping[Classes, Floats],
    settings: dict[str, Any],
) -> Floats:
    """The probability of each combination of alternatives of the wanted classes, an axis for each.

    shares[k]: of the alternatives of class k; witnesses[classes]: the log of how well combinations
    of these explain what was observed, an axis for each. Where witnesses speak about other classes
    as well, these are summed out.
    """
    if not all(set(each) <= set(wanted) for each in witnesses):
        return _by_elimination(wanted, shares, witnesses, settings)
    logs = np.zeros([len(shares[each]) for each in wanted])
    for axis, each in enumerate(wanted):
        logs = logs + _along(np.log(shares[each]), [axis], len(wanted))
    for classes, table in witnesses.items():
        logs = logs + _along(table, [wanted.index(each) for each in classes], len(wanted))
    if not np.isfinite(most := logs.max()):
        raise impossible()
    weights = np.exp(logs - most)
    return np.asarray(weights / weights.sum())


def impossible() -> NoAnswerError:
    """The refusal where no combination explains the evidence."""
    return NoAnswerError(
        "the evidence has probability zero under every combination of competing tables"
    )


def _along(table: Floats, axes: Sequence[int], count: int) -> Floats:
    """A table whose axes ascend, as one with so many axes."""
    sizes = dict(zip(axes, table.shape, strict=True))
    return table.reshape([sizes.get(axis, 1) for axis in range(count)])


def _by_elimination(
    wanted: Classes,
    shares: Mapping[int, Floats],
    witnesses: Mapping[Classes, Floats],
    settings: dict[str, Any],
) -> Floats:
    builder = FactorGraph.build()
    for each in sorted(set(wanted).union(*witnesses)):
        builder.variable(str(each), list(map(str, range(len(shares[each])))))
        builder.factor(f"share {each}", [str(each)], shares[each] / shares[each].max())
    for number, (classes, table) in enumerate(witnesses.items()):
        if not np.isfinite(most := table.max()):
            raise impossible()
        builder.factor(f"witness {number}", list(map(str, classes)), np.exp(table - most))
    asked = [list(map(str, wanted))]
    limit = settings.get("memory_limit")
    try:
        return prepare(builder.graph(), asked, memory_limit=limit).run().answers[0].probabilities
    except NoAnswerError:
        raise impossible() from None
