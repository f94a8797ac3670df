"""`Changes`: what changed between two results, piece by piece and as one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.basics.html import Shown
from lifagu.questions.comparing.words import changes_in_words


@dataclass(frozen=True)
class AnswerChange:
    """How the answer about one variable changed.

    Attributes
    ----------
    variable : str
        What was asked about; of joint answers, or of a class, in words.
    distance : float
        The total variation: half the sum of what all probabilities changed by.
    before, after : dict
        Label → probability.
    top_before, top_after : str
        The most probable label.
    flipped : bool
        Whether that is another one.
    own_tables : tuple of str
        Factors with this variable whose lent tables changed.
    observed : bool
        Whether what was observed of it changed.
    lent : bool
        Whether it rests on lent tables at all, before or after.
    """

    variable: str
    distance: float
    before: dict[str, float]
    after: dict[str, float]
    top_before: str
    top_after: str
    flipped: bool
    own_tables: tuple[str, ...]
    observed: bool
    lent: bool


@dataclass(frozen=True)
class LoanState:
    """What came of an unknown factor in one run; as in `Record`."""

    status: str
    donor: str | None
    share: float | None
    posterior: float | None


@dataclass(frozen=True)
class TransferChange:
    """What changed about an unknown factor.

    Attributes
    ----------
    factor : str
        The factor.
    what : {"became unknown", "no longer unknown", "status", "donor", "table", "share", "posterior"}
        The first of these that changed.
    before, after : LoanState or None
        None where it was not unknown.
    """

    factor: str
    what: str
    before: LoanState | None
    after: LoanState | None


@dataclass(frozen=True)
class EvidenceChange:
    """What was observed of a variable before and after; None: nothing."""

    variable: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class RunChange:
    """Something that was different about the two runs, such as a setting."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True, eq=False, repr=False)
class Changes(Shown):
    """What changed between two results, and why; `compare` makes it.

    `str` says it in words, `json` as plain values.

    Attributes
    ----------
    titles : tuple of str
        The two results.
    compared : int
        How many answers both have.
    changed, flipped : int
        How many of these changed, and of how many the most probable label is another one.
    mean, largest : float
        The mean and the largest change of all that were compared, as total variation.
    answers : tuple of AnswerChange
        Those that changed most.
    new, gone : tuple of str
        The first that only the second result has, or only the first.
    new_count, gone_count : int
        How many these are.
    transfers : tuple of TransferChange
        The first transfers that changed; empty where a result does not say who lent what.
    transfer_counts : dict
        How many changed, by what changed.
    evidence : tuple of EvidenceChange
        The first observations that came, went or changed.
    evidence_count : int
        How many there are.
    run : tuple of RunChange
        What was different about the runs.
    by_own_tables, by_evidence, by_lent : int
        Of the answers that changed, how many have an own lent table that changed; of how many
        others it was observed otherwise; how many of the rest rest on lent tables.
    unknown : tuple of str
        What the results do not tell.
    """

    titles: tuple[str, str]
    compared: int
    changed: int
    flipped: int
    mean: float
    largest: float
    answers: tuple[AnswerChange, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    new_count: int
    gone_count: int
    transfers: tuple[TransferChange, ...]
    transfer_counts: dict[str, int]
    evidence: tuple[EvidenceChange, ...]
    evidence_count: int
    run: tuple[RunChange, ...]
    by_own_tables: int
    by_evidence: int
    by_lent: int
    unknown: tuple[str, ...]

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return changes_in_words(self)

    def __repr__(self) -> str:
        return f"<Changes: {self.changed} of {self.compared} answers changed>"
