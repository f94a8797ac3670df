"""Graphs to be drawn, measures of figures by comparing all with all, and SVG taken apart."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

import lifagu
from lifagu.drawing.arranging import _box

SVG = "{http://www.w3.org/2000/svg}"


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
    return graph_with(
        count, [rng.choice(count, arity, replace=False).tolist() for _ in range(many)]
    )


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
    return bool(
        (places - sizes / 2 >= -0.1).all()
        and (places + sizes / 2 <= [scene.width, scene.height]).all()
    )


def parsed(scene):
    return ElementTree.fromstring(lifagu.drawing.to_svg(scene))


def marks(root, kind):
    return [each for each in root.iter(f"{SVG}g") if each.get("class") == f"{kind}s"]


HOSTILE = [
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "line\nbreak\ttab",
    "\u202eright\u202c",
    "שלום עולם",
    "数据" * 20,
    "soh\x01bell\x07",
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
