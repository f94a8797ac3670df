"""One model, all questions: answers beside what is known, and wrong ones on smaller models."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import lifagu
from support.naive import inference as naive
from support.naive.alike import Representatives

Model = dict[str, Any]
MANY = 2**11
MEMORY, SECONDS = 2**30, 10
"""Much more than any question needs: bytes and seconds."""


@dataclass(frozen=True)
class Known:
    """What is known about a model: log Z, some marginals, a joint answer, the largest weight."""

    labels: Mapping[str, Sequence[str]]
    log_total: float
    marginals: Mapping[str, np.ndarray]
    question: tuple[str, ...]
    joint: np.ndarray
    log_best: float
    weight: Callable[[Mapping[str, str]], float]
    count: int | None = None


class WrongError(Exception):
    """An answer that is not the right one."""


def some_question(labels: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, ...]:
    """One to three variables with not too many combinations of labels."""
    question = rng.sample(list(labels), min(len(labels), rng.randint(1, 3)))
    while math.prod(len(labels[name]) for name in question) > 300:
        question.pop()
    return tuple(question)


def known_by(oracle: Any, question: tuple[str, ...], asked: Iterable[str]) -> Known:
    """What an oracle knows."""
    possible = oracle.log_total > -math.inf
    return Known(
        oracle.labels,
        oracle.log_total,
        {name: oracle.marginal(name) for name in asked} if possible else {},
        question,
        oracle.joint(question) if possible and question else np.zeros(0),
        oracle.log_best,
        oracle.weight,
        len(oracle.labels),
    )


def enumerated(model: Model, rng: random.Random) -> Known:
    """What there is to know about a small model."""
    oracle = naive.Enumeration(model)
    return known_by(oracle, some_question(oracle.labels, rng), oracle.labels)


def known_of(model: Model, rng: random.Random) -> Known:
    """What can be known about a model that is small, has alike individuals, or is thin."""
    weights = naive.Weights(model)
    if weights.states <= MANY:
        return enumerated(model, rng)
    question = some_question(weights.labels, rng)
    try:
        return known_by(Representatives(model, question), question, weights.labels)
    except naive.TooManyStatesError:
        names = list(weights.labels)
        return known_by(naive.Elimination(model), question, rng.sample(names, min(len(names), 4)))


# ---- lifagu's answers


def close(found: float, expected: float) -> bool:
    """Equal but for rounding."""
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def close_to(found: float, expected: float) -> bool:
    """Equal probabilities but for rounding, small ones too; zero where nothing is possible."""
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-15) and (
        expected > 0 or found < 1e-300
    )


def check(model: Model, known: Known, with_total: bool = True) -> None:
    """Ask everything, log Z also by itself if need be; raise what is wrong."""
    read = lifagu.io.from_json(json.dumps(model))
    given: Any = {"evidence": model.get("evidence", {}), "memory_limit": MEMORY}
    questions: dict[str, Callable[[], None]] = {
        "log_partition": lambda: check_total(lifagu.log_partition(read, **given), known),
        "marginals": lambda: check_marginals(lifagu.marginals(read, **given), known),
        "query": lambda: check_joint(lifagu.query(read, *known.question, **given), known),
        "map_assignment": lambda: check_best(lifagu.map_assignment(read, **given), known),
    }
    left_out = {"query" if not known.question else "", "log_partition" if not with_total else ""}
    for verb, ask in questions.items():
        if verb in left_out:
            continue
        try:
            with time_limit(SECONDS):
                ask()
        except lifagu.NoAnswerError as error:
            if known.log_total > -math.inf or "zero" not in str(error):
                raise WrongError(f"{verb}: refused: {error}") from error
        except WrongError as error:
            raise WrongError(f"{verb}: {error}") from error
        except Exception as error:
            raise WrongError(f"{verb}: {type(error).__name__}: {error}") from error


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Break off what takes more time of the processor, where that can be measured."""

    def stop(*_: Any) -> None:
        raise WrongError(f"more than {seconds} seconds")

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_total(found: float, known: Known) -> None:
    """log Z, and that there is one."""
    if known.log_total == -math.inf:
        raise WrongError(f"log Z = {found}, but the weight is zero")
    if not close(found, known.log_total):
        raise WrongError(f"log Z = {found!r}, expected {known.log_total!r}")


def check_marginals(found: Any, known: Known) -> None:
    """All marginals, and that exactly the variables that exist have one."""
    check_total(found.log_partition, known)
    if known.count is not None and len(found) != known.count:
        raise WrongError(f"{len(found)} variables, expected {known.count}")
    for name, expected in known.marginals.items():
        for label, probability in zip(known.labels[name], expected.tolist(), strict=True):
            if not close_to(found[name][label], probability):
                raise WrongError(
                    f"P({name}={label}) = {found[name][label]!r}, expected {probability!r}"
                )


def check_joint(answer: Any, known: Known) -> None:
    """A joint answer, label by label."""
    check_total(answer.log_partition, known)
    spans = [known.labels[name] for name in known.question]
    for state, probability in zip(
        itertools.product(*spans), known.joint.reshape(-1).tolist(), strict=True
    ):
        found = answer[state] if len(state) > 1 else answer[state[0]]
        if not close_to(found, probability):
            raise WrongError(
                f"P({', '.join(known.question)} = {', '.join(state)}) = {found!r}, expected "
                f"{probability!r}"
            )


def check_best(best: Any, known: Known) -> None:
    """The largest weight, and an assignment that has it."""
    if known.log_total == -math.inf:
        raise WrongError(
            f"a best assignment of log weight {best.log_weight}, but the weight is zero"
        )
    if not close(best.log_weight, known.log_best):
        raise WrongError(f"log weight {best.log_weight!r}, expected {known.log_best!r}")
    if known.count is not None and len(best.assignment) != known.count:
        raise WrongError(f"{len(best.assignment)} variables assigned, expected {known.count}")
    weight = known.weight(best.assignment)
    if not close(weight, known.log_best):
        raise WrongError(
            f"the assignment weighs {weight!r}, the best {known.log_best!r}: {best.assignment}"
        )


def report(model: Model, known: Known, error: WrongError) -> str:
    """What was wrong, and the model to try it again."""
    asked = " ".join(f"'{name}'" for name in known.question)
    return f"{error}\n  as model.json, for lifagu query model.json {asked}:\n{json.dumps(model)}"


# ---- smaller models


def shrunk(model: Model, fails: Callable[[Model], bool], rounds: int = 6) -> Model:
    """A smaller model that still fails: parts left out, domains and tables made simpler."""
    for _ in range(rounds):
        before = json.dumps(model)
        for change in simpler(model):
            if fails(change(model)):
                model = change(model)
        if json.dumps(model) == before:
            break
    return model


def simpler(model: Model) -> Iterator[Callable[[Model], Model]]:
    """Ways to make a model simpler, the greatest first."""
    for part in ("evidence", "factors", "parfactors", "relations", "variables", "domains"):
        for key in (
            [*model.get(part, {})]
            if isinstance(model.get(part), dict)
            else range(len(model.get(part, [])))[::-1]
        ):
            yield lambda given, part=part, key=key: without(given, part, key)
    for name, size in model.get("domains", {}).items():
        if isinstance(size, int) and size:
            yield lambda given, name=name: with_entry(
                given, "domains", name, given["domains"].get(name, 1) - 1
            )
    for part in ("parfactors", "factors"):
        for place, entry in enumerate(model.get(part, [])):
            for where in range(len(entry.get("where", []))):
                yield lambda given, part=part, place=place, where=where: without_constraint(
                    given, part, place, where
                )
            ones = [1] * len(entry["table"])
            for simple in (
                ones,
                [*ones[:-1], 2],
                [2, *ones[1:]],
                [math.ceil(value) for value in entry["table"]],
            ):
                yield lambda given, part=part, place=place, simple=simple: with_table(
                    given, part, place, simple
                )


def without(model: Model, part: str, key: Any) -> Model:
    """The model without one of its parts."""
    model = copy.deepcopy(model)
    if part in model and (
        key in model[part] if isinstance(model[part], dict) else key < len(model[part])
    ):
        del model[part][key]
    return model


def with_entry(model: Model, part: str, key: Any, value: Any) -> Model:
    """The model with another entry."""
    model = copy.deepcopy(model)
    if key in model.get(part, {}) and value >= 0:
        model[part][key] = value
    return model


def without_constraint(model: Model, part: str, place: int, where: int) -> Model:
    """The model with a constraint less."""
    model = copy.deepcopy(model)
    if place < len(model.get(part, [])) and where < len(model[part][place].get("where", [])):
        del model[part][place]["where"][where]
    return model


def with_table(model: Model, part: str, place: int, values: list[float]) -> Model:
    """The model with another table, where it has the same length."""
    model = copy.deepcopy(model)
    if (
        place < len(model.get(part, []))
        and len(model[part][place]["table"]) == len(values)
        and any(values)
    ):
        model[part][place]["table"] = values
    return model
