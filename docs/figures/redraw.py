"""Draw the figures of the documentation again: ``make figures``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import lifagu
from house import house_svg
from lifagu.drawing.arranging import arranged
from lifagu.drawing.graphs import with_messages
from lifagu.questions.figures import draw_rounds

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"


def figures() -> dict[str, lifagu.drawing.Scene]:
    """Every figure, by the name of its file."""
    epidemic = lifagu.read(EXAMPLES / "epidemic.json")
    moved = lifagu.transfer(epidemic.with_individual("eve", like="alice"))
    return {
        "figure1.svg": lifagu.draw(epidemic, "colours"),
        "figure2.svg": lifagu.draw(epidemic, "lifted"),
        "figure3.svg": colour_passing(lifagu.read(EXAMPLES / "figure3.json")),
        "transfers.svg": lifagu.draw(moved),
        "evidence.svg": lifagu.draw(moved, "colours", evidence={"Sick.bob": "true"}),
        "hospital.svg": lifagu.draw(epidemic_of(24), "colours"),
        "large.svg": lifagu.draw(epidemic_of(2_500), "colours"),
        "smokers.svg": lifagu.draw(lifagu.read(EXAMPLES / "smokers.json")),
    }


def colour_passing(graph: lifagu.FactorGraph) -> lifagu.drawing.Scene:
    """Figure 3 of the paper: colours, what factors hear, what variables hear, colours again, and
    the lifted graph.
    """
    start, *_, end = draw_rounds(graph)
    room = arranged(
        replace(start, nodes=tuple(replace(node, marks=(0, 0)) for node in start.nodes))
    )
    start, end = (_placed_as(room, scene) for scene in (start, end))
    panels = {
        "the start": start,
        "factors hear their variables": with_messages(start, "factor"),
        "variables hear their factors": with_messages(start, "variable"),
        "B has heard more": end,
        "lifted": lifagu.draw(graph, "lifted"),
    }
    title = "Colour passing on two equal factors that share a variable"
    about = (
        "A and C hear one factor, B hears two; so B gets a colour of its own, "
        "and A and C become one relation."
    )
    return lifagu.drawing.side_by_side(list(panels.values()), list(panels), title, about)


def _placed_as(room: lifagu.drawing.Scene, scene: lifagu.drawing.Scene) -> lifagu.drawing.Scene:
    """A scene whose nodes stand where they stand in another one."""
    pairs = zip(scene.nodes, room.nodes, strict=True)
    nodes = tuple(replace(node, x=other.x, y=other.y) for node, other in pairs)
    return replace(scene, nodes=nodes, width=room.width, height=room.height)


def epidemic_of(patients: int) -> lifagu.FactorGraph:
    """The paper's epidemic with so many patients."""
    names = [f"p{number}" for number in range(1, patients + 1)]
    graph = lifagu.FactorGraph.build().variable("Epid", kind="Epid").factor("f0", ["Epid"], [1, 3])
    for name in names:
        for kind in ("Travel", "Sick", "Treat"):
            graph = graph.variable(f"{kind}.{name}", kind=kind, individual=name)
    phi1, phi2 = [3, 1, 2, 2, 1, 2, 5, 1], [1, 4, 2, 1, 3, 1, 1, 2]
    graph = graph.factors(
        {f"f1.{name}": [f"Travel.{name}", f"Sick.{name}", "Epid"] for name in names}, phi1
    )
    return graph.factors(
        {f"f2.{name}": [f"Treat.{name}", f"Sick.{name}", "Epid"] for name in names}, phi2
    ).graph()


if __name__ == "__main__":
    for name, scene in figures().items():
        lifagu.plot(scene, HERE / name)
        sys.stdout.write(f"{name}: {scene!r}\n")
    (HERE / "house.svg").write_text(house_svg())
    sys.stdout.write("house.svg: the rooms of the source\n")
