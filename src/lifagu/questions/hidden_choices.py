"""What is hidden can be asked for by name: ``table of f1.eve``, ``class of eve``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lifagu.errors import ModelError, listed
from lifagu.filling.cohorts.completing import CohortTransfer
from lifagu.filling.cohorts.offering import holders
from lifagu.filling.result import Transfer
from lifagu.graph.factor_graph import FactorGraph
from lifagu.inference.answer import Answer
from lifagu.questions.admission.admitted_transfer import AdmittedTransfer

HIDDEN = ("table of ", "class of ")


def check_asked(moved: Transfer, names: Iterable[str], combine: str) -> None:
    """Refuse names of nothing; those of what is hidden may be asked where answers sum over it."""
    known = moved.original.variable_names
    for name in dict.fromkeys(names):
        if known.find(name) is not None or (combine == "average" and _place(moved, name) >= 0):
            continue
        if not name.startswith(HIDDEN) or combine != "average":
            known.number(name)  # which says that there is none
        hidden = _hidden(moved)
        there = listed(hidden, 3) if hidden else "nothing"
        raise ModelError(f"nothing hidden is called '{name}'; hidden is {there}")


def in_words(moved: Transfer, graph: FactorGraph, answer: Answer) -> Answer:
    """An answer about what is hidden with labels that people can read.

    A table is called as the nearest factor that has it, a class by its number.
    """
    ranges = list(answer.ranges)
    for axis, name in enumerate(answer.variables):
        base = _base(moved)
        if base and moved.original.variable_names.find(name) is None:
            order = graph.declared_order(graph.variable_names.number(name))
            labels = _labels(base, _place(moved, name))
            ranges[axis] = tuple([labels[place] for place in order.tolist()])
    return replace(answer, ranges=tuple(ranges))


def _base(moved: Transfer) -> CohortTransfer | None:
    base = moved.base if isinstance(moved, AdmittedTransfer) else moved
    return base if isinstance(base, CohortTransfer) else None


def _place(moved: Transfer, name: str) -> int:
    """The place of something hidden among all choices, negative if it is nothing hidden."""
    if (base := _base(moved)) is None:
        return -1
    found = base.joint.graph.variable_names.find(name)
    return -1 if found is None else found - base.joint.first_variable


def _hidden(moved: Transfer) -> Sequence[str]:
    base = _base(moved)
    return base.joint.graph.variable_names[base.joint.first_variable :] if base else ()


def _labels(moved: CohortTransfer, place: int) -> list[str]:
    joint, posterior = moved.joint, moved.posterior
    chosen = joint.hidden.choices[slice(*joint.hidden.offsets[[place, place + 1]].tolist())]
    if place < len(joint.cohorts):
        return [f"class {choice + 1}" for choice in chosen.tolist()]
    factor = int(joint.hidden.who[place])
    number = moved.reasons.place_of(factor)
    kind = posterior.kind_of[posterior.places.owners[factor]]
    nearest = int(posterior.belonging[0][kind].argmax())
    donors = holders(posterior, number)[1][:, nearest].tolist()
    exact = posterior.places.places[number].shown.donors
    names, met, labels = moved.original.factor_names, Counter[str](), []
    for choice in chosen.tolist():
        known = choice < len(donors) and not (len(exact) > 1 and exact[choice] < 0)
        label = f"that of {names[donors[choice]]}" if known else "another"
        met[label] += 1
        labels.append(label if met[label] == 1 else f"{label} ({met[label]})")
    return labels
