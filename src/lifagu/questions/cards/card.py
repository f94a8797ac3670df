"""`Card`: everything known, filled and predicted about one individual, as one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lifagu.basics.html import Shown
from lifagu.questions.cards.parts import CardContents
from lifagu.questions.cards.words import card_in_words


@dataclass(frozen=True, eq=False, repr=False)
class Card(CardContents, Shown):
    """Everything known, filled and predicted about one individual; `Case.show` makes it.

    What it holds is said in `CardContents`; `str` says it in words, `json` as plain values.
    """

    def json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "individual": self.individual,
            "domain": self.domain,
            "known": [asdict(each) for each in self.known],
            "more_known": {each.relation: each.count for each in self.more_known},
            "filled": [
                {**asdict(each), "told": each.told and each.told.as_dict()} for each in self.filled
            ],
            "filled_count": self.filled_count,
            "predicted": [
                {**asdict(each), "apart": each.apart, "guess": each.guess}
                for each in self.predicted
            ],
            "more_predicted": {each.relation: each.count for each in self.more_predicted},
            "why": [each.json() for each in self.why],
            "links": [asdict(each) for each in self.links],
            "alike": [asdict(each) for each in self.alike],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return card_in_words(self)

    def __repr__(self) -> str:
        counts = f"{len(self.known)} known, {len(self.predicted)} predicted"
        filled = f", {self.filled_count} filled" if self.filled_count else ""
        return f"<Card: {self.individual}; {counts}{filled}>"
