"""What a case says, before anybody asks: the model, the evidence, the filling, the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lifagu.basics.frozen import Frozen
from lifagu.basics.memory import LEAST
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.opened import Opened
from lifagu.questions.place import ASKED, HERE, Place
from lifagu.relational.parfactor_graph import ParfactorGraph

Evidences = tuple[Mapping[str, Observation], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Statement(Frozen):
    """A model and all that is said about it.

    opened: the model with its own evidence, or a folder to be worked on where it is. layers: what
    was observed, later layers over earlier ones and all over the model's own evidence, if that is
    kept. added: who was added, and like whom; admitted: the same of those who are to move nobody
    by being there. filling: how holes are filled, None if they stay. place: where the work is done.
    """

    opened: Opened
    layers: Evidences = ()
    keeps_own: bool = True
    added: tuple[tuple[str, str], ...] = ()
    admitted: tuple[tuple[str, str], ...] = ()
    filling: Filling | None = field(default_factory=Filling)
    place: Place = field(default_factory=Place)

    @property
    def model(self) -> FactorGraph | ParfactorGraph:
        """The model as it came, in memory."""
        return self.opened.loaded(self.place).model

    @property
    def room(self) -> int | None:
        """The memory that is left for tables beside a graph, None where no limit was given."""
        limit, model = self.place.memory_limit, self.model
        if limit is None or not isinstance(model, FactorGraph):
            return limit
        held = ASKED * len(model.arguments)
        return limit if held <= LEAST else max(1, limit - held)

    @property
    def queries(self) -> Sequence[str]:
        """The variables that the model itself asks about; those in a folder ask about none."""
        return () if self.opened.is_folder else self.opened.read(self.place.progress).queries

    @property
    def asks(self) -> Sequence[str]:
        """What the questions of a template name, relations or variables."""
        return () if self.opened.is_folder else self.opened.read(self.place.progress).asks

    @property
    def own_evidence(self) -> Mapping[str, Observation]:
        """What the model itself observes."""
        return self.opened.read(self.place.progress).evidence

    @property
    def beside_own(self) -> dict[str, Observation]:
        """What was observed beside the model's own evidence, later layers over earlier ones."""
        return {name: seen for layer in self.layers for name, seen in layer.items()}

    @property
    def way(self) -> str:
        """How competing tables are used, as in `Filling.combine`."""
        return "best" if self.filling is None else self.filling.combine

    def is_relation(self, name: str) -> bool:
        """Whether a name means all variables of a relation or a kind, and no variable has it.

        Parameters
        ----------
        name : str
            A name that somebody asks about.

        Returns
        -------
        bool
            False where an engine works on a folder, which is not read for this.
        """
        if self.place.on not in HERE:
            return False
        model = self.opened.read(self.place.progress).model
        if isinstance(model, FactorGraph):
            return name in model.kinds and name not in model.variable_names
        relation = model.vocabulary.relation_names.find(name)
        if relation is not None:
            return bool(model.vocabulary.relations[relation].of)
        return name in model.ground_part.kinds and name not in model.ground_part.variable_names
