"""Which tables a folder holds, and the columns of those that make up a model."""

from __future__ import annotations

from dataclasses import dataclass

_INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
_NUMBERS = (*_INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")
# numbers and truth values are read as their text, as in JSON
_TEXTS = (*_INTEGERS, "VARCHAR", "BOOLEAN")


@dataclass(frozen=True)
class Sort:
    """What a column holds: in words, as DuckDB reads it, and the types it may have."""

    words: str
    read_as: str
    types: tuple[str, ...]
    alone: bool = True
    lists: bool = False

    def admits(self, given: str) -> bool:
        """Whether a column of this DuckDB type will do.

        >>> NUMBERS.admits("DECIMAL(4,1)[]"), ID.admits("VARCHAR")
        (True, False)
        """
        item = given.removesuffix("[]")
        wanted = self.lists if item != given else self.alone
        return wanted and item.partition("(")[0] in self.types


# also as floats: pandas makes them of columns with nulls
ID = Sort("whole numbers", "BIGINT", _NUMBERS)
TEXT = Sort("texts", "VARCHAR", _TEXTS)
LABELS = Sort("lists of texts", "VARCHAR[]", _TEXTS, alone=False, lists=True)
NAMES = Sort("texts or lists of texts", "VARCHAR", _TEXTS, lists=True)
NUMBERS = Sort("lists of numbers", "DOUBLE[]", _NUMBERS, alone=False, lists=True)
ONE_OR_MORE = Sort("numbers or lists of numbers", "DOUBLE[]", _NUMBERS, lists=True)

REQUIRED: dict[str, dict[str, Sort]] = {
    "variables": {"id": ID},
    "factors": {"id": ID, "table_id": ID},
    "arguments": {"factor_id": ID, "position": ID, "variable_id": ID},
    "tables": {"id": ID, "potentials": NUMBERS},
    "evidence": {"variable_id": ID},
}
OPTIONAL: dict[str, dict[str, Sort]] = {
    "variables": {"name": TEXT, "range": LABELS, "kind": TEXT, "individual": NAMES},
    "factors": {"name": TEXT, "support": ONE_OR_MORE, "given": NUMBERS, "prior": ONE_OR_MORE},
    "evidence": {"value": TEXT, "likelihood": NUMBERS},
}
MODEL = ("variables", "factors", "arguments", "tables")  # without which there is no model
LIFTED = ("domains", "relations", "atoms", "parfactors", "substitutions", "ground_factors")
# may stand beside it
RESULTS = ("variable_groups", "factor_groups", "quotient", "transfers", *LIFTED)
TABLES = (*MODEL, "evidence", *RESULTS)


def file_name(table: str) -> str:
    """The file that holds a table.

    >>> file_name("variables")
    'variables.parquet'
    """
    return f"{table}.parquet"
