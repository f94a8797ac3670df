"""The answer to a question, with what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from lifagu.basics.arrays import Floats, frozen
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.inputs import items
from lifagu.errors import ModelError, listed
from lifagu.graph.ranges import Labels, value_of


@dataclass(frozen=True)
class Convergence:
    """How far messages came that are passed until they stand still.

    Until then, answers may be far off. residual: the largest change of a log message in the last
    iteration, inf where a value was only then excluded.
    """

    converged: bool
    iterations: int
    residual: float


@dataclass(frozen=True, eq=False)
class Answer(Frozen, Shown):
    """P(variables | evidence): one probability per tuple of labels, row-major.

    log_partition is the natural log of the total weight with the evidence fixed; None where it does
    not exist (unknown factors remain) or was not worth its cost (notes say why). plan is what was
    computed, printable.
    rests_on: the transferred factors the answer depends on, weakest_share the smallest share of
    agreement among them.
    lower, upper: the smallest and largest probabilities over all competing tables, where they were
    asked for.
    convergence: of belief propagation, whether and how far it came; None for exact engines.
    """

    variables: tuple[str, ...]
    ranges: tuple[Labels, ...]
    log_probabilities: Floats
    log_partition: float | None
    engine: str
    plan: str
    notes: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    weakest_share: float | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    convergence: Convergence | None = None

    def __post_init__(self) -> None:
        for array in (self.log_probabilities, self.lower, self.upper):
            if array is not None:
                frozen(array)

    @property
    def probabilities(self) -> Floats:
        """Probabilities as an array with one axis per variable; they sum to 1 and are never nan."""
        return np.exp(self.log_probabilities)

    @property
    def values(self) -> list[Labels]:
        """The tuples of labels, row-major."""
        return list(product(*self.ranges))

    def __getitem__(self, labels: str | tuple[str, ...]) -> float:
        labels = (
            (labels,)
            if isinstance(labels, str)
            else tuple(items("an answer is looked up by labels", labels))
        )
        if len(labels) != len(self.variables):
            raise ModelError(
                f"the answer is about ({listed(self.variables)}); give one label for each"
            )
        place = []
        for label, variable, known in zip(labels, self.variables, self.ranges, strict=True):
            place.append(value_of(label, known, variable))
        return float(self.probabilities[tuple(place)])

    def items(self) -> Iterator[tuple[Labels, float]]:
        """Pairs of (labels, probability), row-major."""
        return zip(self.values, self.probabilities.reshape(-1).tolist(), strict=True)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{' '.join(labels)}: {probability:.6g}"
            for labels, probability in list(self.items())[:8]
        )
        return f"<P({', '.join(self.variables)}): {shown}{', …' if self.log_probabilities.size > 8 else ''}>"
