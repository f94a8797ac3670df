"""The verbs of a case that answer: about variables, whole relations, all marginals, log Z."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifagu.basics.choices import EngineName
from lifagu.basics.inputs import items, whole
from lifagu.basics.inputs import text as asked_text
from lifagu.inference.prepared import Asked, Planned
from lifagu.questions import asking
from lifagu.questions.case_contents import CaseContents
from lifagu.questions.planning import names_in

if TYPE_CHECKING:
    from lifagu.inference.answer import Answer
    from lifagu.inference.most_probable import Best
    from lifagu.inference.relational.most_probable import RelationalBest
    from lifagu.questions.finding import Match
    from lifagu.questions.relation_answer import RelationAnswer

Question = str | Sequence[str]


@dataclass(frozen=True, eq=False, repr=False)
class CaseAnswers(CaseContents):
    """What can be asked of a case; `Case` adds the verbs that give a new one."""

    def ask(self, *variables: str, engine: EngineName = "auto") -> Answer:
        """P(variables | evidence), jointly if there are several.

        Parameters
        ----------
        *variables : str
            Names of variables.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        Answer
            Label → probability, with what it rests on.
        """
        return self.plan([variables], engine=engine).run(self.place.progress).answers[0]

    def ask_each(self, questions: Iterable[Question], engine: EngineName = "auto") -> list[Answer]:
        """Several questions that share one computation.

        Parameters
        ----------
        questions : iterable of str or tuple of str
            A name asks for a marginal, a tuple for a joint answer.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        list of Answer
        """
        return self.plan(questions, engine=engine).run(self.place.progress).answers

    def ask_all(
        self,
        relation: str,
        *,
        where: str | None = None,
        top: int | None = None,
        value: str | int | None = None,
        unobserved: bool = False,
        engine: EngineName = "auto",
    ) -> RelationAnswer:
        """P(variable | evidence) of every individual of a relation, or of the most probable ones.

        Parameters
        ----------
        relation : str
            A relation, or the kind of a ground model's variables.
        where : str, optional
            A condition in SQL about the rows of the table that the relation's first domain was read
            from, such as ``"hall = 'B'"``; individuals for whom it does not hold are left out.
        top : int, optional
            Rank them by the probability of `value`, the largest first, and keep so many; ties stay
            in the order of the model.
        value : str, bool or int, optional
            The label to rank by, the last one of the range by default.
        unobserved : bool
            Whether to leave out those of whom it was observed.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        RelationAnswer
            Name → {label: probability}; by class where individuals of a relational model have no
            names.
        """
        from lifagu.questions.whole_relations import Wanted, ask_all

        wanted = Wanted(engine, where, unobserved=unobserved)
        return ask_all(self, relation, wanted, top=top, value=value)

    def find(self, text: str, *, most: int = 12) -> list[Match]:
        """Individuals, relations, values and variables whose names go on from a text.

        Parameters
        ----------
        text : str
            What was typed, in large letters or small.
        most : int
            How many to name.

        Returns
        -------
        list of Match
            Those that are called exactly so first, then what begins so, then what contains it.
        """
        from lifagu.questions.finding import find

        return find(self, asked_text("a text to look for", text), whole("most", most, 1))

    def log_partition(self, engine: EngineName = "auto") -> float:
        """Natural log of the total weight of all assignments with the evidence fixed.

        Parameters
        ----------
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        float
        """
        return asking.only_log_partition(self.plan([], engine=engine).run(self.place.progress))

    def marginals(self, engine: EngineName = "auto") -> asking.Marginals:
        """P(variable | evidence) of every variable in one pass, or one per class if relational.

        Parameters
        ----------
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        AllMarginals, ClassMarginals or BeliefMarginals
            Name → {label: probability}.
        """
        return self.plan_marginals(engine=engine).run(self.place.progress)

    def most_probable(self, engine: EngineName = "auto") -> Best | RelationalBest:
        """A most probable assignment of all variables, and the natural log of its weight.

        Parameters
        ----------
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        Best or RelationalBest
        """
        return self.plan_most_probable(engine=engine).run(self.place.progress)

    def plan(
        self, questions: Iterable[Question] = (), *, engine: EngineName = "auto", **bp: Any
    ) -> Asked:
        """The planned answers to questions: `str` shows what they cost, `run` computes them.

        Parameters
        ----------
        questions : iterable of str or tuple of str
            As in `ask_each`; none for log Z alone.
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.
        **bp
            Settings of belief propagation, for the engine of that name.

        Returns
        -------
        Asked
        """
        asked = items("questions are given in a list", questions)
        return asking.plan(self, list(map(names_in, asked)), engine, bp)

    def plan_marginals(
        self, *, engine: EngineName = "auto", **bp: Any
    ) -> Planned[asking.Marginals]:
        """The same for all marginals.

        Parameters
        ----------
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.
        **bp
            Settings of belief propagation, for the engine of that name.

        Returns
        -------
        Planned
        """
        return asking.plan_marginals(self, engine, bp)

    def plan_most_probable(self, *, engine: EngineName = "auto") -> Planned[Best | RelationalBest]:
        """The same for a most probable assignment.

        Parameters
        ----------
        engine : {"auto", "lifted", "ground", "bp"}
            "auto" is the best exact one; "bp" is belief propagation, not exact.

        Returns
        -------
        Planned
        """
        return asking.plan_best(self, engine)
