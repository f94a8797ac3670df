"""The graph itself: ways in, validation, equality, what it shows."""

import numpy as np
import pytest

import lifagu
from lifagu import FactorGraph, ModelError
from lifagu.graph.views import Variable


def build():
    return FactorGraph.build().variables(["A", "B"])


def many_arguments(count):
    names = [f"V{number}" for number in range(count)]
    return FactorGraph.build().variables(names, ["only"]).factor("wide", names, [3]).graph()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: build().factor("f", ["A", "Bb"], [1, 2, 3, 4]),
            "factor 'f' has the argument 'Bb'.*did you mean 'B'",
        ),
        (
            lambda: build().factor("f", ["A", "B"], [1] * 8),
            r"'f' has 8 potentials .*\(A, B\) span 4 states; give 4",
        ),
        (
            lambda: build().factor("f", ["A", "A"], [1, 2, 3, 4]),
            "factor 'f' has the argument A twice.*diagonal",
        ),
        (
            lambda: build().factor("f", ["A"], [1, -2]),
            "factor 'f' has the potential -2.0 at place 1",
        ),
        (
            lambda: build().factor("f", ["A"], [1, float("nan")]),
            "factor 'f' has the potential nan.*null",
        ),
        (
            lambda: build().factor("f", ["A"], [1, float("inf")]),
            "factor 'f' has the potential inf.*finite",
        ),
        (lambda: build().factor("f", ["A"], [0, -0.0]), "factor 'f' has only zero potentials"),
        (
            lambda: build().factor("f", ["A"], ["1", "2"]),
            "factor 'f' holds something that is not a number",
        ),
        (
            lambda: build().factor("f", ["A"], [True, False]),
            "factor 'f' holds something that is not a number",
        ),
        (
            lambda: build().factor("f", ["A"], [True, 2]),
            "factor 'f' holds something that is not a number",
        ),
        (
            lambda: build().factor("f", ["A"], [[1, 2], [3]]),
            "not a number, or rows of unequal length",
        ),
        (lambda: build().factor("f", ["A"], [10**400, 1]), "finite"),
        (
            lambda: build().factor("f", ["A"], "phi"),
            "factor 'f' has the table 'phi', which is not declared",
        ),
        (
            lambda: build().factor("f", ["A"], None).factor("f", ["B"], None),
            "factor 'f' is declared twice",
        ),
        (lambda: build().variable("A"), "variable 'A' is declared twice"),
        (lambda: build().variable(""), "non-empty"),
        (lambda: build().variable("C", []), "variable 'C' has an empty range"),
        (lambda: build().variable("C", ["x", "x"]), "variable 'C' has the label 'x' twice"),
        (
            lambda: build().variable("C", "bol"),
            "variable 'C' has the range 'bol', which is not declared",
        ),
        (lambda: build().variables("CD"), "list of names"),
        (lambda: build().range("r", ["a"]).range("r", ["b"]), "range 'r' is declared twice"),
        (lambda: build().table("t", [1]).table("t", [1]), "table 't' is declared twice"),
        (lambda: build().graph().evidence({"Aa": "true"}), "no variable 'Aa'.*did you mean 'A'"),
        (
            lambda: build().graph().evidence({"A": "tru"}),
            "'A' has no value 'tru'; its range is false, true",
        ),
        (lambda: build().graph().evidence({"A": {"true": 1}}), "'A' lacks a likelihood for false"),
        (
            lambda: build().graph().evidence({"A": {"true": -1, "false": 1}}),
            "soft evidence for 'A' has the potential",
        ),
        (lambda: build().graph().evidence({"A": {"true": "x", "false": 1}}), "not a number"),
        (lambda: build().graph().evidence(["A"]), "evidence is a mapping"),
        (lambda: build().graph().variable("C"), "no variable 'C'"),
        (lambda: lifagu.query(build().graph()), "at least one variable"),
        (
            lambda: lifagu.query("graph", "A"),
            "asked of a FactorGraph, a ParfactorGraph or a Transfer, not str",
        ),
        (lambda: lifagu.transfer("graph"), "transfer takes a FactorGraph, not str"),
        (lambda: lifagu.query(build().graph(), "A", combine="average"), "ask a transfer"),
        (lambda: lifagu.marginals(build().graph(), combine="average"), "ask a transfer"),
        (lambda: many_arguments(61), "has a table and 61 arguments"),
        (lambda: lifagu.query(build().graph(), "A", "A"), "names 'A' twice"),
        (lambda: lifagu.query(build().graph(), "A", engine="magic"), "no engine 'magic'"),
        (lambda: lifagu.query(build().graph(), "A")["maybe"], "'A' has no value 'maybe'"),
        (lambda: lifagu.query(build().graph(), "A")["true", "true"], "one label for each"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def arrays(**changes):
    given = {
        "ranges": [["false", "true"], ["low", "mid", "high"]],
        "variable_ranges": [0, 0, 1],
        "offsets": [0, 2, 4],
        "arguments": [0, 1, 0, 2],
        "tables": [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]],
        "factor_tables": [0, 1],
    }
    return FactorGraph.from_arrays(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arguments": [0, 1, 0, 3]}, r"arguments\[3\] is 3, but there are 3 variables"),
        ({"arguments": [0, 1, 0, -1]}, r"arguments\[3\] is -1"),
        ({"arguments": [0, 1, 2, 2]}, "factor 'f1' has the argument x2 twice"),
        ({"offsets": [0, 3, 2, 4]}, "offsets must start at 0"),
        ({"offsets": [0, 2]}, "offsets must start at 0, never fall, and end at 4"),
        ({"offsets": []}, "offsets must start at 0"),
        ({"factor_tables": [0]}, "factor_tables has 1 entries for 2 factors"),
        ({"factor_tables": [0, 2]}, r"factor_tables\[1\] is 2, but there are 2 tables"),
        (
            {"factor_tables": [1, 1]},
            r"factor 'f0' has 6 potentials but its arguments \(x0, x1\) span 4 states",
        ),
        ({"tables": [[1, 2, 3, -4], [1] * 6]}, "factor 'f0' has the potential -4.0 at place 3"),
        ({"tables": [[1, 2, 3, 4], [0] * 6]}, "factor 'f1' has only zero potentials"),
        ({"tables": [[1, 2, 3, 4], [1] * 6, [0]]}, "table 2 has only zero potentials"),
        ({"variable_ranges": [0, 0, 5]}, r"variable_ranges\[2\] is 5, but there are 2 ranges"),
        ({"ranges": [["false", "true"], []]}, "range 1 has an empty range"),
        ({"variable_names": ["a", "b"]}, "2 variable names were given for 3 variables"),
        ({"variable_names": ["a", "b", "a"]}, "variable 'a' is declared twice"),
        ({"factor_names": ["a", ""]}, "factor 1 has the name ''"),
        (
            {"kinds": ["k"], "variable_kinds": [0, 0]},
            "variable_kinds has 2 entries for 3 variables",
        ),
        (
            {"individuals": ["i"], "variable_individuals": [0, 0]},
            "variable_individuals came without individual_off",
        ),
        (
            {"individuals": ["i"], "individual_offsets": [0, 1], "variable_individuals": [0]},
            "individual_offsets has 2",
        ),
    ],
)
def test_arrays_are_checked_without_a_loop(changes, message):
    with pytest.raises(ModelError, match=message):
        arrays(**changes)


def test_ways_in_agree():
    built = (
        FactorGraph.build()
        .variables(["x0", "x1"])
        .variable("x2", ["low", "mid", "high"])
        .factor("f0", ["x0", "x1"], np.array([[1, 2], [3, 4]]))
        .factor("f1", ["x0", "x2"], [[1, 2, 3], [4, 5, 6]])
        .graph()
    )
    assert built == arrays()
    assert built != arrays(tables=[[1, 2, 3, 5], [1, 2, 3, 4, 5, 6]])
    assert built != "a graph"


def test_arrays_are_frozen():
    graph = arrays()
    for array in (
        graph.arguments,
        graph.offsets,
        graph.factor_table,
        graph.tables.values,
        graph.degrees,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_equal_tables_are_one_and_ranges_belong_to_them():
    graph = (
        build()
        .variables(["C", "D"], ["on", "off"])
        .factor("f", ["A", "B"], [1, 2, 3, 4])
        .factor("g", ["B", "A"], np.array([[1, 2], [3, 4]], dtype=np.int8))
        .factor("h", ["C", "D"], [1, 2, 3, 4])
        .factor("i", ["A"], [0.0, 1])
        .factor("j", ["A"], [-0.0, 1])
        .factor("k", ["A"], None)
        .graph()
    )
    assert graph.factor_table.tolist() == [0, 0, 1, 2, 2, -1]
    assert len(graph.tables) == 3
    assert [table.shape for table in graph.tables[:]] == [(2, 2), (2, 2), (2,)]


def test_labels_in_another_order_are_the_same_range():
    graph = (
        FactorGraph.build()
        .variable("A", ["true", "false"])
        .variable("B", ["false", "true"])
        .factor("f", ["A"], [3, 1])
        .factor("g", ["B"], [1, 3])
        .graph()
    )
    assert graph.factor_table.tolist() == [0, 0]
    assert graph.factor("g").table.tolist() == [1, 3]
    assert lifagu.query(graph, "B").ranges == (("false", "true"),)
    assert lifagu.query(graph, "B").probabilities.tolist() == [0.25, 0.75]
    assert lifagu.query(graph, "A").probabilities.tolist() == [0.75, 0.25]
    assert lifagu.query(graph, "A", evidence={"B": "false"}).log_partition == pytest.approx(
        np.log(4 * 1)
    )


def test_named_tables_and_ranges_many_at_once():
    graph = (
        FactorGraph.build()
        .range("level", ["low", "high"])
        .variables(["A", "B"], "level", kind="K", individual=["eve", "adam"])
        .table("phi", [1, 2])
        .factors({"f": ["A"], "g": ["B"]}, "phi")
        .factors({"h": ["A"], "i": ["B"]}, [[3, 4]])
        .factors({"u": ["A"], "v": ["B"]}, None)
        .graph()
    )
    assert graph.factor_table.tolist() == [0, 0, 1, 1, -1, -1]
    assert graph.variable("B") == Variable("B", ("low", "high"), "K", ("eve", "adam"))
    assert graph.unknown.tolist() == [4, 5]


def test_what_it_shows():
    graph = build().factor("f<1>", ["A"], [1, 2]).factor("u", ["A", "B"], None).graph()
    assert repr(graph) == "<FactorGraph: 2 variables, 2 factors (1 unknown), 1 distinct table>"
    html = graph._repr_html_()
    assert "f&lt;1&gt;" in html
    assert "unknown" in html
    assert (
        "<td>false</td><td>0.333333</td>"
        in lifagu.query(build().factor("f", "A", [1, 2]).graph(), "A")._repr_html_()
    )
    many = (
        FactorGraph.build()
        .variable("A")
        .factors({f"f{number}": "A" for number in range(12)}, [1, 2])
        .graph()
    )
    assert "… and 2 more" in many._repr_html_()


def test_millions_of_arguments_without_an_object_for_each():
    count = 1_000_000
    graph = FactorGraph.from_arrays(
        ranges=[["0", "1"]],
        variable_ranges=np.zeros(count, dtype=int),
        offsets=2 * np.arange(count),
        arguments=np.column_stack((np.arange(count - 1), np.arange(1, count))).reshape(-1),
        tables=[[1, 2, 3, 4]],
        factor_tables=np.zeros(count - 1, dtype=int),
    )
    assert graph.variable_names[999_999] == "x999999"
    assert graph.factors[-1].arguments == ("x999998", "x999999")
    assert graph.variable_names.number("x77") == 77
    assert graph == graph


def test_describe():
    facts = lifagu.describe(
        build().variable("C").factor("f", ["A"], [1, 2]).factor("u", ["B"], None).graph()
    )
    assert facts["connected_parts"] == 3
    assert facts["parts_with_unknown_factors"] == 1
    assert facts["answerable_variables"] == 2
    assert facts["example_query"] == "A"
    assert lifagu.describe(FactorGraph.build().graph())["connected_parts"] == 0
