"""Transfer, colour passing and answers where the data is: statements for any engine, few and plain."""

from __future__ import annotations

from lifagu.sql.scale.handing import handing_over
from lifagu.sql.scale.homes import has_individuals, split_by_home
from lifagu.sql.scale.imputing import find_near, write_imputed
from lifagu.sql.scale.intake import (
    Given,
    check_individuals,
    check_names,
    declared_kinds,
    declared_ranges,
    names,
    numbers_of,
    take_in,
)
from lifagu.sql.scale.journal import Journal
from lifagu.sql.scale.lent import find_lent, lent_first, lent_to, lent_within, register_lent
from lifagu.sql.scale.observing import Observations, observe
from lifagu.sql.scale.output import Findings, largest_groups, number_groups, register_columns, write_results
from lifagu.sql.scale.parts import find_parts
from lifagu.sql.scale.rounds import Sizes, State, pass_colours
from lifagu.sql.scale.types import Looks, Types, find_looks, find_types, has_unknown

__all__ = [
    "Findings",
    "Given",
    "Journal",
    "Looks",
    "Observations",
    "Sizes",
    "State",
    "Types",
    "check_individuals",
    "check_names",
    "declared_kinds",
    "declared_ranges",
    "find_lent",
    "find_looks",
    "find_near",
    "find_parts",
    "find_types",
    "handing_over",
    "has_individuals",
    "has_unknown",
    "largest_groups",
    "lent_first",
    "lent_to",
    "lent_within",
    "names",
    "number_groups",
    "numbers_of",
    "observe",
    "pass_colours",
    "register_columns",
    "register_lent",
    "split_by_home",
    "take_in",
    "write_imputed",
    "write_results",
]
