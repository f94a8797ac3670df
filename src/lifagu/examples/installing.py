"""The hospital in a folder of its own: a DuckDB file and the templates that read it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, replaced_files, settle
from lifagu.basics.columns import texts
from lifagu.data.databases.duckdb_files import add_rows, new_database
from lifagu.errors import FormatError
from lifagu.examples.hospital import Hospital

DATABASE, TEMPLATE, LEARNED = "hospital.duckdb", "hospital.json", "hospital_learned.json"


def install_hospital(folder: PathLike, drawn: Hospital) -> Path:
    """Put a hospital's database into a folder, made if need be, and its templates beside it.

    Returns where the template with given tables is; that with learned ones is `learned_hospital`.
    What is there already is never replaced.
    """
    place = Path(folder)
    settle(place / TEMPLATE, tidy=True)
    for name in (DATABASE, TEMPLATE, LEARNED):
        if (place / name).exists():
            raise FormatError(
                f"{place / name}: this is there already and would be replaced; name another folder"
            )
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be made: {error.strerror or error}") from None
    with replaced_files(place / TEMPLATE, (DATABASE, LEARNED)) as (template, database, learned):
        new_database(database, drawn.columns())
        for each in (template, learned):
            each.write_bytes(files("lifagu").joinpath(f"examples/{each.name}").read_bytes())
    return place / TEMPLATE


def learned_hospital(template: Path) -> Path:
    """The template beside that of `install_hospital` whose tables are learned."""
    return template.with_name(LEARNED)


def result_arrives(folder: PathLike, patient: str, result: str) -> None:
    """Insert the result of a patient's test into the database."""
    add_rows(
        Path(folder) / DATABASE, "test", {"patient": texts([patient]), "result": texts([result])}
    )
