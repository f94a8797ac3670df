"""Results as they are compared: answers and transfers by column, wherever they come from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats
from lifagu.basics.atomic_files import PathLike, settle
from lifagu.basics.columns import Column, Columns, Lists, NumberedTexts
from lifagu.basics.inputs import real_path
from lifagu.data.parquet.results import result_columns
from lifagu.data.snapshots import of_one_folder
from lifagu.errors import FormatError, ModelError
from lifagu.formats.csv_table import read_csv
from lifagu.formats.files import read_text
from lifagu.formats.json_text import load
from lifagu.graph.assembly import taken_lists
from lifagu.questions.comparing.run import RUN, contents_of, observed_columns
from lifagu.questions.findings import Imputed
from lifagu.questions.writing_results import cells, marginal_columns

Texts = NDArray[Any]  # texts as objects, one per row
WHAT = "results are compared that impute wrote into a folder"
MOST = 1 + 1e-6  # that a probability may be, as it was written
TRANSFERS = ("factor", "status", "donor", "share", "posterior")


@dataclass(frozen=True, eq=False)
class ComparedResult:
    """One result: answers with a row for each label, and what else is known of the run.

    lent: of each row how many lent tables the answer rests on; transfers: a row for each unknown
    factor, with the columns TRANSFERS; scopes: factors that were filled, a row for each of their
    arguments; tables: the same with their potentials; evidence: variables and what was observed of
    them. None where nobody knows. run: as in the file `run.json`.
    """

    title: str
    variables: Texts
    labels: Texts
    probabilities: Floats
    lent: Floats | None = None
    transfers: dict[str, NDArray[Any]] | None = None
    scopes: tuple[Texts, Texts] | None = None
    tables: tuple[Texts, Floats] | None = None
    evidence: tuple[Texts, Texts] | None = None
    run: Mapping[str, Any] = field(default_factory=dict)


def result_of(given: Any) -> ComparedResult:
    """A result from a folder, or from what a verb gave."""
    if isinstance(given, str | Path):
        settle(real_path(given))
        if not Path(given).is_dir():
            raise FormatError(f"{given}: there is no such folder; {WHAT}")
        return of_one_folder(Path(given), lambda: _tables_of(Path(given)))  # all of it by one run
    if isinstance(given, Imputed):
        return _of_imputed(given)
    if isinstance(given, Mapping):  # all marginals, or those of a relation
        columns = marginal_columns(given)
        names = columns.get("members", columns.get("variable"))
        return ComparedResult(repr(given), *_answer_columns({**columns, "variable": names}))
    raise ModelError(
        f"results are compared, such as marginals or an Imputed, not {type(given).__name__}"
    )


# ---- what verbs gave


def _of_imputed(found: Imputed) -> ComparedResult:
    tables, graph, seen = found.tables(), found.transfer.original, found.evidence
    run = {
        "filling": vars(found.transfer.filling),
        "unknown": found.unknown,
        "filled": found.filled,
    }
    observed = None
    if seen is not None:
        run |= contents_of(graph, seen)
        observed = _evidence({n: _array(c) for n, c in observed_columns(graph, seen).items()})
    filled = tables["tables"]
    marginals = {name: _array(column) for name, column in tables["marginals"].items()}
    return ComparedResult(
        repr(found),
        *_answer_columns(marginals),
        marginals["transferred"].astype(np.float64),
        {name: _array(tables["transfers"][name]) for name in TRANSFERS},
        _listed(filled, "arguments"),
        _listed(filled, "potentials"),
        observed,
        run,
    )


def _listed(columns: Columns, name: str) -> tuple[Texts, NDArray[Any]]:
    """A column of lists with a row for each item, and the factor of each."""
    lists = columns[name]
    if not isinstance(lists, Lists):
        raise ModelError(f"{name} are lists")
    of = np.arange(len(lists.offsets) - 1) if lists.of is None else lists.of
    values, _ = taken_lists(lists.offsets, lists.values, of)
    lengths = np.diff(lists.offsets)[of]
    return np.repeat(_array(columns["factor"]), lengths), values


def _array(column: Column) -> NDArray[Any]:
    """A column as an array; numbered texts are spelt out."""
    if isinstance(column, NumberedTexts):
        return _texts(cells(column))
    return column if isinstance(column, np.ndarray) else _texts(cells(column))


# ---- folders


def _tables_of(path: Path) -> ComparedResult:
    """What `impute` wrote, as Parquet or as CSV."""
    marginals = _table(path, "marginals", ("variable", "value", "probability"), ("transferred",))
    if marginals is None:
        raise FormatError(f"{path}: this folder holds no table 'marginals'; {WHAT}")
    transfers = _table(path, "transfers", TRANSFERS)
    scopes = _table(path, "tables", ("factor", "arguments"), listed="arguments")
    tables = _table(path, "tables", ("factor", "potentials"), listed="potentials")
    observed = _table(path, "evidence", ("variable", "value"), ("likelihood",))
    lent = marginals.get("transferred")
    return ComparedResult(
        str(path),
        *_answer_columns(marginals),
        None if lent is None else _numbers(path, lent),
        None if transfers is None else _transfers(path, transfers),
        None if scopes is None else (scopes["factor"], scopes["arguments"]),
        None if tables is None else (tables["factor"], _numbers(path, tables["potentials"])),
        None if observed is None else _evidence(observed),
        _run(path),
    )


def _transfers(path: Path, columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return columns | {name: _numbers(path, columns[name]) for name in ("share", "posterior")}


def _table(
    folder: Path,
    name: str,
    wanted: tuple[str, ...],
    optional: tuple[str, ...] = (),
    listed: str = "",
) -> dict[str, NDArray[Any]] | None:
    if (path := folder / f"{name}.parquet").exists():
        return result_columns(path, wanted, optional, listed)
    if not (path := folder / f"{name}.csv").exists():
        return None
    columns = _csv(path, wanted, optional)
    if listed:
        lists = [load(each, str(path)) if each else [] for each in columns[listed].tolist()]
        if not all(isinstance(each, list) for each in lists):
            raise FormatError(f"{path}: '{listed}' holds lists; {WHAT}")
        lengths = [len(each) for each in lists]
        columns = {key: np.repeat(column, lengths) for key, column in columns.items()}
        columns[listed] = _texts(list(chain.from_iterable(lists)))
    return columns


def _run(folder: Path) -> Mapping[str, Any]:
    if not (path := folder / RUN).exists():
        return {}
    found = load(read_text(path), str(path))
    if not isinstance(found, dict):
        raise FormatError(f"{path}: this is no run; {WHAT}")
    return found


def _csv(
    path: PathLike, wanted: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Some columns of a CSV file as texts; a column that is wanted and missing is an error."""
    header, *every = read_csv(path) or [[]]
    if missing := [name for name in wanted if name not in header]:
        raise FormatError(f"{path}: this table has no column '{missing[0]}'; {WHAT}")
    if wrong := next((n for n, row in enumerate(every, 2) if len(row) != len(header)), 0):
        raise FormatError(f"{path}:{wrong}: this row has not {len(header)} values, as the first")
    columns = dict(zip(header, zip(*every, strict=True), strict=True)) if every else {}
    names = [*wanted, *(name for name in optional if name in header)]
    return {name: _texts(columns.get(name, ())) for name in names}


# ---- columns


def _texts(values: Sequence[Any]) -> Texts:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _answer_columns(
    columns: Mapping[str, Any], path: PathLike = "this result"
) -> tuple[Texts, Texts, Floats]:
    variables, labels = (_array(columns[name]) for name in ("variable", "value"))
    shares = _numbers(path, columns["probability"])
    if (wrong := ~((shares >= 0) & (shares <= MOST))).any():
        first = int(np.argmax(wrong))
        raise FormatError(
            f"{path}: '{variables[first]}' has the probability {shares[first]:g}; {WHAT}"
        )
    return variables, labels, shares


def _numbers(path: PathLike, column: NDArray[Any]) -> Floats:
    """A column of numbers; empty texts and None are nan."""
    if column.dtype == object:
        column = np.where((column == "") | (column == None), np.nan, column)  # noqa: E711
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(f"{path}: something in a column of numbers is none") from None


def _evidence(columns: Mapping[str, NDArray[Any]]) -> tuple[Texts, Texts]:
    """Variables and what was observed of them; likelihoods as their text."""
    values = columns["value"].copy()
    unsure = (values == "") | (values == None)  # noqa: E711
    if "likelihood" in columns:
        given = columns["likelihood"][unsure]
        values[unsure] = [
            each if isinstance(each, str) else json.dumps(list(map(float, each))) for each in given
        ]
    return columns["variable"], values
