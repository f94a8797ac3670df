"""Scores as plain values, as the command line prints them in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from lifagu.questions.validating.judging import judgement
from lifagu.questions.validating.predictions import Predictions
from lifagu.questions.validating.scores import Flags, calibration_error


def plain(found: Predictions) -> dict[str, Any]:
    """Everything but single cells; the first method's scores stand at the top."""
    methods = {name: _of_method(found, name) for name in found.methods}
    first = next(iter(methods))
    several = {"methods": methods} if len(methods) > 1 else {}
    return {
        **methods[first],
        "method": first,
        **found.settings,
        **_structure(found, first),
        "judgement": judgement(found, first),
        "notes": list(found.notes),
        **several,
    }


def _structure(found: Predictions, method: str) -> dict[str, Any]:
    """What the structure has seen, and what it scores as it stands on the first fold."""
    structure, stands = found.structure, found.as_it_stands
    told: dict[str, Any] = {"structure": structure.how} if structure.how else {}
    if structure.why:
        told["why"] = structure.why
    if stands is not None:
        gain = found.too_good(method)
        told["as_it_stands"] = {
            **_of_method(stands, method),
            "too_good": {"log_loss": gain.value, "standard_error": gain.error},
        }
    return told


def _of_method(found: Predictions, name: str) -> dict[str, Any]:
    said = found.methods[name]
    everything = np.ones(found.hidden, dtype=np.bool_)
    return {
        **_of_cells(found, name, everything),
        "relations": {
            relation: _of_cells(found, name, wanted) for relation, wanted in found.relations.items()
        },
        "reliability": [
            {"stated": each.stated, "right": each.right, "n": each.many}
            | {"standard_error": each.error}
            for each in said.scores.bins
        ],
    }


def _of_cells(found: Predictions, name: str, wanted: Flags) -> dict[str, Any]:
    said = found.methods[name]
    scores, baseline = said.scores.only(wanted), found.baseline.only(wanted)
    gain = found.gain(name, wanted)
    return {
        "hidden": len(scores),
        "log_loss": scores.log_loss.value,
        "accuracy": scores.accuracy.value,
        "calibration_error": calibration_error(scores.bins),
        "unanswered": int((~said.answered[wanted]).sum()),
        "standard_error": {"log_loss": scores.log_loss.error, "accuracy": scores.accuracy.error},
        "baseline": {"log_loss": baseline.log_loss.value, "accuracy": baseline.accuracy.value},
        "gain": {"log_loss": gain.value, "standard_error": gain.error},
    }
