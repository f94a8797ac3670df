"""Checks of a graph given as arrays, without a loop over factors; errors name the factor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lifagu.basics.arrays import Ints, first_places
from lifagu.basics.names import Names
from lifagu.errors import ModelError, listed
from lifagu.graph.tables import GivenTables, potential_fault

MOST_AXES = 60
CHUNK = 2**20  # factors that are looked at together


def check_ids(ids: Ints, low: int, high: int, what: str, of: str) -> None:
    """All ids must lie in low…high-1."""
    bad = (ids < low) | (ids >= high)
    if bad.any():
        place = int(np.argmax(bad))
        raise ModelError(
            f"{what}[{place}] is {ids[place]}, but there are {high} {of} (numbered from 0)"
        )


def check_offsets(offsets: Ints, length: int, what: str) -> None:
    """Offsets must start at 0, never fall, and end at the length of what they divide."""
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != length or (np.diff(offsets) < 0).any():
        raise ModelError(f"{what} must start at 0, never fall, and end at {length}")


def repeated_argument_error(factor: str, variable: str) -> ModelError:
    """The error for f(A, A)."""
    return ModelError(
        f"factor '{factor}' has the argument {variable} twice; "
        "give it once, with the diagonal of the table"
    )


def table_size_error(factor: str, given: int, arguments: Sequence[str], span: int) -> ModelError:
    """The error for a table whose size does not fit its arguments."""
    return ModelError(
        f"factor '{factor}' has {given} potentials but its arguments ({listed(arguments)}) "
        f"span {span} states; give {span}, or null if unknown"
    )


def check_arguments(scopes: Sequence[tuple[Ints, Ints]], variables: Names, factors: Names) -> None:
    """No factor may have the same variable twice among its arguments."""
    parts = (
        (rows[start : start + CHUNK], matrix[start : start + CHUNK])
        for rows, matrix in scopes
        for start in range(0, len(rows), CHUNK)
    )
    for rows, matrix in parts:
        ordered = np.sort(matrix, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if twice.any():
            row = int(np.argmax(twice))
            same = ordered[row][1:][ordered[row, 1:] == ordered[row, :-1]][0]
            raise repeated_argument_error(factors[int(rows[row])], variables[int(same)])


def check_tables(
    given: GivenTables,
    factor_given: Ints,
    scopes: Sequence[tuple[Ints, Ints]],
    sizes: Ints,
    variables: Names,
    factors: Names,
) -> None:
    """Potentials must be legal and as many as arguments span; sizes: of each variable's range.

    scopes: those of factors that have a table.
    """
    faulty = given.first_faulty()
    if faulty is not None:
        users = first_places(factor_given)
        used = faulty < len(users) and users[faulty] < len(factor_given)
        owner = f"factor '{factors[int(users[faulty])]}'" if used else f"table {faulty}"
        raise ModelError(f"{owner} has {potential_fault(given[faulty])}")
    for rows, matrix in scopes:
        if matrix.shape[1] > MOST_AXES and len(rows):
            raise ModelError(
                f"factor '{factors[int(rows[0])]}' has a table and {matrix.shape[1]} arguments, "
                f"more than the {MOST_AXES} a table may have; leave out those with a single value"
            )
        # beyond 2**63 no table could be given anyway
        span = np.prod(sizes[matrix].astype(np.float64), axis=1)
        tables = factor_given[rows]
        wrong = given.lengths[tables] != span
        if wrong.any():
            row = int(np.argmax(wrong))
            names = [variables[int(variable)] for variable in matrix[row]]
            raise table_size_error(
                factors[int(rows[row])], int(given.lengths[tables[row]]), names, int(span[row])
            )
