"""Results as people and scripts see them: transfers, groups and answers, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from lifagu.basics.inputs import certain_label
from lifagu.cli.output import finite, some, table
from lifagu.cli.remedies import SURER

if TYPE_CHECKING:
    from lifagu import Answer
    from lifagu.inference.answer import Convergence
    from lifagu.inference.prepared import Result
    from lifagu.inference.question_checks import TooLarge
    from lifagu.inference.relational.marginals import ListedMarginals
    from lifagu.likeness.tolerance_bound import Merging
    from lifagu.questions.asking import Marginals
    from lifagu.questions.findings import Groups, Lift

MOST_ROWS = 40
MOST_OBSERVED = 8
MOST_NAMES = 8


def transfers_table(found: Lift) -> str:
    """What was filled from whom and why, one entry for all that was treated alike."""
    moved, left = found.transfer, found.unknown - found.filled
    names = moved.original.factor_names
    filled = f"{found.filled} of {found.unknown} unknown factors filled"
    lines = [f"{filled}, {left} left{how_filled(found)}"]
    classes = moved.by_class()
    for record, factors in classes[:MOST_ROWS]:
        first = names.of_nodes(factors[:MOST_NAMES])
        source = record.status.replace("_", " ")
        if record.donor:
            source = f"from {record.donor}" if record.way == "best" else record.takes
        total = int(found.sizes[factors].sum())
        lines.append(f"  {some(first, min(4, len(factors)), total)}: {source}")
        lines.append(f"      {record.reason}")
    if len(classes) > MOST_ROWS:
        lines.append(f"  … and {len(classes) - MOST_ROWS} more (all of them with --json)")
    return "\n".join(lines)


def how_filled(found: Lift) -> str:
    """In parentheses, which way holes were filled, or the share that had to agree."""
    theta = found.transfer.theta
    said = [found.how_filled] if found.how_filled else []
    if theta or not found.transfer.filling.uses_cohorts:
        said.append(f"theta {theta:.4g}")
    return f" ({', '.join(said)})" if said else ""


def groups_table(groups: Groups, most: int = MOST_ROWS, rest: bool = True) -> str:
    """Groups, the largest first.

    most: groups of each sort that are shown; rest: whether to say how many more there are.
    """
    rows = []
    for sort, count in (("variables", groups.variables), ("factors", groups.factors)):
        shown = [each for each in groups.largest if each.sort == sort][:most]
        rows += [
            (sort if place == 0 else "", str(each.size), some(each.members, MOST_NAMES, each.size))
            for place, each in enumerate(shown)
        ]
        if rest and count > len(shown):
            rows.append(("", "…", f"and {count - len(shown)} more groups"))
    return table(rows) if rows else "  no variables and no factors"


def lift_json(found: Lift, lifted: str, explain: bool = False) -> dict[str, Any]:
    """Groups, transfers with reasons, and the lifted model, given as the text of a file.

    explain: also what observations tell, where it is most.
    """
    moved, colouring = found.transfer, found.groups.colouring
    variables, factors = moved.original.variable_names, moved.original.factor_names
    return {
        "fill": moved.filling.by,
        "theta": moved.theta,
        "equality": moved.equality,
        **merging_json(found.merging),
        **({"commutative": True} if moved.filling.commutative else {}),
        "variable_groups": [variables.of_nodes(group) for group in colouring.variable_groups],
        "factor_groups": [factors.of_nodes(group) for group in colouring.factor_groups],
        "transfers": [record.as_dict() for record in found.record],
        **({"told": [each.as_dict() for each in found.most_told()]} if explain else {}),
        "model": json.loads(lifted),
    }


def merging_json(merging: Merging | None) -> dict[str, Any]:
    """How tables were compared, if not exactly, and how far answers can be off by that."""
    if merging is None:
        return {}
    bound = merging.bound and merging.bound._asdict()
    return {"equality": merging.equality, "off_by_at_most": bound}


def answer_table(
    answer: Answer, evidence: Mapping[str, Any], way: str = "best", said: Iterable[str] = ()
) -> str:
    """One answer, with bounds or errors where there are some, and what it rests on.

    way: how competing tables are used, as in `Filling.combine`; said: as for `asked_given`.
    """
    lines = [asked_given(answer.variables, evidence, said)]
    shares = answer.probabilities.reshape(-1).tolist()
    rows = [
        (*labels, f"{probability:.6g}")
        for labels, probability in zip(answer.values, shares, strict=True)
    ]
    if answer.lower is not None and answer.upper is not None:
        limits = zip(answer.lower.reshape(-1), answer.upper.reshape(-1), strict=True)
        rows = [
            (*row, f"[{low:.6g}, {high:.6g}]")
            for row, (low, high) in zip(rows, limits, strict=True)
        ]
    elif answer.error is not None:
        errors = answer.error.reshape(-1).tolist()
        rows = [(*row, f"± {error:.2g}") for row, error in zip(rows, errors, strict=True)]
    lines.append(table(rows))
    if answer.rests_on:
        from lifagu.questions.competing_tables import resting_on_words

        lines.append(f"  {resting_on_words(answer, way)}: {some(answer.rests_on, 4)}")
    lines += [f"  warning: {each}; {SURER}" for each in answer.warnings]
    return "\n".join(lines)


def asked_given(
    variables: Sequence[str], evidence: Mapping[str, Any], said: Iterable[str] = ()
) -> str:
    """What is asked, and what was observed: ``P(Sick | Test=positive)``.

    Of much evidence what is asked itself, the first of what was said beside the model's own, and
    how much there is.
    """
    names: Iterable[str] = evidence
    if len(evidence) > MOST_OBSERVED:
        telling = dict.fromkeys([*variables, *said])
        names = islice((name for name in telling if name in evidence), MOST_OBSERVED)
    given = []
    for name in names:
        seen = evidence[name]
        label = certain_label(seen) if isinstance(seen, Mapping) else seen
        given.append(f"{name}={label}" if isinstance(label, str) else f"{name}~…")
    if left := len(evidence) - len(given):
        given.append(f"{left:,} {'more ' if given else ''}observed")
    return f"P({', '.join(variables)}{' | ' + ', '.join(given) if given else ''})"


def answers_json(result: Result) -> dict[str, Any]:
    """The answers, log Z, and how many unknown factors there were, were filled, and are left."""
    total, filled = result.unknown, result.transferred
    return {
        "engine": result.answers[0].engine,
        **convergence_json(result.answers[0].convergence),
        "log_partition": result.log_partition,
        "answers": [answer_json(answer) for answer in result.answers],
        "unknown": {"total": total, "transferred": filled, "left": total - filled},
    }


def convergence_json(came: Convergence | None) -> dict[str, Any]:
    """Whether belief propagation converged and how far it came; nothing for exact answers."""
    if came is None:
        return {}
    return {
        "converged": came.converged,
        "iterations": came.iterations,
        "residual": finite(came.residual),
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """One answer as plain values, row-major in the order of the question."""
    values = {
        "query": list(answer.variables),
        "values": [list(labels) for labels in answer.values],
        "probabilities": answer.probabilities.reshape(-1).tolist(),
        "log_probabilities": list(map(finite, answer.log_probabilities.reshape(-1).tolist())),
        "rests_on": list(answer.rests_on),
        "weakest_share": answer.weakest_share,
        "by_cohorts": answer.by_cohorts,
        "warnings": list(answer.warnings),
    }
    limits = {"lower": answer.lower, "upper": answer.upper, "error": answer.error}
    values |= {name: each.reshape(-1).tolist() for name, each in limits.items() if each is not None}
    return values | ({"notes": list(answer.notes)} if answer.error is not None else {})


def marginals_json(found: Marginals | ListedMarginals) -> dict[str, Any]:
    """All marginals by class or by name, log Z, and what was left out."""
    from lifagu.inference.relational.marginals import ClassMarginals

    if isinstance(found, ClassMarginals):
        listed: dict[str, Any] = {"classes": [asdict(each) for each in found.classes]}
    else:
        listed = {"marginals": {name: dict(found[name]) for name in found}}
    return {
        "engine": found.engine,
        **convergence_json(getattr(found, "convergence", None)),
        "log_partition": found.log_partition,
        **listed,
        "left_out": found.left_out,
        **too_large_json(found.too_large),
    }


def too_large_json(parts: Sequence[TooLarge]) -> dict[str, Any]:
    """Parts that were left out as they do not fit, if there are any."""
    left = [{"variables": each.variables, "estimate": each.estimate} for each in parts]
    return {"too_large": left} if left else {}


def marginals_table(found: Marginals | ListedMarginals) -> str:
    """The first of all marginals, one line each."""
    from lifagu.inference.relational.marginals import ClassMarginals

    shown: list[tuple[str, Mapping[str, float]]]
    if isinstance(found, ClassMarginals):
        every = len(found.classes)
        shown = [(each.members, each.probabilities) for each in found.classes[:MOST_ROWS]]
    else:
        every, shown = len(found), [(name, found[name]) for name in islice(found, MOST_ROWS)]
    rows = [
        (name, *(f"{label} {value:.6g}" for label, value in each.items())) for name, each in shown
    ]
    width = max(map(len, rows), default=0)
    lines = [table([*row, *[""] * (width - len(row))] for row in rows)] if rows else []
    if every > len(shown):
        lines.append(f"  … and {every - len(shown)} more (all of them with --json or --out)")
    too_large = {name for part in found.too_large for name in part.variables}
    left = [name for name in found.left_out if name not in too_large]
    if left:
        lines.append(f"left out, as unknown factors are connected to them: {some(left, 8)}")
    if found.log_partition is not None:
        lines.append(f"log Z = {found.log_partition:.10g}")
    return "\n".join(lines)
