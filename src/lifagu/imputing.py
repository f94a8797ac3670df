"""From a model with holes to answers in one step: fill, colour, answer, and say what rests on what.

This file composes `transfer`, `colour` and the answers; it prints nothing and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lifagu.answers import UNKNOWN
from lifagu.arrays import Ints
from lifagu.assembly import taken_lists
from lifagu.columns import Column, Columns, Lists, Nullable, name_column, texts, used_names
from lifagu.drift import Bound
from lifagu.errors import ModelError
from lifagu.evidence import Evidence, EvidenceLike
from lifagu.given import callback, chosen, items, text
from lifagu.ground_parts import declared_tables
from lifagu.lent import Left, Lent, summary
from lifagu.model import Colouring, FactorGraph
from lifagu.names import ChosenNames
from lifagu.requested import Requested, near_unknown, request
from lifagu.symmetry.colour import colour
from lifagu.symmetry.transfer import Transfer, record_columns, transfer
from lifagu.values import Frozen
from lifagu.views import counted

MOST_ASKED = 100  # variables that are asked about when nobody says which
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class Imputed(Frozen):
    """What was unknown in a model, what was lent by whom, what looks alike now, and the marginals that were asked for.

    transfer: the completed graph and a record for each unknown factor; lent and left: the same in a few lines, by kind
    of factor; colouring: the groups of the completed graph; marginals: the answers, given the evidence; offered: how
    many variables could have been asked about where nobody said which, else None; way: how competing tables were used.
    """

    transfer: Transfer
    evidence: Evidence
    colouring: Colouring
    marginals: Requested
    offered: int | None
    way: str

    @property
    def unknown(self) -> int:
        """How many factors came without a table."""
        return len(self.transfer.unknown)

    @property
    def filled(self) -> int:
        """How many of them got one."""
        return len(self.transfer.transferred)

    @property
    def lent(self) -> tuple[Lent, ...]:
        """Who lent what to whom, one entry for what is alike."""
        return self._summary[0]

    @property
    def left(self) -> tuple[Left, ...]:
        """What stays unknown and why, one entry for what is alike."""
        return self._summary[1]

    @property
    def bound(self) -> Bound | None:
        """How far answers can be off because tables were merged; None where none were, or where that is not known."""
        return self.transfer.bound(self.evidence) if self.way == "one" else None

    @cached_property
    def _summary(self) -> tuple[tuple[Lent, ...], tuple[Left, ...]]:
        return summary(self.transfer)

    def tables(self) -> dict[str, Columns]:
        """Everything by column, ready to be written: `transfers`, `tables` and `marginals`.

        Rows are known by names and come in the order of the model, so that what did not change stays as it was.
        """
        return {"transfers": self._transfers(), "tables": self._tables(), "marginals": self.marginals.columns()}

    def _transfers(self) -> Columns:
        """One row per unknown factor: status, donor, share and reason; factors by name."""
        records = dict(record_columns(self.transfer))
        names = self.transfer.original.factor_names
        factors, donors = records.pop("factor_id"), records.pop("donor_id")
        assert isinstance(factors, np.ndarray)
        assert isinstance(donors, Nullable)
        named: dict[str, Column] = {"factor": name_column(names, factors), "status": records.pop("status")}
        return {**named, "donor": name_column(names, donors.numbers), **records}

    def _tables(self) -> Columns:
        """One row per filled factor: its arguments in the order of its table, and the potentials."""
        filled = self.transfer.transferred
        graph = self.transfer.averaged() if self.way == "mean" else self.transfer.graph
        arguments, ends = taken_lists(graph.offsets, graph.arguments, filled)
        tables, table_of = declared_tables(graph)
        lengths = np.array([len(each) for each in tables], dtype=np.int64)
        potentials = np.concatenate(tables) if tables else np.zeros(0)
        return {
            "factor": name_column(graph.factor_names, filled),
            "arguments": Lists(
                np.concatenate(([0], ends - graph.offsets[-1])), texts(*used_names(graph.variable_names, arguments))
            ),
            "potentials": Lists(np.concatenate(([0], np.cumsum(lengths))), potentials, table_of[filled]),
        }

    def __repr__(self) -> str:
        left = self.unknown - self.filled
        return (
            f"<Imputed: {counted(self.filled, 'factor')} filled, {left} left unknown, "
            f"{counted(len(self.marginals), 'marginal')}>"
        )


def _numbers(graph: FactorGraph, queries: Sequence[str]) -> Ints:
    """The variables asked about, each once."""
    if isinstance(queries, ChosenNames) and queries.names is graph.variable_names:
        numbers = queries.numbers
    else:
        names = items("queries is a list of names", queries)
        numbers = np.array([graph.variable_names.number(name) for name in names], dtype=np.int64)
    return numbers[np.sort(np.unique(numbers, return_index=True)[1])]


def impute(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    queries: Sequence[str] | None = None,
    *,
    theta: float = 0.0,
    unknown: str = "one",
    engine: str = "auto",
    memory_limit: int | None = None,
    progress: Progress | None = None,
    **filling: Any,
) -> Imputed:
    """Fill the unknown factors of a graph, find what looks alike, and answer questions about single variables.

    queries: the variables to ask about; by default those of individuals with unknown factors, the first hundred.
    theta and filling: as for `transfer`; unknown, engine and memory_limit: as for `query`.

    >>> graph = FactorGraph.build().variables(["A", "B", "C"]).factor("f1", ["A", "B"], [1, 2, 3, 4])
    >>> found = impute(graph.factor("f2", ["C", "B"], None).graph())
    >>> found, round(found.marginals["C"]["true"], 3)
    (<Imputed: 1 factor filled, 0 left unknown, 2 marginals>, 0.692)
    """
    if not isinstance(graph, FactorGraph):
        raise ModelError(f"impute takes a FactorGraph, not {type(graph).__name__}; ground a relational model first")
    chosen("unknown", unknown, UNKNOWN)
    text("the engine", engine)
    callback("progress", progress)
    observed = graph.evidence(evidence)
    moved = transfer(graph, theta, observed, **filling)
    settings = {key: filling[key] for key in ("commutative", "up_to_scale") if key in filling}
    colouring = colour(moved.graph, observed, factor_start=moved.factor_start, **settings, progress=progress)
    offered = None
    if queries is None:
        asked, offered = near_unknown(moved, observed, MOST_ASKED)
    else:
        asked = _numbers(graph, queries)
    answering = {"engine": engine, "memory_limit": memory_limit}
    marginals = request(moved, asked, observed, unknown, answering, progress)
    return Imputed(moved, observed, colouring, marginals, offered, unknown)
