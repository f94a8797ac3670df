"""Nodes get their sizes from their labels and their places from the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.drawing.labels import text_width
from lifagu.drawing.layout import GAP, place
from lifagu.drawing.scene import (
    BADGE,
    LABEL,
    MARGIN,
    SHIFT,
    SMALL,
    SQUARE,
    Arrow,
    Edge,
    Node,
    Scene,
)

ROOM = 1.25  # line height
MANY = 24  # edges of a hub, which are drawn faintly


def arranged(scene: Scene) -> Scene:
    """The scene with sizes and places for all nodes, and its own width and height."""
    if not scene.nodes:
        return replace(scene, width=2 * MARGIN, height=2 * MARGIN)
    nodes = [_sized(node) for node in scene.nodes]
    boxes = np.array([_box(node) for node in nodes])
    edges, arrows = _pairs(nodes, scene.edges), _pairs(nodes, scene.arrows)
    gap = GAP if any(node.label for node in nodes) else GAP / 2
    centres = place(boxes, edges, gap) + MARGIN
    below = _labels_below(centres, np.concatenate((edges, arrows, arrows)))
    placed = tuple(
        replace(node, x=round(x, 1), y=round(y, 1), below=side)
        for node, (x, y), side in zip(nodes, centres.tolist(), below, strict=True)
    )
    width, height = ((centres + boxes / 2).max(axis=0) + MARGIN).tolist()
    busy = np.bincount(edges.reshape(-1), minlength=len(nodes)) > MANY
    links = tuple(
        replace(edge, faint=bool(busy[pair].any()))
        for edge, pair in zip(scene.edges, edges, strict=True)
    )
    return replace(scene, nodes=placed, edges=links, width=round(width, 1), height=round(height, 1))


def _pairs(nodes: Sequence[Node], links: Sequence[Edge | Arrow]) -> Ints:
    """Links as pairs of numbers of nodes."""
    number = {node.id: place for place, node in enumerate(nodes)}
    pairs = [(number[link.source], number[link.target]) for link in links]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _sized(node: Node) -> Node:
    """A node as large as its shape: an ellipse around its label, or a square; small if bare."""
    if node.kind != "variable":
        side = SQUARE if node.label else SQUARE * 0.8
        return replace(node, width=side, height=side)
    if not node.label:
        return replace(node, width=SQUARE, height=SQUARE)
    width = max(text_width(node.label, LABEL), text_width(node.caption, SMALL) * 1.2)
    height = LABEL * ROOM + (SMALL * ROOM if node.caption else 0.0)
    return replace(
        node, width=round(max(width * 1.18 + 16, 34), 1), height=round(height * 1.25 + 10, 1)
    )


def _box(node: Node) -> tuple[float, float]:
    """The room of a node with all that may stand around its shape, symmetrical about its centre.

    Whether it has a group or a table makes no difference, so that figures of one graph can be
    compared.
    """
    width, height = node.width, node.height
    if not node.label:
        return width, height
    if node.stacked:
        width, height = width + 2 * SHIFT, height + 2 * SHIFT
    dots = max(len(node.marks), 1) * (2 * BADGE + 1)
    if node.kind == "variable":
        return max(width, 2 * (width * 0.37 - BADGE + dots)), height + 2 * BADGE
    return max(width + 2 * dots, text_width(factor_text(node), SMALL)), height + 2 * SMALL * ROOM


def factor_text(node: Node) -> str:
    """What stands beside a factor: its label and how many it stands for."""
    return f"{node.label} {node.caption}" if node.caption else node.label


def _labels_below(centres: Floats, edges: Ints) -> list[bool]:
    """Whether each node's label stands below it: where fewer edges lead, above if equally many."""
    up = np.zeros(len(centres))
    for one, two in ((0, 1), (1, 0)):
        way = centres[edges[:, two]] - centres[edges[:, one]]
        steep = way[:, 1] / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)
        np.add.at(up, edges[:, one], -np.sign(steep) * steep**2)
    return [bool(each > 1e-9) for each in up]
