"""Colour passing: which variables and which factors look alike from everywhere in the graph.

Kersting, Ahmadi and Natarajan (2009); Ahmadi, Kersting, Mladenov and Natarajan (2013). The result
is the coarsest stable partition. It is not the orbit partition: a group is a place to share work,
never a licence to copy an answer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lifagu.basics.arrays import Ints, as_ids, by_first_occurrence, connected_parts, group_rows
from lifagu.basics.inputs import callback, flag, instance
from lifagu.basics.kernel import loaded
from lifagu.basics.progress import Tell
from lifagu.errors import ModelError
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.graph.tables import GivenTables
from lifagu.likeness.argument_order import exchange
from lifagu.likeness.merging import scaled_tables
from lifagu.likeness.roles import factor_signatures, observations, variable_roles
from lifagu.symmetry.colour import compiled, reference, rounds


def colour(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    *,
    variable_start: Ints | None = None,
    factor_start: Ints | None = None,
    commutative: bool = False,
    up_to_scale: bool = False,
    positions: Ints | None = None,
    progress: Tell | None = None,
) -> Colouring:
    """Colour passing on a graph: groups of variables and factors that look alike.

    O(e log n) for e arguments.

    Parameters
    ----------
    graph : FactorGraph
        The graph to colour.
    evidence : Evidence or mapping, optional
        What was observed, variable → label.
    variable_start, factor_start : array of int, optional
        Start colours of your own, each 0 or more. By default variables start with (range, evidence)
        and factors with their table, unknown ones with one colour per class of equal surroundings.
    commutative : bool
        Arguments that may be swapped without changing the table count as one position, and tables
        that agree up to argument order as one table; start colours of known factors with such
        tables become one.
    up_to_scale : bool
        Tables that differ by a factor count as one.
    positions : array of int, optional
        The position that each argument sends, in place of its own.
    progress : callable, optional
        Called now and then with (done, total): how much of all possible splitting is over, so the
        last step may be a long one.

    Returns
    -------
    Colouring
        The coarsest stable one, numbered by first occurrence.

    Examples
    --------
    >>> graph = (
    ...     FactorGraph.build().variables(list("ABC"))
    ...     .factors({"f1": ["A", "B"], "f2": ["C", "B"]}, [1, 2, 3, 4]).graph()
    ... )
    >>> colour(graph).variable_colours.tolist()
    [0, 1, 0]
    """
    graph, own, factor_start = _exchanged(graph, factor_start, commutative, up_to_scale)
    sent = own if positions is None else _ids("positions", positions, len(graph.arguments))
    callback("progress", progress)
    start = _start_ids(graph, evidence, variable_start, factor_start)
    kernel = loaded()
    if kernel is not None:
        return compiled.refine(kernel, graph, start, sent, progress)
    return reference.refine(graph, _numbered(start), sent, progress)


def colour_rounds(
    graph: FactorGraph,
    evidence: EvidenceLike = None,
    *,
    variable_start: Ints | None = None,
    factor_start: Ints | None = None,
    commutative: bool = False,
    up_to_scale: bool = False,
) -> Iterator[Colouring]:
    """Colour passing round by round, for showing.

    A round costs O(e); a path needs as many rounds as it is long, so use `colour` for answers.

    Parameters
    ----------
    graph, evidence, variable_start, factor_start, commutative, up_to_scale
        As in `colour`.

    Returns
    -------
    iterator of Colouring
        The start colours, then each round's, until nothing changes.

    Examples
    --------
    >>> graph = (
    ...     FactorGraph.build().variables(list("ABC"))
    ...     .factors({"f1": ["A", "B"], "f2": ["C", "B"]}, [1, 2, 3, 4]).graph()
    ... )
    >>> [each.variable_colours.tolist() for each in colour_rounds(graph)]
    [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    """
    graph, positions, factor_start = _exchanged(graph, factor_start, commutative, up_to_scale)
    start = _numbered(_start_ids(graph, evidence, variable_start, factor_start))
    return rounds.colour_rounds(graph, start, positions)


def _exchanged(
    graph: FactorGraph, factor_start: Ints | None, commutative: bool, up_to_scale: bool
) -> tuple[FactorGraph, Ints | None, Ints | None]:
    """The graph to colour, positions that arguments send if not their places, factor start."""
    instance("colour", graph, FactorGraph)
    flag("commutative", commutative)
    flag("up_to_scale", up_to_scale)
    if not commutative:
        if up_to_scale and factor_start is None:
            tables = scaled_tables(graph.tables)
            graph = graph.refilled(GivenTables(tables.values, tables.offsets), graph.factor_table)
        return graph, None, factor_start
    exchanged = exchange(graph, up_to_scale=up_to_scale)
    if factor_start is not None:
        start = _start("factor_start", factor_start, graph.factor_table)
        factor_start = _joined(start, exchanged.graph.factor_table)
    return exchanged.graph, exchanged.positions, factor_start


def _joined(start: Ints, factor_table: Ints) -> Ints:
    """Start colours in which known factors with equal tables, and who shared theirs, have one."""
    known = np.flatnonzero(factor_table >= 0)
    colours = int(start.max(initial=-1)) + 1
    tables = int(factor_table.max(initial=-1)) + 1
    return connected_parts(colours + tables, start[known], colours + factor_table[known])[start]


def _start_ids(
    graph: FactorGraph,
    evidence: EvidenceLike,
    variable_start: Ints | None,
    factor_start: Ints | None,
) -> tuple[Ints, Ints]:
    """Colours before the first round: (range, evidence) of variables, the table of factors."""
    variables, factors = graph.variable_range, graph.factor_table
    observed = graph.evidence(evidence)
    if observed:
        seen = observations(graph, observed)
        variables = variables * (int(seen.max()) + 1) + seen
    if len(graph.unknown) and factor_start is None:
        classes = factor_signatures(graph.offsets, variable_roles(graph)[graph.arguments])
        factors = np.where(factors < 0, len(graph.tables) + classes, factors)
    return (
        _start("variable_start", variable_start, variables),
        _start("factor_start", factor_start, factors),
    )


def _start(name: str, given: Ints | None, default: Ints) -> Ints:
    return default if given is None else group_rows(_ids(name, given, len(default))[:, None])


def _ids(name: str, given: Ints, count: int) -> Ints:
    ids = as_ids(given, name)
    if len(ids) != count or (ids < 0).any():
        raise ModelError(f"{name} must hold {count} integers, each 0 or more")
    return ids


def _numbered(start: tuple[Ints, Ints]) -> Colouring:
    variables, factors = map(by_first_occurrence, start)
    return Colouring(variables, factors)
