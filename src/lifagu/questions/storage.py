"""Where models are kept: files are the room `formats`, folders and databases the room `data`.

Neither room knows the other; this door above both tells by the path which one is meant, and opens
only that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lifagu.basics.atomic_files import PathLike, failing, is_being_replaced
from lifagu.basics.choices import USUAL_TIMEOUT
from lifagu.basics.columns import Columns
from lifagu.basics.inputs import by_name, shown
from lifagu.basics.inputs import path as as_path
from lifagu.errors import FormatError, ModelError, Remedy
from lifagu.formats import contents
from lifagu.formats import write as write_file
from lifagu.formats.files import ending
from lifagu.graph.evidence import EvidenceLike, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import Access, Source, access_of

if TYPE_CHECKING:
    from lifagu.relational.template import Template


def load(
    path: PathLike,
    database: object = None,
    progress: Callable[[str], None] | None = None,
    learn: bool = True,
    parameters: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    query_timeout: float | None = USUAL_TIMEOUT,
    trust_role: bool = False,
    memory_limit: int | None = None,
) -> Loaded:
    """Read a model, its evidence and its questions at once.

    What `read` and `read_evidence` give are parts of this.

    Parameters
    ----------
    path : path
        A file by its ending, a folder of Parquet tables, or a template.
    database : str, frame, mapping or connection, optional
        What a template is to read instead of its own source: a path or URL, or whatever a `Source`
        can be, such as DataFrames by table, or an open connection; it is asked once.
    progress : callable, optional
        Called with a text that says what is being read.
    learn : bool
        Whether tables that a template asks to be learned are learned at once; they are unknown
        otherwise.
    parameters : mapping, optional
        Values of a template's parameters, by name, in place of those that it declares.
    env : mapping, optional
        By name what ``${NAME}`` in a template's own source may stand for; as for `lifagu.open`.
    query_timeout : float, optional
        Seconds that a query of a template may take; None for no limit.
    trust_role : bool
        Whether a template's queries may reach beyond tables; as for `lifagu.open`.
    memory_limit : int, optional
        In bytes; three quarters of what is free by default. What a file or folder takes is
        estimated and refused beyond it, before it is read; a template's queries and what is made of
        their rows keep within it.

    Returns
    -------
    Loaded
    """
    access = replace(access_of(env, query_timeout, trust_role), memory_limit=memory_limit)
    if is_folder(path):
        from lifagu.data.parquet.reading import load_folder

        _refuse_given(path, database, parameters)
        return load_folder(path, memory_limit)
    found = contents(path, memory_limit)
    template = found.template(parameters_of(parameters))
    if template is None:
        _refuse_given(path, database, parameters)
        return found.loaded()
    return _from_database(template, database, access, progress, learn)


def _from_database(
    template: Template,
    database: object,
    access: Access,
    progress: Callable[[str], None] | None = None,
    learn: bool = True,
) -> Loaded:
    from lifagu.data.templates import load_template

    source = template.source if database is None else source_of(database)
    source = None if source is None else replace(source, access=access)
    loaded = replace(load_template(template, source, progress), source=source)
    if loaded.task is None or not learn:
        return loaded
    from lifagu.questions.learning import learned
    from lifagu.questions.place import Place

    return learned(loaded, Place())


def read(
    path: PathLike,
    database: object = None,
    parameters: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    query_timeout: float | None = USUAL_TIMEOUT,
    trust_role: bool = False,
    memory_limit: int | None = None,
) -> FactorGraph | ParfactorGraph:
    """Read a model.

    Parameters
    ----------
    path : path
        A file by its ending, a folder of Parquet tables (docs/formats.md), or a template.
    database : str, frame, mapping or connection, optional
        What a template is to read instead of its own source; as in `load`.
    parameters : mapping, optional
        Values of a template's parameters; as in `load`.
    env, query_timeout, trust_role
        What a template may use; as in `load`.
    memory_limit : int, optional
        As in `load`.

    Returns
    -------
    FactorGraph or ParfactorGraph
        Relational if the file has domains, relations or parfactors.

    Examples
    --------
    >>> from importlib.resources import files
    >>> read(files("lifagu") / "examples/epidemic.json").summary.split(",")[0]
    '9 variables'
    """
    access = replace(access_of(env, query_timeout, trust_role), memory_limit=memory_limit)
    if is_folder(path):
        from lifagu.data.parquet.reading import read_folder

        _refuse_given(path, database, parameters)
        return read_folder(path, memory_limit)
    found = contents(path, memory_limit)
    template = found.template(parameters_of(parameters))
    if template is not None:
        return _from_database(template, database, access).model
    _refuse_given(path, database, parameters)
    return found.model()


def read_evidence(
    path: PathLike,
    database: object = None,
    parameters: Mapping[str, object] | None = None,
    env: Mapping[str, str] | None = None,
    query_timeout: float | None = USUAL_TIMEOUT,
    trust_role: bool = False,
    memory_limit: int | None = None,
) -> dict[str, Observation]:
    """The evidence in a file or folder; models in other formats carry none.

    Parameters
    ----------
    path : path
        A model or template with its own evidence, a JSON object (name → label), an ``.evid`` file.
    database : str, frame, mapping or connection, optional
        As in `load`.
    parameters : mapping, optional
        As in `load`.
    env, query_timeout, trust_role
        What a template may use; as in `load`.
    memory_limit : int, optional
        As in `load`.

    Returns
    -------
    dict
        Name → label, or name → {label: likelihood}.
    """
    access = replace(access_of(env, query_timeout, trust_role), memory_limit=memory_limit)
    if is_folder(path):
        from lifagu.data.parquet.reading import read_folder_evidence

        return read_folder_evidence(path)
    found = contents(path, memory_limit)
    template = found.template(parameters_of(parameters))
    return (
        found.evidence()
        if template is None
        else dict(_from_database(template, database, access, learn=False).evidence)
    )


@runtime_checkable
class HasTables(Protocol):
    """What was found and can be written: everything imputed, marginals, a whole relation."""

    def tables(self) -> dict[str, Columns]:
        """By column: name → columns."""
        raise NotImplementedError


def write_results(database: object, tables: Mapping[str, Columns] | HasTables) -> None:
    """Put result tables ``lifagu_…`` into a database, all in one transaction or none.

    Each takes the place of an earlier one of its name; nothing else is touched, and what lifagu has
    not written is not replaced. A table ``wide_…`` of one relation becomes a view of
    `lifagu_marginals`, in place of all earlier ones.

    Parameters
    ----------
    database : str, Source or connection
        Path or URL, or a connection without an open transaction.
    tables : mapping, or what has `tables`
        Name → columns, as `Imputed.tables` and marginals give them; ``lifagu_`` is put before names
        without it.
    """
    from lifagu.data.databases import write_results as write_into

    if isinstance(tables, HasTables):
        tables = tables.tables()
    if not isinstance(tables, Mapping) or not all(isinstance(v, Mapping) for v in tables.values()):
        raise ModelError(
            "result tables are a mapping from names to columns, as found.tables() gives them, "
            f"not {shown(tables)}"
        )
    write_into(source_of(database), tables)


def check_database(database: object) -> None:
    """Refuse now, before long work, a database that `write_results` would refuse.

    Parameters
    ----------
    database : str, Source or connection
        Path or URL, or a connection without an open transaction.
    """
    from lifagu.data.databases import check_writable

    check_writable(source_of(database))


def source_of(database: object) -> Source:
    """A database as it was handed over: named, relative to the current folder, or in memory."""
    if isinstance(database, Source):
        return database
    if isinstance(database, os.PathLike):
        return Source(os.fspath(database), place="database")
    if isinstance(database, Mapping):
        database = {
            table: os.fspath(each) if isinstance(each, os.PathLike) else each
            for table, each in database.items()
        }
    return Source(database, place="database")


def parameters_of(given: object) -> Mapping[str, object]:
    """Values of a template's parameters, as they were handed in."""
    return by_name("parameters", given, '{"ward": 4}')


def _refuse_given(path: PathLike, database: object, parameters: object) -> None:
    """Refuse what only a template could use."""
    if parameters_of(parameters):
        what = f"{path}: this model has no parameters; a template declares them in the file"
        raise FormatError(what, remedy=Remedy.NO_PARAMETERS)
    if database is not None:
        what = f"{path}: this model reads no database; a template names its source in the file"
        raise FormatError(what, remedy=Remedy.NO_DATABASE)


def write(
    graph: FactorGraph | ParfactorGraph, path: PathLike, evidence: EvidenceLike = None
) -> None:
    """Write a model, replacing the file or folder in one step.

    Parameters
    ----------
    graph : FactorGraph or ParfactorGraph
        A relational model is written as it is into .json and .blog, and grounded for all else.
    path : path
        A file by its ending, or a folder.
    evidence : mapping or Evidence, optional
        Goes along with the model, and beside .uai as .uai.evid.
    """
    if not is_folder(path):
        write_file(graph, path, evidence)
        return
    from lifagu.data.parquet.writing import model_tables, write_folder
    from lifagu.relational.grounding import expand_evidence, ground

    check_target(path)
    if isinstance(graph, ParfactorGraph):
        model, graph = graph, ground(graph)
        evidence = expand_evidence(model, evidence, graph)
    write_folder(path, model_tables(graph, graph.evidence(evidence)))


def drops_support(model: FactorGraph | ParfactorGraph, path: PathLike) -> bool:
    """Whether a file cannot say how many records stand behind tables, and this model does.

    Parameters
    ----------
    model : FactorGraph or ParfactorGraph
        The model.
    path : path
        Where it is written.

    Returns
    -------
    bool
    """
    estimated = model.support is not None if isinstance(model, FactorGraph) else model.has_support
    return estimated and not is_folder(path) and ending(path) != ".json"


def check_target(path: PathLike) -> None:
    """Refuse now, before long work, a folder that writing would refuse to replace.

    Parameters
    ----------
    path : path
        Where something is to be written.
    """
    if is_folder(path):
        from lifagu.data.parquet.writing import check_folder

        check_folder(path)


def is_folder(path: PathLike) -> bool:
    """Whether a path means a folder: it is one, ends with a slash, or is new without ending.

    >>> is_folder("big/"), is_folder("new"), is_folder("model.json")
    (True, True, False)
    """
    place = as_path(path)
    with failing(path, "cannot be looked for"):
        is_there = place.is_dir() or (
            not place.is_file() and (is_being_replaced(path) or place.is_dir())
        )
        is_new = not place.exists()
    if place.suffix.lower() == ".parquet" and not is_there:
        raise FormatError(
            f"{path}: a model is a folder of Parquet tables, not one of them; name the folder"
        )
    slashed = os.fspath(path).endswith(("/", os.sep))
    return is_there or slashed or (is_new and not place.suffix)
