"""lifagu: factor graphs with holes. Fill them, fold what is symmetric, answer exactly.

The names below are the library; each is imported from its room when it is first used, so that
``import lifagu`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lifagu.errors import FormatError, LifaguError, MissingExtraError, ModelError, NoAnswerError, TooLargeError
    from lifagu.evidence import Evidence
    from lifagu.formats import read, read_evidence, write
    from lifagu.formats.with_networkx import to_networkx
    from lifagu.formats.with_pgmpy import from_pgmpy, to_pgmpy
    from lifagu.formats.with_pyagrum import from_pyagrum, to_pyagrum
    from lifagu.infer import Answer, log_partition, prepare, queries, query
    from lifagu.model import Colouring, FactorGraph
    from lifagu.parts import describe
    from lifagu.symmetry.colour import colour, colour_rounds

__all__ = [
    "Answer",
    "Colouring",
    "Evidence",
    "FactorGraph",
    "FormatError",
    "LifaguError",
    "MissingExtraError",
    "ModelError",
    "NoAnswerError",
    "TooLargeError",
    "colour",
    "colour_rounds",
    "describe",
    "from_pgmpy",
    "from_pyagrum",
    "log_partition",
    "prepare",
    "queries",
    "query",
    "read",
    "read_evidence",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
    "write",
]

_ROOMS = {
    "lifagu.errors": (
        "FormatError",
        "LifaguError",
        "MissingExtraError",
        "ModelError",
        "NoAnswerError",
        "TooLargeError",
    ),
    "lifagu.evidence": ("Evidence",),
    "lifagu.formats": (
        "read",
        "read_evidence",
        "write",
    ),
    "lifagu.formats.with_networkx": ("to_networkx",),
    "lifagu.formats.with_pgmpy": (
        "from_pgmpy",
        "to_pgmpy",
    ),
    "lifagu.formats.with_pyagrum": (
        "from_pyagrum",
        "to_pyagrum",
    ),
    "lifagu.infer": (
        "Answer",
        "log_partition",
        "prepare",
        "queries",
        "query",
    ),
    "lifagu.model": (
        "Colouring",
        "FactorGraph",
    ),
    "lifagu.parts": ("describe",),
    "lifagu.symmetry.colour": (
        "colour",
        "colour_rounds",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version("lifagu")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'lifagu' has no attribute {name!r}")
    return getattr(import_module(_ROOM_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
