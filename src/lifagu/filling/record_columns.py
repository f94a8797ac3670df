"""The records of a transfer by column: what is alike is worded once, however many there are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lifagu.basics.arrays import Floats, Ints, first_places
from lifagu.basics.columns import Column, Lists, Nullable, name_column, texts
from lifagu.basics.names import Names
from lifagu.filling.result import Transfer


@dataclass(frozen=True, eq=False)
class RecordColumns:
    """What `Transfer.record` says of n unknown factors, by column; competitors are left out.

    factors[n], donors[n]: numbers of factors, -1 without a donor; steps: -1 for null;
    share, posterior: nan for null.
    """

    factors: Ints
    donors: Ints
    status: NDArray[Any]
    candidates: Ints
    agreeing: Ints
    share: Floats
    posterior: Floats
    tie: NDArray[np.bool_]
    alignment: Lists
    ambiguous_alignment: NDArray[np.bool_]
    ambiguous_assignment: NDArray[np.bool_]
    unit: NDArray[Any]
    steps: Ints
    theta: Floats
    equality: NDArray[Any]
    members: Ints
    tables: Ints
    fallback: NDArray[np.bool_]
    way: NDArray[Any]
    guess: NDArray[np.bool_]
    reason: NDArray[Any]

    def by_number(self) -> dict[str, Column]:
        """The columns to be written, factors by number."""
        return self._columns("factor_id", self.factors, "donor_id", Nullable(self.donors))

    def by_name(self, names: Names) -> dict[str, Column]:
        """The columns to be written, factors by name."""
        factors, donors = name_column(names, self.factors), name_column(names, self.donors)
        return self._columns("factor", factors, "donor", donors)

    def _columns(
        self, factor: str, factors: Column, donor: str, donors: Column
    ) -> dict[str, Column]:
        ids = {factor: factors, "status": self.status, donor: donors}
        nullable = {"steps": Nullable(self.steps)}
        every = {field.name: getattr(self, field.name) for field in fields(self)} | nullable
        return ids | {name: every[name] for name in every if name not in ("factors", "donors")}


def record_columns(moved: Transfer, posterior: Floats | None = None) -> RecordColumns:
    """The records of a transfer, in input order; near-linear.

    Python only for each group of records that are alike. posterior[n]: how likely the table of each
    unknown factor is once observations count, by default of those alone that these do not move.
    """
    groups = moved.alike
    records = [moved.record[place] for place in first_places(groups).tolist()]

    def column(field: str, kind: DTypeLike) -> NDArray[Any]:
        return np.array([getattr(record, field) for record in records], dtype=kind)[groups]

    def number(field: str) -> Ints:
        found = [getattr(record, field) for record in records]
        return np.array([-1 if each is None else each for each in found], dtype=np.int64)[groups]

    def words(field: str) -> NDArray[Any]:
        return texts([getattr(record, field) for record in records], groups)

    donors, alignment = _loans(moved)
    return RecordColumns(
        factors=moved.original.unknown,
        donors=donors,
        status=words("status"),
        candidates=number("candidates"),
        agreeing=number("agreeing"),
        share=moved.shares,
        posterior=moved.settled_posteriors if posterior is None else posterior,
        tie=column("tie", np.bool_),
        alignment=alignment,
        ambiguous_alignment=column("ambiguous_alignment", np.bool_),
        ambiguous_assignment=column("ambiguous_assignment", np.bool_),
        unit=words("unit"),
        steps=number("steps"),
        theta=column("theta", np.float64),
        equality=words("equality"),
        members=number("members"),
        tables=number("tables"),
        fallback=column("fallback", np.bool_),
        way=words("way"),
        guess=column("guess", np.bool_),
        reason=words("reason"),
    )


def _loans(moved: Transfer) -> tuple[Ints, Lists]:
    """For each unknown factor its donor, -1 without one, and the alignment of its arguments."""
    unknown, offsets = moved.original.unknown, moved.original.offsets
    place = np.full(len(moved.original.factor_names), -1, dtype=np.int64)
    place[unknown] = np.arange(len(unknown))
    donors = np.full(len(unknown), -1, dtype=np.int64)
    lengths = np.zeros(len(unknown), dtype=np.int64)
    loans = list(moved.loans())
    for receivers, lenders, _ in loans:
        donors[place[receivers]] = lenders
        lengths[place[receivers]] = np.diff(offsets)[receivers]
    ends = np.cumsum(lengths)
    alignment = np.zeros(int(lengths.sum()), dtype=np.int64)
    for receivers, _, order in loans:
        start = (ends - lengths)[place[receivers]]
        alignment[start[:, None] + np.arange(order.shape[1])] = order
    return donors, Lists(np.concatenate(([0], ends)), alignment)
