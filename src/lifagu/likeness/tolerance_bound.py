"""How far answers can be off when potentials moved a little.

If each potential of factor f is multiplied by something between e^a_f and e^b_f, the weight of
every assignment is multiplied by something between e^Σa_f and e^Σb_f. So log Z moves by something
between Σ a_f and Σ b_f, over all factors. The odds of an event are a quotient of two such sums of
weights, in which the factors of other connected parts cancel; so their log moves by at most S = Σ
(b_f - a_f), over the factors of the event's connected part once observed variables are removed. A
probability with odds within e^±S of the true ones is off by at most tanh(S/4): p e^S / (p e^S + 1 -
p) - p is largest where p = 1/(1 + e^(S/2)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import NamedTuple

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.frozen import Frozen
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors, parts_without
from lifagu.graph.tables import Tables


class Bound(NamedTuple):
    """How far answers can be off: a probability of a single marginal, its log odds, and log Z.

    largest_change: the largest relative change of any potential. Joint answers about one connected
    part are within the same bound; of those about several parts, log odds are off by at most the
    sum.
    """

    largest_change: float
    log_odds: float
    probability: float
    log_partition: float

    def __str__(self) -> str:
        probability, total = rounded_up(self.probability), rounded_up(self.log_partition)
        return f"no marginal is off by more than {probability}, log Z by at most {total}"


@dataclass(frozen=True, eq=False)
class Drift(Frozen):
    """lowest[m], highest[m]: the smallest and largest log of new / old potential of each factor."""

    lowest: Floats
    highest: Floats

    @classmethod
    def between(cls, old: Tables, new: Tables, factor_table: Ints) -> Drift:
        """From tables before and after, with equal zeros; unknown factors (-1) do not move."""
        if not len(old):
            return cls(np.zeros(len(factor_table)), np.zeros(len(factor_table)))
        positive = old.values > 0
        ones = np.ones_like(old.values)
        moved = np.log(np.divide(new.values, old.values, out=ones, where=positive))
        low = np.minimum.reduceat(np.where(positive, moved, np.inf), old.offsets[:-1])
        high = np.maximum.reduceat(np.where(positive, moved, -np.inf), old.offsets[:-1])
        lowest, highest = np.append(low, 0.0), np.append(high, 0.0)  # the last for -1
        return cls(lowest[factor_table], highest[factor_table])

    @property
    def largest_change(self) -> float:
        """The largest relative change of any potential."""
        up, down = np.expm1(self.highest), np.expm1(self.lowest)
        return float(max(up.max(initial=0), -down.min(initial=0)))

    def log_odds(self, graph: FactorGraph, part_of: Ints) -> Floats:
        """Per connected part, as `parts_without` numbers them, how far log odds can be off."""
        factors = np.flatnonzero(self.highest > self.lowest)
        parts = parts_of_factors(graph, part_of, factors)
        inside = parts >= 0
        spread = (self.highest - self.lowest)[factors[inside]]
        total = np.zeros(int(part_of.max(initial=-1)) + 1)
        np.add.at(total, parts[inside], spread)
        return total

    def bound(self, graph: FactorGraph, evidence: EvidenceLike = None) -> Bound:
        """How far single marginals given the evidence, and log Z, can be off. Near-linear."""
        observed = graph.evidence(evidence).value_of_each(len(graph.variable_names)) >= 0
        log_odds = float(self.log_odds(graph, parts_without(graph, observed)).max(initial=0))
        log_partition = max(abs(float(self.lowest.sum())), abs(float(self.highest.sum())))
        return Bound(self.largest_change, log_odds, probability_off(log_odds), log_partition)


def probability_off(log_odds: float) -> float:
    """By how much a probability can be off whose log odds are off by so much.

    >>> round(probability_off(0.4), 4), probability_off(0.0)
    (0.0997, 0.0)
    """
    return math.tanh(log_odds / 4)


def rounded_up(value: float) -> str:
    """A bound as text of two digits that is not below it.

    >>> rounded_up(0.0121), rounded_up(0.0)
    ('0.013', '0')
    """
    return f"{float(Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(value)):.2g}"


class Merging(NamedTuple):
    """How tables were compared, in words, and how far answers can be off by that, if known."""

    equality: str
    bound: Bound | None

    def __str__(self) -> str:
        return f"tables were compared {self.equality}" + (f": {self.bound}" if self.bound else "")
