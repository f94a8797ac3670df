"""The relational part of lifagu's JSON files: domains, relations, parfactors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from lifagu.errors import ModelError, did_you_mean
from lifagu.formats.json_lines import PathError, at
from lifagu.formats.json_parts import (
    LEARN,
    SUPPORT_KEYS,
    add_factor,
    add_variable,
    argument_texts,
    block_text,
    factor_text,
    file_text,
    given_texts,
    json_text,
    labels_of,
    lines_text,
    named_parts,
    names_of_shared,
    ranges_text,
    support_text,
    table_text,
    variable_text,
)
from lifagu.formats.json_values import check_keys, items_at, kind_of, list_of, object_at
from lifagu.graph.evidence import EvidenceLike
from lifagu.graph.ranges import BOOLEAN, Labels
from lifagu.graph.table_support import TableSupport
from lifagu.relational.builder import (
    GroundArguments,
    constant_of,
    constraint_of,
    domain_of,
    refuse_relational,
)
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.parfactors import Parfactor, ParfactorError, parfactor_support, potentials
from lifagu.relational.relations import Relation, Vocabulary
from lifagu.relational.terms import Argument, Constraint, Membership

_Item = TypeVar("_Item")
RELATION_KEYS = ("name", "of", "range", "names", "comment")
PARFACTOR_KEYS = ("name", "args", "where", "table", *SUPPORT_KEYS, "learned", "comment")


# ---- reading


def parse_relational(model: dict[str, Any], place: str) -> ParfactorGraph:
    """A relational model from the object of a file."""
    builder = named_parts(model, place)
    words = _vocabulary(model, place)
    plain = set()
    for number, variable in enumerate(items_at(model, "variables", place)):
        with at(place, "variables", number):
            add_variable(builder, variable)
            plain.add(variable["name"])
            refuse_relational(variable["name"], words)
    arguments = GroundArguments(builder, words, plain)
    for number, factor in enumerate(items_at(model, "factors", place)):
        with at(place, "factors", number):
            add_factor(builder, factor, arguments)
    parfactors: dict[str, Parfactor] = {}
    for number, item in enumerate(items_at(model, "parfactors", place)):
        parfactor = _parfactor(item, model.get("tables", {}), arguments, place, number)
        with at(place, "parfactors", number):
            _add(parfactors, "parfactor", parfactor.name, parfactor)
    try:
        return ParfactorGraph(
            words.domains, words.relations, tuple(parfactors.values()), builder.graph()
        )
    except ParfactorError as error:
        raise PathError(place, ("parfactors", error.number, *error.steps), error.text) from None
    except ModelError as error:
        raise PathError(place, (), str(error)) from None


def _add(found: dict[str, _Item], sort: str, name: str, item: _Item) -> None:
    if name in found:
        raise ModelError(f"{sort} '{name}' is declared twice; give each {sort} a name of its own")
    found[name] = item


def _vocabulary(model: dict[str, Any], place: str) -> Vocabulary:
    ranges = {name: labels_of(labels) for name, labels in model.get("ranges", {}).items()}
    domains = []
    for name, given in object_at(model.get("domains", {}), place, "domains").items():
        with at(place, "domains", name):
            domains.append(domain_of(name, given))
    relations: dict[str, Relation] = {}
    for number, item in enumerate(items_at(model, "relations", place)):
        with at(place, "relations", number):
            relation = _relation(item, ranges)
            Vocabulary(tuple(domains), (relation,))
            _add(relations, "relation", relation.name, relation)
    with at(place, "relations"):
        return Vocabulary(tuple(domains), tuple(relations.values()))


def _relation(item: Any, ranges: Mapping[str, Labels]) -> Relation:
    check_keys(item, "a relation", RELATION_KEYS, required=("name",))
    labels = item.get("range", list(BOOLEAN))
    if isinstance(labels, str) and labels not in ranges:
        close = did_you_mean(labels, ranges)
        raise ModelError(
            f"relation '{item['name']}' has the range '{labels}', which is not declared{close}"
        )
    of = list_of(item.get("of", []), "of is a list of domains")
    for name in of:
        if not isinstance(name, str):
            raise ModelError(f"of holds {kind_of(name)}; domains are named by texts")
    expected = "names is a list of lists: constants, then the original name"
    return Relation(
        item["name"],
        tuple(of),
        ranges[labels] if isinstance(labels, str) else labels_of(labels),
        tuple(
            tuple(map(constant_of, list_of(row, expected)))
            for row in list_of(item.get("names", []), expected)
        ),
    )


def _parfactor(
    item: Any, tables: Mapping[str, Any], names: GroundArguments, place: str, number: int
) -> Parfactor:
    with at(place, "parfactors", number):
        check_keys(item, "a parfactor", PARFACTOR_KEYS, required=("name", "args", "table"))
        texts = argument_texts(item)
        constraints = list_of(item.get("where", []), "where is a list of constraints")
        table = _table(item["name"], item["table"], tables)
    arguments, where = [], []
    for each, text in enumerate(texts):
        with at(place, "parfactors", number, "args", each):
            arguments.append(names.argument(text))
    for each, constraint in enumerate(constraints):
        with at(place, "parfactors", number, "where", each):
            where.append(constraint_of(constraint))
    with at(place, "parfactors", number):
        return Parfactor(
            item["name"],
            tuple(arguments),
            potentials(item["name"], table),
            tuple(where),
            _support(item, arguments, names),
        )


def _support(
    item: dict[str, Any], arguments: Sequence[Argument], names: GroundArguments
) -> TableSupport | None:
    """The support of a parfactor; given arguments may be spelt in any way that means them."""
    support, given, prior = map(item.get, SUPPORT_KEYS)
    if given is not None:
        given = [str(names.argument(each)) for each in given_texts(item)]
    return parfactor_support(item["name"], arguments, support, given, prior)


def _table(name: str, table: Any, tables: Mapping[str, Any]) -> Any:
    if isinstance(table, str):
        if table not in tables and table == LEARN:
            raise ModelError(
                f"parfactor '{name}' is to be learned, from evidence; open its file for that"
            )
        if table not in tables:
            close = did_you_mean(table, tables)
            raise ModelError(
                f"parfactor '{name}' has the table '{table}', which is not declared{close}"
            )
        return tables[table]
    expected = "a table is a list of numbers, the name of a table, or null if unknown"
    return None if table is None else list_of(table, expected)


# ---- writing


def format_relational(model: ParfactorGraph, evidence: EvidenceLike = None) -> str:
    """The text of a file for a relational model; evidence by name, ranges as they are."""
    evidence = {each.name: each.observation for each in model.observations(evidence)}
    part = model.ground_part
    variables = [
        part.variables[each] for each in range(len(part.variable_names)) if each not in model.places
    ]
    ranges = [*(each.range for each in model.relations), *(each.range for each in variables)]
    range_names = names_of_shared(ranges, "r", without=BOOLEAN)
    tables = [table_text(each.table) for each in model.parfactors]
    part_tables = [table_text(each.table) for each in part.factors]
    table_names = names_of_shared([*tables, *part_tables], "t", without="null")
    named = {text: json_text(name) for text, name in table_names.items()}
    parfactors = [
        _parfactor_text(each, named.get(text, text))
        for each, text in zip(model.parfactors, tables, strict=True)
    ]
    factors = [
        factor_text(each, named.get(text, text))
        for each, text in zip(part.factors, part_tables, strict=True)
    ]
    domains = {
        each.name: each.size if each.constants is None else each.constants for each in model.domains
    }
    variables_text = lines_text(variable_text(each, range_names) for each in variables)
    return file_text(
        {
            "ranges": ranges_text(range_names),
            "tables": block_text({name: text for text, name in table_names.items()}),
            "domains": json_text(domains),
            "relations": lines_text(_relation_text(each, range_names) for each in model.relations),
            "parfactors": lines_text(parfactors),
            "variables": variables_text if variables else "",
            "factors": lines_text(factors) if factors else "",
            "evidence": block_text({name: json_text(value) for name, value in evidence.items()}),
        }
    )


def _relation_text(relation: Relation, range_names: Mapping[Labels, str]) -> str:
    item: dict[str, Any] = {"name": relation.name}
    if relation.of:
        item["of"] = relation.of
    if relation.range != BOOLEAN:
        item["range"] = range_names.get(relation.range, relation.range)
    if relation.names:
        item["names"] = list(relation.names)
    return json_text(item)


def _parfactor_text(parfactor: Parfactor, table: str) -> str:
    where = [_constraint_value(each) for each in parfactor.where]
    middle = f', "where": {json_text(where)}' if where else ""
    arguments = [str(each) for each in parfactor.arguments]
    start = f'"name": {json_text(parfactor.name)}, "args": {json_text(arguments)}{middle}'
    return f'{{{start}, "table": {table}{support_text(parfactor.support, arguments)}}}'


def _constraint_value(constraint: Constraint) -> Any:
    if not isinstance(constraint, Membership):
        return str(constraint)
    return {
        "vars": list(map(str, constraint.variables)),
        "in" if constraint.inside else "not_in": list(constraint.rows),
    }
