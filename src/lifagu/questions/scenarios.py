"""Scenarios: the same question as things are and under each of several sets of observations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from lifagu.basics.choices import EngineName
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Shown
from lifagu.basics.inputs import shown, text
from lifagu.errors import LifaguError, ModelError
from lifagu.graph.evidence import EvidenceLike
from lifagu.inference.answer import Answer
from lifagu.questions.relation_answer import RelationAnswer
from lifagu.questions.whole_relations import Wanted, ask_all

if TYPE_CHECKING:
    from lifagu.questions.case_answers import CaseAnswers, Question

AS_IT_IS = "as it is"
_Told = TypeVar("_Told")


@dataclass(frozen=True, eq=False, repr=False)
class SideBySide(Frozen, Shown, Mapping[str, Answer | RelationAnswer]):
    """The answers to one question, first as it is, then under each scenario, by its name.

    Attributes
    ----------
    answers : mapping
        Name → `Answer`, or `RelationAnswer` about the same individuals in the same order.
    value : str
        Of a whole relation the label that is compared; else empty.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build().variables(["A", "B"])
    >>> case = lifagu.open(builder.factor("f", ["A", "B"], [[1, 2], [3, 4]]).graph())
    >>> found = case.scenarios({"B holds": {"B": "true"}}).ask("A")
    >>> list(found), round(found["B holds"]["true"], 4)
    (['as it is', 'B holds'], 0.6667)
    >>> {label: round(points, 2) for label, points in found.differences("B holds").items()}
    {'false': 3.33, 'true': -3.33}
    """

    answers: Mapping[str, Answer | RelationAnswer]
    value: str = ""

    def __getitem__(self, name: str) -> Answer | RelationAnswer:
        return self.answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.answers)

    def __len__(self) -> int:
        return len(self.answers)

    def probabilities(self, name: str) -> dict[Any, float]:
        """What is compared: by label (or labels of a joint answer), or by individual for a label.

        Parameters
        ----------
        name : str
            A scenario, or "as it is".

        Returns
        -------
        dict
        """
        found = self.answers[name]
        if isinstance(found, RelationAnswer):
            return dict(zip(found, found.probabilities(self.value).tolist(), strict=True))
        single = len(found.variables) == 1
        keys = [labels[0] if single else labels for labels in product(*found.ranges)]
        return dict(zip(keys, found.probabilities.reshape(-1).tolist(), strict=True))

    def differences(self, name: str) -> dict[Any, float]:
        """By how many percentage points a scenario moves the answer, by the same keys.

        Parameters
        ----------
        name : str
            A scenario.

        Returns
        -------
        dict
        """
        before, after = self.probabilities(AS_IT_IS), self.probabilities(name)
        return {key: 100 * (after[key] - share) for key, share in before.items() if key in after}

    def __repr__(self) -> str:
        first = self.answers[AS_IT_IS]
        about = first.relation if isinstance(first, RelationAnswer) else ", ".join(first.variables)
        return f"<SideBySide: P({about}), {', '.join(self.answers)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Scenarios(Frozen):
    """A case and what might be observed beside it; made by `Case.scenarios`.

    Attributes
    ----------
    cases : mapping
        Name → case, the first one as it is.
    """

    cases: Mapping[str, CaseAnswers]

    @classmethod
    def of(
        cls,
        case: CaseAnswers,
        observe: Callable[[EvidenceLike], CaseAnswers],
        observed: Mapping[str, EvidenceLike],
    ) -> Scenarios:
        """The case as it is, and with each of several sets of observations.

        Parameters
        ----------
        case : CaseAnswers
            As things are.
        observe : callable
            Gives the case in which something was observed, too.
        observed : mapping
            Name of a scenario → what is observed in it.

        Returns
        -------
        Scenarios
        """
        if not isinstance(observed, Mapping) or not observed:
            raise ModelError(
                "scenarios are a mapping from a name to what is observed in it, such as "
                f'{{"tested": {{"Test(eve)": "positive"}}}}, not {shown(observed)}'
            )
        cases = {AS_IT_IS: case}
        for name, seen in observed.items():
            if text("a scenario", name) == AS_IT_IS:
                raise ModelError(f"'{AS_IT_IS}' is no name of a scenario; give it another one")
            with in_scenario(name):
                cases[name] = observe(seen)
        return cls(cases)

    def ask(self, *variables: str, engine: EngineName = "auto") -> SideBySide:
        """P(variables | evidence) in each of them, jointly if there are several.

        Parameters
        ----------
        *variables : str
            Names of variables.
        engine : {"auto", "lifted", "ground", "bp"}
            As for `Case.ask`.

        Returns
        -------
        SideBySide
        """
        return self.ask_each([variables], engine)[0]

    def ask_each(
        self, questions: Iterable[Question], engine: EngineName = "auto", **bp: Any
    ) -> list[SideBySide]:
        """Several questions that share the computations.

        Parameters
        ----------
        questions : iterable of str or tuple of str
            A name asks for a marginal, a tuple for a joint answer.
        engine : {"auto", "lifted", "ground", "bp"}
            As for `Case.ask`.
        **bp
            Settings of belief propagation, for the engine of that name.

        Returns
        -------
        list of SideBySide
        """
        asked: Sequence[Question] = list(questions)
        found = self._each(
            lambda case: case.plan(asked, engine=engine, **bp).run(case.place.progress).answers
        )
        return [
            SideBySide({name: answers[place] for name, answers in found.items()})
            for place in range(len(asked))
        ]

    def ask_all(
        self,
        relation: str,
        *,
        where: str | None = None,
        top: int | None = None,
        value: str | int | None = None,
        unobserved: bool = False,
        engine: EngineName = "auto",
        **bp: Any,
    ) -> SideBySide:
        """A whole relation in each of them: the same individuals, ranked as it is.

        Parameters
        ----------
        relation : str
            A relation, or the kind of a ground model's variables.
        where : str, optional
            As for `Case.ask_all`.
        top : int, optional
            As for `Case.ask_all`.
        value : str, bool or int, optional
            The label that is compared, the last one of the range by default.
        unobserved : bool
            As for `Case.ask_all`.
        engine : {"auto", "lifted", "ground", "bp"}
            As for `Case.ask`.
        **bp
            Settings of belief propagation, for the engine of that name.

        Returns
        -------
        SideBySide
        """
        wanted = Wanted(engine, where, by_name=True, bp=bp, unobserved=unobserved)
        first = ask_all(self.cases[AS_IT_IS], relation, wanted, top=top, value=value)
        found = {AS_IT_IS: first}
        for name, case in self.cases.items():
            if name != AS_IT_IS:
                with in_scenario(name):
                    other = ask_all(case, relation, replace(wanted, unobserved=False))
                    found[name] = other.of_names(first.requested.names)
        return SideBySide(found, first.checked(value))

    def _each(self, ask: Callable[[CaseAnswers], _Told]) -> dict[str, _Told]:
        """What each case answers; an error says in which scenario."""
        found = {}
        for name, case in self.cases.items():
            with in_scenario(name):
                found[name] = ask(case)
        return found

    def __repr__(self) -> str:
        return f"<Scenarios: {', '.join(self.cases)}>"


@contextmanager
def in_scenario(scenario: str) -> Iterator[None]:
    """Let an error say in which scenario it is, unless it is so without one."""
    try:
        yield
    except LifaguError as error:
        if scenario == AS_IT_IS:
            raise
        raise error.saying(f"in the scenario '{scenario}': {error.message}") from None
