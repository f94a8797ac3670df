"""Which way holes were filled, counted and in words: from candidates that agree, or by cohorts."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.words import counted
from lifagu.filling.result import Transfer

USED = {"average": "summed over", "best": "the likeliest each"}


def by_cohorts(moved: Transfer, factors: Ints) -> int:
    """How many of some filled factors cohorts filled."""
    return int(np.isin(factors, moved.by_cohorts).sum())


def filled_in_words(total: int, cohorts: int, way: str) -> str:
    """Of so many filled tables, how many come from candidates that agree, how many from cohorts.

    way: how the tables of cohorts are used, if that is to be said.

    >>> filled_in_words(136, 108, "average"), filled_in_words(3, 0, "average")
    ('28 all agree, 108 by cohorts, summed over', 'all agree')
    """
    if not cohorts:
        return "all agree"
    agreed = [f"{total - cohorts} all agree"] if total > cohorts else []
    used = [USED[way]] if way else []
    return ", ".join([*agreed, f"{cohorts} by cohorts", *used])


def filled_by(moved: Transfer) -> str:
    """The same of all filled factors of a transfer; nothing where the rule is another one."""
    factors = moved.transferred
    if not len(factors) or not moved.filling.uses_cohorts:
        return ""
    words = filled_in_words(len(factors), by_cohorts(moved, factors), moved.way)
    return f"{counted(len(factors), 'table')}: {words}"
