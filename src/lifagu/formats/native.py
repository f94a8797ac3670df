"""lifagu's own JSON files: one object with variables, factors, named ranges and tables, and evidence.

`null` is an unknown table. Errors carry the JSON path of what is wrong, as in ``factors[3].args[1]``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from lifagu.builder import GraphBuilder
from lifagu.errors import FormatError, ModelError, did_you_mean
from lifagu.evidence import Evidence, Observation
from lifagu.formats.numbers import number_text
from lifagu.model import FactorGraph
from lifagu.ranges import BOOLEAN, Labels
from lifagu.views import Variable

FORMAT = "lifagu/1"
SECTIONS = ("format", "ranges", "tables", "variables", "factors", "evidence", "comment")
RELATIONAL = ("domains", "relations", "parfactors")
VARIABLE_KEYS = ("name", "range", "kind", "individual", "comment")
FACTOR_KEYS = ("name", "args", "table", "comment")


def from_json(text: str, place: str = "<text>") -> FactorGraph:
    """A factor graph from the text of a lifagu file.

    >>> from_json('{"format": "lifagu/1", "variables": [{"name": "A"}], "factors": []}')
    <FactorGraph: 1 variable, 0 factors, 0 distinct tables>
    """
    model = _load_model(text, place)
    builder = FactorGraph.build()
    for name, labels in _object(model.get("ranges", {}), place, "ranges").items():
        with _at(place, f"ranges.{name}"):
            builder.range(name, _labels(labels))
    for name, potentials in _object(model.get("tables", {}), place, "tables").items():
        with _at(place, f"tables.{name}"):
            builder.table(name, _list(potentials, "a table is a list of numbers"))
    for number, variable in enumerate(_items(model, "variables", place)):
        with _at(place, f"variables[{number}]"):
            _add_variable(builder, variable)
    for number, factor in enumerate(_items(model, "factors", place)):
        with _at(place, f"factors[{number}]"):
            _add_factor(builder, factor)
    return builder.graph()


def parse_evidence(text: str, place: str = "<text>") -> dict[str, Observation]:
    """The evidence of a lifagu file, or of a file that holds nothing but an evidence object (name → label).

    >>> parse_evidence('{"Sick": true, "Age": {"young": 1, "old": 3}}')
    {'Sick': 'true', 'Age': {'young': 1, 'old': 3}}
    """
    whole = _object(_load(text, place), place, "")
    is_model = "format" in whole and "variables" in whole
    path = "evidence" if is_model else ""
    evidence = _object(whole.get("evidence", {}), place, path) if is_model else whole
    result: dict[str, Observation] = {}
    for name, observed in evidence.items():
        with _at(place, f"{path}.{name}".removeprefix(".")):
            result[name] = dict(observed) if isinstance(observed, dict) else _label(observed)
    return result


def to_json(graph: FactorGraph, evidence: Evidence | None = None) -> str:
    """The text of a lifagu file: one variable and one factor a line, shared ranges and tables named.

    >>> graph = FactorGraph.build().variable("A").factor("f", ["A"], [1, 2.5]).factor("g", ["A"], None).graph()
    >>> print(to_json(graph), end="")
    {
      "format": "lifagu/1",
      "variables": [
        {"name": "A"}
      ],
      "factors": [
        {"name": "f", "args": ["A"], "table": [1, 2.5]},
        {"name": "g", "args": ["A"], "table": null}
      ]
    }
    """
    range_names = _names_of_shared((variable.range for variable in graph.variables), "r", without=BOOLEAN)
    keys = [_table_key(graph, factor) for factor in range(len(graph.factor_names))]
    table_names = _names_of_shared((key for key in keys if key is not None), "t")
    sections = [f'"format": "{FORMAT}"']
    if range_names:
        sections.append('"ranges": ' + _block({name: _json(labels) for labels, name in range_names.items()}))
    lines, tables = [], {}
    for factor, key in zip(graph.factors, keys, strict=True):
        name = table_names.get(key) if key else None
        if name is None:
            table = "null" if factor.table is None else _numbers(factor.table)
        else:
            table = _json(name)
            if name not in tables and factor.table is not None:
                tables[name] = _numbers(factor.table)
        lines.append(f'{{"name": {_json(factor.name)}, "args": {_json(factor.arguments)}, "table": {table}}}')
    if tables:
        sections.append('"tables": ' + _block(tables))
    sections.append('"variables": ' + _lines([_variable(each, range_names) for each in graph.variables]))
    sections.append('"factors": ' + _lines(lines))
    if evidence:
        sections.append('"evidence": ' + _block(_evidence(graph, evidence)))
    return "{\n  " + ",\n  ".join(sections) + "\n}\n"


# ---- reading


def _load(text: str, place: str) -> Any:
    def constant(word: str) -> NoReturn:
        raise FormatError(f"{place}: {word} is not a number that JSON knows; write null for an unknown table")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            twice = next(key for key, count in Counter(key for key, _ in items).items() if count > 1)
            raise FormatError(f"{place}: the key '{twice}' stands twice in one object; keep one of them")
        return found

    try:
        return json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        raise FormatError(f"{place}:{error.lineno}: not JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise FormatError(f"{place}: nested too deeply to be a model") from None


def _load_model(text: str, place: str) -> dict[str, Any]:
    model = _object(_load(text, place), place, "")
    if model.get("format") != FORMAT:
        given = f"'{model['format']}'" if "format" in model else "missing"
        raise FormatError(f'{place}: format: is {given}; a model file has "format": "{FORMAT}"')
    for key in model:
        if key in RELATIONAL:
            raise FormatError(
                f"{place}: {key}: relational parts cannot be read yet; give variables and factors instead"
            )
        if key not in SECTIONS:
            raise FormatError(f"{place}: {key}: there is no such section{did_you_mean(key, SECTIONS)}")
    return model


@contextmanager
def _at(place: str, path: str) -> Any:
    """Say where in the file a mistake is."""
    try:
        yield
    except ModelError as error:
        raise FormatError(f"{place}: {path}: {error}") from None


def _object(value: Any, place: str, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{place}: {path + ': ' if path else ''}an object {{…}} is expected, not {_kind(value)}")
    return value


def _items(model: dict[str, Any], section: str, place: str) -> list[Any]:
    items = model.get(section, [])
    if not isinstance(items, list):
        raise FormatError(f"{place}: {section}: a list […] is expected, not {_kind(items)}")
    return items


def _add_variable(builder: GraphBuilder[FactorGraph], variable: Any) -> None:
    _check_keys(variable, "a variable", VARIABLE_KEYS, required=("name",))
    labels = variable.get("range", list(BOOLEAN))
    individuals = variable.get("individual", [])
    individuals = individuals if isinstance(individuals, list) else [individuals]
    kind = variable.get("kind")
    if not all(isinstance(each, str) for each in [*individuals, "" if kind is None else kind]):
        raise ModelError("kind is a text, individual a text or a list of texts")
    builder.variable(
        variable["name"], labels if isinstance(labels, str) else _labels(labels), kind=kind, individual=individuals
    )


def _add_factor(builder: GraphBuilder[FactorGraph], factor: Any) -> None:
    _check_keys(factor, "a factor", FACTOR_KEYS, required=("name", "args", "table"))
    table = factor["table"]
    if table is not None and not isinstance(table, str):
        table = _list(table, "a table is a list of numbers, the name of a table, or null if unknown")
    arguments = _list(factor["args"], "args is a list of variable names")
    for argument in arguments:
        if not isinstance(argument, str):
            raise ModelError(f"args holds {_kind(argument)}; variables are named by texts")
    builder.factor(factor["name"], arguments, table)


def _check_keys(item: Any, what: str, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    if not isinstance(item, dict):
        raise ModelError(f"{what} is an object {{…}}, not {_kind(item)}")
    for key in item:
        if key not in known:
            raise ModelError(f"{what} has no '{key}'; it has {', '.join(known)}")
    for key in required:
        if key not in item:
            hint = " (null if it is unknown)" if key == "table" else ""
            raise ModelError(f"{what} needs '{key}'{hint}")


def _list(value: Any, expected: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{expected}, not {_kind(value)}")
    return value


def _labels(value: Any) -> Labels:
    return tuple(_label(label) for label in _list(value, "a range is a list of labels, or the name of a range"))


def _label(value: Any) -> str:
    """Labels that are JSON numbers or booleans are read as their text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ModelError(f"a label is a text, a number or a boolean, not {_kind(value)}")


def _kind(value: Any) -> str:
    """What a JSON value is, in words."""
    kinds = {dict: "an object", list: "a list", str: f"the text '{value}'", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


# ---- writing


def _names_of_shared(values: Iterable[Any], prefix: str, without: Any = None) -> dict[Any, str]:
    """Names r1, r2, … for the values that occur more than once, by first occurrence."""
    shared = [value for value, count in Counter(values).items() if count > 1 and value != without]
    return {value: f"{prefix}{number}" for number, value in enumerate(shared, 1)}


def _table_key(graph: FactorGraph, factor: int) -> tuple[int, ...] | None:
    """Factors with equal keys have the same potentials in the same declared orders; None for unknown ones."""
    table = int(graph.factor_table[factor])
    return (table, *graph.variable_declared[graph.scope(factor)].tolist()) if table >= 0 else None


def _variable(variable: Variable, range_names: Mapping[Labels, str]) -> str:
    item: dict[str, Any] = {"name": variable.name}
    if variable.range != BOOLEAN:
        item["range"] = range_names.get(variable.range, variable.range)
    if variable.kind is not None:
        item["kind"] = variable.kind
    if variable.individuals:
        item["individual"] = variable.individuals[0] if len(variable.individuals) == 1 else variable.individuals
    return _json(item)


def _evidence(graph: FactorGraph, evidence: Evidence) -> dict[str, str]:
    """Evidence by name, labels and likelihoods as JSON, in the variables' order."""
    shown = {}
    for variable, value in zip(evidence.variables.tolist(), evidence.values.tolist(), strict=True):
        shown[variable] = _json(graph.ranges.canonical[graph.variable_range[variable]][value])
    for variable, likelihood in zip(evidence.soft_variables.tolist(), evidence.likelihoods, strict=True):
        labels = graph.ranges.canonical[graph.variable_range[variable]]
        by_label = dict(zip(labels, likelihood.tolist(), strict=True))
        shown[variable] = _json({label: by_label[label] for label in graph.labels(variable)})
    return {graph.variable_names[variable]: shown[variable] for variable in sorted(shown)}


def _numbers(table: Any) -> str:
    return "[" + ", ".join(map(number_text, table.reshape(-1).tolist())) + "]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(items: Iterable[str]) -> str:
    items = list(items)
    return "[\n    " + ",\n    ".join(items) + "\n  ]" if items else "[]"


def _block(items: Mapping[str, str]) -> str:
    return "{\n    " + ",\n    ".join(f"{_json(key)}: {value}" for key, value in items.items()) + "\n  }"
