"""How good tables are: divergence of tables and marginals, right atoms, coverage of intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.cached import cached_property
from research.campaign import Line
from research.divergence import divergence
from research.drafts import Floats
from research.holes.noisy.fillings import table_errors
from research.holes.noisy.network import SIZES, joints, marginals
from research.holes.noisy.population import EstimatedPopulation, normalised

OBSERVED = {"kl_marginals": 0.0, "kl_marginals_30": 0.3, "kl_marginals_70": 0.7}
LOWER, UPPER = 0.05, 0.95
ROUNDING = 1e-9
SMALL = 1e-12  # an answer that rules out what is possible is charged as if it gave it this much


class TruthBeside:
    """A population, and how far tables are from its truth."""

    def __init__(self, subject: EstimatedPopulation) -> None:
        self.subject = subject

    @cached_property
    def _answers(self) -> dict[str, tuple[Floats, Floats]]:
        joint = joint_of(self.subject.truth)
        return {name: self._asked(joint, share) for name, share in OBSERVED.items()}

    def _asked(self, joint: Floats, share: float) -> tuple[Floats, Floats]:
        return marginals(joint, self.subject.values, self.subject.observed(share))

    def tables(self, tables: Sequence[Floats]) -> Line:
        """Divergence of holes, of those of new individuals, and of known tables."""
        errors = table_errors(self.subject, tables)
        holes = ~self.subject.known.T
        new = np.concatenate([self.subject.new[hidden] for hidden in holes])
        known = table_errors(self.subject, tables, ~holes)
        return {
            "kl_tables": float(errors.mean()),
            "kl_new": float(errors[new].mean()),
            "kl_known": float(known.mean()),
        }

    def marginals(self, joint: Floats) -> Line:
        """Divergence of all unobserved single marginals, that of Epid among them."""
        return self.answers({share: self._asked(joint, share) for share in OBSERVED.values()})

    def answers(self, found_by_share: Mapping[float, tuple[Floats, Floats]]) -> Line:
        """The same of answers, individuals × variables × values and Epid, by share observed."""
        line: Line = {}
        for name, share in OBSERVED.items():
            truth, epidemic = self._answers[name]
            found, epidemic_found = found_by_share[share]
            errors = divergence(truth, np.maximum(found, SMALL * (truth > 0)))
            unobserved = errors[~self.subject.observed(share)]
            shared = divergence(epidemic, np.maximum(epidemic_found, SMALL))
            line[name] = float(np.append(unobserved, shared[None][: len(epidemic) - 1]).mean())
        return line

    def intervals(self, draws: Sequence[Sequence[Floats]]) -> Line:
        """Coverage, width and number of the 90 % intervals of holes and of marginals.

        The last value of a distribution follows from the others and is left out.
        """
        holes = [
            np.stack([normalised(draw[place][hidden])[..., :-1] for draw in draws])
            for place, hidden in enumerate(~self.subject.known.T)
        ]
        truths = [
            truth[hidden][..., :-1]
            for truth, hidden in zip(self.subject.truth, ~self.subject.known.T, strict=True)
        ]
        tables = [covered(truth, drawn) for truth, drawn in zip(truths, holes, strict=True)]
        answers = np.stack([self._asked(joint_of(draw), 0.0)[0] for draw in draws])
        truth, _ = self._answers["kl_marginals"]
        free = np.arange(truth.shape[-1]) < np.array(list(SIZES.values()))[:, None] - 1
        asked = covered(truth[:, free], answers[:, :, free])
        return _line("table", *map(np.concatenate, zip(*tables, strict=True))) | _line(
            "marginal", *asked
        )

    def right(self, tables: Sequence[Floats]) -> NDArray[np.bool_]:
        """Whether the atom nearest to a table is the true one: individuals × places."""
        nearest = [
            np.tensordot(normalised(table), np.log(np.maximum(atoms, SMALL)), ((1, 2), (1, 2)))
            for table, atoms in zip(tables, self.subject.source.atoms, strict=True)
        ]
        found = [each.argmax(axis=1) for each in nearest]
        return np.equal(found, self.subject.atom).T


def joint_of(tables: Sequence[Floats]) -> Floats:
    """P(values | Epid) of every individual with these tables."""
    return joints([each[:, None] for each in tables], np.ones((len(tables[0]), 1)))


def covered(truth: Floats, drawn: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Whether each number lies in the interval of its draws (first axis), and the width; flat."""
    low, high = np.quantile(drawn, (LOWER, UPPER), axis=0)
    inside = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    return inside.reshape(-1), (high - low).reshape(-1)


def _line(what: str, inside: NDArray[np.bool_], width: Floats) -> Line:
    return {
        f"{what}_intervals": len(inside),
        f"{what}_coverage": float(inside.mean()),
        f"{what}_width": float(width.mean()),
    }
