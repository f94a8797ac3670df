"""Exact answers about one or every variable of ground models: lifagu beside its peers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lifagu import FactorGraph
from research.bench.beside import ENGINES, HOW_TO_READ, PACKAGES, Family, Measure, measuring, show
from research.bench.limits import Made, warm_up
from research.bench.models import cohorts, epidemic, grid, leaf, network, networks
from research.bench.part import begin
from research.bench.peers import EVERY, Model

TOO_DEAR = {"munin1", "link"}  # for every variable at once: tables of hundreds of megabytes


def main() -> None:
    """Measure and print."""
    part = begin(
        "Ground inference beside peers",
        PACKAGES,
        *HOW_TO_READ,
        "On Bayesian networks pyAgrum and pgmpy are told which table is whose distribution and may",
        "drop what does not matter; the others see tables only.",
    )
    warm_up(ENGINES)
    show(part, families(part.small))


def families(small: bool) -> list[Family]:
    """What is measured."""
    people = [4, 16] if small else [4, 16, 64, 256, 1024]
    sides = [4, 8] if small else [8, 10, 12, 14, 16, 18]
    names = [
        name for name in networks() if not small or name in ("asia", "cancer", "survey", "alarm")
    ]
    return [
        Family.growing("Epidemic, n persons: P(Sick.0)", "persons", epidemic, people, "Sick.0"),
        Family.growing("Cohorts, d persons: P(Sick.0)", "persons", cohorts, people, "Sick.0"),
        Family.growing("Binary grid: P(corner)", "side", grid, sides, "x0"),
        Family(
            "Bayesian networks: P(deepest leaf)",
            [(name, measuring(partial(_network, name))) for name in names],
        ),
        Family("All marginals: P(X) of every X", _every(names, sides), every=True),
    ]


def _every(names: list[str], sides: list[int]) -> list[tuple[str, Measure]]:
    asked = [(name, partial(_network, name, every=True)) for name in names if name not in TOO_DEAR]
    asked += [(f"{side} × {side} grid", partial(_all_of, grid, side)) for side in sides[:3]]
    return [(title, measuring(make)) for title, make in asked]


def _all_of(family: Callable[[int], FactorGraph], size: int) -> Made:
    return Model.of(family(size)), EVERY


def _network(name: str, every: bool = False) -> Made:
    read = network(name)
    return Model.of(read), EVERY if every else leaf(read)


if __name__ == "__main__":
    main()
