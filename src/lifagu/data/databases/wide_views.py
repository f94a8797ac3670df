"""Names of results, and wide tables as views of the long one, in words that all databases share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from lifagu.basics.columns import Columns, Wide
from lifagu.data.databases.catalogue import PREFIX
from lifagu.data.duck import literal, quoted

BASE = "marginals"  # the long table
WIDE = f"{PREFIX}wide_"  # what the names of views begin with that earlier results have left


def result_name(name: str) -> str:
    """What a table of results is called in a database.

    >>> result_name("marginals"), result_name("lifagu_marginals")
    ('lifagu_marginals', 'lifagu_marginals')
    """
    return f"{PREFIX}{name.removeprefix(PREFIX)}"


def is_view(columns: Columns, tables: Mapping[str, Columns]) -> TypeGuard[Wide]:
    """Whether a table is a wide one, and the long one behind it is among the tables."""
    return isinstance(columns, Wide) and result_name(BASE) in map(result_name, tables)


def wide_view(wide: Wide) -> str:
    """One row for each individual; of labels that are equally likely the first is the likeliest."""
    who = ", ".join(map(quoted, ("variable", *wide.who)))
    shares = ", ".join(
        f"max(CASE WHEN value = {literal(label)} THEN probability END) AS {quoted(title)}"
        for label, title in wide.labels.items()
    )
    likeliest = " ".join(
        f"WHEN highest = {quoted(title)} THEN {literal(label)}"
        for label, title in wide.labels.items()
    )
    titles = ", ".join(map(quoted, wide.labels.values()))
    return f"""
        SELECT {who}, {titles}, CASE {likeliest} END AS most_probable, highest AS probability
        FROM (
            SELECT {who}, {shares}, max(probability) AS highest
            FROM {result_name(BASE)}
            WHERE relation = {literal(wide.relation)}
            GROUP BY {who}
        ) AS by_label
        """
