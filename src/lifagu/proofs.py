"""What was compared to prove that a lifted model means the graph it came from."""

from __future__ import annotations

from dataclasses import dataclass

from lifagu.views import counted


@dataclass(frozen=True)
class Proof:
    """A lifted model was grounded, and the result compared with the graph: names, ranges, arguments and tables.

    >>> print(Proof(variables=9, factors=7, unknown=0, tables=3))
    grounded again: the same 9 variables, and the same 7 factors with 3 distinct tables, each as often as in the graph
    """

    variables: int
    factors: int
    unknown: int
    tables: int

    def __str__(self) -> str:
        unknown = f", {self.unknown} of them unknown," if self.unknown else ""
        return (
            f"grounded again: the same {counted(self.variables, 'variable')}, and the same "
            f"{counted(self.factors, 'factor')}{unknown} with {counted(self.tables, 'distinct table')}, "
            "each as often as in the graph"
        )
