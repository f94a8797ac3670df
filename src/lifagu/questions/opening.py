"""`lifagu.open`: from a file, a folder, a template or a model in memory to a case."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.choices import USUAL_TIMEOUT
from lifagu.basics.progress import Progress, Tell, listener
from lifagu.errors import ModelError, Remedy
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions import in_memory
from lifagu.questions.case import Case
from lifagu.questions.opened import Opened, opened
from lifagu.questions.place import Place
from lifagu.questions.storage import parameters_of
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import access_of

if TYPE_CHECKING:
    from lifagu.filling.result import Transfer


def open(
    subject: PathLike | FactorGraph | ParfactorGraph | Transfer | Loaded | Case,
    *,
    on: str = "auto",
    database: object = None,
    memory_limit: int | None = None,
    temp: PathLike | None = None,
    learn: bool = True,
    parameters: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    query_timeout: float | None = USUAL_TIMEOUT,
    trust_role: bool = False,
    progress: Progress | Tell | None = None,
) -> Case:
    """Open a model to ask it: a file, a folder, a template with its database, or a model in memory.

    A file is read once, with its evidence and its questions. Unknown factors are filled by the
    usual rule; `Case.fill` chooses another one, `Case.unfilled` none.

    Parameters
    ----------
    subject : path, FactorGraph, ParfactorGraph, Transfer, Loaded or Case
        A file in any format by its ending, a folder of Parquet tables, a template that names a
        database, a model in memory, or a case to go on with at another place. A name that no file
        or folder has may be that of a shipped example, such as "epidemic".
    on : {"auto", "memory", "duckdb", "spark", "spark=MASTER"}
        Where the work is done. Engines take folders; "auto" stays in memory while it fits.
    database : str, frame, mapping or connection, optional
        What a template is to read instead of its own source: a path or URL, a frame such as a
        DataFrame (the table ``data``), frames by table, or an open connection (see `io.Source`).
    memory_limit : int, optional
        In bytes; three quarters of what is free by default. What would take more is refused.
    temp : path, optional
        A folder for what an engine keeps meanwhile.
    learn : bool
        Whether tables that a template asks to be learned are learned when they are needed; they
        stay unknown otherwise.
    parameters : mapping, optional
        Values of a template's parameters, by name, in place of those that it declares, such as
        ``{"ward": 4}``; a text is read as what was declared.
    env : mapping, optional
        By name what ``${NAME}`` in a template's own source stands for, such as
        ``{"DB_PASSWORD": getpass()}``. A template takes nothing from the environment by itself.
    query_timeout : float, optional
        Seconds that a query of a template may take, five minutes by default; None for no limit.
    trust_role : bool
        Whether a template's queries may run with all that a connection allows: as a superuser of
        PostgreSQL or a role that reads files there, and on files by an open connection to DuckDB.
    progress : callable, optional
        Called with (done, total) now and then, and its `stage` with what begins, if it has one.

    Returns
    -------
    Case
        Frozen: every verb gives a new case or an answer.

    Examples
    --------
    >>> import lifagu
    >>> graph = lifagu.FactorGraph.build().variables(["A", "B", "C"])
    >>> graph = graph.factor("f1", ["A", "B"], [1, 2, 3, 4]).factor("f2", ["C", "B"], None).graph()
    >>> case = lifagu.open(graph).observe({"A": "true"})
    >>> case.ask("C")
    <P(C): false: 0.305556, true: 0.694444>
    >>> case.transfer.record[0].donor
    'f1'
    >>> case.unfilled().ask("A")["true"]
    1.0
    """
    values = parameters_of(parameters)
    access = access_of(env, query_timeout, trust_role)
    if values and not isinstance(subject, str | os.PathLike):
        raise ModelError("a model in memory has no parameters", remedy=Remedy.NO_PARAMETERS)
    place = Place(on, memory_limit, temp, listener(progress))
    if isinstance(subject, Case):
        return replace(subject, place=place)
    if isinstance(subject, str) and not os.path.lexists(subject):
        from lifagu.questions.shipped import found_or_shipped

        subject = found_or_shipped(subject)
    if isinstance(subject, Loaded):
        return Case(Opened(given=subject, learns=learn), place=place)
    if isinstance(subject, str | os.PathLike | FactorGraph | ParfactorGraph):
        found = opened(subject, database, place, learn, values, access)
        return Case(found, place=place)
    return _of_transfer(subject, place)


def _of_transfer(moved: Transfer, place: Place) -> Case:
    """The case of a graph that was filled already."""
    from lifagu.filling.result import Transfer

    if not isinstance(moved, Transfer):
        if isinstance(moved, Mapping) or _is_data(moved):
            raise ModelError(
                f"a path or a model is opened, and {type(moved).__name__} is data; draft a "
                "template of it with lifagu.draft(…).open(), or name one: "
                "lifagu.open(template, database=…)"
            )
        raise ModelError(f"a path or a model is opened, not {type(moved).__name__}")
    case = Case(Opened(given=Loaded(moved.original, {})), filling=moved.filling, place=place)
    case.opened.once(in_memory.transfer_key(case), lambda: moved)
    return case


def _is_data(subject: object) -> bool:
    """Whether something is a frame or a connection, which holds data and no model."""
    signs = ("__arrow_c_stream__", "__dataframe__", "cursor", "raw_connection", "exec_driver_sql")
    return any(hasattr(subject, sign) for sign in signs)
