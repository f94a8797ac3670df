"""Where nodes stand: nothing overlaps, planar shapes do not cross."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.drawing.layout import place
from lifagu.drawing.layout.boxes import overlapping, separated
from lifagu.drawing.layout.layered import layers_of
from support.drawn import SHAPES, inside, overlaps, parsed, random_graph
from support.helpers import ROOT

EXAMPLES = ["epidemic.json", "figure3.json", "smokers.json", "smokers.blog", "workshop.json"]


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
@settings(max_examples=30)
def test_random_graphs_do_not_overlap(seed, count, many, arity):
    scene = lifagu.draw(random_graph(seed, max(count, arity), many, arity))
    assert overlaps(scene) == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 40), st.integers(1, 40)),
        max_size=40,
    )
)
def test_boxes_are_found_and_pushed_apart(rows):
    array = np.array(rows, dtype=float).reshape(-1, 4)
    places, sizes = array[:, :2], array[:, 2:]
    apart = np.abs(places[:, None] - places)
    naive = (apart < (sizes[:, None] + sizes) / 2 + 3 - 1e-9).all(axis=2)
    one, two = overlapping(places, sizes, gap=3)
    assert set(zip(one.tolist(), two.tolist(), strict=True)) == set(
        zip(*np.nonzero(np.triu(naive, 1)), strict=True)
    )
    assert not len(overlapping(separated(places, sizes, gap=3), sizes, gap=3)[0])


@pytest.mark.parametrize("name", ["chain", "ring", "grid", "parts"])
def test_planar_shapes_are_drawn_without_crossings(name):
    scene = lifagu.draw(SHAPES[name])
    place = {node.id: (node.x, node.y) for node in scene.nodes}
    ways = [(place[edge.source], place[edge.target]) for edge in scene.edges]
    assert sum(cross(one, two) for at, one in enumerate(ways) for two in ways[:at]) == 0


def cross(one, two):
    """Whether two straight lines cross, other than at a shared end."""

    def side(line, point):
        (a, b), (c, d), (e, f) = *line, point
        return np.sign((c - a) * (f - b) - (d - b) * (e - a))

    return bool(
        not {*one} & {*two}
        and side(one, two[0]) * side(one, two[1]) < 0
        and side(two, one[0]) * side(two, one[1]) < 0
    )


@given(st.integers(0, 10**6))
@settings(max_examples=30)
def test_layers_hold_their_distance_and_edges_lead_to_the_next(seed):
    rng = np.random.default_rng(seed)
    scopes = [(each, int(rng.integers(each))) for each in range(1, 12)]
    scopes += [tuple(rng.choice(12, 2, replace=False).tolist()) for _ in range(rng.integers(5))]
    edges = np.array([(each, 12 + factor) for factor, scope in enumerate(scopes) for each in scope])
    extents = rng.uniform(5, 50, 12 + len(scopes))
    rows, along = layers_of(extents, edges, 0, gap=4)
    level = {node: number for number, row in enumerate(rows) for node in row.tolist()}
    for row in rows:
        needed = (extents[row][:-1] + extents[row][1:]) / 2 + 4
        assert (np.diff(along[row]) >= needed - 1e-6).all()
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
