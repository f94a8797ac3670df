"""What was compared to prove that a lifted model means the graph it came from."""

from __future__ import annotations

from dataclasses import dataclass

from lifagu.graph.views import counted


@dataclass(frozen=True)
class Proof:
    """A lifted model was grounded and compared: names, ranges, arguments and tables.

    >>> print(Proof(variables=9, factors=7, unknown=0, tables=3))
    grounded again: the same 9 variables and the same 7 factors, each as often, with 3 distinct
    tables
    """

    variables: int
    factors: int
    unknown: int
    tables: int

    def __str__(self) -> str:
        unknown = f" ({self.unknown} unknown)" if self.unknown else ""
        return (
            f"grounded again: the same {counted(self.variables, 'variable')} and the same "
            f"{counted(self.factors, 'factor')}{unknown}, each as often, with {counted(self.tables, 'distinct table')}"
        )
