"""Individuals for whom a condition on the database holds that their template was read from."""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints
from lifagu.basics.inputs import shown
from lifagu.errors import ModelError, Remedy
from lifagu.graph.factor_graph import FactorGraph
from lifagu.questions.statement import Statement
from lifagu.relational.grounding import ground_names


def variables_where(case: Statement, relation: str, condition: str) -> Ints:
    """The variables of a relation for whose first individual a condition in SQL holds, by number.

    Those who were added stand in no table, and are left out.
    """
    from lifagu.data.templates.individuals_where import individuals_where

    if not isinstance(condition, str):
        raise ModelError(f"where is a condition in SQL, not {shown(condition)}")
    loaded = case.opened.loaded(case.place)
    graph, template, source = loaded.model, loaded.template, loaded.source
    if not isinstance(graph, FactorGraph) or template is None or source is None:
        what = f"{case.opened.path or 'this model'} reads its individuals from no database, in"
        raise ModelError(f"{what} which {condition} could be looked up", remedy=Remedy.NO_WHERE)
    names = ground_names(graph)
    which = next((n for n, rows in enumerate(names.rows) if rows.prefix == relation), None)
    if which is None or not names.rows[which].domains:
        raise ModelError(
            f"{relation} is of no domain that a condition could be about", remedy=Remedy.NO_WHERE
        )
    rows = names.rows[which]
    domain = rows.domains[0]
    if domain.name not in template.domains:
        raise ModelError(
            f"the domain {domain.name} of {relation} is listed in the file and read from no table",
            remedy=Remedy.NO_WHERE,
        )
    case.place.progress.stage(f"looking up {condition}")
    found = case.opened.once(
        ("where", domain.name, condition),
        lambda: individuals_where(source, domain, template.domains[domain.name], condition),
    )
    return names.start(1 + which) + np.flatnonzero(np.isin(rows.rows[:, 0], found))
