"""One opened model, and the case that a request is about."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import lifagu
from lifagu.graph.evidence import NamedEvidence
from lifagu.questions.cards.over_cells import MOST_GROUNDED
from lifagu.web.inputs import Request
from lifagu.web.limits import Limits
from lifagu.web.sources import ModelSource, read_source

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.basics.progress import Progress

_Value = TypeVar("_Value")


@dataclass(eq=False)
class Workbench:
    """A model as it came, what was computed about it, and a folder for files on their way out.

    The model's own evidence stays here; a request says what differs from it.
    """

    came: Case
    source: ModelSource
    folder: Path

    @classmethod
    def opened(
        cls, source: ModelSource, limits: Limits, folder: Path, progress: Progress
    ) -> Workbench:
        """Read a model."""
        progress.stage("reading the model")
        loaded = read_source(source, limits)
        case = lifagu.open(loaded, on="memory", memory_limit=limits.memory // 2, progress=progress)
        return cls(case, source, folder)

    @property
    def is_large(self) -> bool:
        """Whether there are too many variables and factors to list them one by one."""
        facts = self.came.describe()
        return bool(facts["variables"] + facts["factors"] > MOST_GROUNDED)

    @property
    def progress(self) -> Progress:
        """Who is told what is being done."""
        return self.came.place.progress

    def case(self, request: Request) -> Case:
        """What a request is about: who it adds, what it observes, how it fills holes."""
        left_out = tuple(name for name, seen in request.evidence.items() if seen is None)
        case = self.came if not left_out else self._without(left_out)
        for new, like in request.add:
            case = case.add(new, like)
        seen = {name: seen for name, seen in request.evidence.items() if seen is not None}
        return case.observe(seen).fill(request.filling)

    def _without(self, names: tuple[str, ...]) -> Case:
        """The case in which some of the model's own observations were not made."""

        def compute() -> Case:
            own, graph = self.came.own_evidence, self.came.model
            if isinstance(own, NamedEvidence) and isinstance(graph, lifagu.FactorGraph):
                numbers = np.array([graph.variable_names.number(each) for each in names])
                bound = own.bound.without(numbers, len(graph.variable_names))
                kept: Mapping[str, Any] = NamedEvidence(replace(bound, of=own.bound.of), own.of)
            else:
                kept = {name: seen for name, seen in own.items() if name not in names}
            return self.came.forget().observe(kept)

        return self.once(("without", names), compute)

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """A result that is computed when first asked for; the latest are kept."""
        return self.came.opened.once(key, compute)
