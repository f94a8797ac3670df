"""Where a benchmark ran: processor, memory, system, versions, load; nothing that names it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lifagu.basics.kernel import has_kernel


def machine(packages: Iterable[str]) -> str:
    """One line: date, machine, load, Python and the versions of these packages."""
    where = (
        f"{date.today()}, {processor()}, {os.cpu_count()} cores, load {load()}, Python "
        f"{platform.python_version()}"
    )
    return f"{where}; {versions(packages)}."


def facts(packages: Iterable[str]) -> dict[str, str]:
    """What is behind all figures of a report, by name."""
    compiler = platform.python_compiler()
    return {
        "processor": f"{processor()} ({platform.machine()}), {os.cpu_count()} cores",
        "memory": f"{memory() / 2**30:.0f} GiB" if memory() else "unknown",
        "system": f"{system()}, {platform.system()} {platform.release().partition('-')[0]}",
        "Python": f"{platform.python_version()}, {compiler}",
        "kernel of lifagu": "compiled" if has_kernel() else "none, the reference runs",
        "versions": versions(packages),
    }


def versions(packages: Iterable[str]) -> str:
    """The packages with their versions."""
    return ", ".join(f"{package} {_version(package)}" for package in dict.fromkeys(packages))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Its model where that can be read, else its architecture."""
    with suppress(OSError):
        found = re.search(
            r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def memory() -> int:
    """Bytes of memory; 0 where that cannot be known."""
    with suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 0


def system() -> str:
    """The operating system."""
    with suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return platform.platform(terse=True)


def load() -> str:
    """The load of the last minute."""
    with suppress(OSError, AttributeError):
        return f"{os.getloadavg()[0]:.2f}"
    return "unknown"


def busy_seconds() -> float | None:
    """Processor seconds of all processes since the machine started; None where unknown."""
    with suppress(OSError, ValueError, AttributeError):
        ticks = [int(each) for each in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        # all but idle, waiting and guests
        return float(sum(ticks[:3]) + sum(ticks[5:8])) / os.sysconf("SC_CLK_TCK")
    return None
