"""Graphs on which engines are tried: chains, hospitals, and one of a million arguments."""

import numpy as np

import lifagu

SINGLE = [[1, 2], [2, 4], [3, 1]]
PAIR = [[1, 2, 3, 4], [2, 4, 6, 8], [4, 3, 2, 1]]
ONE, OTHER = PAIR[0], PAIR[2]


def big_graph(people=111_111):
    """10^6 arguments: an epidemic with every tenth factor unknown, in two cohorts of persons."""
    travel, sick, first, second = 1 + 4 * np.arange(people) + np.arange(4)[:, None]
    hub = np.zeros(people, dtype=np.int64)
    rows = np.stack([np.stack([other, sick, hub], 1) for other in (travel, first, second)], 1)
    tables = np.tile([1, 2, 2], people) + 2 * np.repeat(np.arange(people) % 7 == 0, 3)
    return lifagu.FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(4 * people + 1, dtype=np.int64),
        offsets=np.concatenate([[0], 1 + 3 * np.arange(3 * people + 1)]),
        arguments=np.concatenate([[0], rows.reshape(-1)]),
        tables=[[1, 3], *([1, 2, 3, 4, 5, 6, 7, each] for each in range(8, 12))],
        factor_tables=np.concatenate([[0], np.where(np.arange(3 * people) % 10 == 3, -1, tables)]),
        kinds=["Epid", "Travel", "Sick", "Treat"],
        variable_kinds=np.concatenate([[0], np.tile([1, 2, 3, 3], people)]),
        individuals=[f"p{person}" for person in range(people)],
        individual_offsets=np.concatenate([[0], np.arange(4 * people + 1)]),
        variable_individuals=np.repeat(np.arange(people), 4),
    )


def chain(length):
    """Variables in a row, every third factor between them unknown."""
    builder = lifagu.FactorGraph.build().variables([f"v{each}" for each in range(length)])
    for each in range(length - 1):
        builder.factor(
            f"f{each}", [f"v{each}", f"v{each + 1}"], None if each % 3 == 1 else [1, 2, 3, 4]
        )
    return builder.graph()


def patient_scopes(rng, patient, shape):
    """Variables (name, kind, individuals) of a patient, some listing others too, and scopes."""
    priors, treatments, links = shape
    sick = f"Sick.{patient}"
    treated = [f"Treat{number}.{patient}" for number in range(treatments)]
    variables = [(sick, "Sick", [patient])]
    variables += [
        (each, "Treat", [patient, "drug", "ward"][: rng.randint(1, 3)]) for each in treated
    ]
    return variables, [[sick]] * priors + [[sick, each] for each in treated] + [
        [sick, "Epid"]
    ] * links


def hospital(rng):
    """Patients of two shapes and some cohorts, with holes and contacts here and there."""
    patients = [f"p{number}" for number in range(rng.randint(2, 12))]
    shapes = [[rng.randint(0, 2) for _ in range(3)] for _ in range(2)]
    cohorts = rng.randint(1, 3)
    variables = [("Epid", "Epid", []), ("Drug", "Drug", ["drug"])]
    factors = [(["Epid"], 0, 0), (["Epid", "Drug"], 0, 0.2)]
    for patient in patients:
        own, scopes = patient_scopes(rng, patient, shapes[rng.random() < 0.3])
        variables += own
        cohort, holes = rng.randrange(cohorts), rng.choice([0, 0, 0.4, 1])
        factors += [
            (scope, cohort if rng.random() < 0.9 else rng.randrange(3), holes) for scope in scopes
        ]
    factors += [
        ([f"Sick.{each}" for each in rng.sample(patients, 2)], 0, 0.5)
        for _ in range(rng.randint(0, 2))
    ]
    for nodes in (variables, factors):
        if rng.random() < 0.8:
            rng.shuffle(nodes)
    builder = lifagu.FactorGraph.build()
    for name, kind, listed in variables:
        builder.variable(name, kind=kind, individual=listed)
    for number, (scope, which, holes) in enumerate(factors):
        table = (SINGLE if len(scope) == 1 else PAIR)[which]
        if len(scope) == 2 and rng.random() < 0.3:
            scope, table = scope[::-1], [table[0], table[2], table[1], table[3]]
        table = None if rng.random() < holes else table
        builder.factor(f"f{number}", scope, table, support=number if number % 3 else None)
    graph = builder.graph()
    return graph, {
        name: rng.choice(["true", "false"]) for name in graph.variable_names if rng.random() < 0.1
    }


def people(*tables, more=(), shuffled=None, **supports):
    """Somebody for each pair of tables, of a test and of a treatment, None where unknown.

    more: numbers of those who had another treatment, which is a further factor; supports: by the
    names of factors.
    """
    builder, factors = lifagu.FactorGraph.build().variable("Epid", kind="Epid"), []
    for number, (test, treatment) in enumerate(tables):
        name = f"p{number}"
        builder.variable(f"Sick.{name}", kind="Sick", individual=name)
        builder.variable(f"Treat.{name}", kind="Treat", individual=name)
        factors.append((f"test.{name}", [f"Sick.{name}", "Epid"], test))
        factors.append((f"treat.{name}", [f"Sick.{name}", f"Treat.{name}"], treatment))
        if number in more:
            factors.append((f"again.{name}", [f"Sick.{name}"], [1, 5]))
    if shuffled is not None:
        shuffled.shuffle(factors)
    for name, scope, table in factors:
        builder.factor(name, scope, table, support=supports.get(name.replace(".", "_")))
    return builder.graph()
