"""What observations said about the table of a hole, in words for people and as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.basics.words import counted

HARDLY = 0.005  # by how much a probability must have moved for it to be told twice


@dataclass(frozen=True)
class CohortTold:
    """A cohort, the largest being number 1: how many others are in it, how likely somebody is."""

    number: int
    others: int
    share: float

    def __str__(self) -> str:
        return f"{counted(self.others, 'other')} (cohort {self.number}, {self.share:.0%})"


@dataclass(frozen=True)
class TableTold:
    """A table: the nearest who has it, and how likely it is."""

    donor: str
    share: float


@dataclass(frozen=True)
class ObservationTold:
    """The observation that told most: how likely the table is without it, and with it.

    variable: None for all that was observed of others together; nats: how far the probabilities of
    all tables would be from what they are.
    """

    variable: str | None
    value: str
    before: float
    after: float
    nats: float

    def __str__(self) -> str:
        return self.value if self.variable is None else f"{self.variable}={self.value}"


@dataclass(frozen=True)
class ToldTable:
    """What observations say about the table of an unknown factor.

    Attributes
    ----------
    factor : str
        The factor.
    owner : str or None
        The individual that it belongs to.
    cohorts : int
        How many cohorts there are.
    cohort_before, cohort_after : CohortTold
        To which the owner most likely belongs before anything is observed, and after.
    table_before, table_after : TableTold
        The likeliest table, before and after.
    told_by : ObservationTold or None
        The observation without which the table would be furthest from what it is; None if none
        tells anything.
    """

    factor: str
    owner: str | None
    cohorts: int
    cohort_before: CohortTold
    cohort_after: CohortTold
    table_before: TableTold
    table_after: TableTold
    told_by: ObservationTold | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = asdict(self)
        for what in ("cohort", "table"):
            values[what] = {
                "before": values.pop(f"{what}_before"),
                "after": values.pop(f"{what}_after"),
            }
        return {**values, "text": str(self)}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        if self.told_by is None and not self._moved:
            return ["nothing that was observed tells more about it"]
        lines = [*[self._of_cohort()] * (self.cohorts > 1), self._of_table()]
        return [*lines, self.told_in_words]

    @property
    def told_in_words(self) -> str:
        """Which observation told most, and what would be without it."""
        if self.told_by is None:
            return "no single observation told it: others say the same"
        before, after = self.told_by.before, self.told_by.after
        without = f"without it, that table would have {before:.0%} instead of {after:.0%}"
        return f"{self.told_by} told most: {without}"

    @property
    def _moved(self) -> bool:
        before, after = self.table_before, self.table_after
        return before.donor != after.donor or abs(after.share - before.share) >= HARDLY

    def _of_cohort(self) -> str:
        before, after = self.cohort_before, self.cohort_after
        who = self.owner or "its owner"
        first = f"before anything was observed, {who} was most like {before}"
        if before.number == after.number and abs(after.share - before.share) < HARDLY:
            return f"{first}, and still is"
        if before.number == after.number:
            return f"{first}; now it is {after.share:.0%}"
        return f"{first}; now like {after}"

    def _of_table(self) -> str:
        before, after = self.table_before, self.table_after
        first = f"the likeliest table was that of {before.donor} ({before.share:.0%})"
        if before.donor == after.donor:
            return f"{first}, which has {after.share:.0%} now"
        return f"{first}, and is that of {after.donor} ({after.share:.0%}) now"
