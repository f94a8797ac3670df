"""Models in and out: Parquet folders and JSON files as models grow, and UAI files beside peers."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lifagu
from lifagu import FactorGraph
from research.bench.apart import memory_peak, run_apart
from research.bench.models import epidemic, epidemic_by_arrays, epidemic_with_holes
from research.bench.part import FLOOR, Part, begin, duration, ratio, sized
from research.bench.timing import arranging, timed

MODELS: dict[str, Callable[[int], FactorGraph]] = {
    "numbers only": epidemic_by_arrays,
    "kinds, individuals, holes": lambda people: epidemic_with_holes(people, individuals=True),
    "names": epidemic,
}
HEAD = [
    "model",
    "arguments",
    "kept as",
    "argsort",
    "write",
    "read",
    "memory writing",
    "memory reading",
    "size",
    "equal",
]
UAI = [
    "arguments",
    "lifagu writes",
    "pyAgrum writes",
    "pgmpy writes",
    "lifagu reads",
    "pyAgrum reads",
    "pgmpy reads",
]
Done = tuple[float, int, Any]  # seconds, the peak of memory in bytes, and what there is to say


def main() -> None:
    """Measure and print."""
    part = begin(
        "Models in and out",
        ("lifagu", "numpy", "duckdb", "pyagrum", "pgmpy"),
        "The paper's epidemic: plain, with kinds, individuals and a tenth of the factors unknown,",
        "and with names. Each is written and read in a process of its own, as a folder of Parquet",
        "tables or as lifagu's JSON; times as ratios to one stable argsort of as many random",
        "64-bit integers as there are arguments. Memory is the peak of the process that builds and",
        "writes, and of the one that reads.",
    )
    with tempfile.TemporaryDirectory() as folder:
        import_now(Path(folder), "duckdb")
        table = part.table(HEAD, _rows(part, Path(folder)))
        largest = [row for row in table if row["kept as"] == "Parquet"][-len(MODELS) :]
        found = "; ".join(
            f"{row['model']}: written {row['write']}, read {row['read']}" for row in largest
        )
        part.in_short(
            f"Parquet folders of {largest[0]['arguments']} arguments, by one argsort: {found}."
        )
        import_now(Path(folder), "pyagrum.markov_random_field", "pgmpy.readwrite")
        part.section(
            "UAI files beside peers",
            f"The same file, read and written by each; peers relative to lifagu; each has "
            f"{part.limit:g} s for both.",
        )
        part.table(UAI, _beside_peers(part, Path(folder) / "model.uai"))


def import_now(folder: Path, *modules: str) -> None:
    """What first use would import; DuckDB is not started, as its threads do not survive a fork."""
    for name in ("small.json", "small.uai"):
        lifagu.write(epidemic_by_arrays(1), folder / name)
        lifagu.read(folder / name)
    for module in modules:
        if find_spec(module.partition(".")[0]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import_module(module)


# ---- as models grow


def sizes(small: bool) -> Iterator[tuple[str, int, str]]:
    """Model, number of persons (nine arguments each), and where it is kept."""
    for target, people in (
        ("model", (111, 1_111) if small else (1_111, 11_111, 111_111, 1_111_111)),
        ("model.json", (111, 1_111) if small else (1_111, 11_111, 111_111)),
    ):
        yield from ((title, each, target) for each in people for title in MODELS)


def _rows(part: Part, folder: Path) -> Iterator[list[str]]:
    for title, people, name in sizes(part.small):
        target = folder / name
        make = partial(MODELS[title], people)
        written, read = (
            run_apart(partial(_write, make, target)),
            run_apart(partial(_read, make, target)),
        )
        kept = "JSON" if target.suffix else "Parquet"
        if isinstance(written, str) or isinstance(read, str):
            yield [
                title,
                f"{people:,} persons",
                kept,
                str(written)[:40],
                str(read)[:40],
                *["–"] * (len(HEAD) - 5),
            ]
            continue
        arguments = written[2]
        floor = arranging(arguments)
        for curve, seconds in (
            ("write", written[0]),
            ("read", read[0]),
            (f"{FLOOR}argsort", floor),
        ):
            part.point(f"{kept}: {title}", "arguments", curve, arguments, seconds)
        cells = [title, sized(arguments), kept, duration(floor)]
        cells += [f"{ratio(each[0], floor)} ({duration(each[0])})" for each in (written, read)]
        cells += [f"{each[1] / 2**20:.0f} MiB" for each in (written, read)]
        files = list(target.iterdir()) if target.is_dir() else [target]
        yield [
            *cells,
            f"{sum(each.stat().st_size for each in files) / 2**20:.2f} MiB",
            "yes" if read[2] else "no",
        ]


def _write(make: Callable[[], FactorGraph], target: Path) -> Done:
    graph = make()
    _, seconds = timed(lambda: lifagu.write(graph, target))
    return seconds, memory_peak(), len(graph.arguments)


def _read(make: Callable[[], FactorGraph], target: Path) -> Done:
    graph, seconds = timed(lambda: lifagu.read(target))
    return seconds, memory_peak(), graph == make()


# ---- beside peers


def _beside_peers(part: Part, target: Path) -> Iterator[list[str]]:
    failed = {name: "not installed" for name in ENGINES if find_spec(name.lower()) is None}
    for people in (11,) if part.small else (11, 111, 1_111, 11_111):
        graph = epidemic_by_arrays(people)
        seconds: dict[str, float | str] = {}
        for name, work in ENGINES.items():
            lifagu.write(graph, target)
            found = (
                failed[name]
                if name in failed
                else run_apart(partial(work, graph, target), part.limit)
            )
            both: tuple[float | str, float | str] = (
                (found, found) if isinstance(found, str) else found
            )
            for did, each in zip((f"{name} writes", f"{name} reads"), both, strict=True):
                seconds[did] = each
                if name not in failed:
                    part.point("UAI", "arguments", did, len(graph.arguments), each)
            if isinstance(found, str):
                failed.setdefault(name, "–")
        yield [sized(len(graph.arguments)), *(_cell(seconds, name) for name in UAI[1:])]


def _cell(seconds: dict[str, float | str], name: str) -> str:
    own, found = seconds[f"lifagu {name.split()[1]}"], seconds[name]
    if isinstance(found, str) or isinstance(own, str):
        return str(found)
    return duration(found) if name.startswith("lifagu") else ratio(found, own)


def _with_lifagu(graph: FactorGraph, target: Path) -> tuple[float, float]:
    _, reading = timed(lambda: lifagu.read(target))
    return timed(lambda: lifagu.write(graph, target))[1], reading


def _with_pyagrum(graph: FactorGraph, target: Path) -> tuple[float, float]:
    import pyagrum.markov_random_field as field

    model, reading = timed(lambda: field.loadMRF(str(target)))
    return timed(lambda: field.saveMRF(model, str(target)))[1], reading


def _with_pgmpy(graph: FactorGraph, target: Path) -> tuple[float, float]:
    from pgmpy.readwrite import UAIReader, UAIWriter

    model, reading = timed(lambda: UAIReader(str(target)).get_model())
    return timed(lambda: UAIWriter(model).write(str(target)))[1], reading


ENGINES = {"lifagu": _with_lifagu, "pyAgrum": _with_pyagrum, "pgmpy": _with_pgmpy}

if __name__ == "__main__":
    main()
