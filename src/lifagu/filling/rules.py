"""How unknown factors are filled: every option in one value, the same in memory and by SQL."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from lifagu.basics.choices import RULES, WAYS
from lifagu.basics.inputs import chosen, flag, number, whole
from lifagu.errors import ModelError, Remedy, listed

FLAGS = ("up_to_scale", "commutative", "keep_known")
MOST_STEPS, USUAL_STEPS = 10_000, 2


@dataclass(frozen=True)
class Filling:
    """How unknown factors are filled, and how competing tables are used in answers.

    Parameters
    ----------
    theta : float, optional
        The share of candidates that must agree under "lifagu" and "extended", 0 by default; naming
        it means "extended" unless a rule is named.
    by : {"auto", "lifagu", "extended"}
        The rule. "auto", the default: a hole whose candidates all agree takes their table, as in
        LIFAGU; where tables compete, or were estimated from records, cohorts of individuals say
        how likely each is. "lifagu": the first paper to the letter, with structure only, evidence
        in roles, tables copied by position where the ranges fit and along the paper's bijection
        where they do not. "extended": its follow-up with kinds, and whole individuals first.
    steps : int
        How far "lifagu" and "extended" look: 2 is the paper's neighbourhood; with 4, 6, … factors
        are compared by what is so far around them, backing off where there is no candidate.
    tolerance : float, optional
        Tables within so much of each other, as a share, become their mean, everywhere.
    up_to_scale : bool
        Tables that differ by a factor agree; the donor's is taken as it is.
    commutative : bool
        tolerance also brings tables together whose arguments are in another order.
    keep_known : bool
        Cohorts leave tables that were estimated from records as they are.
    seed : int
        Where cohorts begin to look; the same seed finds the same cohorts.
    combine : {"average", "best"}, optional
        Answer with cohorts and tables as hidden variables of the model, so that observations tell
        which they are (the default of "auto"), or with the best table of each hole (what "lifagu"
        and "extended" always do).
    interval : float, optional
        Answers to questions about variables also have limits: between them lies this share of the
        answers that one would have if the classes and tables of holes were known, drawn given the
        evidence.

    Examples
    --------
    >>> Filling().by, Filling().combine, Filling(theta=0.5).by, Filling(theta=0.5).combine
    ('auto', 'average', 'extended', 'best')
    >>> Filling(by="lifagu") == Filling(by="lifagu", steps=2, theta=0.0)
    True
    """

    theta: float | None = None
    by: str = ""
    steps: int | None = None
    tolerance: float | None = None
    up_to_scale: bool = False
    commutative: bool = False
    keep_known: bool = False
    seed: int = 0
    combine: str = ""
    interval: float | None = None

    def __post_init__(self) -> None:
        for name in FLAGS:
            flag(name, getattr(self, name))
        self._check()
        rule = self.by or ("auto" if self.theta is None else "extended")
        self._check_with(rule)
        object.__setattr__(self, "by", rule)
        object.__setattr__(self, "theta", self.theta or 0.0)
        object.__setattr__(self, "steps", self.steps or USUAL_STEPS)
        object.__setattr__(self, "combine", self.combine or usual_way(rule))

    def _check(self) -> None:
        """Refuse settings that mean nothing."""
        if not (isinstance(self.by, str) and self.by == ""):
            chosen("the rule to fill by", self.by, RULES)
        if not (isinstance(self.combine, str) and self.combine == ""):
            chosen("combine", self.combine, WAYS)
        whole("seed", self.seed, 0)
        if self.theta is not None and not 0 <= number("theta", self.theta) <= 1:
            raise ModelError(f"theta must lie between 0 and 1, not {self.theta}")
        if self.interval is not None and not 0 < number("interval", self.interval) < 1:
            raise ModelError(f"the interval must lie between 0 and 1, not {self.interval}")
        if self.steps is not None and (
            not 2 <= whole("steps", self.steps, 0) <= MOST_STEPS or self.steps % 2
        ):
            raise ModelError(f"steps must be 2, 4, 6, …, up to {MOST_STEPS}, not {self.steps}")

    def _check_with(self, rule: str) -> None:
        """Refuse settings that cannot act with a rule."""
        if self.interval is not None and (self.combine or usual_way(rule)) != "average":
            raise ModelError(
                "an interval is about classes and tables that are averaged over, not about the "
                "best ones; leave it out"
            )
        if rule == "auto":
            if self.theta:
                raise ModelError("auto knows no theta", remedy=Remedy.NAME_RULE)
            if (self.steps or USUAL_STEPS) != USUAL_STEPS:
                raise ModelError("auto knows no steps", remedy=Remedy.NAME_RULE)
            return
        if self.combine == "average":
            raise ModelError(
                f"{rule} finds no cohorts over which to average", remedy=Remedy.AUTO_OR_BEST
            )
        if self.keep_known:
            raise ModelError(f"{rule} leaves known tables as they are", remedy=Remedy.NO_KEEP_KNOWN)

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Filling:
        """The filling with these settings by name; a name that means nothing is an error.

        Parameters
        ----------
        settings : dict
            Name → value.

        Returns
        -------
        Filling
        """
        known = [field.name for field in fields(cls)]
        if wrong := [name for name in settings if name not in known]:
            raise ModelError(f"filling knows no {listed(wrong)}; it knows {', '.join(known)}")
        return cls(**settings)

    @property
    def to_the_letter(self) -> bool:
        """Whether the first paper decides: structure, evidence in roles, copies by position."""
        return self.by == "lifagu"

    @property
    def uses_cohorts(self) -> bool:
        """Whether cohorts of individuals say how likely each table is."""
        return self.by == "auto"

    @property
    def is_wide(self) -> bool:
        """Whether more than the paper's neighbourhood is compared."""
        return (self.steps or USUAL_STEPS) > USUAL_STEPS

    @property
    def merges_tables(self) -> bool:
        """Whether almost equal tables become one, in the whole graph."""
        return self.tolerance is not None


def usual_way(rule: str) -> str:
    """How competing tables are used by a rule where nothing else is said."""
    return "average" if rule == "auto" else "best"
