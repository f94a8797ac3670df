"""Peers keep the distribution: pyAgrum, pgmpy and networkx, against their own answers."""

from __future__ import annotations

import gzip
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifagu import FactorGraph, log_partition, queries
from lifagu.errors import FormatError, MissingExtraError, ModelError
from lifagu.formats import files
from lifagu.formats.networks import read_network
from lifagu.formats.with_networkx import to_networkx
from lifagu.formats.with_pgmpy import from_pgmpy, to_pgmpy
from lifagu.formats.with_pyagrum import from_pyagrum, to_pyagrum

# pyAgrum's C parts and parts of pgmpy warn on import; pyAgrum crashes if that raises
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pgmpy
    import pyagrum
    from pgmpy.factors.discrete import DiscreteFactor, TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork, DiscreteMarkovNetwork
    from pgmpy.models import FactorGraph as PgmpyFactorGraph
    from pgmpy.readwrite import BIFReader
    from pyagrum import MarkovRandomField

BUNDLED = Path(pgmpy.__file__).parent / "utils" / "example_models"
NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "insurance", "alarm"]
SMALL = """network n {}
variable A { type discrete[2] { no, yes }; }
variable B { type discrete[3] { x, y, z }; }
probability (A) { table 0.4, 0.6; }
probability (B | A) { (no) 0.1, 0.2, 0.7; (yes) 0.3, 0.3, 0.4; }
"""
a_seed = st.integers(0, 2**32 - 1)


def random_graph(seed: int) -> FactorGraph:
    """Ranges of 1 to 3 labels in mixed orders, zeros, equal scopes, constants, a lone variable."""
    rng = np.random.default_rng(seed)
    builder = FactorGraph.build()
    names = [f"V{number}" for number in range(rng.integers(2, 6))]
    sizes = {name: int(rng.choice([1, 2, 3, 3])) for name in names}
    for name in names:
        builder.variable(name, rng.permutation(["low", "mid", "high"][: sizes[name]]).tolist())
    builder.variable("alone", ["b", "a", "c"])
    possible = {name: rng.integers(size) for name, size in sizes.items()}  # keeps log Z finite
    for number in range(rng.integers(1, 6)):
        scope = rng.permutation(names)[: rng.integers(0, 4)].tolist()
        shape = [sizes[name] for name in scope]
        table = np.array(rng.random(shape) * (rng.random(shape) > 0.2))
        table[tuple(possible[name] for name in scope)] = 1.5
        builder.factor(f"f{number}", scope, table).factor(f"equal{number}", scope, table)
        turned = rng.permutation(len(scope)).tolist()
        builder.factor(
            f"turned{number}", [scope[axis] for axis in turned], table.transpose(turned) + 0.5
        )
    return builder.graph()


def marginals(graph: FactorGraph) -> dict[str, dict[str, float]]:
    answers = queries(graph, list(graph.variable_names))
    return {answer.variables[0]: dict(answer) for answer in answers}


def assert_same(
    ours: dict[str, dict[str, float]], theirs: dict[str, dict[str, float]], tolerance: float
) -> None:
    assert ours.keys() == theirs.keys()
    for name, expected in ours.items():
        assert theirs[name] == pytest.approx(expected, abs=tolerance), name


def pyagrum_marginals(model: pyagrum.BayesNet | MarkovRandomField) -> dict[str, dict[str, float]]:
    field = isinstance(model, MarkovRandomField)
    inference = pyagrum.ShaferShenoyMRFInference(model) if field else pyagrum.LazyPropagation(model)
    inference.makeInference()
    found = {}
    for name in model.names():
        # other variables of one label may be left in it
        posterior = inference.posterior(name).toarray().reshape(-1)
        found[name] = dict(zip(model.variable(name).labels(), posterior.tolist(), strict=True))
    return found


def pgmpy_marginals(model: DiscreteMarkovNetwork, order: str) -> dict[str, dict[str, float]]:
    found = {}
    for name in model.nodes():
        result = VariableElimination(model).query(
            [name], elimination_order=order, show_progress=False
        )
        result.normalize()
        found[name] = dict(zip(result.state_names[name], result.values.tolist(), strict=True))
    return found


# ---- there and back


@pytest.mark.parametrize(("there", "back"), [(to_pyagrum, from_pyagrum), (to_pgmpy, from_pgmpy)])
@settings(max_examples=25)
@given(seed=a_seed)
def test_round_trip_keeps_variables_distribution_and_log_partition(there, back, seed):
    graph = random_graph(seed)
    returned = back(there(graph))
    assert list(returned.variables) == list(graph.variables)
    assert log_partition(returned) == pytest.approx(log_partition(graph), abs=1e-9)
    everything = tuple(graph.variable_names)
    ours, theirs = (queries(each, [everything])[0].probabilities for each in (graph, returned))
    np.testing.assert_allclose(theirs, ours, atol=1e-12)


@settings(max_examples=25)
@given(seed=a_seed)
def test_pyagrum_answers_as_we_do(seed):
    graph = random_graph(seed)
    assert_same(marginals(graph), pyagrum_marginals(to_pyagrum(graph)), 1e-9)


@pytest.mark.parametrize("order", ["greedy", "MinFill"])
@settings(max_examples=15)
@given(seed=a_seed)
def test_pgmpy_answers_as_we_do(order, seed):
    graph = random_graph(seed)
    assert_same(marginals(graph), pgmpy_marginals(to_pgmpy(graph), order), 1e-9)


@settings(max_examples=15)
@given(seed=a_seed)
def test_pgmpy_has_our_partition_function(seed):
    graph = random_graph(seed)
    assert np.log(to_pgmpy(graph).get_partition_function()) == pytest.approx(
        log_partition(graph), abs=1e-9
    )


def test_pgmpy_answers_with_evidence_as_we_do():
    graph = FactorGraph.build().variable("A", ["x", "y", "z"]).variable("B", ["u", "v"])
    graph = graph.factors({"f": ["A", "B"], "g": ["A", "B"]}, [[1, 2], [3, 4], [5, 6]]).graph()
    result = VariableElimination(to_pgmpy(graph)).query(
        ["A"], evidence={"B": "v"}, show_progress=False
    )
    (expected,) = queries(graph, ["A"], evidence={"B": "v"})
    np.testing.assert_allclose(result.values / result.values.sum(), expected.probabilities)


@pytest.mark.parametrize("there", [to_pyagrum, to_pgmpy])
def test_a_graph_without_variables_is_an_empty_model(there):
    back = from_pyagrum if there is to_pyagrum else from_pgmpy
    assert len(back(there(FactorGraph.build().factor("c", [], [2]).graph())).variables) == 0


# ---- networks


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_marginals_of_both_peers(name, tmp_path):
    text = gzip.decompress((BUNDLED / f"{name}.bif.gz").read_bytes()).decode()
    path = tmp_path / f"{name}.bif"
    path.write_text(text)
    network = pyagrum.loadBN(str(path))
    expected = pyagrum_marginals(network)
    assert_same(expected, marginals(from_pyagrum(network)), 1e-6)
    read = read_network(BUNDLED / f"{name}.bif.gz")
    assert read == read_network(path)
    assert_same(expected, marginals(read), 1e-6)
    by_pgmpy = from_pgmpy(BIFReader(string=text).get_model())
    assert_same(marginals(read), marginals(by_pgmpy), 1e-6)


def test_a_network_that_only_pgmpy_reads_reaches_pyagrum():
    text = gzip.decompress((BUNDLED / "child.bif.gz").read_bytes()).decode()
    graph = from_pgmpy(BIFReader(string=text).get_model())
    assert "Asy/Patch" in graph.variable("ChestXray").range
    assert log_partition(graph) == pytest.approx(0, abs=1e-9)
    assert_same(marginals(graph), pyagrum_marginals(to_pyagrum(graph)), 1e-6)


def test_a_conditional_has_its_child_first_and_its_parents_in_order():
    network = pyagrum.fastBN("A{x|y|z}->B{u|v}<-C{4|3|2|1}")
    factor = from_pyagrum(network).factor("P(B)")
    assert factor.arguments == ("B", "A", "C")
    assert factor.table.shape == (2, 3, 4)
    for place in np.ndindex(2, 3, 4):
        assert (
            factor.table[place] == network.cpt("B")[dict(zip("BAC", map(int, place), strict=True))]
        )
    assert from_pyagrum(network).variable("C").range == network.variable("C").labels()


def test_a_random_field_has_its_arguments_in_order():
    field = MarkovRandomField()
    for name, size in (("A", 2), ("B", 3), ("C", 4)):
        field.add(pyagrum.LabelizedVariable(name, "", size))
    field.addFactor(["C", "A", "B"]).fillWith(range(24))  # the first variable fastest
    factor = from_pyagrum(field).factor("f0")
    assert factor.arguments == ("C", "A", "B")
    assert factor.table[1].tolist() == [[1, 9, 17], [5, 13, 21]]
    returned = to_pyagrum(from_pyagrum(field))  # by name: a tensor dies with its model
    again = returned.factor({"A", "B", "C"})
    assert (again.names, again.toarray().tolist()) == (
        ("C", "A", "B"),
        np.arange(24).reshape(3, 2, 4).tolist(),
    )


def test_labels_of_numeric_variables_are_their_texts():
    network = pyagrum.fastBN("A[2,4]->B{1.5|2.5}->C[0,1,2.5]")
    ranges = [variable.range for variable in from_pyagrum(network).variables]
    assert ranges == [("2", "3", "4"), ("1.5", "2.5"), ("[0;1[", "[1;2.5]")]


# ---- files


@pytest.mark.parametrize("ending", [each for each in files.NETWORKS if each != ".o3prm"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_ending_is_read(ending, packed, tmp_path, capfd):
    (tmp_path / "given.bif").write_text(SMALL)
    written = tmp_path / f"written{ending.replace('xmlbif', 'bifxml')}"
    pyagrum.saveBN(pyagrum.loadBN(str(tmp_path / "given.bif")), str(written))
    path = tmp_path / f"model{ending}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(written.read_bytes()) if packed else written.read_bytes())
    graph = read_network(path)
    assert graph.variable("B").range == ("x", "y", "z")
    assert graph.factor("P(B)").arguments == ("B", "A")
    np.testing.assert_allclose(
        graph.factor("P(B)").table, [[0.1, 0.3], [0.2, 0.3], [0.7, 0.4]], atol=1e-6
    )
    assert capfd.readouterr() == ("", "")


def test_object_oriented_networks_are_read(tmp_path):
    path = tmp_path / "model.o3prm"
    path.write_text(
        "type t labels(x, y, z);\nclass K { t a { [0.1, 0.2, 0.7] }; }\nsystem S { K k; }\n"
    )
    (answer,) = queries(read_network(path), list(read_network(path).variable_names))
    assert answer["z"] == pytest.approx(0.7)


def test_numbers_are_those_of_the_file(tmp_path):
    path = tmp_path / "model.BIF"
    path.write_text(SMALL)
    assert read_network(path).factor("P(B)").table.tolist() == [[0.1, 0.3], [0.2, 0.3], [0.7, 0.4]]


@pytest.mark.parametrize(
    "ending", [".bif", ".bifxml", ".net", ".dsl", ".xdsl", ".bif.gz", ".xmlbif"]
)
@pytest.mark.parametrize("cut", [0, 0.3, 0.7])
def test_a_broken_file_is_one_clean_line(ending, cut, tmp_path, capfd):
    (tmp_path / "given.bif").write_text(SMALL)
    written = tmp_path / f"written{ending.replace('xmlbif', 'bifxml').removesuffix('.gz')}"
    pyagrum.saveBN(pyagrum.loadBN(str(tmp_path / "given.bif")), str(written))
    path = tmp_path / f"broken{ending}"
    raw = written.read_bytes()
    raw = raw[: int(len(raw) * cut)]
    path.write_bytes(gzip.compress(raw) if ending.endswith(".gz") else raw)
    with pytest.raises(FormatError) as caught:
        read_network(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    assert "[pyAgrum]" not in message
    assert "network." not in message  # the temporary file
    assert capfd.readouterr() == ("", "")


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "model.bif"
    path.write_text(SMALL.replace("table 0.4, 0.6;", "table 0.4, 0.6"))
    with pytest.raises(FormatError, match=r'model\.bif:4: Syntax error : ";" expected$'):
        read_network(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table 0.4, 0.6;", "table 0.4;", r"a row of P\(A\) sums to 0\.4"),
        ("(yes) 0.3, 0.3, 0.4;", "", r"a row of P\(B\) sums to 0;"),
        ("table 0.4, 0.6;", "table -0.4, 1.4;", r"'P\(A\)' has the potential -0\.4"),
    ],
)
def test_tables_that_are_no_probabilities_are_refused(old, new, message, tmp_path):
    path = tmp_path / "model.bif"
    path.write_text(SMALL.replace(old, new))
    with pytest.raises(FormatError, match=rf"model\.bif: .*{message}"):
        read_network(path)


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "folder.bif").mkdir()
    (tmp_path / "notes.txt").write_text("")
    for name in ("folder.bif", "missing.bif", "notes.txt", "missing.pkl"):
        with pytest.raises(FormatError, match=name):
            read_network(tmp_path / name)


# ---- pgmpy's ways


def test_states_without_names_are_numbers():
    model = DiscreteMarkovNetwork([("A", "B")])
    model.add_factors(
        DiscreteFactor(["A", "B"], [2, 3], range(1, 7)),
        DiscreteFactor(["B"], [3], [1, 1, 2], state_names={"B": ["x", "y", "z"]}),
    )
    graph = from_pgmpy(model)
    assert [variable.range for variable in graph.variables] == [("0", "1"), ("x", "y", "z")]
    assert graph.factor("f0").table.tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize("by_name", [False, True])
def test_a_factor_graph_of_pgmpy_keeps_equal_factors(by_name):
    factors = [DiscreteFactor(["A", "B"], [2, 3], range(1, 7)), DiscreteFactor(["A"], [2], [1, 2])]
    if by_name:  # as pgmpy's own conversion makes it
        model = DiscreteMarkovNetwork([("A", "B")])
        model.add_factors(*factors, factors[1].copy())
        model = model.to_factor_graph()
    else:
        model = PgmpyFactorGraph()
        model.add_nodes_from(["A", "B", *factors])
        model.add_factors(*factors, factors[1].copy())
        model.add_edges_from([("A", factors[0]), ("B", factors[0]), ("A", factors[1])])
    graph = from_pgmpy(model)
    assert list(graph.variable_names) == ["A", "B"]
    assert np.exp(log_partition(graph)) == pytest.approx(6 + 15 * 4)


def test_states_named_differently_are_refused():
    model = DiscreteMarkovNetwork([("A", "B")])
    for states in (["x", "y"], ["y", "x"]):
        model.add_factors(DiscreteFactor(["A"], [2], [1, 2], state_names={"A": states}))
    with pytest.raises(
        ModelError, match="'A' has the states x, y in one factor and y, x in another"
    ):
        from_pgmpy(model)


def test_tables_that_are_missing_are_named():
    network = DiscreteBayesianNetwork([("A", "B")])
    network.add_cpds(TabularCPD("A", 2, [[0.4], [0.6]]))
    with pytest.raises(ModelError, match=r"no table for P\(B\)"):
        from_pgmpy(network)
    field = DiscreteMarkovNetwork([("A", "B")])
    field.add_factors(DiscreteFactor(["A"], [2], [1, 2]))
    with pytest.raises(ModelError, match="'B' is in no factor"):
        from_pgmpy(field)
    empty = pyagrum.BayesNet()
    empty.add("A", 2)
    with pytest.raises(ModelError, match=r"'P\(A\)' has only zero potentials"):
        from_pyagrum(empty)


# ---- networkx


@settings(max_examples=25)
@given(seed=a_seed)
def test_networkx_holds_the_whole_graph(seed):
    graph = random_graph(seed)
    bipartite = to_networkx(graph)
    builder = FactorGraph.build()
    for (_, name), each in bipartite.nodes(data=True):
        if each["bipartite"] == 0:
            builder.variable(name, each["range"], kind=each["kind"], individual=each["individuals"])
    for node, each in bipartite.nodes(data=True):
        if each["bipartite"] == 1:
            edges = sorted(bipartite.edges(node, data="position"), key=lambda edge: edge[2])
            assert tuple(variable for _, (_, variable), _ in edges) == each["arguments"]
            builder.factor(node[1], each["arguments"], each["table"])
    assert builder.graph() == graph


def test_networkx_keeps_unknown_factors_shared_names_and_what_is_known_of_variables():
    builder = FactorGraph.build().variable("A", kind="Sick", individual=["alice"]).variable("B")
    graph = builder.factor("A", ["B", "A"], None).factor("c", [], [2]).graph()
    bipartite = to_networkx(graph)
    assert bipartite.number_of_nodes() == 4
    assert bipartite.nodes["variable", "A"] == {
        "bipartite": 0,
        "name": "A",
        "range": ("false", "true"),
        "kind": "Sick",
        "individuals": ("alice",),
    }
    assert bipartite.nodes["factor", "A"]["table"] is None
    assert bipartite.nodes["factor", "c"]["table"] == 2


# ---- refusals


@pytest.mark.parametrize("there", [to_pyagrum, to_pgmpy])
def test_unknown_factors_are_named(there):
    graph = FactorGraph.build().variable("A").factors({"f": ["A"], "g": ["A"]}, None).graph()
    with pytest.raises(
        ModelError, match=rf"{there.__name__} needs a table .* impute those of 'f', 'g'"
    ):
        there(graph)


@pytest.mark.parametrize("there", [to_pyagrum, to_pgmpy])
def test_products_that_are_zero_everywhere_are_refused(there):
    graph = (
        FactorGraph.build()
        .variable("A")
        .factor("f", ["A"], [1, 0])
        .factor("g", ["A"], [0, 1])
        .graph()
    )
    with pytest.raises(
        ModelError, match=r"factors on \(A\), and the product has only zero potentials"
    ):
        there(graph)


@pytest.mark.parametrize("convert", [from_pyagrum, to_pyagrum, from_pgmpy, to_pgmpy, to_networkx])
def test_another_type_is_refused_with_what_is_taken(convert):
    with pytest.raises(ModelError, match=rf"{convert.__name__} takes a .*, not list"):
        convert([])


@pytest.mark.parametrize(
    "convert", [from_pyagrum, to_pyagrum, read_network, from_pgmpy, to_pgmpy, to_networkx]
)
def test_a_missing_package_says_how_to_install_it(convert, monkeypatch):
    package = "pyagrum" if convert is read_network else convert.__module__.rpartition("with_")[2]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        MissingExtraError, match=rf"^{convert.__name__} needs .* pip install 'lifagu\[{package}\]'$"
    ):
        convert(FactorGraph.build().variable("A").graph())


def test_pyagrum_is_imported_safely_where_warnings_are_errors():
    code = (
        "from lifagu import FactorGraph\n"
        "from lifagu.formats.with_pyagrum import from_pyagrum, to_pyagrum\n"
        "from_pyagrum(to_pyagrum(FactorGraph.build().variable('A').graph()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


EXTREME = [
    [("A", [1e-320, 2e-320]), ("AB", [1, 2, 3, 4])],
    [("A", [1e-320, 1e300]), ("BA", [1, 2, 3, 4])],
    # too large on the way
    [("A", [1e300, 1]), ("A", [1e300, 1e300]), ("A", [1e-300, 1]), ("AB", [1, 2, 3, 4])],
    [
        ("A", [1e300, 2e300]),
        ("AB", [1e-300, 2e-300, 3e-300, 4e-300]),
        ("", [1e-300]),
        ("", [1e300]),
    ],
    [("A", [5e-324, 0]), ("A", [1e308, 1]), ("AB", [1, 2, 3, 4])],
]


def extreme(factors):
    builder = FactorGraph.build().variables(["A", "B"])
    for place, (arguments, table) in enumerate(factors):
        builder.factor(f"f{place}", list(arguments), table)
    return builder.graph()


@pytest.mark.parametrize("factors", EXTREME)
def test_extreme_potentials_are_kept(factors):
    graph = extreme(factors)
    own, log_z = queries(graph, ["B"])[0].probabilities, log_partition(graph)
    network = to_pgmpy(graph)
    weights = VariableElimination(network).query(["B"], show_progress=False).values
    assert weights / weights.sum() == pytest.approx(own, rel=1e-9)
    field = to_pyagrum(graph)
    inference = pyagrum.ShaferShenoyMRFInference(field)
    inference.makeInference()
    assert inference.posterior("B").toarray() == pytest.approx(own, rel=1e-9)
    for again in (from_pgmpy(network), from_pyagrum(field)):
        assert log_partition(again) == pytest.approx(log_z, rel=1e-12)


@pytest.mark.parametrize("there", [to_pgmpy, to_pyagrum])
@pytest.mark.parametrize(
    "factors",
    [
        # one potential would become zero
        [("A", [1e-200, 1]), ("A", [1e-200, 1]), ("AB", [1e300, 1, 1, 1])],
        [("A", [1e-160, 1]), ("A", [3e-160, 1])],  # and one would lose its digits
        [("A", [1e200, 1]), ("A", [1e200, 1])],
        [("A", [1, 2]), ("", [1e-300]), ("", [1e-300])],
    ],
)
def test_products_that_would_lose_something_are_refused(there, factors):
    with pytest.raises(
        ModelError, match=r"on \(A\), and their product is too large or too small for plain numbers"
    ):
        there(extreme(factors))


def test_states_in_another_order_are_refused_also_if_they_are_numbers():
    for first, second in (
        (["no", "yes"], ["yes", "no"]),
        (["1", "0"], ["0", "1"]),
        ([0, 1], [1, 0]),
    ):
        network = DiscreteMarkovNetwork([("A", "B")])
        network.add_factors(
            DiscreteFactor(["A"], [2], [1, 2], state_names={"A": first}),
            DiscreteFactor(
                ["A", "B"], [2, 2], [1, 2, 3, 4], state_names={"A": second, "B": ["x", "y"]}
            ),
        )
        with pytest.raises(ModelError, match="variable 'A' has the states .* in one order"):
            from_pgmpy(network)


def test_states_of_conditionals_keep_their_names_whatever_their_order():
    """By hand: P(B = y) = 0.9 · 0.2 + 0.1 · 0.7, with A's states and B's in orders of their own."""
    network = DiscreteBayesianNetwork([("A", "B")])
    states = {"A": ["yes", "no"], "B": ["z", "y"]}
    network.add_cpds(
        TabularCPD("A", 2, [[0.1], [0.9]], state_names={"A": states["A"]}),
        TabularCPD("B", 2, [[0.3, 0.8], [0.7, 0.2]], ["A"], [2], state_names=states),
    )
    graph = from_pgmpy(network)
    assert queries(graph, ["B"])[0]["y"] == pytest.approx(0.9 * 0.2 + 0.1 * 0.7)
    assert queries(graph, ["A"])[0]["no"] == pytest.approx(0.9)
    theirs = VariableElimination(network).query(["B"], show_progress=False)
    assert theirs.get_value(B="y") == pytest.approx(queries(graph, ["B"])[0]["y"])
