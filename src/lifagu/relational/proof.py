"""What was compared to prove that a lifted model means the graph it came from."""

from __future__ import annotations

from dataclasses import dataclass

from lifagu.graph.views import counted


@dataclass(frozen=True)
class Proof:
    """A lifted model was grounded and compared: names, ranges, arguments and tables.

    >>> print(Proof(variables=2, factors=1, unknown=0, tables=1))
    grounded again: the same 2 variables and the same 1 factor, each as often, with 1 distinct table
    """

    variables: int
    factors: int
    unknown: int
    tables: int

    def __str__(self) -> str:
        unknown = f" ({self.unknown} unknown)" if self.unknown else ""
        tables = counted(self.tables, "distinct table")
        return (
            f"grounded again: the same {counted(self.variables, 'variable')} and the same "
            f"{counted(self.factors, 'factor')}{unknown}, each as often, with {tables}"
        )
