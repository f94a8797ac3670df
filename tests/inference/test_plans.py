"""Plans, refusals, and numbers that would overflow elsewhere."""

import math

import numpy as np
import pytest

import lifagu
from lifagu.questions.planning import prepare


def grid(side):
    rng = np.random.default_rng(1)
    cells = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        (
            np.column_stack((cells[:, :-1].ravel(), cells[:, 1:].ravel())),
            np.column_stack((cells[:-1].ravel(), cells[1:].ravel())),
        )
    )
    return lifagu.FactorGraph.from_arrays(
        ranges=[["0", "1"]],
        variable_ranges=np.zeros(side * side, dtype=int),
        offsets=2 * np.arange(len(pairs) + 1),
        arguments=pairs.reshape(-1),
        tables=np.exp(rng.normal(size=(len(pairs), 4))),
        factor_tables=np.arange(len(pairs)),
    )


def chain(length, table, ends=None):
    builder = lifagu.FactorGraph.build().variables([f"v{place}" for place in range(length)])
    builder.factors(
        {f"f{place}": [f"v{place}", f"v{place + 1}"] for place in range(length - 1)}, table
    )
    return builder.graph()


def test_the_plan_is_printed_before_anything_is_computed():
    prepared = prepare(grid(4), [("x0",)])
    assert str(prepared).startswith(
        "ground engine, 1 connected part, because hardly any table is shared\n"
        "eliminate 15 variables in min-weight order, keep x0"
    )
    assert prepared.run().answers[0].plan == str(prepared)


def test_plans_are_deterministic_and_good():
    first, second = (str(prepare(grid(12), [])) for _ in range(2))
    assert first == second
    plan = prepare(grid(12), []).plans[0]
    assert plan.largest <= 2**17
    assert plan.total < 2**20


def test_what_does_not_fit_is_refused_with_the_estimate():
    with pytest.raises(
        lifagu.TooLargeError, match=r"log Z needs a table of .* entries .*limit is 4 KiB.*; observe"
    ):
        lifagu.log_partition(grid(16), memory_limit=2**12)
    with pytest.raises(lifagu.TooLargeError, match=r"P\(x0\) needs a table"):
        lifagu.query(grid(40), "x0")
    with pytest.raises(lifagu.TooLargeError, match="joint answer about 61 variables"):
        lifagu.query(grid(8), *(f"x{place}" for place in range(61)))


def test_a_part_that_does_not_fit_costs_only_log_z():
    builder = lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 3])
    big = grid(40)
    builder.variables([f"g{place}" for place in range(1600)], ["0", "1"])
    for factor in big.factors:
        builder.factor(
            "g" + factor.name, ["g" + name[1:] for name in factor.arguments], factor.table
        )
    answer = lifagu.query(builder.graph(), "A")
    assert answer["true"] == 0.75
    assert answer.log_partition is None
    assert answer.notes[0].startswith("log Z is left out: the part of g0 needs a table of")


def test_thousands_of_factors_neither_overflow_nor_underflow():
    for scale in (1e-300, 1.0, 1e300):
        graph = chain(5000, [2 * scale, scale, scale, 3 * scale])
        answer = lifagu.query(graph, "v2500")
        assert answer.log_partition == pytest.approx(
            4999 * math.log(scale) + lifagu.log_partition(chain(5000, [2, 1, 1, 3]))
        )
        assert np.isfinite(answer.probabilities).all()
        assert answer.probabilities.sum() == pytest.approx(1)


def test_zero_potentials_in_a_long_chain():
    graph = chain(3000, [1, 0, 0, 1e-200])
    answer = lifagu.query(graph, "v1500")
    assert answer.probabilities.tolist() == [1.0, 0.0]
    assert answer.log_probabilities[1] == pytest.approx(2999 * math.log(1e-200))
    with pytest.raises(lifagu.NoAnswerError, match="evidence has probability zero"):
        lifagu.query(graph, "v1", evidence={"v0": "true", "v2999": "false"})
    with pytest.raises(lifagu.NoAnswerError, match="every assignment has weight zero"):
        lifagu.log_partition(
            lifagu.FactorGraph.build()
            .variable("A")
            .factor("f", "A", [1, 0])
            .factor("g", "A", [0, 1])
            .graph()
        )


def test_extreme_probabilities_survive_as_logs():
    graph = chain(2, [1, 1e-200, 1e-200, 1e-308])
    for answer in (lifagu.query(graph, "v0", "v1"), lifagu.queries(graph, [("v0", "v1"), "v0"])[0]):
        assert answer.log_probabilities[1, 1] == pytest.approx(math.log(1e-308), rel=1e-12)
    many = (
        lifagu.FactorGraph.build()
        .variable("A")
        .factors({f"f{each}": "A" for each in range(9)}, [1, 1e-300])
        .graph()
    )
    assert lifagu.query(many, "A").log_probabilities[1] == pytest.approx(9 * math.log(1e-300))
    assert lifagu.query(many, "A").probabilities.tolist() == [1, 0]


def test_a_hub_with_thousands_of_leaves():
    builder = (
        lifagu.FactorGraph.build()
        .variable("hub")
        .variables([f"leaf{each}" for each in range(3000)])
    )
    builder.factors({f"f{each}": [f"leaf{each}", "hub"] for each in range(3000)}, [2, 1, 1, 2])
    hub, leaf = lifagu.queries(builder.graph(), ["hub", "leaf17"])
    assert hub["true"] == pytest.approx(0.5)
    assert leaf["true"] == pytest.approx(0.5)
    assert hub.log_partition == pytest.approx(math.log(2) + 3000 * math.log(3), rel=1e-12)


def test_many_queries_share_one_pass():
    graph = chain(400, [2, 1, 1, 3])
    prepared = prepare(graph, [(name,) for name in graph.variable_names], engine="ground")
    assert prepared.plans[0].total < 3 * prepare(graph, [], engine="ground").plans[0].total
    for answer in prepared.run().answers[::97]:
        assert answer["true"] == pytest.approx(
            lifagu.query(graph, answer.variables[0])["true"], rel=1e-12
        )


def test_progress_reaches_the_end():
    seen = []
    prepare(chain(50, [1, 2, 3, 4]), []).run(lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
