"""How far each table may go: penalised fits, and a scale for each table, told by the data itself.

A block of parameters has a normal prior around 0 (deviations: around the level above) with
precision λ. Each λ is set to effective parameters over their squares, as MacKay's evidence
procedure has it (Neural Computation 4, 1992), drawn a little to that of its family, so that tables
of which little is known follow the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.learning.composite import Composite
from lifagu.learning.covariances import covariance, square_root, telling
from lifagu.learning.minimising import dot, minimise
from lifagu.learning.parameters import Block, Parameters

MAIN = 0.01  # main effects are hardly held back
JOINT, LEVEL = 8.0, 1.5  # where interactions and deviations begin
FIRST, LATER, ROUNDS = 60, 25, 6  # steps of the first fit and of each further round
OWN, LABEL = 0.5, 3.0  # how strongly a table is drawn to its family, a label to its relation
DAMPING = 0.1  # of the preconditioner
ASKED = "asked"  # the family of tables among what is asked

Heard = Callable[[int, float], None]  # told after each step: how many there were, the loss a cell


@dataclass(frozen=True, eq=False)
class ScaledFit:
    """Parameters, the penalty of each, and how many of each block the data decide upon.

    mixings: how parameters are mixed, as `Parameters.mixed` has it.
    """

    vector: Floats
    penalty: Floats
    effective: Floats
    mixings: Floats


@dataclass(frozen=True)
class Multipliers:
    """Penalties of interactions, of those with what is not asked, and of groups, in proportion."""

    joint: float = 4.0
    condition: float = 1.5
    level: float = 0.7


def fitted(
    composite: Composite, penalty: Floats, start: Floats, steps: int, heard: Heard | None = None
) -> Floats:
    """The parameters with the least penalised loss; so many steps of L-BFGS, preconditioned."""

    def penalised(vector: Floats) -> tuple[float, Floats]:
        loss, gradient = composite.value_and_gradient(vector)
        return loss + dot(penalty, vector * vector) / 2, gradient + penalty * vector

    def tell(step: int, value: float) -> None:
        if heard is not None:
            heard(step, value / max(composite.count, 1))

    scale = np.sqrt(composite.curvature(start) + penalty + DAMPING)
    return minimise(penalised, start, scale=scale, iterations=steps, progress=tell).point


def first_fit(composite: Composite, heard: Heard | None = None) -> ScaledFit:
    """A fit with the same penalty for all tables."""
    parameters = composite.parameters
    penalty = usual_penalty(parameters)
    vector = fitted(composite, penalty, np.zeros(parameters.size), FIRST, heard)
    return ScaledFit(vector, penalty, np.zeros(len(parameters.blocks)), np.zeros(0))


def usual_penalty(parameters: Parameters) -> Floats:
    """The same penalty for all interactions, and for all deviations."""
    penalty = np.full(parameters.size, MAIN)
    for block in parameters.blocks:
        if block.kind != "main":
            penalty[block.start : block.stop] = JOINT if block.kind == "joint" else LEVEL
    return penalty


def next_round(composite: Composite, fit: ScaledFit, heard: Heard | None = None) -> ScaledFit:
    """Scales told by a fit, and the fit with these."""
    composite = composite.mixed(fit.mixings)
    rescaled = with_covariances(composite, with_scales(composite, fit))
    mixed = composite.mixed(rescaled.mixings)
    vector = fitted(mixed, rescaled.penalty, rescaled.vector, LATER, heard)
    return replace(rescaled, vector=vector)


def with_scales(composite: Composite, fit: ScaledFit) -> ScaledFit:
    """The same parameters, and the penalties that they tell."""
    parameters = composite.parameters
    curved = composite.curvature(fit.vector)
    decided = curved / (curved + fit.penalty)
    squares = fit.vector * fit.vector
    penalty = fit.penalty.copy()
    effective = np.array(
        [
            float(decided[block.start : block.stop].sum()) * _gauge(block)
            for block in parameters.blocks
        ]
    )
    families: dict[object, list[int]] = {}
    for place, block in enumerate(parameters.blocks):
        if block.kind == "joint":
            families.setdefault(family(parameters, block), []).append(place)
        elif block.kind == "level":
            penalty[block.start : block.stop] = _of_level(block, decided, squares)
    for places in families.values():
        blocks = [parameters.blocks[place] for place in places]
        sizes = np.array([float(squares[block.start : block.stop].sum()) for block in blocks])
        usual = (effective[places].sum() + 1) / (sizes.sum() + 0.1)
        own = np.clip((effective[places] + OWN) / (sizes + OWN / usual), 0.3, 2000.0)
        for block, each in zip(blocks, own.tolist(), strict=True):
            penalty[block.start : block.stop] = each
    return replace(fit, penalty=penalty, effective=effective)


def with_covariances(composite: Composite, fit: ScaledFit) -> ScaledFit:
    """The same deviations, mixed in such a way that those of a group's labels are independent."""
    blocks = [block for block in composite.parameters.blocks if block.is_mixable]
    if not blocks:
        return fit
    vector, penalty, mixings = fit.vector.copy(), fit.penalty.copy(), list[Floats]()
    counts, slopes = composite.expected(vector)
    for block in blocks:
        deviations, size = block.logs(vector), block.shape[1]
        (mixing,) = block.mixings or (None,)
        mixing = np.eye(size) if mixing is None else mixing
        told = telling(block.of(counts))
        if not len(told):
            mixings.append(mixing)
            continue
        before = mixing.T / block.of(penalty)[0] @ mixing
        after = covariance(deviations[told], block.of(counts)[told], block.of(slopes)[told], before)
        usual = float(np.trace(after)) / size
        mixings.append(square_root(after / usual))
        block.of(vector)[:] = np.linalg.solve(mixings[-1], deviations.T).T
        block.of(penalty)[:] = 1 / usual
    flat = np.concatenate([each.reshape(-1) for each in mixings])
    return replace(fit, vector=vector, penalty=penalty, mixings=flat)


def _of_level(block: Block, decided: Floats, squares: Floats) -> Floats:
    """The penalties of groups' deviations: label by label where the table has one argument."""
    shape = (block.shape[0], math.prod(block.shape[1:]))
    many = decided[block.start : block.stop].reshape(shape).sum(axis=0) * _gauge(block)
    size = squares[block.start : block.stop].reshape(shape).sum(axis=0)
    usual = (many.sum() + 1) / (size.sum() + 0.5)
    if len(block.axes) > 1:
        return np.full(block.stop - block.start, np.clip(usual, 0.1, 2000.0))
    own = np.clip((many + LABEL) / (size + LABEL / usual), 0.1, 50.0)
    return np.broadcast_to(own, block.shape).reshape(-1)


def _gauge(block: Block) -> float:
    """The share of a block's parameters that main effects cannot take over."""
    return float(np.prod([(size - 1) / size for size in block.shape[1:]]))


def family(parameters: Parameters, block: Block) -> object:
    """Which tables have scales alike: those among what is asked, and those about each asked one."""
    task = parameters.task
    relations = {slot.relation for slot in task.tables[block.table].slots}
    return ASKED if relations <= task.asked else tuple(sorted(relations & task.asked))


def multiplied(parameters: Parameters, penalty: Floats, by: Multipliers) -> Floats:
    """Penalties in other proportions."""
    found = penalty.copy()
    for block in parameters.blocks:
        if block.kind != "main":
            found[block.start : block.stop] *= getattr(by, _multiplier(parameters, block))
    return found


def multiplied_kinds(parameters: Parameters) -> set[str]:
    """Which multipliers matter."""
    return {_multiplier(parameters, block) for block in parameters.blocks if block.kind != "main"}


def _multiplier(parameters: Parameters, block: Block) -> str:
    if block.kind == "level":
        return "level"
    return "joint" if family(parameters, block) == ASKED else "condition"
