"""lifagu: factor graphs with holes. Fill them, fold what is symmetric, answer exactly.

The names below are the library; each is imported from its room when it is first used, so that
``import lifagu`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lifagu.basics.html import show_with

if TYPE_CHECKING:
    from lifagu.basics.kernel import has_kernel as has_kernel
    from lifagu.drawing.painting import to_pdf as to_pdf
    from lifagu.drawing.painting import to_png as to_png
    from lifagu.drawing.scene import Scene as Scene
    from lifagu.drawing.scene import side_by_side as side_by_side
    from lifagu.drawing.svg import svg_styles as svg_styles
    from lifagu.drawing.svg import to_svg as to_svg
    from lifagu.errors import FormatError as FormatError
    from lifagu.errors import LifaguError as LifaguError
    from lifagu.errors import MissingExtraError as MissingExtraError
    from lifagu.errors import ModelError as ModelError
    from lifagu.errors import NoAnswerError as NoAnswerError
    from lifagu.errors import Remedy as Remedy
    from lifagu.errors import TooLargeError as TooLargeError
    from lifagu.filling.result import Transfer as Transfer
    from lifagu.filling.rules import Filling as Filling
    from lifagu.filling.transfer import transfer as transfer
    from lifagu.formats import read_queries as read_queries
    from lifagu.formats.csv_table import write_csv as write_csv
    from lifagu.formats.native import from_json as from_json
    from lifagu.formats.native import to_json as to_json
    from lifagu.formats.with_networkx import to_networkx as to_networkx
    from lifagu.formats.with_pgmpy import from_pgmpy as from_pgmpy
    from lifagu.formats.with_pgmpy import to_pgmpy as to_pgmpy
    from lifagu.formats.with_pyagrum import from_pyagrum as from_pyagrum
    from lifagu.formats.with_pyagrum import to_pyagrum as to_pyagrum
    from lifagu.graph.evidence import Evidence as Evidence
    from lifagu.graph.factor_graph import Colouring as Colouring
    from lifagu.graph.factor_graph import FactorGraph as FactorGraph
    from lifagu.inference.answer import Answer as Answer
    from lifagu.inference.answer import Convergence as Convergence
    from lifagu.inference.marginals import AllMarginals as AllMarginals
    from lifagu.inference.most_probable import Best as Best
    from lifagu.inference.question_checks import TooLarge as TooLarge
    from lifagu.inference.relational.marginals import ClassMarginals as ClassMarginals
    from lifagu.inference.relational.most_probable import RelationalBest as RelationalBest
    from lifagu.likeness.merging import merge_tables as merge_tables
    from lifagu.likeness.merging import round_tables as round_tables
    from lifagu.questions import Case as Case
    from lifagu.questions import open as open
    from lifagu.questions.figures import draw as draw
    from lifagu.questions.figures import draw_rounds as draw_rounds
    from lifagu.questions.figures import plot as plot
    from lifagu.questions.findings import Groups as Groups
    from lifagu.questions.findings import Imputed as Imputed
    from lifagu.questions.findings import Lift as Lift
    from lifagu.questions.functions import impute as impute
    from lifagu.questions.functions import log_partition as log_partition
    from lifagu.questions.functions import map_assignment as map_assignment
    from lifagu.questions.functions import marginals as marginals
    from lifagu.questions.functions import queries as queries
    from lifagu.questions.functions import query as query
    from lifagu.questions.planning import describe as describe
    from lifagu.questions.planning import prepare as prepare
    from lifagu.questions.planning import prepare_map as prepare_map
    from lifagu.questions.planning import prepare_marginals as prepare_marginals
    from lifagu.questions.storage import check_database as check_database
    from lifagu.questions.storage import check_target as check_target
    from lifagu.questions.storage import load as load
    from lifagu.questions.storage import read as read
    from lifagu.questions.storage import read_evidence as read_evidence
    from lifagu.questions.storage import write as write
    from lifagu.questions.storage import write_results as write_results
    from lifagu.questions.writing_results import check_imputed_target as check_imputed_target
    from lifagu.questions.writing_results import write_imputed as write_imputed
    from lifagu.questions.writing_results import write_lift as write_lift
    from lifagu.questions.writing_results import write_marginals as write_marginals
    from lifagu.relational.grounding import expand_evidence as expand_evidence
    from lifagu.relational.grounding import ground as ground
    from lifagu.relational.loaded import Loaded as Loaded
    from lifagu.relational.loaded import Source as Source
    from lifagu.relational.parfactor_graph import ParfactorGraph as ParfactorGraph
    from lifagu.symmetry.colour import colour as colour
    from lifagu.symmetry.colour import colour_rounds as colour_rounds
    from lifagu.symmetry.lifting import lift as lift

_ROOMS = {
    "lifagu.basics.kernel": "has_kernel",
    "lifagu.drawing.painting": "to_pdf to_png",
    "lifagu.drawing.scene": "Scene side_by_side",
    "lifagu.drawing.svg": "svg_styles to_svg",
    "lifagu.errors": "FormatError LifaguError MissingExtraError ModelError NoAnswerError Remedy TooLargeError",
    "lifagu.filling.result": "Transfer",
    "lifagu.filling.rules": "Filling",
    "lifagu.filling.transfer": "transfer",
    "lifagu.formats": "read_queries",
    "lifagu.formats.csv_table": "write_csv",
    "lifagu.formats.native": "from_json to_json",
    "lifagu.formats.with_networkx": "to_networkx",
    "lifagu.formats.with_pgmpy": "from_pgmpy to_pgmpy",
    "lifagu.formats.with_pyagrum": "from_pyagrum to_pyagrum",
    "lifagu.graph.evidence": "Evidence",
    "lifagu.graph.factor_graph": "Colouring FactorGraph",
    "lifagu.inference.answer": "Answer Convergence",
    "lifagu.inference.marginals": "AllMarginals",
    "lifagu.inference.most_probable": "Best",
    "lifagu.inference.question_checks": "TooLarge",
    "lifagu.inference.relational.marginals": "ClassMarginals",
    "lifagu.inference.relational.most_probable": "RelationalBest",
    "lifagu.likeness.merging": "merge_tables round_tables",
    "lifagu.questions": "Case open",
    "lifagu.questions.figures": "draw draw_rounds plot",
    "lifagu.questions.findings": "Groups Imputed Lift",
    "lifagu.questions.functions": "impute log_partition map_assignment marginals queries query",
    "lifagu.questions.planning": "describe prepare prepare_map prepare_marginals",
    "lifagu.questions.storage": "check_database check_target load read read_evidence write write_results",
    "lifagu.questions.writing_results": "check_imputed_target write_imputed write_lift write_marginals",
    "lifagu.relational.grounding": "expand_evidence ground",
    "lifagu.relational.loaded": "Loaded Source",
    "lifagu.relational.parfactor_graph": "ParfactorGraph",
    "lifagu.symmetry.colour": "colour colour_rounds",
    "lifagu.symmetry.lifting": "lift",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("lifagu")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'lifagu' has no attribute {name!r}")
    return getattr(import_module(_ROOM_OF[name]), name)


def _html(value: Any) -> str:
    shown: str = import_module("lifagu.questions.notebooks").html(value)
    return shown


show_with(
    _html
    # values say by themselves that they have a picture; how it is made is looked up when one is
    # wanted
)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
