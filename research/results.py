"""What a campaign leaves: findings, tables, a page, and a figure where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import lifagu
from lifagu.drawing.canvas import images
from lifagu.errors import MissingExtraError, ModelError, did_you_mean
from lifagu.formats.files import write_bytes, write_text
from research.campaign import Line, Outcome

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
LINEAR_BELOW = 1e-4  # logarithmic axes of divergences show zero, too, so they are linear near it


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


def draw(
    path: Path,
    size: tuple[float, float],
    panels: Callable[[Any], None],
    endings: Sequence[str] = ("svg", "png"),
) -> list[Path]:
    """Write path.svg, path.png or both with what `panels` draws; return their names."""
    written = [path.with_suffix(f".{ending}") for ending in endings]
    for place, image in zip(written, images(size, panels, endings), strict=True):
        write_bytes(place, image)
    return written


def write_results(
    folder: Path,
    tables: Mapping[str, Sequence[Line]],
    findings: list[Finding],
    figure: Callable[[Path], Sequence[Path]],
    page: Callable[[str], str],
) -> Results:
    """Write tables (by name) as CSV files, the figures, and the page that shows them."""
    files = [_write_rows(folder / f"{name}.csv", rows) for name, rows in tables.items()]
    figures, notes = _drawn(figure, folder / "figure")
    pictures = [f"![{each.stem}]({each.name})" for each in figures if each.suffix == ".svg"]
    write_text(folder / "report.md", page("\n\n".join(pictures or notes)))
    return Results([*files, *figures, folder / "report.md"], findings, notes)


def _write_rows(path: Path, rows: Sequence[Line]) -> Path:
    """A column for each key of the first row; None is an empty field, true and false 1 and 0."""
    header = list(rows[0]) if rows else []

    def field(value: Any) -> Any:
        return int(value) if isinstance(value, bool) else value

    lifagu.io.write_csv(path, header, ([field(row[name]) for name in header] for row in rows))
    return path


def _drawn(
    figure: Callable[[Path], Sequence[Path]], path: Path
) -> tuple[Sequence[Path], list[str]]:
    """The files of a figure; none, and the reason, if matplotlib is missing."""
    try:
        return figure(path), []
    except MissingExtraError as error:
        return [], [f"no figure was drawn: {error}"]


def of_cells(outcomes: Iterable[Outcome], names: Sequence[str], facts: Sequence[str]) -> list[Line]:
    """One row per cell: what it is, under these names, and these facts about it."""
    return [
        dict(zip(names, each.cell, strict=True)) | {name: each.facts[name] for name in facts}
        for each in outcomes
    ]


def of_rows(outcomes: Iterable[Outcome], names: Sequence[str]) -> list[Line]:
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
                f"there is no {what} '{name}'; "
                f"choose from {', '.join(known)}{did_you_mean(name, known)}"
            )
    return list(dict.fromkeys(names))
