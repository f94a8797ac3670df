"""The case: one value in the middle, which the command line, the page and Python ask the same."""

import copy
import json
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import lifagu
from lifagu.web.limits import Limits
from lifagu.web.sources import ModelSource
from lifagu.web.views import OPERATIONS
from lifagu.web.workbench import Workbench
from support.helpers import ROOT, run_cli, sampled
from support.strategies import observed_graphs

EXAMPLES = {  # model, who is added, evidence, what is asked
    "epidemic": ("epidemic.json", [("eve", "alice")], {"Travel.eve": "true"}, "Sick.eve"),
    "wards": ("wards.json", [], {}, "Recovers.p10"),
    "smokers": ("smokers.json", [], {"Smokes(2..3)": "true"}, "Smokes(1)"),
    "smokers ruth": ("smokers.json", [("ruth", "1")], {"Smokes(2)": "true"}, "Smokes(ruth)"),
    "clinic": ("clinic.json", [], {}, None),
    "workshop": ("workshop.json", [], {}, None),
}
METHODS = {
    "auto": {},
    "lifagu": {"by": "lifagu"},
    "extended": {"by": "extended"},
    "steps": {"by": "extended", "steps": 4},
}
FLAGS = {
    "auto": [],
    "lifagu": ["--fill", "lifagu"],
    "extended": ["--fill", "extended"],
    "steps": ["--fill", "extended", "--steps", "4"],
}


class Silent:
    """Nobody looks."""

    def stage(self, text):
        """Say nothing."""

    def __call__(self, done, total):
        """Say nothing."""


def case_of(name):
    """An example as Python asks it, and the variable to ask about."""
    model, added, evidence, asked = EXAMPLES[name]
    case = lifagu.open(ROOT / "examples" / model)
    for new, like in added:
        case = case.add(new, like)
    case = case.observe(evidence)
    return case, asked or case.graph.variable_names[0]


def by_command_line(capsys, name, asked, *flags):
    """Exit status, and label → probability or the error."""
    model, added, evidence, _ = EXAMPLES[name]
    more = [flag for new, like in added for flag in ("--add", f"{new}={like}")]
    more += [
        flag
        for variable, label in evidence.items()
        for flag in ("--evidence", f"{variable}={label}")
    ]
    status, out, err = run_cli(
        capsys, "query", ROOT / "examples" / model, asked, *more, *flags, "--json"
    )
    if status:
        return status, err
    (answer,) = json.loads(out)["answers"]
    return 0, [answer["probabilities"], answer.get("lower"), answer.get("upper")]


def by_page(folder, name, asked, **request):
    """The same from the page, which is given the evidence of the file."""
    model, added, evidence, _ = EXAMPLES[name]
    bench = Workbench.opened(
        ModelSource("model", ROOT / "examples" / model), Limits(), folder, Silent()
    )
    seen = {**bench.came.own_evidence, **evidence}
    given = {
        "add": [list(pair) for pair in added],
        "evidence": seen,
        "variables": [asked],
        **request,
    }
    try:
        reply = OPERATIONS["ask"](bench, given)
    except lifagu.LifaguError as error:
        return error.exit_status, str(error)
    (answer,) = json.loads(reply.body)["answers"]
    return 0, [answer["probabilities"], answer.get("lower"), answer.get("upper")]


def by_python(case, asked, engine):
    """The same from Python."""
    try:
        answer = case.ask(asked, engine=engine)
    except lifagu.LifaguError as error:
        return error.exit_status, str(error)
    limits = [None if each is None else each.tolist() for each in (answer.lower, answer.upper)]
    return 0, [answer.probabilities.tolist(), *limits]


WAYS = [("auto", "average"), *product(METHODS, ["best"])]
GROUNDED = [("auto", "average"), ("auto", "best"), ("steps", "best")]
ASKED = [
    *((*way, "auto", name) for way, name in product(WAYS, EXAMPLES)),
    *((*way, "ground", name) for way, name in product(GROUNDED, EXAMPLES)),
]
LONGER = [
    pytest.param(*way, "ground", name, marks=pytest.mark.full)
    for way, name in product(WAYS, EXAMPLES)
    if way not in GROUNDED
]


# every way and every example, but not each with each
@pytest.mark.parametrize(
    ("method", "combine", "engine", "name"), [*sampled(ASKED, step=5), *LONGER]
)
def test_command_line_page_and_python_say_the_same(name, method, combine, engine, capsys, tmp_path):
    case, asked = case_of(name)
    mine = by_python(case.fill(combine=combine, **METHODS[method]), asked, engine)
    flags = ["--combine", combine, "--engine", engine, *FLAGS[method]]
    theirs = by_command_line(capsys, name, asked, *flags)
    assert mine[0] == theirs[0], (mine, theirs)
    if not mine[0]:
        assert mine[1] == theirs[1]
    if method == "auto":  # what the page fills by
        assert mine == by_page(tmp_path, name, asked, combine=combine, engine=engine)


def test_what_nothing_competes_in_is_the_same_in_every_way():
    case, asked = case_of("smokers")
    plain = case.ask(asked)
    for combine in ("average", "best"):
        answer = case.fill(combine=combine).ask(asked)
        assert answer.probabilities.tolist() == plain.probabilities.tolist()
    million = json.loads((ROOT / "examples/smokers.json").read_text())
    million["domains"]["Person"] = 10**6
    large = lifagu.open(lifagu.io.from_json(json.dumps(million)))
    assert large.fill(combine="best").ask("Smokes(1)")["true"] == large.ask("Smokes(1)")["true"]
    with pytest.raises(lifagu.TooLargeError, match="once it is grounded"):
        large.ask("Smokes(1)", engine="ground")


# ---- The value itself


def test_cases_never_change():
    first, asked = case_of("epidemic")
    before = first.ask(asked)["true"]
    second = first.observe({"Sick.bob": "true"}).fill(by="lifagu").add("carl", like="bob").forget()
    assert first.ask(asked)["true"] == before != second.ask(asked)["true"]
    with pytest.raises(AttributeError):
        first.filling = None
    seen = {"Sick.bob": "true"}
    third = first.observe(seen)
    seen["Sick.bob"] = "false"
    assert third.evidence["Sick.bob"] == "true"
    assert first.observe(None).ask(asked)["true"] == before


def test_later_observations_override_earlier_ones_and_the_files_own():
    model = {
        "format": "lifagu/1",
        "domains": {"Person": 4},
        "relations": [{"name": "Smokes", "of": ["Person"]}],
        "parfactors": [{"name": "g", "args": ["Smokes(X)"], "table": [3, 1]}],
        "evidence": {"Smokes(1..4)": "true"},
    }
    loaded = lifagu.io.Loaded(lifagu.io.from_json(json.dumps(model)), model["evidence"])
    case = lifagu.open(loaded)
    assert case.evidence == {"Smokes(1..4)": "true"}
    seen = case.observe({"Smokes(2)": "false"}).observe({"Smokes(2..3)": {"false": 1, "true": 1}})
    assert seen.ask("Smokes(2)")["true"] == pytest.approx(0.25)
    assert seen.ask("Smokes(2)", engine="ground")["true"] == pytest.approx(0.25)
    assert case.forget().evidence == {}
    assert case.ask("Smokes(4)")["true"] == 1


def test_progress_may_be_a_plain_function():
    told = []
    graph = lifagu.read(ROOT / "examples/wards.json")
    lifagu.impute(graph, progress=lambda done, total: told.append((done, total)))
    lifagu.open(graph, progress=lambda done, total: told.append((done, total))).marginals()
    assert all(0 <= done <= total for done, total in told)


def test_a_file_is_read_once(tmp_path):
    path = tmp_path / "model.json"
    path.write_text((ROOT / "examples/epidemic.json").read_text())
    case = lifagu.open(path)
    path.unlink()
    assert case.add("eve", like="bob").ask("Sick.eve")["true"] > 0
    assert lifagu.open(case).ask("Epid")["true"] == case.ask("Epid")["true"]


def test_work_that_is_done_is_kept():
    case, _ = case_of("wards")
    assert case.transfer is case.observe({"Staffed": "true"}).transfer
    best = case.fill(combine="best").transfer
    assert best.offers is case.transfer.offers
    assert best.way == "best"
    assert case.transfer is not case.fill(theta=0.9).transfer
    by_evidence = case.fill(by="lifagu")
    assert by_evidence.transfer is not by_evidence.observe({"Staffed": "true"}).transfer
    assert (
        by_evidence.observe({"Staffed": "true"}).transfer
        is by_evidence.observe({"Staffed": "true"}).transfer
    )


def test_a_transfer_is_a_case_as_well():
    moved = lifagu.transfer(lifagu.read(ROOT / "examples/wards.json"), theta=0.5)
    case = lifagu.open(moved)
    assert case.transfer is moved
    assert case.filling == moved.filling
    assert case.ask("Recovers.p10")["true"] == lifagu.query(moved, "Recovers.p10")["true"]


def test_holes_may_stay():
    case = case_of("epidemic")[0].unfilled()
    with pytest.raises(lifagu.NoAnswerError, match=r"f1\.eve"):
        case.ask("Sick.eve")
    with pytest.raises(lifagu.ModelError, match="the holes of this case stay"):
        case.lift()


@pytest.mark.parametrize(
    "travel", [copy.copy, copy.deepcopy, lambda case: pickle.loads(pickle.dumps(case))]
)
@pytest.mark.parametrize("name", EXAMPLES)
def test_cases_travel(name, travel):
    case, asked = case_of(name)
    expected = case.ask(asked).probabilities.tolist()
    again = travel(case)
    assert again.ask(asked).probabilities.tolist() == expected
    assert again.evidence == case.evidence
    with pytest.raises(ValueError, match="read-only"):
        again.graph.arguments[:1] = 7


# ---- Every verb


def test_every_verb_answers(tmp_path):
    case, asked = case_of("epidemic")
    moved = lifagu.transfer(case.graph)
    seen = {"Travel.eve": "true"}
    assert case.ask(asked, "Epid").probabilities.shape == (2, 2)
    assert [each["true"] for each in case.ask_each([asked, ("Epid",)])] == [
        lifagu.query(moved, name, evidence=seen)["true"] for name in (asked, "Epid")
    ]
    assert case.marginals()[asked] == lifagu.marginals(moved, evidence=seen)[asked]
    assert case.marginals(engine="bp")[asked]["true"] == pytest.approx(
        case.ask(asked)["true"], abs=0.02
    )
    assert case.most_probable().log_weight == lifagu.map_assignment(moved, evidence=seen).log_weight
    assert case.log_partition() == lifagu.log_partition(moved, evidence=seen)
    assert case.impute().marginals[asked]["true"] == pytest.approx(case.ask(asked)["true"])
    assert case.groups().colouring == case.lift().groups.colouring
    rounds = list(case.colour_rounds())
    assert rounds[-1] == case.groups().colouring
    assert len(case.draw_rounds()) == len(rounds) > 2
    assert set(lifagu.ground(case.lift().model).variable_names) == set(case.graph.variable_names)
    assert "elimin" in str(case.plan([asked]))
    assert "elimin" in str(case.plan_marginals())
    assert "elimin" in str(case.plan_most_probable())
    assert (
        case.draw("transfers").what
        == case.plot(tmp_path / "eve.svg", "transfers").what
        == "transfers"
    )
    case.write(tmp_path / "eve.json")
    again = lifagu.open(tmp_path / "eve.json")
    assert again.ask(asked)["true"] == case.ask(asked)["true"]
    assert "eve added like alice" in repr(case)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda case: case.observe(["Epid"]), "evidence is a mapping"),
        (lambda case: case.observe({"Epod": "true"}).ask("Epid"), "did you mean 'Epid'"),
        (lambda case: case.fill(thetta=0.5), "filling knows no thetta"),
        (lambda case: case.fill(by="magic"), "the rule to fill by is 'magic'"),
        (lambda case: case.fill(lifagu.Filling(), theta=1), "not both"),
        (lambda case: case.fill("steps"), "fill takes a Filling, not str"),
        (lambda case: case.at("mars"), "'mars' is no place to work"),
        (lambda case: case.at("duckdb").ask("Epid"), "duckdb takes a folder of Parquet tables"),
        (lambda case: case.add("eve", like="nobody").ask("Epid"), "nobody"),
        (lambda case: case.impute(write=True), "reads no database"),
        (
            lambda case: lifagu.open(case, memory_limit="2G"),
            "memory_limit is a whole number of bytes",
        ),
    ],
)
def test_mistakes_are_named(wrong, message):
    with pytest.raises(lifagu.ModelError, match=message):
        wrong(lifagu.open(ROOT / "examples/epidemic.json"))


# ---- The same in memory and on an engine


@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(observed_graphs())
def test_verbs_are_the_same_where_the_data_is(tmp_path_factory, observed):
    folder, (graph, evidence) = tmp_path_factory.mktemp("case") / "big", observed
    lifagu.write(graph, folder, evidence)
    filling = lifagu.Filling(by="extended")
    here, there = (lifagu.open(folder, on=on).fill(filling) for on in ("memory", "duckdb"))
    assert repr(here.groups().largest) == repr(there.groups().largest)
    mine, theirs = here.lift(), there.lift()
    assert (mine.unknown, mine.filled, mine.lent, mine.left) == (
        theirs.unknown,
        theirs.filled,
        theirs.lent,
        theirs.left,
    )
    if not len(graph.variable_names):
        return
    name = graph.variable_names[0]
    try:
        expected = here.ask(name)
    except lifagu.NoAnswerError:
        with pytest.raises(lifagu.NoAnswerError):
            there.ask(name)
        return
    found = there.ask(name)
    assert found.probabilities.tolist() == pytest.approx(
        expected.probabilities.tolist(), rel=1e-9, abs=1e-12
    )
    assert (sorted(found.rests_on), found.weakest_share) == (
        sorted(expected.rests_on),
        expected.weakest_share,
    )
    columns, others = (case.impute([name]).marginals.columns() for case in (here, there))
    assert list(columns) == list(others)
    assert np.array_equal(columns["transferred"], others["transferred"])


def test_a_folder_on_an_engine_is_never_read_into_memory(tmp_path, monkeypatch, capsys):
    lifagu.write(lifagu.read(ROOT / "examples/wards.json"), tmp_path / "big", {"Staffed": "true"})

    def read(*_):
        raise AssertionError("the folder was read")

    monkeypatch.setattr("lifagu.questions.storage.load", read)
    monkeypatch.setattr("lifagu.questions.opened.load", read)
    more = ("--on", "duckdb", "--fill", "extended", "--evidence", "Recovers.p1=true")
    for command in (("query", "Recovers.p10"), ("logz",), ("lift",), ("impute",)):
        status, out, err = run_cli(capsys, command[0], tmp_path / "big", *command[1:], *more)
        assert (status, err) == (0, "")
        assert command[0] != "query" or out.startswith("P(Recovers.p10 | Recovers.p1=true)")


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda case: case.add("eve", like="alice").ask("Epid"), "add"),
        (lambda case: case.fill(by="extended", steps=4).lift(), "more than two steps"),
        (lambda case: case.ask("Epid", engine="bp"), "engine bp"),
        (lambda case: case.marginals(), "marginals"),
        (lambda case: case.most_probable(), "most probable"),
        (lambda case: case.plot("x.svg"), "draw"),
        (lambda case: case.draw_rounds(), "draw"),
        (lambda case: list(case.colour_rounds()), "colour rounds"),
        (lambda case: case.forget().ask("Epid"), "forgetting"),
    ],
)
def test_what_an_engine_cannot_do_is_refused_before_anything_starts(wrong, what, tmp_path):
    lifagu.write(lifagu.read(ROOT / "examples/epidemic.json"), tmp_path / "big")
    told = []

    class Telling(Silent):
        def stage(self, text):
            told.append(text)

    case = lifagu.open(tmp_path / "big", on="duckdb", progress=Telling())
    with pytest.raises(lifagu.ModelError, match=f"^{what}.* works in memory only, not on duckdb"):
        wrong(case)
    assert not told
