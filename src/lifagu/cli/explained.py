"""Why tables were filled as they were, in the lines of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from lifagu.questions.doubts import weakest_behind

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.questions.findings import Lift
    from lifagu.questions.reasons import Reasons

MOST_EXPLAINED = 3  # tables behind answers, answers with their reasons


def weakest_explained(case: Case, variables: Sequence[str], factors: Sequence[str]) -> str:
    """The reasons for the weakest of the filled tables behind answers, each told once."""
    return "\n".join(_weakest(case, variables, factors))


def _weakest(case: Case, variables: Sequence[str], factors: Sequence[str]) -> Iterator[str]:
    for each in weakest_behind(case.transfer, variables, factors, MOST_EXPLAINED):
        yield f"{each.factor}: {each.reason}"
        if told := case.told(each.factor):
            yield indent(str(told), " " * 6)


def first_reasons(case: Case, variables: Sequence[str]) -> list[Reasons]:
    """What told the answers about the first variables, where tables were learned."""
    if case.opened.is_folder or case.opened.loaded(case.place).learned is None:
        return []
    return [case.why(name) for name in variables[:MOST_EXPLAINED]]


def most_told(found: Lift) -> str:
    """What observations say about holes, where they say most; nothing if they say nothing."""
    told = found.most_told()
    lines = [f"  {each.factor}\n{indent(str(each), ' ' * 6)}" for each in told]
    head = ["what observations tell about holes, where it is most:"] if lines else []
    return "\n".join([*head, *lines])
