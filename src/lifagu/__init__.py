"""lifagu: factor graphs with holes. Fill them, fold what is symmetric, answer exactly.

Begin with `lifagu.open`, which makes a `Case` of a file, a folder, a database or a model in memory;
ask it. `lifagu.io` reads and writes, `lifagu.drawing` makes figures, `lifagu.scale` works where the
data is. Each name is imported from its room when it is first used, so that ``import lifagu`` costs
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lifagu.basics.html import frame_with, show_with

if TYPE_CHECKING:
    from lifagu import drawing as drawing
    from lifagu import io as io
    from lifagu import scale as scale
    from lifagu.basics.columns import Columns
    from lifagu.errors import FormatError as FormatError
    from lifagu.errors import LifaguError as LifaguError
    from lifagu.errors import MissingExtraError as MissingExtraError
    from lifagu.errors import ModelError as ModelError
    from lifagu.errors import NoAnswerError as NoAnswerError
    from lifagu.errors import Remedy as Remedy
    from lifagu.errors import TooLargeError as TooLargeError
    from lifagu.filling.record import Record as Record
    from lifagu.filling.result import Transfer as Transfer
    from lifagu.filling.rules import Filling as Filling
    from lifagu.filling.transfer import transfer as transfer
    from lifagu.formats.with_networkx import to_networkx as to_networkx
    from lifagu.formats.with_pgmpy import from_pgmpy as from_pgmpy
    from lifagu.formats.with_pgmpy import to_pgmpy as to_pgmpy
    from lifagu.formats.with_pyagrum import from_pyagrum as from_pyagrum
    from lifagu.formats.with_pyagrum import to_pyagrum as to_pyagrum
    from lifagu.graph.evidence import Evidence as Evidence
    from lifagu.graph.factor_graph import FactorGraph as FactorGraph
    from lifagu.inference.answer import Answer as Answer
    from lifagu.questions.case import Case as Case
    from lifagu.questions.comparing.compare import compare as compare
    from lifagu.questions.drafts import Draft as Draft
    from lifagu.questions.drafts import draft as draft
    from lifagu.questions.figures import draw as draw
    from lifagu.questions.figures import plot as plot
    from lifagu.questions.functions import impute as impute
    from lifagu.questions.functions import log_partition as log_partition
    from lifagu.questions.functions import map_assignment as map_assignment
    from lifagu.questions.functions import marginals as marginals
    from lifagu.questions.functions import queries as queries
    from lifagu.questions.functions import query as query
    from lifagu.questions.opening import open as open
    from lifagu.questions.planning import describe as describe
    from lifagu.questions.storage import read as read
    from lifagu.questions.storage import write as write
    from lifagu.questions.validating.result import Validation as Validation
    from lifagu.relational.domains import Domain as Domain
    from lifagu.relational.grounding import ground as ground
    from lifagu.relational.parfactor_graph import ParfactorGraph as ParfactorGraph
    from lifagu.relational.parfactors import Parfactor as Parfactor
    from lifagu.relational.relations import Relation as Relation
    from lifagu.symmetry.colour import colour as colour
    from lifagu.symmetry.lifting import lift as lift

_ROOMS = {
    "lifagu.questions.drafts": "Draft draft",
    "lifagu.errors": "FormatError LifaguError MissingExtraError ModelError NoAnswerError"
    " Remedy TooLargeError",
    "lifagu.filling.record": "Record",
    "lifagu.filling.result": "Transfer",
    "lifagu.filling.rules": "Filling",
    "lifagu.filling.transfer": "transfer",
    "lifagu.formats.with_networkx": "to_networkx",
    "lifagu.formats.with_pgmpy": "from_pgmpy to_pgmpy",
    "lifagu.formats.with_pyagrum": "from_pyagrum to_pyagrum",
    "lifagu.graph.evidence": "Evidence",
    "lifagu.graph.factor_graph": "FactorGraph",
    "lifagu.inference.answer": "Answer",
    "lifagu.questions.case": "Case",
    "lifagu.questions.comparing.compare": "compare",
    "lifagu.questions.figures": "draw plot",
    "lifagu.questions.functions": "impute log_partition map_assignment marginals queries query",
    "lifagu.questions.opening": "open",
    "lifagu.questions.planning": "describe",
    "lifagu.questions.storage": "read write",
    "lifagu.questions.validating.result": "Validation",
    "lifagu.relational.domains": "Domain",
    "lifagu.relational.grounding": "ground",
    "lifagu.relational.parfactor_graph": "ParfactorGraph",
    "lifagu.relational.parfactors": "Parfactor",
    "lifagu.relational.relations": "Relation",
    "lifagu.symmetry.colour": "colour",
    "lifagu.symmetry.lifting": "lift",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}
_MODULES = ("drawing", "io", "scale")
__all__ = sorted([*_ROOM_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(import_module(_ROOM_OF[name]), name)
    if name in _MODULES:
        return import_module(f"lifagu.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("lifagu")
    raise AttributeError(f"module 'lifagu' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _html(value: Any) -> str:
    shown: str = import_module("lifagu.questions.notebooks").html(value)
    return shown


def _streamed(columns: Columns, requested_schema: object = None) -> Any:
    return import_module("lifagu.data.frames").streamed(columns, requested_schema)


def _exchanged(columns: Columns) -> Any:
    return import_module("lifagu.data.frames").exchanged(columns)


frame_with(_streamed, _exchanged)
show_with(_html)  # values say that they have a picture; how it is made is looked up on demand
