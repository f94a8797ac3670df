"""What one model file says, parsed once: model, evidence and questions of one state of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lifagu.graph.evidence import Observation
from lifagu.relational.loaded import Loaded

if TYPE_CHECKING:
    from lifagu.graph.factor_graph import FactorGraph
    from lifagu.relational.parfactor_graph import ParfactorGraph
    from lifagu.relational.template import Template


@dataclass(frozen=True)
class Contents:
    """The parts of a file, each made when asked for: a mistake in one does not hide the others.

    template: asked with the values of parameters that are to be taken instead of the file's.
    """

    model: Callable[[], FactorGraph | ParfactorGraph]
    evidence: Callable[[], dict[str, Observation]] = dict
    queries: Callable[[], list[str]] = list
    template: Callable[[Mapping[str, object]], Template | None] = lambda _: None

    def loaded(self) -> Loaded:
        """All of an ordinary model."""
        return Loaded(self.model(), self.evidence(), self.queries())
