"""Errors speak the caller's language, Python's or the command line's, in one line."""

import ast
import copy
import json
import pickle
import re
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lifagu
from lifagu.cli import commands
from lifagu.cli.parser import make_parser
from lifagu.cli.remedies import FLAGS
from lifagu.data.databases.trusted_roles import refuse_reaching
from lifagu.data.duck import Duck
from lifagu.errors import LONGEST, LifaguError, MissingExtraError, Remedy, did_you_mean, one_line
from lifagu.formats.json_lines import PathError
from lifagu.inference.memory_limit import PlanTooLargeError
from lifagu.questions.where_to_work import BY_SQL
from lifagu.questions.whole_relations import Wanted, ask_all
from lifagu.scale.engines.on_duckdb import DuckEngine
from lifagu.scale.engines.spark_words import refusal
from lifagu.web import serve
from lifagu.web.reply import KNOBS
from support.helpers import ROOT, run_cli

PACKAGE = ROOT / "src/lifagu"
EXAMPLES = files("lifagu") / "examples"
# var(--ink) is a colour of a style sheet
FLAG = re.compile(r"(?<![\w-])(?<!var\()--[a-z][a-z-]+")
COMMAND = re.compile(rf"\blifagu ({'|'.join(commands.COMMANDS)})\b")
NOWHERE = "192.0.2.1"  # an address of nobody's machine

# ---- the same error in two languages


def chain(length: int = 70) -> lifagu.FactorGraph:
    """Variables one after the other, every third table unknown."""
    builder = lifagu.FactorGraph.build().variables([f"v{each}" for each in range(length)])
    for each in range(length - 1):
        builder.factor(
            f"f{each}", [f"v{each}", f"v{each + 1}"], None if each % 3 == 1 else [1, 2, 3, 4]
        )
    return builder.graph()


def people() -> lifagu.FactorGraph:
    """Four people around a hub; two tables compete for one, and nobody lends what lonely needs."""
    builder = lifagu.FactorGraph.build().variable("H").variable("L", ["a", "b", "c"])
    for name, table in (("ann", [1, 2, 3, 4]), ("bob", [4, 2, 3, 1]), ("eve", None)):
        builder.variable(f"S.{name}", kind="S", individual=name).factor(
            f"f.{name}", ["H", f"S.{name}"], table
        )
    return builder.factor("lonely", ["H", "L"], None).graph()


ENDLESS = "WITH RECURSIVE t(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM t) SELECT max(id) FROM t"


def foreign(source: str, sql: str = ENDLESS, **settings: Any) -> lifagu.Case:
    """A template of one query, opened where we are."""
    sqlite3.connect("foreign.db").close()
    template = {"format": "lifagu/1", "source": source or "none.db", "domains": {"D": {"sql": sql}}}
    Path("foreign.json").write_text(json.dumps(template))
    return lifagu.open("foreign.json", **settings)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Models in files and folders, and limits so low that small models reach them."""
    monkeypatch.chdir(tmp_path)
    for name, graph in (("chain", chain()), ("people", people())):
        lifagu.write(graph, f"{name}.json")
        lifagu.write(graph, f"{name}/")
    Path("paper/cells/old").mkdir(parents=True)
    monkeypatch.setattr("lifagu.inference.relational.marginals.MOST_LISTED", 1)
    return monkeypatch


def by_engine(fault):
    """Let everything that an engine is to do end with an error."""

    def create(*_):
        raise fault()

    return lambda patch: patch.setattr(DuckEngine, "create", create)


def at_most(limit, most=1):
    return lambda patch: patch.setattr(limit, most)


def lifted(folder="chain/", **settings):
    return lambda: lifagu.open(folder, on="duckdb", **settings).lift()


def asked(*names, graph=chain, **settings):
    return lambda: lifagu.query(graph(), *names, **settings)


def unsure(*names, theta=0.0, **settings):
    return lambda: lifagu.query(lifagu.transfer(people(), theta), *names, **settings)


def moved(**settings):
    return lambda: lifagu.transfer(chain(), **settings)


def smokers():
    return lifagu.marginals(lifagu.read(EXAMPLES / "smokers.json")).expanded()


MANY = [f"v{each}" for each in range(61)]
LIFT = "lift chain/ --on duckdb"
PROVOKED = {  # what makes it happen, in Python and on the command line, if it can happen there
    Remedy.MORE_MEMORY: (None, lifted(memory_limit=2048), f"{LIFT} --memory-limit 2k"),
    Remedy.LARGER_LIMIT: (
        lambda patch: Path("wide.uai").write_text("MARKOV\n1\n999999\n0\n"),
        lambda: lifagu.open("wide.uai", memory_limit=2**25),
        "info wide.uai --memory-limit 32M",
    ),
    Remedy.MORE_MEMORY_ON_SPARK: (by_engine(lambda: refusal("OutOfMemory")), lifted(), LIFT),
    Remedy.ASK_FOR_LESS: (
        None,
        lambda: lifagu.log_partition(moved()().graph, engine="ground", memory_limit=10),
        "logz chain.json --engine ground --memory-limit 10",
    ),
    Remedy.FEWER_JOINTLY: (None, asked(*MANY), f"query chain.json {' '.join(MANY)} --joint"),
    Remedy.IN_MEMORY: (at_most("lifagu.scale.factor_types.MOST_TYPES"), lifted(), LIFT),
    Remedy.MEMORY_OR_RULE: (None, lifted("people/"), "lift people/ --on duckdb"),
    Remedy.MORE_MEMORY_OR_RULE: (
        lambda patch: patch.setitem(BY_SQL, "lift", 10**9),  # bytes for an argument
        lambda: lifagu.open("people/", memory_limit=2**30).lift(),
        "lift people/ --memory-limit 1G",
    ),
    Remedy.FEWER_TYPES: (
        at_most("lifagu.scale.individuals.MOST_TYPES"),
        lifted("people/"),
        "lift people/ --on duckdb",
    ),
    Remedy.OTHER_TEMP: (
        by_engine(lambda: Duck._refusal("No space left on device", False, "duckdb")),
        lifted(),
        LIFT,
    ),
    Remedy.MAKE_FOLDER: (None, lifted("chain.json"), "lift chain.json --on duckdb"),
    Remedy.WRITE_ELSEWHERE: (
        None,
        lambda: lifagu.io.check_database(lifagu.io.load(EXAMPLES / "clinic.json").source),
        f"impute {EXAMPLES / 'clinic.json'} --write",
    ),
    Remedy.NO_DATABASE: (
        None,
        lambda: lifagu.io.load("chain.json", "x.duckdb"),
        "check chain.json --db x.duckdb",
    ),
    Remedy.NO_PARAMETERS: (
        None,
        lambda: lifagu.io.load("chain.json", parameters={"ward": 4}),
        "check chain.json --set ward=4",
    ),
    Remedy.ASK_TRANSFER: (None, asked("v0", combine="average"), None),
    Remedy.LEAVE_OUT: (
        None,
        lambda: lifagu.open("chain/", on="duckdb").marginals(),
        f"{LIFT} --fill extended --steps 4",
    ),
    Remedy.FILL: (None, lambda: lifagu.open("chain.json").unfilled().lift(), None),
    Remedy.WRITE_GROUPS: (None, lambda: lifted()().model, None),
    Remedy.EXACT_ENGINE: (None, asked("v0", engine="bp"), "query people.json H --engine bp"),
    Remedy.ASK_ALL: (
        None,
        lambda: lifagu.open(EXAMPLES / "epidemic.json").ask("Sick"),
        f"query {EXAMPLES / 'epidemic.json'} Sick --joint",
    ),
    Remedy.ASK_ONE: (None, lambda: lifagu.open(EXAMPLES / "epidemic.json").ask_all("Epid"), None),
    Remedy.NO_WHERE: (
        None,
        lambda: lifagu.open(EXAMPLES / "epidemic.json").ask_all("Sick", where="1 = 1"),
        f"query {EXAMPLES / 'epidemic.json'} Sick --where 1=1",
    ),
    Remedy.FEWER_SHOWN: (
        None,
        lambda: ask_all(lifagu.open(EXAMPLES / "epidemic.json"), "Sick", Wanted(most=1)),
        None,
    ),
    Remedy.BY_CLASS: (None, smokers, f"marginals {EXAMPLES / 'smokers.json'} --expand"),
    Remedy.AUTO_OR_BEST: (
        None,
        moved(by="extended", combine="average"),
        "lift chain.json --fill extended --combine average",
    ),
    Remedy.NO_KEEP_KNOWN: (
        None,
        moved(by="lifagu", keep_known=True),
        "lift chain.json --fill lifagu --keep-known",
    ),
    Remedy.NAME_RULE: (
        None,
        moved(by="auto", theta=0.5),
        "lift chain.json --fill auto --theta 0.5",
    ),
    Remedy.OBSERVE: (None, lambda: lifagu.open("chain.json").validate(), "validate chain.json"),
    Remedy.SMALLER_FOLDER: (
        None,
        lambda: lifagu.open("chain/", memory_limit=2048).validate(),
        "validate chain/ --memory-limit 2k",
    ),
    Remedy.ADD_INSTEAD: (
        at_most("lifagu.questions.admission.shares.MOST_ENTRIES"),
        lambda: lifagu.open("people.json").fill(by="extended").admit("zoe", "ann").ask("S.zoe"),
        "query people.json S.zoe --fill extended --admit zoe=ann",
    ),
    Remedy.ONE_TABLE_OR_ADD: (
        at_most("lifagu.questions.admission.shares.MOST_ENTRIES"),
        lambda: lifagu.open("people.json").admit("zoe", "ann").ask("S.zoe"),
        "query people.json S.zoe --admit zoe=ann",
    ),
    Remedy.NO_ADMISSION: (
        None,
        lambda: lifagu.open("people.json").admit("zoe", "ann").validate(),
        "validate people.json --admit zoe=ann",
    ),
    Remedy.ALLOW_ENV: (
        None,
        lambda: foreign("postgresql://${LIFAGU_SECRET}@nobody/x"),
        "check foreign.json",
    ),
    Remedy.NAME_DATABASE: (
        None,
        lambda: foreign("postgresql://eve@nobody/x?passfile=mine"),
        "check foreign.json",
    ),
    Remedy.LONGER_QUERY: (
        None,
        lambda: foreign("foreign.db", query_timeout=0.02),
        "check foreign.json --query-timeout 0.02",
    ),
    Remedy.TRUST_ROLE: (
        None,
        lambda: refuse_reaching(lambda _: [("is a superuser", "eve")], "here"),
        None,
    ),
    Remedy.VIEW_INSTEAD: (
        None,
        lambda: foreign("", "FROM 'x.csv'", database=duckdb.connect()),
        None,
    ),
    Remedy.OTHER_PORT: (None, lambda: serve(ready=print, host=NOWHERE), f"serve --host {NOWHERE}"),
}


@pytest.mark.parametrize("remedy", Remedy, ids=lambda remedy: remedy.name)
def test_each_caller_is_told_in_its_own_words(here, capsys, remedy):
    provoke, call, command = PROVOKED[remedy]
    if provoke:
        provoke(here)
    with pytest.raises(LifaguError) as raised:
        call()
    assert raised.value.remedy is remedy
    name = raised.value.about or "NAME"
    assert str(raised.value) == f"{raised.value.message}; {remedy.value.replace('NAME', name)}"
    if command is None:
        return
    status, out, err = run_cli(capsys, *command.split())
    last = err.splitlines()[-1]
    assert (status, out) == (raised.value.exit_status, "")
    assert last.startswith("error: ")
    assert last.endswith(f"; {FLAGS[remedy].replace('NAME', name)}")


def test_every_remedy_has_its_words():
    assert list(FLAGS) == list(Remedy)
    assert set(KNOBS) <= set(Remedy)
    assert max(map(len, [*Remedy, *FLAGS.values(), *KNOBS.values()])) <= 130


def test_remedies_name_flags_that_there_are():
    parsers = make_parser()._subparsers._group_actions[0].choices.values()
    known = {
        flag for parser in parsers for action in parser._actions for flag in action.option_strings
    }
    words = " ".join(FLAGS.values())
    assert set(FLAG.findall(words)) <= known
    assert set(FLAG.findall(" ".join(KNOBS.values()))) == {"--memory-limit"}  # of lifagu serve
    assert not FLAG.search(" ".join(Remedy))
    assert not [flag for flag in known if "-" in flag[2:] and flag[2:].replace("-", "_") in words]


# ---- nothing in the library speaks of flags


def library():
    outside = ("cli", "web", "examples")
    return [
        path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in outside
    ]


@pytest.mark.parametrize("path", library(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_text_in_the_library_names_a_flag(path):
    """Nor, outside docstrings, a command. The page is served by `lifagu serve`, and may say so."""
    tree = ast.parse(path.read_text())
    texts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    docstrings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for node in texts:
        assert not FLAG.search(node.value), f"line {node.lineno}"
        assert node in docstrings or not COMMAND.search(node.value), f"line {node.lineno}"


# ---- one line, whatever is quoted

HOSTILE = {
    "long": "x" * 1_000_000,
    "long words": "word " * 200_000,
    "lines": "a\nb\r\nc\u2028d",
    "control": "a\x00b\x1b[31mc\x7f",
    "turned": "a\u202eb\u2067c\u200fd",
    "lone": "a\udc80b",
}


def is_harmless(text):
    return text.isprintable() and 0 < len(text) <= LONGEST + len(
        "error:  (see lifagu marginals --help)"
    )


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "quote",
    [
        lambda graph, name: graph.variable(name),
        lambda graph, name: graph.evidence({name: "true"}),
        lambda graph, name: graph.evidence({"H": name}),
        lambda graph, name: lifagu.query(graph, "H", name),
        lambda graph, name: lifagu.query(graph, "H", engine=name),
        lambda graph, name: lifagu.read(name),
        lambda graph, name: lifagu.read(f"{name}.json"),
        lambda graph, name: lifagu.io.from_json(json.dumps({"format": "lifagu/1", name: []})),
        lambda graph, name: lifagu.FactorGraph.build().variable(name).variable(name),
        lambda graph, name: (
            lifagu.FactorGraph.build().variable(name, [name, "b"]).factor(name, [name], [1]).graph()
        ),
        lambda graph, name: lifagu.FactorGraph.build().factor(name, [name], None).graph(),
    ],
)
def test_hostile_names_in_python(quote, name):
    with pytest.raises(LifaguError) as raised:
        quote(people(), name)
    assert is_harmless(str(raised.value))
    assert len(str(raised.value)) <= LONGEST


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "people.json", "{}"),
        ("query", "people.json", "H", "--evidence", "{}=true"),
        ("query", "people.json", "H", "--evidence", "H={}"),
        ("query", "people.json", "H", "--theta", "{}"),
        ("query", "people.json", "H", "--combine", "{}"),
        ("lift", "people.json", "--add", "{}=nobody"),
        ("lift", "people.json", "--on", "{}"),
        ("check", "{}"),
        ("check", "{}.json"),
        ("plot", "people.json", "--out", "{}"),
        ("{}",),
    ],
    ids=" ".join,
)
def test_hostile_names_on_the_command_line(here, capsys, arguments, name):
    status, out, err = run_cli(capsys, *(each.replace("{}", name) for each in arguments))
    assert (status, out, err.count("\n"), err[:7]) == (2, "", 1, "error: ")
    assert is_harmless(err[:-1])


def test_the_remedy_outlasts_a_cut():
    told = str(lifagu.TooLargeError("word " * 1000 + "is too much", remedy=Remedy.MORE_MEMORY))
    assert len(told) == LONGEST
    assert told.startswith("word word")
    assert told.endswith(f"is too much; {Remedy.MORE_MEMORY}")


def test_what_is_cut_and_what_is_not():
    path = f"/tmp/{'deep/' * 30}model.json"
    assert one_line(f"{path}: there is no such file") == f"{path}: there is no such file"
    assert one_line(f"no '{'x' * 100}' there") == f"no '{'x' * 39}…{'x' * 18}' there"
    assert did_you_mean("x" * 1_000_000, ["x" * 999_999]) == ""


# ---- errors on their way


@pytest.mark.parametrize(
    "error",
    [
        lifagu.TooLargeError("full", remedy=Remedy.MORE_MEMORY),
        lifagu.ModelError("wrong"),
        MissingExtraError("duckdb", "this", "sql"),
        PathError("model.json", ("factors", 3), "wrong"),
        PlanTooLargeError("log Z", [((1, 2), "needs much")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_the_borders_of_processes(error):
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(other), str(other), other.remedy) == (type(error), str(error), error.remedy)
        assert vars(other) == vars(error)
    said = error.saying("said otherwise")
    assert (type(said), said.message, said.remedy) == (type(error), "said otherwise", error.remedy)
    assert error.message != "said otherwise"
