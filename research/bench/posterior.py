"""All marginals of models with holes, tables summed out, against the same with all tables known."""

from __future__ import annotations

from collections.abc import Iterator

import lifagu
from lifagu.questions.posterior_model import posterior_graph
from research.bench.cohort_models import individuals
from research.bench.part import Part, begin, duration, ratio, sized
from research.bench.timing import best_time, timed

SORTS = {
    "exact": "exact tables, a few in each place",
    "own": "the same, and a table of one's own each",
    "estimated": "estimated tables, known ones cleaned",
}
SHARES = (0.1, 0.4)
HEAD = ("individuals", "factors", "unknown", "all known", "filling", "model", "marginals", "both")


def main() -> None:
    """Measure and print."""
    part = begin(
        "Tables summed out",
        ("lifagu", "numpy"),
        "n individuals in six hidden cohorts, five tables each, around a variable that all share.",
        "All marginals are asked of the model with all tables known, and of the one with holes by",
        "posterior (the default). Filling finds cohorts, once; *model* is the time to build what",
        "is asked, once as well: cohorts and tables are hidden in it, and as likely as they should",
        "be; *marginals* all marginals of it, *both* these two together; ratios to the marginals",
        "with all tables known.",
    )
    found = []
    for sort, title in SORTS.items():
        for share in SHARES[1:] if part.small else SHARES:
            what = f"{title}: {share:.0%} unknown"
            part.section(what[0].upper() + what[1:])
            largest = part.table(HEAD, _rows(part, sort, share))[-1]
            found.append(f"{sort} {share:.0%} {largest['marginals']}, {largest['both']}")
    part.in_short(
        f"all marginals of {largest['individuals']} individuals with holes, against all tables "
        f"known, without and with building the model: {'; '.join(found)}."
    )


def _rows(part: Part, sort: str, share: float) -> Iterator[list[str]]:
    panel = f"{sort}, {share:.0%} unknown"
    for people in (50, 100) if part.small else (12_500, 25_000, 50_000, 100_000):
        known, holes = individuals(people, share, sort)
        base = best_time(lambda known=known: lifagu.marginals(known))
        moved, filling = timed(lambda holes=holes: lifagu.transfer(holes, by="auto"))
        _, model = timed(lambda moved=moved: posterior_graph(moved))
        asked = best_time(lambda moved=moved: lifagu.marginals(moved, unknown="posterior"))
        times = {"all known": base, "filling": filling, "model": model, "marginals": asked}
        for curve, seconds in times.items():
            part.point(panel, "individuals", curve, people, seconds)
        yield [
            *(sized(people), sized(len(holes.factor_names)), sized(len(holes.unknown))),
            *map(duration, (base, filling, model)),
            *(f"{ratio(each, base)} ({duration(each)})" for each in (asked, model + asked)),
        ]


if __name__ == "__main__":
    main()
