"""Figures: everything is in them once, nothing overlaps, names are harmless, equal models give equal bytes."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from helpers import CASES, ROOT, graph_of, random_model, run_cli
from lifagu.drawing.arranging import _box
from lifagu.drawing.labels import clean, shortened, text_width
from lifagu.drawing.layout import place
from lifagu.drawing.layout.boxes import overlapping, separated
from lifagu.drawing.layout.judging import crossings, over_nodes
from lifagu.drawing.layout.layered import layers_of, neighbours
from lifagu.drawing.shapes import Path as Curve
from lifagu.drawing.shapes import drawing_of
from lifagu.drawing.style import PALETTE, PATTERNS, colour_of, pattern_of
from shapes import SHAPES as LIFTED_SHAPES
from shapes import shape

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = ["epidemic.json", "figure3.json", "smokers.json", "smokers.blog", "workshop.pfl"]


def graph_with(count, scopes):
    """A graph of Boolean variables with these scopes, equal tables for equal arities."""
    arities = sorted({len(scope) for scope in scopes})
    return lifagu.FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(count, dtype=int),
        offsets=np.cumsum([0, *map(len, scopes)]),
        arguments=[each for scope in scopes for each in scope],
        tables=[np.arange(1, 2**arity + 1) for arity in arities],
        factor_tables=[arities.index(len(scope)) for scope in scopes],
    )


def grid(side):
    down = [(x * side + y, (x + 1) * side + y) for x in range(side - 1) for y in range(side)]
    across = [(x * side + y, x * side + y + 1) for x in range(side) for y in range(side - 1)]
    return graph_with(side * side, down + across)


def random_graph(seed, count, many, arity):
    rng = np.random.default_rng(seed)
    return graph_with(count, [rng.choice(count, arity, replace=False).tolist() for _ in range(many)])


def epidemic(patients):
    scopes = [(0,)]
    for patient in range(patients):
        first = 1 + 4 * patient
        scopes += [(first, first + 1, 0), (first + 2, first + 1, 0), (first + 3, first + 1, 0)]
    return graph_with(1 + 4 * patients, scopes)


SHAPES = {
    "chain": graph_with(30, [(each, each + 1) for each in range(29)]),
    "ring": graph_with(24, [(each, (each + 1) % 24) for each in range(24)]),
    "star": graph_with(20, [(0, each) for each in range(1, 20)]),
    "large star": graph_with(60, [(0, each) for each in range(1, 60)]),
    "tree": graph_with(40, [(each, (each - 1) // 3) for each in range(1, 40)]),
    "grid": grid(6),
    "clique": graph_with(8, [(one, two) for one in range(8) for two in range(one)]),
    "one factor": graph_with(30, [tuple(range(12))]),
    "parallel": graph_with(3, [(0, 1)] * 20),
    "alone": graph_with(9, [()]),
    "parts": graph_with(60, [(3 * each, 3 * each + 1) for each in range(20)]),
    "epidemic": epidemic(12),
    "sparse": random_graph(1, 60, 60, 2),
    "dense": random_graph(2, 30, 60, 4),
    "large": random_graph(3, 150, 150, 2),
}


def boxes_of(scene):
    places = np.array([(node.x, node.y) for node in scene.nodes])
    return places, np.array([_box(node) for node in scene.nodes])


def overlaps(scene):
    """Overlapping pairs, found by comparing all with all."""
    places, sizes = boxes_of(scene)
    apart = np.abs(places[:, None] - places)
    room = (sizes[:, None] + sizes) / 2
    return int((apart < room - 0.2).all(axis=2).sum() - len(places)) // 2


def inside(scene):
    """Whether all boxes are on the page."""
    places, sizes = boxes_of(scene)
    return bool((places - sizes / 2 >= -0.1).all() and (places + sizes / 2 <= [scene.width, scene.height]).all())


def parsed(scene):
    return ElementTree.fromstring(lifagu.to_svg(scene))


def marks(root, kind):
    return [each for each in root.iter(f"{SVG}g") if each.get("class") == f"{kind}s"]


# ---- where nodes stand


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_overlaps(name):
    scene = lifagu.draw(SHAPES[name], "colours")
    assert overlaps(scene) == 0
    assert inside(scene)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("what", ["graph", "colours", "lifted", "transfers"])
def test_nothing_overlaps_in_the_examples(name, what):
    scene = lifagu.draw(lifagu.read(ROOT / "examples" / name), what)
    assert overlaps(scene) == 0
    assert inside(scene)


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 40), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_random_graphs_do_not_overlap(seed, count, many, arity):
    scene = lifagu.draw(random_graph(seed, max(count, arity), many, arity))
    assert overlaps(scene) == 0


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.integers(1, 40)), max_size=40))
def test_boxes_are_found_and_pushed_apart(rows):
    array = np.array(rows, dtype=float).reshape(-1, 4)
    places, sizes = array[:, :2], array[:, 2:]
    apart = np.abs(places[:, None] - places)
    naive = (apart < (sizes[:, None] + sizes) / 2 + 3 - 1e-9).all(axis=2)
    one, two = overlapping(places, sizes, gap=3)
    assert set(zip(one.tolist(), two.tolist(), strict=True)) == set(zip(*np.nonzero(np.triu(naive, 1)), strict=True))
    assert not len(overlapping(separated(places, sizes, gap=3), sizes, gap=3)[0])


@pytest.mark.parametrize("name", ["chain", "ring", "star", "tree", "grid", "parts"])
def test_planar_shapes_are_drawn_without_crossings(name):
    scene = lifagu.draw(SHAPES[name])
    number = {node.id: place for place, node in enumerate(scene.nodes)}
    edges = np.array([(number[edge.source], number[edge.target]) for edge in scene.edges])
    places, _ = boxes_of(scene)
    shapes = np.array([(node.width, node.height) for node in scene.nodes])
    assert crossings(places, edges) == 0
    assert over_nodes(places, shapes, edges) == 0


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_crossings_are_those_found_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    places, edges = rng.random((12, 2)), rng.integers(0, 12, (14, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]

    def side(one, two, three):
        (a, b), (c, d), (e, f) = places[one], places[two], places[three]
        return np.sign((c - a) * (f - b) - (d - b) * (e - a))

    naive = sum(
        not {*one} & {*two} and side(*one, two[0]) != side(*one, two[1]) and side(*two, one[0]) != side(*two, one[1])
        for place, one in enumerate(edges.tolist())
        for two in edges[:place].tolist()
    )
    assert crossings(places, edges) == naive


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_layers_hold_their_distance_and_edges_lead_to_the_next(seed):
    rng = np.random.default_rng(seed)
    scopes = [(each, int(rng.integers(each))) for each in range(1, 12)]
    scopes += [tuple(rng.choice(12, 2, replace=False).tolist()) for _ in range(rng.integers(5))]
    edges = np.array([(each, 12 + factor) for factor, scope in enumerate(scopes) for each in scope])
    near, extents = neighbours(12 + len(scopes), edges), rng.uniform(5, 50, 12 + len(scopes))
    layers = layers_of(near, edges, 0, extents, gap=4)
    level = {node: number for number, row in enumerate(layers.rows) for node in row.tolist()}
    for row in layers.rows:
        needed = (extents[row][:-1] + extents[row][1:]) / 2 + 4
        assert (np.diff(layers.along[row]) >= needed - 1e-6).all()
    for one, two in edges.tolist():
        assert abs(level[one] - level[two]) == 1


def test_equal_parts_look_equal():
    scene = lifagu.draw(SHAPES["parts"])
    node = {each.id: each for each in scene.nodes}
    ways = set()
    for number in (1, 2):
        factor, variable = node[f"f{number}"], node[f"v{3 * number}"]
        ways.add((round(factor.x - variable.x, 3), round(factor.y - variable.y, 3)))
    assert len(ways) == 1


def test_nothing_at_all_can_be_placed():
    assert place(np.zeros((0, 2)), np.zeros((0, 2), dtype=int)).shape == (0, 2)
    scene = lifagu.draw(lifagu.FactorGraph.build().graph())
    assert parsed(scene).get("class") == "lifagu"


# ---- what is in a figure


@pytest.mark.parametrize("seed", range(12))
def test_every_node_and_argument_is_drawn_once(seed):
    model, evidence = random_model(seed, unknown=3)
    graph = graph_of(model)
    root = parsed(lifagu.draw(graph, "colours", evidence=evidence))
    drawn = Counter(each.get("data-node") for each in marks(root, "node"))
    wanted = [f"v{number}" for number in range(len(graph.variable_names))]
    wanted += [f"f{number}" for number in range(len(graph.factor_names))]
    assert drawn == Counter(wanted)
    edges = Counter((each.get("data-from"), each.get("data-to")) for each in marks(root, "edge"))
    scopes = [(f"v{each}", f"f{factor}") for factor in range(len(graph.factor_names)) for each in graph.scope(factor)]
    assert edges == Counter(scopes)
    questions = [each for each in marks(root, "node") if any(text.text == "?" for text in each.iter(f"{SVG}text"))]
    assert {each.get("data-node") for each in questions} == {f"f{number}" for number in graph.unknown.tolist()}
    doubled = [
        each
        for each in marks(root, "node")
        if len(each.findall(f"{SVG}ellipse[@class]"))
        and "observed" in " ".join(shape.get("class") or "" for shape in each)
    ]
    assert len(doubled) == len(evidence)


@pytest.mark.parametrize("seed", range(8))
def test_colours_and_signs_are_the_groups(seed):
    graph = graph_of(random_model(seed, unknown=2)[0])
    colouring = lifagu.colour(graph)
    scene = lifagu.draw(graph, "colours")
    groups = {}
    for node in scene.nodes:
        groups.setdefault((node.kind, node.group), []).append(int(node.id[1:]))
    found = {kind: sorted(each for (own, _), each in groups.items() if own == kind) for kind in ("variable", "factor")}
    assert found["variable"] == sorted(each.tolist() for each in colouring.variable_groups)
    assert found["factor"] == sorted(each.tolist() for each in colouring.factor_groups)
    looks = {(colour_of(number), pattern_of(number)) for number in range(len(PALETTE) * len(PATTERNS))}
    assert len(looks) == len(PALETTE) * len(PATTERNS)
    assert len({group.sign for group in scene.groups}) == len(scene.groups)


@pytest.mark.parametrize("name", [name for name in CASES if "model" in CASES[name]][:40])
def test_arrows_lead_from_donors_to_receivers(name):
    graph = graph_of(CASES[name]["model"])
    moved = lifagu.transfer(lifagu.ground(graph))
    scene = lifagu.draw(moved)
    names = moved.original.factor_names
    drawn = {(names[int(arrow.source[1:])], names[int(arrow.target[1:])]) for arrow in scene.arrows}
    assert drawn == {(record.donor, record.factor) for record in moved.record if record.donor}
    assert overlaps(scene) == 0


@pytest.mark.parametrize("name", list(LIFTED_SHAPES))
def test_a_lifted_figure_stands_for_every_node_of_its_graph(name):
    graph = shape(name)
    scene = lifagu.draw(graph, "lifted")
    members = Counter(member for node in scene.nodes for member in node.members)
    wanted = [f"v{number}" for number in range(len(graph.variable_names))]
    wanted += [f"f{number}" for number in range(len(graph.factor_names))]
    mentioned = Counter(dict.fromkeys(wanted, 1))
    assert set(members) == set(mentioned)
    for node in scene.nodes:
        count = int(node.caption.replace(",", "").lstrip("×") or 1)
        assert len(node.members) == count, node
        assert node.stacked == (node.kind == "parfactor" and count > 1)


def test_sizes_in_lifted_figures_are_bounds_where_counting_would_take_long():
    build = (
        lifagu.ParfactorGraph.build().domain("P", 10**6).relation("S", "P").relation("F", "P", "P").relation("T", "P")
    )
    build = build.parfactor("g", ["F(X,Y)", "S(X)", "S(Y)"], [1] * 8, where=["X != Y"]).parfactor("h", ["S(X)"], [1, 2])
    model = build.parfactor("i", ["T(X)", "S(X)"], [1] * 4, where=["X != 7"]).model()
    captions = {node.label: node.caption for node in lifagu.draw(model).nodes}
    assert captions == {
        **{"S(P)": "×1,000,000", "F(P,P)": "≤ ×1e+12", "T(P)": "≤ ×1,000,000"},
        **{"g": "≤ ×1e+12", "h": "×1,000,000", "i": "≤ ×1,000,000"},
    }
    assert "too large" in lifagu.draw(model, "colours").notes[0]


def test_figures_of_the_paper():
    graph = lifagu.read(ROOT / "examples/epidemic.json")
    lifted = lifagu.draw(graph, "lifted")
    shown = {node.label: (node.kind, node.caption, node.stacked) for node in lifted.nodes}
    assert shown == {
        "Epid": ("variable", "", False),
        "Travel(X)": ("variable", "×2", False),
        "Sick(X)": ("variable", "×2", False),
        "Treat(X,M)": ("variable", "×4", False),
        "g0": ("parfactor", "", False),
        "g1": ("parfactor", "×2", True),
        "g2": ("parfactor", "×4", True),
    }
    coloured = lifagu.draw(graph, "colours")
    group = {node.label: node.group for node in coloured.nodes}
    assert {node.group for node in lifted.nodes} == set(group.values())
    assert group["Sick.alice"] == group["Sick.bob"] == next(n.group for n in lifted.nodes if n.label == "Sick(X)")


def test_rounds_move_nothing():
    graph = lifagu.read(ROOT / "examples/figure3.json")
    scenes = lifagu.draw_rounds(graph)
    assert len({tuple((node.id, node.x, node.y) for node in scene.nodes) for scene in scenes}) == 1
    last = lifagu.colour(graph)
    assert [node.group for node in scenes[-1].nodes] == [*last.variable_colours, *(2 + last.factor_colours)]
    titles = [{node.id: node.title for node in scene.nodes}["v1"] for scene in scenes]
    assert [title.partition("; ")[2] for title in titles] == ["group 1 of 3", "group 2, alone", "group 2, alone"]
    with pytest.raises(lifagu.TooLargeError, match="too large"):
        lifagu.draw_rounds(epidemic(1000))


def test_arrows_say_how_many_agree():
    build = lifagu.FactorGraph.build().variables(["A", "B", "C", "D"])
    graph = (
        build.factor("f", "A", [1, 2]).factor("g", "B", [1, 2]).factor("h", "C", [2, 1]).factor("u", "D", None).graph()
    )
    root = parsed(lifagu.draw(lifagu.transfer(graph)))
    (arrow,) = marks(root, "arrow")
    assert (arrow.get("data-from"), arrow.get("data-to")) == ("f0", "f3")
    assert [each.text for each in arrow.iter(f"{SVG}text")] == ["0.67"]
    assert "2 of 3 known factors" in arrow.findtext(f"{SVG}title")
    assert not lifagu.draw(lifagu.transfer(graph, theta=0.7)).arrows


@pytest.mark.parametrize("seed", range(6))
def test_arrows_stay_on_the_page(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 30))
    build = lifagu.FactorGraph.build().variables([f"x{number}" for number in range(count)])
    for number in range(count):
        build = build.factor(f"f{number}", f"x{number}", [1, 2] if rng.random() < 0.5 else None)
    scene = lifagu.draw(build.factor("g", ["x0", "x1"], [1, 2, 3, 4]).graph(), "transfers")
    drawing = drawing_of(scene)
    for mark in drawing.marks:
        for each in mark.shapes:
            if isinstance(each, Curve):
                way = np.array(each.points)
                bent = (way[0] + 2 * way[1] + way[-1]) / 4 if len(way) == 3 and not each.closed else way
                assert (bent >= 0).all()
                assert (bent <= [drawing.width, drawing.height]).all()


def test_large_counting_formulas_are_not_counted_out():
    build = lifagu.ParfactorGraph.build().domain("P", 50_000).relation("S", "P").relation("T", "P")
    model = build.parfactor("g", ["#X[S(X)]", "T(Y)"], [1] * 50_001 * 2).model()
    scene = lifagu.draw(model)
    assert {node.label: node.caption for node in scene.nodes} == {"S(P)": "×50,000", "T(P)": "×50,000", "g": "×50,000"}
    assert [edge.label for edge in scene.edges] == ["#", ""]


# ---- as files


HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "line\nbreak\ttab",
    "\u202eright\u202c",
    "שלום עולם",
    "数据" * 20,
    "nul\x00bell\x07",
    "\ud800",
    "x" * 500,
    "$\\frac{1$",
    "{0}%s",
    "]]>",
    "😀",
    "a\u0301",
]


def hostile_graph():
    build = lifagu.FactorGraph.build().variables(HOSTILE)
    scopes = {f"f {name}": [name, HOSTILE[0]] for name in HOSTILE[1:]}
    return build.factors(scopes, [1, 2, 3, 4]).factor("unknown <b>", HOSTILE[:2], None).graph()


def test_hostile_names_are_only_text():
    for what in ("graph", "colours", "lifted", "transfers"):
        scene = lifagu.draw(hostile_graph(), what)
        text = lifagu.to_svg(scene)
        root = ElementTree.fromstring(text.encode())
        assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
            *("svg", "title", "desc", "style", "defs", "pattern", "circle", "g", "path", "rect", "ellipse", "text")
        }
        assert not re.search(r"[\x00-\x08\u202a-\u202e\ud800-\udfff]", text)
        assert not re.search(
            r"\son\w+=|href|url\((?!#)|https?://(?!www\.w3\.org/2000/svg)", re.sub(r">[^<]*<", "><", text)
        )
    titles = [each.findtext(f"{SVG}title") for each in marks(parsed(lifagu.draw(hostile_graph())), "node")]
    assert titles[0] == HOSTILE[0]


@given(st.text(st.characters()))
def test_any_text_can_be_cleaned_and_measured(text):
    cleaned = clean(text)
    cleaned.encode()
    assert len(cleaned) == len(text)
    ElementTree.fromstring(f"<a>{cleaned.replace('&', '').replace('<', '').replace('>', '')}</a>")
    assert len(shortened(text, 12)) <= 12
    assert text_width(text, 10) >= 0


def test_png_and_pdf_are_images_whatever_the_names():
    scene = lifagu.draw(hostile_graph(), "transfers")
    png, pdf = lifagu.to_png(scene), lifagu.to_pdf(scene)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png.rstrip().endswith(b"IEND\xaeB`\x82")
    assert pdf.startswith(b"%PDF-")
    assert pdf.rstrip().endswith(b"%%EOF")
    assert (png, pdf) == (lifagu.to_png(scene), lifagu.to_pdf(scene))
    assert not re.search(rb"CreationDate|matplotlib", png + pdf, re.IGNORECASE)


def test_the_page_can_leave_the_style_sheet_out():
    scene = lifagu.draw(SHAPES["epidemic"], "colours")
    assert "<style" in lifagu.to_svg(scene)
    bare = lifagu.to_svg(scene, styled=False)
    assert "<style" not in bare
    assert "style=" not in bare
    assert "prefers-color-scheme:dark" in lifagu.svg_styles()
    used = {name for each in ElementTree.fromstring(bare).iter() for name in (each.get("class") or "").split()}
    known = set(re.findall(r"\.([a-z]\w*)", lifagu.svg_styles()))
    assert used - known <= {"nodes", "edges", "arrows", "legends"}


def test_a_figure_speaks_to_those_who_do_not_see_it():
    root = parsed(lifagu.draw(lifagu.read(ROOT / "examples/epidemic.json"), "colours"))
    assert root.get("role") == "img"
    ids = {each.get("id"): each for each in root.iter() if each.get("id")}
    named = [ids[name] for name in root.get("aria-labelledby").split()]
    assert [each.tag for each in named] == [f"{SVG}title", f"{SVG}desc"]
    assert "9 variables and 7 factors" in named[0].text
    assert all(each.find(f"{SVG}title") is not None for each in marks(root, "node"))


PROGRAM = """
import hashlib, sys, lifagu
sys.path.insert(0, sys.argv[1])
from test_drawing import SHAPES, hostile_graph
for graph in (SHAPES["epidemic"], SHAPES["sparse"], SHAPES["grid"], hostile_graph()):
    for what in ("colours", "lifted", "transfers"):
        print(hashlib.sha256(lifagu.to_svg(lifagu.draw(graph, what)).encode()).hexdigest())
"""


def test_equal_models_give_equal_bytes_whatever_the_hash_seed_and_the_number_of_threads():
    tests = str(Path(__file__).parent)
    outputs = set()
    for seed, threads in (("0", "1"), ("1", "2")):
        path = os.pathsep.join([tests, *sys.path])
        fixed = {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        setting = {**os.environ, **fixed, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", PROGRAM, tests], env=setting, capture_output=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_the_figures_of_the_documentation_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/figures")
    import redraw

    folder = ROOT / "docs/figures"
    drawn = redraw.figures()
    assert {path.name for path in folder.glob("*.svg")} == set(drawn)
    for name, scene in drawn.items():
        assert (folder / name).read_text() == lifagu.to_svg(scene), f"{name} is stale; draw it again with make figures"


# ---- large and small


@pytest.mark.parametrize("patients", [2, 14, 280])
def test_sizes_from_ten_to_two_thousand_nodes(patients):
    graph = epidemic(patients)
    scene = lifagu.draw(graph, "colours")
    assert len(scene.nodes) == len(graph.variable_names) + len(graph.factor_names)
    assert len(overlapping(*boxes_of(scene))[0]) == 0
    assert len(lifagu.to_svg(scene)) < 500 * len(scene.nodes) + 20_000


def test_a_million_variables_are_shown_lifted():
    scene = lifagu.draw(epidemic_arrays(250_000), "colours")
    assert scene.what == "lifted"
    assert "1,000,001 variables" in scene.notes[0]
    assert "×250,000" in {node.caption for node in scene.nodes}
    assert len(lifagu.to_svg(scene)) < 20_000


def epidemic_arrays(patients):
    first = 1 + 4 * np.arange(patients)
    rows = [np.column_stack((first + place, first + 1, 0 * first)) for place in (0, 2, 3)]
    return lifagu.FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(1 + 4 * patients, dtype=int),
        offsets=3 * np.arange(3 * patients + 1),
        arguments=np.stack(rows, axis=1).reshape(-1),
        tables=[np.arange(1, 9), np.arange(2, 10)],
        factor_tables=np.tile([0, 1, 1], patients),
    )


def test_what_neither_fits_nor_lifts_is_shown_in_part():
    rng = np.random.default_rng(0)
    count = 5000
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(count, dtype=int),
        offsets=2 * np.arange(count + 1),
        arguments=np.column_stack((np.arange(count), (np.arange(count) * 7 + 1) % count)).reshape(-1),
        tables=rng.random((count, 4)),
        factor_tables=np.arange(count),
    )
    scene = lifagu.draw(graph)
    assert 100 < len(scene.nodes) <= 300
    assert any("more nodes are left out" in note for note in scene.notes)
    ids = {node.id for node in scene.nodes}
    assert all(edge.source in ids and edge.target in ids for edge in scene.edges)


# ---- by hand


def test_plot_writes_files(capsys, tmp_path):
    model = ROOT / "examples/epidemic.json"
    for what in ("graph", "colours", "lifted", "transfers"):
        target = tmp_path / f"{what}.svg"
        status, out, err = run_cli(capsys, "plot", model, "--add", "eve=alice", "--what", what, "--out", target)
        assert (status, err) == (0, "")
        assert out.startswith(f"{target}: {what}, ")
        ElementTree.parse(target)
    assert "3 arrows" in out
    for ending in ("png", "pdf"):
        first, second = tmp_path / f"1.{ending}", tmp_path / f"2.{ending}"
        for target in (first, second):
            assert run_cli(capsys, "plot", model, "--out", target, "--theta", "0.5", "--evidence", "Epid=true")[0] == 0
        assert first.read_bytes() == second.read_bytes()
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_plot_uses_the_options_for_filling(capsys, tmp_path):
    target = tmp_path / "figure.svg"
    published = ("plot", ROOT / "examples/epidemic.json", "--add", "eve=alice", "--what", "transfers", "--out", target)
    run_cli(capsys, *published, "--published", "--theta", "0.9")
    assert "less than the 0.9 asked for" in target.read_text()
    assert not marks(ElementTree.parse(target).getroot(), "arrow")


def test_plot_says_when_it_shows_the_lifted_graph_instead(capsys, tmp_path):
    target = tmp_path / "figure.svg"
    model = tmp_path / "model.json"
    smokers = json.loads((ROOT / "examples/smokers.json").read_text())
    model.write_text(json.dumps({**smokers, "domains": {"Person": 1000}}))
    status, out, err = run_cli(capsys, "plot", model, "--what", "colours", "--out", target)
    assert (status, out) == (0, f"{target}: lifted, 6 nodes, 5 edges\n")
    assert "too large to be drawn node by node" in err
    assert run_cli(capsys, "plot", model, "--what", "colours", "--out", target, "--quiet")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "figure.gif"], "figures are written as .svg, .png or .pdf"),
        (["--out", "none/figure.svg"], "cannot be written here"),
        (["--out", "figure.svg", "--evidence", "Nobody=true"], "there is no variable 'Nobody'"),
        (["--out", "figure.svg", "--what", "stars"], "invalid choice: 'stars'"),
        ([], "the following arguments are required: --out"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, out, err = run_cli(capsys, "plot", ROOT / "examples/epidemic.json", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_wrong_figures_are_refused():
    graph = SHAPES["chain"]
    with pytest.raises(lifagu.ModelError, match="there is no figure 'stars'; choose one of graph, colours"):
        lifagu.draw(graph, "stars")
    with pytest.raises(lifagu.ModelError, match="not list"):
        lifagu.draw([graph])
    with pytest.raises(lifagu.FormatError, match=r"figure.jpg: figures are written as \.svg, \.png or \.pdf"):
        lifagu.plot(graph, "figure.jpg")


def test_without_matplotlib_svg_is_there_and_png_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    lifagu.plot(SHAPES["chain"], tmp_path / "chain.svg")
    with pytest.raises(lifagu.MissingExtraError, match=r"pip install 'lifagu\[plot\]'"):
        lifagu.plot(SHAPES["chain"], tmp_path / "chain.png")
    assert [each.name for each in tmp_path.iterdir()] == ["chain.svg"]
