"""What readers and writers of lifagu's JSON share: checked values, and text that reads well."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lifagu.basics.arrays import Floats
from lifagu.errors import ModelError, did_you_mean
from lifagu.formats.files import number_text
from lifagu.formats.json_lines import PathError, at
from lifagu.formats.json_values import check_keys, kind_of, label_of, list_of, object_at
from lifagu.graph.builder import GraphBuilder
from lifagu.graph.factor_graph import FactorGraph
from lifagu.graph.ranges import BOOLEAN, Labels
from lifagu.graph.views import Factor, Variable

if TYPE_CHECKING:
    from lifagu.graph.table_support import TableSupport

FORMAT = "lifagu/1"
RELATIONAL = ("domains", "relations", "parfactors")
GROUND = ("format", "ranges", "tables", "variables", "factors", "evidence")
SECTIONS = (*GROUND, *RELATIONAL, "comment")
TEMPLATE = ("source", "queries", "parameters", "drafted")
VARIABLE_KEYS = ("name", "range", "kind", "individual", "comment")
SUPPORT_KEYS = ("support", "given", "prior")
LEARN, LEARNED = "learn", "learned"  # what marks a table to be learned, and one that was
FACTOR_KEYS = ("name", "args", "table", *SUPPORT_KEYS, "comment")

# ---- reading


def is_template(whole: Any) -> bool:
    """Whether a file is a template: it names a source, or something is or was learned from data."""
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        return False
    if "source" in whole:
        return True
    tables = whole.get("tables")
    named = tables if isinstance(tables, dict) else {}
    parts = [whole.get(section) for section in ("parfactors", "relations")]
    parfactors, relations = (each if isinstance(each, list) else [] for each in parts)
    parfactors = [each for each in parfactors if isinstance(each, dict)]
    asked = [each.get("table") for each in parfactors]
    ranges = [each.get("range") for each in relations if isinstance(each, dict)]
    by_name = whole.get("ranges")
    ranges += list(by_name.values()) if isinstance(by_name, dict) else []
    learned = any(
        (table == LEARN and LEARN not in named) or (isinstance(table, dict) and LEARN in table)
        for table in asked
    ) or any(LEARNED in each for each in parfactors)
    return learned or any(
        isinstance(each, dict) and (isinstance(each.get("bins"), int) or "within" in each)
        for each in ranges
    )


def checked_model(whole: Any, place: str) -> dict[str, Any]:
    """The object of a model file, its format and its sections checked."""
    model = object_at(whole, place)
    if model.get("format") != FORMAT:
        given = f"'{model['format']}'" if "format" in model else "missing"
        raise PathError(place, ("format",), f'is {given}; a model file has "format": "{FORMAT}"')
    for key in model:
        if key in TEMPLATE:
            why = "this is part of a template, which names a source; read it from its file"
            raise PathError(place, (key,), why)
        if key not in SECTIONS:
            raise PathError(place, (key,), f"there is no such section{did_you_mean(key, SECTIONS)}")
    return model


def named_parts(model: dict[str, Any], place: str) -> GraphBuilder[FactorGraph]:
    """A builder that knows the named ranges and tables of a file."""
    builder = FactorGraph.build()
    for name, labels in object_at(model.get("ranges", {}), place, "ranges").items():
        with at(place, "ranges", name):
            builder.range(name, labels_of(labels))
    for name, potentials in object_at(model.get("tables", {}), place, "tables").items():
        with at(place, "tables", name):
            builder.table(name, list_of(potentials, "a table is a list of numbers"))
    return builder


def add_variable(builder: GraphBuilder[FactorGraph], variable: Any) -> None:
    """Add one variable of a file."""
    check_keys(variable, "a variable", VARIABLE_KEYS, required=("name",))
    labels = variable.get("range", list(BOOLEAN))
    individuals = variable.get("individual", [])
    individuals = individuals if isinstance(individuals, list) else [individuals]
    kind = variable.get("kind")
    if not all(isinstance(each, str) for each in [*individuals, "" if kind is None else kind]):
        raise ModelError("kind is a text, individual a text or a list of texts")
    builder.variable(
        variable["name"],
        labels if isinstance(labels, str) else labels_of(labels),
        kind=kind,
        individual=individuals,
    )


def add_factor(
    builder: GraphBuilder[FactorGraph], factor: Any, rename: Callable[[str], str] = str
) -> None:
    """Add one factor of a file; rename gives the variable that each argument means."""
    check_keys(factor, "a factor", FACTOR_KEYS, required=("name", "args", "table"))
    table = factor["table"]
    if table is not None and not isinstance(table, str):
        table = list_of(
            table, "a table is a list of numbers, the name of a table, or null if unknown"
        )
    support = {key: factor.get(key) for key in SUPPORT_KEYS}
    if support["given"] is not None:
        support["given"] = [rename(argument) for argument in given_texts(factor)]
    arguments = [rename(argument) for argument in argument_texts(factor)]
    builder.factor(factor["name"], arguments, table, **support)


def argument_texts(factor: dict[str, Any]) -> list[str]:
    """The arguments of a factor or parfactor, which must be texts."""
    arguments = list_of(factor["args"], "args is a list of variable names")
    for argument in arguments:
        if not isinstance(argument, str):
            raise ModelError(f"args holds {kind_of(argument)}; variables are named by texts")
    return arguments


def given_texts(factor: dict[str, Any]) -> list[str]:
    """The given arguments of a factor or parfactor, which must be texts."""
    given = list_of(factor["given"], "given is a list of arguments")
    if not all(isinstance(each, str) for each in given):
        raise ModelError("given is a list of arguments, named by texts")
    return given


def labels_of(value: Any) -> Labels:
    """The labels of a range, or of the bins that an object describes."""
    if isinstance(value, tuple):  # found already
        return value
    if isinstance(value, dict):
        from lifagu.formats.json_ranges import found_range

        way, labels = found_range(value)
        if "within" in value and labels is not None:
            raise ModelError("within belongs into the range of a relation, in a template")
        if labels is None:
            raise ModelError(f"the range comes from data, by {way}, and is for relations alone")
        return labels
    expected = "a range is a list of labels, or the name of a range"
    return tuple(map(label_of, list_of(value, expected)))


# ---- writing


def names_of_shared(values: Iterable[Any], prefix: str, without: Any = None) -> dict[Any, str]:
    """Names r1, r2, … for the values that occur more than once, by first occurrence."""
    shared = [value for value, count in Counter(values).items() if count > 1 and value != without]
    return {value: f"{prefix}{number}" for number, value in enumerate(shared, 1)}


def variable_text(variable: Variable, range_names: Mapping[Labels, str]) -> str:
    """One variable as JSON."""
    item: dict[str, Any] = {"name": variable.name}
    if variable.range != BOOLEAN:
        item["range"] = range_names.get(variable.range, variable.range)
    if variable.kind is not None:
        item["kind"] = variable.kind
    if individuals := variable.individuals:
        item["individual"] = individuals[0] if len(individuals) == 1 else individuals
    return json_text(item)


def factor_text(factor: Factor, table: str) -> str:
    """One factor as JSON; its table is JSON already."""
    name, arguments = json_text(factor.name), json_text(factor.arguments)
    support = support_text(factor.support, factor.arguments)
    return f'{{"name": {name}, "args": {arguments}, "table": {table}{support}}}'


def support_text(support: TableSupport | None, arguments: Sequence[str]) -> str:
    """What follows the table of a factor as JSON: its support, given arguments, and prior."""
    if support is None:
        return ""
    parts = {"support": _numbers_text(support.records)}
    if support.given:
        parts["given"] = json_text([arguments[place] for place in support.given])
    if support.prior:
        parts["prior"] = _numbers_text(support.prior)
    return "".join(f", {json_text(key)}: {text}" for key, text in parts.items())


def _numbers_text(numbers: Sequence[float]) -> str:
    """A single number, or a list of several."""
    texts = list(map(number_text, numbers))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def table_text(table: Floats | None) -> str:
    """A table as JSON, numbers as short as they read back equal."""
    if table is None:
        return "null"
    return "[" + ", ".join(map(number_text, table.reshape(-1).tolist())) + "]"


def json_text(value: Any) -> str:
    """Any value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def lines_text(items: Iterable[str]) -> str:
    """A list with one item a line."""
    items = list(items)
    return "[\n    " + ",\n    ".join(items) + "\n  ]" if items else "[]"


def block_text(items: Mapping[str, str]) -> str:
    """An object with one entry a line, nothing for none; values are JSON already."""
    lines = ",\n    ".join(f"{json_text(key)}: {value}" for key, value in items.items())
    return f"{{\n    {lines}\n  }}" if items else ""


def ranges_text(range_names: Mapping[Labels, str]) -> str:
    """The ranges that have names."""
    return block_text({name: json_text(labels) for labels, name in range_names.items()})


def file_text(sections: Mapping[str, str]) -> str:
    """The text of a file with these sections; what is empty is left out."""
    given = {"format": json_text(FORMAT), **sections}
    kept = ",\n  ".join(f'"{key}": {text}' for key, text in given.items() if text)
    return f"{{\n  {kept}\n}}\n"
