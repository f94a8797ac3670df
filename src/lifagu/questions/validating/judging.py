"""Scores in a sentence: what to trust, what is a guess, and what misleads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lifagu.questions.validating.predictions import Predictions
from lifagu.questions.validating.scores import Flags, mean

Verdict = Literal["trust", "slight", "guess", "misleads", "few"]
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
    """All relations by verdict, and whether the tables of holes can be believed."""
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
    if (tables := _tables(found, method)) is not None:
        parts.append(tables)
    return "; ".join(parts)


def _tables(found: Predictions, method: str) -> str | None:
    tables = found.methods[method].tables
    if tables is None:
        return None
    gain = mean(tables.pooled - tables.divergences)
    if gain.value is None or gain.error is None or len(tables) < FEW:
        return "too few tables to tell"
    chance = max(SURE * gain.error, LITTLE * float(tables.pooled.mean()))
    how = "no better" if abs(gain.value) <= chance else "better" if gain.value > 0 else "worse"
    return f"filled tables are {how} than the mean of their place"


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
