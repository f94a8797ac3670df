"""What a transfer did, for each unknown factor, and why, in a sentence anybody understands."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.basics.choices import Status
from lifagu.basics.html import Shown
from lifagu.basics.words import counted
from lifagu.filling.chance import GUESS, is_guess

SURE = 0.9  # how likely a table must be for nothing more to be wanted
MOST_PLACES = 3  # that are named in a reason


@dataclass(frozen=True)
class Competitor:
    """One table a class could take: who has it, how many candidates agree, its potentials."""

    donor: str
    agreeing: int
    share: float
    table: tuple[float, ...]


@dataclass(frozen=True)
class CohortOfOwner:
    """To which cohort the owner of an unknown factor belongs, and why.

    Attributes
    ----------
    number, cohorts : int
        Which cohort, the largest being 1, of how many.
    share : float
        How likely the owner belongs to it.
    members : int
        How many others most likely do.
    like, unlike : tuple of str
        The places whose tables speak for it, and against it.
    shown : int
        In how many places the owner has a known table.
    settled_by : str or None
        The place whose table, if it were known, would tell most about this one.
    declared : bool
        Whether the model says who is an individual; else it is what hangs together once the
        variables that all share are cut.
    """

    number: int
    cohorts: int
    share: float
    members: int
    like: tuple[str, ...]
    unlike: tuple[str, ...]
    shown: int
    settled_by: str | None
    declared: bool


@dataclass(frozen=True, repr=False)
class Record(Shown):
    """Why an unknown factor got its table, or did not.

    Attributes
    ----------
    factor : str
        The unknown factor.
    status : {"transferred", "below_threshold", "no_candidate"}
        What came of it.
    donor : str or None
        Whose table it took; where `way` is "average", who has the best of the competing ones.
    candidates, agreeing : int
        Known factors in such a place, or individuals where unit is "individual"; how many agree.
    share : float or None
        agreeing by candidates; None without candidates.
    tie : bool
        Whether another table was as frequent.
    alignment : tuple of int or None
        For each donor position the receiver's argument that stands there now.
    ambiguous_alignment, ambiguous_assignment : bool
        Whether the order in which arguments, or factors, are listed decided.
    unit : {"factor", "individual"}
        What was compared.
    steps : int or None
        How far neighbourhoods were compared, if that was asked for.
    theta : float
        The share that was asked for.
    equality : str
        How tables were compared, in words.
    members : int
        Unknown factors treated alike.
    tables : int
        How many different tables compete.
    competing : tuple of Competitor
        The first of them, best first.
    fallback : bool
        Whether no donor individual was found, so that single factors were compared.
    way : {"average", "best"}
        What answers use: all of the competing tables, or the best of them.
    guess : bool
        Whether it took a table that is hardly better than a guess, as few agree among many.
    owner : CohortOfOwner or None
        To which cohort its owner belongs, where cohorts were compared; `share` is then how likely
        the best table is.
    posterior : float or None
        How likely that table is once observations count; None where they do not count, or before
        somebody asks what they say.
    """

    factor: str
    status: Status
    donor: str | None
    candidates: int
    agreeing: int
    share: float | None
    tie: bool
    alignment: tuple[int, ...] | None
    ambiguous_alignment: bool
    ambiguous_assignment: bool
    unit: str
    steps: int | None
    theta: float
    equality: str
    members: int
    tables: int
    competing: tuple[Competitor, ...]
    fallback: bool
    way: str
    guess: bool
    owner: CohortOfOwner | None = None
    posterior: float | None = None

    @property
    def takes(self) -> str:
        """What it takes, in words; nothing if it stays unknown."""
        if self.donor is not None and self.owner is not None and self.way != "best":
            return OF_CLASSES
        return "" if self.donor is None else f"the table of {self.donor}"

    def __repr__(self) -> str:
        return f"<Record: {self.factor}: {self.reason}>"

    @property
    def reason(self) -> str:
        """The record as a sentence or two."""
        return " ".join([_outcome(self), *_warnings(self)])

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = asdict(self)
        values["alignment"] = None if self.alignment is None else list(self.alignment)
        values["competing"] = [asdict(each) for each in self.competing]
        return {**values, "takes": self.takes, "reason": self.reason}


OF_CLASSES = "the tables of all cohorts"  # what is taken where answers use more than the likeliest


def _outcome(record: Record) -> str:
    if record.owner is not None and record.status != "no_candidate":
        return " ".join(_of_cohort(record, record.owner))
    who = (
        "other individuals with matching factors"
        if record.unit == "individual"
        else "known factors in such a place"
    )
    count = f"{record.agreeing} of {record.candidates}"
    takes = f"it takes {record.takes}"
    if record.status == "no_candidate":
        return "No known factor stands in a place like this one, so it stays unknown."
    if record.status == "below_threshold":
        return (
            f"Only {count} {who} agree ({record.share:.3g}), less than the {record.theta:.3g} "
            "asked for, so it stays "
            "unknown."
        )
    if record.candidates == 1:
        one = (
            who.replace("individuals", "individual")
            .replace("factors in", "factor in")
            .replace("s have", " has")
        )
        return f"There is just one {one.removeprefix('other ')}, so {takes}."
    if record.agreeing == record.candidates:
        return f"All {record.candidates} {who} agree, so {takes}."
    return _contested(record, who)


def _of_cohort(record: Record, owner: CohortOfOwner) -> list[str]:
    """Whom the owner is like, by what, which table follows, and what would settle it."""
    like = f"like {counted(owner.members, 'other')} (cohort {owner.number}, {owner.share:.0%})"
    if owner.cohorts == 1:
        said = ["No cohorts can be told apart, so everybody with such a factor counts."]
    elif not owner.shown:
        said = ["Nothing is known of its owner, so all cohorts count by their size."]
    elif owner.like:
        said = [f"Its owner is {like}: {_together(owner.like)} {_speak(owner.like)} for it."]
    else:
        said = [f"Its known tables hardly tell which of {owner.cohorts} cohorts its owner is of."]
    if owner.unlike and owner.cohorts > 1:
        said.append(f"{_together(owner.unlike)} {_speak(owner.unlike)} against it.".capitalize())
    sure = f"{record.share:.0%}" if record.share is not None else "0 %"
    if record.status == "below_threshold":
        said.append(f"The likeliest table has {sure}, less than the {record.theta:.0%} asked for.")
    elif record.way == "best":
        guess = f": {GUESS}" if record.guess else ""
        said.append(f"It takes the likeliest table, as of {record.donor} ({sure}{guess}).")
    else:
        guess = f", {GUESS}" if is_guess(record.share or 0.0, record.tables) else ""
        likeliest = f"the likeliest table, as of {record.donor}: {sure}{guess}"
        said.append(f"Answers sum over all cohorts; {likeliest}.")
    if owner.settled_by and (record.share or 0) < SURE:
        said.append(f"Knowing its {owner.settled_by} would tell most.")
    if not owner.declared:
        said.append("Individuals are what hangs together once shared variables are cut.")
    return said


def _together(places: tuple[str, ...]) -> str:
    first = [*places[:MOST_PLACES], *["others"] * (len(places) > MOST_PLACES)]
    return first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"


def _speak(places: tuple[str, ...]) -> str:
    return "speaks" if len(places) == 1 else "speak"


def _contested(record: Record, who: str) -> str:
    """What came of it where several tables compete."""
    count = f"{record.agreeing} of {record.candidates}"
    different = f"different {'sets of ' * (record.unit == 'individual')}tables"
    compete = f"{record.tables} {different} compete"
    if record.guess:
        return f"{count} {who} agree: {GUESS}. It takes {record.takes}; {compete}."
    return f"{count} {who} agree, so it takes {record.takes}; {compete}."


def _warnings(record: Record) -> list[str]:
    found = []
    if record.fallback and record.status != "no_candidate":
        found.append(
            "No other individual matches its owner as a whole, so single factors were compared."
        )
    if record.equality != "exactly" and record.candidates > 1:
        found.append(f"Tables were compared {record.equality}.")
    if record.tie and record.way == "best":
        found.append("Another table is as frequent; the one declared first was chosen.")
    if (
        record.status == "transferred"
        and record.members > 1
        and record.tables > 1
        and record.unit == "factor"
    ):
        found.append(
            f"The {record.members} unknown factors in such a place cannot be told apart and all "
            "take this table."
        )
    if record.ambiguous_assignment:
        found.append(
            "Its owner has several unknown factors in such a place; they were matched in the order "
            "listed."
        )
    if record.ambiguous_alignment:
        found.append(
            "Some of its arguments play the same role; the order in which they are listed decided."
        )
    return found
