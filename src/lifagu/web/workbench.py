"""One opened model, and what was computed about it and may be asked for again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import lifagu
from lifagu.errors import TooLargeError
from lifagu.web.inputs import MOST_NAMES, Request
from lifagu.web.limits import Limits
from lifagu.web.sources import Source, read_source

if TYPE_CHECKING:
    from lifagu import FactorGraph, ParfactorGraph, Transfer

MOST_GROUND = 10_000_000  # variables and factors of a relational model that are listed one by one
MOST_KEPT, FEW_KEPT = 24, 6  # results that are kept, of small models and of large ones
SMALL = 100_000  # variables and factors
_Value = TypeVar("_Value")


class Progress(Protocol):
    """Who is told what is being done and how far."""

    def stage(self, text: str) -> None:
        """Something new begins."""

    def __call__(self, done: int, total: int) -> None:
        """So much of it is done."""


@dataclass(eq=False)
class Workbench:
    """A model, the evidence that came with it, and a folder for files on their way out; the latest results are kept.

    Evidence in a file is the page's to change while it is short; a long list stays here, below what a request observes.
    """

    model: FactorGraph | ParfactorGraph
    evidence: dict[str, Any]
    source: Source
    limits: Limits
    folder: Path
    progress: Progress
    _kept: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def opened(cls, source: Source, limits: Limits, folder: Path, progress: Progress) -> Workbench:
        """Read a model."""
        progress.stage("reading the model")
        model, evidence = read_source(source, limits)
        return cls(model, evidence, source, limits, folder, progress)

    @property
    def has_long_evidence(self) -> bool:
        """Whether the file's evidence stays on this side."""
        return len(self.evidence) > MOST_NAMES

    def is_whole(self, request: Request) -> bool:
        """Whether a relational model is asked as it is: nothing unknown, nobody added."""
        return isinstance(self.model, lifagu.ParfactorGraph) and not (self.model.has_unknown or request.add)

    def facts(self) -> dict[str, Any]:
        """What `lifagu info` says about the model as it came."""
        return self.once(("facts",), lambda: lifagu.describe(self.model))

    def graph(self, request: Request) -> FactorGraph:
        """The ground graph with the individuals that were added."""
        return self.once(("graph", request.add), lambda: self._extended(request.add))

    def _extended(self, add: tuple[tuple[str, str], ...]) -> FactorGraph:
        if isinstance(self.model, lifagu.ParfactorGraph):
            facts = self.facts()
            count = facts["variables"] + facts["factors"]
            if count > MOST_GROUND:
                raise TooLargeError(
                    f"the model has {count} variables and factors once it is grounded, more than {MOST_GROUND}; "
                    "it is shown and asked as it is"
                )
            self.progress.stage("grounding the model")
        graph = lifagu.ground(self.model)
        for new, like in add:
            graph = graph.with_individual(new, like)
        return graph

    def observed(self, request: Request) -> dict[str, Any]:
        """The evidence of a request by names of the ground graph; wrong names and labels are an error."""
        evidence, graph = self._layered(request), self.graph(request)
        if isinstance(self.model, lifagu.ParfactorGraph):
            named = {name: seen for name, seen in evidence.items() if name in graph.variable_names}
            ranges = {name: seen for name, seen in evidence.items() if name not in named}
            evidence = {**lifagu.expand_evidence(self.model, ranges, self.graph(Request())), **named}
        graph.evidence(evidence)
        return evidence

    def _layered(self, request: Request) -> dict[str, Any]:
        if not self.has_long_evidence:
            return dict(request.evidence)
        if isinstance(self.model, lifagu.ParfactorGraph):
            return self.model.layered([self.evidence, request.evidence])
        return {**self.evidence, **request.evidence}

    def transfer(self, request: Request) -> Transfer:
        """Holes filled as the request says; evidence counts for the published algorithm only."""

        def compute() -> Transfer:
            graph = self.graph(request)
            evidence = self.observed(request) if request.method == "published" else {}
            self.progress.stage("filling unknown factors")
            return lifagu.transfer(graph, request.theta, evidence, **request.filling)

        return self.once(("transfer", *request.key), compute)

    def lifted(self, request: Request) -> ParfactorGraph:
        """The relational model as it came where nothing is unknown, else the lifted model of the completed graph."""
        if self.is_whole(request) and isinstance(self.model, lifagu.ParfactorGraph):
            return self.model

        def compute() -> ParfactorGraph:
            moved = self.transfer(request)
            self.progress.stage("lifting the model")
            return lifagu.lift(moved)

        return self.once(("lifted", *request.key), compute)

    def asked(self, request: Request) -> tuple[Transfer | ParfactorGraph, dict[str, Any]]:
        """What questions are put to, and the evidence: a relational model as it is where nothing is unknown."""
        if self.is_whole(request) and request.engine in ("auto", "lifted") and request.unknown == "one":
            return self.lifted(request), self._layered(request)
        return self.transfer(request), self.observed(request)

    @property
    def _most_kept(self) -> int:
        facts = self._kept.get(("facts",), {"variables": 0, "factors": 0})
        return MOST_KEPT if facts["variables"] + facts["factors"] <= SMALL else FEW_KEPT

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """A result that is computed when first asked for; the latest are kept."""
        if key in self._kept:
            self._kept[key] = self._kept.pop(key)  # the latest last
        else:
            self._kept[key] = compute()
            while len(self._kept) > self._most_kept:
                self._kept.pop(next(iter(self._kept)))
        value: _Value = self._kept[key]
        return value
