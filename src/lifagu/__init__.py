"""lifagu: factor graphs with holes. Fill them, fold what is symmetric, answer exactly.

The names below are the library; each is imported from its room when it is first used, so that
``import lifagu`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lifagu.errors import LifaguError, ModelError, NoAnswerError, TooLargeError
    from lifagu.infer import Answer, log_partition, queries, query
    from lifagu.model import Colouring, FactorGraph
    from lifagu.symmetry.colour import colour, colour_rounds

__all__ = [
    "Answer",
    "Colouring",
    "FactorGraph",
    "LifaguError",
    "ModelError",
    "NoAnswerError",
    "TooLargeError",
    "colour",
    "colour_rounds",
    "log_partition",
    "queries",
    "query",
]

_ROOMS = {
    "Answer": "lifagu.infer",
    "Colouring": "lifagu.model",
    "FactorGraph": "lifagu.model",
    "LifaguError": "lifagu.errors",
    "ModelError": "lifagu.errors",
    "NoAnswerError": "lifagu.errors",
    "TooLargeError": "lifagu.errors",
    "colour": "lifagu.symmetry.colour",
    "colour_rounds": "lifagu.symmetry.colour",
    "log_partition": "lifagu.infer",
    "queries": "lifagu.infer",
    "query": "lifagu.infer",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("lifagu")
    if name not in _ROOMS:
        raise AttributeError(f"module 'lifagu' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)


def __dir__() -> list[str]:
    return [*_ROOMS, "__version__"]
