"""From a template and its database to a graph, evidence and questions, all of one state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lifagu.basics.progress import Announce
from lifagu.data.databases import Database, opened
from lifagu.data.snapshots import until_settled
from lifagu.data.templates.constants import queried_domain
from lifagu.data.templates.counted_tables import counted_rows, untold_relations
from lifagu.data.templates.evidence_from_queries import Observer
from lifagu.data.templates.factors_from_queries import ReadRows, RowReader
from lifagu.data.templates.grouped_tables import told_tables
from lifagu.data.templates.numbers_as_evidence import RangeFinder
from lifagu.errors import FormatError, ModelError
from lifagu.relational.finer_bins import within_coarse
from lifagu.relational.grounding import ground_rows
from lifagu.relational.learned_graphs import LearnedFactors, to_be_learned, with_task
from lifagu.relational.learned_tables import with_tables
from lifagu.relational.learning_task import LearnedModel
from lifagu.relational.loaded import Loaded
from lifagu.relational.parfactor_graph import ParfactorGraph, collecting_later
from lifagu.relational.source import Source
from lifagu.relational.template import HiddenCells, Template


def load_template(
    template: Template,
    source: Source | None = None,
    progress: Announce | None = None,
    hidden: HiddenCells | None = None,
) -> Loaded:
    """Read everything a template asks for; source: another one than it names.

    progress(text): what is being read. hidden: cells in which nothing is counted and of which
    no bins are made; as evidence they stay. Near-linear; rows come in batches and become integers
    at once.
    """

    def attempt() -> Loaded:
        with opened(source or template.source) as database, collecting_later():
            try:
                return _loaded(template, database, progress or _nothing, hidden or {})
            except ModelError as error:
                raise FormatError(f"{template.place}: {error}") from None

    return until_settled(attempt)


def _loaded(
    template: Template, database: Database, progress: Announce, hidden: HiddenCells
) -> Loaded:
    domains = {
        name: queried_domain(name, query, database, progress)
        for name, query in template.domains.items()
    }
    every = {**template.given_domains, **domains}
    finder = RangeFinder(template, database, progress, every, hidden)
    model = template.model(domains, finder.found())
    reader = RowReader(template, model, database, progress)
    within = [number for number, each in template.parfactors.items() if each.is_within]
    read = {
        number: reader.rows_of(number, each)
        for number, each in template.parfactors.items()
        if number not in within
    }
    if within:
        listed = {number: each.listed for number, each in read.items()}
        others = [number for number in range(len(model.bound)) if number not in within]
        read |= {each: ReadRows(within_coarse(model, each, listed, others)) for each in within}
    progress("the graph")
    graph = ground_rows(model, {number: each.listed for number, each in read.items()})
    observer = Observer(reader, graph, finder.numbers)
    seen = observer.evidence()
    counted = {
        number: (read[number].listed, read[number].levels)
        for number, each in template.parfactors.items()
        if each.counts_evidence
    }
    if counted:
        before = Loaded(graph, graph.observations(seen), template=template)
        told = {number: each.listed for number, each in read.items()}
        graph = ground_rows(model, {**told, **counted_rows(before, model, counted, hidden)})
    evidence = graph.observations(seen)
    loaded = Loaded(
        graph,
        evidence,
        observer.asked(),
        template=template,
        untold=untold_relations(template, model),
        warnings=template.warnings,
    )
    loaded = _with_conditions(loaded, template, model, read)
    wanted = [
        LearnedFactors(number, each.place, each.learn.given, read[number].levels)
        for number, each in template.parfactors.items()
        if each.learn
    ]
    return to_be_learned(loaded, model, wanted, hidden) if wanted else loaded


def _with_conditions(
    loaded: Loaded, template: Template, model: ParfactorGraph, read: Mapping[int, ReadRows]
) -> Loaded:
    """What was loaded, with literal tables that depend on what was observed put in."""
    told = {
        number: each.grouped
        for number, each in template.parfactors.items()
        if each.grouped and each.grouped.conditions
    }
    if not told:
        return loaded
    wanted = [
        LearnedFactors(number, each.place, (), read[number].levels) for number, each in told.items()
    ]
    task = with_task(loaded, model, wanted, {})
    found = [
        told_tables(each, model.bound[number].name, model.bound[number].shape, read[number].levels)
        for number, each in told.items()
    ]
    learned = LearnedModel(tuple(found))
    filled = with_tables(task, learned).model
    return replace(loaded, model=filled, learned=learned, unlearned=task)


def _nothing(_: str) -> None:
    pass
