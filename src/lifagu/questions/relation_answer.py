"""The answer about a whole relation: every individual's marginal, ranked if that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifagu.basics.arrays import Floats, Ints
from lifagu.basics.atomic_files import PathLike
from lifagu.basics.columns import Column, Columns, texts
from lifagu.basics.frozen import Frozen
from lifagu.basics.html import Framed, Shown
from lifagu.basics.inputs import LookedUp, label_text, shown
from lifagu.basics.names import Names
from lifagu.basics.words import counted
from lifagu.errors import FormatError, ModelError, did_you_mean
from lifagu.graph.ranges import Labels
from lifagu.inference.relational.marginals import MarginalClass
from lifagu.questions.findings import Requested
from lifagu.relational.marginal_tables import LONG

DIGITS = 12  # significant digits by which probabilities are ranked, beyond which they are ties


@dataclass(frozen=True, eq=False, repr=False)
class RelationAnswer(Framed, Frozen, Shown, LookedUp[str, dict[str, float]]):
    """P(variable | evidence) of each individual of a relation, by name: label → probability.

    In the order of the model, or ranked. Relational models whose individuals have no names answer
    by class of interchangeable ones; a name is then that of a class in words.

    Attributes
    ----------
    relation : str
        The relation, or the kind of a ground model's variables.
    requested : Requested
        The marginals with what they rest on, and what has no answer.
    observed : array of bool
        For each of them whether it was observed.
    labels : tuple[str, ...]
        The labels that there are, as declared.
    classes : tuple of MarginalClass
        Where it answers by class, each class.
    total : int
        How many individuals there were before the first ones were taken.
    value : str
        The label by whose probability they are ranked; empty where they are not.

    Examples
    --------
    >>> import lifagu
    >>> builder = lifagu.FactorGraph.build()
    >>> for name, weight in ("al", 3), ("bo", 9), ("cy", 1):
    ...     builder = builder.variable(f"Sick.{name}", kind="Sick", individual=name)
    ...     builder = builder.factor(f"f.{name}", [f"Sick.{name}"], [1, weight])
    >>> found = lifagu.open(builder.graph()).ask_all("Sick", top=2)
    >>> found
    <RelationAnswer: Sick, the first 2 of 3 by P(true)>
    >>> list(found), found["Sick.bo"]["true"]
    (['Sick.bo', 'Sick.al'], 0.9)
    """

    relation: str
    requested: Requested
    observed: NDArray[np.bool_]
    labels: Labels
    classes: tuple[MarginalClass, ...] = ()
    total: int = 0
    value: str = ""

    def __getitem__(self, name: str) -> dict[str, float]:
        return self.requested[name]

    def __contains__(self, name: object) -> bool:
        return name in self.requested

    def __iter__(self) -> Iterator[str]:
        return iter(self.requested.names)

    def __len__(self) -> int:
        return len(self.requested)

    @property
    def left_out(self) -> list[str]:
        """The individuals without an answer: unknown factors are connected, or it does not fit."""
        return self.requested.left_out

    @property
    def count(self) -> int:
        """How many individuals it is about, those of classes counted one by one."""
        return sum(each.count for each in self.classes) if self.classes else len(self)

    def checked(self, value: str | int | None = None) -> str:
        """The label that is meant: the last one of the range where none is named.

        Parameters
        ----------
        value : str, bool or int, optional
            A label, as in evidence; one that the relation does not have is a `ModelError`.

        Returns
        -------
        str
        """
        if value is None:
            return self.labels[-1] if self.labels else ""
        label = label_text(value)
        if label is None or label not in self.labels:
            raise ModelError(
                f"{shown(value)} is not a label of {self.relation} ({', '.join(self.labels)})"
                f"{did_you_mean(label or '', self.labels)}"
            )
        return label

    def probabilities(self, value: str | int | None = None) -> Floats:
        """The probability of a label for each individual; nan where its range lacks the label.

        Parameters
        ----------
        value : str, bool or int, optional
            The label, by default the last one of the range.

        Returns
        -------
        ndarray
        """
        each, of = self._by_distribution(self.checked(value))
        return each[of]

    def _by_distribution(self, label: str) -> tuple[Floats, Ints]:
        """The probability of a label in each distribution, and which one everybody has."""
        each = [one[label][0] if label in one else np.nan for one in self.requested.distributions]
        return np.array(each, dtype=np.float64), self.requested.of

    def ranked(self, top: int | None = None, value: str | int | None = None) -> RelationAnswer:
        """The same by the probability of a label, the largest first, ties in the model's order.

        Parameters
        ----------
        top : int, optional
            How many to keep; all by default.
        value : str, bool or int, optional
            The label, by default the last one of the range.

        Returns
        -------
        RelationAnswer
        """
        label = self.checked(value)
        each, of = self._by_distribution(label)
        shares = _rounded(each)[of]
        there = np.flatnonzero(~np.isnan(shares))
        if top is not None and top < len(there):
            # the last one that is kept, so that only those as probable are put in order
            least = np.partition(shares[there], len(there) - top)[len(there) - top]
            there = there[shares[there] >= least]
        order = there[np.argsort(-shares[there], kind="stable")][:top]
        return replace(self.taken(order), value=label)

    def taken(self, places: Ints) -> RelationAnswer:
        """Some of the individuals, in another order.

        Parameters
        ----------
        places : ndarray of int
            Which of them.

        Returns
        -------
        RelationAnswer
        """
        classes = tuple([self.classes[place] for place in places.tolist()] if self.classes else ())
        requested = self.requested.taken(places)
        return replace(self, requested=requested, observed=self.observed[places], classes=classes)

    def of_names(self, names: Names) -> RelationAnswer:
        """Those of these individuals that have an answer, in this order.

        Parameters
        ----------
        names : Names
            The names of individuals.

        Returns
        -------
        RelationAnswer
        """
        places = self.requested.names.find_each(list(names))
        return self.taken(places[places >= 0])

    def tables(self) -> dict[str, Columns]:
        """By column: `marginals`, a row per individual and label, and ``wide_…`` of the relation.

        Returns
        -------
        dict
            As of `Imputed.tables`, or by class as `marginals` writes them.
        """
        return self.requested.tables() if not self.classes else {LONG: self._by_class()}

    def _by_class(self) -> Columns:
        rows = [(each, pair) for each in self.classes for pair in each.probabilities.items()]
        named: dict[str, Sequence[str]] = {
            "representative": [each.representative for each, _ in rows],
            "members": [each.members for each, _ in rows],
            "value": [label for _, (label, _) in rows],
        }
        columns: dict[str, Column] = {name: texts(each) for name, each in named.items()}
        columns["count"] = np.array([each.count for each, _ in rows], dtype=np.int64)
        columns["probability"] = np.array([share for _, (_, share) in rows])
        order = ("representative", "members", "count", "value", "probability")
        return {name: columns[name] for name in order}

    def write(self, path: PathLike) -> None:
        """Write one row per individual and label.

        Parameters
        ----------
        path : path
            Ends in .csv, .csv.gz or .parquet.
        """
        from lifagu.questions.writing_results import write_columns

        check_table(path)
        write_columns(path, self.tables()[LONG])

    def __repr__(self) -> str:
        shown = "class" if self.classes else "variable"
        if not self.value:
            return f"<RelationAnswer: {self.relation}, {counted(len(self), shown)}>"
        kept = f"the first {len(self)} of {self.total}" if len(self) < self.total else len(self)
        return f"<RelationAnswer: {self.relation}, {kept} by P({self.value})>"


def check_table(path: PathLike) -> None:
    """Refuse now, before long work, a file that is no table."""
    if not str(path).lower().endswith((".csv", ".csv.gz", ".parquet")):
        raise FormatError(
            f"{path}: tables are written as .csv (also .csv.gz) or .parquet, "
            f"not as {Path(path).suffix or 'a folder'}"
        )


def _rounded(shares: Floats) -> Floats:
    """Probabilities to some significant digits, so that what is equal is a tie."""
    size = np.zeros(len(shares))
    large = shares > 0
    size[large] = np.floor(np.log10(shares[large]))
    scale = 10.0 ** np.clip(DIGITS - 1 - size, None, 300)
    rounded: Floats = np.round(shares * scale) / scale
    return rounded
