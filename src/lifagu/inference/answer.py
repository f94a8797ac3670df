"""The answer to a question, with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, frozen
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.inputs import LookedUp, items, label_text
from lifagu.errors import ModelError, listed
from lifagu.graph.ranges import Labels, value_of


@dataclass(frozen=True)
class Convergence:
    """How far messages came that are passed until they stand still.

    Until then, answers may be far off.

    Attributes
    ----------
    converged : bool
        Whether no message changed by more than the tolerance any more.
    iterations : int
        How often all messages were passed.
    residual : float
        The largest change of a log message in the last iteration, inf where a value was only then
        excluded.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> lifagu.query(graph, "A", engine="bp").convergence
    Convergence(converged=True, iterations=2, residual=0.0)
    """

    converged: bool
    iterations: int
    residual: float


class LabelTuples(list[Labels]):
    """Tuples of labels; when called, the probabilities of an answer, as ``values()`` of mappings.

    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    >>> answer = lifagu.query(graph, "A")
    >>> answer.values, [round(each, 6) for each in answer.values()]
    ([('false',), ('true',)], [0.25, 0.75])
    """

    def __init__(self, tuples: Iterable[Labels], of: Mapping[Any, float]) -> None:
        super().__init__(tuples)
        self._of = of

    def __call__(self) -> ValuesView[float]:
        """The probabilities."""
        return ValuesView(self._of)


@dataclass(frozen=True, eq=False)
class Answer(Frozen, Shown, LookedUp[str | Labels, float]):
    """P(variables | evidence): a mapping from labels to probabilities, by tuples if it is joint.

    Truth values and whole numbers stand for their texts: ``answer[True]`` is ``answer["true"]``.
    A tuple of labels is looked up in any answer.

    Attributes
    ----------
    variables : tuple[str, ...]
        What the answer is about, in the order of the question.
    ranges : tuple[Labels, ...]
        The labels of each variable, as declared.
    log_probabilities : array
        Natural logs of the probabilities, one axis per variable.
    log_partition : float or None
        Natural log of the total weight with the evidence fixed; None where it does not exist
        (unknown factors remain) or was not worth its cost (notes say why).
    engine, plan : str
        Who computed what, in words.
    notes : tuple[str, ...]
        Remarks beside the answer.
    warnings : tuple[str, ...]
        Why it is not to be trusted much.
    rests_on : tuple[str, ...]
        The transferred factors that the answer depends on.
    weakest_share : float or None
        The smallest share of agreement among these.
    by_cohorts : int
        How many of these were filled by hidden cohorts of individuals.
    lower, upper : array or None
        Limits of the probabilities, from draws of what is hidden, where asked for.
    convergence : Convergence or None
        Of belief propagation, how far it came; None for exact engines.
    error : array or None
        The standard error of each probability where it was estimated from draws; else None.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> graph = builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph()
    >>> answer = lifagu.query(graph, "A", evidence={"B": "true"})
    >>> answer
    <P(A): false: 0.333333, true: 0.666667>
    >>> round(answer["true"], 6), answer.engine
    (0.666667, 'ground')
    >>> list(answer), answer[True] == answer["true"], answer.get("perhaps")
    (['false', 'true'], True, None)
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
    by_cohorts: int = 0
    lower: Floats | None = None
    upper: Floats | None = None
    convergence: Convergence | None = None
    warnings: tuple[str, ...] = ()
    error: Floats | None = None

    def __post_init__(self) -> None:
        for array in (self.log_probabilities, self.lower, self.upper, self.error):
            if array is not None:
                frozen(array)

    @cached_property
    def probabilities(self) -> Floats:
        """Probabilities as an array with one axis per variable; they sum to 1 and are never nan."""
        return frozen(np.exp(self.log_probabilities))

    @property
    def values(self) -> LabelTuples:
        """The tuples of labels, row-major; called as a mapping's, the probabilities."""
        return LabelTuples(product(*self.ranges), self)

    def __getitem__(self, labels: Any) -> float:
        return float(self.probabilities[self._place(labels)])

    def _place(self, labels: Any) -> tuple[int, ...]:
        if label_text(labels) is not None:
            labels = (labels,)
        labels = tuple(items("an answer is looked up by labels", labels))
        if len(labels) != len(self.variables):
            raise ModelError(
                f"the answer is about ({listed(self.variables)}); give one label for each"
            )
        return tuple(map(value_of, labels, self.ranges, self.variables))

    def __contains__(self, labels: object) -> bool:
        try:
            self._place(labels)
        except ModelError:
            return False
        return True

    def __len__(self) -> int:
        return self.log_probabilities.size

    def __iter__(self) -> Iterator[str | Labels]:
        return iter(self.ranges[0] if len(self.ranges) == 1 else self.values)

    def __repr__(self) -> str:
        shares = self.probabilities.reshape(-1).tolist()
        first = islice(zip(product(*self.ranges), shares, strict=True), 8)
        shown = [f"{' '.join(labels)}: {probability:.6g}" for labels, probability in first]
        if self.log_probabilities.size > 8:
            shown.append("…")
        return f"<P({', '.join(self.variables)}): {', '.join(shown)}>"
