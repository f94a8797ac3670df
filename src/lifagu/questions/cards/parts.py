"""What is on a card: everything known, filled and predicted about one individual."""

from __future__ import annotations

from dataclasses import dataclass

from lifagu.filling.chance import is_guess
from lifagu.questions.reasons import Reasons
from lifagu.questions.told_table import ToldTable


@dataclass(frozen=True)
class KnownFact:
    """One thing that was observed about an individual.

    Attributes
    ----------
    relation, variable : str
        What it is about.
    others : tuple of str
        The other individuals that it is about.
    value : str
        The label that was observed; where likelihoods were, the likeliest, with `certain` False.
    certain : bool
        Whether it was observed for certain.
    share : float or None
        How often this label was observed among all `observed` variables of the relation.
    observed : int
        How many these are.
    count : int
        How many variables this was observed of alike, `variable` then saying which.
    """

    relation: str
    variable: str
    others: tuple[str, ...]
    value: str
    certain: bool
    share: float | None
    observed: int
    count: int = 1


@dataclass(frozen=True)
class FilledTable:
    """An unknown factor of an individual, and what came of it.

    Attributes
    ----------
    factor, status : str
        The factor, and "transferred" or why not, as in `Record`.
    donor : str or None
        Whose table it took, or who has the likeliest.
    share, posterior : float or None
        How many agree, or how likely the table is; and once observations count.
    guess : bool
        Whether it is hardly better than a guess.
    takes, reason : str
        What it takes and why, in words.
    told : ToldTable or None
        What observations say about it, where that is more than a little.
    """

    factor: str
    status: str
    donor: str | None
    share: float | None
    posterior: float | None
    guess: bool
    takes: str
    reason: str
    told: ToldTable | None


@dataclass(frozen=True)
class PredictedValue:
    """What is expected of one unobserved variable of an individual.

    Attributes
    ----------
    relation, variable : str
        What it is about.
    others : tuple of str
        The other individuals that it is about.
    labels : tuple of str
        The most probable first.
    probabilities : tuple of float
        How probable each is.
    usual : tuple of float
        How frequent each is elsewhere; empty where nobody can tell.
    usual_of : int
        Of how many others that was observed (`usual_is` "observed") or predicted ("predicted").
    usual_is : str
        "observed", "predicted", or "" where nobody can tell.
    rests_on : int
        How many lent tables it rests on.
    weakest_share : float or None
        The smallest share of agreement among them.
    warnings : tuple of str
        Why it is not to be trusted much.
    no_answer : str
        Why there is none; "" where there is one.
    count : int
        How many variables are predicted alike, `variable` then saying which.
    """

    relation: str
    variable: str
    others: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    usual: tuple[float, ...]
    usual_of: int
    usual_is: str
    rests_on: int
    weakest_share: float | None
    warnings: tuple[str, ...]
    no_answer: str
    count: int = 1

    @property
    def guess(self) -> bool:
        """Whether the most probable label is hardly better than a blind choice among all."""
        if not self.labels:
            return False
        return bool(is_guess(self.probabilities[0], len(self.labels)))

    @property
    def apart(self) -> float:
        """How far it is from what is usual: the total variation, 0 where nobody can tell."""
        pairs = zip(self.probabilities, self.usual, strict=False)
        return sum(abs(own - other) for own, other in pairs) / 2


@dataclass(frozen=True)
class More:
    """How many facts or predictions about a relation are not on the card."""

    relation: str
    count: int


@dataclass(frozen=True)
class LinkedTo:
    """To whom an individual is linked by one sort of factors, one relation, or one group.

    Attributes
    ----------
    by : str
        The parfactor, the relation, or the column of groups.
    sort : {"factors", "relation", "shared", "group"}
        What that is: "shared" are variables of nobody in its factors, "group" those who share a
        learned table.
    count : int
        How many individuals, or variables.
    names : tuple of str
        The first of them; of a group its own name.
    """

    by: str
    sort: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class AlikeIndividual:
    """Another individual, and in what it is like this one.

    Attributes
    ----------
    individual : str
        Who it is.
    likeness : float
        From 0 to 1, as `AlikeIndividuals.measure` says.
    same, differs : tuple of str
        In what both are the same, and in what they differ.
    """

    individual: str
    likeness: float
    same: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True)
class AlikeIndividuals:
    """Whom an individual is like, by one measure.

    Attributes
    ----------
    by : {"donors", "cohort", "observations", "everything"}
        What was compared; "everything" where nothing at all tells them apart.
    measure : str
        How, in words.
    nearest : tuple of AlikeIndividual
        Those most alike, equal ones as declared.
    as_near : int
        How many are as near as the first of them.
    """

    by: str
    measure: str
    nearest: tuple[AlikeIndividual, ...]
    as_near: int


@dataclass(frozen=True, eq=False, repr=False)
class CardContents:
    """Everything known, filled and predicted about one individual.

    Attributes
    ----------
    individual : str
        Who it is, as the model knows it.
    domain : str or None
        The domain of which it is a constant, where there are domains.
    known : tuple of KnownFact
        What was observed about it.
    filled : tuple of FilledTable
        Its unknown factors, and which tables they took.
    filled_count : int
        How many there are.
    predicted : tuple of PredictedValue
        What is expected of its unobserved variables.
    more_known, more_predicted : tuple of More
        How many are left out, by relation.
    why : tuple of Reasons
        Why the predictions that are furthest from what is usual are as they are.
    links : tuple of LinkedTo
        To whom it is linked.
    alike : tuple of AlikeIndividuals
        Whom it is like, and by what.
    notes : tuple of str
        What there is to know beside that.
    """

    individual: str
    domain: str | None
    known: tuple[KnownFact, ...]
    filled: tuple[FilledTable, ...]
    filled_count: int
    predicted: tuple[PredictedValue, ...]
    more_known: tuple[More, ...]
    more_predicted: tuple[More, ...]
    why: tuple[Reasons, ...]
    links: tuple[LinkedTo, ...]
    alike: tuple[AlikeIndividuals, ...]
    notes: tuple[str, ...]
