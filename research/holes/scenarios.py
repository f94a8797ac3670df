"""The scenarios of the discriminating suite: one hospital, varied in one way each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Scenario:
    """How a hospital is drawn and what is removed.

    holes: "share" removes that share of the factors; "one", "half" and "all" remove so many factors
    of that share of the individuals. kinds: "coarse" is one kind for both treatments. permuted:
    arguments in any order. noise: relative noise on every table, and a random scale. evidence:
    share of the variables that are observed. leak: share of the factors with another cohort's
    table. cold: share of the individuals with tables of their own. missing: share of the treatments
    that an individual does not have. trap: f1, f2a and f2b have equal signatures, as in the paper's
    Figure 1. identifiable: the cohort decides about fA, too. distractor: f4, a table of one's own
    each.
    """

    summary: str
    holes: Literal["share", "one", "half", "all"] = "share"
    share: float = 0.1
    individuals: int | None = None
    kinds: Literal["full", "coarse", "none"] = "full"
    permuted: bool = False
    noise: float = 0.0
    evidence: float = 0.0
    leak: float = 0.0
    cold: float = 0.0
    missing: float = 0.0
    boolean: bool = False
    trap: bool = False
    identifiable: bool = False
    distractor: bool = True


SCENARIOS: dict[str, Scenario] = {
    "share-05": Scenario("5 % of the factors unknown", share=0.05),
    "share-10": Scenario("10 % of the factors unknown"),
    "share-20": Scenario("20 % of the factors unknown", share=0.2),
    "share-40": Scenario("40 % of the factors unknown", share=0.4),
    "one": Scenario("one factor of 30 % of the individuals", holes="one", share=0.3),
    "half": Scenario("half of the factors of 20 % of the individuals", holes="half", share=0.2),
    "all": Scenario("all factors of 10 % of the individuals", holes="all"),
    "permuted": Scenario("arguments in any order", permuted=True),
    "noise": Scenario("tables with 3 % noise and a random scale", noise=0.03),
    "evidence": Scenario("30 % of the variables observed", evidence=0.3),
    "leak": Scenario("5 % of the factors have another cohort's table", leak=0.05),
    "cold": Scenario("10 % of the individuals have tables of their own", cold=0.1),
    "kinds-coarse": Scenario("both treatments have the same kind", kinds="coarse"),
    "kinds-none": Scenario("no kinds declared", kinds="none"),
    "missing": Scenario("20 % of the treatments not there", missing=0.2),
    "boolean": Scenario("all variables Boolean", boolean=True),
    "trap": Scenario("f1, f2a, f2b in equal places (Figure 1)", trap=True),
    "small": Scenario("30 individuals", individuals=30),
    "identifiable": Scenario("the cohort decides about every table", identifiable=True),
    "no-distractor": Scenario("without f4, the table of one's own", distractor=False),
}
