"""What a case shows beside answers: groups, the lifted model, tables, figures and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.choices import Figure
from lifagu.errors import ModelError, Remedy
from lifagu.filling.result import Transfer
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.questions import in_memory
from lifagu.questions.asking import by_sql
from lifagu.questions.comparing.run import observed_columns, run_in_memory, run_of
from lifagu.questions.findings import Groups, Imputed, Lift
from lifagu.questions.requested_marginals import asked_numbers, near_unknown, request
from lifagu.questions.statement import Statement
from lifagu.questions.storage import check_database, check_target, write_results
from lifagu.questions.storage import write as write_model
from lifagu.questions.where_to_work import Choice, choose, with_reason
from lifagu.questions.writing_results import check_imputed_target, write_imputed, write_lift
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.predicted_cells import to_predict
from lifagu.relational.source import Source
from lifagu.symmetry import colour as colour_passing

if TYPE_CHECKING:
    from lifagu.drawing.scene import Scene

MOST_ASKED = 100  # variables that are asked about when nobody says which


def groups(case: Statement) -> Groups:
    """What looks alike once the holes are filled."""
    where = choose(case, "groups")
    if where.on != "memory":
        return _lift_by_sql(case, where, None).groups
    return Groups.of(in_memory.transferred(case).shown, colouring(case))


def colouring(case: Statement) -> Colouring:
    """Which nodes of the completed graph look alike."""
    moved, seen = in_memory.transferred(case), in_memory.bound(case)
    case.place.progress.stage("passing colours")
    return colour_passing.colour(moved.graph, seen, **moved.start, progress=case.place.progress)


def colour_rounds(case: Statement) -> Iterator[Colouring]:
    """The same round by round, beginning with the start colours."""
    choose(case, "colour_rounds")
    moved = in_memory.transferred(case)
    return colour_passing.colour_rounds(moved.graph, in_memory.bound(case), **moved.start)


def lift(case: Statement, out: PathLike | None) -> Lift:
    """Fill, find what looks alike, and write it all where it is to go."""
    if out is not None:
        check_target(out)
    where = choose(case, "lift")
    if where.on != "memory":
        return _lift_by_sql(case, where, out)
    moved, seen = in_memory.transferred(case), in_memory.bound(case)
    found = Lift(moved, _ones(moved), moved.way, groups(case), moved.original.evidence(seen))
    if out is not None:
        case.place.progress.stage("lifting")
        lifted = found.model
        case.place.progress.stage(f"writing {out}")
        write_lift(out, moved, found.groups.colouring, seen, case.place.progress, lifted)
    return found


def _lift_by_sql(case: Statement, where: Choice, out: PathLike | None) -> Lift:
    from lifagu.questions.by_sql.lifting import lift_by_sql

    with with_reason(where):
        return lift_by_sql(**_by_sql(case, where.on), out=out)


def impute(
    case: Statement, queries: Sequence[str] | None, engine: str, out: PathLike | None, write: bool
) -> Imputed:
    """Fill, colour and answer, and write it all where it is to go."""
    if out is not None:
        check_imputed_target(out)
    where = choose(case, "impute", engine, "writing into a database" if write else "")
    if where.on != "memory":
        from lifagu.questions.by_sql.imputing import impute_by_sql

        with with_reason(where):
            told = partial(run_of, case, where.on)
            return impute_by_sql(queries=queries, **_by_sql(case, where.on), out=out, run=told)
    source = _source(case) if write else None
    if source is not None:
        check_database(source)
    found = _imputed(case, queries, engine)
    if out is not None:
        case.place.progress.stage(f"writing {out}")
        graph, seen = found.transfer.original, found.transfer.original.evidence(found.evidence)
        tables = {**found.tables(), "evidence": observed_columns(graph, seen)}
        run = run_in_memory(case, found.transfer, seen)
        write_imputed(out, tables, case.place.progress, run)
    if source is not None:
        case.place.progress.stage("writing into the database")
        write_results(source, found.tables())
    return found


def _imputed(case: Statement, queries: Sequence[str] | None, engine: str) -> Imputed:
    moved = in_memory.transferred(case)
    alike = groups(case) if in_memory.fills(case) else None
    seen = moved.original.evidence(in_memory.bound(case))
    queries, offered = (case.queries or None) if queries is None else queries, None
    loaded = case.opened.read(case.place.progress)
    if queries is None and loaded.task is not None:
        asked = to_predict(loaded, seen)
    elif queries is None:
        asked, offered = near_unknown(moved, seen, MOST_ASKED)
    else:
        asked = asked_numbers(moved.original, queries)
    case.place.progress.stage("answering")
    settings = {"engine": engine, "memory_limit": case.room}
    marginals = request(moved, asked, seen, moved.way, settings, case.place.progress)
    return Imputed(moved, _ones(moved), moved.way, alike, seen, marginals, offered)


def _ones(moved: Transfer) -> Any:
    return np.ones(len(moved.original.factor_names), dtype=np.int64)


def _source(case: Statement) -> Source:
    """The database that results are to be written into."""
    source = case.opened.read(case.place.progress).source
    if source is None:
        what = f"{case.opened.path or 'this model'} reads no database to write into"
        raise ModelError(what, remedy=Remedy.WRITE_ELSEWHERE)
    return source


def _by_sql(case: Statement, on: str) -> dict[str, Any]:
    """What the verbs by SQL are told that fill holes."""
    if case.filling is None:
        raise ModelError("the holes of this case stay", remedy=Remedy.FILL)
    return by_sql(case, on)


# ---- figures and files


def draw(case: Statement, what: Figure | None) -> Scene:
    """A figure of the case."""
    from lifagu.questions import figures

    choose(case, "draw")
    model, evidence = _shown(case, what)
    commutative = bool(case.filling and case.filling.commutative)
    return figures.draw(model, what, evidence=evidence, commutative=commutative)


def draw_rounds(case: Statement) -> list[Scene]:
    """A figure for each round of colour passing."""
    from lifagu.questions import figures

    choose(case, "draw")
    commutative = bool(case.filling and case.filling.commutative)
    moved = in_memory.transferred(case)
    return figures.draw_rounds(moved, in_memory.bound(case), commutative=commutative)


def plot(case: Statement, path: PathLike, what: Figure | None) -> Scene:
    """The same in a file."""
    from lifagu.questions import figures

    figures.check_figure(path)
    choose(case, "draw")
    case.place.progress.stage("looking for what looks alike")
    scene = draw(case, what)
    case.place.progress.stage(f"drawing {path}")
    return figures.plot(scene, path)


def _shown(
    case: Statement, what: Figure | None
) -> tuple[FactorGraph | ParfactorGraph | Transfer, EvidenceLike]:
    """What a figure is of, and the evidence: the model as it is where nothing is filled."""
    model = case.model
    if isinstance(model, ParfactorGraph) and in_memory.is_whole(case):
        return model, in_memory.observed(case)
    unfilled = what == "graph" or case.filling is None
    shown = in_memory.grounded(case) if unfilled else in_memory.transferred(case)
    return shown, in_memory.bound(case)


def write(case: Statement, path: PathLike) -> None:
    """Write the model with those who were added and all that was observed."""
    choose(case, "write")
    if case.admitted:
        write_model(in_memory.without_side_effects(case), path, in_memory.bound(case))
        return
    if case.added:
        write_model(in_memory.grounded(case), path, in_memory.bound(case))
        return
    write_model(case.model, path, case.model.layered(in_memory.layers(case)))
