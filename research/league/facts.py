"""Two sets of logical facts as tables with keys: UW-CSE and WebKB."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from research.league.loading import MissingError, Pointer, declared, package, to_sqlite

FACT = re.compile(r"(\w+)\(([^)]*)\)\.?")
COURSE_POINTERS = tuple(
    Pointer((column,), table, ("id",))
    for column, table in (
        *(("person", "person"), ("student", "person"), ("professor", "person")),
        *(("course", "course"), ("project", "project")),
    )
)
Facts = Mapping[str, Sequence[tuple[str, ...]]]  # by predicate; the fold's name stands last


def people_and_courses(data: Path, path: Path) -> None:
    """UW-CSE: people, courses and projects of a department in five areas, and who did what."""
    facts = _facts(data / "uwcse", "area")
    columns = {"position": "hasposition", "phase": "inphase", "years": "yearsinprogram"}
    person = _people(facts, ("professor", "student"), columns, "area")
    levels = {course: level for course, level, _ in facts["courselevel"]}
    course = [(name, area, levels.get(name)) for name, area in _things(facts, "samecourse")]
    tables = {
        "person": person,
        "course": _frame(course, ("id", "area", "level")),
        "project": _frame(_things(facts, "sameproject"), ("id", "area")),
        "taughtby": _links(facts, "taughtby", ("course", "person", "term")),
        "ta": _links(facts, "ta", ("course", "person", "term")),
        "projectmember": _links(facts, "projectmember", ("project", "person")),
        "publication": _links(facts, "publication", ("title", "person")),
        "advisedby": _links(facts, "advisedby", ("student", "professor")),
        "tempadvisedby": _links(facts, "tempadvisedby", ("student", "professor")),
    }
    to_sqlite(tables, declared(tables, _own_keys(tables), COURSE_POINTERS), path)


def people_and_projects(data: Path, path: Path) -> None:
    """WebKB: people, courses and projects of four universities, and who takes part in what."""
    facts = _facts(data / "webkb", "university")
    tables = {
        "person": _people(facts, ("student", "faculty"), {}, "university"),
        "course": _named(facts, ("courseprof", "courseta")),
        "project": _named(facts, ("project",)),
        "teaches": _links(facts, "courseprof", ("course", "person")),
        "assists": _links(facts, "courseta", ("course", "person")),
        "projectmember": _links(facts, "project", ("project", "person")),
    }
    to_sqlite(tables, declared(tables, _own_keys(tables), COURSE_POINTERS), path)


def _facts(folder: Path, fold: str) -> Facts:
    """All facts of all folds, each once, in the order of the files."""
    found: dict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
    for number, part in enumerate(sorted(folder.glob("fold*")), 1):
        for file in sorted(part.glob("*.txt.gz")):
            for predicate, arguments in FACT.findall(gzip.decompress(file.read_bytes()).decode()):
                found[predicate][(*arguments.split(","), f"{fold}{number}")] = None
    if not found:
        raise MissingError(f"no facts in {folder.parent.name}/{folder.name}")
    return {predicate: list(rows) for predicate, rows in found.items()}


def _people(facts: Facts, roles: Sequence[str], columns: Mapping[str, str], fold: str) -> Any:
    """A row for each person: role, and what is told of some only."""
    role = {row[0]: each for each in roles for row in facts[each]}
    told = [{who: value for who, value, _ in facts[each]} for each in columns.values()]
    rows = [
        (name, place, role.get(name), *(each.get(name) for each in told))
        for name, place in _things(facts, "sameperson")
    ]
    return _frame(rows, ("id", fold, "role", *columns))


def _things(facts: Facts, same: str) -> list[tuple[str, str]]:
    """Everything that is said to be the same as itself, and where."""
    return [(one, place) for one, other, place in facts[same] if one == other]


def _named(facts: Facts, predicates: Sequence[str]) -> Any:
    """What stands first in facts, and where."""
    found = {row[0]: row[-1] for each in predicates for row in facts[each]}
    return _frame(list(found.items()), ("id", "university"))


def _links(facts: Facts, predicate: str, columns: Sequence[str]) -> Any:
    return _frame([row[:-1] for row in facts[predicate]], columns)


def _frame(rows: Sequence[tuple[str | None, ...]], columns: Sequence[str]) -> Any:
    return package("pandas").DataFrame(rows, columns=list(columns), dtype=object)


def _own_keys(tables: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Things have an id; a row of links is its own key."""
    return {
        name: ("id",) if "id" in frame.columns else tuple(frame.columns)
        for name, frame in tables.items()
    }
