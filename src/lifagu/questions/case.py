"""A case: a model, what was observed, how its holes are filled, and where the work is done.

Everybody who asks, the command line, the page, a notebook, makes a case, asks it, and shows what
comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.choices import EngineName, Figure, Rule
from lifagu.basics.html import Shown
from lifagu.basics.inputs import constant, instance, text, whole
from lifagu.errors import ModelError, Remedy
from lifagu.filling.rules import Filling
from lifagu.graph.evidence import Evidence, EvidenceLike, NamedEvidence, by_name
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.questions.case_answers import CaseAnswers

if TYPE_CHECKING:
    from lifagu.drawing.scene import Scene
    from lifagu.questions.cards.card import Card
    from lifagu.questions.findings import Groups, Imputed, Lift
    from lifagu.questions.learning import Learning
    from lifagu.questions.moved_by_adding import Move
    from lifagu.questions.reasons import Reasons
    from lifagu.questions.scenarios import Scenarios
    from lifagu.questions.validating.result import Validation

FEW = 3  # of those who were admitted that are named


@dataclass(frozen=True, eq=False, repr=False)
class Case(CaseAnswers, Shown):
    """A model and all that is said about it; made by `lifagu.open`.

    Every verb gives a new case (`observe`, `forget`, `add`, `admit`, `fill`, `unfilled`, `at`) or
    an answer (`ask`, `ask_all`, `marginals`, `most_probable`, `log_partition`, `impute`, …).

    Attributes
    ----------
    model : FactorGraph or ParfactorGraph
        The model as it was opened.
    queries : tuple of str
        The questions that the model itself names.
    """

    # ---- verbs that give a new case

    def observe(self, evidence: EvidenceLike = None) -> Case:
        """The case in which this was observed, too; it overrides name by name.

        Parameters
        ----------
        evidence : mapping or Evidence, optional
            Name → label, or name → {label: likelihood} for what is not certain.

        Returns
        -------
        Case
        """
        if (
            isinstance(evidence, Evidence)
            and evidence.of is None
            and isinstance(self.model, FactorGraph)
        ):
            evidence = self.graph.evidence(evidence)
        layer = by_name(evidence)
        # a mapping may change later, a case may not
        kept = layer if isinstance(layer, NamedEvidence) else dict(layer)
        return replace(self, layers=(*self.layers, kept)) if kept else self

    def forget(self) -> Case:
        """The case in which nothing was observed, also not by the model itself."""
        return replace(self, layers=(), keeps_own=False)

    def add(self, name: str | int, like: str | int) -> Case:
        """The case with a new individual, all of whose tables are unknown.

        Parameters
        ----------
        name : str or int
            The new individual.
        like : str or int
            The individual whose variables and scopes it gets.

        Returns
        -------
        Case
        """
        pair = constant("an individual to add", name), constant("the individual to copy", like)
        return replace(self, added=(*self.added, pair))

    def moved_by_adding(self, *variables: str) -> Move | None:
        """How far those who were added move others, before anything is observed of them.

        Parameters
        ----------
        *variables : str
            Those to compare beside the ones that are shared with who was added.

        Returns
        -------
        Move or None
            The largest move; `str` says it in words. None where nothing moves, or nothing is asked
            of one model in memory.
        """
        from lifagu.questions.moved_by_adding import moved_by_adding

        return moved_by_adding(self, variables)

    def admit(self, name: str | int, like: str | int) -> Case:
        """The same, but the new individual moves nobody's answers before it is observed itself.

        What its tables sum to over its own variables is divided out of them, as a function of the
        variables that it shares. It is linked to those of the model, not to others admitted.

        Parameters
        ----------
        name : str or int
            The new individual.
        like : str or int
            The individual whose variables and scopes it gets.

        Returns
        -------
        Case

        Examples
        --------
        >>> import lifagu
        >>> graph = lifagu.FactorGraph.build().variable("Epid").variable("Sick.al", individual="al")
        >>> graph = graph.factor("f", ["Sick.al", "Epid"], [[4, 1], [1, 3]]).graph()
        >>> case = lifagu.open(graph)
        >>> added, admitted = case.add("eve", like="al"), case.admit("eve", like="al")
        >>> [round(each.ask("Epid")["true"], 3) for each in (case, added, admitted)]
        [0.444, 0.39, 0.444]
        """
        pair = constant("an individual to admit", name), constant("the individual to copy", like)
        return replace(self, admitted=(*self.admitted, pair))

    def fill(
        self, filling: Filling | None = None, *, by: Rule | None = None, **settings: Any
    ) -> Case:
        """The case whose holes are filled in another way.

        Parameters
        ----------
        filling : Filling, optional
            All settings in one value, instead of those below.
        by : {"auto", "lifagu", "extended"}
            The rule, optional; "auto" is the usual one.
        **settings
            As in `Filling`, such as ``theta=0.5``.

        Returns
        -------
        Case
        """
        if filling is None:
            filling = Filling.of(settings if by is None else {"by": by, **settings})
        elif by is not None or settings:
            raise ModelError("give a Filling, or the settings of one, not both")
        instance("fill", filling, Filling)
        return replace(self, filling=filling)

    def why(self, variable: str) -> Reasons:
        """Why the answer about a variable is as it is.

        Parameters
        ----------
        variable : str
            Its name.

        Returns
        -------
        Reasons
            What each observation near it told, found by leaving it out, and how many records stand
            behind the learned tables about it; `str` says it in words.
        """
        from lifagu.questions.reasons import reasons

        return reasons(self, text("a variable that is asked about", variable))

    def show(self, individual: str | int, *, like: int = 5) -> Card:
        """Everything known, filled and predicted about one individual.

        Parameters
        ----------
        individual : str or int
            Its name; with its domain before it, as in ``Machine:M-200``, where two have the name.
        like : int
            How many individuals to name that it is like.

        Returns
        -------
        Card
            A frozen value; `str` says it in words, `json` as plain values.
        """
        from lifagu.questions.cards.making import card

        name = constant("an individual that is shown", individual)
        return card(self, name, whole("like", like, 0))

    def unfilled(self) -> Case:
        """The case whose holes stay: what depends on them has no answer then."""
        return replace(self, filling=None)

    def at(self, on: str, why: str = "") -> Case:
        """The case whose work is done elsewhere.

        Parameters
        ----------
        on : {"auto", "memory", "duckdb", "spark", "spark=MASTER"}
            As in `lifagu.open`.
        why : str
            Why there, if that was chosen for somebody: `Choice.why`.

        Returns
        -------
        Case
        """
        return replace(self, place=replace(self.place, on=on, why=why))

    def scenarios(self, observed: Mapping[str, EvidenceLike]) -> Scenarios:
        """The case as it is and under each of several scenarios, to ask them side by side.

        Parameters
        ----------
        observed : mapping
            Name of a scenario → what is observed in it beside all else, as for `observe`.

        Returns
        -------
        Scenarios
            It has the verbs `ask`, `ask_each` and `ask_all`.
        """
        from lifagu.questions.scenarios import Scenarios

        return Scenarios.of(self, self.observe, observed)

    # ---- verbs that show what was found, learn, and check

    def groups(self) -> Groups:
        """What looks alike once the holes are filled."""
        from lifagu.questions import showing

        return showing.groups(self)

    def colour_rounds(self) -> Iterator[Colouring]:
        """The colours of the completed graph at the start and after each round."""
        from lifagu.questions import showing

        return showing.colour_rounds(self)

    def lift(self, out: PathLike | None = None) -> Lift:
        """Fill, find what looks alike, and say it once.

        Parameters
        ----------
        out : path, optional
            A file for the lifted model, or a folder for everything.

        Returns
        -------
        Lift
        """
        from lifagu.questions import showing

        return showing.lift(self, out)

    def impute(
        self,
        queries: Sequence[str] | None = None,
        *,
        engine: EngineName = "auto",
        out: PathLike | None = None,
        write: bool = False,
    ) -> Imputed:
        """Fill, find what looks alike, and answer about single variables.

        Parameters
        ----------
        queries : sequence of str, optional
            Variables, or relations to ask about all of; by default those the model names, else the
            first hundred near unknown factors.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.
        out : path, optional
            A folder for the results.
        write : bool
            Whether to put them into the database that a template was read from.

        Returns
        -------
        Imputed
            The marginals, each with what it rests on, and who lent what to whom.
        """
        from lifagu.questions import showing

        return showing.impute(self, queries, engine, out, write)

    def learn(self, *, seed: int = 0, restarts: int = 4, keep_best: bool = False) -> Learning:
        """Learn the tables that a template asks to be learned, from its own evidence.

        Other verbs do that by themselves where it is needed, and keep what was learned.

        Parameters
        ----------
        seed : int
            Of all that is random: which cells are hidden while choosing, and where hidden
            relations begin.
        restarts : int
            How often hidden relations are begun anew; the likeliest beginning goes on.
        keep_best : bool
            Whether an interruption ends learning with the tables found so far.

        Returns
        -------
        Learning
            The tables, how they were learned and how well. `lifagu.open` of its `loaded` asks with
            them.
        """
        import time

        from lifagu.questions.learning import Learning, learned
        from lifagu.relational.learning_task import LearningSettings

        read = self.opened.read(self.place.progress)
        if read.task is None:
            raise ModelError(
                "this model has no table to learn; a template asks for it with "
                '"table": "learn" in a parfactor; those with records or min_support are counted '
                "when it is read"
            )
        settings = LearningSettings(
            whole("seed", seed, 0), whole("restarts", restarts, 1), keep_best=keep_best
        )
        start = time.perf_counter()
        found = learned(read, self.place, settings)
        if settings == LearningSettings():
            self.opened.given = found  # what other verbs would learn
        return Learning(found, time.perf_counter() - start)

    def validate(
        self,
        hide: float = 0.2,
        *,
        hide_individuals: int | None = None,
        hidden: PathLike | Iterable[tuple[str, str]] | None = None,
        seed: int = 0,
        folds: int = 1,
        only: Sequence[str] = (),
        fill: Sequence[str] = (),
        combine: str | Sequence[str] = "",
        engine: EngineName = "auto",
    ) -> Validation:
        """Hide observed cells, predict them from all the others, and score what comes back.

        Parameters
        ----------
        hide : float
            The share of cells to hide.
        hide_individuals : int, optional
            Hide all cells of so many individuals instead.
        hidden : path or iterable of (relation, individual), optional
            Hide exactly these cells instead; a CSV file has columns of these names.
        seed : int
            Which cells chance picks.
        folds : int
            With several, every cell is hidden once, in one of so many rounds.
        only : sequence of str
            The relations whose cells are hidden and scored; all by default.
        fill : sequence of str
            Rules of filling to compare, such as "extended"; that of the case by default.
        combine : {"average", "best"}, optional
            How all of them use competing tables; by default each as it usually does. Several in a
            list are compared, too.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        Validation
            Log loss, accuracy and calibration, by relation and beside a baseline.
        """
        if self.admitted:
            raise ModelError(
                "validation is about the data, and those who are admitted move no cell of it",
                remedy=Remedy.NO_ADMISSION,
            )
        from lifagu.questions.validating.hiding import hiding_of
        from lifagu.questions.validating.methods import ways
        from lifagu.questions.validating.validate import validate

        hiding = hiding_of(hide, hide_individuals, hidden, seed, folds, only)
        return validate(self, hiding, ways(self.filling, fill, combine), engine)

    def draw(self, what: Figure | None = None) -> Scene:
        """A figure of the case, which notebooks show.

        Parameters
        ----------
        what : {"graph", "colours", "lifted", "transfers"}, optional
            What is to be seen; see `lifagu.draw`.

        Returns
        -------
        Scene
        """
        from lifagu.questions import showing

        return showing.draw(self, what)

    def draw_rounds(self) -> list[Scene]:
        """One figure per round of colour passing on the completed graph; colours change alone."""
        from lifagu.questions import showing

        return showing.draw_rounds(self)

    def plot(self, path: PathLike, what: Figure | None = None) -> Scene:
        """Write the figure to a file, and return it.

        Parameters
        ----------
        path : path
            Ends in .svg, .png or .pdf.
        what : str, optional
            As in `draw`.

        Returns
        -------
        Scene
        """
        from lifagu.questions import showing

        return showing.plot(self, path, what)

    def write(self, path: PathLike) -> None:
        """Write the model with those who were added and what was observed; holes stay holes.

        Parameters
        ----------
        path : path
            A file by its ending, or a folder.
        """
        from lifagu.questions import showing

        showing.write(self, path)

    # ---- showing

    def __repr__(self) -> str:
        subject = self.opened.given.model.summary if self.opened.given else str(self.opened.path)
        parts = [subject, *(f"{name} added like {like}" for name, like in self.added)]
        parts += [f"{name} admitted like {like}" for name, like in self.admitted[:FEW]]
        more = len(self.admitted) - FEW
        parts += [f"{more} more admitted"] if more > 0 else []
        parts += [f"{count} observed"] if (count := sum(map(len, self.layers))) else []
        parts += ["holes stay"] if self.filling is None else []
        parts += [f"on {self.place.on}"] if self.place.on not in ("auto", "memory") else []
        return f"<Case: {'; '.join(parts)}>"
