"""What several tests share: random models, models from dictionaries, and the command line."""

from __future__ import annotations

import json
import random
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lifagu.cli import main
from lifagu.formats.native import from_json
from lifagu.graph.factor_graph import Colouring, FactorGraph
from support.naive import graphs as naive

ROOT = Path(__file__).parent.parent.parent
CASES = {case["name"]: case for case in json.loads((ROOT / "tests/cases/lifagu.json").read_text())}
# made once: making it takes longer than validating
SCHEMA = Draft202012Validator(
    json.loads((ROOT / "src/lifagu/formats/lifagu-1.schema.json").read_text())
)


def mostly_full(values: Iterable[Any], always: Container[Any]) -> list[Any]:
    """What to try in every run, and the rest in the longer one."""
    return [
        each if each in always else pytest.param(each, marks=pytest.mark.full) for each in values
    ]


def sampled(values: Iterable[Any], step: int) -> list[Any]:
    """Each so-manieth to be tried in every run, and the rest in the longer one; tuples are several
    arguments.

    A step that divides no number of values of an argument meets every value of it.
    """
    return [
        pytest.param(
            *(each if isinstance(each, tuple) else (each,)),
            marks=[pytest.mark.full] if number % step else [],
        )
        for number, each in enumerate(values)
    ]


def graph_of(model: dict[str, Any]) -> FactorGraph:
    """A graph from a model as in a lifagu file."""
    return from_json(json.dumps({"format": "lifagu/1", **model}))


def random_model(seed: int, **settings: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """A small random model and some evidence for it."""
    rng = random.Random(seed)
    settings = {
        "variables": 7,
        "factors": rng.randint(1, 12),
        "unknown": 0,
        "zeros": rng.choice([0, 0.3]),
        "ternary": 0.3,
    } | settings
    model = naive.random_model(rng, **settings)
    graph = graph_of(model)
    names = rng.sample(
        list(graph.variable_names), min(rng.randint(0, 2), len(graph.variable_names))
    )
    return model, {name: rng.choice(graph.variable(name).range) for name in names}


def frustrated() -> FactorGraph:
    """Everyone wants to differ from everyone: sent all at once, messages swing for ever."""
    names = [f"v{number}" for number in range(8)]
    builder = FactorGraph.build().variables(names)
    for first, name in enumerate(names):
        builder = builder.factor(f"u{first}", [name], [1, 1 + first / 4])
        for second in range(first):
            builder = builder.factor(f"f{first}-{second}", [name, names[second]], [1, 2, 2, 1])
    return builder.graph()


def groups_by_name(
    graph: FactorGraph, colouring: Colouring
) -> tuple[list[list[str]], list[list[str]]]:
    """Variable and factor groups as names."""
    return (
        [[graph.variable_names[each] for each in group] for group in colouring.variable_groups],
        [[graph.factor_names[each] for each in group] for group in colouring.factor_groups],
    )


def run_cli(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        status = int(stop.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err
