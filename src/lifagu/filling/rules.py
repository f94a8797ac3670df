"""How unknown factors are filled: every option in one value, the same in memory and by SQL."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from lifagu.basics.choices import RULES, UNKNOWN, Unknown
from lifagu.basics.inputs import chosen, flag, number, whole
from lifagu.errors import ModelError, Remedy, listed

FLAGS = (
    "structure_only",
    "published",
    "evidence_in_roles",
    "profiles",
    "up_to_scale",
    "commutative",
)
MOST_STEPS = 10_000
_SETTINGS_OF: dict[str, dict[str, Any]] = {
    "individuals": {},
    "structure": {"structure_only": True},
    "published": {"published": True},
    "steps": {"steps": 4},
    "profiles": {"profiles": True},
}


@dataclass(frozen=True)
class Filling:
    """How unknown factors are filled, and how competing tables are used in answers.

    By default arguments are aligned by role, kinds are part of the role where declared, and the
    unknown factors of an individual come from one donor individual where one matches.

    Parameters
    ----------
    theta : float
        The share of candidates that must agree.
    structure_only : bool
        Neither kinds nor individuals count.
    published : bool
        The paper to the letter: structure only, evidence in roles, tables copied by position.
    evidence_in_roles : bool
        Arguments with different evidence differ, as in the paper.
    steps : int, optional
        Compare neighbourhoods of 2, 4, 6, … steps, backing off where there is no candidate.
    profiles : bool
        Candidates are factors of individuals that agree with the owner on its other, informative
        tables.
    digits : int, optional
        Tables equal to so many significant digits become the one declared first, everywhere.
    tolerance : float, optional
        Tables within so much of each other, as a share, become their mean, everywhere.
    up_to_scale : bool
        Tables that differ by a factor agree; the donor's is taken as it is.
    commutative : bool
        digits and tolerance also bring tables together whose arguments are in another order.
    unknown : {"one", "mean", "mixture", "bounds"}
        Answer with the winning table of each class, with their share-weighted mean, over all
        competing tables, or with limits over them.

    Examples
    --------
    >>> Filling(theta=0.5) == Filling.by("individuals", theta=0.5), Filling.by("steps").steps
    (True, 4)
    """

    theta: float = 0.0
    structure_only: bool = False
    published: bool = False
    evidence_in_roles: bool = False
    steps: int | None = None
    profiles: bool = False
    digits: int | None = None
    tolerance: float | None = None
    up_to_scale: bool = False
    commutative: bool = False
    unknown: Unknown = "one"

    def __post_init__(self) -> None:
        if not 0 <= number("theta", self.theta) <= 1:
            raise ModelError(f"theta must lie between 0 and 1, not {self.theta}")
        for name in FLAGS:
            flag(name, getattr(self, name))
        if self.steps is not None and (
            not 2 <= whole("steps", self.steps, 0) <= MOST_STEPS or self.steps % 2
        ):
            raise ModelError(f"steps must be 2, 4, 6, …, up to {MOST_STEPS}, not {self.steps}")
        if self.steps is not None and self.published:
            raise ModelError(
                "the published algorithm knows no steps", remedy=Remedy.STEPS_OR_PUBLISHED
            )
        if self.profiles and (self.structure_only or self.published or self.steps is not None):
            raise ModelError(
                "profiles cannot be combined with the published algorithm, with structure only "
                "or with steps",
                remedy=Remedy.NO_PROFILES,
            )
        chosen("unknown", self.unknown, UNKNOWN)

    @classmethod
    def by(cls, rule: str, **settings: Any) -> Filling:
        """The filling that goes by a rule.

        Parameters
        ----------
        rule : {"individuals", "structure", "published", "steps", "profiles"}
            "individuals" is the usual one.
        **settings
            Any others.

        Returns
        -------
        Filling
        """
        chosen("the rule to fill by", rule, RULES)
        return cls.of({**_SETTINGS_OF[rule], **settings})

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
    def uses_kinds(self) -> bool:
        """Whether kinds and individuals count."""
        return not (self.structure_only or self.published)

    @property
    def uses_evidence(self) -> bool:
        """Whether what was observed tells arguments apart."""
        return self.evidence_in_roles or self.published

    @property
    def merges_tables(self) -> bool:
        """Whether almost equal tables become one, in the whole graph."""
        return self.digits is not None or self.tolerance is not None
