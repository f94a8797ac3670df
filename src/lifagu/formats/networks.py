"""Bayesian-network files, read by pyAgrum."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.errors import FormatError, MissingExtraError, ModelError, Remedy, TooLargeError
from lifagu.formats.budget import ENTRY, LABEL, Budget
from lifagu.formats.files import NETWORKS, PathLike, ending, read_within
from lifagu.formats.with_pyagrum import network_parts
from lifagu.graph.factor_graph import FactorGraph

_ROW_SUM_TOLERANCE = 0.01


def read_network(
    path: PathLike, text: str | None = None, budget: Budget | None = None
) -> FactorGraph:
    """Return the Bayesian network in a file (see NETWORKS; also with ``.gz``) as a factor graph.

    pyAgrum reads it, in single precision for most formats; such a number is taken as the shortest
    decimal it stands for, so that 0.4 in the file is 0.4 in the table. Refused are broken files,
    and tables of which a row is missing or does not sum to 1 (within 0.01), which the reader would
    leave as they are. Object-oriented ``.o3prm`` files find what they import next to themselves, so
    not when compressed. text and budget: as `read_within` gives them.

    >>> lines = ["network n {}", "variable A { type discrete[2] { no, yes }; }"]
    >>> lines.append("probability (A) { table 0.4, 0.6; }")
    >>> with temporary_folder("small") as folder:
    ...     path = folder / "small.bif"
    ...     _ = path.write_text(" ".join(lines))
    ...     graph = read_network(path)
    >>> graph.factor("P(A)").table.tolist()
    [0.4, 0.6]
    """
    if find_spec("pyagrum") is None:
        raise MissingExtraError("pyagrum", "read_network")
    kind = ending(path)
    if kind not in NETWORKS:
        raise FormatError(
            f"{path}: not the ending of a network file; {', '.join(NETWORKS)} are read"
        )
    if text is None or budget is None:
        text, budget = read_within(path)
    with temporary_folder("network") as folder:
        place = Path(path).absolute()
        if place.suffix.lower() == ".gz" or kind == ".xmlbif":
            place = folder / f"network{'.bifxml' if kind == '.xmlbif' else kind}"
            place.write_text(text, encoding="utf-8")
        try:
            variables, tables = network_parts(str(place))
        except Exception as error:  # pyAgrum's readers raise many kinds, not all of one tree
            if isinstance(error, MemoryError) or "bad_alloc" in str(error):
                what = "reading it takes pyAgrum more memory than there is"
                raise TooLargeError(f"{path}: {what}", remedy=Remedy.MORE_MEMORY) from None
            raise FormatError(_complaint(path, str(error))) from None
    values, entries = sum(map(len, variables.values())), sum(each.size for _, each in tables)
    what = f"the network has {values} values and {entries} potentials"
    budget.take(lambda: str(path), what, LABEL * values + ENTRY * entries)
    builder = FactorGraph.build()
    for name, labels in variables.items():
        builder.variable(name, labels)
    try:
        for arguments, table in tables:  # the conditional of a variable X is called P(X)
            name = f"P({arguments[0]})"
            builder.factor(name, arguments, _as_in_the_file(name, table))
        return builder.graph()
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def _as_in_the_file(name: str, table: Floats) -> Floats:
    """The table of a conditional that was read from a file, its numbers as the file has them."""
    sums = table.sum(axis=0)
    if (np.abs(sums - 1) > _ROW_SUM_TOLERANCE).any():
        wrong = sums.flat[np.argmax(np.abs(sums - 1))]
        raise ModelError(
            f"a row of {name} sums to {wrong:.6g}; give one probability per label, together 1"
        )
    with np.errstate(under="ignore"):
        single = table.astype(np.float32)
    return single.astype(str).astype(np.float64) if np.array_equal(single, table) else table


def _complaint(path: PathLike, text: str) -> str:
    """One line, with its number where there is one, from what a reader says over several lines.

    >>> _complaint("x.bif", "Fatal error: /t/x.bif:23: 45 : error : Syntax error : ; expected")
    'x.bif:23: Syntax error : ; expected'
    """
    if found := re.search(r":(\d+): *\d+ : error : *(.+)", text):
        return f"{path}:{found[1]}: {found[2].strip()}"
    # the readers of XML; line 0 is no line
    if found := re.search(r"^Description: *(.+)", text, re.MULTILINE):
        line = re.search(r"^Line: *([1-9]\d*)", text, re.MULTILINE)
        return f"{path}{f':{line[1]}' if line else ''}: {found[1].strip()}"
    first = next(iter(text.splitlines()), "") or "the reader gives no reason"
    return f"{path}: {first.removeprefix('[pyAgrum] ')}"
