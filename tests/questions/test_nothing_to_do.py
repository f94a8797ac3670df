"""Where nothing is unknown, nobody fills and nobody colours; answers are those of the model."""

import json
import sys

import pytest

import lifagu
from lifagu.filling.rules import Filling
from support.helpers import ROOT, run_cli

FILLS = ("variable_roles", "factor_signatures", "offers_by_signature", "colour", "lift")


def entered(work):
    """The names of lifagu's functions that this calls."""
    names = set()

    def seen(frame, event, _):
        if event == "call" and "lifagu" in frame.f_code.co_filename:
            names.add(frame.f_code.co_name)

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return names


def epidemic(holes=False):
    case = lifagu.open(ROOT / "examples/epidemic.json").observe({"Travel.bob": "true"})
    return case.add("eve", "alice") if holes else case


WORK = {
    "impute": lambda case: case.impute(["Epid"]),
    "card": lambda case: case.show("bob"),
    "what-if": lambda case: case.scenarios({"sick": {"Sick.bob": "true"}}).ask("Epid"),
}


@pytest.mark.parametrize("name", WORK)
def test_nothing_is_filled_or_coloured_where_nothing_is_unknown(name):
    assert not entered(lambda: WORK[name](epidemic())).intersection(FILLS)
    assert entered(lambda: WORK[name](epidemic(holes=True))).intersection(FILLS)


@pytest.mark.parametrize("rule", ["auto", "lifagu", "extended"])
def test_a_transfer_with_nothing_to_do_leaves_the_graph(rule):
    graph = epidemic().graph
    moved = lifagu.transfer(graph, by=rule)
    assert (len(moved.record), moved.way, moved.equality) == (0, "best", "exactly")
    assert moved.graph.factor_table.tolist() == graph.factor_table.tolist()
    assert lifagu.colour(moved.graph, **moved.start) == lifagu.colour(graph)


def test_groups_are_found_when_they_are_asked_for(tmp_path, capsys):
    found = epidemic().impute(["Epid"])
    assert found.coloured is None
    assert found.groups.colouring == epidemic().groups().colouring
    status, out, _ = run_cli(capsys, "impute", ROOT / "examples/epidemic.json", "--json")
    assert status == 0
    assert "groups" not in json.loads(out)


def test_merging_is_something_to_do():
    assert Filling(tolerance=0.1).merges_tables
    assert not Filling().merges_tables
