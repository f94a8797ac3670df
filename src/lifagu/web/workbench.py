"""One opened model, and the case that a request is about."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import lifagu
from lifagu.web.inputs import MOST_NAMES, Request
from lifagu.web.limits import Limits
from lifagu.web.sources import ModelSource, read_source

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.basics.progress import Progress

_Value = TypeVar("_Value")


@dataclass(eq=False)
class Workbench:
    """A model as it came, what was computed about it, and a folder for files on their way out.

    Evidence in a file is the page's to change while it is short; a long list stays here, below what
    a request observes.
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
    def has_long_evidence(self) -> bool:
        """Whether the file's evidence stays on this side."""
        return len(self.came.own_evidence) > MOST_NAMES

    @property
    def progress(self) -> Progress:
        """Who is told what is being done."""
        return self.came.place.progress

    def case(self, request: Request) -> Case:
        """What a request is about: who it adds, what it observes, how it fills holes."""
        case = self.came if self.has_long_evidence else self.came.forget()
        for new, like in request.add:
            case = case.add(new, like)
        return case.observe(request.evidence).fill(request.filling)

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """A result that is computed when first asked for; the latest are kept."""
        return self.came.opened.once(key, compute)
