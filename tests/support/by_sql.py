"""The same work in memory and by SQL on an engine, and being told how far it is."""

import lifagu

BY_INDIVIDUALS = {"by": "extended"}
WAYS = [
    BY_INDIVIDUALS,
    {"by": "lifagu"},
    {"by": "lifagu", "theta": 0.6},
    {**BY_INDIVIDUALS, "up_to_scale": True},
    {"theta": 0.6},
]
WAYS_FOR_INDIVIDUALS = [BY_INDIVIDUALS, {**BY_INDIVIDUALS, "up_to_scale": True}, {"theta": 0.6}]


class Told:
    """Progress that keeps what it is told, or does something about it."""

    def __init__(self, act=None):
        self.lines, self._act = [], act

    def stage(self, text):
        self.lines.append(text)
        if self._act is not None:
            self._act(text)

    def __call__(self, done, total):
        pass


def cases(folder, evidence=None, ways=None, **place):
    """The same case in memory and on an engine, DuckDB unless another one is named."""
    return case(folder, evidence, ways, on="memory"), case(folder, evidence, ways, **place)


def case(folder, evidence=None, ways=None, on="duckdb", **place):
    return lifagu.open(folder, on=on, **place).observe(evidence).fill(**(ways or {}))


def lifted_in_memory(folder, out, evidence=None, **ways):
    return case(folder, evidence, ways, on="memory").lift(out=out)


def lifted_by_sql(folder, out, evidence=None, ways=None, **place):
    return case(folder, evidence, ways, **place).lift(out=out)
