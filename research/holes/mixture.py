"""Mixtures: answers averaged over all tables that holes may have, nearly exactly.

Individuals meet in Epid alone. So the completions of one individual are enumerated, and of all the
others nothing counts but how far they shift the odds of Epid, with the evidence and without: two
sums over individuals, which are drawn. A completion counts with its probability times that of the
evidence under it (mixture in the library's sense). With Z(e) an individual's total weight and E(e)
that with its evidence, completions are drawn in proportion to √(E(0)E(1) / Z(0)Z(1)); what is left
as weight of Epid = e is f0(e) √(E(e)/E(1-e)) over Σ f0(e) √(Z(e)/Z(1-e)), products over all
individuals, which hardly varies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from research.drafts import DraftFactor, DraftVariable, Floats
from research.holes.baselines import OwnCompletions
from research.holes.hospital import SIZES, DrawnHospital
from research.holes.oracle import choices

TINY = 1e-300
NO_HOLES = OwnCompletions(np.ones(1), {})


class IndividualAnswers(NamedTuple):
    """An individual's completions: their weights, what they say of it, and of Epid.

    fitting: completions × Epid × a value axis each, P(values | Epid, evidence); shift: log
    E(1)/E(0) of each completion; prior_shift: log Z(1)/Z(0).
    """

    weights: Floats
    fitting: Floats
    shift: Floats
    prior_shift: Floats


class HospitalMixture:
    """All single marginals, averaged over what the holes of each individual may be."""

    def __init__(
        self,
        hospital: DrawnHospital,
        completions: Mapping[int, OwnCompletions],
        draws: int,
        rng: np.random.Generator,
    ) -> None:
        self._hospital = hospital
        self._completions = completions
        self._draws = draws
        self._rng = rng

    def marginals(self) -> Floats:
        """One row per variable, in the draft's order; shorter ranges end with zeros."""
        variables, factors = self._by_individual()
        own = {each: self._answers(variables[each], factors[each]) for each in factors}
        drawn = {each: self._drawn(answers) for each, answers in own.items()}
        total = np.sum([*drawn.values()], axis=0)
        found = {"Epid": _normalised(self._weights(*total).mean(axis=1))}
        for each, answers in own.items():
            shift, prior_shift = total - drawn[each]
            weights = self._weights(
                shift + answers.shift[:, None], prior_shift + answers.prior_shift[:, None]
            ).mean(axis=-1)
            found |= _asked(variables[each], answers, weights)
        return padded([found[variable.name] for variable in self._hospital.draft.variables])

    def _by_individual(self) -> tuple[dict[int, list[DraftVariable]], dict[int, list[int]]]:
        variables, factors = defaultdict(list), defaultdict(list)
        for variable in self._hospital.draft.variables[1:]:
            variables[int(variable.name.rpartition(".")[2])].append(variable)
        for number, origin in enumerate(self._hospital.origins):
            if origin:
                factors[origin.individual].append(number)
        return variables, factors

    def _weights(self, shift: Floats, prior_shift: Floats) -> Floats:
        """What is left as weight of Epid = 0 and 1, as a first axis."""
        factors = self._hospital.draft.factors
        no, yes = np.log(next(factor.table for factor in factors if factor.name == "f0"))
        total = np.logaddexp(no - prior_shift / 2, yes + prior_shift / 2)
        return np.exp([no - shift / 2 - total, yes + shift / 2 - total])

    def _drawn(self, answers: IndividualAnswers) -> Floats:
        """Both shifts of so many completions: 2 × draws."""
        chances = np.tile(answers.weights, (self._draws, 1))
        chosen = choices(chances, self._rng) if len(answers.weights) > 1 else [0] * self._draws
        return np.stack([answers.shift[chosen], answers.prior_shift[chosen]])

    def _answers(
        self, variables: Sequence[DraftVariable], factors: Sequence[int]
    ) -> IndividualAnswers:
        drafts = self._hospital.draft.factors
        origin = self._hospital.origins[factors[0]]
        weights, tables = self._completions.get(origin.individual if origin else -1, NO_HOLES)
        joint = np.ones((1, 2, *(len(each.labels) for each in variables)))
        for number in factors:
            own = tables.get(number, [drafts[number].table])
            joint = joint * _spread(drafts[number], variables, own)
        fitting = joint * self._seen(variables)
        totals, happened = (
            np.maximum(each.reshape(len(joint), 2, -1).sum(axis=2), TINY)
            for each in (joint, fitting)
        )
        tilted = weights * np.sqrt((happened / totals).prod(axis=1))
        shift, prior_shift = (np.log(each[:, 1] / each[:, 0]) for each in (happened, totals))
        fitting = fitting / happened.reshape(*happened.shape, *[1] * len(variables))
        return IndividualAnswers(_normalised(tilted), fitting, shift, prior_shift)

    def _seen(self, variables: Sequence[DraftVariable]) -> Floats:
        """1 where values agree with the evidence: 1 × 1 × a value axis each."""
        seen = np.ones((1, 1, *(len(each.labels) for each in variables)))
        for axis, variable in enumerate(variables):
            label = self._hospital.evidence.get(variable.name)
            if label is not None:
                fits = np.array([each == label for each in variable.labels])
                seen = seen * fits.reshape(-1, *[1] * (len(variables) - axis - 1))
        return seen


def _spread(
    factor: DraftFactor, variables: Sequence[DraftVariable], tables: Sequence[Floats]
) -> Floats:
    """Tables of a factor as tables × Epid × a value axis each, 1 where it has no argument."""
    axes = {"Epid": 0} | {variable.name: 1 + place for place, variable in enumerate(variables)}
    own = [axes[argument] for argument in factor.arguments]
    shape = [1] * len(axes)
    for axis, size in zip(own, factor.table.shape, strict=True):
        shape[axis] = size
    order = 1 + np.argsort(own)
    return np.stack(tables).transpose(0, *order).reshape(len(tables), *shape)


def _asked(
    variables: Sequence[DraftVariable], answers: IndividualAnswers, weights: Floats
) -> dict[str, Floats]:
    """The marginals of an individual; weights: Epid × completions."""
    joint = np.einsum("ec,c,ce...->...", weights, answers.weights, answers.fitting)
    found = {}
    for axis, variable in enumerate(variables):
        others = tuple(each for each in range(len(variables)) if each != axis)
        found[variable.name] = _normalised(joint.sum(axis=others))
    return found


def padded(rows: Sequence[Floats]) -> Floats:
    """One row per variable; shorter ranges end with zeros."""
    table = np.zeros((len(rows), max(SIZES.values())))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _normalised(weights: Floats) -> Floats:
    result: Floats = weights / weights.sum()
    return result
