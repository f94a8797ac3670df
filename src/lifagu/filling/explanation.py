"""What spoke for and against the table of a filled factor, in words for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.errors import listed

FEW = 5  # individuals and places that are named
SETTLED = 0.8  # of the candidates for whom a place finds the table: then it settles the matter


@dataclass(frozen=True)
class Neighbour:
    """Another individual with a table in such a place, and how it compares.

    Attributes
    ----------
    individual : str
        Who it is.
    factor : str
        Its factor in such a place.
    same : tuple of str
        The owner's factors whose known tables it has as well.
    differs : tuple of str
        The owner's factors in whose place it has another table.
    agrees : bool
        Whether it has the table that is taken, or best.
    """

    individual: str
    factor: str
    same: tuple[str, ...]
    differs: tuple[str, ...]
    agrees: bool

    @property
    def likeness(self) -> str:
        """How it compares, in words."""
        alike = [f"the same {listed(self.same, FEW)}"] if self.same else []
        alike += [f"other {listed(self.differs, FEW)}"] if self.differs else []
        return "; ".join(alike) or "nothing to compare"


@dataclass(frozen=True)
class Settling:
    """A place of the owner which is unknown, too, and would tell the competing tables apart.

    Attributes
    ----------
    factor : str
        The owner's factor there.
    right, before : int
        For how many candidates the table that most others have is right, if only those are asked
        that are alike in that place; and if all are.
    candidates : int
        How many were tried.
    """

    factor: str
    right: int
    before: int
    candidates: int

    def __str__(self) -> str:
        would = "settle it" if self.right >= SETTLED * self.candidates else "help"
        right = f"is right for {self.right} of {self.candidates}, asking all for {self.before}"
        return f"{self.factor}, if known, would {would}: asking those alike in it {right}"


@dataclass(frozen=True)
class Explanation:
    """Who agrees on the table of an unknown factor, who is nearest to its owner, what would help.

    Attributes
    ----------
    factor : str
        The factor.
    owner : str or None
        The individual that it belongs to.
    known : int
        How many tables of this individual are known.
    agreeing : tuple of str
        The first who have the table that is taken, or best: individuals, or factors of nobody.
    agreeing_count : int
        How many there are.
    nearest : tuple of Neighbour
        The individuals that share the most known tables with the owner.
    as_near : int
        How many share as many of them as the first.
    settled_by : Settling or None
        What would tell the competing tables apart best.
    """

    factor: str
    owner: str | None
    known: int
    agreeing: tuple[str, ...]
    agreeing_count: int
    nearest: tuple[Neighbour, ...]
    as_near: int
    settled_by: Settling | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**asdict(self), "text": str(self)}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        lines = []
        if self.agreeing:
            more = self.agreeing_count - len(self.agreeing)
            rest = f" and {more} more" if more else ""
            lines.append(f"agree: {', '.join(self.agreeing)}{rest}")
        if self.owner is None:
            return [*lines, "it belongs to no individual, so only its place was compared"]
        if not self.known:
            lines.append(f"no table of {self.owner} is known, so nobody is nearer than others")
        elif self.nearest:
            lines += [f"nearest to {self.owner}: {each}" for each in self._near()]
        lines.append(str(self.settled_by or "no other place of it would tell more"))
        return lines

    def _near(self) -> list[str]:
        """The nearest, those that compare in the same way together."""
        together: dict[str, list[str]] = {}
        for each in self.nearest:
            name = f"{each.individual} (who agrees)" if each.agrees else each.individual
            together.setdefault(each.likeness, []).append(name)
        words = [f"{', '.join(who)}: {alike}" for alike, who in together.items()]
        if self.as_near > len(self.nearest):
            words[0] += f"; {self.as_near} are as near"
        return words
