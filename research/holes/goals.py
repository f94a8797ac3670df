"""What a method should reach beside the oracle, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from research.campaign import Line
from research.markdown import number, percent

NEGLIGIBLE = 1e-4  # divergences below it have no ratio worth looking at; differences count
EXACT_MEAN, EXACT_WORST = 1.06, 1.2
NOISY_MEAN = 1.15
CONTROL = 1.01
AS_GOOD = 1.02  # a divergence over another one that is as good
ENOUGH_RECORDS = 20
OFF = 0.03  # stated confidence may be off by this and two standard errors
COVERED = (0.87, 0.93)


class BesideOracle(NamedTuple):
    """Divergences over the oracle's, by scenario, and differences where the oracle's vanish."""

    ratios: dict[str, float]
    differences: dict[str, float]

    @property
    def geometric_mean(self) -> float | None:
        """Of the ratios."""
        logs = [math.log(max(each, 1e-12)) for each in self.ratios.values()]
        return math.exp(sum(logs) / len(logs)) if logs else None

    @property
    def worst(self) -> float | None:
        """The largest ratio."""
        return max(self.ratios.values(), default=None)

    @property
    def largest_difference(self) -> float | None:
        """Where the oracle's divergence vanishes."""
        return max(self.differences.values(), default=None)

    def shown(self) -> list[str]:
        """Geometric mean, worst scenario, and largest difference, as words."""
        worst = max(self.ratios, key=self.ratios.__getitem__, default="–")
        where = max(self.differences, key=self.differences.__getitem__, default="")
        difference = number(self.largest_difference) + (f" ({where})" if where else "")
        return [number(self.geometric_mean, 3), f"{number(self.worst, 3)} ({worst})", difference]


def beside_oracle(own: Mapping[str, float], oracle: Mapping[str, float]) -> BesideOracle:
    """Compare divergences by scenario.

    >>> found = beside_oracle({"a": 0.2, "b": 0.05, "c": 3e-5}, {"a": 0.1, "b": 0.1, "c": 0.0})
    >>> found.geometric_mean, found.worst, found.differences
    (1.0, 2.0, {'c': 3e-05})
    """
    vanishing = [name for name in own if oracle[name] < NEGLIGIBLE]
    return BesideOracle(
        {name: own[name] / oracle[name] for name in own if name not in vanishing},
        {name: own[name] - oracle[name] for name in vanishing},
    )


def verdict(reached: bool) -> str:
    """Whether a goal is reached."""
    return "reached" if reached else "not reached"


def ratio_goal(found: BesideOracle, mean: float, worst: float | None = None) -> str:
    """Whether the geometric mean, perhaps the worst, and all differences are small enough."""
    small = (found.geometric_mean or 0.0) <= mean
    small &= worst is None or (found.worst or 0.0) <= worst
    small &= (found.largest_difference or 0.0) < NEGLIGIBLE
    middle, largest, difference = found.shown()
    text = f"{verdict(small)}: geometric mean {middle}, worst {largest}"
    return text + (f", largest difference {difference}" if found.differences else "")


def no_worse_goal(own: Mapping[str, float], other: Mapping[str, float]) -> str:
    """Whether divergences are as small as others in every scenario, and smaller on the whole."""
    found = beside_oracle(own, other)
    worse = {name: ratio for name, ratio in found.ratios.items() if ratio > AS_GOOD}
    reached = not worse and (found.geometric_mean or 0.0) <= 1.0
    reached &= (found.largest_difference or 0.0) < NEGLIGIBLE
    where = "".join(f", {name} {number(ratio, 3)}" for name, ratio in worse.items())
    return f"{verdict(reached)}: geometric mean {number(found.geometric_mean, 3)}{where}"


def confidence_goal(bins: Iterable[Line]) -> str:
    """Whether stated confidence is close to the rate right in every bin."""
    bins = list(bins)
    if not bins:
        return "–: no confidence was stated"
    beyond = [
        f"{number(each['confidence'])} stated, {number(each['right'])} right of {each['factors']}"
        for each in bins
        if abs(each["confidence"] - each["right"]) > OFF + 2 * each["error"]
    ]
    if beyond:
        return f"{verdict(False)}: {'; '.join(beyond)}"
    return f"{verdict(True)}: in all of {len(bins)} bins"


def coverage_goal(covered: Sequence[tuple[str, int, float]], enough: bool = True) -> str:
    """Whether intervals cover what they should: (scenario, how many, coverage) of each.

    enough: there are records enough; else intervals may be too wide, but not too narrow.
    """
    total = sum(many for _, many, _ in covered)
    if not total:
        return "–: there were no intervals"
    mean = sum(many * share for _, many, share in covered) / total
    low, high = COVERED
    outside = [
        f"{name} {percent(share)}"
        for name, _, share in covered
        if share < low or (enough and share > high)
    ]
    reached = low <= mean and (mean <= high or not enough)
    apart = f"; apart: {', '.join(outside)}" if outside else ""
    return f"{verdict(reached)}: {100 * mean:.1f} % of {total} intervals{apart}"
