"""How unknown factors are filled: every option in one value, the same in memory and by SQL."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from lifagu.basics.choices import RULES, UNKNOWN
from lifagu.basics.inputs import chosen, flag, number, whole
from lifagu.errors import ModelError, Remedy, listed

FLAGS = (
    "structure_only",
    "published",
    "evidence_in_roles",
    "profiles",
    "up_to_scale",
    "commutative",
    "keep_known",
)
MOST_STEPS, USUAL_STEPS = 10_000, 4
# the settings that mean a rule
_SETTING_OF = {"published": "published", "profiles": "profiles", "structure": "structure_only"}


@dataclass(frozen=True)
class Filling:
    """How unknown factors are filled, and how competing tables are used in answers.

    By default a hole whose candidates all agree takes their table, as in LIFAGU; where tables
    compete, or were estimated from records, cohorts of individuals say how likely each is, and
    answers count them all. Arguments are aligned by role, and kinds are part of the role where
    declared.

    Parameters
    ----------
    theta : float, optional
        The share of candidates that must agree, 0 by default; naming it means the rule
        "individuals" unless another one is named.
    by : {"auto", "individuals", "share", "structure", "published", "steps", "profiles", "cohorts"}
        The rule: as said above (auto, by default), whole individuals first, single factors in such
        a place, the same without background knowledge, one of those below, or hidden cohorts of
        individuals for every hole.
    structure_only : bool
        Neither kinds nor individuals count.
    published : bool
        The paper to the letter: structure only, evidence in roles, tables copied by position
        where the ranges fit, along the paper's bijection where they do not.
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
    keep_known : bool
        Cohorts leave tables that were estimated from records as they are.
    seed : int
        Where cohorts begin to look; the same seed finds the same cohorts.
    unknown : {"posterior", "one", "mean", "mixture", "bounds"}, optional
        Answer with cohorts and tables as hidden variables of the model, so that observations tell
        which they are; with the winning table of each class; with their share-weighted mean; over
        all competing tables; or with limits over them. By default posterior with auto and cohorts,
        one with other rules.

    Examples
    --------
    >>> Filling().by, Filling().unknown, Filling(theta=0.5).by, Filling(theta=0.5).unknown
    ('auto', 'posterior', 'individuals', 'one')
    >>> Filling(profiles=True) == Filling(by="profiles"), Filling(by="steps").steps
    (True, 4)
    """

    theta: float | None = None
    by: str = ""
    structure_only: bool = False
    published: bool = False
    evidence_in_roles: bool = False
    steps: int | None = None
    profiles: bool = False
    digits: int | None = None
    tolerance: float | None = None
    up_to_scale: bool = False
    commutative: bool = False
    keep_known: bool = False
    seed: int = 0
    unknown: str = ""

    def __post_init__(self) -> None:
        for name in FLAGS:
            flag(name, getattr(self, name))
        if not (isinstance(self.by, str) and self.by == ""):
            chosen("the rule to fill by", self.by, RULES)
        self._check()
        rule = self._rule
        if rule in _SETTING_OF:
            object.__setattr__(self, _SETTING_OF[rule], True)
        if rule == "steps" and self.steps is None:
            object.__setattr__(self, "steps", USUAL_STEPS)
        object.__setattr__(self, "by", rule)
        object.__setattr__(self, "theta", self.theta or 0.0)
        if self.unknown == "":
            usual = "posterior" if self.uses_cohorts else "one"
            object.__setattr__(self, "unknown", usual)
        if self.unknown == "posterior" and not self.uses_cohorts:
            raise ModelError(
                f"filling by {rule} finds no cohorts for observations to tell",
                remedy=Remedy.COHORTS_OR_MIXTURE,
            )

    @property
    def _rule(self) -> str:
        """The rule that was named, or the one that a setting means."""
        meant = (
            "steps"
            if self.steps is not None
            else next((rule for rule, name in _SETTING_OF.items() if getattr(self, name)), "")
        )
        if self.by == "":
            return meant or ("auto" if self.theta is None else "individuals")
        if self.by == "auto" and self.theta:
            raise ModelError("auto knows no theta", remedy=Remedy.THETA_BY_INDIVIDUALS)
        if meant not in ("", self.by) and (self.by, meant) != ("steps", "structure"):
            raise ModelError(
                f"filling goes by {self.by} or by {meant}, not by both", remedy=Remedy.ONE_RULE
            )
        return self.by

    def _check(self) -> None:
        """Refuse settings that mean nothing, alone or together."""
        whole("seed", self.seed, 0)
        if self.theta is not None and not 0 <= number("theta", self.theta) <= 1:
            raise ModelError(f"theta must lie between 0 and 1, not {self.theta}")
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
        if not (isinstance(self.unknown, str) and self.unknown == ""):
            chosen("unknown", self.unknown, UNKNOWN)

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
    def uses_cohorts(self) -> bool:
        """Whether cohorts of individuals say how likely each table is."""
        return self.by in ("auto", "cohorts")

    def changes(self, unknown: bool, supported: bool) -> bool:
        """Whether there is anything to do: holes, estimates to be cleaned, or tables to be merged.

        Parameters
        ----------
        unknown : bool
            Whether some table is unknown.
        supported : bool
            Whether some table has a support.

        Returns
        -------
        bool
        """
        cleans = self.by == "cohorts" and not self.keep_known and self.unknown != "one"
        return unknown or self.merges_tables or (supported and cleans)

    @property
    def merges_tables(self) -> bool:
        """Whether almost equal tables become one, in the whole graph."""
        return self.digits is not None or self.tolerance is not None
