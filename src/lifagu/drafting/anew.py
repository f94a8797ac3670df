"""A draft made anew from a database of which some values are hidden, as validation asks for it.

Keys, links, labels and individuals stay, and so does what is asked; what tells about it, groups,
bins and classes are chosen from what is not hidden.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from lifagu.basics.progress import Progress
from lifagu.data.databases import opened
from lifagu.data.databases.catalogue import CatalogueTable
from lifagu.drafting.asking import Asker, aliased, table_sql
from lifagu.drafting.attributes import BOOLEAN, Attribute
from lifagu.drafting.found import Drafter
from lifagu.drafting.naming import row_name
from lifagu.drafting.schema import DraftSettings, Schema, read_schema
from lifagu.drafting.seen import SeenTable, in_order_of, see
from lifagu.drafting.template_text import template_text
from lifagu.errors import ModelError
from lifagu.formats.native import contents
from lifagu.relational.source import LayeredTable, Source
from lifagu.relational.template import Template

_WITHIN = "lifagu_within"  # which rows of a large table the model speaks of
_CHANGED = "the database is not as it was when this was drafted"
Keys = Mapping[str, Collection[tuple[str, ...]]]  # by relation the individuals, as texts


def settings_of(noted: Mapping[str, Any]) -> DraftSettings:
    """The settings that a template notes."""
    usual = DraftSettings().plain
    for name, value in usual.items():
        if type(noted.get(name)) is not type(value):
            raise ModelError("the note about the draft does not hold its settings")
    return DraftSettings(**{each.name: noted[each.name] for each in fields(DraftSettings)})


@dataclass(frozen=True, eq=False)
class DraftAgain:
    """A drafted template that can be drafted again without some values.

    columns: what a relation is made of, of those that say what a column says; asker: of the words
    of the database, which is closed.
    """

    template: Template
    source: Source
    settings: DraftSettings
    schema: Schema
    columns: Mapping[str, Attribute]
    asker: Asker
    progress: Progress

    @classmethod
    def of(cls, template: Template, source: Source, progress: Progress) -> DraftAgain:
        """Look at the database as it is; refused if the template is not about it as it is now."""
        if template.drafted is None:
            raise ModelError("the template does not say how it was drafted")
        settings = settings_of(template.drafted.settings)
        with opened(source) as database:
            asker = Asker(database, database.catalogue().dialect, source.place)
            schema = read_schema(database, asker, settings, progress)
            columns = Drafter(asker, schema, settings, progress).columns()
        named = {(each.target, name) for each in schema.links for name in each.target_columns}
        by_name = {each.name: each for each in columns if each.column and each.column not in named}
        found = cls(template, source, settings, schema, by_name, asker, progress)
        found._check()
        return found

    def _check(self) -> None:
        for item in json.loads(self.template.text)["relations"]:
            here = self.columns.get(item["name"])
            labels = item.get("range", list(BOOLEAN))
            if here is None or not isinstance(labels, list):
                continue
            if item["of"] != list(here.subject.domains) or labels != list(here.labels):
                raise ModelError(_CHANGED)

    def without(self, hidden: Keys, asked: Sequence[str]) -> tuple[Template, Source]:
        """The template of a draft that never saw some values, and the source without them.

        hidden: by relation, of `columns`, whose value is hidden; asked: relations to be predicted.
        """
        by_table: dict[str, dict[str, set[tuple[str, ...]]]] = {}
        for relation, keys in hidden.items():
            table, column = self.columns[relation].column or ("", "")
            by_table.setdefault(table, {}).setdefault(column, set()).update(keys)
        layers = tuple(
            self._layer(self.schema.tables[name].table, columns)
            for name, columns in by_table.items()
        )
        source = replace(self.source, layers=layers)
        with opened(source) as database:
            asker = replace(self.asker, database=database)
            schema = self._seen_again(asker, list(by_table))
            settings = replace(self.settings, predict=tuple(asked))
            found = Drafter(asker, schema, settings, self.progress, is_again=True).found()
        template = contents(template_text(found, None), self.template.place).template({})
        assert template is not None
        return template, source

    def _layer(
        self, table: CatalogueTable, hidden: Mapping[str, set[tuple[str, ...]]]
    ) -> LayeredTable:
        """A table without some values; what the database computes from others goes with them."""
        every = frozenset[tuple[str, ...]]().union(*hidden.values())
        known = {column: frozenset(keys) for column, keys in hidden.items()}
        known |= {each.name: every for each in table.columns if each.is_generated}
        key, row = self._key(table), row_name(each.name for each in table.columns)
        condition = self.schema.conditions.get(table.name)
        return LayeredTable(
            table.name,
            self.asker.numbered(table, row),
            row,
            tuple(each.name for each in table.columns),
            key,
            known,
            None if condition is None else (_WITHIN, condition),
        )

    def _key(self, table: CatalogueTable) -> tuple[str, ...]:
        """The columns that tell individuals apart, which are the same in all relations of a table.

        None where their number does.
        """
        keys = {
            each.key
            for each in self.columns.values()
            if each.column is not None and each.column[0] == table.name
        }
        (key,) = keys
        return key if key[0] in {each.name for each in table.columns} else ()

    def _seen_again(self, asker: Asker, layered: Collection[str]) -> Schema:
        """The schema with tables as they are in the layer, whose names need no schema there."""
        schema, tables, bases = self.schema, dict(self.schema.tables), dict(self.schema.bases)
        for name in layered:
            table = replace(tables[name].table, schema="", is_view=False)
            bases[name] = self._base(asker, tables[name], table)
            self.progress.stage(f"looking at {name} without hidden values")
            settings = self.settings
            again = see(asker, table, settings.sample, settings.seed, settings.leave_out)
            tables[name] = in_order_of(again, schema.keys[name].columns)
        return replace(schema, tables=tables, bases=bases)

    def _base(self, asker: Asker, before: SeenTable, table: CatalogueTable) -> str:
        """What stands after FROM for the same rows of a table."""
        row, was = row_name(before.columns), self.schema.bases[table.name]
        numbered = asker.numbered(before.table, row)
        base = asker.numbered(table, row) if numbered in was else table_sql(table)
        if table.name not in self.schema.conditions:
            return base
        return f"(SELECT * FROM {aliased(base)} WHERE {_WITHIN} = 1)"
