"""Scenes for a page to draw, and figures to keep; all drawing is done in the room `drawing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifagu.errors import ModelError
from lifagu.web.inputs import Request
from lifagu.web.reply import Reply
from lifagu.web.workbench import Workbench

if TYPE_CHECKING:
    from lifagu import FactorGraph, ParfactorGraph

MOST_DRAWN = 2000


def graph_scene(graph: FactorGraph) -> dict[str, Any]:
    """A graph as plain values."""
    from lifagu.drawing.graphs import graph_scene as scene_of

    return _plain(scene_of(graph))


def lifted_scene(model: ParfactorGraph) -> dict[str, Any]:
    """A relational model as plain values."""
    from lifagu.drawing.lifted import lifted_scene as scene_of

    return _plain(scene_of(model))


def _plain(scene: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(scene)


def figure(bench: Workbench, request: Request) -> Reply:
    """A figure as a file."""
    raise ModelError("no figures yet")
