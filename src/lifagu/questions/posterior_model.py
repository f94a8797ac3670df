"""The model that answers by posterior: cohorts and tables are hidden variables of it.

Before anything is observed, the cohort of an individual and its tables are to be as likely,
jointly, as the latent classes say. But tables need not be normalised together: those that happen to
fit each other would gain weight for no reason. So each combination of what is hidden behind a part
of an individual's own model is divided by what the part sums to under it (`own_parts`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import listed
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.joint_model import JointModel, Weights
from lifagu.filling.result import Transfer
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.table import SAFE
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer
from lifagu.questions.own_parts import CLOSE, MOST, ROUNDS, own_parts

NOTHING = 1e-13  # logs of weights below which all are the same, but for rounding


def posterior_graph(moved: Transfer) -> FactorGraph:
    """The graph to ask: variables of the model have their numbers, what is hidden comes after.

    Who was admitted has the tables and cohorts that are likely for it, whatever others have: each
    choice of its tables is divided by what that choice sums to, so that none is weighed by others.
    """
    if isinstance(moved, AdmittedTransfer):
        lent = [
            possible_model(each).graph if isinstance(each, CohortTransfer) else each.graph
            for each in moved.lent
        ]
        return moved.joined(posterior_graph(moved.base), lent)
    return posterior_model(moved).graph if isinstance(moved, CohortTransfer) else moved.graph


def posterior_model(moved: CohortTransfer) -> JointModel:
    """The joint model in which what is hidden is as likely as it should be."""
    return moved.joint.once(_normalised)


def possible_model(moved: CohortTransfer) -> JointModel:
    """The joint model as it is, without what sums to zero: for who is admitted, divided there."""
    return moved.joint.once(_without_impossible)


def posterior_notes(moved: Transfer) -> tuple[str, ...]:
    """What is to be said beside answers: of whom not all tables are as likely jointly as meant."""
    if isinstance(moved, AdmittedTransfer):
        return posterior_notes(moved.base)
    return _notes(posterior_model(moved)) if isinstance(moved, CohortTransfer) else ()


def _notes(joint: JointModel) -> tuple[str, ...]:
    names = joint.graph.variable_names.of_nodes
    notes = []
    if joint.single:
        what = listed(names(joint.first_variable + np.array(joint.single)), 3)
        how = f"by itself, to {CLOSE:g}, and not jointly"
        if joint.gap > CLOSE:
            how = f"to {joint.gap:.1g}, after {ROUNDS} rounds"
        notes.append(
            f"{what} have more than {MOST} combinations: before anything is observed, each table "
            f"is as likely as its share {how}"
        )
    if joint.left:
        what = listed(names(joint.first_variable + np.array(joint.left)), 3)
        notes.append(f"{what} are not weighed, as what they sum to does not fit into memory")
    return tuple(notes)


def _without_impossible(joint: JointModel) -> JointModel:
    graph = joint.graph
    numbers = np.unique(graph.factor_table[: joint.first_factor])
    tables = graph.tables
    values, _ = taken_lists(tables.offsets, tables.values, numbers[numbers >= 0])
    if not (values == 0).any():
        return joint
    return _weighed(joint, lambda logs: np.where(np.isfinite(logs), 0.0, -np.inf))


def _normalised(joint: JointModel) -> JointModel:
    return _weighed(joint, lambda logs: logs)


def _weighed(joint: JointModel, weigh: Callable[[Floats], Floats]) -> JointModel:
    """Weights by which what is hidden of an individual alone is as likely as it should be, jointly.

    One of a single choice goes into its prior; others are factors of their own.
    """
    prior, more, first = joint.prior.copy(), list[Weights](), np.ones(len(joint.hidden), np.bool_)
    single, gap, left = set[int](), 0.0, set[int]()
    for alike in own_parts(joint):
        found = alike.log_weights()
        hidden = alike.nodes[:, list(alike.choices)].reshape(-1)
        if found is None:
            left.update(hidden.tolist())
            continue
        if alike.is_fitted:
            single.update(hidden.tolist())
        gap = max(gap, found[1])
        for scope, logs in ((scope, weigh(logs)) for scope, logs in found[0]):
            varies = np.abs(logs).reshape(len(logs), -1).max(axis=1) > NOTHING
            some = varies[alike.like]
            choices, of = alike.nodes[some][:, list(scope)], alike.like[some]
            roots = _roots(logs[varies])
            weights = np.exp(logs / roots).reshape(len(logs), -1)
            if len(scope) == 1 and roots == 1:  # a choice may be behind several parts
                own = choices[:, 0]
                met = np.zeros(len(own), dtype=np.bool_)
                met[np.unique(own, return_index=True)[1]] = True
                met &= first[own]
                first[own] = False
                entries = joint.hidden.offsets[own[met]][:, None] + np.arange(weights.shape[1])
                prior[entries] *= weights[of[met]]
                choices, of = choices[~met], of[~met]
            if len(choices):
                more += [Weights(choices, weights, of)] * roots
    weighed = joint.weighed(prior, more)
    return replace(weighed, single=tuple(sorted(single)), gap=gap, left=tuple(sorted(left)))


def _roots(logs: Floats) -> int:
    """In how many equal factors weights are to be written down, so that floats hold each."""
    far = np.abs(logs[np.isfinite(logs)]).max(initial=0.0)
    return max(int(np.ceil(far / SAFE)), 1)
