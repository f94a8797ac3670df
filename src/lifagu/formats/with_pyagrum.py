"""pyAgrum: Bayesian networks and Markov random fields in, random fields out, and its files.

pyAgrum keeps a table with its first variable fastest, so its arrays have the axes of its names
backwards; every table is transposed on its way in and out.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.basics.temporary_folders import temporary_folder
from lifagu.errors import FormatError, MissingExtraError, ModelError
from lifagu.formats.files import NETWORKS, PathLike, ending, read_text
from lifagu.formats.merged import one_table_per_scope
from lifagu.graph.factor_graph import FactorGraph

if TYPE_CHECKING:
    import pyagrum

_ROW_SUM_TOLERANCE = 0.01


def from_pyagrum(model: pyagrum.BayesNet | pyagrum.MarkovRandomField) -> FactorGraph:
    """Return the factor graph of a pyAgrum BayesNet or MarkovRandomField.

    Cost: linear in the potentials.

    Parameters
    ----------
    model
        A ``pyagrum.BayesNet`` or ``pyagrum.MarkovRandomField``.

    Returns
    -------
    FactorGraph
        Names and labels in pyAgrum's order; labels of numeric variables are their texts. The
        conditional table of a network's variable X becomes the factor ``P(X)`` with the arguments X
        and its parents; the tables of a random field become ``f0``, ``f1``, … in the order of their
        variables, as pyAgrum keeps none.

    Examples
    --------
    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> graph = build.factor("f", ["B", "A"], [[1, 2], [3, 4]]).graph()
    >>> from_pyagrum(to_pyagrum(graph)).factor("f0")
    Factor(name='f0', arguments=('B', 'A'), table=array([[1., 2.],
           [3., 4.]]), support=None)
    """
    peer = _pyagrum("from_pyagrum")
    if isinstance(model, peer.BayesNet):
        return _graph(model, _conditionals(model))
    if isinstance(model, peer.MarkovRandomField):
        tensors = (model.factor(scope) for scope in sorted(model.factors(), key=sorted))
        return _graph(model, ((f"f{place}", tensor) for place, tensor in enumerate(tensors)))
    raise ModelError(
        "from_pyagrum takes a pyagrum.BayesNet or a pyagrum.MarkovRandomField, "
        f"not {type(model).__name__}"
    )


def to_pyagrum(graph: FactorGraph) -> pyagrum.MarkovRandomField:
    """Return a pyAgrum MarkovRandomField with the same variables, labels, distribution and log Z.

    Names of factors, kinds and individuals have no place there.

    Parameters
    ----------
    graph
        A factor graph without unknown factors. Products of its tables that plain numbers do not
        hold are refused; pyAgrum itself multiplies plain numbers when it is asked.

    Returns
    -------
    pyagrum.MarkovRandomField
        A random field holds one table per set of variables, so tables of factors on the same
        variables are multiplied. Factors without arguments are multiplied into the first table
        (only in a graph without variables there is none, and they are dropped), and a variable in
        no factor gets a table of ones, as pyAgrum cannot answer about it otherwise.

    Examples
    --------
    >>> build = FactorGraph.build().variables(["A", "B"])
    >>> field = to_pyagrum(build.factor("f", ["A"], [1, 3]).factor("g", [], [2]).graph())
    >>> field.factor({"A"}).tolist(), field.factor({"B"}).tolist()
    ([2.0, 6.0], [1.0, 1.0])
    """
    peer = _pyagrum("to_pyagrum")
    tables = one_table_per_scope(graph, "to_pyagrum")
    field = peer.MarkovRandomField()
    for variable in graph.variables:
        field.add(peer.LabelizedVariable(variable.name, variable.name, list(variable.range)))
    for arguments, table in tables:
        field.addFactor(list(arguments))[:] = np.ascontiguousarray(table.transpose())
    return field


def read_network(path: PathLike) -> FactorGraph:
    """Return the Bayesian network in a file (see NETWORKS; also with ``.gz``) as a factor graph.

    pyAgrum reads it, in single precision for most formats; such a number is taken as the shortest
    decimal it stands for, so that 0.4 in the file is 0.4 in the table. Refused are broken files,
    and tables of which a row is missing or does not sum to 1 (within 0.01), which the reader would
    leave as they are. Object-oriented ``.o3prm`` files find what they import next to themselves, so
    not when compressed.

    >>> lines = ["network n {}", "variable A { type discrete[2] { no, yes }; }"]
    >>> lines.append("probability (A) { table 0.4, 0.6; }")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.bif"
    ...     _ = path.write_text(" ".join(lines))
    ...     graph = read_network(path)
    >>> graph.factor("P(A)").table.tolist()
    [0.4, 0.6]
    """
    peer = _pyagrum("read_network")
    network = _load(peer, path)
    try:
        return _graph(network, _conditionals(network), _as_in_the_file)
    except ModelError as error:
        raise FormatError(f"{path}: {error}") from None


def _pyagrum(what: str) -> Any:
    """The package, without deprecation warnings of its C parts: as errors, they end the process."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import pyagrum

            _ = pyagrum.MarkovRandomField  # a C part of its own, loaded on first use
            with suppress(ImportError):
                import pyagrum.prm  # recent versions read .o3prm only after this
    except ImportError:
        raise MissingExtraError("pyagrum", what) from None
    return pyagrum


def _graph(
    model: Any,
    tensors: Iterable[tuple[str, Any]],
    corrected: Callable[[str, Floats], Floats] = lambda _, table: table,
) -> FactorGraph:
    """A graph of the model's variables and a factor for each tensor, by name."""
    builder = FactorGraph.build()
    for node in sorted(model.nodes()):
        variable = model.variable(node)
        builder.variable(variable.name(), variable.labels())
    for name, tensor in tensors:
        # axes in the order of the names; a copy, as the tensor dies with its model
        table = np.array(tensor.toarray(), dtype=np.float64).transpose()
        builder.factor(name, tensor.names, corrected(name, table))
    return builder.graph()


def _conditionals(network: Any) -> Iterator[tuple[str, Any]]:
    """For each variable X of a network, P(X) and its tensor: X first, its parents behind it."""
    for node in sorted(network.nodes()):
        yield f"P({network.variable(node).name()})", network.cpt(node)


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


def _load(peer: Any, path: PathLike) -> Any:
    """The network in a file, as pyAgrum has it."""
    kind = ending(path)
    if kind not in NETWORKS:
        raise FormatError(
            f"{path}: not the ending of a network file; {', '.join(NETWORKS)} are read"
        )
    text = read_text(path)  # first of all, as pyAgrum crashes on a folder
    with temporary_folder("network") as folder:
        place = Path(path)
        if place.suffix.lower() == ".gz" or kind == ".xmlbif":
            place = folder / f"network{'.bifxml' if kind == '.xmlbif' else kind}"
            place.write_text(text, encoding="utf-8")
        try:
            with _quiet() if kind == ".dsl" else nullcontext():
                return peer.loadBN(str(place))
        except Exception as error:  # its readers raise many kinds, not all of one tree
            raise FormatError(_complaint(path, str(error))) from None


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


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing on standard output: the reader of .dsl writes there, past Python."""
    try:
        kept = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
