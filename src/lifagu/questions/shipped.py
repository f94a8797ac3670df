"""Examples that come with the package: known by name everywhere, and copied with their data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lifagu.basics.atomic_files import PathLike, failing, replaced_files, settle
from lifagu.errors import FormatError, ModelError, did_you_mean


@dataclass(frozen=True)
class ShippedExample:
    """A model that comes with the package: its file, the data it reads, and what it is about."""

    file: str
    about: str
    data: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All of its files."""
        return self.file, *self.data


SHIPPED = {
    "epidemic": ShippedExample(
        "epidemic.json", "two patients, two medications, kinds and individuals (the paper's)"
    ),
    "wards": ShippedExample(
        "wards.json", "ten patients on two wards that treat differently; three tables are unknown"
    ),
    "figure3": ShippedExample("figure3.json", "two factors alike, to watch colours pass"),
    "smokers": ShippedExample("smokers.json", "friends and smokers, a relational model"),
    "workshop": ShippedExample(
        "workshop.json", "who attends a workshop; pairs are listed one by one"
    ),
    "clinic": ShippedExample(
        "clinic.json",
        "a template over CSV files that counts tables; two of them are unknown",
        ("clinic_patients.csv", "clinic_treatments.csv", "clinic_history.csv"),
    ),
    "factory": ShippedExample(
        "factory.json",
        "a template over machines with gaps, whose tables are learned",
        ("factory_machines.csv",),
    ),
}


def found_or_shipped(path: str) -> str:
    """What is to be opened; a name that no file or folder here has may be that of an example."""
    if os.path.lexists(path):
        return path
    if path in SHIPPED:
        return str(_shipped(SHIPPED[path].file))
    if len(Path(path).parts) == 1 and (meant := did_you_mean(path, SHIPPED)):
        raise FormatError(f"{path}: there is no such file or folder, nor an example{meant}")
    return path


def copy_example(name: str, folder: PathLike) -> Path:
    """Copy an example and its data into a folder, made if need be; what is there is not replaced.

    Returns where its model is.
    """
    if name not in SHIPPED:
        known = did_you_mean(name, SHIPPED) or f"; there are {', '.join(SHIPPED)}"
        raise ModelError(f"there is no example '{name}'{known}")
    example, place = SHIPPED[name], Path(folder)
    settle(place / example.file, tidy=True)
    for each in example.files:
        if os.path.lexists(place / each):
            raise FormatError(
                f"{place / each}: this is there already and would be replaced; name another folder"
            )
    with failing(place, "cannot be written"):
        place.mkdir(parents=True, exist_ok=True)
        with replaced_files(place / example.file, example.data) as copies:
            for copy in copies:
                copy.write_bytes(_shipped(copy.name).read_bytes())
    return place / example.file


def _shipped(file: str) -> Path:
    from importlib.resources import files

    return Path(str(files("lifagu"))) / "examples" / file
