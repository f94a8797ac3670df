"""Chain: a histogram of variables that are told apart is the last of a chain of sums.

c₁ is the histogram of the first, cᵢ that of the first i: a table on (cᵢ₋₁, the i-th, cᵢ) says that
they add up, and the last one is the histogram itself. What remains is an ordinary ground problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.errors import TooLargeError
from lifagu.inference.lifted.adjoints import Adjoints
from lifagu.inference.lifted.assignment import Assignment
from lifagu.inference.lifted.careful_table import Made
from lifagu.inference.lifted.integers import histogram_places, histograms, number_of_histograms
from lifagu.inference.lifted.logs import Table
from lifagu.inference.lifted.problem import Problem, Tie, Variables
from lifagu.inference.lifted.rows import ByArity
from lifagu.inference.lifted.tables import TablePool

MOST_CHAINED = 2**26  # entries of the tables of a chain


@dataclass(frozen=True, eq=False)
class ChainStep:
    """Histograms became the ends of chains; lengths: of the rows before, by arity."""

    lengths: dict[int, int]
    histograms: int
    like: str

    def __str__(self) -> str:
        return f"add up variables like {self.like} one by one ({self.histograms} histograms)"

    def walk_back(self, after: Adjoints) -> ByArity:
        """The rows that were there before are the first ones."""
        return {arity: after.of_row[arity][:length] for arity, length in self.lengths.items()}

    def trace_back(self, values: Assignment[Ints]) -> None:
        """No variable was taken away."""


def chain(problem: Problem[Ints]) -> tuple[Problem[Ints], ChainStep]:
    """Replace all ties by chains of rows."""
    variables, rows = problem.variables, []
    for tie in problem.ties:
        _check(problem, tie)
        variables, links = _links(problem.tables, variables, tie)
        rows += links
    members = [tie.classes.variables for tie in problem.ties] + [
        tie.variables for tie in problem.ties
    ]
    opened = set(np.concatenate(members).tolist()) - problem.kept
    chained, _ = problem.rows.plus(rows)
    lengths = {arity: len(labels) for arity, labels in problem.rows.labels.items()}
    like = problem.variables.name(int(problem.ties[0].classes.variables[0]))
    step = ChainStep(lengths, sum(len(tie.variables) for tie in problem.ties), like)
    return replace(problem.after(chained, variables.opened(sorted(opened))), ties=()), step


def _check(problem: Problem[Ints], tie: Tie) -> None:
    """Refuse chains whose tables would be too large."""
    many, member = max(tie.classes.counts), int(tie.classes.variables[0])
    size = int(problem.variables.sizes[member])
    entries = sum(
        number_of_histograms(before, size) * size * number_of_histograms(before + 1, size)
        for before in range(many)
    )
    if entries > MOST_CHAINED:
        raise TooLargeError(
            f"{many} variables like {problem.variables.name(member)} are counted while factors or "
            "evidence tell them apart; adding them up one by one needs tables of "
            f"{entries:.3g} entries, and {MOST_CHAINED:.3g} is the limit; make the domain smaller, "
            "or leave out what tells single individuals apart"
        )


def _links(
    tables: TablePool, variables: Variables, tie: Tie
) -> tuple[Variables, list[tuple[Ints, Ints]]]:
    """The rows of a tie's chains, all of one length, and the variables with partial sums."""
    members = tie.classes.variables.reshape(len(tie.classes), -1)
    chains, many = members.shape
    size = int(variables.sizes[members[0, 0]])
    rows, before = [], members[:, :0]
    for place in range(many):
        if place == many - 1:
            total = tie.variables
        else:
            total = np.arange(len(variables), len(variables) + chains)
            variables = variables.plus([number_of_histograms(place + 1, size)] * chains)
        table = addition(place, size)
        label, _ = tables.add(Made(table if place else table[0]), chains)
        rows.append((np.column_stack((before, members[:, place], total)), np.full(chains, label)))
        before = total[:, None]
    return variables, rows


def addition(before: int, size: int) -> Table:
    """The log table on (histogram before, one more, histogram after): 1 where they add up, else 0.

    >>> addition(0, 2)[0].astype(float).tolist()
    [[-inf, 0.0], [0.0, -inf]]
    """
    counts = histograms(before, size)
    table = np.full(
        (len(counts), size, number_of_histograms(before + 1, size)), -np.inf, dtype=np.longdouble
    )
    for value in range(size):
        table[
            np.arange(len(counts)),
            value,
            histogram_places(counts + np.eye(size, dtype=np.int64)[value]),
        ] = 0
    return table
