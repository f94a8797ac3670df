"""What a case is about: a model that was read once, or a folder to be worked on where it is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.progress import Progress
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.storage import is_folder, load
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import USUAL_ACCESS, Access

if TYPE_CHECKING:
    from lifagu.questions.place import Place

MOST_KEPT, FEW_KEPT = 24, 6  # results of each sort that are kept, of small and of large models
SMALL = 100_000  # variables and factors
_NOTHING: Any = object()
_Value = TypeVar("_Value")


@dataclass(eq=False)
class Opened:
    """A model and what came with it, shared by all cases about it; folders are read on demand.

    path: "" where a model was given; learns: whether tables that a template asks to be learned are
    learned once they are needed, else they stay unknown; parameters: values for a template; access:
    what it may use; memory_limit: what reading may take. What was computed and may
    be asked for again is kept, the latest of it.
    """

    path: PathLike = ""
    database: object = field(default=None, repr=False)
    given: Loaded | None = None
    learns: bool = True
    parameters: Mapping[str, object] = field(default_factory=dict)
    access: Access = USUAL_ACCESS
    memory_limit: int | None = None
    _kept: dict[Hashable, dict[Hashable, Any]] = field(default_factory=dict, repr=False)

    @property
    def is_folder(self) -> bool:
        """Whether an engine could work on it where it is."""
        return bool(self.path) and is_folder(self.path)

    def read(self, progress: Progress) -> Loaded:
        """The model with its own evidence and questions, in memory, read once, before learning."""
        if self.given is None:
            progress.stage(f"reading {self.path}")
            self.given = load(
                self.path,
                self.database,
                lambda what: progress.stage(f"reading {what}"),
                learn=False,
                parameters=self.parameters,
                env=self.access.env,
                query_timeout=self.access.query_timeout,
                trust_role=self.access.trust_role,
                memory_limit=self.memory_limit,
            )
        if self.given.task is not None and self.given.unlearned is not None:
            return self.given.unlearned
        return self.given

    def loaded(self, place: Place) -> Loaded:
        """The same with the tables that it asks to be learned, which is done when it is needed."""
        read = self.read(place.progress)
        if self.given is None or (self.learns and read.task is not None and self.given is read):
            from lifagu.questions.learning import learned

            self.given = learned(read, replace(place, temp=None))
        return self.given

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """A result that is computed when first asked for; the latest of each sort are kept.

        key: its sort, or several things that begin with it.
        """
        kept = self._kept.setdefault(key[0] if isinstance(key, tuple) else key, {})
        found = kept.pop(key, _NOTHING)  # in one step, as other threads may ask, too
        value: _Value = compute() if found is _NOTHING else found
        kept[key] = value  # the latest last
        while len(kept) > self._most_kept:
            kept.pop(next(iter(list(kept))), None)
        return value

    @property
    def _most_kept(self) -> int:
        model = self.given.model if self.given else None
        if not isinstance(model, FactorGraph):
            return MOST_KEPT
        return (
            MOST_KEPT if len(model.variable_names) + len(model.factor_names) <= SMALL else FEW_KEPT
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kept": {}}  # what can be computed again does not travel


def opened(
    subject: PathLike | FactorGraph | ParfactorGraph,
    database: object,
    place: Place,
    learns: bool,
    parameters: Mapping[str, object],
    access: Access,
) -> Opened:
    """Whatever a case can be about; a file is read now, a folder when it is needed."""
    if isinstance(subject, FactorGraph | ParfactorGraph):
        return Opened(given=Loaded(subject, {}))
    found = Opened(
        subject,
        database,
        learns=learns,
        parameters=parameters,
        access=access,
        memory_limit=place.memory_limit,
    )
    if database is not None or parameters or not found.is_folder:
        found.read(place.progress)
    return found
