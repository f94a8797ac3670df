"""The paper's figures by number, and the worked cases."""

import pytest

import lifagu
from lifagu.cli.demo_paper import example
from lifagu.symmetry.colour import colour_rounds
from support.helpers import CASES, graph_of, groups_by_name

KNOWN = [
    name
    for name, case in CASES.items()
    if all(factor["table"] for factor in case["model"]["factors"])
]


def test_figure_3_round_by_round():
    """A, B, C start alike, as do the factors; B, second in two of them, parts from A and C."""
    graph = example("figure3").graph
    rounds = [
        (each.variable_colours.tolist(), each.factor_colours.tolist())
        for each in colour_rounds(graph)
    ]
    assert rounds == [([0, 0, 0], [0, 0]), ([0, 1, 0], [0, 0]), ([0, 1, 0], [0, 0])]
    assert groups_by_name(graph, lifagu.colour(graph)) == ([["A", "C"], ["B"]], [["phi1", "phi2"]])


def test_figure_1_groups():
    graph = example("epidemic").graph
    variables, factors = groups_by_name(graph, lifagu.colour(graph))
    assert [len(group) for group in variables] == [1, 2, 2, 4]
    assert [len(group) for group in factors] == [1, 2, 4]


def test_the_cases_are_the_ones_meant():
    assert {name[:2] for name in KNOWN} == {
        "01",
        "11",
        "18",
        "20",
        "22",
        "25",
        "26",
        "27",
        "28",
        "29",
        "31",
    }


@pytest.mark.parametrize("name", KNOWN)
def test_cases_without_unknown_factors(name):
    case = CASES[name]
    graph = graph_of(case["model"])
    for expected in case["expected"]:
        if expected["options"]:
            continue  # options of colour passing have their own tests
        variables, factors = groups_by_name(graph, lifagu.colour(graph, case["evidence"]))
        assert [set(group) for group in variables] == [
            set(group) for group in expected["variable_groups"]
        ]
        assert [set(group) for group in factors] == [
            set(group) for group in expected["factor_groups"]
        ]
        for engine in ("ground", "lifted"):
            check_marginals(graph, case["evidence"], expected, engine)


def check_marginals(graph, evidence, expected, engine):
    log_partition = lifagu.log_partition(graph, evidence=evidence, engine=engine)
    assert log_partition == pytest.approx(expected["log_partition"], rel=1e-9)
    for answer in lifagu.queries(
        graph, list(expected["marginals"]), evidence=evidence, engine=engine
    ):
        for label, probability in expected["marginals"][answer.variables[0]].items():
            assert answer[label] == pytest.approx(probability, abs=1e-12)


def test_groups_are_not_orbits():
    """Hexagon and two triangles share one colour while their exact marginals differ (case 11)."""
    graph = graph_of(CASES["11_hexagon_vs_two_triangles"]["model"])
    assert len(lifagu.colour(graph).variable_groups) == 1
    hexagon, triangle = lifagu.queries(graph, ["h0", "t0"])
    assert hexagon["true"] == pytest.approx(0.8551, abs=1e-4)
    assert triangle["true"] == pytest.approx(0.8422, abs=1e-4)
