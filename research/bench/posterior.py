"""All marginals of models with holes, tables summed out, against the same with all tables known."""

from __future__ import annotations

from collections.abc import Iterator

import lifagu
from research.bench.cohort_models import individuals
from research.bench.measure import Tables, beside, best_time, duration, sized, timed

ABOUT = (
    "n individuals in six hidden cohorts, five tables each, around a variable that all share. All "
    "marginals are asked of the model with all tables known, and of the one with holes by the "
    "default, which sums classes and tables out. *Filling* finds the classes, once; the first "
    "question builds what is asked, the next ones do not; ratios to the marginals with all tables "
    "known."
)
SORTS = {
    "exact": "exact tables, a few in each place",
    "own": "the same, and a table of one's own each",
    "estimated": "estimated tables, known ones cleaned",
}
HEAD = ("individuals", "factors", "unknown", "all known", "filling", "first", "next")


def tables(small: bool, limit: float) -> Tables:
    """What is measured."""
    for sort, title in SORTS.items():
        for share in (0.4,) if small else (0.1, 0.4):
            yield f"{title.capitalize()}: {share:.0%} unknown", HEAD, _rows(small, sort, share)


def _rows(small: bool, sort: str, share: float) -> Iterator[list[str]]:
    for people in (50, 100) if small else (12_500, 25_000, 50_000, 100_000):
        known, holes = individuals(people, share, sort)
        base = best_time(lambda known=known: lifagu.marginals(known))
        moved, filling = timed(lambda holes=holes: lifagu.transfer(holes, by="auto"))
        _, first = timed(lambda moved=moved: lifagu.marginals(moved))
        asked = best_time(lambda moved=moved: lifagu.marginals(moved))
        counts = (people, len(holes.factor_names), len(holes.unknown))
        times = [*map(duration, (base, filling)), *(beside(each, base) for each in (first, asked))]
        yield [*map(sized, counts), *times]
