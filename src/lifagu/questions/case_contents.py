"""What a case holds: its graph, what was observed, how holes were filled, where work is done.

`Case` adds the verbs.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lifagu.basics.cached import cached_property
from lifagu.basics.choices import EngineName
from lifagu.graph.evidence import Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions import asking, in_memory
from lifagu.questions.place import HERE
from lifagu.questions.planning import describe
from lifagu.questions.statement import Statement
from lifagu.questions.where_to_work import Choice, choose
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.filling.result import Transfer
    from lifagu.likeness.tolerance_bound import Merging
    from lifagu.questions.doubts import Doubt
    from lifagu.questions.told_table import ToldTable


@dataclass(frozen=True, eq=False, repr=False)
class CaseContents(Statement):
    """What follows from what a case says, computed on first use."""

    @property
    def graph(self) -> FactorGraph:
        """The ground graph with those who were added or admitted, holes and all."""
        return in_memory.grounded(self)

    @cached_property
    def evidence(self) -> Mapping[str, Observation]:
        """All that was observed, by names of the graph, or of a relational model asked as it is.

        On an engine only what was observed beside the folder's own evidence, which stays there.
        """
        return in_memory.observed(self)

    @property
    def graph_evidence(self) -> Mapping[str, Observation]:
        """All that was observed, bound to the graph, ranges being what they cover."""
        return in_memory.bound(self)

    @property
    def observed_count(self) -> int:
        """How many variables were observed, a range counting once; wrong names are an error."""
        return in_memory.observed_count(self)

    def merging(self, engine: EngineName = "auto") -> Merging | None:
        """How tables were compared, and how far that can move answers.

        Parameters
        ----------
        engine : str
            As for `ask`.

        Returns
        -------
        Merging or None
            None where tables were compared exactly.
        """
        return asking.merging(self, engine)

    @property
    def transfer(self) -> Transfer:
        """The graph with its holes filled, and from whom each table came."""
        return in_memory.transferred(self)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Which winning tables are hardly better than a guess, one entry per kind of factor."""
        if self.filling is None or self.is_whole or self.place.on not in HERE:
            return ()
        if not len(self.graph.unknown):
            return ()
        from lifagu.questions.doubts import doubts

        return doubts(self.transfer)

    @property
    def filled_by(self) -> str:
        """Which way holes were filled, in words; empty where a single rule was named."""
        if self.filling is None or self.is_whole or self.place.on not in HERE:
            return ""
        from lifagu.filling.filled_by import filled_by

        return filled_by(self.transfer)

    def told(self, factor: str) -> ToldTable | None:
        """What observations say about the table of an unknown factor, and which of them told most.

        Parameters
        ----------
        factor : str
            The name of an unknown factor.

        Returns
        -------
        ToldTable or None
            The likeliest cohort of its owner and the likeliest table, before anything was observed
            and after; `str` says it in words. None where it is not cohorts that fill it, answers do
            not sum over its tables, or what was observed is impossible.
        """
        from lifagu.questions.told_by_evidence import told_table

        return told_table(self.transfer, factor, in_memory.bound(self))

    @property
    def completed(self) -> FactorGraph | ParfactorGraph:
        """The model without holes, if they could be filled; as it is where nothing is unknown."""
        return self.model if self.is_whole else self.transfer.graph

    @property
    def lifted(self) -> ParfactorGraph:
        """What looks alike said once: the model itself where nothing is unknown, else lifted."""
        return in_memory.lifted(self)

    @property
    def filling_key(self) -> tuple[Hashable, ...]:
        """What the filled graph depends on; cases with equal keys share it."""
        return in_memory.transfer_key(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know about the file, a line each."""
        if self.opened.is_folder:
            return ()
        return self.opened.read(self.place.progress).warnings

    @cached_property
    def suspicions(self) -> tuple[str, ...]:
        """What looks as if it was not meant so in the model, a line or two each, with the fix.

        Tables counted apart, or one many times, that say how often something is true; the same
        table twice over the same variables; observations that no factor is about; labels that the
        data never shows, and tables that hardly any is behind; logical variables that are called
        like constants.
        """
        if self.opened.is_folder:
            return ()
        from lifagu.questions.suspicions import suspected_of_model, suspicions

        read = self.opened.read(self.place.progress)
        found = self.opened.once("suspected", lambda: suspected_of_model(read))
        return suspicions(found, read, in_memory.layers(self))

    @property
    def to_learn(self) -> int:
        """How many tables a template asks to be learned."""
        task = None if self.opened.is_folder else self.opened.read(self.place.progress).task
        return 0 if task is None else len(task.tables)

    @property
    def is_whole(self) -> bool:
        """Whether a relational model can be asked as it is: nothing unknown, merged or added."""
        return in_memory.is_whole(self)

    def filled_by_theta(self) -> list[tuple[float, int]]:
        """(θ, unknown factors that would be filled) at 0, 1 and the shares there are, if few.

        The default has no θ, so this is about the rule that naming one means.
        """
        case = self
        if self.filling is not None and self.filling.by == "auto":
            named = replace(
                self.filling, by="extended", combine="best", keep_known=False, interval=None
            )
            case = replace(self, filling=named)
        return case.transfer.filled_by_theta()

    def describe(self) -> dict[str, Any]:
        """Sizes, unknown factors and what can be asked, as plain values."""
        shown = self.graph if self.added or self.admitted else self.model
        key = "facts", self.added, self.admitted
        return dict(self.opened.once(key, lambda: describe(shown)))

    def where(
        self, verb: str = "ask", *, engine: EngineName = "auto", in_memory: str = ""
    ) -> Choice:
        """Where a verb would be done, and why; a place that cannot do it is an error.

        Parameters
        ----------
        verb : str
            "ask", "marginals", "most_probable", "impute", "groups" or "lift".
        engine : str
            As for `ask`.
        in_memory : str
            Why it has to be done in memory, if it has to.

        Returns
        -------
        Choice
        """
        return choose(self, verb, engine, in_memory)
