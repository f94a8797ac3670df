"""The section `parameters` of a template: declared values, and others that were given instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifagu.errors import listed
from lifagu.formats.json_lines import at
from lifagu.formats.json_values import object_at
from lifagu.relational.parameters import (
    ParameterValue,
    check_known,
    check_name,
    checked_value,
    named_in,
    value_like,
)

PARAMETERS = "parameters"


def parameters_of(
    whole: Mapping[str, Any], place: str, given: Mapping[str, object]
) -> dict[str, ParameterValue]:
    """The value of each parameter that a file declares; given: what is to be taken instead."""
    declared: dict[str, ParameterValue] = {}
    for name, value in object_at(whole.get(PARAMETERS, {}), place, PARAMETERS).items():
        with at(place, PARAMETERS, name):
            check_name(name)
            declared[name] = checked_value(value)
    with at(place, *((PARAMETERS,) if PARAMETERS in whole else ())):
        known = f"declared are {listed(declared)}" if declared else "the file declares none"
        check_known(given, declared, known)
    for name, value in given.items():
        with at(place, PARAMETERS, name):
            declared[name] = value_like(declared[name], value)
    return declared


def check_query(sql: str, declared: Mapping[str, ParameterValue]) -> list[str]:
    """The parameters that a query names; refuse one that was not declared.

    Where a file declares none, a colon is whatever it is to the database.
    """
    if not declared:
        return []
    named = named_in(sql)
    check_known(
        named, declared, f'add it to "{PARAMETERS}", or put a space behind a colon that names none'
    )
    return named
