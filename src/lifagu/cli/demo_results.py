"""What test results tell in the demo: whom eve is like, and somebody about whom more is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifagu.basics.words import counted
from lifagu.cli.output import say, table
from lifagu.examples.hospital import Hospital
from lifagu.questions.table_posteriors import table_posteriors
from lifagu.questions.told_table import TableTold, ToldTable

if TYPE_CHECKING:
    from lifagu import Case

MOST_STORIES = 2  # of those who wait for a result


def results_tell(case: Case, drawn: Hospital) -> None:
    """Whom eve is like by her result, and whom somebody else about whom less was sure."""
    say(f"{_of_eve(case, drawn)}\n")
    waiting = _waiting(case)
    if stories := _stories(case, drawn, waiting):
        others = f"Of {counted(len(waiting), 'other')} without an interview who wait for a result"
        who = " and ".join(each.who for each in stories)
        say("Where tables compete, a result also tells whom somebody is like.")
        say(f"{others}, it tells most of {who}:\n")
        say("\n\n".join(map(str, stories)) + "\n")


@dataclass(frozen=True)
class Story:
    """A patient, before and after a test: the case, and what observations tell of the interview."""

    case: Case
    drawn: Hospital
    who: str
    first: ToldTable
    second: ToldTable

    @classmethod
    def of(cls, case: Case, drawn: Hospital, who: str) -> Story | None:
        """The story of a patient; None where cohorts have no part in it."""
        first = case.told(f"intake({who})")
        if first is None:
            return None
        second = case.observe(_result(drawn, who)).told(f"intake({who})")
        return None if second is None else cls(case, drawn, who, first, second)

    @property
    def seen(self) -> str:
        """The result."""
        return "".join(f"{name}={value}" for name, value in _result(self.drawn, self.who).items())

    def __str__(self) -> str:
        first, second, sick = self.first, self.second, f"Sick({self.who})"
        after = self.case.observe(_result(self.drawn, self.who))
        chances = [f"{each.ask(sick)['true']:.3f}" for each in (self.case, after)]
        rows = [
            ("", "before", f"after {self.seen}"),
            (f"{self.who} is most like", str(first.cohort_after), str(second.cohort_after)),
            ("likeliest table", self._table(first.table_after), self._table(second.table_after)),
            (f"P({sick} = true)", *chances),
        ]
        told, truth = second.told_in_words, f"In truth {sick} is {self.drawn.world[sick]}."
        return f"{table(rows)}\n\n{told[0].upper()}{told[1:]}. {truth}"

    def _table(self, told: TableTold) -> str:
        has = self.case.graph.factor(told.donor).table
        true = has is not None and np.allclose(has.reshape(-1), self.drawn.truth[self.first.factor])
        return f"that of {told.donor} ({told.share:.0%}, {'the' if true else 'not the'} true one)"


def _result(drawn: Hospital, who: str) -> dict[str, str]:
    return {f"Test({who})": drawn.world[f"Test({who})"]}


def _of_eve(case: Case, drawn: Hospital) -> str:
    """Whom eve is like, if cohorts say it, or that all who match her agree."""
    if story := Story.of(case, drawn, "eve"):
        return str(story)
    record = next(each for each in case.transfer.record if each.factor == "intake(eve)")
    agree = f"All {record.candidates} who match eve as a whole agree on her table"
    return f"{agree}, so her result tells how she is, and not whom she is like."


def _waiting(case: Case) -> dict[str, int]:
    """Who has neither an interview nor a result, and cohorts fill the former: the hole's place."""
    found, seen = {}, case.graph_evidence
    for place, record in enumerate(case.transfer.record):
        kind, _, who = record.factor.rstrip(")").partition("(")
        if kind == "intake" and record.unit == "cohort" and f"Test({who})" not in seen:
            found[who] = place
    return found


def _stories(case: Case, drawn: Hospital, waiting: dict[str, int]) -> list[Story]:
    """Of the few patients whose tables would move most, did all results arrive."""
    results = {name: value for who in waiting for name, value in _result(drawn, who).items()}
    before, after = (
        table_posteriors(case.transfer, each.graph_evidence)
        for each in (case, case.observe(results))
    )
    moved = np.abs(after - before)
    most = sorted(waiting, key=lambda who: -moved[waiting[who]])[:MOST_STORIES]
    stories = (Story.of(case, drawn, who) for who in most)
    return [story for story in stories if story is not None]
