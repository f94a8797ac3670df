"""Licences of what lifagu stands on, from what is installed: ``make licences`` writes the page."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/licences.md"
TOOLS = {"test", "bench", "all"}  # extras for those who work on lifagu, and one that adds nothing
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0"),
    *("MIT", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib"),
}
# imported as they are, not copied or linked into anything, as this licence wants it
ALSO_ALLOWED = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}
NAMES = {  # as packages that give no SPDX expression call them
    "BSD 3-Clause License": "BSD-3-Clause",
    "2-clause BSD": "BSD-2-Clause",
    "Apache 2.0": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
HEAD = """# Licences

lifagu is under the [MIT licence](../LICENSE). It contains no code of others; packages that it uses
are installed beside it, by name, each under its own licence. `make licences` writes this page from
what is installed, and a test holds that each licence is one of
{allowed}
– and {also} for {exceptions}, which are imported as they are.

## What lifagu and its extras ask for

| package | licence | for |
|---|---|---|
{direct}

## What these bring along

Which of them are installed depends on the extras, the system and the Python.

| package | licence | brought by |
|---|---|---|
{brought}
"""


def normal(name: str) -> str:
    """The one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def asked_for() -> dict[str, list[str]]:
    """Requirements of pyproject.toml by extra, "" for those that are always installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return {"": project["dependencies"], **{e: extras[e] for e in extras if e not in TOOLS}}


def direct() -> dict[str, list[str]]:
    """Packages that pyproject.toml names, each with the extras it is for, by name."""
    found: dict[str, list[str]] = {}
    for extra, requirements in asked_for().items():
        for each in requirements:
            found.setdefault(normal(Requirement(each).name), []).append(extra)
    return dict(sorted(found.items()))


def brought() -> dict[str, set[str]]:
    """Installed packages that those bring along, each with those that ask for it, by name."""
    waiting = [
        (normal(each.name), frozenset(each.extras))
        for requirements in asked_for().values()
        for each in map(Requirement, requirements)
    ]
    seen, found, own = set(waiting), dict[str, set[str]](), direct()
    while waiting:
        name, extras = waiting.pop()
        for below in needed(name, extras):
            key = normal(below.name), frozenset(below.extras)
            if key[0] not in own and installed(key[0]):
                found.setdefault(key[0], set()).add(name)
            if key not in seen:
                seen.add(key)
                waiting.append(key)
    return dict(sorted(found.items()))


def installed(name: str) -> Distribution | None:
    """The installed package of a name."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def needed(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """What a package with some extras needs here."""
    package = installed(name)
    for each in map(Requirement, (package and package.requires) or ()):
        if each.marker is None or any(each.marker.evaluate({"extra": e}) for e in {"", *extras}):
            yield each


def licence(name: str) -> str:
    """The licence that an installed package says it has, as an SPDX expression where known."""
    said = distribution(name).metadata
    classifiers = [each for each in said.get_all("Classifier", []) if each.startswith("License")]
    lines = (said.get("License") or "").strip().splitlines() or [""]
    named = [each.rpartition(" :: ")[2] for each in classifiers]
    for found in (said.get("License-Expression"), lines[0].strip(), *named):
        if found and (found in NAMES or allowed(name, found)):
            return NAMES.get(found, found)
    return said.get("License-Expression") or lines[0] or " ".join(named) or "unknown"


def allowed(name: str, expression: str) -> bool:
    """Whether a package may be used: one of alternatives, and all of what goes together."""
    good = {*ALLOWED, ALSO_ALLOWED.get(name, "MIT")}
    return any(
        all(part.strip(" ()") in good for part in each.split(" AND "))
        for each in expression.split(" OR ")
    )


def page() -> str:
    """The page as it should be."""
    extras = {
        name: ", ".join(f"`{each}`" if each else "always" for each in dict.fromkeys(whose))
        for name, whose in direct().items()
    }
    whose = {name: ", ".join(sorted(users)) for name, users in brought().items()}
    return HEAD.format(
        allowed=", ".join(sorted(ALLOWED)),
        also=", ".join(sorted(set(ALSO_ALLOWED.values()))),
        exceptions=" and ".join(sorted(ALSO_ALLOWED)),
        direct="\n".join(f"| {n} | {licence(n)} | {e} |" for n, e in extras.items()),
        brought="\n".join(f"| {n} | {licence(n)} | {e} |" for n, e in whose.items()),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
