"""Notebooks: every value a user sees shows itself, safe from hostile names; the tutorial runs."""

import ast
import json
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

import lifagu
from lifagu.basics.html import Shown
from lifagu.questions.planning import prepare, prepare_map, prepare_marginals
from support.helpers import ROOT

HOSTILE = "<script>alert('\"x\"')</script>&amp;\n\u202e\x07 $a_1$ {0} שלום"
TUTORIAL = ROOT / "docs/tutorial.ipynb"
VOID = {"br", "hr", "img", "meta"}


class Balanced(HTMLParser):
    """Collects elements, attributes and text, and complains about what is closed wrongly."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.attributes += [name for name, _ in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def hostile_graph():
    return (
        lifagu.FactorGraph.build()
        .range("odd", [HOSTILE, "no"])
        .variable(HOSTILE, "odd", kind=HOSTILE, individual=HOSTILE)
        .variable("B", "odd", kind=HOSTILE, individual="b")
        .variable("C", "odd")
        .factor(f"{HOSTILE}1", [HOSTILE, "C"], [1, 2, 3, 4])
        .factor(f"{HOSTILE}2", ["B", "C"], None)
        .graph()
    )


def shown_values(graph):
    moved = lifagu.transfer(graph)
    lifted = lifagu.lift(moved)
    return {
        "graph": graph,
        "transfer": moved,
        "colouring": lifagu.colour(graph),
        "lifted": lifted,
        "answer": lifagu.query(moved, graph.variable_names[0]),
        "joint": lifagu.query(moved, *graph.variable_names[:2]),
        "result": prepare(moved, [(graph.variable_names[0],)]).run(),
        "marginals": lifagu.marginals(moved),
        "classes": lifagu.marginals(lifted),
        "best": lifagu.map_assignment(moved),
        "relational best": lifagu.map_assignment(lifted),
        "plan": prepare(moved, [(graph.variable_names[0],)]),
        "plan of marginals": prepare_marginals(moved),
        "plan of best": prepare_map(lifted),
        "scene": lifagu.draw(graph),
        "records": moved.record,
        "record": moved.record[0],
        "factors": graph.factors,
        "scenarios": lifagu.open(graph).scenarios({HOSTILE: {"C": "no"}}).ask(HOSTILE),
    }


@pytest.mark.parametrize("name", list(shown_values(hostile_graph())))
def test_every_value_shows_itself_and_hostile_names_are_only_text(name):
    value = shown_values(hostile_graph())[name]
    assert isinstance(value, Shown)
    html = value._repr_html_()
    html.encode()
    page = Balanced(html)
    assert "script" not in page.seen
    assert not any(each.startswith("on") for each in page.attributes)
    assert len(html) < 60_000


def test_validations_say_what_can_be_trusted():
    found = lifagu.open("factory").validate()
    html = found._repr_html_()
    assert all(f"<td>{name}</td>" in html for name in found.json()["relations"])
    assert found.judgement() in html


def test_small_graphs_have_figures_and_large_ones_have_none():
    graph = lifagu.read(ROOT / "examples/epidemic.json")
    assert "<svg" in graph._repr_html_()
    big = lifagu.FactorGraph.build().variables([f"x{number}" for number in range(500)])
    big = big.factors({f"f{number}": [f"x{number}"] for number in range(500)}, [1, 2]).graph()
    assert "<svg" not in big._repr_html_()
    assert "… and 490 more" in big._repr_html_()
    empty = lifagu.FactorGraph.build().graph()
    assert Balanced(empty._repr_html_()).seen


def test_bars_are_as_long_as_probabilities_are_large():
    graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3]).graph()
    html = lifagu.query(graph, "A")._repr_html_()
    assert [float(part.split("px")[0]) for part in html.split('"width:')[1:]] == [30.0, 90.0]


def test_a_large_colouring_names_only_some():
    graph = lifagu.FactorGraph.build().variables([f"x{number}" for number in range(100)])
    graph = graph.factors({f"f{number}": [f"x{number}"] for number in range(100)}, [1, 2]).graph()
    html = lifagu.colour(graph)._repr_html_()
    assert "<td>100</td><td>0, 1, 2, 3, 4, 5, …</td>" in html


# ---- the tutorial


def cells(kind):
    return [
        "".join(cell["source"])
        for cell in json.loads(TUTORIAL.read_text())["cells"]
        if cell["cell_type"] == kind
    ]


def run(source, names):
    """Run a cell as a notebook does; return its last line's value, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "tutorial", "exec"), names)
    return (
        None
        if last is None
        else eval(compile(ast.Expression(last.value), "tutorial", "eval"), names)
    )


def test_the_tutorial_runs_and_shows_what_it_speaks_of(monkeypatch, capsys):
    monkeypatch.chdir(TUTORIAL.parent)
    names = {}
    shown = [run(source, names) for source in cells("code")]
    pages = [value._repr_html_() for value in shown if isinstance(value, Shown)]
    for page in pages:
        Balanced(page)
        for figure in page.split("<svg")[1:]:
            ElementTree.fromstring("<svg" + figure.partition("</svg>")[0] + "</svg>")
    assert len(pages) >= 12
    assert "f1.eve" in capsys.readouterr().out
    assert names["answer"].rests_on == ("f1.eve", "f2.eve.m1", "f2.eve.m2")
    assert names["unsure"].record[0].share == pytest.approx(0.5)
    sizes = [[group.size for group in scene.groups if group.size] for scene in names["rounds"]]
    assert (sizes[0], sizes[-1]) == ([9, 1, 2, 4], [1, 2, 2, 4, 1, 2, 4])


def test_the_tutorial_is_a_notebook_without_stored_outputs():
    notebook = json.loads(TUTORIAL.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    for cell in notebook["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"], cell["execution_count"]) == (
            [],
            None,
        )
