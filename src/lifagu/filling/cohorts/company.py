"""In whose company a factor stands: the individuals it lists beside its owner, such as a drug.

Factors in equal places may be told apart by it: what a drug does to a patient depends on the drug.
Whether that helps is asked of their tables: by company they must be more probable than all alike.
"""

from __future__ import annotations

import numpy as np

from lifagu.basics.arrays import Ints, by_first_occurrence, group_lists, members, owners
from lifagu.basics.log_gamma import log_evidence
from lifagu.filling.individuals import factor_owners
from lifagu.graph.assembly import taken_lists
from lifagu.graph.factor_graph import FactorGraph

FEWEST = 5  # known factors in the company of everybody in whose company there are holes
MOST_CELLS = 2**22  # of the table of companies and tables


def company(graph: FactorGraph) -> Ints:
    """Factors that list the same individuals beside their owner, numbered alike."""
    factor = owners(graph.offsets)
    ids, _ = taken_lists(graph.individual_offsets, graph.individual_ids, graph.arguments)
    lengths = np.diff(graph.individual_offsets)[graph.arguments]
    of = np.repeat(factor, lengths)
    others = np.unique(np.column_stack((of, ids))[ids != factor_owners(graph)[of]], axis=0)
    many = np.bincount(others[:, 0], minlength=len(graph.factor_names))
    return group_lists(np.concatenate(([0], np.cumsum(many))), others[:, 1])


def by_company(factors: Ints, company: Ints, tables: Ints) -> list[Ints]:
    """The factors of a place, told apart by their company where their tables ask for it.

    company, tables: of all factors, equal numbers for equal ones, tables -1 where unknown.
    """
    whose = by_first_occurrence(company[factors])
    count = int(whose.max(initial=-1)) + 1
    known = tables[factors] >= 0
    many = np.bincount(whose[known], minlength=count)
    with_holes = np.bincount(whose[~known], minlength=count) > 0
    if count < 2 or not with_holes.any() or many[with_holes].min() < FEWEST:
        return [factors]
    table = by_first_occurrence(tables[factors[known]])
    different = int(table.max(initial=-1)) + 1
    if different < 2 or count * different > MOST_CELLS:
        return [factors]
    cells = np.bincount(whose[known] * different + table, minlength=count * different)
    counts = cells.reshape(count, 1, different).astype(np.float64)
    usual = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * different)
    gain = log_evidence(counts, usual).sum() - log_evidence(counts.sum(axis=0), usual)
    return [factors[rows] for rows in members(whose)] if gain > 0 else [factors]
