"""Relational models answered over cells: queries at growing sizes, beside other lifted engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import counting_families as counting
import numpy as np
import relational_families as families

import lifagu
from lifagu import ParfactorGraph
from lifagu.relational.grounding import expand_evidence
from lifagu.relational.parfactor_graph import Parfactor
from research.bench import checked
from research.bench.apart import run_apart
from research.bench.checked import Family, difference
from research.bench.part import Part, begin, duration, ratio, sized
from research.bench.relational_models import (
    Logs,
    asthma,
    asthma_closed,
    attributes,
    attributes_closed,
    competing,
    competing_closed,
    epidemic,
    epidemic_closed,
    log_sum,
    pairs,
    smokers,
    smokers_closed,
)
from research.bench.timing import best_time, timed

GROUND_UP_TO = 100_000  # ground factors


@dataclass(frozen=True)
class Earlier:
    """What a lifted engine took on a machine like this one, in another run, or till stopped."""

    name: str
    seconds: float
    stopped: bool = False


@dataclass(frozen=True)
class Row:
    """One line: a model, a question, the logs of the answer's weights, the best peer, evidence."""

    title: str
    model: ParfactorGraph
    question: tuple[str, ...]
    closed: Callable[[], Logs] | None = None
    peer: Earlier | None = None
    evidence: dict[str, str] = field(default_factory=dict)


def main() -> None:
    """Measure and print."""
    part = begin(
        "Relational models over cells",
        ("lifagu", "numpy"),
        "One query on a model that is built already, without interpreter start and imports. Error:",
        "largest relative difference of the probabilities, or of their logs where they underflow,",
        "to a closed form summed here",
        'independently; "ground" where the same model was grounded and asked again instead.',
        "",
        "No other lifted engine can be installed as a Python package, so the last column is *not*",
        "of this run: it is the best time of HORUS, Forclift, L2C and GC-FOVE, measured earlier on",
        "a machine like this one, by lifagu's time now; where the best of them was stopped, at",
        "least that much.",
    )
    better: list[str] = []
    part.table(
        ["model", "ground factors", "lifagu", "error", "best peer, earlier"],
        _lines(rows(part.small), better),
    )
    part.in_short(
        f"time of the best lifted peer, measured earlier, by that of lifagu: {', '.join(better)}."
    )
    part.section(
        "Growth",
        "The same questions over cells and, while that lasts, on the ground graph, as ratio "
        "to the former.",
    )
    part.table(
        ["model", "individuals", "ground factors", "over cells", "ground graph, built already"],
        _growth(part),
    )
    part.section("Families with closed forms", *checked.HOW_TO_READ)
    checked.show(part, closed_forms(part.small))


def _lines(measured_rows: list[Row], better: list[str]) -> Iterator[list[str]]:
    for row in measured_rows:
        answer, seconds = ask(row), best_time(partial(ask, row))
        cells = [
            row.title,
            f"{ground_factors(row.model):.3g}",
            duration(seconds),
            _error(row, answer),
        ]
        if row.peer is None:
            yield [*cells, "–"]
            continue
        least = "> " if row.peer.stopped else ""
        found = f"{row.peer.name} {least}{ratio(row.peer.seconds, seconds)}"
        better.append(f"{least}{ratio(row.peer.seconds, seconds)} ({row.title})")
        yield [*cells, f"{found} ({least}{duration(row.peer.seconds)})"]


def ask(row: Row) -> lifagu.Answer:
    """The answer."""
    return lifagu.query(row.model, *row.question, evidence=row.evidence)


def ground_factors(model: ParfactorGraph) -> float:
    """How many ground factors there are, constraints left aside."""
    return sum(_substitutions(each, model) for each in model.parfactors)


def _substitutions(parfactor: Parfactor, model: ParfactorGraph) -> float:
    sizes = {domain.name: domain.size for domain in model.domains}
    of = {relation.name: relation.of for relation in model.relations}
    logicals = {
        term: sizes[domain]
        for atom in parfactor.arguments
        for term, domain in zip(atom.terms, of[atom.relation], strict=True)  # type: ignore[union-attr]
    }
    return float(np.prod([float(size) for size in logicals.values()]))


def _error(row: Row, answer: lifagu.Answer) -> str:
    if row.closed is None:
        graph = lifagu.ground(row.model)
        seen = expand_evidence(row.model, row.evidence, graph)
        expected = lifagu.query(graph, *row.question, evidence=seen).log_probabilities.reshape(-1)
        return f"{difference(answer.log_probabilities.reshape(-1), expected):.0e} (ground)"
    weights = row.closed()
    return f"{difference(answer.log_probabilities.reshape(-1), weights - log_sum(weights)):.0e}"


def rows(small: bool) -> list[Row]:
    """What is measured; what peers took was measured at full size."""
    large = 10_000 if small else 1_000_000
    at_large = (
        {} if small else {"epidemic": Earlier("HORUS", 9.8), "attributes": Earlier("Forclift", 4.0)}
    )
    found = [
        Row(
            f"epidemic, {n:,} persons, 2 treatments",
            epidemic(n),
            ("Epid",),
            partial(epidemic_closed, n),
            peer,
        )
        for n, peer in ((10_000, Earlier("HORUS", 0.15)), (large, at_large.get("epidemic")))
    ]
    title, closed = f"workshop attributes (6), {large:,} persons", partial(attributes_closed, large)
    found.append(Row(title, attributes(large), ("series",), closed, at_large.get("attributes")))
    for people, shops, peer in ((1_000, 1_000, Earlier("L2C, cold", 1.1)), (large, 10, None)):
        title, closed = (
            f"competing workshops, {people:,} × {shops:,}",
            partial(competing_closed, people, shops),
        )
        found.append(Row(title, competing(people, shops), ("series",), closed, peer))
    for n, peer in ((50, Earlier("L2C, cold", 1.0)), (1_000, None), (large, None)):
        for apart in (True, False):
            found += _smokers(n, apart, peer if apart else None)
    for n in (20, 100):
        found.append(
            Row(
                f"three-valued pairs, {n}",
                pairs(n),
                ("rev",),
                None,
                Earlier("HORUS", 8.0, stopped=True),
            )
        )
    found.append(Row("asthma, smokers and friends, 30", asthma(30), ("smokes(1)",)))
    found.append(
        Row(
            "asthma, smokers and friends, 1,000",
            asthma(1_000),
            ("asthma(1)",),
            partial(asthma_closed, 1_000),
        )
    )
    return found


def _smokers(n: int, apart: bool, peer: Earlier | None) -> list[Row]:
    """Nobody observed, and three of ten."""
    model, seen = smokers(n, apart), n * 3 // 10
    title = f"smokers and friends, {'X ≠ Y' if apart else 'X = Y admitted'}, {n:,}"
    return [
        Row(title, model, ("smokes(1)",), partial(smokers_closed, n, apart), peer),
        Row(
            f"{title}, 30 % observed",
            model,
            (f"smokes({n})",),
            partial(smokers_closed, n, apart, seen),
            evidence={f"smokes(1..{seen})": "true"},
        ),
    ]


def _growth(part: Part) -> Iterator[list[str]]:
    """The models at growing sizes; what is drawn."""
    families: list[tuple[str, Callable[[int], ParfactorGraph], str]] = [
        ("epidemic", epidemic, "Epid"),
        ("competing workshops, n × n", lambda n: competing(n, n), "series"),
        ("smokers and friends, X ≠ Y", lambda n: smokers(n, True), "smokes(1)"),
        ("asthma, smokers and friends", asthma, "asthma(1)"),
    ]
    for title, make, question in families:
        for n in (10, 100) if part.small else (10, 100, 1_000, 10_000, 100_000, 1_000_000):
            row = Row(title, make(n), (question,))
            factors = ground_factors(row.model)
            seconds = run_apart(partial(best_time, partial(ask, row)), part.limit)
            part.point(title, "individuals", "lifagu over cells", n, seconds)
            if isinstance(seconds, str):
                yield [title, sized(n), f"{factors:.3g}", seconds, "–"]
                break
            beside = "–"
            if factors <= GROUND_UP_TO:
                ground = run_apart(partial(_ground, row), part.limit)
                part.point(title, "individuals", "lifagu on the ground graph", n, ground)
                beside = (
                    ground
                    if isinstance(ground, str)
                    else f"{ratio(ground, seconds)} ({duration(ground)})"
                )
            yield [title, sized(n), f"{factors:.3g}", duration(seconds), beside]


def _ground(row: Row) -> float:
    graph = lifagu.ground(row.model)
    return timed(lambda: lifagu.query(graph, *row.question))[1]


def closed_forms(small: bool) -> list[Family]:
    """Where lifted engines are known to give up, to take long or to lose digits."""
    people = (10, 20) if small else (10_000, 100_000, 1_000_000)
    return [
        *_with_counts((4, 8) if small else (25, 100, 1_000)),
        *_with_triples((4, 6) if small else (100, 200), 2 if small else 20),
        Family(
            "three relations, crossed and diagonal, n",
            (3, 5) if small else (5, 10, 20),
            families.three_relations,
        ),
        Family(
            "epidemic, all observed by name, n", people, partial(families.all_observed, mixed=True)
        ),
        Family(
            "epidemic, all observed to be sick, n",
            people,
            partial(families.all_observed, mixed=False),
        ),
        *_with_evidence(small),
        *_with_large_numbers(small),
    ]


def _with_counts(sizes: tuple[int, ...]) -> list[Family]:
    """Counting formulas alone and beside A(X), A(Y) for all X ≠ Y; and for rows of a relation."""
    found = []
    for both, beside in ((False, ""), (True, " beside A(X), A(Y)")):
        found += [
            Family(f"#X[A(X)]{beside}, n", sizes, partial(counting.counted, pairs=both)),
            Family(f"#X[A(X)], E{beside}, n", sizes, partial(counting.counted_with, pairs=both)),
            Family(
                f"#Y[A(Y)], S(X), X ≠ Y{beside}, n",
                sizes,
                partial(counting.others_counted, pairs=both),
            ),
        ]
    for exactly, two_domains in product((False, True), repeat=2):
        title = (
            f"#Y[F(X,Y)], {'exactly one' if exactly else 'some'} Y, "
            f"{'n × n/2' if two_domains else 'n × n'}"
        )
        make = partial(counting.rows_counted, exactly=exactly, two_domains=two_domains)
        found.append(Family(title, sizes, make))
    return found


def _with_triples(sizes: tuple[int, ...], seeds: int) -> list[Family]:
    """Triples and pairs in both directions, with many random tables."""
    triples, both_ways = families.triples, families.both_ways
    return [
        Family(
            "S(X), S(Y), S(Z) different, symmetric, n",
            sizes,
            partial(triples, symmetric=True),
            seeds,
        ),
        Family("S(X), S(Y), S(Z) different, n", sizes, triples, seeds),
        Family("S(X), S(Y), S(Z), n", sizes, partial(triples, apart=False), seeds),
        Family(
            "T(X,Y,Z), S(X), S(Y), S(Z) different, n", sizes, partial(triples, link=True), seeds
        ),
        Family(
            "T(X,Y,Z), S(X), S(Y), S(Z), n", sizes, partial(triples, link=True, apart=False), seeds
        ),
        Family(
            "A(X), S(X,Y) and S(X,Y), S(Y,X), X ≠ Y, n",
            sizes,
            partial(both_ways, apart=True),
            seeds,
        ),
        Family("A(X), S(X,Y) and S(X,Y), S(Y,X), n", sizes, partial(both_ways, apart=False), seeds),
    ]


def _with_evidence(small: bool) -> list[Family]:
    """One member of each of n households observed, and a rectangle of a relation over n × n."""
    found = []
    for same, size in product((True, False), (5,) if small else (10, 20)):
        title = (
            f"n households of {size}, {'the first' if same else 'another'} member of each observed"
        )
        make = partial(families.members, size=size, same=same)
        found.append(Family(title, (2, 4) if small else (10, 100), make))
    for overlap in (True, False):
        title = (
            f"S(X), F(X,Y), S(Y), a rectangle of F listed, sets "
            f"{'overlap' if overlap else 'are disjoint'}, n"
        )
        found.append(
            Family(
                title,
                (4, 8) if small else (20, 40, 80),
                partial(families.rectangle, overlap=overlap),
            )
        )
    return found


def _with_large_numbers(small: bool) -> list[Family]:
    """Exponents beyond 2^53, many labels, and weights that are nearly equal."""
    sizes = {4: (55_200,), 5: (7_000,), 6: (1_450, 1_460), 7: (516,), 8: (242,)}
    return [
        *(
            Family(
                f"{slots} different of n at once",
                (9,) if small else several,
                partial(families.many_slots, slots=slots),
            )
            for slots, several in sizes.items()
        ),
        Family(
            "#X[A(X)] of three with n labels",
            (3, 5) if small else (8, 16, 32, 33),
            counting.many_labels,
        ),
        Family(
            "nearly equal weights, n times",
            (10,) if small else (10**5, 10**10, 10**15),
            families.nearly_equal,
        ),
    ]


if __name__ == "__main__":
    main()
