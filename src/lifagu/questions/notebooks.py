"""Values as HTML for notebooks: complete in itself, every name escaped, figures while small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from itertools import islice, product
from typing import Any

import numpy as np

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.columns import ResultTable, row_count
from lifagu.basics.words import percent
from lifagu.drawing.graphs import letters
from lifagu.drawing.labels import clean
from lifagu.drawing.scene import Scene
from lifagu.drawing.svg import to_svg
from lifagu.filling.chance import GUESS, SURER
from lifagu.filling.record import Record
from lifagu.filling.result import Transfer
from lifagu.graph.factor_graph import Colouring, FactorGraph
from lifagu.graph.views import View
from lifagu.inference.answer import Answer
from lifagu.inference.marginals import AllMarginals
from lifagu.inference.most_probable import Best
from lifagu.inference.prepared import Result
from lifagu.inference.relational.marginals import ClassMarginals
from lifagu.inference.relational.most_probable import RelationalBest
from lifagu.questions.belief_propagation import BeliefMarginals
from lifagu.questions.cards.card import Card
from lifagu.questions.case import Case
from lifagu.questions.comparing.changes import Changes
from lifagu.questions.competing_tables import resting_on_words
from lifagu.questions.figures import draw
from lifagu.questions.findings import Groups, Imputed, Lift, Requested
from lifagu.questions.learning import Learning
from lifagu.questions.relation_answer import RelationAnswer
from lifagu.questions.scenarios import SideBySide
from lifagu.questions.validating.result import Validation
from lifagu.relational.parfactor_graph import ParfactorGraph

MOST_NODES = 80  # of a figure
MOST_ROWS = 10
MOST_MEMBERS = 6
MOST_CELLS = 40  # known, and predicted, of one individual
Row = tuple[str, ...]
BAR = 120  # pixels of probability 1


@singledispatch
def html(value: Any) -> str:
    """A value as HTML; what is not known here is a plan, which is text."""
    return f"<pre>{_safe(str(value))}</pre>"


@html.register
def _(value: Scene) -> str:
    return to_svg(value)


@html.register
def _(value: FactorGraph) -> str:
    factors = [
        (
            factor.name,
            ", ".join(factor.arguments),
            "unknown" if factor.table is None else _potentials(factor.table),
        )
        for factor in value.factors[:MOST_ROWS]
    ]
    table = _table(("factor", "arguments", "potentials"), factors, len(value.factor_names))
    return _headed(
        value, _figure(value, len(value.variable_names) + len(value.factor_names)), table
    )


@html.register
def _(value: Case) -> str:
    given = value.opened.given
    shown = "" if given is None else html(given.model)
    return f"<p>{_safe(repr(value)[1:-1])}</p>{shown}"


@html.register
def _(value: Lift) -> str:
    rows = [
        (
            each.factors,
            str(each.count),
            each.takes,
            f"{each.lowest_share:.3g}" + (f": {GUESS}" if each.guesses else ""),
        )
        for each in value.lent[:MOST_ROWS]
    ]
    left = [(each.factors, str(each.count), "–", each.reason) for each in value.left[:MOST_ROWS]]
    header = ("lent to", "factors", "what", "share")
    table = _table(header, [*rows, *left], len(value.lent) + len(value.left)) if rows + left else ""
    answers = html(value.marginals) if isinstance(value, Imputed) else ""
    return _headed(value, table, answers)


@html.register
def _(value: Transfer) -> str:
    rows = list(map(_told, value.record[:MOST_ROWS]))
    table = _table(("factor", "takes", "reason"), rows, len(value.record))
    return _headed(
        value,
        _figure(value, len(value.original.variable_names) + len(value.original.factor_names)),
        table,
    )


@html.register
def _(value: Record) -> str:
    return _table(("factor", "takes", "reason"), [_told(value)], 1)


@html.register
def _(value: View) -> str:  # type: ignore[type-arg]
    first = value[:MOST_ROWS]
    if first and all(isinstance(each, Record) for each in first):
        return _table(("factor", "takes", "reason"), list(map(_told, first)), len(value))
    return _table((), [(repr(each)[1:-1],) for each in first], len(value))


def _told(record: Record) -> Row:
    return record.factor, record.takes or "–", record.reason


@html.register
def _(value: Validation) -> str:
    scored = value.json()["relations"]
    rows = [
        (name, f"{each['hidden']:,}", f"{each['log_loss']:.3f}", f"{each['accuracy']:.3f}")
        for name, each in islice(scored.items(), MOST_ROWS)
    ]
    table = _table(("relation", "hidden", "log loss", "accuracy"), rows, len(scored))
    return _headed(value, table, f"<p>{_safe(value.judgement())}</p>")


@html.register
def _(value: Learning) -> str:
    tables = value.model.tables
    rows = [
        (each.name, each.method, f"{each.records.sum():,.0f}", f"{each.loss_without or 0:.4f}")
        for each in tables[:MOST_ROWS]
    ]
    header = ("table", "learned by", "records", "lost without it")
    return _headed(value, _table(header, rows, len(tables)))


@html.register
def _(value: ResultTable) -> str:
    first = zip(*(column[:MOST_ROWS] for column in value.values()), strict=True)
    rows = [tuple("" if each is None else str(each) for each in row) for row in first]
    return _table(tuple(value), rows, row_count(value))


@html.register
def _(value: SideBySide) -> str:
    as_it_is, *others = value
    first = value.probabilities(as_it_is)
    sides = [(value.probabilities(each), value.differences(each)) for each in others]
    rows = [
        (
            ", ".join(key) if isinstance(key, tuple) else str(key),
            f"{share:.4g}",
            *(
                cell
                for after, points in sides
                for cell in (
                    (f"{after[key]:.4g}", f"{points[key]:+.2f}") if key in after else ("–", "")
                )
            ),
        )
        for key, share in islice(first.items(), MOST_ROWS)
    ]
    compared = f"P({value.value})" if value.value else ""
    titles = [title for each in others for title in (each, "points")]
    return _headed(value, _table((compared, as_it_is, *titles), rows, len(first)))


@html.register
def _(value: ParfactorGraph) -> str:
    part = value.ground_part
    nodes = (
        len(value.relations)
        + len(value.parfactors)
        + len(part.variable_names)
        + len(part.factor_names)
    )
    return _headed(value, _figure(value, nodes), _in_words(value))


@html.register
def _(value: Groups) -> str:
    shown = value.largest[:MOST_ROWS]
    rows = [(each.sort, f"{each.size:,}", _some(each.members, each.size)) for each in shown]
    table = _table(("", "size", "members"), rows, value.variables + value.factors)
    return _headed(value, table)


def _some(members: Sequence[str], size: int) -> str:
    first = ", ".join(members[:MOST_MEMBERS])
    return f"{first}, …" if size > MOST_MEMBERS else first


@html.register
def _(value: Colouring) -> str:
    rows = [
        *_groups("variables", value.variable_colours, value.variable_groups, str),
        *_groups("factors", value.factor_colours, value.factor_groups, letters),
    ]
    return _headed(value, _table(("", "group", "size", "numbers"), rows, len(rows)))


@html.register
def _(value: Answer) -> str:
    shown = [(each, value[each]) for each in islice(product(*value.ranges), MOST_ROWS)]
    rows = [(*labels, f"{probability:.6g}", _Bar(probability)) for labels, probability in shown]
    header = [*value.variables, "probability", ""]
    if value.lower is not None and value.upper is not None:
        limits = zip(
            value.lower.reshape(-1).tolist(), value.upper.reshape(-1).tolist(), strict=True
        )
        rows = [
            (*row, f"{low:.6g} to {high:.6g}")
            for row, (low, high) in zip(rows, limits, strict=False)
        ]
        header.append("bounds")
    elif value.error is not None:
        errors = value.error.reshape(-1).tolist()
        rows = [(*row, f"± {error:.2g}") for row, error in zip(rows, errors, strict=False)]
        header.append("standard error")
    remarks = [*value.notes, *(f"warning: {each}; {SURER}" for each in value.warnings)]
    if value.rests_on:
        names = ", ".join(value.rests_on[:MOST_MEMBERS]) + (
            ", …" if len(value.rests_on) > MOST_MEMBERS else ""
        )
        remarks.insert(0, f"{resting_on_words(value)}: {names}")
    return _table(header, rows, value.log_probabilities.size) + "".join(
        f"<p>{_safe(each)}</p>" for each in remarks
    )


@html.register
def _(value: Result) -> str:
    return "".join(map(html, value.answers[:MOST_ROWS]))


@html.register(AllMarginals)
@html.register(BeliefMarginals)
@html.register(Requested)
def _(value: Mapping[str, Mapping[str, float]]) -> str:
    return _marginals(((name, value[name]) for name in value), len(value))


@html.register
def _(value: ClassMarginals) -> str:
    return _marginals(
        ((each.members, each.probabilities) for each in value.classes), len(value.classes)
    )


@html.register
def _(value: RelationAnswer) -> str:
    label = value.value or value.checked()
    labels = value.labels if len(value.labels) <= MOST_MEMBERS else (label,)
    rows = [
        (
            name,
            *(f"{shares[each]:.4g}" if each in shares else "–" for each in labels),
            _Bar(shares.get(label, 0.0)),
            "observed" if seen else "",
        )
        for (name, shares), seen in islice(
            zip(value.items(), value.observed, strict=True), MOST_ROWS
        )
    ]
    header = ("", *(f"P({each})" for each in labels), "", "")
    return _headed(value, _table(header, rows, len(value)))


@html.register(Best)
@html.register(RelationalBest)
def _(value: Best | RelationalBest) -> str:
    assignment = value.assignment
    table = _table(
        ("variable", "value"), list(islice(assignment.items(), MOST_ROWS)), len(assignment)
    )
    return f"<p>log weight {value.log_weight:.10g}</p>{table}"


@html.register
def _(value: Card) -> str:
    known = [
        (each.variable, each.value, "" if each.share is None else f"{each.share:.0%}")
        for each in value.known[:MOST_CELLS]
    ]
    predicted = [
        (each.variable, each.labels[0], percent(each.probabilities[0]), _Bar(each.probabilities[0]))
        for each in value.predicted[:MOST_CELLS]
        if each.labels
    ]
    tables = [
        _table(("known", "", "as many have it"), known, len(value.known)),
        _table(("predicted", "", "", ""), predicted, len(value.predicted)),
    ]
    return _headed(value, *tables, _in_words(value))


@html.register
def _(value: Changes) -> str:
    rows = [
        (
            each.variable,
            each.top_before,
            each.top_after,
            f"{each.distance:.3f}",
            _Bar(each.distance),
        )
        for each in value.answers[:MOST_ROWS]
    ]
    table = _table(("answer", "before", "after", "change", ""), rows, value.changed)
    return _headed(value, table, _in_words(value))


class _Bar(float):
    """A probability to be shown as a bar."""


def _marginals(named: Iterable[tuple[str, Mapping[str, float]]], total: int) -> str:
    """One row per variable or class: its labels with bars."""
    rows = [
        (
            name,
            *(
                cell
                for label, value in shares.items()
                for cell in (f"{label} {value:.4g}", _Bar(value))
            ),
        )
        for name, shares in islice(named, MOST_ROWS)
    ]
    return _table((), rows, total)


def _groups(
    sort: str, colours: Ints, groups: Sequence[Ints], sign: Callable[[int], str]
) -> list[Row]:
    """Rows for the largest groups of one sort: sign, size and first members."""
    sizes = np.bincount(colours)
    rows: list[Row] = []
    for number in np.argsort(-sizes, kind="stable")[:MOST_ROWS].tolist():
        first = ", ".join(map(str, groups[number][:MOST_MEMBERS].tolist()))
        rest = ", …" if sizes[number] > MOST_MEMBERS else ""
        rows.append((sort, sign(number + 1), f"{sizes[number]:,}", first + rest))
    return rows + (
        [(sort, "…", f"{len(sizes) - MOST_ROWS:,} more groups", "")]
        if len(sizes) > MOST_ROWS
        else []
    )


def _figure(model: FactorGraph | ParfactorGraph | Transfer, nodes: int) -> str:
    return f"<div>{to_svg(draw(model))}</div>" if 0 < nodes <= MOST_NODES else ""


def _in_words(value: Any) -> str:
    return f"<details><summary>in words</summary><pre>{_safe(str(value))}</pre></details>"


def _headed(value: Any, *parts: str) -> str:
    return f"<p>{_safe(repr(value)[1:-1])}</p>{''.join(parts)}"


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]], total: int) -> str:
    """A table, with a last line that says how many rows are left out."""
    head = f"<tr>{''.join(f'<th>{_safe(each)}</th>' for each in header)}</tr>" if header else ""
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    wide = max([len(header), *map(len, rows)], default=1)
    more = (
        f"<tr><td colspan={wide}>… and {total - len(rows):,} more</td></tr>"
        if total > len(rows)
        else ""
    )
    return f"<table>{head}{body}{more}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, _Bar):
        bar = f'<div style="width:{BAR * value:.1f}px;height:0.8em;background:#0072b2"></div>'
        return f'<td style="min-width:{BAR}px;text-align:left">{bar}</td>'
    return f"<td>{_safe(value)}</td>"


def _potentials(table: Floats) -> str:
    shown = ", ".join(f"{value:.4g}" for value in table.reshape(-1)[:8])
    return shown + (", …" if table.size > 8 else "")


def _safe(text: str) -> str:
    """Text for HTML, line by line without what cannot be shown."""
    return escape("\n".join(map(clean, text.split("\n"))))
