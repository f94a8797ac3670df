"""Numbers that are predicted in few bins tell more in finer ones: which of them are worth it.

For each number that is to be predicted, the same in finer bins is a candidate as well. Where it
tells about another attribute more than the few bins do, on rows left out, all tables about that
number are about its finer bins; answers are still given in the few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lifagu.drafting.attributes import Attribute
from lifagu.drafting.choosing import ChosenTables, TableChoice


@dataclass(frozen=True, eq=False)
class FinerBins:
    """By the id of an attribute that is predicted the same in finer bins, as far as it tells."""

    finer: dict[int, Attribute]

    @classmethod
    def of(cls, chosen: Sequence[ChosenTables]) -> FinerBins:
        """Those that were chosen, unless a table that is given others is about them as well."""
        found: dict[int, Attribute] = {}
        for each in (choice.candidate.other for one in chosen for choice in one.choices):
            if each is not None and each.coarser is not None:
                found[id(each.coarser)] = each
        for one in (each for each in chosen if each.is_given):
            for each in (one.target, *(choice.candidate.other for choice in one.choices)):
                found.pop(id(each), None)
        return cls(found)

    def __call__(self, attribute: Attribute) -> Attribute:
        """The attribute that tables are about: in finer bins if there are such."""
        return self.finer.get(id(attribute), attribute)

    def all(self, attributes: Sequence[Attribute]) -> list[Attribute]:
        """The same of several."""
        return [self(each) for each in attributes]

    def chosen(self, chosen: Sequence[ChosenTables]) -> list[ChosenTables]:
        """What was chosen, about finer bins where there are such, and about few elsewhere."""
        return [
            replace(
                one,
                target=self(one.target),
                choices=tuple(self._choice(choice) for choice in one.choices),
            )
            for one in chosen
        ]

    def _choice(self, choice: TableChoice) -> TableChoice:
        candidate = choice.candidate
        if candidate.other is not None:
            other = candidate.other.coarser or candidate.other
            candidate = replace(candidate, other=self(other))
        return replace(choice, target=self(choice.target), candidate=candidate)
