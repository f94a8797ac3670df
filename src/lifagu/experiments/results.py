"""What a campaign leaves: findings, tables, a page, and a figure where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import lifagu
from lifagu.errors import MissingExtraError, ModelError, did_you_mean
from lifagu.experiments.campaign import Outcome
from lifagu.formats.files import write_text


class Finding(NamedTuple):
    """A statement, what was published about it (if anything), and what was found, by subject."""

    statement: str
    published: str | None
    found: dict[str, str]


class Results(NamedTuple):
    """The files that were written, what was found, and what could not be done."""

    files: list[Path]
    findings: list[Finding]
    notes: list[str]


def write_results(
    folder: Path,
    tables: Mapping[str, Iterable[Mapping[str, Any]]],
    findings: list[Finding],
    draw: Callable[[Path], Sequence[Path]],
    page: Callable[[str], str],
) -> Results:
    """Write tables (by name) as CSV files, the figure, and the page that shows it."""
    files = [_write_rows(folder / f"{name}.csv", list(rows)) for name, rows in tables.items()]
    figures, notes = _drawn(draw, folder / "figure")
    shown = f"![figure]({figures[0].name})" if figures else notes[0]
    write_text(folder / "report.md", page(shown))
    return Results([*files, *figures, folder / "report.md"], findings, notes)


def _write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """A column for each key of the first row; None is an empty field, true and false are 1 and 0."""
    header = list(rows[0]) if rows else []
    lifagu.write_csv(path, header, ([_field(row[name]) for name in header] for row in rows))
    return path


def _field(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def _drawn(draw: Callable[[Path], Sequence[Path]], path: Path) -> tuple[Sequence[Path], list[str]]:
    """The files of a figure; none, and the reason, if matplotlib is missing."""
    try:
        return draw(path), []
    except MissingExtraError as error:
        return [], [f"no figure was drawn: {error}"]


def of_cells(
    outcomes: Iterable[Outcome], names: Sequence[str], facts: Sequence[str]
) -> list[dict[str, Any]]:
    """One row per cell: what it is, under these names, and these facts about it."""
    return [
        dict(zip(names, each.cell, strict=True)) | {name: each.facts[name] for name in facts}
        for each in outcomes
    ]


def of_rows(outcomes: Iterable[Outcome], names: Sequence[str]) -> list[dict[str, Any]]:
    """All rows of all cells, each with what its cell is, under these names."""
    return [
        dict(zip(names, each.cell, strict=True)) | row for each in outcomes for row in each.rows
    ]


def chosen(names: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """These names, each once, all of which must be known."""
    known = list(known)
    for name in names:
        if name not in known:
            raise ModelError(
                f"there is no {what} '{name}'; choose from {', '.join(known)}{did_you_mean(name, known)}"
            )
    return list(dict.fromkeys(names))
