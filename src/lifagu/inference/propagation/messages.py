"""Messages in log space: a sweep of updates, what variables hear, and Bethe's log Z.

A message is a column of values × edges, its largest entry 0; -inf is a probability of zero. No
operation makes nan: zeros are counted apart from the sums, so that one of them can be taken out
again, and 0·(-inf) is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lifagu.basics.arrays import Floats
from lifagu.inference.propagation.compressed import Compressed, MessageBlock, Pool
from lifagu.inference.table import log_sum

# by range size: log messages from factors to variables, values × edges of its pool
Messages = dict[int, Floats]


@dataclass(frozen=True, eq=False)
class Heard:
    """What the g groups of a pool hear: sums[r×g] of finite logs, and how many zeros[r×g]."""

    sums: Floats
    zeros: Floats

    def logs(self) -> Floats:
        """Unnormalised log beliefs, r×g."""
        return np.where(self.zeros > 0, -np.inf, self.sums)


def uniform(compressed: Compressed) -> Messages:
    """The messages at the start: every value is as good as any other."""
    return {size: np.zeros((size, len(pool.edge_group))) for size, pool in compressed.pools.items()}


def hear(compressed: Compressed, messages: Messages) -> dict[int, Heard]:
    """Evidence and messages multiplied per variable group, to the power of their counts. O(e)."""
    return {size: _heard(pool, messages[size]) for size, pool in compressed.pools.items()}


def _heard(pool: Pool, messages: Floats) -> Heard:
    sums, zeros = _finite(pool.evidence), np.isneginf(pool.evidence).astype(np.float64)
    for value, message in enumerate(messages):
        count = len(pool.groups)
        sums[value] += np.bincount(
            pool.edge_group, pool.edge_count * _finite(message), minlength=count
        )
        zero = np.flatnonzero(np.isneginf(message))
        zeros[value] += np.bincount(pool.edge_group[zero], pool.edge_count[zero], minlength=count)
    return Heard(sums, zeros)


def _finite(logs: Floats) -> Floats:
    return np.where(np.isneginf(logs), 0.0, logs)


def arriving(
    compressed: Compressed,
    block: MessageBlock,
    columns: slice,
    messages: Messages,
    heard: dict[int, Heard],
) -> list[Floats]:
    """Messages from variables to factor groups, per position sj × (how many), less their own."""
    result = []
    for position, size in enumerate(block.shape):
        edges = block.edges(position, columns)
        group, own = compressed.pools[size].edge_group[edges], messages[size][:, edges]
        zero = np.isneginf(own)
        others = heard[size].zeros[:, group] > zero  # the factor's own zero, once, does not count
        result.append(
            normalised(
                np.where(others, -np.inf, heard[size].sums[:, group] - np.where(zero, 0.0, own))
            )
        )
    return result


def leaving(block: MessageBlock, columns: slice, incoming: list[Floats]) -> list[Floats]:
    """Messages from factor groups to variables, per position sj × (how many, or 1 if all equal)."""
    tables = block.tables(columns)
    spread = [_on_axis(message, axis, len(incoming)) for axis, message in enumerate(incoming)]
    result = []
    for position in range(len(incoming)):
        joint = tables
        for axis, message in enumerate(spread):
            joint = joint if axis == position else joint + message
        others = tuple(axis for axis in range(len(incoming)) if axis != position)
        result.append(normalised(log_sum(joint, axis=others) if others else joint))
    return result


def _on_axis(message: Floats, axis: int, arity: int) -> Floats:
    """A message of values × columns with its values on one of `arity` axes, columns last."""
    shape = [1] * arity + [message.shape[1]]
    shape[axis] = message.shape[0]
    return message.reshape(shape)


def normalised(logs: Floats) -> Floats:
    """Columns shifted so that their largest entry is 0; a column of -inf stays as it is."""
    highest = logs.max(axis=0, keepdims=True)
    return logs - _finite(highest)


def parallel_sweep(
    compressed: Compressed,
    messages: Messages,
    heard: dict[int, Heard],
    damping: float,
    live: bool = False,
) -> tuple[Messages, float]:
    """Every message anew from the old ones ("flooding"), and the largest change; no edge loop.

    live: only those of factors between which news still travel; others stay as they are.
    """
    new = {size: old.copy() if live else np.empty_like(old) for size, old in messages.items()}
    residual = 0.0
    for block in compressed.blocks:
        for columns in block.passes(live):
            incoming = arriving(compressed, block, columns, messages, heard)
            for position, message in enumerate(leaving(block, columns, incoming)):
                size, edges = block.shape[position], block.edges(position, columns)
                residual = max(residual, _change(message, messages[size][:, edges]))
                new[size][:, edges] = message
    return {size: _damped(new[size], old, damping) for size, old in messages.items()}, residual


def sequential_sweep(
    compressed: Compressed, messages: Messages, heard: dict[int, Heard], damping: float
) -> tuple[Messages, float]:
    """Factor groups in order, each using the newest messages; a Python loop over groups."""
    messages = {size: old.copy() for size, old in messages.items()}
    # kept up to date below
    heard = {size: Heard(each.sums.copy(), each.zeros.copy()) for size, each in heard.items()}
    residual = 0.0
    for number, column in compressed.factor_place.tolist():
        block, columns = compressed.blocks[number], slice(column, column + 1)
        incoming = arriving(compressed, block, columns, messages, heard)
        for position, message in enumerate(leaving(block, columns, incoming)):
            size, edge = block.shape[position], block.starts[position] + column
            pool, old = compressed.pools[size], messages[size][:, edge].copy()
            residual = max(residual, _change(message[:, 0], old))
            new = messages[size][:, edge] = _damped(message[:, 0], old, damping)
            group, count = pool.edge_group[edge], pool.edge_count[edge]
            heard[size].sums[:, group] += count * (_finite(new) - _finite(old))
            heard[size].zeros[:, group] += count * (np.isneginf(new) * 1.0 - np.isneginf(old))
    return messages, residual


SWEEPS = {"parallel": parallel_sweep, "sequential": sequential_sweep}


def _damped(new: Floats, old: Floats, damping: float) -> Floats:
    """A weighted geometric mean of new and old; zeros come at once, as they never go."""
    return normalised((1 - damping) * new + damping * old) if damping else new


def _change(new: Floats, old: Floats) -> float:
    """The largest difference of logs; inf where a zero is new."""
    with np.errstate(invalid="ignore"):
        difference = np.abs(new - old)  # nan where both are -inf: fmax passes over it
    return float(np.fmax.reduce(difference, axis=None, initial=0.0))


def bethe(compressed: Compressed, messages: Messages, heard: dict[int, Heard]) -> float:
    """Bethe's log Z, exact on trees: Σ log Z_variable + Σ log Z_factor − Σ log Z_edge, weighted.

    At a fixed point it does not depend on how messages are scaled (Yedidia, Freeman and Weiss 2005;
    this form is that of Mézard and Montanari 2009, chapter 14). -inf if some factor has no
    assignment left.
    """
    terms = [
        float(pool.weights @ log_sum(heard[size].logs(), axis=0))
        for size, pool in compressed.pools.items()
    ]
    for block in compressed.blocks:
        for columns in block.passes():
            incoming = arriving(compressed, block, columns, messages, heard)
            joint = block.tables(columns)
            for axis, message in enumerate(incoming):
                joint = joint + _on_axis(message, axis, len(incoming))
            logs = log_sum(joint, axis=tuple(range(len(incoming)))) if incoming else joint
            weights = block.weights[columns]
            if np.isneginf(logs).any():
                return -math.inf
            terms.append(float(np.sum(weights * logs)))
            for position, message in enumerate(incoming):
                own = messages[block.shape[position]][:, block.edges(position, columns)]
                terms.append(-float(np.sum(weights * log_sum(own + message, axis=0))))
    return math.fsum(terms)
