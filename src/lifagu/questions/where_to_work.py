"""Where a case does its work: in memory, or on an engine; and why, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lifagu.basics.choices import LIFTED_ENGINES
from lifagu.basics.inputs import instance
from lifagu.errors import ModelError, Remedy, TooLargeError
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.place import ANSWERING, ASKED, HERE, LIFTING, WHOLE
from lifagu.questions.statement import Statement

BY_SQL = {
    "ask": ANSWERING,
    "log_partition": ANSWERING,
    "groups": LIFTING,
    "lift": LIFTING,
    "impute": LIFTING,
}


class Choice(NamedTuple):
    """Where to work, "memory" or an engine, and why, where that was to be chosen."""

    on: str
    why: str = ""


def choose(case: Statement, verb: str, engine: str = "auto", in_memory: str = "") -> Choice:
    """Where a verb is done by an engine; in_memory: what else asks for memory, in words.

    A place that was named and cannot do it is an error. "auto" stays in memory while a folder fits
    there.
    """
    instance("engine", engine, str)
    if verb not in ("ask", "validate") and case.filling and case.filling.interval is not None:
        raise ModelError("an interval is about questions about variables; leave it out")
    place = case.place
    on, path = place.on, case.opened.path
    obstacle = in_memory or _obstacle(case, verb, engine)
    if not case.opened.is_folder and on not in HERE:
        raise ModelError(
            f"{path or 'this model'}: {on} takes a folder of Parquet tables",
            remedy=Remedy.MAKE_FOLDER,
        )
    if on not in HERE:
        if obstacle:
            raise ModelError(
                f"{obstacle} works in memory only, not on {on}", remedy=Remedy.LEAVE_OUT
            )
        return Choice(on, place.why)
    choice = Choice("memory")
    if on == "auto" and case.opened.is_folder and case.opened.given is None and verb in BY_SQL:
        choice = _by_size(case, BY_SQL[verb], obstacle)
    _check_room(case, verb)
    return choice


def _check_room(case: Statement, verb: str) -> None:
    """Refuse what would not fit beside a graph that was read."""
    from lifagu.basics.memory import LEAST, default_memory_limit, readable_size

    model = case.opened.given.model if case.opened.given else None
    if not isinstance(model, FactorGraph):
        return
    arguments = len(model.arguments)
    need = arguments * (WHOLE if BY_SQL.get(verb) == LIFTING else ASKED)
    if need > max(LEAST, limit := case.place.memory_limit or default_memory_limit()):
        raise TooLargeError(
            f"{verb.replace('_', ' ')}: {arguments} arguments take about {readable_size(need)} of "
            f"memory, but the limit is {readable_size(limit)}",
            remedy=Remedy.LARGER_LIMIT,
        )


@contextmanager
def with_reason(where: Choice) -> Iterator[None]:
    """Let a refusal of what only memory can do say why an engine was chosen."""
    try:
        yield
    except ModelError as error:
        if error.remedy is not Remedy.MEMORY_OR_RULE or not where.why:
            raise
        what = f"{error.message}, which was chosen as {where.why}"
        raise TooLargeError(what, remedy=Remedy.MORE_MEMORY_OR_RULE) from None


def _by_size(case: Statement, each: int, obstacle: str) -> Choice:
    """In memory while a folder fits there, else on DuckDB if that can do it."""
    from lifagu.basics.memory import default_memory_limit, readable_size
    from lifagu.data.parquet.reading import count_arguments

    limit = case.place.memory_limit or default_memory_limit()
    arguments = count_arguments(case.opened.path)
    fits = each * arguments <= limit
    need = f"{arguments} arguments need about {readable_size(each * arguments)}"
    why = f"{need}, {'within' if fits else 'beyond'} the limit of {readable_size(limit)}"
    if not fits and obstacle:
        return Choice("memory", f"{obstacle} works there only, although {why}")
    return Choice("memory" if fits else "duckdb", why)


def _obstacle(case: Statement, verb: str, engine: str) -> str:
    """The first thing about a case that only works in memory, in words."""
    filling = case.filling
    found = {
        verb.replace("_", " "): verb not in BY_SQL,
        "add": bool(case.added),
        "admit": bool(case.admitted),
        "database": case.opened.database is not None,
        "forgetting the model's own evidence": not case.keeps_own,
        f"engine {engine}": engine not in LIFTED_ENGINES,
    }
    if filling is not None:
        found |= {
            "more than two steps": filling.is_wide,
            "interval": filling.interval is not None,
            "tolerance": filling.tolerance is not None,
            "commutative": filling.commutative,
        }
    return next((words for words, applies in found.items() if applies), "")
