"""Templates: lifagu's JSON with a `source`, and queries where a model has literal content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lifagu.errors import ModelError, did_you_mean
from lifagu.formats.drafted_json import drafted_of
from lifagu.formats.json_lines import PathError, Step, at, line_of, located, path_text
from lifagu.formats.json_parts import (
    LEARN,
    SECTIONS,
    SUPPORT_KEYS,
    TEMPLATE,
    argument_texts,
    is_template,
)
from lifagu.formats.json_values import check_keys, items_at, kind_of, label_of, list_of, object_at
from lifagu.formats.relational_json import PARFACTOR_KEYS, parse_relational
from lifagu.formats.template_parameters import PARAMETERS, check_query, parameters_of
from lifagu.formats.template_ranges import finer_relations, range_of, ranges_to_find
from lifagu.formats.template_tables import grouped, moved, to_learn
from lifagu.graph.evidence import Observation
from lifagu.graph.ranges import Labels
from lifagu.graph.tables import as_floats
from lifagu.relational.builder import domain_of
from lifagu.relational.domains import Domain
from lifagu.relational.parameters import ParameterValue
from lifagu.relational.parfactor_graph import ParfactorGraph
from lifagu.relational.source import Source
from lifagu.relational.template import Asked, Counted, Query, RowParfactor, Template

ROW_KEYS = (*PARFACTOR_KEYS, "rows")


def template_of(
    whole: Any, text: str, place: str, given: Mapping[str, object] | None = None
) -> Template | None:
    """What a file says as a template; None if it neither names a source nor is to be learned.

    whole: what stands in its text; given: values of parameters, in place of those in the file.

    >>> template_of({"format": "lifagu/1", "variables": []}, "…", "model.json") is None
    True
    """
    if not is_template(whole):
        return None
    with located(text, place):
        return _Reader(text, place, whole, parameters_of(whole, place, given or {})).template()


@dataclass(frozen=True)
class _Reader:
    """Reads the sections of one file; used: the parameters that queries have named so far."""

    text: str
    place: str
    whole: dict[str, Any]
    parameters: dict[str, ParameterValue]
    used: set[str] = field(default_factory=set)

    def template(self) -> Template:
        """All of it."""
        sections = (*SECTIONS, *TEMPLATE)
        for key in self.whole:
            if key not in sections:
                close = did_you_mean(key, sections)
                raise PathError(self.place, (key,), f"there is no such section{close}")
        literal = object_at(self.whole.get("tables", {}), self.place, "tables")
        self._refuse_counted(literal)
        domains, constants = self._domains()
        finer = finer_relations(self.whole, self.place)
        parfactors, ordinary = self._parfactors(literal)
        self._refuse_coarse(finer, parfactors)
        for fine, coarse in finer.items():
            parfactors[len(ordinary)] = RowParfactor(self.where("relations"), None, is_within=True)
            ordinary.append(self._within(fine, coarse))
        self._refuse_learned_factors(literal)
        ranges, cohorts = ranges_to_find(self.whole, self.place, self.where, self.query)
        evidence, observed = self._evidence(cohorts, finer)
        asked = tuple(
            self._asked(number, item)
            for number, item in enumerate(items_at(self.whole, "queries", self.place))
        )
        rest = {
            key: value for key, value in self.whole.items() if key not in (*TEMPLATE, "evidence")
        }
        rest |= {"tables": literal, "parfactors": ordinary}
        return Template(
            self.place,
            self.text,
            self._source() if "source" in self.whole else None,
            domains,
            self._given_domains(constants, domains),
            {name: self._potentials(name, item) for name, item in literal.items()},
            parfactors,
            evidence,
            observed,
            asked,
            ranges,
            cohorts,
            finer,
            tuple(self._warnings(literal)),
            tuple(
                str(each["name"])
                for each in items_at(self.whole, "parfactors", self.place)
                if "learned" in each
            ),
            self.parameters,
            drafted_of(self.whole, self.place),
            partial(self._model, rest, constants),
        )

    def _model(
        self,
        rest: dict[str, Any],
        constants: dict[str, Any],
        domains: Mapping[str, Domain],
        ranges: Mapping[str, Labels],
    ) -> ParfactorGraph:
        """What there is beside queries, once constants and the labels of ranges are known."""
        named = {
            name: ranges.get(path_text(("ranges", name)), item)
            for name, item in object_at(self.whole.get("ranges", {}), self.place, "ranges").items()
        }
        relations = [
            {**item, "range": found}
            if (found := ranges.get(path_text(("relations", number, "range"))))
            else item
            for number, item in enumerate(items_at(self.whole, "relations", self.place))
        ]
        filled = {"ranges": named, "relations": relations, "domains": {**constants, **domains}}
        with located(self.text, self.place):
            return parse_relational({**rest, **filled}, self.place)

    def where(self, *steps: Step) -> str:
        """A place in the file, for errors that come later."""
        return f"{self.place}:{line_of(self.text, steps)}: {path_text(steps)}"

    def query(self, item: Any, *steps: Step) -> Query:
        """A query: its text, or the lines of it."""
        with at(self.place, *steps):
            sql = item["sql"]
            lines = (
                [sql] if isinstance(sql, str) else list_of(sql, "sql is a text, or a list of lines")
            )
            if not all(isinstance(line, str) for line in lines) or not "".join(lines).strip():
                raise ModelError("sql is a text, or a list of lines, that holds a query")
            text = "\n".join(lines)
            self.used.update(check_query(text, self.parameters))
            return Query(text, self.where(*steps), tuple(self.parameters.items()))

    # ---- sections

    def _source(self) -> Source:
        given, folder = self.whole["source"], str(Path(self.place).parent)
        with at(self.place, "source"):
            if isinstance(given, dict):
                check_keys(given, "a source", ("files", "comment"), required=("files",))
                files = object_at(given["files"], self.place, "source", "files")
                if not files or not all(isinstance(path, str) for path in files.values()):
                    raise ModelError("files names for each table the file that holds it")
                return Source(files, folder, self.where("source"), is_foreign=True)
            if not isinstance(given, str) or not given:
                raise ModelError(
                    f"a source is a path, a URL, or an object with files, not {kind_of(given)}"
                )
        return Source(given, folder, self.where("source"), is_foreign=True)

    def _domains(self) -> tuple[dict[str, Query], dict[str, Any]]:
        """Queries by domain, and all domains in order, queried ones without constants yet."""
        given = object_at(self.whole.get("domains", {}), self.place, "domains")
        queries = {
            name: self._alone(item, "domains", name)
            for name, item in given.items()
            if isinstance(item, dict)
        }
        return queries, {name: None if name in queries else item for name, item in given.items()}

    def _given_domains(
        self, constants: Mapping[str, Any], queried: Mapping[str, Query]
    ) -> dict[str, Domain]:
        """The domains that the file lists."""
        found = {}
        for name, given in constants.items():
            if name not in queried:
                with at(self.place, "domains", name):
                    found[name] = domain_of(name, given)
        return found

    def _warnings(self, literal: Mapping[str, Any]) -> list[str]:
        """What a user should know about the file."""
        unused = [
            f"{self.where(PARAMETERS, name)}: no query names :{name}"
            for name in self.parameters
            if name not in self.used
        ]
        if LEARN not in literal:
            return unused
        parfactors = items_at(self.whole, "parfactors", self.place)
        return unused + [
            f"{self.where('parfactors', number, 'table')}: '{LEARN}' is taken to be the table of "
            f'that name; write {{"{LEARN}": true}} to have a table learned'
            for number, item in enumerate(parfactors)
            if item["table"] == LEARN
        ]

    def _alone(self, item: Any, *steps: Step) -> Query:
        """An object that holds nothing but a query."""
        with at(self.place, *steps):
            check_keys(item, "a query", ("sql", "comment"), required=("sql",))
        return self.query(item, *steps)

    def _refuse_counted(self, tables: Mapping[str, Any]) -> None:
        for name, item in tables.items():
            if isinstance(item, dict) and "sql" in item:
                with at(self.place, "tables", name):
                    parfactors = items_at(self.whole, "parfactors", self.place)
                    raise ModelError(moved(name, item, parfactors))

    def _potentials(self, name: str, item: Any) -> tuple[float, ...]:
        with at(self.place, "tables", name):
            table = as_floats(list_of(item, "a table is a list of numbers"))
            if table is None:
                raise ModelError(
                    "the table holds something that is not a number, or rows of unequal length"
                )
            return tuple(table.tolist())

    def _parfactors(self, literal: Mapping[str, Any]) -> tuple[dict[int, RowParfactor], list[Any]]:
        """Those that need the database, by number, and all of them as ordinary ones."""
        found, ordinary = {}, []
        for number, item in enumerate(items_at(self.whole, "parfactors", self.place)):
            with at(self.place, "parfactors", number):
                check_keys(item, "a parfactor", ROW_KEYS, required=("name", "args", "table"))
                table = item["table"]
                learns = _learns(table, literal)
                if isinstance(table, str) and not learns and table not in literal:
                    close = did_you_mean(table, literal)
                    raise ModelError(
                        f"parfactor '{item['name']}' has the table '{table}', "
                        f"which is not declared{close}"
                    )
            plain = {key: value for key, value in item.items() if key != "rows"}
            if isinstance(item.get("support"), str):
                plain["support"] = 0  # each row has its own
                self._refuse_column_without_rows(number, item)
            if isinstance(table, dict) and "common" in table and "given" in item:
                plain.setdefault("support", 0)  # each group has its own
            if "rows" in item or learns or isinstance(table, dict):
                found[number] = self._row_parfactor(number, item, learns)
                plain["table"] = None if learns or isinstance(table, dict) else table
            ordinary.append(plain)
        return found, ordinary

    def _row_parfactor(self, number: int, item: dict[str, Any], learns: bool) -> RowParfactor:
        steps, table = ("parfactors", number), item["table"]
        rows = self._alone(item["rows"], *steps, "rows") if "rows" in item else None
        with at(self.place, *steps):
            if rows is not None and "where" in item:
                raise ModelError(
                    "a parfactor has rows or where; say in the query which rows there are"
                )
            if isinstance(item["args"], list) and any(
                str(each).lstrip().startswith("#") for each in item["args"]
            ):
                raise ModelError(
                    "counting formulas stand only in parfactors with a literal table "
                    "and without rows"
                )
        here = self.where(*steps)
        if learns:
            with at(self.place, *steps, "table"):
                arguments = [str(each) for each in argument_texts(item)]
                found = to_learn(
                    table, arguments, lambda each: self._alone(each, *steps, "table", "records")
                )
                self._check_rows_by(rows, found.by, "learned")
            self._refuse_support(number, item, f"parfactor '{item['name']}' is learned")
            if isinstance(found, Counted):
                return RowParfactor(here, rows, counted=found)
            return RowParfactor(here, rows, learn=found)
        if isinstance(table, dict) and "common" in table:
            here_in = self.where(*steps, "table")
            listed = grouped(table, argument_texts(item), self.place, here_in, *steps, "table")
            with at(self.place, *steps, "table"):
                self._check_rows_by(rows, listed.by, "given")
            return RowParfactor(here, rows, grouped=listed)
        column = self._column(number, table, rows) if isinstance(table, dict) else None
        support = item.get("support")
        own = support if isinstance(support, str) else None
        return RowParfactor(here, rows, column, own)

    def _column(self, number: int, table: dict[str, Any], rows: Query | None) -> str:
        """The column of rows that holds each one's table."""
        with at(self.place, "parfactors", number, "table"):
            check_keys(table, "a table by row", ("column", "comment"), required=("column",))
            column = table["column"]
            if not isinstance(column, str) or not column:
                raise ModelError("column names the column of rows that holds each table")
            if rows is None:
                raise ModelError("a column holds the tables of rows, but the parfactor has no rows")
            return column

    @staticmethod
    def _check_rows_by(rows: Query | None, by: Sequence[str], what: str) -> None:
        if by and rows is None:
            raise ModelError(
                f"the table is {what} by {', '.join(by)}; give the parfactor rows with such columns"
            )

    def _refuse_support(self, number: int, item: dict[str, Any], why: str) -> None:
        for key in SUPPORT_KEYS:
            if key in item:
                with at(self.place, "parfactors", number, key):
                    inside = "; given belongs into the table" if key == "given" else ""
                    raise ModelError(f"{why}, and brings its own support; leave out {key}{inside}")

    def _refuse_column_without_rows(self, number: int, item: dict[str, Any]) -> None:
        if "rows" not in item:
            with at(self.place, "parfactors", number, "support"):
                raise ModelError(
                    "a text names the column of rows that holds each table's support, "
                    "but the parfactor has no rows"
                )

    def _refuse_learned_factors(self, literal: Mapping[str, Any]) -> None:
        for number, factor in enumerate(items_at(self.whole, "factors", self.place)):
            table = factor.get("table") if isinstance(factor, dict) else None
            if isinstance(table, dict) or _learns(table, literal):
                why = "learned tables are for parfactors; make it one"
                raise PathError(self.place, ("factors", number, "table"), why)

    def _within(self, fine: str, coarse: str) -> dict[str, Any]:
        """The parfactor that says in which bin of a number each finer one lies."""
        many = len(range_of(self.whole, fine).of)
        terms = ", ".join(f"X{number}" for number in range(1, 1 + many))
        arguments = [f"{name}({terms})" if many else name for name in (coarse, fine)]
        return {"name": f"{fine} within {coarse}", "args": arguments, "table": None}

    def _refuse_coarse(
        self, finer: Mapping[str, str], parfactors: Mapping[int, RowParfactor]
    ) -> None:
        """Two tables to be learned about one number in bins of both sorts would count it twice."""
        finer_of = {coarse: fine for fine, coarse in finer.items()}
        for number in (number for number, each in parfactors.items() if each.learn):
            for place, text in enumerate(argument_texts(self.whole["parfactors"][number])):
                if fine := finer_of.get(text.partition("(")[0].strip()):
                    why = f"learned tables are about the finer bins; write {fine}"
                    raise PathError(self.place, ("parfactors", number, "args", place), why)

    def _evidence(
        self, cohorts: frozenset[str], finer: Mapping[str, str]
    ) -> tuple[dict[str, Query], dict[str, Observation]]:
        """Queries by relation, and what is observed by name."""
        queries: dict[str, Query] = {}
        observed: dict[str, Observation] = {}
        relations = self._relations()
        for name, item in object_at(self.whole.get("evidence", {}), self.place, "evidence").items():
            if name in cohorts:
                why = "cohorts are hidden, and found by learning; leave out their evidence"
                raise PathError(self.place, ("evidence", name), why)
            if (coarse := finer.get(name.partition("(")[0].strip())) is not None:
                why = f"its numbers are those of '{coarse}'; leave out its evidence"
                raise PathError(self.place, ("evidence", name), why)
            if isinstance(item, dict) and "sql" in item:
                queries[name] = self._alone(item, "evidence", name)
                if name not in relations:
                    close = did_you_mean(name, relations)
                    raise PathError(
                        self.place, ("evidence", name), f"there is no relation '{name}'{close}"
                    )
                continue
            with at(self.place, "evidence", name):
                observed[name] = dict(item) if isinstance(item, dict) else label_of(item)
        return queries, observed

    def _relations(self) -> list[str]:
        items = items_at(self.whole, "relations", self.place)
        return [str(each.get("name")) for each in items if isinstance(each, dict)]

    def _asked(self, number: int, item: Any) -> Asked:
        steps = ("queries", number)
        if isinstance(item, str) and item:
            return Asked(item, None, self.where(*steps))
        with at(self.place, *steps):
            if not isinstance(item, dict):
                raise ModelError(
                    "queries names variables or relations, or has objects with relation and sql"
                )
            check_keys(
                item, "a question", ("relation", "sql", "comment"), required=("relation", "sql")
            )
            if item["relation"] not in (relations := self._relations()):
                close = did_you_mean(str(item["relation"]), relations)
                raise ModelError(f"there is no relation '{item['relation']}'{close}")
        return Asked(item["relation"], self.query(item, *steps), self.where(*steps))


def _learns(table: Any, literal: Mapping[str, Any]) -> bool:
    """Whether a table is to be learned from evidence; a name among tables means that one."""
    if isinstance(table, dict):
        return LEARN in table
    return isinstance(table, str) and table == LEARN and table not in literal
