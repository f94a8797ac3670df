"""lifagu's own JSON files: variables, factors, named ranges and tables, and evidence.

`null` is an unknown table. Errors carry the line and the JSON path of what is wrong, as in
``factors[3].args[1]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lifagu.basics.inputs import instance
from lifagu.formats.contents import Contents
from lifagu.formats.json_lines import at, located
from lifagu.formats.json_parts import (
    FORMAT,
    RELATIONAL,
    add_factor,
    add_variable,
    block_text,
    checked_model,
    factor_text,
    file_text,
    is_template,
    json_text,
    lines_text,
    named_parts,
    names_of_shared,
    ranges_text,
    table_text,
    variable_text,
)
from lifagu.formats.json_text import load
from lifagu.formats.json_values import items_at, label_of, object_at
from lifagu.graph.evidence import Evidence, EvidenceLike, Observation
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN
from lifagu.relational.parfactor_graph import ParfactorGraph

if TYPE_CHECKING:
    from lifagu.relational.template import Template


def from_json(text: str, place: str = "<text>") -> FactorGraph | ParfactorGraph:
    """A model from the text of a lifagu file.

    Parameters
    ----------
    text
        The JSON.
    place
        What errors call the text, such as the name of its file.

    Returns
    -------
    FactorGraph or ParfactorGraph
        A relational model where the text has domains, relations or parfactors.

    Examples
    --------
    >>> from_json('{"format": "lifagu/1", "variables": [{"name": "A"}], "factors": []}')
    <FactorGraph: 1 variable, 0 factors, 0 distinct tables>
    """
    instance("from_json", text, str)
    return contents(text, place).model()


def contents(text: str, place: str) -> Contents:
    """All that the text of a lifagu file says, parsed once; perhaps only evidence by name.

    >>> contents('{"Sick": true, "Age": {"young": 1, "old": 3}}', "<text>").evidence()
    {'Sick': 'true', 'Age': {'young': 1, 'old': 3}}
    """
    whole = load(text, place)

    def model() -> FactorGraph | ParfactorGraph:
        with located(text, place):
            return _model(checked_model(whole, place), place)

    def evidence() -> dict[str, Observation]:
        with located(text, place):
            return _observed(whole, place)

    return Contents(model, evidence, template=lambda given: _template(whole, text, place, given))


def _template(whole: Any, text: str, place: str, given: Mapping[str, object]) -> Template | None:
    if not is_template(whole):
        return None
    from lifagu.formats.template_json import template_of

    return template_of(whole, text, place, given)


def _model(model: dict[str, Any], place: str) -> FactorGraph | ParfactorGraph:
    if any(section in model for section in RELATIONAL):
        from lifagu.formats import relational_json

        return relational_json.parse_relational(model, place)
    builder = named_parts(model, place)
    for number, variable in enumerate(items_at(model, "variables", place)):
        with at(place, "variables", number):
            add_variable(builder, variable)
    for number, factor in enumerate(items_at(model, "factors", place)):
        with at(place, "factors", number):
            add_factor(builder, factor)
    return builder.graph()


def _observed(given: Any, place: str) -> dict[str, Observation]:
    """The evidence of a model, or all of an object that is no model."""
    whole = object_at(given, place)
    steps = ("evidence",) if whole.get("format") == FORMAT else ()
    evidence = object_at(whole.get("evidence", {}), place, *steps) if steps else whole
    result: dict[str, Observation] = {}
    for name, observed in evidence.items():
        with at(place, *steps, name):
            result[name] = dict(observed) if isinstance(observed, dict) else label_of(observed)
    return result


def to_json(graph: FactorGraph | ParfactorGraph, evidence: EvidenceLike = None) -> str:
    """The text of a lifagu file for a model.

    There is one variable, factor, relation or parfactor a line; shared ranges and tables get names.

    Parameters
    ----------
    graph
        The factor graph or relational model.
    evidence
        What is observed, to be written into the file: label or likelihoods by variable.

    Returns
    -------
    str
        JSON that `from_json` reads back as an equal model.

    Examples
    --------
    >>> build = FactorGraph.build().variable("A").factor("f", ["A"], [1, 2.5])
    >>> print(to_json(build.factor("g", ["A"], None).graph()), end="")
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
    instance("to_json", graph, FactorGraph, ParfactorGraph)
    if isinstance(graph, ParfactorGraph):
        from lifagu.formats import relational_json

        return relational_json.format_relational(graph, evidence)
    observed = graph.evidence(evidence)
    range_names = names_of_shared((each.range for each in graph.variables), "r", without=BOOLEAN)
    keys = [_table_key(graph, factor) for factor in range(len(graph.factor_names))]
    table_names = names_of_shared(keys, "t")
    lines: list[str] = []
    tables: dict[str, str] = {}
    for factor, key in zip(graph.factors, keys, strict=True):
        name = table_names.get(key)
        if name is not None and name not in tables:
            tables[name] = table_text(factor.table)
        lines.append(factor_text(factor, json_text(name) if name else table_text(factor.table)))
    return file_text(
        {
            "ranges": ranges_text(range_names),
            "tables": block_text(tables),
            "variables": lines_text(variable_text(each, range_names) for each in graph.variables),
            "factors": lines_text(lines),
            "evidence": block_text(_evidence(graph, observed)),
        }
    )


def _table_key(graph: FactorGraph, factor: int) -> tuple[int, ...] | None:
    """What factors with the same potentials in the same declared orders share; None if unknown."""
    table = int(graph.factor_table[factor])
    return (table, *graph.variable_declared[graph.scope(factor)].tolist()) if table >= 0 else None


def _evidence(graph: FactorGraph, evidence: Evidence) -> dict[str, str]:
    """Evidence by name, labels and likelihoods as JSON, in the variables' order."""
    shown = {}
    for variable, value in zip(evidence.variables.tolist(), evidence.values.tolist(), strict=True):
        shown[variable] = json_text(graph.ranges.canonical[graph.variable_range[variable]][value])
    for variable, likelihood in zip(
        evidence.soft_variables.tolist(), evidence.likelihoods, strict=True
    ):
        labels = graph.ranges.canonical[graph.variable_range[variable]]
        by_label = dict(zip(labels, likelihood.tolist(), strict=True))
        shown[variable] = json_text({label: by_label[label] for label in graph.labels(variable)})
    return {graph.variable_names[variable]: shown[variable] for variable in sorted(shown)}
