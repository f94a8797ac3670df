"""The hospital in a folder of its own: a DuckDB file and the template that reads it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, replaced_file
from lifagu.basics.columns import texts
from lifagu.data.databases.duckdb_files import add_rows, new_database
from lifagu.errors import FormatError
from lifagu.examples.hospital import Hospital

DATABASE, TEMPLATE = "hospital.duckdb", "hospital.json"


def install_hospital(folder: PathLike, drawn: Hospital) -> Path:
    """Put a hospital's database and template into a folder, made if need be; where the template is.

    What is there already is never replaced.
    """
    place = Path(folder)
    for name in (DATABASE, TEMPLATE):
        if (place / name).exists():
            raise FormatError(
                f"{place / name}: this is there already and would be replaced; name another folder"
            )
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: cannot be made: {error.strerror or error}") from None
    new_database(place / DATABASE, drawn.columns())
    with replaced_file(place / TEMPLATE) as temporary:
        temporary.write_bytes(files("lifagu").joinpath(f"examples/{TEMPLATE}").read_bytes())
    return place / TEMPLATE


def result_arrives(folder: PathLike, patient: str, result: str) -> None:
    """Insert the result of a patient's test into the database."""
    add_rows(
        Path(folder) / DATABASE, "test", {"patient": texts([patient]), "result": texts([result])}
    )
