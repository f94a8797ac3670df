"""What is drawn, as a frozen value: nodes in places, edges, arrows, groups, and words.

Lengths are pixels, y grows downward, (x, y) is the centre of a node's shape. A scene knows nothing
of SVG, into which `lifagu.drawing.svg` turns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from lifagu.basics.html import Shown
from lifagu.basics.inputs import instance, items
from lifagu.basics.words import counted
from lifagu.errors import ModelError

LABEL = 13.0  # font sizes
SMALL = 11.0
SQUARE = 16.0  # side of a factor
SHIFT = 4.0  # by which stacked squares stand apart
MARGIN = 18.0
BADGE = 7.0  # radius of the dot with the sign of a group
NodeKind = Literal["variable", "factor", "parfactor"]


@dataclass(frozen=True)
class ColourGroup:
    """What looks alike: its sign beside its colour, what it is about, and how many belong to it."""

    sign: str
    label: str
    size: int


@dataclass(frozen=True)
class Node:
    """One node.

    x, y, width, height: of its shape; a factor's label
    stands outside, above or below, and all are empty in a large figure. caption: a smaller second
    text. group: its place in the scene's groups, -1 without one. marks: groups shown as a row of
    dots, as messages that it has heard. title: what is said about it in full, when somebody points
    at it.
    """

    id: str
    kind: NodeKind
    label: str
    title: str
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    caption: str = ""
    group: int = -1
    unknown: bool = False
    stacked: bool = False
    observed: bool = False
    below: bool = False
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A line between a variable and a factor, by ids.

    label: "×2" for two arguments, "#" where a group is counted. dotted: a ground variable and the
    relation it is of. faint: one of very many.
    """

    source: str
    target: str
    label: str = ""
    dotted: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Arrow:
    """From the factor that lends its table to the one that takes it; label: a share below 1."""

    source: str
    target: str
    label: str = ""
    title: str = ""


@dataclass(frozen=True)
class Scene(Shown):
    """A figure: everything that is drawn, in its place.

    `draw` makes one, notebooks show it, `to_svg`, `to_png` and `to_pdf` turn it into an image.
    what: graph, colours, lifted or transfers; description: the whole in words, for those who do not
    see it; notes: sentences that stand below; width, height: without legend and notes; panels: the
    place and title of each, where there are several.

    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> scene = lifagu.draw(graph)
    >>> scene, scene.title
    (<Scene: graph, 2 nodes, 1 edge>, 'A factor graph with 1 variable and 1 factor')
    """

    what: str
    title: str
    description: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    arrows: tuple[Arrow, ...] = ()
    groups: tuple[ColourGroup, ...] = ()
    notes: tuple[str, ...] = ()
    width: float = 0.0
    height: float = 0.0
    panels: tuple[tuple[float, float, str], ...] = ()

    @property
    def summary(self) -> str:
        """What is drawn, counted, in words."""
        parts = [counted(len(self.nodes), "node"), counted(len(self.edges), "edge")]
        parts += [counted(len(self.arrows), "arrow")] if self.arrows else []
        return ", ".join([self.what, *parts])

    def __repr__(self) -> str:
        return f"<Scene: {self.summary}>"


_Link = TypeVar("_Link", Edge, Arrow)


def side_by_side(
    scenes: Sequence[Scene], titles: Sequence[str], title: str, description: str
) -> Scene:
    """Several scenes as panels of one, from left to right, with a title below each.

    Equal numbers of groups are equal colours everywhere; the legend is that of the first panel that
    has the most groups. Ids of nodes get the number of their panel before them, as in ``1:v0``.

    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph()
    >>> plain, coloured = lifagu.draw(graph), lifagu.draw(graph, "colours")
    >>> side_by_side([plain, coloured], ["plain", "coloured"], "Twice", "The same graph")
    <Scene: graph, 4 nodes, 2 edges>
    """
    scenes = items("scenes are given in a list", scenes)
    titles = items("titles are given in a list", titles)
    for scene in scenes:
        instance("side_by_side", scene, Scene)
    if not scenes or len(scenes) != len(titles):
        raise ModelError(
            f"{len(titles)} titles were given for {len(scenes)} scenes; "
            "give one each, and at least one"
        )
    gap = 34.0
    height, left = max(scene.height for scene in scenes), 0.0
    nodes: list[Node] = []
    edges: list[Edge] = []
    arrows: list[Arrow] = []
    panels = []
    for number, (scene, heading) in enumerate(zip(scenes, titles, strict=True), start=1):
        down = (height - scene.height) / 2
        nodes += [
            replace(each, id=f"{number}:{each.id}", x=each.x + left, y=each.y + down)
            for each in scene.nodes
        ]
        edges += [_renamed(each, number) for each in scene.edges]
        arrows += [_renamed(each, number) for each in scene.arrows]
        panels.append((left + scene.width / 2, height, heading))
        left += scene.width + gap
    most = max(scenes, key=lambda scene: sum(group.size > 0 for group in scene.groups))
    return Scene(
        scenes[0].what,
        title,
        description,
        tuple(nodes),
        tuple(edges),
        tuple(arrows),
        most.groups,
        width=left - gap,
        height=height + 24,
        panels=tuple(panels),
    )


def _renamed(link: _Link, number: int) -> _Link:
    return replace(link, source=f"{number}:{link.source}", target=f"{number}:{link.target}")
