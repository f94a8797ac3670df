"""pyAgrum: Bayesian networks and Markov random fields in, random fields out.

pyAgrum keeps a table with its first variable fastest, so its arrays have the axes of its names
backwards; every table is transposed on its way in and out.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import MissingExtraError, ModelError
from lifagu.formats.merged import one_table_per_scope
from lifagu.graph.factor_graph import FactorGraph

if TYPE_CHECKING:
    import pyagrum


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


def network_parts(path: str) -> tuple[dict[str, list[str]], list[tuple[list[str], Floats]]]:
    """Of a network in a file: the labels of each variable, and tables with their arguments.

    The first argument of each is the variable whose conditional it is.
    """
    peer = _pyagrum("read_network")
    with _silenced(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.endswith(".o3prm"):  # recent versions read it only after this
            import pyagrum.prm  # noqa: F401
        network = peer.loadBN(path)
    variables = [network.variable(node) for node in sorted(network.nodes())]
    tensors = [tensor for _, tensor in _conditionals(network)]
    return (
        {each.name(): list(each.labels()) for each in variables},
        [(list(each.names), np.array(each.toarray()).transpose()) for each in tensors],
    )


@contextmanager
def _silenced() -> Iterator[None]:
    """Without what pyAgrum's readers write to the terminal, past Python."""
    kept = {}
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        try:
            for each in (1, 2):
                with suppress(OSError):  # it is closed
                    kept[each] = os.dup(each)
                    os.dup2(nowhere.fileno(), each)
            yield
        finally:
            for each, was in kept.items():
                os.dup2(was, each)
                os.close(was)


def _pyagrum(what: str) -> Any:
    """The package, without deprecation warnings of its C parts: as errors, they end the process."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import pyagrum

            _ = pyagrum.MarkovRandomField  # a C part of its own, loaded on first use
    except ImportError:
        raise MissingExtraError("pyagrum", what) from None
    return pyagrum


def _graph(model: Any, tensors: Iterable[tuple[str, Any]]) -> FactorGraph:
    """A graph of the model's variables and a factor for each tensor, by name."""
    builder = FactorGraph.build()
    for node in sorted(model.nodes()):
        variable = model.variable(node)
        builder.variable(variable.name(), variable.labels())
    for name, tensor in tensors:
        # axes in the order of the names; a copy, as the tensor dies with its model
        table = np.array(tensor.toarray(), dtype=np.float64).transpose()
        builder.factor(name, tensor.names, table)
    return builder.graph()


def _conditionals(network: Any) -> Iterator[tuple[str, Any]]:
    """For each variable X of a network, P(X) and its tensor: X first, its parents behind it."""
    for node in sorted(network.nodes()):
        yield f"P({network.variable(node).name()})", network.cpt(node)
