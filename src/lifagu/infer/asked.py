"""Questions checked: names become numbers, and what cannot be answered is refused with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.arrays import Ints
from lifagu.errors import ModelError, NoAnswerError, TooLargeError, listed
from lifagu.evidence import Evidence
from lifagu.infer.plan import BYTES_PER_ENTRY, WORKING_COPIES, readable_size
from lifagu.model import FactorGraph
from lifagu.parts import parts_of_factors

Question = tuple[int, ...]


def question_of(graph: FactorGraph, names: Sequence[str], limit: int) -> Question:
    """The variables of a question as numbers, none twice, and not too many for one answer."""
    question = tuple(graph.variable_names.number(name) for name in names)
    if not question:
        raise ModelError("a question names at least one variable")
    if len(set(question)) < len(question):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ModelError(f"the question names '{twice}' twice; name each variable once")
    size = BYTES_PER_ENTRY * WORKING_COPIES * math.prod(graph.sizes[list(question)].tolist())
    if size > limit or len(question) > 60:
        raise TooLargeError(
            f"a joint answer about {len(question)} variables needs about {readable_size(size)}, but the limit is "
            f"{readable_size(limit)}; ask about fewer variables jointly"
        )
    return question


def pieces_of(question: Question, part_of: Ints) -> dict[int, Question]:
    """For each part that holds variables of the question, those variables in the question's order."""
    pieces: dict[int, Question] = {}
    for variable in question:
        if (number := int(part_of[variable])) >= 0:
            pieces[number] = (*pieces.get(number, ()), variable)
    return pieces


def known_variables(graph: FactorGraph, part_of: Ints) -> NDArray[np.bool_]:
    """Which variables are in connected parts without unknown factors."""
    return ~np.isin(part_of, parts_of_factors(graph, part_of, graph.unknown)) | (part_of < 0)


def check_known(
    graph: FactorGraph, part_of: Ints, known: NDArray[np.bool_], asked: Sequence[Question], what: str = "log Z"
) -> None:
    """Refuse questions about parts with unknown factors, and what is about the whole graph where there are any."""
    holes = parts_of_factors(graph, part_of, graph.unknown)
    for question in asked:
        for number, piece in pieces_of(question, part_of).items():
            if not known[piece[0]]:
                raise NoAnswerError(_missing(graph, graph.unknown[holes == number], asked_for(graph, [piece])))
    if not asked and len(graph.unknown):
        raise NoAnswerError(_missing(graph, graph.unknown, what, where=""))


def _missing(graph: FactorGraph, factors: Ints, what: str, where: str = " in the same connected part") -> str:
    names = listed([graph.factor_names[factor] for factor in factors.tolist()])
    verb = "is" if len(factors) == 1 else "are"
    return f"{what} has no answer: {names} {verb} unknown{where}; give a table, or ask elsewhere"


def asked_for(graph: FactorGraph, pieces: Iterable[Question]) -> str:
    """The questions in words, ``P(A, B)``; log Z if there are none."""
    count = len(graph.variable_names)
    shown = [piece for piece in pieces if all(variable < count for variable in piece)]
    asked = [f"P({', '.join(graph.variable_names[each] for each in piece)})" for piece in shown]
    return listed(asked, limit=2) or "log Z"


def why_zero(evidence: Evidence) -> str:
    """Why the total weight is zero, as far as one can tell."""
    if evidence:
        return "the evidence has probability zero; check the observed values against the zeros in the tables"
    return "every assignment has weight zero; the zeros in the tables contradict each other"


def names_in(graph: FactorGraph) -> Callable[[int], str]:
    """Names of variables, also of those that counting adds after the graph's own."""
    count = len(graph.variable_names)
    return lambda variable: graph.variable_names[variable] if variable < count else f"histogram {variable - count}"
