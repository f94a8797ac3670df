"""The model that answers by posterior: cohorts and tables are hidden variables of it.

Before anything is observed, every cohort and every table is to be as likely as other tables say
(`HiddenChoices.shares`). But tables need not be normalised together: a cohort whose tables happen
to fit each other would gain weight for no reason. So each is weighed by what makes it as likely as
it should be where its individual is alone: first the tables given cohorts, then the cohorts.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.errors import NoAnswerError, TooLargeError
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.joint_model import JointModel
from lifagu.filling.result import Transfer
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.barren_factors import without_barren
from lifagu.inference.marginals import prepare_marginals
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer


def posterior_graph(moved: Transfer) -> FactorGraph:
    """The graph to ask: variables of the model have their numbers, what is hidden comes after.

    Who was admitted has the tables and cohorts that are likely for it, whatever others have: each
    choice of its tables is divided by what that choice sums to, so that none is weighed by others.
    """
    if isinstance(moved, AdmittedTransfer):
        lent = [
            each.joint.graph if isinstance(each, CohortTransfer) else each.graph
            for each in moved.lent
        ]
        return moved.joined(posterior_graph(moved.base), lent)
    return posterior_model(moved).graph if isinstance(moved, CohortTransfer) else moved.graph


def posterior_model(moved: CohortTransfer) -> JointModel:
    """The joint model in which what is hidden is as likely as it should be."""
    return moved.joint.once(_normalised)


def _normalised(joint: JointModel) -> JointModel:
    cohorts = int(joint.cohorts.offsets[-1])
    for weighed in (slice(cohorts, None), slice(0, cohorts)):
        if len(joint.prior[weighed]):
            prior = joint.prior.copy()
            prior[weighed] *= (joint.hidden.shares / _alone(joint))[weighed]
            joint = joint.weighed(prior)
    return joint


def _alone(joint: JointModel) -> Floats:
    """How likely each choice is where its individual is alone; as it should be if nobody knows.

    That is where factors stay unknown, or where even one individual does not fit into memory.
    """
    graph, variables = joint.alone()
    shares = joint.hidden.shares
    try:  # tables that are conditional say nothing of what is hidden, and are left out first
        found = prepare_marginals(without_barren(graph, variables)).run()
    except (NoAnswerError, TooLargeError):  # impossible, as it says when asked; or it does not fit
        return shares
    marginals, sizes = found.solution.marginals, joint.hidden.sizes
    known = np.repeat(marginals.of_variable[variables] >= 0, sizes)
    flat = np.exp(marginals.in_a_row(variables, joint.hidden.offsets))
    return np.where(known & (flat > 0), flat, np.where(shares > 0, shares, 1.0))
