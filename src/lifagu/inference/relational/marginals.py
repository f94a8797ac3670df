"""All single marginals of a relational model: one for each kind of ground variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.cached import cached_property
from lifagu.basics.columns import Columns, name_column
from lifagu.basics.html import Framed, Shown
from lifagu.basics.inputs import LabelShares
from lifagu.basics.progress import Tell
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NotLiftedError, Remedy, TooLargeError
from lifagu.inference.lifted.engine import reduce_cells
from lifagu.inference.marginals import Computed
from lifagu.inference.memory_limit import PlanTooLargeError, memory_limit_of
from lifagu.inference.planning_by_part import plan_rest
from lifagu.inference.prepared import Prepared, Questions
from lifagu.inference.question_checks import TooLarge, told_too_large
from lifagu.inference.relational.ground_variables import ground_names, listed_names
from lifagu.inference.relational.problem import Shattered, missing, shattered, start
from lifagu.inference.relational.questions import GivenEvidence, KindsAsked, known_kinds
from lifagu.inference.relational.telling_apart import lists_individuals
from lifagu.relational.ground_names import GroundNames
from lifagu.relational.key_columns import FIXED, NO_KEYS, Keys, keys_of
from lifagu.relational.marginal_tables import MarginalTables
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_LISTED = 10**7  # ground variables that may be listed by name


@dataclass(frozen=True)
class MarginalClass:
    """Interchangeable ground variables: the first one's name, all in words, how many, and P(v)."""

    representative: str
    members: str
    count: int
    probabilities: dict[str, float]


class ListedMarginals(dict[str, dict[str, float]]):
    """Marginals by ground name."""

    def __init__(self, named: dict[str, dict[str, float]], found: ClassMarginals) -> None:
        super().__init__(named)
        self.log_partition, self.engine = found.log_partition, found.engine
        self.tables = found.tables
        names: dict[str, list[str]] = {each: [] for each in found.left_out}
        for name, number, _ in ground_names(found.whole.kinds, found.left):
            names[found.whole.kinds.members(number)].append(name)
        self.left_out = [name for each in found.left_out for name in names[each]]
        self.too_large = tuple(
            replace(part, variables=tuple(name for each in part.variables for name in names[each]))
            for part in found.too_large
        )


def prepare_relational_marginals(
    model: ParfactorGraph, evidence: GivenEvidence, memory_limit: int | None = None
) -> PreparedClassMarginals:
    """Plan the marginals of all kinds in connected parts without unknown factors."""
    limit = memory_limit_of(memory_limit)
    if lists_individuals(model):
        raise NotLiftedError(
            "individuals are listed one by one, so that each may have a marginal of its own"
        )
    whole = shattered(model, evidence or {}, ())
    included = known_kinds(whole, [], "")
    subject, seen = KindsAsked(whole.kinds), whole.kinds.observation
    left: list[TooLarge] = []
    while True:
        known = not left and not whole.unknown
        posed = Questions(subject, seen, "lifted", (), (), limit, everything=True, whole=known)
        reduced = reduce_cells(start(whole, included, (), maximise=False))
        try:
            prepared = plan_rest(posed, reduced, walks=True)
            return PreparedClassMarginals(model, whole, prepared, tuple(left))
        except PlanTooLargeError as error:
            included, more = _without(whole, included, error)
            left += more


def _without(
    whole: Shattered, included: NDArray[np.bool_], error: PlanTooLargeError
) -> tuple[NDArray[np.bool_], list[TooLarge]]:
    """The kinds without parts that do not fit, and these; the error, if nothing would be left."""
    kinds = whole.kinds
    numbers = {kinds.name(number): number for number in range(len(kinds))}
    estimates: dict[int, str] = {}
    for variables, estimate in error.parts:
        for each in variables[:1]:
            number = numbers[each] if isinstance(each, str) else each
            estimates[int(whole.part_of[number])] = estimate
    fits = included & ~np.isin(whole.part_of, list(estimates))
    if not fits.any() or not estimates:
        raise error
    left = [np.flatnonzero(included & (whole.part_of == part)).tolist() for part in estimates]
    names = [
        tuple([kinds.members(number) for number in part if not kinds.kinds[number].counted])
        for part in left
    ]
    return fits, [
        TooLarge(*each, error.remedy) for each in zip(names, estimates.values(), strict=True)
    ]


@dataclass(frozen=True, eq=False, repr=False)
class PreparedClassMarginals(Shown):
    """All marginals planned and ready to run; `str` shows the plan and its cost."""

    model: ParfactorGraph
    whole: Shattered
    prepared: Prepared
    too_large: tuple[TooLarge, ...] = ()

    def __str__(self) -> str:
        return "\n".join([str(self.prepared), *told_too_large(self.too_large)])

    def run(self, progress: Tell | None = None) -> ClassMarginals:
        """Compute them; progress(done, total) is called now and then."""
        return ClassMarginals(
            self.prepared, self.prepared.solve(progress), self.too_large, self.model, self.whole
        )


@dataclass(frozen=True, eq=False, repr=False)
class ClassMarginals(Framed, Computed):
    """P(variable | evidence) of every ground variable of a relational model, kept by class.

    By name like any mapping (label → probability); `classes` has one entry per class. Variables
    connected to unknown factors are left out, and those in connected parts that do not fit.
    log_partition is then None.

    Attributes
    ----------
    prepared : Prepared or Ran
        How they were computed.
    solution : Solution
        What was computed.
    too_large : tuple[TooLarge, ...]
        The connected parts that do not fit, with the estimate.
    model : ParfactorGraph
        What they are about.
    whole : Shattered
        The model over cells.

    Examples
    --------
    >>> from lifagu import ParfactorGraph
    >>> builder = ParfactorGraph.build().domain("Person", 1000).relation("Sick", "Person")
    >>> model = builder.relation("Epidemic").parfactor("p", ["Sick(X)", "Epidemic"], [4, 1, 1, 2])
    >>> found = prepare_relational_marginals(model.model(), {"Sick(1)": "true"}).run()
    >>> [(each.members, each.count) for each in found.classes]
    [('Sick(1)', 1), ('Sick(X), X in 2..1000', 999), ('Epidemic', 1)]
    >>> round(found["Sick(7)"]["true"], 6)
    0.2
    """

    model: ParfactorGraph
    whole: Shattered

    @cached_property
    def known(self) -> list[int]:
        """Classes with a marginal by number, plain variables first, then by relation."""
        kinds, marginals = self.whole.kinds, self.solution.marginals
        known = [
            number
            for number, kind in enumerate(kinds.kinds)
            if not kind.counted
            and (self.whole.observed[number] >= 0 or marginals.of_variable[number] >= 0)
        ]
        return sorted(known, key=kinds.sort_key)

    @cached_property
    def classes(self) -> list[MarginalClass]:
        """One entry per class of interchangeable ground variables."""
        return list(map(self.class_of, self.known))

    def class_of(self, number: int) -> MarginalClass:
        """The class with a number among those of cells.

        Parameters
        ----------
        number : int
            One of `known`.

        Returns
        -------
        MarginalClass
        """
        kinds = self.whole.kinds
        return MarginalClass(
            kinds.name(number),
            kinds.members(number),
            kinds.individuals.members(number),
            self._distribution(number),
        )

    @property
    def left_out(self) -> list[str]:
        """Classes connected to unknown factors, or in parts that are too large, in words."""
        return list(map(self.whole.kinds.members, self.left))

    @property
    def left(self) -> list[int]:
        """The same by number."""
        kinds = self.whole.kinds
        known = set(self.known)
        left = [
            number
            for number, kind in enumerate(kinds.kinds)
            if number not in known and not kind.counted
        ]
        return sorted(left, key=kinds.sort_key)

    def _distribution(self, number: int) -> dict[str, float]:
        labels, value = self.whole.kinds.labels(number), int(self.whole.observed[number])
        if value >= 0:
            return LabelShares((label, float(place == value)) for place, label in enumerate(labels))
        shares = np.exp(np.asarray(self.solution.marginals[number], dtype=np.float64))
        return LabelShares(zip(labels, shares.tolist(), strict=True))

    def __getitem__(self, name: str) -> dict[str, float]:
        number = self.whole.kinds.find(self.model.place_of(name))
        if number is None:
            raise ModelError(missing(name))
        if number not in self.known:
            raise self.refusal(name, self.whole.kinds.members(number))
        return self._distribution(number)

    def __contains__(self, name: object) -> bool:
        try:
            return (
                isinstance(name, str)
                and self.whole.kinds.find(self.model.place_of(name)) in self.known
            )
        except ModelError:
            return False

    @property
    def count(self) -> int:
        """How many ground variables have a marginal, even if more than `len` can say."""
        return sum(map(self.whole.kinds.individuals.members, self.known))

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        self._check_few()
        return (name for name, _, _ in ground_names(self.whole.kinds, self.known))

    def expanded(self) -> ListedMarginals:
        """Every ground variable by name with its marginal; refused where there are too many."""
        distributions = {number: self._distribution(number) for number in self.known}
        self._check_few()
        named = {
            name: distributions[number]
            for name, number, _ in ground_names(self.whole.kinds, self.known)
        }
        return ListedMarginals(named, self)

    def tables(self) -> dict[str, Columns]:
        """Every ground variable by column: `marginals`, and ``wide_…`` for each relation.

        Returns
        -------
        dict
            Name → columns; refused where there are too many ground variables.
        """
        self._check_few()
        names, kinds = listed_names(self.whole.kinds, self.known)
        every, known = np.arange(len(names)), sorted(self.known)
        shown = list(map(self._distribution, known))
        of = np.searchsorted(np.array(known), kinds)
        return MarginalTables(name_column(names, every), self.about(names), of, shown).tables()

    def about(self, names: GroundNames) -> Keys:
        """Who they are about; a lifted model has relations and constants of its own making."""
        if any(len(each.names) for each in self.model.vocabulary.relations):
            return NO_KEYS
        return keys_of(names, np.arange(len(names)), "relation", FIXED)

    def _check_few(self) -> None:
        if self.count > MOST_LISTED:
            what = f"there are {self.count} ground variables, too many to list"
            raise TooLargeError(what, remedy=Remedy.BY_CLASS)

    def __repr__(self) -> str:
        kinds = counted(len(self.known), "kind")
        return f"<ClassMarginals: {counted(self.count, 'variable')} of {kinds}>"
