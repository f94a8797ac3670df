"""Figures: everything is in them once, names are harmless, bytes the same, large ones lifted."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifagu
from lifagu.drawing.labels import clean, shortened, text_width
from lifagu.drawing.layout.boxes import overlapping
from lifagu.drawing.style import PALETTE, PATTERNS, colour_of, pattern_of
from lifagu.questions.figures import draw_rounds
from support.drawn import (
    HOSTILE,
    SHAPES,
    SVG,
    boxes_of,
    epidemic,
    hostile_graph,
    marks,
    overlaps,
    parsed,
)
from support.helpers import CASES, ROOT, graph_of, random_model
from support.shapes import SHAPES as LIFTED_SHAPES
from support.shapes import shape


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
    scopes = [
        (f"v{each}", f"f{factor}")
        for factor in range(len(graph.factor_names))
        for each in graph.scope(factor)
    ]
    assert edges == Counter(scopes)
    questions = [
        each
        for each in marks(root, "node")
        if any(text.text == "?" for text in each.iter(f"{SVG}text"))
    ]
    assert {each.get("data-node") for each in questions} == {
        f"f{number}" for number in graph.unknown.tolist()
    }
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
    found = {
        kind: sorted(each for (own, _), each in groups.items() if own == kind)
        for kind in ("variable", "factor")
    }
    assert found["variable"] == sorted(each.tolist() for each in colouring.variable_groups)
    assert found["factor"] == sorted(each.tolist() for each in colouring.factor_groups)
    looks = {
        (colour_of(number), pattern_of(number)) for number in range(len(PALETTE) * len(PATTERNS))
    }
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
def test_a_lifted_figure_counts_every_node_of_its_graph(name):
    graph = shape(name)
    found = {"variable": 0, "factor": 0}
    bounded = set()
    for node in lifagu.draw(graph, "lifted").nodes:
        sort = "variable" if node.kind == "variable" else "factor"
        found[sort] += int(node.caption.replace(",", "").lstrip("≤ ×") or 1)
        bounded |= {sort} if "≤" in node.caption else set()
        assert not node.stacked or node.kind == "parfactor"
    for sort, many in (("variable", graph.variable_names), ("factor", graph.factor_names)):
        assert found[sort] >= len(many) if sort in bounded else found[sort] == len(many)


def test_sizes_in_lifted_figures_are_bounds_where_constraints_leave_less():
    build = (
        lifagu.ParfactorGraph.build()
        .domain("P", 10**6)
        .relation("S", "P")
        .relation("F", "P", "P")
        .relation("T", "P")
    )
    build = build.parfactor("g", ["F(X,Y)", "S(X)", "S(Y)"], [1] * 8, where=["X != Y"]).parfactor(
        "h", ["S(X)"], [1, 2]
    )
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
    assert (
        group["Sick.alice"]
        == group["Sick.bob"]
        == next(n.group for n in lifted.nodes if n.label == "Sick(X)")
    )


def test_rounds_move_nothing():
    graph = lifagu.read(ROOT / "examples/figure3.json")
    scenes = draw_rounds(graph)
    assert len({tuple((node.id, node.x, node.y) for node in scene.nodes) for scene in scenes}) == 1
    last = lifagu.colour(graph)
    assert [node.group for node in scenes[-1].nodes] == [
        *last.variable_colours,
        *(2 + last.factor_colours),
    ]
    titles = [{node.id: node.title for node in scene.nodes}["v1"] for scene in scenes]
    assert [title.partition("; ")[2] for title in titles] == [
        "group 1 of 3",
        "group 2, alone",
        "group 2, alone",
    ]
    with pytest.raises(lifagu.TooLargeError, match="too large"):
        draw_rounds(epidemic(1000))


def test_arrows_say_how_many_agree():
    build = lifagu.FactorGraph.build().variables(["A", "B", "C", "D"])
    graph = (
        build.factor("f", "A", [1, 2])
        .factor("g", "B", [1, 2])
        .factor("h", "C", [2, 1])
        .factor("u", "D", None)
        .graph()
    )
    root = parsed(lifagu.draw(lifagu.transfer(graph)))
    (arrow,) = marks(root, "arrow")
    assert (arrow.get("data-from"), arrow.get("data-to")) == ("f0", "f3")
    assert [each.text for each in arrow.iter(f"{SVG}text")] == ["0.67"]
    assert "2 of 3 known factors" in arrow.findtext(f"{SVG}title")
    assert not lifagu.draw(lifagu.transfer(graph, theta=0.7)).arrows


def test_no_dot_hides_the_head_of_an_arrow():
    graph = lifagu.read(ROOT / "examples/epidemic.json").with_individual("eve", like="alice")
    root = parsed(lifagu.draw(lifagu.transfer(graph)))
    dots = [each for each in root.iter(f"{SVG}ellipse") if "badge" in each.get("class")]
    for head in (each for each in root.iter(f"{SVG}path") if each.get("class") == "head"):
        x, y = map(float, re.findall(r"[-\d.]+", head.get("d"))[:2])
        apart = [np.hypot(float(each.get("cx")) - x, float(each.get("cy")) - y) for each in dots]
        assert min(apart) >= 6


@pytest.mark.parametrize("seed", range(6))
def test_arrows_stay_on_the_page(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 30))
    build = lifagu.FactorGraph.build().variables([f"x{number}" for number in range(count)])
    for number in range(count):
        build = build.factor(f"f{number}", f"x{number}", [1, 2] if rng.random() < 0.5 else None)
    scene = lifagu.draw(build.factor("g", ["x0", "x1"], [1, 2, 3, 4]).graph(), "transfers")
    root = parsed(scene)
    page = [float(root.get(each)) for each in ("width", "height")]
    for arrow in marks(root, "arrow"):
        for path in arrow.iter(f"{SVG}path"):
            way = np.array([float(each) for each in re.findall(r"[-\d.]+", path.get("d"))])
            way = way.reshape(-1, 2)
            bent = (way[0] + 2 * way[1] + way[2]) / 4 if "Q" in path.get("d") else way
            assert (bent >= 0).all()
            assert (bent <= page).all()


def test_large_counting_formulas_are_not_counted_out():
    build = lifagu.ParfactorGraph.build().domain("P", 50_000).relation("S", "P").relation("T", "P")
    model = build.parfactor("g", ["#X[S(X)]", "T(Y)"], [1] * 50_001 * 2).model()
    scene = lifagu.draw(model)
    assert {node.label: node.caption for node in scene.nodes} == {
        "S(P)": "×50,000",
        "T(P)": "×50,000",
        "g": "×50,000",
    }
    assert [edge.label for edge in scene.edges] == ["#", ""]


# ---- as files


def test_hostile_names_are_only_text():
    for what in ("graph", "colours", "lifted", "transfers"):
        scene = lifagu.draw(hostile_graph(), what)
        text = lifagu.drawing.to_svg(scene)
        root = ElementTree.fromstring(text.encode())
        assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
            *(
                "svg",
                "title",
                "desc",
                "style",
                "defs",
                "pattern",
                "circle",
                "g",
                "path",
                "rect",
                "ellipse",
                "text",
            )
        }
        assert not re.search(r"[\x00-\x08\u202a-\u202e\ud800-\udfff]", text)
        assert not re.search(
            r"\son\w+=|href|url\((?!#)|https?://(?!www\.w3\.org/2000/svg)",
            re.sub(r">[^<]*<", "><", text),
        )
    titles = [
        each.findtext(f"{SVG}title") for each in marks(parsed(lifagu.draw(hostile_graph())), "node")
    ]
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
    pytest.importorskip("vl_convert")
    scene = lifagu.draw(hostile_graph(), "transfers")
    png, pdf = lifagu.drawing.to_png(scene), lifagu.drawing.to_pdf(scene)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width = int.from_bytes(png[16:20], "big")
    assert width == pytest.approx(2 * max(scene.width, 280), abs=2)
    assert pdf.startswith(b"%PDF-")
    assert pdf.rstrip().endswith(b"%%EOF")
    assert png == lifagu.drawing.to_png(scene)


def test_the_page_can_leave_the_style_sheet_out():
    scene = lifagu.draw(SHAPES["epidemic"], "colours")
    assert "<style" in lifagu.drawing.to_svg(scene)
    bare = lifagu.drawing.to_svg(scene, styled=False)
    assert "<style" not in bare
    assert "style=" not in bare
    assert "prefers-color-scheme:dark" in lifagu.drawing.svg_styles()
    used = {
        name
        for each in ElementTree.fromstring(bare).iter()
        for name in (each.get("class") or "").split()
    }
    known = set(re.findall(r"\.([a-z]\w*)", lifagu.drawing.svg_styles()))
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
from support.drawn import SHAPES, hostile_graph
for graph in (SHAPES["epidemic"], SHAPES["sparse"], SHAPES["grid"], hostile_graph()):
    for what in ("colours", "lifted", "transfers"):
        print(hashlib.sha256(lifagu.drawing.to_svg(lifagu.draw(graph, what)).encode()).hexdigest())
"""


def test_equal_models_give_equal_bytes_whatever_the_hash_seed_and_the_number_of_threads():
    tests = str(Path(__file__).parent.parent)
    outputs = set()
    for seed, threads in (("0", "1"), ("1", "2")):
        path = os.pathsep.join([tests, *sys.path])
        fixed = {
            "PYTHONHASHSEED": seed,
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
        }
        setting = {**os.environ, **fixed, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, tests], env=setting, capture_output=True, check=True
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_the_figures_of_the_documentation_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/figures")
    import redraw

    folder = ROOT / "docs/figures"
    drawn = redraw.figures()
    assert {path.name for path in folder.glob("*.svg")} == {*drawn, "house.svg"}
    assert (folder / "house.svg").read_text() == redraw.house_svg(), "make figures draws it again"
    for name, scene in drawn.items():
        assert (folder / name).read_text() == lifagu.drawing.to_svg(scene), (
            f"{name} is stale; draw it again with make figures"
        )


# ---- large and small


@pytest.mark.parametrize("patients", [2, 14, 280])
def test_sizes_from_ten_to_two_thousand_nodes(patients):
    graph = epidemic(patients)
    scene = lifagu.draw(graph, "colours")
    assert len(scene.nodes) == len(graph.variable_names) + len(graph.factor_names)
    assert len(overlapping(*boxes_of(scene))[0]) == 0
    assert len(lifagu.drawing.to_svg(scene)) < 500 * len(scene.nodes) + 20_000


def test_a_million_variables_are_shown_lifted():
    scene = lifagu.draw(epidemic_arrays(250_000), "colours")
    assert scene.what == "lifted"
    assert "1,000,001 variables" in scene.notes[0]
    assert "×250,000" in {node.caption for node in scene.nodes}
    assert len(lifagu.drawing.to_svg(scene)) < 20_000


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
        arguments=np.column_stack((np.arange(count), (np.arange(count) * 7 + 1) % count)).reshape(
            -1
        ),
        tables=rng.random((count, 4)),
        factor_tables=np.arange(count),
    )
    scene = lifagu.draw(graph)
    assert 100 < len(scene.nodes) <= 300
    assert any("more nodes are left out" in note for note in scene.notes)
    ids = {node.id for node in scene.nodes}
    assert all(edge.source in ids and edge.target in ids for edge in scene.edges)
