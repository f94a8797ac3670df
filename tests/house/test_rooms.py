"""The doors of the house: imports go only downward, also those inside functions."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from support.helpers import ROOT

PACKAGE = ROOT / "src/lifagu"
VALUES = [
    *(
        "errors",
        "given",
        "showing",
        "kernel",
        "replacing",
        "arrays",
        "values",
        "names",
        "columns",
        "ranges",
        "tables",
        "evidence",
        "checks",
    ),
    *("assembly", "builder", "views", "model"),
    *("roles", "parts", "drift", "closeness", "rounding"),
    *(
        "domains",
        "terms",
        "original_names",
        "relations",
        "parfactors",
        "proofs",
        "notation",
        "relational_builder",
    ),
    *("relational", "substitutions"),
    *(
        "ground_names",
        "ground_tables",
        "ground_parts",
        "grounding",
        "loaded",
        "template",
        "filling",
        "places",
    ),
]
# composes what the rooms offer, from the outside in
FACADE = [
    *("", "notebooks", "plots", "requested", "findings", "lent"),
    *("answers", "beliefs", "unsure", "results", "storage"),
]
BELOW_SCALE = ("findings", "results", "storage", "lent", "requested", "unsure")
OUTSIDE = {  # heavy or optional packages, and the only module that may import each
    "pyagrum": {"formats.with_pyagrum"},
    "pgmpy": {"formats.with_pgmpy"},
    "networkx": {"formats.with_networkx"},
    "duckdb": {"sql.duck"},
    "pyspark": {"sql.engines.spark_session", "sql.engines.spark_watch"},
    "py4j": {"sql.engines.spark_session", "sql.engines.spark_watch"},
    "sqlalchemy": {"sql.databases.served"},
    "psycopg": {"sql.databases.served"},
    "shtab": {"cli.commands"},
    "matplotlib": {"drawing.canvas"},
    "starlette": {"web.app"},
    "uvicorn": {"web.serving"},
}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def own_imports(name: str) -> set[str]:
    """Modules of the package that a module imports; the package itself is ''."""
    found = {
        each.removeprefix("lifagu").removeprefix(".")
        for each in imports_of(MODULES[name])
        if is_own(each)
    }
    return {each for each in found if each in MODULES}


def is_own(name: str) -> bool:
    return name == "lifagu" or name.startswith("lifagu.")


def allowed(name: str, imported: str) -> bool:
    room, target = name.split(".")[0], imported.split(".")[0]
    if name in VALUES:
        return imported in VALUES[: VALUES.index(name)]
    if room == "cli":
        return target in ("", "cli", "experiments", "examples", "web") or imported in (
            "errors",
            "findings",
            "drift",
        )
    if room == "web":
        below = ("errors", "formats", "drawing.graphs", "drawing.lifted", "loaded", "places")
        return target in ("", "web") or imported in (*below, "filling")
    if room == "questions":
        return target not in ("", "notebooks", "cli", "experiments", "web", "examples")
    if room == "scale":
        return target in ("scale", "sql", "symmetry", "infer") or imported in (
            *VALUES,
            *BELOW_SCALE,
        )
    if room == "examples":
        return target in ("examples", "sql") or imported in VALUES
    if room == "experiments":
        return target in ("", "experiments") or imported in (
            "errors",
            "formats.files",
            "drawing.canvas",
        )
    if name in FACADE:
        return (
            target not in ("cli", "experiments", "web")
            and imported not in FACADE[: FACADE.index(name) + 1]
        )
    return target == room or imported in VALUES


@pytest.mark.parametrize("name", list(MODULES))
def test_imports_go_downward(name):
    wrong = {each for each in own_imports(name) if not allowed(name, each) and each != name}
    assert not wrong, f"{name or 'lifagu'} may not import {wrong}"


def test_every_module_has_a_room():
    rooms = {"symmetry", "infer", "drawing", "formats", "sql", "scale", "questions"}
    rooms |= {"examples", "experiments", "web", "cli"}
    assert {name.split(".")[0] for name in MODULES} == {*FACADE, *VALUES, *rooms}


def test_no_import_cycles():
    edges = {name: own_imports(name) - {name} for name in MODULES}
    # a package's own door is what its modules stand behind, not something they import
    for name in edges:
        edges[name] = {each for each in edges[name] if not name.startswith(f"{each}.")}
    while edges:
        free = [name for name, needs in edges.items() if not needs & edges.keys()]
        assert free, f"a cycle among {sorted(edges)}"
        for name in free:
            del edges[name]


@pytest.mark.parametrize("package", OUTSIDE)
def test_heavy_packages_have_one_door(package):
    users = {
        name
        for name, path in MODULES.items()
        if any(each == package or each.startswith(f"{package}.") for each in imports_of(path))
    }
    assert users <= OUTSIDE[package]


@pytest.mark.parametrize(
    ("model", "name", "most"), [("epidemic.json", "Epid", 95), ("smokers.json", "Smokes(1)", 130)]
)
def test_a_small_question_imports_what_it_needs(model, name, most):
    program = "import sys; from lifagu.cli import main; main(sys.argv[1:]); sys.stderr.write(' '.join(sys.modules))"
    command = [sys.executable, "-c", program, "query", str(ROOT / "examples" / model), name]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stderr.split()
    own = {each.removeprefix("lifagu.") for each in found if is_own(each)}
    rooms = {each.split(".")[0] for each in own}
    assert not rooms & {
        "sql",
        "scale",
        "drawing",
        "web",
        "experiments",
        "examples",
        "symmetry",
        "notebooks",
        "findings",
    }
    assert not {
        "duckdb",
        "matplotlib",
        "starlette",
        "numpy.ma",
        "concurrent.futures",
        "tempfile",
    } & {*found}
    assert len(own) <= most


def test_help_imports_nothing_heavy():
    assert not any(
        each.startswith("numpy")
        for name in ("cli", "cli.parser", "cli.options", "cli.values", "errors", "")
        for each in top_level(name)
    )


def top_level(name: str) -> set[str]:
    found = set()
    for node in ast.parse(MODULES[name].read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_nothing_prints_outside_the_command_line():
    for name, path in MODULES.items():
        if not name.startswith("cli"):
            assert not any(
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "print"
                for node in ast.walk(ast.parse(path.read_text()))
            ), name
