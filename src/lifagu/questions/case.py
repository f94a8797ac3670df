"""A case: a model, what was observed, who was added, how its holes are filled, and where the work
is done.

Everybody who asks, the command line, the page, a notebook, makes a case, asks it, and shows what
comes back.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.html import Shown
from lifagu.basics.inputs import instance, items, text
from lifagu.basics.progress import Progress, Tell, listener
from lifagu.errors import ModelError
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Evidence, EvidenceLike, Observation, Observations, by_name
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.prepared import Asked, Planned
from lifagu.questions import asking, in_memory
from lifagu.questions.opened import Opened, opened
from lifagu.questions.place import Place
from lifagu.questions.planning import describe, names_in
from lifagu.questions.statement import Statement
from lifagu.questions.where_to_work import Choice, choose
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.drawing.scene import Scene
    from lifagu.filling.result import Transfer
    from lifagu.inference.answer import Answer
    from lifagu.inference.most_probable import Best
    from lifagu.inference.relational.most_probable import RelationalBest
    from lifagu.likeness.tolerance_bound import Merging
    from lifagu.questions.findings import Groups, Imputed, Lift

Question = str | Sequence[str]


def open_case(
    subject: PathLike | FactorGraph | ParfactorGraph | Transfer | Loaded | Case,
    *,
    on: str = "auto",
    database: str | None = None,
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    resume: bool = False,
    rounds: int = 1000,
    progress: Progress | Tell | None = None,
) -> Case:
    """Open a model to ask it: a file, a folder of Parquet tables, a template with its data, or a
    model in memory.

    A file is read once, with its evidence and its questions. on: where the work is done, "memory",
    "duckdb" or "spark" ("spark=MASTER"), the last two for folders only; "auto" stays in memory
    while a folder fits there. database: the path or URL that a template is to read instead of its
    own. memory_limit: in bytes, three quarters of what is free by default. temp, resume, rounds: as
    in `Place`. progress: told how far the work is, as (done, total), and what is being done if it
    has a `stage`. Unknown factors are filled by the usual rule; `Case.fill` chooses another one,
    `Case.unfilled` none.

    >>> graph = FactorGraph.build().variables(["A", "B", "C"]).factor("f1", ["A", "B"], [1, 2, 3, 4])
    >>> case = open_case(graph.factor("f2", ["C", "B"], None).graph())
    >>> case.observe({"A": "true"}).ask("C")
    <P(C): false: 0.305556, true: 0.694444>
    """
    place = Place(on, memory_limit, temp, resume, rounds, listener(progress))
    if isinstance(subject, Case):
        return replace(subject, place=place)
    if isinstance(subject, Loaded):
        return Case(Opened(given=subject), place=place)
    if isinstance(subject, str | os.PathLike | FactorGraph | ParfactorGraph):
        return Case(opened(subject, database, place.progress), place=place)
    return _of_transfer(subject, place)


def _of_transfer(moved: Transfer, place: Place) -> Case:
    """The case of a graph that was filled already."""
    from lifagu.filling.result import Transfer

    if not isinstance(moved, Transfer):
        raise ModelError(f"a path or a model is opened, not {type(moved).__name__}")
    case = Case(Opened(given=Loaded(moved.original, {})), filling=moved.filling, place=place)
    case.opened.once(in_memory.transfer_key(case), lambda: moved)
    return case


@dataclass(frozen=True, eq=False, repr=False)
class Case(Statement, Shown):
    """A model and all that is said about it; made by `lifagu.open`. Every verb gives a new case or
    an answer.
    """

    # ---- verbs that give a new case

    def observe(self, evidence: EvidenceLike = None) -> Case:
        """The case in which this was observed, too: name → label, or label → likelihood; it
        overrides name by name.
        """
        if (
            isinstance(evidence, Evidence)
            and evidence.of is None
            and isinstance(self.model, FactorGraph)
        ):
            evidence = self.graph.evidence(evidence)
        layer = by_name(evidence)
        # a mapping may change later, a case may not
        kept = layer if isinstance(layer, Observations) else dict(layer)
        return replace(self, layers=(*self.layers, kept)) if kept else self

    def forget(self) -> Case:
        """The case in which nothing was observed, also not by the model itself."""
        return replace(self, layers=(), keeps_own=False)

    def add(self, name: str, like: str) -> Case:
        """The case with a new individual that has another one's variables and scopes, all tables
        unknown.
        """
        pair = text("an individual to add", name), text("the individual to copy", like)
        return replace(self, added=(*self.added, pair))

    def fill(
        self, filling: Filling | None = None, *, by: str | None = None, **settings: Any
    ) -> Case:
        """The case whose holes are filled in another way: by a rule, and with settings as in
        `Filling`.

        by: "individuals" (the usual one), "structure", "published", "steps" or "profiles".
        """
        if filling is None:
            filling = Filling.of(settings) if by is None else Filling.by(by, **settings)
        elif by is not None or settings:
            raise ModelError("give a Filling, or the settings of one, not both")
        instance("fill", filling, Filling)
        return replace(self, filling=filling)

    def unfilled(self) -> Case:
        """The case whose holes stay: what depends on them has no answer then."""
        return replace(self, filling=None)

    def at(self, on: str) -> Case:
        """The case whose work is done elsewhere: in "memory", on "duckdb" or on "spark"; "auto"
        chooses.
        """
        return replace(self, place=replace(self.place, on=on))

    # ---- what it is about

    @property
    def graph(self) -> FactorGraph:
        """The ground graph with those who were added, holes and all."""
        return in_memory.grounded(self)

    @cached_property
    def evidence(self) -> Mapping[str, Observation]:
        """All that was observed, by name: by names of the graph unless a relational model is asked
        as it is.

        On an engine only what was observed beside the folder's own evidence, which stays there.
        """
        return in_memory.observed(self)

    @property
    def graph_evidence(self) -> Mapping[str, Observation]:
        """All that was observed, bound to the graph, ranges being what they cover."""
        return in_memory.bound(self)

    @property
    def observed_count(self) -> int:
        """How many variables were observed, a range of them counting once; wrong names and labels
        are an error.
        """
        return in_memory.observed_count(self)

    def merging(self, engine: str = "auto") -> Merging | None:
        """How tables were compared, and how far that can move answers; None where they were
        compared exactly.
        """
        return asking.merging(self, engine)

    @property
    def transfer(self) -> Transfer:
        """The graph with its holes filled, and from whom each table came."""
        return in_memory.transferred(self)

    @property
    def completed(self) -> FactorGraph | ParfactorGraph:
        """The model without holes, if they could be filled: a relational model as it is where
        nothing is unknown.
        """
        return self.model if self.is_whole else self.transfer.graph

    @property
    def lifted(self) -> ParfactorGraph:
        """What looks alike in it said once: the model as it is where nothing is unknown, else a
        lifted one.
        """
        return in_memory.lifted(self)

    @property
    def filling_key(self) -> tuple[Hashable, ...]:
        """What the filled graph depends on; cases with equal keys share it."""
        return in_memory.transfer_key(self)

    @property
    def is_whole(self) -> bool:
        """Whether a relational model can be asked as it is: nothing in it is unknown or merged,
        nobody was added.
        """
        return in_memory.is_whole(self)

    def describe(self) -> dict[str, Any]:
        """Sizes, unknown factors and what can be asked, as plain values."""
        shown = self.graph if self.added else self.model
        return dict(self.opened.once(("facts", self.added), lambda: describe(shown)))

    def where(self, verb: str = "ask", *, engine: str = "auto", in_memory: str = "") -> Choice:
        """Where a verb would be done, and why; a place that cannot do it is an error."""
        return choose(self, verb, engine, in_memory)

    # ---- verbs that give an answer

    def ask(self, *variables: str, engine: str = "auto") -> Answer:
        """P(variables | evidence), jointly if there are several."""
        return self.plan([variables], engine=engine).run(self.place.progress).answers[0]

    def ask_each(self, questions: Iterable[Question], engine: str = "auto") -> list[Answer]:
        """Several questions that share one computation: a name asks for a marginal, a tuple for a
        joint answer.
        """
        return self.plan(questions, engine=engine).run(self.place.progress).answers

    def log_partition(self, engine: str = "auto") -> float:
        """Natural log of the total weight of all assignments with the evidence fixed."""
        return asking.only_log_partition(self.plan([], engine=engine).run(self.place.progress))

    def marginals(self, engine: str = "auto") -> asking.Marginals:
        """P(variable | evidence) of every variable in one pass; of a relational model one per
        class.
        """
        return self.plan_marginals(engine=engine).run(self.place.progress)

    def most_probable(self, engine: str = "auto") -> Best | RelationalBest:
        """A most probable assignment of all variables, and the natural log of its weight."""
        return self.plan_most_probable(engine=engine).run(self.place.progress)

    def plan(self, questions: Iterable[Question] = (), *, engine: str = "auto", **bp: Any) -> Asked:
        """The planned answers to questions, none for log Z alone: `str` shows what it costs, `run`
        computes.

        bp: settings of belief propagation, for the engine of that name.
        """
        asked = items("questions are given in a list", questions)
        return asking.plan(self, list(map(names_in, asked)), engine, bp)

    def plan_marginals(self, *, engine: str = "auto", **bp: Any) -> Planned[asking.Marginals]:
        """The same for all marginals."""
        return asking.plan_marginals(self, engine, bp)

    def plan_most_probable(self, *, engine: str = "auto") -> Planned[Best | RelationalBest]:
        """The same for a most probable assignment."""
        return asking.plan_best(self, engine)

    def groups(self) -> Groups:
        """What looks alike once the holes are filled."""
        from lifagu.questions import finding

        return finding.groups(self)

    def lift(self, out: PathLike | None = None) -> Lift:
        """Fill, find what looks alike, and say it once; out: a file or folder for all of it."""
        from lifagu.questions import finding

        return finding.lift(self, out)

    def impute(
        self,
        queries: Sequence[str] | None = None,
        *,
        engine: str = "auto",
        out: PathLike | None = None,
        write: bool = False,
    ) -> Imputed:
        """Fill, find what looks alike, and answer about single variables, each with what the answer
        rests on.

        queries: by default those of the model itself, else the first hundred near unknown factors.
        out: a folder for the results; write: put them into the database that a template was read
        from.
        """
        from lifagu.questions import finding

        return finding.impute(self, queries, engine, out, write)

    def draw(self, what: str | None = None) -> Scene:
        """A figure of the case, which notebooks show; see `lifagu.draw`."""
        from lifagu.questions import finding

        return finding.draw(self, what)

    def plot(self, path: PathLike, what: str | None = None) -> Scene:
        """Write the figure to a .svg, .png or .pdf file, and return it."""
        from lifagu.questions import finding

        return finding.plot(self, path, what)

    def write(self, path: PathLike) -> None:
        """Write the model with those who were added and all that was observed; its holes stay
        holes.
        """
        from lifagu.questions import finding

        finding.write(self, path)

    # ---- showing

    def __repr__(self) -> str:
        subject = self.opened.given.model.summary if self.opened.given else str(self.opened.path)
        parts = [subject, *(f"{name} added like {like}" for name, like in self.added)]
        parts += [f"{count} observed"] if (count := sum(map(len, self.layers))) else []
        parts += ["holes stay"] if self.filling is None else []
        parts += [f"on {self.place.on}"] if self.place.on not in ("auto", "memory") else []
        return f"<Case: {'; '.join(parts)}>"
