"""What is hidden in a model with cohorts: the cohort of an individual, the table of a hole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats, Ints, group_lists, offsets_of, owners, places_within
from lifagu.basics.cached import cached_property
from lifagu.basics.frozen import Frozen
from lifagu.filling.cohorts.posterior import CohortPosterior

NEVER = 1e-9  # how likely the cohorts are, all together, that are not considered for an individual


@dataclass(frozen=True, eq=False)
class HiddenChoices(Frozen):
    """Somebody's choices: who[i] has one of choices[offsets[i]:offsets[i+1]], as likely as shares.

    Shares are those before anything is observed; each one's add up to 1. Choices of equal number
    are tables that vary around one. who: individuals whose
    cohort is hidden, or unknown factors whose table is; choices: numbers of cohorts, those of all
    sorts in a row, or numbers of tables.
    """

    who: Ints
    offsets: Ints
    choices: Ints
    shares: Floats

    def __len__(self) -> int:
        return len(self.who)

    @property
    def sizes(self) -> Ints:
        """How many choices each has."""
        return np.diff(self.offsets)

    @cached_property
    def sets(self) -> Ints:
        """Those with the same choices, numbered alike."""
        return group_lists(self.offsets, self.choices)

    @cached_property
    def owners(self) -> Ints:
        """For each choice the place of whose it is."""
        return owners(self.offsets)

    def pairs(self, at: Ints) -> tuple[Ints, Ints]:
        """Each of some of them (places here) with each of its choices: whose, and which."""
        lengths = self.sizes[at]
        pair = np.repeat(np.arange(len(at)), lengths)
        return pair, self.choices[self.offsets[at][pair] + places_within(lengths)]

    def together(self, chances: Floats) -> Floats:
        """Chances of all choices; those of one's choices with the same number are added up."""
        pairs = self.owners * (int(self.choices.max(initial=0)) + 1) + self.choices
        one, number = np.unique(pairs, return_inverse=True)
        if len(one) == len(pairs):
            return chances
        return np.asarray(np.bincount(number, chances)[number])

    def normalised(self, weights: Floats) -> Floats:
        """Weights of all choices, scaled so that each one's add up to 1."""
        total = np.bincount(self.owners, weights, minlength=len(self))
        return np.asarray(weights / total[self.owners])

    @classmethod
    def joined(cls, parts: list[HiddenChoices]) -> HiddenChoices:
        """Several, one after the other."""
        sizes = [part.sizes for part in parts]
        return cls(
            np.concatenate([np.zeros(0, dtype=np.int64), *(part.who for part in parts)]),
            offsets_of(np.concatenate([np.zeros(0, dtype=np.int64), *sizes])),
            np.concatenate([np.zeros(0, dtype=np.int64), *(part.choices for part in parts)]),
            np.concatenate([np.zeros(0), *(part.shares for part in parts)]),
        )


def hidden_cohorts(posterior: CohortPosterior, individuals: Ints) -> HiddenChoices:
    """The cohorts in which these individuals may be, for those who may be in several."""
    kinds, number = np.unique(posterior.kind_of[individuals], return_inverse=True)
    shares = posterior.shares(kinds)
    order = np.argsort(-shares, axis=1, kind="stable")
    most = np.take_along_axis(shares, order, axis=1)
    kept = np.zeros(shares.shape, dtype=np.bool_)
    wanted = (np.cumsum(most, axis=1) - most < 1 - NEVER).sum(axis=1)
    # so few different numbers of cohorts that engines have many individuals alike
    wanted = 2 ** np.ceil(np.log2(wanted)).astype(np.int64)
    np.put_along_axis(kept, order, np.arange(shares.shape[1]) < wanted[:, None], axis=1)
    several = kept.sum(axis=1)[number] > 1
    place, cohort = np.nonzero(kept[number[several]])
    offsets = offsets_of(np.bincount(place, minlength=int(several.sum())))
    shares = shares[number[several][place], cohort]
    found = HiddenChoices(individuals[several], offsets, cohort, shares)
    return HiddenChoices(found.who, offsets, cohort, found.normalised(shares))
