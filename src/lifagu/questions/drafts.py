"""`lifagu.draft`: from any database to a template that can be read, judged and asked."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifagu.basics.atomic_files import PathLike
from lifagu.basics.choices import USUAL_TIMEOUT
from lifagu.basics.html import Shown
from lifagu.basics.inputs import from_home, whole
from lifagu.basics.progress import Progress, Tell, listener
from lifagu.basics.words import counted
from lifagu.drafting.found import FoundOut, find
from lifagu.drafting.open_questions import PYTHON, Saying
from lifagu.drafting.schema import DraftSettings
from lifagu.drafting.template_text import template_text
from lifagu.errors import FormatError, ModelError
from lifagu.relational.source import Source, access_of

if TYPE_CHECKING:
    from lifagu.questions.case import Case
    from lifagu.questions.validating.result import Validation


@dataclass(frozen=True, eq=False, repr=False)
class Draft(Shown):
    """A template drafted from a database, with everything that was found out on the way.

    Attributes
    ----------
    source : Source
        Where the data is.
    found : FoundOut
        Tables, keys, links, relations, and which tables to learn were chosen for what gain.
    seconds : float
        How long it took.
    """

    source: Source
    found: FoundOut
    seconds: float

    def text(self, folder: PathLike | None = None) -> str:
        """The template as text.

        Data that is in memory has no address; `lifagu.open(path, database=…)` hands it over.

        Parameters
        ----------
        folder : path, optional
            What a path in it is relative to; where we are by default.

        Returns
        -------
        str
        """
        return template_text(self.found, _written(self.source, folder))

    def write(self, path: PathLike) -> None:
        """Write the template.

        Parameters
        ----------
        path : path
            A .json file.
        """
        from lifagu.formats.files import write_text

        if not os.fspath(path).lower().endswith(".json"):
            raise FormatError(f"{path}: a template is written as .json")
        write_text(path, self.text(Path(path).parent))

    def open(self, progress: Progress | Tell | None = None) -> Case:
        """The template opened, to learn, ask, validate and impute.

        Parameters
        ----------
        progress : callable, optional
            Told what is being done, as for `lifagu.open`.

        Returns
        -------
        Case
        """
        from lifagu.data.templates import load_template
        from lifagu.formats.native import contents
        from lifagu.questions.opening import open as opened

        template = contents(self.text(), "draft.json").template({})
        assert template is not None
        told = listener(progress)
        loaded = load_template(template, self.source, lambda what: told.stage(f"reading {what}"))
        return opened(replace(loaded, source=self.source), progress=told)

    def validate(self, progress: Progress | Tell | None = None, **settings: Any) -> Validation:
        """How good it is: observed cells are hidden, predicted and scored.

        Parameters
        ----------
        progress : callable, optional
            Told what is being done.
        **settings
            As for `Case.validate`, such as seed=1 or folds=5.

        Returns
        -------
        Validation
        """
        return self.open(progress).validate(**settings)

    def report(self, validation: Validation | None = None, saying: Saying = PYTHON) -> str:
        """What was understood, chosen and left out, and what would help, in plain words.

        Parameters
        ----------
        validation : Validation, optional
            How good it is, which is then told as well.
        saying : Saying
            How options are spoken of; as in Python by default.

        Returns
        -------
        str
            Markdown.
        """
        from lifagu.drafting.report import report

        return report(self.found, self.source.place, validation, saying)

    def write_report(
        self, path: PathLike, validation: Validation | None = None, saying: Saying = PYTHON
    ) -> None:
        """Write the report.

        Parameters
        ----------
        path : path
            A file of Markdown.
        validation : Validation, optional
            How good the draft is, which is then told as well.
        saying : Saying
            How options are spoken of; as in Python by default.
        """
        from lifagu.formats.files import write_text

        write_text(path, self.report(validation, saying))

    def json(self, saying: Saying = PYTHON) -> dict[str, Any]:
        """Everything as plain values.

        Parameters
        ----------
        saying : Saying
            How options are spoken of; as in Python by default.

        Returns
        -------
        dict
        """
        from lifagu.drafting.report import facts

        return {"seconds": round(self.seconds, 3), **facts(self.found, saying)}

    def __str__(self) -> str:
        """The report, which notebooks show."""
        return self.report()

    def __repr__(self) -> str:
        found = self.found
        sizes = [
            counted(len(found.tables), "table"),
            counted(len(found.used), "relation"),
            f"{len(found.asked)} to predict",
            f"{counted(len(found.drafted), 'table')} to learn",
        ]
        return f"<Draft: {', '.join(sizes)}>"


def draft(
    source: Any,
    *,
    keys: Mapping[str, Sequence[str]] | None = None,
    links: Mapping[str, str | None] | None = None,
    leave_out: Sequence[str] = (),
    predict: Sequence[str] = (),
    bins: int | None = None,
    sample: int = 50_000,
    individuals: int = 100_000,
    tables: int = 400,
    seed: int = 0,
    query_timeout: float | None = USUAL_TIMEOUT,
    progress: Progress | Tell | None = None,
) -> Draft:
    """Draft a template from a database: what is in it, what tells about what, what is missing.

    Keys and links are read from the schema, or found out from names and values; columns become
    relations; which tables are to be learned is chosen by what each adds on the data itself.

    Parameters
    ----------
    source : path, URL, DataFrame, mapping of DataFrames, or connection
        A database, data files or a folder of them, or data in memory.
    keys : mapping, optional
        By table the columns that tell its rows apart, where the schema does not say or is wrong.
    links : mapping, optional
        By ``"table.column"`` the table whose key it has the values of; None for no link.
    leave_out : sequence of str
        Tables, and columns as ``"table.column"``.
    predict : sequence of str
        Columns or relations to be predicted; by default all columns with gaps.
    bins : int, optional
        How many bins numbers are put into; 3 to 5 by default, more where there are more rows, and
        up to 12 for numbers without gaps that are not to be predicted.
    sample : int
        Rows of each table that are looked at; more are sampled.
    individuals : int
        Rows of each table that the model speaks of; of a larger one those with gaps, and as many
        others as there is room for.
    tables : int
        At most so many tables are chosen.
    seed : int
        Of everything that is random.
    query_timeout : float, optional
        Seconds that a query may take, five minutes by default; None for no limit.
    progress : callable, optional
        Told what is being done.

    Returns
    -------
    Draft

    Examples
    --------
    >>> from importlib.resources import files
    >>> import lifagu
    >>> lifagu.draft(files("lifagu") / "examples/factory_machines.csv")
    <Draft: 1 table, 5 relations, 4 to predict, 6 tables to learn>
    """
    from lifagu.data.databases import opened
    from lifagu.questions.storage import source_of

    if isinstance(source, str) and not source:
        raise ModelError("name a source: a database, a data file, or a folder of them")
    settings = DraftSettings(
        dict(keys or {}),
        dict(links or {}),
        tuple(leave_out),
        tuple(predict),
        0 if bins is None else whole("bins", bins, 2),
        whole("sample", sample, 100),
        whole("individuals", individuals, 100),
        whole("tables", tables, 1),
        seed=whole("seed", seed, 0),
    )
    # all queries are of its own making, and name nothing but tables
    access = access_of(None, query_timeout, trust_role=True)
    address = replace(_told_plainly(source_of(source)), access=access)
    begun = time.perf_counter()
    with opened(address) as database:
        found = find(database, address.place, settings, listener(progress))
    return Draft(address, found, time.perf_counter() - begun)


def _told_plainly(source: Source) -> Source:
    """A source whose errors name it as the user did."""
    if not isinstance(source.address, str):
        return replace(source, place="your data")
    from lifagu.data.databases.urls import shown_url

    return replace(source, place=shown_url(source.address, "your database"))


def _written(source: Source, folder: PathLike | None) -> Any:
    """A source as a template names it: paths relative to its folder, no passwords."""
    if not source.is_named:
        return None
    if not isinstance(source.address, str):
        return {"files": source.address}
    if "://" in source.address:
        from lifagu.data.databases.addresses import without_password

        return without_password(source.address)
    path = Path(source.folder) / from_home(source.address)
    if folder is None:
        return str(path)
    try:
        relative = os.path.relpath(path.absolute(), Path(folder).absolute())
    except ValueError:  # on another drive
        return str(path.absolute())
    return str(path.absolute()) if relative.count("..") > 3 else relative
