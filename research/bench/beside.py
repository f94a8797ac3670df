"""Exact answers of lifagu beside those of its peers: a table per family, with time and digits."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import numpy as np

from lifagu import FactorGraph
from research.bench.limits import MEMORY, MISSING, REPEATS, Made, Measured, measure
from research.bench.part import Part, duration, ratio
from research.bench.peers import ENUMERATION, LIFAGU, PEERS, Engine, Model, Outcome

ENGINES = [LIFAGU, *PEERS]
PACKAGES = ("numpy", *(engine.package for engine in ENGINES))
HEAD = ["model", *(engine.name for engine in ENGINES), "reference"]
HOW_TO_READ = (
    f"One answer each, planning included, building the engine's model not; best of {REPEATS} below",
    "1 s. A cell reads *time relative to lifagu · correct digits* (above 1× the peer is slower),",
    "lifagu's own in absolute time. Digits are against the reference named in the last column.",
    "Threads are as the engines set them: lifagu uses one; pyAgrum, cotengra and numpy's linear",
    f"algebra up to {os.cpu_count()}. Limits: {{limit}} s and {MEMORY // 2**30} GiB per answer; –",
    "means that the engine failed on a smaller model of the family, or does not offer all",
    "marginals in one pass.",
)

Measure = Callable[[Engine, float], Measured]  # given the seconds that each step may take


@dataclass(frozen=True)
class Family:
    """Models of one kind: (row title, how to measure an engine), growing if `sizes` are given.

    Sizes, in `unit`, put the rows into a growth curve. every: each row asks about every variable.
    """

    title: str
    rows: list[tuple[str, Measure]]
    sizes: Sequence[int] = ()
    unit: str = ""
    every: bool = False

    @classmethod
    def growing(
        cls,
        title: str,
        unit: str,
        family: Callable[[int], FactorGraph],
        sizes: Sequence[int],
        asked: str,
    ) -> Family:
        """Members of a family of graphs by growing size, each asked about one variable."""
        rows = [(f"{size:,}", measuring(partial(_member, family, size, asked))) for size in sizes]
        return cls(title, rows, sizes, unit)

    @property
    def name(self) -> str:
        """The title's first words."""
        return re.split("[,:]", self.title)[0]


def measuring(make: Callable[[], Made]) -> Measure:
    """How to measure an engine on a model."""
    return lambda engine, limit: measure(engine, make, limit)


def _member(family: Callable[[int], FactorGraph], size: int, variable: str) -> Made:
    graph = family(size)
    return Model.of(graph), graph.variable_names.number(variable)


@dataclass
class Tally:
    """What the rows amount to: who answered how often, and the fastest peer on each family."""

    rows: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    families: list[str] = field(default_factory=list)

    def add(self, family: Family, measured: list[dict[str, Measured]]) -> None:
        """One family more, given what each engine did on each row."""
        beaten: list[
            tuple[str, float]
        ] = []  # row title, seconds of the fastest peer by those of lifagu
        for (title, _), row in zip(family.rows, measured, strict=True):
            seconds = {name: each.seconds for name, each in row.items() if trouble(each) is None}
            self.answered.update(seconds.keys())
            own = seconds.pop(LIFAGU.name, None)
            peers = [each for each in seconds.values() if each is not None]
            if own is not None and peers:
                beaten.append((title, min(peers) / own))
        self.rows += len(family.rows)
        if beaten and family.sizes:
            self.families.append(f"{family.name} {ratio(beaten[-1][1], 1)} (at {beaten[-1][0]})")
        elif beaten:
            middle = ratio(median(each for _, each in beaten), 1)
            self.families.append(f"{family.name} {middle} (median of {len(beaten)})")

    def in_short(self) -> str:
        """One sentence."""
        counts = ", ".join(f"{engine.name} {self.answered[engine.name]}" for engine in ENGINES)
        text = f"answered of {self.rows} questions: {counts}"
        if not self.families:
            return f"{text}."
        return (
            f"{text}. Time of the fastest peer by that of lifagu, on the largest model of a family "
            f"that any peer answers: {', '.join(self.families)}."
        )


def show(part: Part, families: list[Family]) -> None:
    """A table for each family, and what they amount to."""
    tally = Tally()
    for family in families:
        measured: list[dict[str, Measured]] = []
        part.section(family.title)
        part.table(HEAD, _rows(part, family, measured))
        tally.add(family, measured)
    part.in_short(tally.in_short())


def _rows(part: Part, family: Family, measured: list[dict[str, Measured]]) -> Iterator[list[str]]:
    """The rows of a family's table, as they are measured, which is kept."""
    given_up = {engine.name for engine in ENGINES if family.every and not engine.every}
    for place, (title, ask) in enumerate(family.rows):
        row = {
            engine.name: Measured(failure="–")
            if engine.name in given_up
            else ask(engine, part.limit)
            for engine in ENGINES
        }
        measured.append(row)
        if family.sizes:
            running = {
                name: each
                for name, each in row.items()
                if name not in given_up and each.failure != MISSING
            }
            for name, each in running.items():
                part.point(
                    family.title,
                    family.unit,
                    name,
                    family.sizes[place],
                    trouble(each) or each.seconds,
                )
            given_up |= {name for name, each in running.items() if trouble(each)}
        reference, source = find_reference(ask(ENUMERATION, part.limit), list(row.values()))
        own = row[LIFAGU.name].seconds
        cells = [
            cell(row[engine.name], reference, None if engine is LIFAGU else own)
            for engine in ENGINES
        ]
        yield [title, *cells, source]


def trouble(measured: Measured) -> str | None:
    """Why a measurement is no answer; None if it is one."""
    if measured.outcome is None:
        return measured.failure
    probabilities = measured.outcome[1]
    if np.isnan(probabilities).any():
        return "nan"
    return None if np.isfinite(probabilities).all() else "inf"


def find_reference(exact: Measured, measured: list[Measured]) -> tuple[Outcome | None, str]:
    """The enumerated answer, else the median of the engines' answers, and which of them it is."""
    if exact.outcome and len(exact.outcome[1]):
        return exact.outcome, "enumeration"
    answers = [each.outcome for each in measured if each.outcome and not trouble(each)]
    if len(answers) < 2:
        return None, "none"
    logs = [log for log, _ in answers if log is not None]
    middle = np.median([probabilities for _, probabilities in answers], axis=0)
    return (float(np.median(logs)) if logs else None, middle), f"median of {len(answers)}"


def digits(outcome: Outcome, reference: Outcome) -> int:
    """Correct decimal digits of each probability, and of log Z where both know it."""
    expected, found = reference[1], outcome[1]
    with np.errstate(all="ignore"):
        errors = np.where(expected == found, 0.0, np.abs(found - expected) / expected).tolist()
    if outcome[0] is not None and reference[0] is not None:
        errors.append(abs(outcome[0] - reference[0]) / max(1.0, abs(reference[0])))
    worst = max(errors)
    return 0 if worst >= 1 else 16 if worst < 1e-16 else math.floor(-math.log10(worst))


def cell(measured: Measured, reference: Outcome | None, own: float | None) -> str:
    """``2.3× · 15``: time relative to lifagu (absolute if that is missing) and correct digits."""
    failed = trouble(measured)
    if failed or measured.outcome is None or measured.seconds is None:
        return failed or "–"
    time = duration(measured.seconds) if own is None else ratio(measured.seconds, own)
    return f"{time} · {digits(measured.outcome, reference)}" if reference else time
