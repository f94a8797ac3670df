"""The relational part of lifagu's JSON files: domains, relations, parfactors, beside a ground part or alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifagu.builder import GraphBuilder
from lifagu.domains import Domain
from lifagu.errors import FormatError, ModelError, did_you_mean
from lifagu.evidence import Evidence, Observation
from lifagu.formats.json_parts import (
    FORMAT,
    add_factor,
    add_variable,
    argument_texts,
    at,
    block_text,
    check_keys,
    items_at,
    json_text,
    kind_of,
    label_of,
    labels_of,
    lines_text,
    list_of,
    named_parts,
    names_of_shared,
    numbers_text,
    object_at,
    variable_text,
)
from lifagu.model import FactorGraph
from lifagu.parfactors import Parfactor, ParfactorError, potentials
from lifagu.ranges import BOOLEAN, Labels
from lifagu.relational import ParfactorGraph
from lifagu.relations import Relation, Vocabulary
from lifagu.terms import Atom, Constraint, Logical, Membership, parse_argument, parse_comparison, parse_term
from lifagu.views import Factor

RELATION_KEYS = ("name", "of", "range", "names", "comment")
PARFACTOR_KEYS = ("name", "args", "where", "table", "comment")
MEMBERSHIP_KEYS = ("vars", "in", "not_in", "comment")


# ---- reading


def parse_relational(model: dict[str, Any], place: str) -> ParfactorGraph:
    """A relational model from the object of a file."""
    builder = named_parts(model, place)
    words = _vocabulary(model, place)
    plain = set()
    for number, variable in enumerate(items_at(model, "variables", place)):
        with at(place, f"variables[{number}]"):
            add_variable(builder, variable)
            plain.add(variable["name"])
            _refuse_relational(variable["name"], words)
    rename = _Atoms(builder, words, plain)
    for number, factor in enumerate(items_at(model, "factors", place)):
        with at(place, f"factors[{number}]"):
            add_factor(builder, factor, rename)
    tables = model.get("tables", {})
    parfactors = [
        _parfactor(item, tables, plain, words, place, f"parfactors[{number}]")
        for number, item in enumerate(items_at(model, "parfactors", place))
    ]
    try:
        return ParfactorGraph(words.domains, words.relations, tuple(parfactors), builder.graph())
    except ParfactorError as error:
        path = f"parfactors[{error.number}]{'.' + error.part if error.part else ''}"
        raise FormatError(f"{place}: {path}: {error.text}") from None
    except ModelError as error:
        raise FormatError(f"{place}: {error}") from None


class _Atoms:
    """The names of the variables that ground factors mean; ground variables of relations are added when met."""

    def __init__(self, builder: GraphBuilder[FactorGraph], words: Vocabulary, plain: set[str]) -> None:
        self._builder, self._words, self._known = builder, words, set(plain)

    def __call__(self, argument: str) -> str:
        if argument in self._known:
            return argument
        found = self._words.find(argument)
        if found is None:
            if remark := self._words.why_not(argument):
                raise ModelError(remark)
            return argument
        relation, numbers = found
        name = self._words.ground_name(relation, numbers)
        if name not in self._known:
            self._known.add(name)
            of = zip(self._words.domains_of[relation], numbers, strict=True)
            individuals = dict.fromkeys(self._words.individual(*each) for each in of)
            kind = self._words.relations[relation]
            self._builder.variable(name, kind.range, kind=kind.name, individual=individuals)
        return name


def _refuse_relational(name: str, words: Vocabulary) -> None:
    found = words.find(name)
    if found is not None:
        relation = words.relations[found[0]].name
        raise ModelError(f"variable '{name}' has the name of a ground variable of relation '{relation}'; leave it out")


def _vocabulary(model: dict[str, Any], place: str) -> Vocabulary:
    ranges = {name: labels_of(labels) for name, labels in model.get("ranges", {}).items()}
    domains = []
    for name, given in object_at(model.get("domains", {}), place, "domains").items():
        with at(place, f"domains.{name}"):
            domains.append(_domain(name, given))
    relations = []
    for number, item in enumerate(items_at(model, "relations", place)):
        with at(place, f"relations[{number}]"):
            relations.append(_relation(item, ranges))
            Vocabulary(tuple(domains), (relations[-1],))
    with at(place, "relations"):
        return Vocabulary(tuple(domains), tuple(relations))


def _domain(name: str, given: Any) -> Domain:
    if isinstance(given, list):
        return Domain.of(name, [_constant(each) for each in given])
    if isinstance(given, bool) or not isinstance(given, int):
        raise ModelError(f"a domain is a whole number or a list of constants, not {kind_of(given)}")
    return Domain.of(name, given)


def _constant(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ModelError(f"a constant is a text or a number, not {kind_of(value)}")
    return label_of(value)


def _relation(item: Any, ranges: Mapping[str, Labels]) -> Relation:
    check_keys(item, "a relation", RELATION_KEYS, required=("name",))
    labels = item.get("range", list(BOOLEAN))
    if isinstance(labels, str) and labels not in ranges:
        close = did_you_mean(labels, ranges)
        raise ModelError(f"relation '{item['name']}' has the range '{labels}', which is not declared{close}")
    of = list_of(item.get("of", []), "of is a list of domains")
    for name in of:
        if not isinstance(name, str):
            raise ModelError(f"of holds {kind_of(name)}; domains are named by texts")
    return Relation(
        item["name"],
        tuple(of),
        ranges[labels] if isinstance(labels, str) else labels_of(labels),
        _rows(item.get("names", []), "names is a list of lists: constants, then the original name"),
    )


def _rows(value: Any, expected: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_constant, list_of(row, expected))) for row in list_of(value, expected))


def _parfactor(
    item: Any, tables: Mapping[str, Any], plain: set[str], words: Vocabulary, place: str, path: str
) -> Parfactor:
    with at(place, path):
        check_keys(item, "a parfactor", PARFACTOR_KEYS, required=("name", "args", "table"))
        texts = argument_texts(item)
        constraints = list_of(item.get("where", []), "where is a list of constraints")
        table = _table(item["name"], item["table"], tables)
    arguments, where = [], []
    for number, text in enumerate(texts):
        with at(place, f"{path}.args[{number}]"):
            is_name = text in plain or (text not in words.relation_names and words.is_original(text))
            arguments.append(Atom(text) if is_name else parse_argument(text))
    for number, constraint in enumerate(constraints):
        with at(place, f"{path}.where[{number}]"):
            where.append(_constraint(constraint))
    with at(place, path):
        return Parfactor(item["name"], tuple(arguments), potentials(item["name"], table), tuple(where))


def _table(name: str, table: Any, tables: Mapping[str, Any]) -> Any:
    if isinstance(table, str):
        if table not in tables:
            close = did_you_mean(table, tables)
            raise ModelError(f"parfactor '{name}' has the table '{table}', which is not declared{close}")
        return tables[table]
    expected = "a table is a list of numbers, the name of a table, or null if unknown"
    return None if table is None else list_of(table, expected)


def _constraint(given: Any) -> Constraint:
    if isinstance(given, str):
        return parse_comparison(given)
    if not isinstance(given, dict):
        raise ModelError(f'a constraint is a text as in "X != Y", or an object with vars and in, not {kind_of(given)}')
    check_keys(given, "a constraint", MEMBERSHIP_KEYS, required=("vars",))
    if ("in" in given) == ("not_in" in given):
        raise ModelError("a constraint with vars has either in or not_in")
    names = list_of(given["vars"], "vars is a list of logical variables")
    variables = [parse_term(name) if isinstance(name, str) else "" for name in names]
    if not all(isinstance(each, Logical) for each in variables):
        raise ModelError("vars holds something that is not a logical variable; those begin with an upper-case letter")
    rows = _rows(given.get("in", given.get("not_in")), "in and not_in are lists of lists of constants")
    return Membership(tuple(each for each in variables if isinstance(each, Logical)), rows, "in" in given)


# ---- writing


def format_relational(model: ParfactorGraph, evidence: Evidence | Mapping[str, Observation] | None = None) -> str:
    """The text of a file for a relational model; evidence by name, ranges as they are."""
    if isinstance(evidence, Evidence):
        raise ModelError("evidence of a relational model is a mapping from name to label; it is not bound to a graph")
    model.observations(evidence or {})
    part = model.ground_part
    variables = [part.variables[each] for each in range(len(part.variable_names)) if each not in model.places]
    ranges = [*(each.range for each in model.relations), *(each.range for each in variables)]
    range_names = names_of_shared(ranges, "r", without=BOOLEAN)
    tables = [_table_text(each.table) for each in model.parfactors]
    part_tables = [_table_text(each.table) for each in part.factors]
    table_names = names_of_shared([*tables, *part_tables], "t", without="null")
    named = {text: json_text(name) for text, name in table_names.items()}
    parfactors = [
        _parfactor_text(each, named.get(text, text)) for each, text in zip(model.parfactors, tables, strict=True)
    ]
    factors = [_factor_text(each, named.get(text, text)) for each, text in zip(part.factors, part_tables, strict=True)]
    sections = {
        "format": json_text(FORMAT),
        "ranges": block_text({name: json_text(labels) for labels, name in range_names.items()}),
        "tables": block_text({name: text for text, name in table_names.items()}),
        "domains": _domains_text(model),
        "relations": lines_text(_relation_text(each, range_names) for each in model.relations),
        "parfactors": lines_text(parfactors),
        "variables": lines_text(variable_text(each, range_names) for each in variables),
        "factors": lines_text(factors),
        "evidence": block_text({name: json_text(value) for name, value in (evidence or {}).items()}),
    }
    always = ("format", "domains", "relations", "parfactors")
    there = {"ranges": range_names, "tables": table_names, "variables": variables, "factors": factors}
    kept = [
        f'"{key}": {text}' for key, text in sections.items() if key in always or {**there, "evidence": evidence}[key]
    ]
    return "{\n  " + ",\n  ".join(kept) + "\n}\n"


def _table_text(table: Any) -> str:
    return "null" if table is None else numbers_text(table)


def _factor_text(factor: Factor, table: str) -> str:
    return f'{{"name": {json_text(factor.name)}, "args": {json_text(factor.arguments)}, "table": {table}}}'


def _domains_text(model: ParfactorGraph) -> str:
    return json_text({each.name: each.size if each.constants is None else each.constants for each in model.domains})


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
    arguments = json_text([str(each) for each in parfactor.arguments])
    return f'{{"name": {json_text(parfactor.name)}, "args": {arguments}{middle}, "table": {table}}}'


def _constraint_value(constraint: Constraint) -> Any:
    if not isinstance(constraint, Membership):
        return str(constraint)
    return {
        "vars": list(map(str, constraint.variables)),
        "in" if constraint.inside else "not_in": list(constraint.rows),
    }
