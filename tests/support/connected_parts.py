"""Connected parts by SQL beside those of memory."""

import numpy as np

import lifagu
from lifagu.graph.parts import parts_without
from lifagu.scale.parts import find_parts


def random_links(rng):
    """Scopes over some variables, and which of these have a value."""
    variables = rng.randint(1, 40)
    scopes = [
        rng.sample(range(variables), rng.randint(0, min(4, variables)))
        for _ in range(rng.randint(0, 40))
    ]
    return variables, scopes, {each for each in range(variables) if rng.random() < 0.2}


def assert_same_parts(journal, variables, scopes, hard, enough):
    """All variables without a value are asked about; returns how many rounds that took."""
    graph = lifagu.FactorGraph.from_arrays(
        ranges=[["false", "true"]],
        variable_ranges=np.zeros(variables, dtype=np.int64),
        offsets=np.cumsum([0, *map(len, scopes)]),
        arguments=np.array([each for scope in scopes for each in scope], dtype=np.int64),
        tables=[],
        factor_tables=np.full(len(scopes), -1),
    )
    observed = np.isin(np.arange(variables), sorted(hard))
    owners = np.repeat(np.arange(len(scopes)), np.diff(graph.offsets))
    engine = journal.engine
    engine.register("arguments", {"factor": owners, "variable": np.asarray(graph.arguments)})
    engine.register("looks", {"id": np.arange(variables), "look": observed.astype(np.int64)})
    asked = np.flatnonzero(~observed).tolist()
    found = find_parts(journal, np.array([0]), asked, enough)
    expected = parts_without(graph, observed)
    assert dict(engine.rows("SELECT id, part FROM asked_parts")) == found
    assert sorted(found) == asked
    numbers = {part: expected[each] for each, part in found.items()}
    assert len(set(numbers.values())) == len(numbers)
    assert all(expected[each] == numbers[part] == expected[part] for each, part in found.items())
    return sum(name.startswith("going_") for name in engine.names()) - 1
