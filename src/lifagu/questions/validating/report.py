"""What a validation found, in files: every hidden cell as CSV, and a page with figures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from lifagu.basics.atomic_files import PathLike, check_replaceable, replaced_folder
from lifagu.basics.words import counted
from lifagu.drawing.charts import Bar, Curve, bar_chart, chart_styles, reliability_diagram
from lifagu.errors import FormatError
from lifagu.formats.csv_table import write_csv
from lifagu.formats.files import ending
from lifagu.questions.validating.judging import judgement, verdict
from lifagu.questions.validating.plain_values import plain
from lifagu.questions.validating.predictions import Predictions
from lifagu.questions.validating.scores import CellScores, calibration_error, mean

FILES = frozenset(
    ("index.html", "log_loss.svg", "reliability.svg", "tables.svg", "validation.json", "cells.csv")
)
WORST = 15  # cells that a report shows
WORDS = {
    "trust": "trust",
    "slight": "little better than its frequencies",
    "guess": "a guess",
    "misleads": "worse than its frequencies",
    "few": "too few cells to tell",
}


def check_cells(path: PathLike) -> None:
    """Refuse now, before long work, a file that `write_cells` would refuse."""
    if ending(path) != ".csv":
        raise FormatError(f"{path}: hidden cells are written as .csv (or .csv.gz)")
    _check_parent(path)


def _check_parent(path: PathLike) -> None:
    parent = Path(path).parent
    if not parent.is_dir():
        raise FormatError(f"{path}: there is no folder {parent}; make it, or name another place")


def check_report(folder: PathLike) -> None:
    """Refuse now, before long work, a folder that `write_report` would refuse to replace."""
    _check_parent(folder)
    check_replaceable(folder, FILES)


def write_cells(found: Predictions, path: PathLike) -> None:
    """One row per hidden cell, and per method where there are several."""
    check_cells(path)
    several = ["method"] if len(found.methods) > 1 else []
    header = ["relation", "individual", "value", "probability", "distribution", *several]
    write_csv(path, header, _cell_rows(found, bool(several)))


def _cell_rows(found: Predictions, several: bool) -> Iterator[Sequence[Any]]:
    cells, individuals = found.cells, found.cells.individuals(found.hidden_cells)
    hidden = list(zip(found.hidden_cells.tolist(), individuals, strict=True))
    for name, said in found.methods.items():
        title = [name] if several else []
        for row, (place, individual) in enumerate(hidden):
            labels = cells.labels(place)
            given = said.probabilities[row, : len(labels)].tolist()
            true = int(cells.values[place])
            relation = cells.relations[int(cells.relation_of[place])]
            distribution = json.dumps(dict(zip(labels, given, strict=True)), ensure_ascii=False)
            yield [relation, individual, labels[true], given[true], distribution, *title]


def write_report(found: Predictions, folder: PathLike) -> None:
    """A page with figures inside, these as files as well, the scores as JSON, and the cells."""
    figures = _figures(found)
    with replaced_folder(folder, FILES) as place:
        for name, svg in figures.items():
            (place / f"{name}.svg").write_text(svg)
        text = json.dumps(plain(found), ensure_ascii=False, indent=2)
        (place / "validation.json").write_text(text + "\n")
        if found.hidden:
            write_cells(found, place / "cells.csv")
        (place / "index.html").write_text(_page(found, figures))


def _figures(found: Predictions) -> dict[str, str]:
    figures = {}
    if found.hidden:
        rows = {"all": np.ones(found.hidden, dtype=np.bool_), **found.relations}
        bars = {
            title: [
                Bar("frequencies", found.baseline.only(wanted).log_loss.value or 0.0, None),
                *(
                    Bar(name, loss.value or 0.0, loss.error)
                    for name, said in found.methods.items()
                    for loss in [said.scores.only(wanted).log_loss]
                ),
            ]
            for title, wanted in rows.items()
        }
        figures["log_loss"] = bar_chart(bars, "log loss in nats; shorter is better")
        curves = [_curve(name, said.scores) for name, said in found.methods.items()]
        figures["reliability"] = reliability_diagram(
            curves, "stated probability", "how often it was right"
        )
    tables = {name: said.tables for name, said in found.methods.items() if said.tables is not None}
    if tables:
        curves = [
            Curve(name, [(each.stated, each.right, each.error, each.many) for each in each_.bins])
            for name, each_ in tables.items()
        ]
        figures["tables"] = reliability_diagram(
            curves, "stated share", "how often the table was right"
        )
    return figures


def _curve(name: str, scores: CellScores) -> Curve:
    return Curve(name, [(each.stated, each.right, each.error, each.many) for each in scores.bins])


# ---- the page


def _page(found: Predictions, figures: dict[str, str]) -> str:
    parts = ["<h1>How far answers can be trusted</h1>"]
    for name in found.methods:
        title = f"<b>{escape(name)}:</b> " if len(found.methods) > 1 else ""
        parts.append(f"<p class='lead'>{title}{escape(judgement(found, name))}.</p>")
    parts += [f"<p class='note'>{escape(each)}.</p>" for each in found.notes]
    if found.hidden:
        parts += _cells_part(found, figures)
    if "tables" in figures:
        parts += _tables_part(found, figures)
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<title>How far answers can be trusted</title>"
        f"<style>{chart_styles()}{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _cells_part(found: Predictions, figures: dict[str, str]) -> list[str]:
    hidden = counted(found.hidden, "observed cell")
    return [
        f"<p>{hidden} were hidden, predicted from everything else, and compared. Log loss is the "
        "mean of −log of what was given to the true value; frequencies stand for each "
        "relation's observed frequencies.</p>",
        "<h2>Log loss by relation</h2>",
        f"<figure>{figures['log_loss']}</figure>",
        *(_relations_table(found, name) for name in found.methods),
        "<h2>Is what is stated what happens?</h2>",
        "<p>On the dashed line, predictions are as often right as they say.</p>",
        f"<figure>{figures['reliability']}</figure>",
        "<h2>Worst cells</h2>",
        *(_worst(found, name) for name in found.methods),
    ]


def _relations_table(found: Predictions, name: str) -> str:
    said = found.methods[name]
    rows = [
        ("relation", "hidden", "log loss", "frequencies", "gain", "accuracy", "calibration", "")
    ]
    parts = {"all": np.ones(found.hidden, dtype=np.bool_), **found.relations}
    for title, wanted in parts.items():
        scores, gain = said.scores.only(wanted), found.gain(name, wanted)
        rows.append(
            (
                title,
                str(len(scores)),
                number(scores.log_loss.value),
                number(found.baseline.only(wanted).log_loss.value),
                f"{number(gain.value)} ± {number(gain.error)}",
                number(scores.accuracy.value),
                number(calibration_error(scores.bins)),
                "" if title == "all" else WORDS[verdict(found, name, wanted)],
            )
        )
    return _table(name if len(found.methods) > 1 else "", rows)


def _worst(found: Predictions, name: str) -> str:
    cells, said = found.cells, found.methods[name]
    worst = np.argsort(-said.scores.losses, kind="stable")[:WORST]
    places = found.hidden_cells[worst]
    rows = [("cell", "is", "which was given", "predicted", "with")]
    shown = zip(worst.tolist(), places.tolist(), cells.titles(places), strict=True)
    for row, place, title in shown:
        labels, given = cells.labels(place), said.probabilities[row]
        true, top = int(cells.values[place]), int(given.argmax())
        rows.append((title, labels[true], number(given[true]), labels[top], number(given[top])))
    return _table(name if len(found.methods) > 1 else "", rows)


def _tables_part(found: Predictions, figures: dict[str, str]) -> list[str]:
    rows: list[Sequence[str]] = [
        ("filled by", "place", "hidden", "KL", "mean of the place", "dropped", "right", "left")
    ]
    for name, said in found.methods.items():
        if said.tables is None:
            continue
        for place, title in enumerate(said.tables.places):
            part = said.tables.only(place)
            if len(part):
                means = [
                    number(mean(each).value)
                    for each in (part.divergences, part.pooled, part.uniform)
                ]
                right = number(part.share_right.value)
                rows.append((name, title, str(len(part)), *means, right, str(part.left)))
    return [
        "<h2>Hidden tables</h2>",
        "<p>Known tables were hidden, filled like holes, and compared with what they were "
        "(Kullback–Leibler divergence in nats).</p>",
        _table("", rows),
        f"<figure>{figures['tables']}</figure>",
    ]


def number(value: float | None) -> str:
    """A score as people read it.

    >>> number(0.12345), number(None)
    ('0.123', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def _table(title: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in zip(["th", *["td"] * (len(rows) - 1)], rows, strict=True)
    )
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    lines = "\n".join(f"<tr>{row}</tr>" for row in body)
    return f"<div class='wide'><table>{caption}<tr>{head}</tr>\n{lines}</table></div>"


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  background: var(--page); color: var(--ink); }
.lead { font-size: 1.15rem; } .note { color: var(--quiet); }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; } th { text-align: left; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
"""
