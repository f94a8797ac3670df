"""From a database to everything a draft consists of: subjects, attributes, tables, in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lifagu.basics.progress import Progress
from lifagu.data.databases import Database
from lifagu.drafting.asking import Asker
from lifagu.drafting.attributes import Attribute, OwnColumns, Surroundings
from lifagu.drafting.candidates import Candidate
from lifagu.drafting.choosing import ChosenTables
from lifagu.drafting.cohorts import CohortTrial, cohort_tables, try_cohorts
from lifagu.drafting.finer import FinerBins
from lifagu.drafting.keys import Key, Link, Sorts, names_of
from lifagu.drafting.list_items import ListItems
from lifagu.drafting.lists import ListedValues
from lifagu.drafting.naming import GivenNames
from lifagu.drafting.schema import DraftSettings, Schema, TableInPart, read_schema
from lifagu.drafting.seen import SeenTable
from lifagu.drafting.subjects import DraftedDomain, DraftSubject, Understanding, understand
from lifagu.drafting.tables import DraftedTable, drafted_tables, with_rest
from lifagu.drafting.telling import Teller
from lifagu.drafting.widths import Width, within_limits
from lifagu.errors import ModelError, did_you_mean

NEARLY_EMPTY = 0.95  # share of gaps


@dataclass(frozen=True, eq=False)
class FoundOut:
    """Everything that was found out about a database, and what was chosen.

    flat: attributes that do not vary, in words; trials: of hidden sorts.
    """

    schema: Schema
    understood: Understanding
    attributes: tuple[Attribute, ...]
    flat: tuple[str, ...]
    asked: tuple[Attribute, ...]
    chosen: tuple[ChosenTables, ...]
    trials: tuple[CohortTrial, ...]
    drafted: tuple[DraftedTable, ...]
    width: Width
    settings: DraftSettings

    @property
    def tables(self) -> Mapping[str, SeenTable]:
        """Tables by name."""
        return self.schema.tables

    @property
    def skipped(self) -> Mapping[str, str]:
        """Tables that were not looked into, and why."""
        return self.schema.skipped

    @property
    def sorts(self) -> Sorts:
        """What each column is, by table and column."""
        return self.schema.sorts

    @property
    def keys(self) -> Mapping[str, Key]:
        """What tells rows apart, by table."""
        return self.schema.keys

    @property
    def links(self) -> tuple[Link, ...]:
        """Who belongs to whom."""
        return self.schema.links

    @property
    def parts(self) -> tuple[TableInPart, ...]:
        """Tables of which the model has only some rows."""
        return self.schema.parts

    @property
    def used(self) -> tuple[Attribute, ...]:
        """Attributes that some table is over, or over their finer bins, in order."""
        over = [each for table in self.drafted for each in table.attributes]
        told = {id(each) for each in over} | {id(each.coarser) for each in over}
        return tuple(each for each in self.attributes if id(each) in told)


def find(database: Database, place: str, settings: DraftSettings, progress: Progress) -> FoundOut:
    """Look at a database, and choose what belongs into a model of it."""
    asker = Asker(database, database.catalogue().dialect, place)
    schema = read_schema(database, asker, settings, progress)
    return Drafter(asker, schema, settings, progress).found()


def is_nearly_empty(attribute: Attribute) -> bool:
    """Whether so little of a column is known that it is predicted only where somebody asks."""
    return attribute.gaps > NEARLY_EMPTY * attribute.subject.table.rows


def _is_finer(attribute: Attribute) -> bool:
    """Whether there are more bins than in which it is predicted."""
    return attribute.coarser is not None and attribute.size > attribute.coarser.size


@dataclass(frozen=True, eq=False)
class Drafter:
    """Chooses what belongs into a model of a database whose schema is known.

    is_again: whether what is to be predicted may have hardly any value left, and is left out then.
    """

    asker: Asker
    schema: Schema
    settings: DraftSettings
    progress: Progress
    is_again: bool = False

    def columns(self) -> list[Attribute]:
        """What columns say, as relations called so in every draft of these tables."""
        return list(self._columns(self._understood(names := GivenNames()), self._around(names)))

    def _understood(self, names: GivenNames) -> Understanding:
        schema = self.schema
        return understand(
            schema.tables, schema.bases, schema.keys, schema.links, schema.lists, names
        )

    def found(self) -> FoundOut:
        """Everything, step by step."""
        settings, schema, names = self.settings, self.schema, GivenNames()
        understood = self._understood(names)
        self.progress.stage("reading what columns and lists say")
        around = self._around(names)
        every = self._attributes(understood, around)
        attributes = [each for each in every if each.size > 1]
        asked = self._asked(attributes, lenient=self.is_again)
        if not asked:
            raise self._nothing()
        listed = self._listed(understood, around, asked)
        chosen = Teller(
            schema.tables,
            schema.links,
            schema.sorts,
            settings.per_relation,
            settings.seed,
            self.progress,
        ).chosen(understood, attributes, asked, [candidate for candidate, _ in listed])
        self.progress.stage("choosing how wide answers may be")
        finer = FinerBins.of(chosen)
        drafted, trials, hidden = self._with_cohorts(understood, attributes, chosen, finer, names)
        told = finer.all(asked)
        drafted, width = within_limits(drafted, told, settings.seed)
        values = [candidate.other for candidate, _ in listed if candidate.other is not None]
        domains = (*understood.domains, *(domain for _, domain in listed))
        return FoundOut(
            schema,
            replace(understood, domains=domains),
            (*attributes, *values, *hidden),
            tuple(each.origin for each in every if each.size <= 1),
            tuple(asked),
            tuple(chosen),
            tuple(trials),
            tuple(with_rest(drafted, told)),
            width,
            settings,
        )

    def _with_cohorts(
        self,
        understood: Understanding,
        attributes: Sequence[Attribute],
        chosen: Sequence[ChosenTables],
        finer: FinerBins,
        names: GivenNames,
    ) -> tuple[list[DraftedTable], list[CohortTrial], list[Attribute]]:
        """Tables, in their place hidden sorts where these tell more; and what was tried."""
        trials, tables, hidden = list[CohortTrial](), list[DraftedTable](), list[Attribute]()
        for subject in understood.subjects.values():
            trial = try_cohorts(subject, attributes, chosen, self.settings.seed)
            if trial is not None:
                trials.append(trial)
                if trial.is_taken:
                    sort, found = cohort_tables(trial, names)
                    hidden.append(sort)
                    tables += found
        sorted_out = {each.subject.name for each in trials if each.is_taken}
        rest = [each for each in chosen if each.target.subject.name not in sorted_out]
        return tables + drafted_tables(finer.chosen(rest), self.settings.tables), trials, hidden

    def _nothing(self) -> ModelError:
        """The error where no column can be predicted, with a reason or two."""
        whys = [
            f"{table}.{column}: {sort.why}"
            for table, columns in self.schema.sorts.items()
            for column, sort in columns.items()
            if sort.kind == "left out"
        ]
        told = f" ({'; '.join(whys[:3])}{'; …' if len(whys) > 3 else ''})" if whys else ""
        return ModelError(
            f"{self.asker.place}: no column is left to predict or to learn from{told}; "
            "columns need two values or more, and twenty rows that have one"
        )

    def _around(self, names: GivenNames) -> Surroundings:
        schema = self.schema
        often = Counter(
            column.lower() for table in schema.tables.values() for column in table.columns
        )
        twice = frozenset(column for column, count in often.items() if count > 1)
        return Surroundings(
            schema.tables,
            schema.sorts,
            schema.keys,
            schema.links,
            self.asker,
            names,
            twice,
            self.settings.bins,
        )

    def _attributes(self, understood: Understanding, around: Surroundings) -> list[Attribute]:
        own, lists = OwnColumns(around), ListedValues(around)
        found = list(self._columns(understood, around))
        asked = _columns_of(self._asked(found, lenient=True))
        finer = [own.finer(each) for each in found if each.column in asked]
        found = [each if each.column in asked else own.telling(each) for each in found]
        found += [each for each in finer if each is not None and _is_finer(each)]
        for subject, link in self._belonging(understood):
            listed = lists.of(subject, link, asked)
            found += [replace(each, listed=link.table) for each in listed if each.size > 1]
        return found

    def _columns(self, understood: Understanding, around: Surroundings) -> Iterator[Attribute]:
        """What columns of subjects say, and whether these have a value."""
        own = OwnColumns(around)
        for subject in understood.subjects.values():
            columns = list(own.of(subject))
            yield from columns
            yield from own.known(columns)

    def _listed(
        self, understood: Understanding, around: Surroundings, asked: Sequence[Attribute]
    ) -> list[tuple[Candidate, DraftedDomain]]:
        """What lists say of those that something is asked about, all their values together."""
        items, columns = ListItems(around, ListedValues(around)), _columns_of(asked)
        subjects = {each.subject.name for each in asked}
        return [
            found
            for subject, link in self._belonging(understood)
            if subject.name in subjects
            for found in items.of(subject, link, columns)
        ]

    def _belonging(self, understood: Understanding) -> Iterator[tuple[DraftSubject, Link]]:
        """Links by which rows elsewhere belong to individuals."""
        for subject in understood.subjects.values():
            for link in self.schema.links:
                beside = link.table == subject.name or link.table in subject.sides
                if link.target == subject.name and not beside:
                    yield subject, link

    def _asked(self, attributes: Sequence[Attribute], lenient: bool = False) -> list[Attribute]:
        """What is to be predicted: what was named, else columns with gaps, else all columns.

        lenient: names may be those of attributes that come later.
        """
        columns = [each for each in attributes if each.column is not None]
        wanted = {each.lower(): each for each in self.settings.predict}
        if not wanted:
            gaps = [each for each in columns if each.gaps]
            return [each for each in gaps if not is_nearly_empty(each)] or gaps or columns
        found, met = [], set()
        for each in attributes:
            spoken = {each.name.lower()}
            if each.column is not None:
                spoken |= {each.column[1].lower(), ".".join(each.column).lower()}
            if spoken & set(wanted):
                found.append(each)
                met |= spoken
        for lower, name in wanted.items():
            if lower not in met and not lenient:
                raise self._not_predicted(name, attributes)
        return found

    def _not_predicted(self, name: str, attributes: Sequence[Attribute]) -> ModelError:
        """The error about a column that no relation was made of, or that is none."""
        schema = self.schema
        for table, sorts in schema.sorts.items():
            who = names_of(table, schema.keys[table].columns, schema.links)
            for column, sort in sorts.items():
                if name.lower() not in (column.lower(), f"{table}.{column}".lower()):
                    continue
                why = "nearly all of its numbers are the same"
                if column in who:
                    why = "it says who is who"
                elif sort.kind != "number":
                    why = sort.why
                return ModelError(f"{table}.{column} cannot be predicted: {why}")
        close = did_you_mean(name, [each.name for each in attributes])
        return ModelError(f"there is no column or relation '{name}' to predict{close}")


def _columns_of(attributes: Sequence[Attribute]) -> set[tuple[str, str]]:
    return {each.column for each in attributes if each.column is not None}
