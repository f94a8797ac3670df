"""What comes of reading: a model, its evidence and questions, and the database it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lifagu.basics.arrays import Ints, as_ids
from lifagu.basics.names import ChosenNames
from lifagu.basics.words import counted
from lifagu.errors import ModelError
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph

if TYPE_CHECKING:
    from lifagu.relational.learning_task import LearnedModel, LearningTask
    from lifagu.relational.parfactor_graph import ParfactorGraph
    from lifagu.relational.source import Source
    from lifagu.relational.template import Template


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """A model with its own evidence and its own questions, read once.

    Parameters
    ----------
    model : FactorGraph or ParfactorGraph
        The model.
    evidence : mapping
        By name; that of a template is bound to its graph already, for `FactorGraph.evidence`.
    queries : sequence of str
        Names of the variables asked about; those of a template are made on demand.
    source : Source, optional
        The database that a template was read from.
    template : Template, optional
        What was read from it, so that it can be read again as if some cells were not there.
    untold : mapping
        Relations observed in a table in which records are counted as well, and whose parfactor.
    task : LearningTask, optional
        What there is to learn, where a template asks for it.
    learned_at : tuple of int
        The number of the first ground factor of each table to learn; its others follow.
    learned : LearnedModel, optional
        What was learned; until then these factors have no table.
    unlearned : Loaded, optional
        The same before learned tables were put in, as these depend on which conditions were
        observed.
    warnings : tuple of str
        What a user should know about the file, a line each.
    """

    model: FactorGraph | ParfactorGraph
    evidence: Mapping[str, Observation]
    queries: Sequence[str] = ()
    source: Source | None = None
    template: Template | None = None
    untold: Mapping[str, str] = field(default_factory=dict)
    task: LearningTask | None = None
    learned_at: tuple[int, ...] = ()
    learned: LearnedModel | None = None
    unlearned: Loaded | None = None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        said = counted(len(self.evidence), "observation"), counted(len(self.queries), "question")
        return f"<Loaded: {self.model!r}, {', '.join(said)}>"

    @property
    def asks(self) -> tuple[str, ...]:
        """What the questions of a template name, relations or variables, whether rows come of them.

        Returns
        -------
        tuple of str
        """
        return () if self.template is None else tuple(each.name for each in self.template.queries)

    def query_numbers(self) -> Ints:
        """The numbers of the variables asked about, in a factor graph.

        Returns
        -------
        ndarray of int
        """
        if isinstance(self.queries, ChosenNames):
            return self.queries.numbers
        if not isinstance(self.model, FactorGraph):
            raise ModelError("variables of relational models have no numbers")
        return as_ids([self.model.variable_names.number(name) for name in self.queries], "queries")
