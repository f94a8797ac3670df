"""The default way to fill, on an engine: what all agree on; what competes needs cohorts, in memory.

The same decision as in memory (`filling.agreement`), taken about types of factors.
"""

from __future__ import annotations

from lifagu.basics.arrays import Ints
from lifagu.errors import ModelError, Remedy
from lifagu.filling.agreement import competing
from lifagu.filling.result import Transfer
from lifagu.scale.engines.engine import Engine
from lifagu.scale.estimated_tables import estimated
from lifagu.scale.factor_types import Types, first_factors
from lifagu.scale.folder_contents import Given, names

MOST_NAMES = 5  # of factors in an error


def check_agreement(
    engine: Engine, given: Given, types: Types, moved: Transfer, keys: Ints
) -> None:
    """Refuse a folder in which cohorts would be asked, before anything is made of it.

    moved: between types, by agreement; keys[e]: what each argument of a type looks like to cohorts.
    """
    open_types, tables = competing(moved, keys, estimated(engine, given, types))
    if not len(open_types):
        return
    most, called = int(tables.max()), first_names(engine, given, types, open_types)
    what = "only estimates or tables from other places are there"
    if most > 1:
        what = f"{'up to ' if tables.min() < most else ''}{most} tables compete"
    raise ModelError(
        f"{given.folder}: {what} for the unknown factor{'s' if len(called) > 1 else ''} "
        f"{', '.join(called)}, and cohorts, which weigh them, work in memory only, "
        f"not on {engine.dialect.name}",
        remedy=Remedy.MEMORY_OR_RULE,
    )


def first_names(engine: Engine, given: Given, types: Types, chosen: Ints) -> list[str]:
    """The names of the first few factors of some types, the last with how many more there are."""
    count = int(types.size[chosen].sum())
    if not count:
        return []
    few = types.first[chosen[:MOST_NAMES]]  # the first factors are of these: each begins a type
    factors = first_factors(engine, few.tolist(), MOST_NAMES)
    shown = names(engine, given, "factors", factors)
    more = count - len(shown)
    return [*shown[:-1], f"{shown[-1]} and {more} more"] if more else shown
