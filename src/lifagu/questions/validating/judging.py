"""Scores in a sentence: what to trust, what is a guess, and what misleads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lifagu.basics.words import counted
from lifagu.questions.validating.predictions import Predictions
from lifagu.questions.validating.scores import Flags

Verdict = Literal["trust", "slight", "guess", "misleads", "few"]
SEEN, ANEW = "has seen these values", "drafted anew"  # what a structure has of hidden cells
FEW = 10  # cells with fewer of which nothing is said
SURE = 2.0  # standard errors beyond which a difference is no chance
MUCH = 0.1  # share of the baseline's log loss that a prediction worth trusting saves
LITTLE = 0.01  # share of it that does not matter, even if it is no chance


def verdict(found: Predictions, method: str, wanted: Flags) -> Verdict:
    """What the scores of some cells amount to, beside the frequencies of their relations."""
    gain = found.gain(method, wanted)
    if gain.value is None or gain.error is None or int(wanted.sum()) < FEW:
        return "few"
    baseline = found.baseline.only(wanted).log_loss.value or 0.0
    if abs(gain.value) <= max(SURE * gain.error, LITTLE * baseline):
        return "guess"
    if gain.value < 0:
        return "misleads"
    return "trust" if gain.value >= MUCH * baseline else "slight"


def judgement(found: Predictions, method: str) -> str:
    """All relations by verdict."""
    by: dict[Verdict, list[str]] = {}
    for relation, wanted in found.relations.items():
        by.setdefault(verdict(found, method, wanted), []).append(relation)
    parts = []
    if trusted := by.get("trust"):
        parts.append(f"trust {_listed(trusted)}")
    if slight := by.get("slight"):
        parts.append(
            f"{_listed(slight)} {_is(slight)} little better than {_its(slight)} frequencies"
        )
    if guessed := by.get("guess"):
        parts.append(
            f"{_listed(guessed)} {_is(guessed)} {'a guess' if len(guessed) == 1 else 'guesses'}"
        )
    if wrong := by.get("misleads"):
        parts.append(f"{_listed(wrong)} {_is(wrong)} worse than {_its(wrong)} frequencies")
    if few := by.get("few"):
        parts.append(f"too few cells of {_listed(few)} to tell")
    if found.structure.how == SEEN:
        parts.append(
            f"the structure has seen these values ({found.structure.why}), so that scores may be "
            "too good; to compare, draft again and validate that"
        )
    return "; ".join(parts)


def anew_told(found: Predictions, method: str) -> str:
    """What being drafted anew without hidden cells costs; nothing where there was no such draft."""
    stands, gain = found.as_it_stands, found.too_good(method)
    if stands is None:
        return ""
    told = "drafted anew in each fold without what is hidden there"
    loss = stands.methods[method].scores.log_loss.value
    if loss is None or gain.value is None:
        return told
    cells = counted(stands.hidden, "cell")
    where = f"{cells} of the first fold" if stands.hidden < found.hidden else f"the same {cells}"
    error = "" if gain.error is None else f" ± {gain.error:.3f}"
    return (
        f"{told}; as it stands, chosen with these values in sight, the draft would score "
        f"{loss:.3f} on {where}, {gain.value:.3f}{error} better than it deserves"
    )


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> _listed(["Age", "Dx", "Weight"])
    'Age, Dx and Weight'
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _its(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"
