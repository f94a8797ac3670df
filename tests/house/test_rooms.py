"""The doors of the house: imports go only downward, also inside functions."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.helpers import ROOT

PACKAGE = ROOT / "src/lifagu"
BELOW = ("errors", "basics", "graph", "relational", "likeness")  # each knows those before it
SIBLINGS = (
    "symmetry",
    "filling",
    "inference",
    "formats",
    "data",
    "drawing",
    "learning",
)  # none knows another, but filling asks inference
ROOMS: dict[str, set[str]] = {
    **{room: set(BELOW[:place]) for place, room in enumerate(BELOW)},
    **{room: set(BELOW) for room in SIBLINGS},
    "filling": {*BELOW, "inference"},
    "scale": {*BELOW, "data"},
    "drafting": {*BELOW, "inference", "learning", "formats", "data"},
    "questions": {*BELOW, *SIBLINGS, "scale", "drafting"},
    "io": {"formats", "questions", "relational"},
    "": {*BELOW, *SIBLINGS, "scale", "questions", "drafting", "io"},  # the facade
    "examples": {"errors", "basics", "data"},
    "web": {"", "errors", "basics", "questions", "formats", "drawing"},
    "cli": {"", "errors", "basics", "questions", "drafting", "examples", "web"},
    "__main__": {"cli"},
}
TYPES_ONLY = ("web", "cli")  # from any other room below they take types, to say what they show
# modules in which names are looked up when they are first used
ENTRANCES = {"", "basics.kernel", "formats", "formats.with_pgmpy", "web.preloaded"}
OUTSIDE = {  # heavy or optional packages, and the only modules that may import each
    "pyagrum": {"formats.with_pyagrum"},
    "pgmpy": {"formats.with_pgmpy"},
    "networkx": {"formats.with_networkx"},
    "duckdb": {"data.duck"},
    "pyspark": {"scale.engines.spark_session", "scale.engines.spark_watch"},
    "py4j": {"scale.engines.spark_session", "scale.engines.spark_watch"},
    "psycopg": {"data.databases.served"},
    "vl_convert": {"drawing.converting"},
    "starlette": {"web.app"},
    "uvicorn": {"web.serving", "web.connections"},
}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def nodes_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of imports that only type checkers read."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from nodes_that_run(node)


def imports_of(name: str) -> Iterator[tuple[str, str]]:
    """(module, imported name) of every import that runs; "" for a whole module."""
    for node in nodes_that_run(TREES[name]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            yield from ((node.module or "", alias.name) for alias in node.names)


def own_imports(name: str) -> Iterator[tuple[str, str]]:
    """The same for modules of the package, ``lifagu`` left out; the facade is ""."""
    for module, imported in imports_of(name):
        if module == "lifagu" or module.startswith("lifagu."):
            own = module.removeprefix("lifagu").removeprefix(".")
            inner = f"{own}.{imported}".removeprefix(".")
            yield (inner, "") if inner in MODULES else (own, imported)


def room_of(module: str) -> str:
    return module.split(".")[0]


def allowed(name: str, module: str, imported: str) -> bool:
    room, target = room_of(name), room_of(module)
    if target == room or target in ROOMS[room]:
        return True
    return room in TYPES_ONLY and imported[:1].isupper() and target in ROOMS["questions"]


@pytest.mark.parametrize("name", list(MODULES))
def test_imports_go_downward(name):
    wrong = {each for each in own_imports(name) if not allowed(name, *each)}
    assert not wrong, f"{name or 'lifagu'} may not import {wrong}"


def test_the_root_holds_nothing_but_doors_and_errors():
    assert {path.stem for path in PACKAGE.glob("*.py")} == {"__init__", "__main__", "errors", "io"}
    assert {room_of(name) for name in MODULES} == {*ROOMS}


def doors(name: str, module: str) -> set[str]:
    """What importing a module runs: itself, and the doors of the packages on the way to it."""
    parts = module.split(".")
    on_the_way = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return {each for each in on_the_way if not f"{name}.".startswith(f"{each}.") or each == module}


def test_no_import_cycles():
    edges = {
        name: {door for module, _ in own_imports(name) if module for door in doors(name, module)}
        for name in MODULES
        if name  # nobody below imports the facade, which another test holds
    }
    while edges:
        free = [name for name, needs in edges.items() if not (needs - {name}) & edges.keys()]
        assert free, f"a cycle among {sorted(edges)}"
        for name in free:
            del edges[name]


def test_cycles_are_found(monkeypatch):
    """The check above, tried on a cycle through a package's own door, inside of a function."""
    lazy = ast.parse("def f():\n    from lifagu.graph.tables import Tables")
    monkeypatch.setitem(TREES, "basics", lazy)
    with pytest.raises(AssertionError, match="a cycle among"):
        test_no_import_cycles()


def test_nothing_is_imported_by_a_text():
    for name, tree in TREES.items():
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        dynamic = [each for each in calls if "import_module" in ast.unparse(each.func)]
        assert not dynamic or name in ENTRANCES, name


@pytest.mark.parametrize("package", OUTSIDE)
def test_heavy_packages_have_one_door(package):
    users = {
        name for name in MODULES if any(room_of(each) == package for each, _ in imports_of(name))
    }
    assert users <= OUTSIDE[package]


SMALL = [("epidemic.json", "Epid", 107), ("smokers.json", "Smokes(1)", 148)]
NOT_FOR_SMALL = {"data", "scale", "drawing", "web", "examples", "symmetry"}
HEAVY = {"duckdb", "vl_convert", "starlette", "numpy.ma", "concurrent.futures", "tempfile"}


@pytest.mark.parametrize(("model", "name", "most"), SMALL)
def test_a_small_question_imports_what_it_needs(model, name, most):
    program = (
        "import sys; from lifagu.cli import main; main(sys.argv[1:]); "
        "sys.stderr.write(' '.join(sys.modules))"
    )
    command = [sys.executable, "-c", program, "query", str(ROOT / "examples" / model), name]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stderr.split()
    own = {each.removeprefix("lifagu.") for each in found if room_of(each) == "lifagu"}
    assert not {room_of(each) for each in own} & NOT_FOR_SMALL
    assert not own & {"questions.notebooks", "questions.findings", "io"}
    assert not HEAVY & {*found}
    assert len(own) <= most


def test_help_imports_nothing_heavy():
    for name in ("cli", "cli.parser", "cli.options", "cli.values", "errors", ""):
        at_top = [
            node for node in TREES[name].body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert not any("numpy" in ast.unparse(node) for node in at_top), name


def test_nothing_prints_outside_the_command_line():
    for name, tree in TREES.items():
        if room_of(name) != "cli":
            names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
            assert "print" not in names, name
