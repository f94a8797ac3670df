"""Questions checked: names become numbers; what cannot be answered is refused with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Ints
from lifagu.basics.memory import readable_size
from lifagu.basics.words import counted
from lifagu.errors import ModelError, NoAnswerError, Remedy, TooLargeError, listed
from lifagu.graph.evidence import Evidence
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.parts import parts_of_factors
from lifagu.inference.plan import BYTES_PER_ENTRY, WORKING_COPIES

Question = tuple[int, ...]
MOST_TOLD = 8  # parts left out that are described


@dataclass(frozen=True)
class TooLarge:
    """Variables (or classes) of a connected part that does not fit and was left out.

    Attributes
    ----------
    variables : tuple[str, ...]
        Their names, or classes of them in words.
    estimate : str
        What the part would take, as the end of a sentence.
    remedy : Remedy
        What to do about it.

    Examples
    --------
    >>> print(TooLarge(("A", "B"), "needs about 3 TiB", Remedy.ASK_FOR_LESS))
    left out: A, B; what is connected to them needs about 3 TiB
    """

    variables: tuple[str, ...]
    estimate: str
    remedy: Remedy

    def __str__(self) -> str:
        return f"left out: {listed(self.variables)}; what is connected to them {self.estimate}"


def told_too_large(parts: Sequence[TooLarge]) -> list[str]:
    """A line for each of the first parts that were left out, and how many more there are."""
    lines = list(map(str, parts[:MOST_TOLD]))
    if more := len(parts) - len(lines):
        lines.append(f"and {counted(more, 'part')} more that were left out")
    return lines


def question_of(graph: FactorGraph, names: Sequence[str], limit: int) -> Question:
    """The variables of a question as numbers, none twice, and not too many for one answer."""
    question = tuple(graph.variable_names.number(name) for name in names)
    own_names = [graph.variable_names[variable] for variable in question]
    check_question(own_names, graph.sizes[list(question)].tolist(), limit)
    return question


def check_question(names: Sequence[str], sizes: Sequence[int], limit: int) -> None:
    """Refuse a question about nothing, a variable twice, or too many values for one answer."""
    if not names:
        raise ModelError("a question names at least one variable")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"the question names '{twice}' twice; name each variable once")
    size = BYTES_PER_ENTRY * WORKING_COPIES * math.prod(sizes)
    if size > limit or len(names) > 60:
        raise TooLargeError(
            f"a joint answer about {len(names)} variables needs about {readable_size(size)}, "
            f"but the limit is {readable_size(limit)}",
            remedy=Remedy.FEWER_JOINTLY,
        )


def pieces_of(question: Question, part_of: Ints) -> dict[int, Question]:
    """For each part that holds variables of a question, those variables in its order."""
    pieces: dict[int, Question] = {}
    for variable in question:
        if (number := int(part_of[variable])) >= 0:
            pieces[number] = (*pieces.get(number, ()), variable)
    return pieces


def kept_for(questions: Iterable[Question], walks: bool, evidence: Evidence) -> list[int]:
    """The free variables that lifted steps keep: those asked jointly, or all if none walk back."""
    kept = {each for question in questions if len(question) > 1 or not walks for each in question}
    return sorted(kept.difference(evidence.variables.tolist()))


def known_variables(graph: FactorGraph, part_of: Ints) -> NDArray[np.bool_]:
    """Which variables are in connected parts without unknown factors."""
    return ~np.isin(part_of, parts_of_factors(graph, part_of, graph.unknown)) | (part_of < 0)


def check_known(
    graph: FactorGraph,
    part_of: Ints,
    known: NDArray[np.bool_],
    asked: Sequence[Question],
    what: str = "log Z",
) -> None:
    """Refuse questions about parts with unknown factors, or about a whole graph with any."""
    holes = parts_of_factors(graph, part_of, graph.unknown)
    for question in asked:
        for number, piece in pieces_of(question, part_of).items():
            if not known[piece[0]]:
                names = graph.variable_names
                what = asked_for(names.__getitem__, len(names), [piece])
                unknown = graph.factor_names.of_nodes(graph.unknown[holes == number])
                raise NoAnswerError(no_answer(what, unknown))
    if not asked and len(graph.unknown):
        unknown = graph.factor_names.of_nodes(graph.unknown)
        raise NoAnswerError(no_answer(what, unknown, where=""))


def no_answer(what: str, unknown: Sequence[str], where: str = " in the same connected part") -> str:
    """Why a question about parts with unknown factors has no answer."""
    verb = "is" if len(unknown) == 1 else "are"
    why = f"{listed(unknown)} {verb} unknown{where}"
    return f"{what} has no answer: {why}; give a table, or ask elsewhere"


def asked_for(name: Callable[[int], str], count: int, pieces: Iterable[Question]) -> str:
    """Questions in words, ``P(A, B)``, if about the first `count` variables; else log Z."""
    shown = [piece for piece in pieces if all(variable < count for variable in piece)]
    asked = [f"P({', '.join(map(name, piece))})" for piece in shown]
    return listed(asked, limit=2) or "log Z"


def why_zero(evidence: Evidence) -> str:
    """Why the total weight is zero, as far as one can tell."""
    if evidence:
        advice = "check the observed values against the zeros in the tables"
        return f"the evidence has probability zero; {advice}"
    return "every assignment has weight zero; the zeros in the tables contradict each other"
