"""Random models in the making: tables in many styles, all evidence, and odd additions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from support.naive import inference as naive

LABELS = [
    ("false", "true"),
    ("x", "y"),
    ("y", "x"),
    ("a", "b", "c"),
    ("c", "a", "b"),
    ("only",),
    ("p", "q", "r", "s"),
]
OFTEN = [8, 3, 2, 3, 1, 2, 1]
Style = Callable[[random.Random, Sequence[int]], list[float]]


# ---- tables


def whole(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """Small whole numbers."""
    return [rng.randint(1, 9) for _ in range(math.prod(spans))]


def few(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """Few distinct values, so that equal tables are common."""
    return [rng.choice([0.5, 1, 1, 2]) for _ in range(math.prod(spans))]


def symmetric(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """A table that arguments with equally many labels may be swapped in."""
    values: dict[tuple[int, ...], float] = {}
    order = sorted(range(len(spans)), key=lambda each: spans[each])
    found = []
    for state in itertools.product(*map(range, spans)):
        key = tuple(
            value
            for span, group in itertools.groupby(order, key=lambda each: spans[each])
            for value in (span, *sorted(state[each] for each in group))
        )
        found.append(values.setdefault(key, rng.choice([0.5, 1, 2, 3, 5])))
    return found


def independent(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """A product of tables of one argument each."""
    parts = [[rng.choice([0.5, 1, 2, 3]) for _ in range(span)] for span in spans]
    return [math.prod(state) for state in itertools.product(*parts)]


def nearly_flat(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """One value, in some places larger by one unit in the last place."""
    value = rng.choice([1.0, 3.0, 0.1])
    return [
        math.nextafter(value, 9) if rng.random() < 0.3 else value for _ in range(math.prod(spans))
    ]


def wide(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """Values whose product leaves the range of doubles."""
    scale = rng.choice([1e-150, 1e120, 1.0])
    return [scale * 10 ** rng.uniform(-3, 3) for _ in range(math.prod(spans))]


def single(rng: random.Random, spans: Sequence[int]) -> list[float]:
    """Zeros but for one entry."""
    values = [0.0] * math.prod(spans)
    values[rng.choice([0, len(values) - 1, rng.randrange(len(values))])] = rng.choice([1, 0.25, 7])
    return values


STYLES: dict[Style, int] = {whole: 6, few: 4, symmetric: 4, independent: 1, nearly_flat: 1, wide: 1}


def table(rng: random.Random, spans: Sequence[int], style: Style | None = None) -> list[float]:
    """A table in a random style, at times with zeros, never with zeros only."""
    chosen = style or rng.choices(list(STYLES), STYLES.values())[0]
    values = chosen(rng, spans)
    if rng.random() < 0.2:
        kept = rng.randrange(len(values))
        values = [
            0 if rng.random() < 0.3 and place != kept else value
            for place, value in enumerate(values)
        ]
    return values if any(values) else [1, *values[1:]]


def nudged(rng: random.Random, values: Sequence[float]) -> list[float]:
    """The same table with one entry larger by one unit in the last place."""
    place = rng.randrange(len(values))
    return [
        math.nextafter(value, math.inf) if place == each else value
        for each, value in enumerate(values)
    ]


# ---- models


class Draft:
    """A model in the making, with random numbers; `more` individuals than usual are in it."""

    def __init__(self, rng: random.Random, more: int = 0) -> None:
        self.rng, self.more = rng, more
        self.domains: dict[str, Any] = {}
        self.labels: dict[str, tuple[str, ...]] = {}
        self.of: dict[str, tuple[str, ...]] = {}
        self.variables: list[dict[str, Any]] = []
        self.parfactors: list[dict[str, Any]] = []
        self.factors: list[dict[str, Any]] = []
        self.evidence: dict[str, naive.Observation] = {}
        self._seen: dict[str, naive.Observation] = {}
        self._grounded: tuple[Any, dict[str, tuple[str, ...]]] = (), {}

    def domain(self, name: str, sizes: Sequence[int], listed: float = 0.15) -> int:
        """A domain of one of these sizes, at times with constants of its own."""
        size = self.rng.choice(sizes) + self.more
        names = [f"{name.lower()}{place}" for place in range(size)]
        self.domains[name] = names if self.rng.random() < listed else size
        return size

    def constants(self, domain: str) -> list[str]:
        """The constants of a domain."""
        return naive.constants_of({"domains": self.domains})[domain]

    def some_labels(self) -> tuple[str, ...]:
        """A range: two labels mostly, one to four at times."""
        return self.rng.choices(LABELS, OFTEN)[0]

    def relation(self, name: str, *of: str, labels: tuple[str, ...] | None = None) -> None:
        """A relation over domains, or a plain variable without."""
        self.of[name], self.labels[name] = of, labels or self.some_labels()

    def relations(self, text: str, labels: tuple[str, ...] | None = None) -> None:
        """Several at once, as in "E A(P) F(P,P)"."""
        for each in text.split():
            argument = naive.parse(each)
            self.relation(argument.relation, *argument.terms, labels=labels)

    def variable(self, name: str, labels: tuple[str, ...] | None = None) -> None:
        """A variable of a ground graph."""
        self.labels[name] = labels or self.some_labels()
        self.variables.append({"name": name, "range": list(self.labels[name])})

    def shape(
        self, text: str, style: Style | None = None, values: list[float] | None = None
    ) -> None:
        """A parfactor as in "F(X,Y) F(Y,X) | X != Y"; @P stands for some constant.

        After "|?" all, some or none of the constraints are meant. What names a constant of an empty
        domain is left out, and so are constraints on a count over nobody.
        """
        for domain in self.domains:
            if f"@{domain}" in text:
                if not (constants := self.constants(domain)):
                    return
                text = text.replace(f"@{domain}", self.rng.choice(constants))
        left, bar, right = text.partition(" |")
        where = [each.strip() for each in right.lstrip("?").split(",")] if bar else []
        if right.startswith("?"):
            where = self.rng.choice(
                [where, where, [], self.rng.sample(where, self.rng.randint(0, len(where)))]
            )
        self.parfactor(left.split(), where, style, values)

    def parfactor(
        self,
        args: list[str],
        where: list[Any],
        style: Style | None = None,
        values: list[float] | None = None,
    ) -> None:
        """A parfactor with the table given, or a random one."""
        nobody = {
            each.counted
            for each in map(naive.parse, args)
            if each.counted and not self.counted_size(each, [])
        }
        where = [each for each in where if isinstance(each, dict) or not nobody & set(each.split())]
        spans = [self.span(naive.parse(each), where) for each in args]
        values = values or table(self.rng, spans, style)
        entry = {"name": f"g{len(self.parfactors)}", "args": args, "where": where, "table": values}
        self.parfactors.append(
            entry if where else {key: entry[key] for key in ("name", "args", "table")}
        )

    def span(self, argument: naive.Argument, where: Sequence[Any]) -> int:
        """How many labels or histograms an argument has."""
        labels = len(self.labels[argument.relation])
        return (
            naive.histograms(self.counted_size(argument, where), labels)
            if argument.counted
            else labels
        )

    def counted_size(self, argument: naive.Argument, where: Sequence[Any]) -> int:
        """How many members a formula counts: constraints leave out one each, or list them."""
        domain = self.of[argument.relation][argument.terms.index(argument.counted or "")]
        size = len(self.constants(domain))
        for each in where:
            if isinstance(each, dict) and each["vars"] == [argument.counted]:
                rows = {tuple(row) for row in each.get("in", each.get("not_in"))}
                size = len(rows) if "in" in each else size - len(rows)
        texts = [
            each for each in where if isinstance(each, str) and argument.counted in each.split()
        ]
        return max(0, size - len(texts))

    def factor(
        self, names: Sequence[str], values: list[float] | None = None, style: Style | None = None
    ) -> None:
        """A ground factor with the table given, or a random one."""
        spans = [len(self.labels[naive.parse(name).relation]) for name in names]
        values = values or table(self.rng, spans, style)
        self.factors.append({"name": f"f{len(self.factors)}", "args": list(names), "table": values})

    def model(self) -> dict[str, Any]:
        """The model as in a lifagu file."""
        relations = [
            {"name": name, "of": list(of), "range": list(self.labels[name])}
            for name, of in self.of.items()
        ]
        parts = {
            "format": "lifagu/1",
            "domains": self.domains,
            "relations": relations,
            "variables": self.variables,
            "parfactors": self.parfactors,
            "factors": self.factors,
            "evidence": self.evidence,
        }
        return {name: part for name, part in parts.items() if part}

    # ---- evidence

    def existing(self) -> dict[str, tuple[str, ...]]:
        """The ground variables that exist, with their labels."""
        size = len(self.variables), len(self.of), len(self.parfactors), len(self.factors)
        if self._grounded[0] != size:
            self._grounded = size, naive.ground(self.model()).labels
        return self._grounded[1]

    def observe(self, text: str, observed: naive.Observation) -> None:
        """Add an observation if it is about something and contradicts no other."""
        names = naive.covered(text, self.existing())
        if (
            names
            and text not in self.evidence
            and all(self._seen.get(name, observed) == observed for name in names)
        ):
            self.evidence[text] = observed
            self._seen |= dict.fromkeys(names, observed)

    def value(self, name: str, soft: float = 0.0) -> naive.Observation:
        """A random label of a variable, or likelihoods of all of them."""
        labels = self.labels[naive.parse(name).relation]
        if self.rng.random() >= soft:
            return self.rng.choice(labels)
        likelihoods = [self.rng.choice([0, 0.5, 1, 1, 2, 3]) for _ in labels]
        return dict(
            zip(labels, likelihoods if any(likelihoods) else [1, *likelihoods[1:]], strict=True)
        )

    def observe_some(self) -> None:
        """Random evidence of one or two kinds, or none."""
        kinds = [
            lambda: None,
            *[self._each] * 2,
            self._whole_relation,
            *[self._ranges] * 2,
            self._nearly_all,
        ]
        for kind in self.rng.sample(kinds, self.rng.choice([1, 1, 2])):
            kind()

    def _each(self) -> None:
        share, soft = self.rng.choice([0.1, 0.3, 0.6]), self.rng.choice([0, 0.3, 1])
        for name in self.existing():
            if self.rng.random() < share:
                self.observe(name, self.value(name, soft))

    def _whole_relation(self) -> None:
        names = list(self.existing())
        if not names:
            return
        relation = naive.parse(self.rng.choice(names)).relation
        alike, soft = self.rng.random() < 0.5, self.rng.choice([0, 0, 1])
        common = self.value(relation, soft)
        for name in names:
            if naive.parse(name).relation == relation:
                self.observe(name, common if alike else self.value(name, soft))

    def _nearly_all(self) -> None:
        names = list(self.existing())
        left = set(self.rng.sample(names, min(len(names), self.rng.choice([0, 0, 1, 2]))))
        soft = self.rng.choice([0, 0, 0.2])
        for name in names:
            if name not in left:
                self.observe(name, self.value(name, soft))

    def _ranges(self) -> None:
        numbered = [
            name
            for name, of in self.of.items()
            if of and all(self._is_numbered(each) for each in of)
        ]
        for _ in range(self.rng.randint(1, 3) if numbered else 0):
            name = self.rng.choice(numbered)
            self.observe(self.some_range(name), self.value(name, self.rng.choice([0, 0, 1])))

    def _is_numbered(self, domain: str) -> bool:
        return isinstance(self.domains[domain], int) and self.domains[domain] > 0

    def some_range(self, relation: str) -> str:
        """A name of evidence that covers several individuals in some places."""
        terms = []
        for domain in self.of[relation]:
            first, last = sorted(self.rng.choices(range(1, self.domains[domain] + 1), k=2))
            terms.append(f"{first}..{last}" if self.rng.random() < 0.8 else str(first))
        return naive.named(relation, terms)

    # ---- what may stand beside anything

    def decorate(self) -> None:
        """At times: something again, a ground factor, one without arguments, unused relations."""
        rng = self.rng
        if rng.random() < 0.15 and self.parfactors:
            again = rng.choice(self.parfactors)
            values = again["table"] if rng.random() < 0.5 else nudged(rng, again["table"])
            self.parfactors.append({**again, "name": f"g{len(self.parfactors)}", "table": values})
        if rng.random() < 0.15 and self.factors:
            again = rng.choice(self.factors)
            self.factor(
                again["args"], again["table"] if rng.random() < 0.5 else nudged(rng, again["table"])
            )
        existing = list(self.existing())
        if rng.random() < 0.15 and existing:
            self.factor(rng.sample(existing, min(len(existing), rng.randint(1, 2))))
        if rng.random() < 0.05:
            self.factor([], [rng.choice([0.5, 3])])
        if rng.random() < 0.1 and self.domains:
            self.relation("Unused", rng.choice(list(self.domains)))
        if rng.random() < 0.05:
            self.relation("Alone")
