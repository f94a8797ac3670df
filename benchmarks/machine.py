"""Where a benchmark ran: date, machine and versions, for the head of its table."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import date
from importlib.metadata import PackageNotFoundError, version


def machine(packages: Iterable[str]) -> str:
    """One line: date, machine, Python and the versions of these packages."""
    where = f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    versions = ", ".join(f"{package} {_version(package)}" for package in dict.fromkeys(packages))
    return f"{where}; {versions}."


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
