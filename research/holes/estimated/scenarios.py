"""The scenarios with estimated tables: one population, varied in one way each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Truth = Literal["cohorts", "continuum", "independent", "one", "different"]


@dataclass(frozen=True)
class NoisyScenario:
    """How a population is drawn and what is removed.

    records: behind each table. variation: concentration of an individual's own tables around its
    cohort's; infinite: equal. unknown: share of the tables that are unknown. truth: "continuum" has
    a place between two extremes instead of a cohort; "independent" draws each table apart from the
    others; "one" has a single cohort; "different" has nothing but tables of one's own.
    new: individuals of whom only one or two tables are known, per individual of the others.
    at_random: False if the tables of some cohorts are unknown far more often than those of others.
    shared: a variable that all individuals depend on. individuals, kinds: whether they are
    declared. control: nobody's tables say anything about those that they do not have.
    """

    summary: str
    records: int = 50
    variation: float = math.inf
    unknown: float = 0.1
    truth: Truth = "cohorts"
    new: float = 0.1
    at_random: bool = True
    shared: bool = False
    individuals: bool = True
    kinds: bool = True

    @property
    def control(self) -> bool:
        """Whether other tables of an individual say nothing about an unknown one."""
        return self.truth in ("independent", "one", "different")


def _scenarios() -> dict[str, NoisyScenario]:
    return {
        **{
            f"records-{number}": NoisyScenario(f"{number} records per table", records=number)
            for number in (5, 10, 20, 50, 200)
        },
        "varied-100": NoisyScenario("own variation, concentration 100", variation=100.0),
        "varied-20": NoisyScenario("own variation, concentration 20", variation=20.0),
        "varied-20-few": NoisyScenario("the same, 20 records", variation=20.0, records=20),
        "unknown-40": NoisyScenario("40 % of the tables unknown", unknown=0.4),
        "unknown-40-few": NoisyScenario("the same, 20 records", unknown=0.4, records=20),
        "new": NoisyScenario("as many new individuals as others", new=1.0),
        "continuum": NoisyScenario("a continuum instead of cohorts", truth="continuum"),
        "not-at-random": NoisyScenario("unknown more often in some cohorts", at_random=False),
        "shared": NoisyScenario("a variable that all share", shared=True),
        "no-individuals": NoisyScenario("individuals not declared", individuals=False),
        "no-kinds": NoisyScenario("kinds not declared", kinds=False),
        "independent": NoisyScenario("no structure between tables", truth="independent"),
        "one-cohort": NoisyScenario("one cohort", truth="one"),
        "all-different": NoisyScenario("tables of one's own", truth="different"),
    }


NOISY: dict[str, NoisyScenario] = _scenarios()
