"""What a transfer fills and says, compared piece by piece."""

import numpy as np

from lifagu.filling.record import Record
from lifagu.filling.record_columns import record_columns


def check_columns(moved):
    """All records by column say what they say one by one."""
    columns = record_columns(moved).by_number()
    alignment, names = columns["alignment"], moved.original.factor_names
    assert {"factor_id", "donor_id", *columns} == {
        "factor_id",
        "donor_id",
        "reason",
        *Record.__annotations__,
    } - {*("factor", "donor", "competing", "owner")}
    for row, record in enumerate(moved.record):
        assert names[columns["factor_id"][row]] == record.factor
        donor = columns["donor_id"].numbers[row]
        assert (None if donor < 0 else names[donor]) == record.donor
        places = alignment.values[alignment.offsets[row] : alignment.offsets[row + 1]]
        assert tuple(places) == (record.alignment or ())
        assert columns["steps"].numbers[row] == (record.steps or -1)
        for field in ("share", "posterior"):
            told = getattr(record, field)
            assert columns[field][row] == told or (np.isnan(columns[field][row]) and told is None)
        for field in columns.keys() - {
            "factor_id",
            "donor_id",
            "alignment",
            "steps",
            "share",
            "posterior",
        }:
            assert columns[field][row] == getattr(record, field), field


def assert_same_factors(first, second):
    for mine, theirs in zip(first.factors, second.factors, strict=True):
        assert (mine.name, mine.arguments) == (theirs.name, theirs.arguments)
        assert (mine.table is None) == (theirs.table is None)
        assert mine.table is None or (mine.table == theirs.table).all()
