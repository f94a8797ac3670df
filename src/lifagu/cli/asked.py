"""``lifagu query``: questions about variables and whole relations, as it is or under scenarios."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import lifagu
from lifagu.cli.cases import opened, placed, propagation, remark_added, remark_answers, run
from lifagu.cli.output import ProgressLine, note, say, say_json
from lifagu.cli.results import answer_table, answers_json, merging_json

if TYPE_CHECKING:
    from lifagu import Case
    from lifagu.inference.prepared import Result
    from lifagu.questions.reasons import Reasons
    from lifagu.questions.relation_answer import RelationAnswer

Options = argparse.Namespace
MOST_JSON = 10**5  # individuals that one JSON object may list
WHOLE = ("top", "value", "where", "unobserved", "out")  # options about whole relations


def query(options: Options) -> None:
    """``lifagu query``."""
    with opened(options) as (case, progress):
        case = placed(options, case, "ask", options.engine)
        questions, relations = _asked(options, case)
        _check(options, case, questions, relations)
        if options.scenario:
            _ask_scenarios(options, case, questions, relations)
            return
        result = None
        if questions:
            planned = case.plan(questions, engine=options.engine, **propagation(options))
            result = run(options, case, planned, progress)
        found = [_whole(options, case, each, progress) for each in relations]
        remark_added(options, case, [name for each in questions for name in each])
        why = _explain(case, result, found) if options.explain else []
    if result is not None:
        remark_answers(options, result)
    if options.json:
        _say_json(options, case, result, found, why)
        return
    for each in why:
        note(str(each))
    if result is not None:
        evidence, said = case.evidence, case.beside_own
        for answer in result.answers:
            say(answer_table(answer, evidence, case.way, said))
        if result.log_partition is not None:
            say(f"log Z = {result.log_partition:.10g}")
    for answered in found:
        _say_relation(options, answered)


def _asked(options: Options, case: Case) -> tuple[list[Sequence[str]], list[str]]:
    """Questions about variables, and whole relations; by default what the model itself asks."""
    names: Sequence[str] = options.queries
    if not names and (options.scenario or any(getattr(options, each) for each in WHOLE)):
        names = [name for name in case.asks if case.is_relation(name)]
    names = names or list(case.queries)
    if not names:
        raise lifagu.ModelError(
            f"name the variables to ask about; {options.model} asks about none itself"
        )
    if options.joint:
        return [names], []
    relations = [name for name in names if case.is_relation(name)]
    return [[name] for name in names if name not in relations], relations


def _check(
    options: Options, case: Case, questions: list[Sequence[str]], relations: Sequence[str]
) -> None:
    """Refuse options that say nothing about what is asked."""
    given = next((f"--{each}" for each in WHOLE if getattr(options, each)), None)
    if given and not relations and not (options.scenario and given == "--value"):
        for name in (name for names in questions for name in names if "(" not in name):
            _check_name(case, name)
        raise lifagu.ModelError(f"{given} is about a whole relation; name one, or leave it out")
    if options.value and options.top is None and not options.scenario:
        raise lifagu.ModelError("--value says by what to rank; say how many to show with --top N")
    if not options.out:
        return
    from lifagu.questions.relation_answer import check_table

    if options.scenario:
        raise lifagu.ModelError("--out writes answers as it is; leave out --scenario or --out")
    if len(relations) > 1:
        raise lifagu.ModelError(
            f"--out writes one relation; ask about {' and '.join(relations)} one by one"
        )
    check_table(options.out)


def _check_name(case: Case, name: str) -> None:
    """What is no variable was meant as a relation."""
    from lifagu.questions.whole_relations import check_relation, is_single

    if not is_single(case, name):
        check_relation(case, name)


def _whole(options: Options, case: Case, relation: str, progress: ProgressLine) -> RelationAnswer:
    """The answer about a relation, written where it is to go."""
    from lifagu.questions.whole_relations import Wanted, ask_all

    few = MOST_JSON if options.json and not options.top else None
    wanted = Wanted(
        options.engine,
        options.where,
        most=few,
        bp=propagation(options),
        unobserved=options.unobserved,
    )
    found = ask_all(case, relation, wanted, top=options.top, value=options.value)
    if options.out:
        progress.stage(f"writing {options.out}")
        found.write(options.out)
    return found


def _explain(case: Case, result: Result | None, found: Sequence[RelationAnswer]) -> list[Reasons]:
    """Tell why the weakest tables behind answers are as they are; what told the first answers."""
    if case.place.on not in ("auto", "memory"):
        return []
    from lifagu.cli.explained import MOST_EXPLAINED, first_reasons, weakest_explained

    answers = [] if result is None else result.answers
    factors = [name for answer in answers for name in answer.rests_on]
    asked = [name for answer in answers for name in answer.variables]
    if factors and (told := weakest_explained(case, asked, factors)):
        note(told)
    if found and case.filled_by:
        note(case.filled_by)
    for each in found:
        asked += [] if each.classes else each.requested.names[:MOST_EXPLAINED]
    return first_reasons(case, asked)


def _say_relation(options: Options, found: RelationAnswer) -> None:
    from lifagu.cli.relations import relation_table, relation_title

    written = f"{options.out}: {relation_title(found)}" if options.out else ""
    say(written or relation_table(found))


def _say_json(
    options: Options,
    case: Case,
    result: Result | None,
    found: Sequence[RelationAnswer],
    why: Sequence[Reasons],
) -> None:
    """One object: answers about variables, then whole relations."""
    told = {"why": [each.json() for each in why]} if options.explain else {}
    answers: dict[str, Any] = {"answers": []} if result is None else answers_json(result)
    relations: dict[str, Any] = {}
    if found:
        from lifagu.cli.relations import relation_json

        relations = {"relations": list(map(relation_json, found))}
    say_json({**answers, **relations, **merging_json(case.merging(options.engine)), **told})


def _ask_scenarios(
    options: Options, case: Case, questions: Sequence[Sequence[str]], relations: Sequence[str]
) -> None:
    """Each question as it is and under each scenario."""
    from lifagu.cli.relations import scenarios_json, scenarios_table

    given = dict(options.scenario)
    if len(given) < len(options.scenario):
        raise lifagu.ModelError("--scenario says the same twice; leave out one of them")
    scenarios = case.scenarios(given)
    found = []
    if questions:
        found = scenarios.ask_each(questions, options.engine, **propagation(options))
    chosen = {name: getattr(options, name) for name in ("where", "top", "value", "unobserved")}
    for relation in relations:
        bp = propagation(options)
        found.append(scenarios.ask_all(relation, engine=options.engine, **chosen, **bp))
    if options.json:
        say_json(scenarios_json(found, given))
        return
    evidence, said = case.evidence, case.beside_own
    for each in found:
        say(scenarios_table(each, evidence, said))
