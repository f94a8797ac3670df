"""What a model says by the naive oracle, which reads its file and uses nothing of lifagu."""

import json

import lifagu
from support.naive import inference as naive


def oracle(model, evidence=None):
    """The oracle of a graph or a relational model: `log_total`, `marginal`, `joint`."""
    read = json.loads(lifagu.io.to_json(model, evidence))
    for each in [*read.get("factors", ()), *read.get("parfactors", ())]:
        if isinstance(each["table"], str):
            each["table"] = read["tables"][each["table"]]
    for each in [*read.get("variables", ()), *read.get("relations", ())]:
        if isinstance(each.get("range"), str) and each["range"] in read.get("ranges", {}):
            each["range"] = read["ranges"][each["range"]]
    return naive.Elimination(read)
