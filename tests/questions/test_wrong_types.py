"""Values of the wrong type at the public door: each is taken, or refused in one line."""

import inspect
import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import lifagu
from lifagu.graph.evidence import Evidence
from lifagu.likeness.merging import merge_tables
from lifagu.questions.figures import draw_rounds
from lifagu.questions.planning import prepare, prepare_map, prepare_marginals
from lifagu.relational.grounding import expand_evidence
from lifagu.symmetry.colour import colour_rounds

MASKED = np.ma.array([0, 1], mask=[False, True])

ON_ALL = (lifagu.log_partition, lifagu.marginals, lifagu.map_assignment)


def town():
    builder = lifagu.FactorGraph.build().variable("Epid")
    for name in "abc":
        builder.variable(f"Sick.{name}", individual=name, kind="Sick")
        builder.factor(f"f.{name}", [f"Sick.{name}", "Epid"], None if name == "c" else [4, 1, 1, 3])
    return builder.graph()


def people():
    builder = (
        lifagu.ParfactorGraph.build()
        .domain("Person", 4)
        .relation("Epid")
        .relation("Sick", "Person")
    )
    return builder.parfactor("g", ["Sick(X)", "Epid"], [4, 1, 1, 3]).model()


HOLES = town()
MOVED = lifagu.transfer(HOLES)
GRAPH = MOVED.graph
MODEL = people()
ARRAYS = {
    "ranges": [["a", "b"]],
    "variable_ranges": [0, 0],
    "offsets": [0, 2],
    "arguments": [0, 1],
    "tables": [[1, 2, 3, 4]],
    "factor_tables": [0],
    "variable_names": ["A", "B"],
    "factor_names": ["f"],
    "kinds": ["k"],
    "variable_kinds": [0, -1],
    "individuals": ["i"],
    "individual_offsets": [0, 1, 1],
    "variable_individuals": [0],
}


def arrays(**changed):
    return lifagu.FactorGraph.from_arrays(**ARRAYS | changed)


def build():
    return lifagu.FactorGraph.build().variable("A").variable("B")


def relational():
    return lifagu.ParfactorGraph.build().domain("Person", 3).relation("Sick", "Person")


REFUSED = {
    "fractions as ids": (
        lambda: arrays(arguments=[0, 1.5]),
        "arguments hold float64; give whole numbers",
    ),
    "floats as ids": (lambda: arrays(arguments=np.array([0.0, 1.0])), "arguments hold float64"),
    "floats as offsets": (lambda: arrays(offsets=[0.0, 2.0]), "offsets hold float64"),
    "ids as text": (lambda: arrays(variable_ranges=["0", "0"]), "variable_ranges hold <U1"),
    "truth values as ids": (lambda: arrays(factor_tables=[False]), "factor_tables hold bool"),
    "ragged ids": (lambda: arrays(arguments=[[0], [0, 1]]), "arguments hold a list"),
    "ids in two axes": (
        lambda: arrays(arguments=[[0, 1]]),
        "arguments hold a list; .* of one axis",
    ),
    "one id": (lambda: arrays(arguments=0), "arguments hold a int"),
    "no ids": (lambda: arrays(arguments=None), "arguments hold a NoneType"),
    "huge ids": (lambda: arrays(arguments=[0, 2**70]), "arguments hold object"),
    "masked ids": (lambda: arrays(arguments=MASKED), "arguments hold a MaskedArray"),
    "unsigned -1": (
        lambda: arrays(factor_tables=np.array([-1]).astype(np.uint64)),
        "factor_tables hold 18446744073709551615, which no number is; -1 needs an array "
        "of signed integers",
    ),
    "ragged tables": (
        lambda: arrays(tables=[[[1, 2], [3]]]),
        "table 0 holds something that is not a number",
    ),
    "text tables": (
        lambda: arrays(tables=[["1", "2", "3", "4"]]),
        "table 0 holds something that is not a number",
    ),
    "a text for tables": (lambda: arrays(tables="1234"), "tables is a list of tables, not '1234'"),
    "boolean tables": (
        lambda: arrays(tables=np.ones((1, 4), dtype=bool)),
        "table 0 holds something that",
    ),
    "a boolean in a table": (
        lambda: arrays(tables=[[1, 2, 3, True]]),
        "table 0 holds something that is not a number",
    ),
    "complex tables": (
        lambda: arrays(tables=np.ones((1, 4), dtype=complex)),
        "table 0 holds something that",
    ),
    "masked tables": (
        lambda: arrays(tables=[np.ma.array([1.0] * 4, mask=[1, 0, 0, 0])]),
        "table 0 holds",
    ),
    "nan in a table": (
        lambda: arrays(tables=[[1, 2, 3, float("nan")]]),
        "factor 'f' has the potential nan",
    ),
    "a table that is a number": (lambda: arrays(tables=[1]), "factor 'f' has 1 potentials"),
    "a number for ranges": (lambda: arrays(ranges=5), "ranges is a list of lists of labels, not 5"),
    "a text for a range": (
        lambda: arrays(ranges=["ab"]),
        "range 0 has a range that is a list of labels, not 'ab'",
    ),
    "numbers as labels": (lambda: arrays(ranges=[[0, 1]]), "range 0 has the label 0"),
    "a number for names": (
        lambda: arrays(variable_names=5),
        "names of variables are given in a list, not 5",
    ),
    "an empty prefix": (
        lambda: arrays(variable_names=""),
        "names of variables are given in a list, not ''",
    ),
    "an empty individual in arrays": (
        lambda: arrays(individuals=[""]),
        "individual 0 has the name ''",
    ),
    "an empty individual": (
        lambda: build().variable("C", individual=""),
        "an individual of 'C' has the name ''",
    ),
    "an empty one of two": (
        lambda: build().variable("C", individual=["x", ""]),
        "an individual of 'C' has the name ''",
    ),
    "an individual that is a number": (
        lambda: build().variable("C", individual=5),
        "individuals of 'C' are names in",
    ),
    "an empty kind": (lambda: build().variable("C", kind=""), "the kind of 'C' has the name ''"),
    "a kind that is a list": (
        lambda: build().variable("C", kind=["K"]),
        r"the kind of 'C' has the name \['K'\]",
    ),
    "a range that is a number": (
        lambda: build().variable("C", 5),
        "variable 'C' has a range that is a list of labels, not 5",
    ),
    "a new individual without a name": (
        lambda: HOLES.with_individual("", like="a"),
        "an individual has the name ''",
    ),
    "a new individual that is a number": (
        lambda: HOLES.with_individual(5, like="a"),
        "an individual has the name 5",
    ),
    "like nobody": (lambda: HOLES.with_individual("x", like=None), "there is no individual 'None'"),
    "arguments that are a number": (
        lambda: build().factor("f", 5, None),
        "the arguments of 'f' are names in a list",
    ),
    "an argument that is a list": (
        lambda: build().factor("f", [["A"]], None),
        "which is not a variable of the model",
    ),
    "scopes that are a list": (
        lambda: build().factors(["A"], None),
        "factors takes a mapping from name to arguments",
    ),
    "a table that is an object": (
        lambda: build().factor("f", "A", {1: 2}),
        "factor 'f' holds something that is not",
    ),
    "a table name that is a list": (lambda: build().table([], [1]), r"a table has the name \[\]"),
    "a domain that is a list": (lambda: relational().domain([], 3), r"a domain has the name \[\]"),
    "a relation of a number": (
        lambda: relational().relation("R", 5),
        "relation 'R' is of '5', which is not a domain",
    ),
    "an argument that is a number": (
        lambda: relational().parfactor("g", [5], [1]),
        "has the argument 5",
    ),
    "a constraint that is a number": (
        lambda: relational().parfactor("g", ["Sick(X)"], [1, 2], [5]),
        "constraint is a text",
    ),
    "a model of numbers": (
        lambda: lifagu.ParfactorGraph((1,), (), ()),
        "domains holds 1, which is no Domain",
    ),
    "a model of nothing": (
        lambda: lifagu.ParfactorGraph(None, (), ()),
        "domains is a list of Domain, not None",
    ),
    "theta as text": (lambda: lifagu.transfer(HOLES, "0.5"), "theta is a number, not '0.5'"),
    "theta nan": (lambda: lifagu.transfer(HOLES, float("nan")), "theta is a number, not nan"),
    "theta None": (lambda: lifagu.transfer(HOLES, None), "theta is a number, not None"),
    "theta True": (lambda: lifagu.impute(HOLES, theta=True), "theta is a number, not True"),
    "theta complex": (lambda: lifagu.impute(HOLES, theta=1j), "theta is a number, not 1j"),
    "theta as a list": (
        lambda: lifagu.impute(HOLES, theta=[0.5]),
        r"theta is a number, not \[0.5\]",
    ),
    "tolerance as text": (
        lambda: lifagu.transfer(HOLES, tolerance="x"),
        "tolerance is a number, not 'x'",
    ),
    "steps with a fraction": (lambda: lifagu.transfer(HOLES, steps=2.5), "steps is a whole number"),
    "a flag as text": (
        lambda: lifagu.transfer(HOLES, up_to_scale="no"),
        "up_to_scale is True or False, not 'no'",
    ),
    "a limit as text": (
        lambda: lifagu.query(GRAPH, "Epid", memory_limit="2G"),
        "memory_limit is a whole number of bytes, 1 or more, not '2G'",
    ),
    "a limit with a fraction": (
        lambda: lifagu.marginals(MOVED, memory_limit=2.5),
        "memory_limit is a whole number",
    ),
    "no limit at all": (
        lambda: lifagu.map_assignment(MODEL, memory_limit=0),
        "memory_limit is a whole number",
    ),
    "a negative limit": (
        lambda: lifagu.log_partition(GRAPH, memory_limit=-1),
        "memory_limit is a whole number",
    ),
    "a true limit": (
        lambda: lifagu.impute(HOLES, memory_limit=True),
        "memory_limit is a whole number",
    ),
    "a limit for messages": (
        lambda: lifagu.query(GRAPH, "Epid", engine="bp", memory_limit="2G"),
        "memory_limit is",
    ),
    "combine that is a list": (
        lambda: lifagu.query(MOVED, "Epid", combine=["best"]),
        r"combine is \['best'\]; choose",
    ),
    "combine that is None": (
        lambda: lifagu.marginals(MOVED, combine=None),
        "combine is None; choose one of average, best",
    ),
    "an engine that is None": (
        lambda: lifagu.query(GRAPH, "Epid", engine=None),
        "engine takes a str, not NoneType",
    ),
    "a question that is a number": (
        lambda: lifagu.query(GRAPH, 5),
        "a variable that is asked about has the name 5",
    ),
    "a question that is None": (lambda: lifagu.query(MODEL, None), "asked about has the name None"),
    "a question in a list": (
        lambda: lifagu.query(GRAPH, ["Epid"]),
        r"asked about has the name \['Epid'\]",
    ),
    "questions that are a text": (
        lambda: lifagu.queries(GRAPH, "Epid"),
        "questions are given in a list, not 'Epid'",
    ),
    "questions that are a number": (
        lambda: lifagu.queries(GRAPH, 5),
        "questions are given in a list, not 5",
    ),
    "nested questions": (lambda: lifagu.queries(GRAPH, [[["Epid"]]]), "asked about has the name"),
    "evidence that is a list": (
        lambda: lifagu.query(MODEL, "Epid", evidence=["Epid"]),
        "evidence is a mapping",
    ),
    "evidence that is a text": (
        lambda: lifagu.query(GRAPH, "Epid", evidence="Epid"),
        "evidence is a mapping",
    ),
    "1 as a value": (lambda: lifagu.query(MODEL, "Epid", evidence={"Sick(1)": 1}), "no value '1'"),
    "a list as a value": (
        lambda: lifagu.query(GRAPH, "Epid", evidence={"Epid": ["true"]}),
        "soft evidence for 'Epid' is no list of numbers, one for each label",
    ),
    "None as a value": (
        lambda: lifagu.query(MODEL, "Epid", evidence={"Epid": None}),
        "no value 'None'",
    ),
    "a number as a name": (
        lambda: lifagu.query(MODEL, "Epid", evidence={5: "true"}),
        "no variable 5 in the model",
    ),
    "texts as likelihoods": (
        lambda: lifagu.query(GRAPH, "Epid", evidence={"Epid": {"true": "0.5", "false": "1"}}),
        "soft evidence for 'Epid' holds something that is not a number",
    ),
    "truth values as likelihoods": (
        lambda: lifagu.query(MODEL, "Epid", evidence={"Epid": {"true": True, "false": 1}}),
        "soft evidence for 'Epid' holds something that is not a number",
    ),
    "evidence by number of floats": (
        lambda: GRAPH.evidence(Evidence([0.5], [1])),
        "variables of evidence hold float64",
    ),
    "messages forever": (
        lambda: prepare(GRAPH, ["Epid"], engine="bp", bp={"iterations": 1.5}).run(),
        "iterations",
    ),
    "settings that are none": (
        lambda: prepare(GRAPH, ["Epid"], engine="bp", bp=["damping"]),
        "bp is a mapping",
    ),
    "a colouring that is none": (
        lambda: lifagu.lift(GRAPH, 5),
        "colouring is a Colouring, as `colour` finds it, not int",
    ),
    "another graph's colouring": (
        lambda: lifagu.draw(GRAPH, "colours", colouring=lifagu.colour(build().graph())),
        "the colouring is one of another graph",
    ),
    "a model that is none": (
        lambda: lifagu.describe(5),
        "describe takes a FactorGraph or a ParfactorGraph, not int",
    ),
    "progress that is none": (lambda: lifagu.colour(GRAPH, progress=5), "progress is a function"),
    "a figure of nothing": (
        lambda: lifagu.drawing.side_by_side([], [], "", ""),
        "0 titles were given for 0 scenes",
    ),
    "a label that is a number": (
        lambda: lifagu.query(GRAPH, "Epid")[5],
        "variable 'Epid' has no value '5'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_types_are_refused_in_one_line(name):
    call, expected = REFUSED[name]
    with pytest.raises(lifagu.ModelError, match=expected) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "call", [lifagu.read, lifagu.open, lambda path: lifagu.write(build().graph(), path)]
)
def test_names_that_no_file_can_have(call):
    expected = r"^no file can be called 'half \\ud800.json'; NUL and halves of characters"
    with pytest.raises(lifagu.FormatError, match=expected):
        call("half \ud800.json")


def test_right_types_of_other_libraries_are_taken():
    same = arrays(
        arguments=np.array([0, 1], dtype=np.uint8),
        tables=np.array([[1, 2, 3, 4]], dtype=np.float32),
    )
    assert (
        same
        == arrays()
        == arrays(tables=[np.ma.array([1, 2, 3, 4])], arguments=np.array([0, 1], dtype=np.uint64))
    )
    assert lifagu.transfer(HOLES, np.float32(0.5)).theta == 0.5
    assert lifagu.transfer(HOLES, 1, steps=np.int64(2), up_to_scale=np.bool_(False)).theta == 1.0
    lifagu.query(GRAPH, "Epid", memory_limit=np.int64(2**30))
    assert lifagu.colour(GRAPH, commutative=np.bool_(True)) == lifagu.colour(
        GRAPH, commutative=True
    )
    assert lifagu.queries(GRAPH, (name for name in ["Epid"]))[0].variables == ("Epid",)


# ---- anything anywhere

ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    float("nan"),
    float("inf"),
    1j,
    10**30,
    "",
    "x",
    "Epid",
    "a\nb",
    b"x",
    [],
    [[]],
    ["Epid"],
    [None],
    [1.5],
    [["Epid", 5]],
    (),
    ("Epid",),
    {},
    {"Epid": None},
    {5: "true"},
    {"Epid": {}},
    {"Epid": {"true": "x"}},
    {"x"},
    object(),
    int,
    lambda: None,
    np.int64(3),
    np.float64(0.5),
    np.array(5),
    np.array([1.5]),
    np.array(["x"]),
    np.zeros((2, 2)),
    np.array([None, 1], dtype=object),
    np.array([2**64 - 1], dtype=np.uint64),
    MASKED,
    range(2),
    Path("nowhere") / "x.json",
    GRAPH,
    MODEL,
    MOVED,
    Evidence(),
    Evidence(5, "x"),
    lifagu.colour(build().graph()),
    iter([1]),
    slice(1),
    ...,
    NotImplemented,
    "0.5",
    "2G",
    [True, False],
    ["true"],
    [0, 1],
    [-1, 10**6],
]


def from_field(model):
    return lifagu.from_pyagrum(lifagu.to_pyagrum(GRAPH) if isinstance(model, str) else model)


BEHIND = {"support": 9, "given": [], "prior": 1}  # what stands behind a table


def doors():
    """Every public function and builder method with arguments that it takes."""
    folder = Path("nowhere")
    asked = {
        "evidence": {"Epid": "true"},
        "combine": "best",
        "engine": "auto",
        "memory_limit": 2**30,
    }
    scene = lifagu.draw(GRAPH)
    found = {
        "transfer": (lifagu.transfer, {"graph": HOLES, "theta": 0.0}),
        "impute": (lifagu.impute, {"graph": HOLES, "queries": ["Epid"], **asked}),
        "colour": (lifagu.colour, {"graph": HOLES}),
        "colour_rounds": (lambda **given: list(colour_rounds(**given)), {"graph": HOLES}),
        "lift": (lifagu.lift, {"model": GRAPH, "colouring": None}),
        "ground": (lifagu.ground, {"model": MODEL}),
        "expand_evidence": (expand_evidence, {"model": MODEL, "evidence": {}, "graph": None}),
        "merge_tables": (merge_tables, {"graph": HOLES, "tolerance": 0.1, "up_to_scale": False}),
        "describe": (lifagu.describe, {"model": HOLES}),
        "draw": (
            lifagu.draw,
            {"model": HOLES, "what": "colours", "evidence": None, "colouring": None},
        ),
        "draw_rounds": (draw_rounds, {"model": HOLES, "evidence": None, "commutative": False}),
        "to_json": (lifagu.io.to_json, {"graph": HOLES, "evidence": {"Epid": "true"}}),
        "from_json": (lifagu.io.from_json, {"text": lifagu.io.to_json(HOLES)}),
        "to_networkx": (lifagu.to_networkx, {"graph": GRAPH}),
        "to_pgmpy": (lifagu.to_pgmpy, {"graph": GRAPH}),
        "to_pyagrum": (lifagu.to_pyagrum, {"graph": GRAPH}),
        "from_pgmpy": (lifagu.from_pgmpy, {"model": lifagu.to_pgmpy(GRAPH)}),
        "from_pyagrum": (from_field, {"model": "a field"}),
        "to_svg": (lifagu.drawing.to_svg, {"scene": scene}),
        "to_png": (lifagu.drawing.to_png, {"scene": scene}),
        "read_queries": (lifagu.io.read_queries, {"path": folder / "x.json"}),
        "plot": (lifagu.plot, {"model": GRAPH, "path": folder / "x.svg", "what": None}),
        "side_by_side": (
            lifagu.drawing.side_by_side,
            {"scenes": [scene], "titles": ["x"], "title": "", "description": ""},
        ),
        "from_arrays": (lifagu.FactorGraph.from_arrays, ARRAYS),
        "ParfactorGraph": (
            lifagu.ParfactorGraph,
            {
                "domains": MODEL.domains,
                "relations": MODEL.relations,
                "parfactors": MODEL.parfactors,
                "ground_part": None,
            },
        ),
        "with_individual": (HOLES.with_individual, {"name": "d", "like": "a"}),
        "graph.evidence": (HOLES.evidence, {"evidence": None}),
        "graph.observations": (HOLES.observations, {"evidence": None}),
        "graph.variable": (HOLES.variable, {"name": "Epid"}),
        "graph.factor": (HOLES.factor, {"name": "f.a"}),
        "model.observations": (MODEL.observations, {"evidence": {}}),
        "model.place_of": (MODEL.place_of, {"name": "Epid"}),
        "transfer.bound": (MOVED.bound, {"evidence": None}),
        "answer": (lifagu.query(GRAPH, "Epid").__getitem__, {"labels": "true"}),
        "marginals[]": (lifagu.marginals(GRAPH).__getitem__, {"name": "Epid"}),
        "classes[]": (lifagu.marginals(MODEL).__getitem__, {"name": "Epid"}),
    }
    for name, model in (("graph", GRAPH), ("model", MODEL), ("transfer", MOVED)):
        model_ = {"model": model, **asked}
        found[f"query {name}"] = (
            lambda variable, **given: lifagu.query(given.pop("model"), variable, **given),
            {"variable": "Epid", **model_},
        )
        found[f"queries {name}"] = lifagu.queries, {"questions": ["Epid"], **model_}
        found[f"prepare {name}"] = prepare, {"questions": [("Epid",)], "bp": None, **model_}
        for function in (*ON_ALL, prepare_marginals, prepare_map):
            found[f"{function.__name__} {name}"] = function, model_
    for name, start, calls in (
        (
            "builder",
            build,
            {
                "range": {"name": "r", "labels": ["x"]},
                "table": {"name": "t", "potentials": [1]},
                "variable": {"name": "C", "range": ["x"], "kind": "K", "individual": "i"},
                "variables": {"names": ["C"], "range": ["x"], "kind": "K", "individual": "i"},
                "factor": {"name": "f", "arguments": ["A"], "table": [1, 2], **BEHIND},
                "factors": {"scopes": {"f": ["A"]}, "table": [1, 2]},
            },
        ),
        (
            "relational builder",
            relational,
            {
                "domain": {"name": "D", "constants": 3},
                "range": {"name": "r", "labels": ["x"]},
                "table": {"name": "t", "potentials": [1]},
                "relation": {"name": "R", "range": ["x"], "names": ()},
                "variable": {"name": "C", "range": ["x"], "kind": "K", "individual": "i"},
                "parfactor": {
                    "name": "g",
                    "arguments": ["Sick(X)"],
                    "table": [1, 2],
                    "where": (),
                    **BEHIND,
                },
                "factor": {"name": "f", "arguments": ["Sick(1)"], "table": [1, 2], **BEHIND},
            },
        ),
    ):
        for method, given in calls.items():

            def call(start=start, method=method, **changed):
                builder = getattr(start(), method)(**changed)
                return builder.graph() if hasattr(builder, "graph") else builder.model()

            found[f"{name}.{method}"] = call, given
    return found


DOORS = doors()


def parameters(call, given):
    """The parameters of a call: those with values, and those that it has beside."""
    known = inspect.signature(call).parameters.values()
    named = [
        each.name for each in known if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    return [
        *given,
        *(
            each
            for each in named
            if each not in given and each not in ("start", "method", "place", "styled")
        ),
    ]


@pytest.mark.parametrize("door", DOORS)
def test_anything_anywhere_is_taken_or_refused_by_the_library(door):
    call, given = DOORS[door]
    positional = door in ("answer", "marginals[]", "classes[]")
    if door != "plot":  # its folder does not exist
        call(*given.values()) if positional else call(**given)
    for parameter in parameters(call, given):
        for odd in ODD:
            if parameter == "progress" and callable(odd):
                continue  # what a function does when it is called is its own business
            changed = {**given, parameter: odd}
            message = ""
            try:
                call(*changed.values()) if positional else call(**changed)
            except lifagu.LifaguError as refused:
                message = str(refused)
            except Exception as error:
                raise AssertionError(f"{door}: {parameter}={odd!r} gives {error!r}") from error
            assert "\n" not in message, (door, parameter, odd)


@pytest.mark.parametrize("seed", range(60))
def test_several_odd_values_at_once(seed):
    rng = random.Random(seed)
    door = rng.choice(
        [each for each in DOORS if each not in ("answer", "marginals[]", "classes[]")]
    )
    call, given = DOORS[door]
    changed = dict(given)
    for parameter in rng.sample(names := parameters(call, given), min(len(names), 3)):
        changed[parameter] = rng.choice(ODD)
    with suppress(lifagu.LifaguError):
        call(**changed)
