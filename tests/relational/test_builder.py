"""The builder of relational models: equal to what files say, and mistakes where they are made."""

import json
import random

import pytest

import lifagu
from lifagu.relational.terms import Atom, Logical, Membership
from support.relational_models import random_relational


def start():
    return (
        lifagu.ParfactorGraph.build()
        .domain("Person", 3)
        .domain("Drug", ["m1", "m2"])
        .relation("Epid")
        .relation("Sick", "Person")
        .relation("Treat", "Person", "Drug")
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_builder_says_what_a_file_says(seed):
    parts = random_relational(random.Random(seed))
    builder = lifagu.ParfactorGraph.build()
    for name, given in parts["domains"].items():
        builder.domain(name, given)
    for relation in parts["relations"]:
        labels = {"range": relation["range"]} if "range" in relation else {}
        builder.relation(relation["name"], *relation.get("of", []), **labels)
    for each in parts["parfactors"]:
        builder.parfactor(each["name"], each["args"], each["table"], where=each["where"])
    assert builder.model() == lifagu.io.from_json(json.dumps({"format": "lifagu/1", **parts}))


def test_ground_factors_plain_variables_names_and_shared_parts():
    model = (
        lifagu.ParfactorGraph.build()
        .range("level", ["low", "high"])
        .table("phi", [[1, 2], [3, 4]])
        .domain("Person", ["al", "eve"])
        .variable("Season", "level", kind="Weather")
        .relation("Sick", "Person", range="level", names=[["eve", "Sick.eve"]])
        .parfactor("g", ["Sick(X)", "Season"], "phi", where="X != eve")
        .factor("f.eve", ["Sick(eve)", "Season"], None)
        .factor("h", "Sick.eve", [1, 5])
        .model()
    )
    text = {
        "format": "lifagu/1",
        "domains": {"Person": ["al", "eve"]},
        "relations": [
            {
                "name": "Sick",
                "of": ["Person"],
                "range": ["low", "high"],
                "names": [["eve", "Sick.eve"]],
            }
        ],
        "variables": [{"name": "Season", "range": ["low", "high"], "kind": "Weather"}],
        "parfactors": [
            {
                "name": "g",
                "args": ["Sick(X)", "Season"],
                "where": ["X != eve"],
                "table": [1, 2, 3, 4],
            }
        ],
        "factors": [
            {"name": "f.eve", "args": ["Sick.eve", "Season"], "table": None},
            {"name": "h", "args": ["Sick.eve"], "table": [1, 5]},
        ],
    }
    assert model == lifagu.io.from_json(json.dumps(text))


def test_constraints_come_as_texts_objects_and_values():
    rows = (("1", "m1"), ("2", "m2"))
    value = Membership((Logical("X"), Logical("M")), rows)
    same = [
        start()
        .parfactor("g", [Atom("Treat", (Logical("X"), Logical("M")))], [1, 2], where=value)
        .model(),
        start()
        .parfactor(
            "g", ["Treat(X,M)"], [1, 2], where={"vars": ["X", "M"], "in": [(1, "m1"), [2, "m2"]]}
        )
        .model(),
        start().parfactor("g", "Treat(X,M)", [1, 2], where=[value]).model(),
    ]
    assert same[0] == same[1] == same[2]
    assert len(lifagu.ground(same[0]).factors) == 2


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda b: b.domain("Person", 4), "domain 'Person' is declared twice"),
        (
            lambda b: b.domain("D", "eve"),
            "domain 'D' is given as a whole number or a list of constants, not 'eve'",
        ),
        (lambda b: b.domain("D", 2.5), "list of constants, not 2.5"),
        (lambda b: b.domain("D", [None]), "a constant is a text or a number, not None"),
        (lambda b: b.domain("D", -1), "domain 'D' has the size -1"),
        (lambda b: b.relation("Sick", "Drug"), "relation 'Sick' is declared twice"),
        (
            lambda b: b.relation("R", "Persn"),
            "relation 'R' is of 'Persn', which is not a domain; did you mean 'Person'",
        ),
        (
            lambda b: b.relation("R", range="level"),
            "relation 'R' has the range 'level', which is not declared",
        ),
        (lambda b: b.relation("R", range=["a", "a"]), "relation 'R' has the label 'a' twice"),
        (
            lambda b: b.relation("R", "Drug", names=[["m9", "x"]]),
            "'m9' is not a constant of domain Drug",
        ),
        (lambda b: b.range("r", ["a"]).range("r", ["b"]), "range 'r' is declared twice"),
        (lambda b: b.table("t", [1]).table("t", [1]), "table 't' is declared twice"),
        (
            lambda b: b.variable("Sick(1)"),
            "variable 'Sick.1.' has the name of a ground variable of relation 'Sick'",
        ),
        (lambda b: b.variable(3), "a variable has the name 3"),
        (
            lambda b: b.factor("f", ["Sick(9)"], None),
            "'9' is not a constant of domain Person, which has 1…3",
        ),
        (
            lambda b: b.factor("f", ["Sik(1)"], None),
            "factor 'f' has the argument 'Sik.1.', which is not a variable",
        ),
        (
            lambda b: b.factor("f", [7], None),
            "factor 'f' has the argument '7', which is not a variable",
        ),
        (lambda b: b.factor("f", ["Sick(1)"], [1]), "factor 'f' has 1 potentials"),
        (
            lambda b: b.parfactor("g", ["Sick(X,Y)"], None),
            r"parfactor 'g': args\[0\]: relation 'Sick' has 2 terms",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None, ["Y != 1"]),
            r"'g': where\[0\]: Y occurs in no argument",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], [1, 2, 3]),
            "'g' has 3 potentials but its arguments .Sick.X.. span 2",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], "t"),
            "parfactor 'g' has the table 't', which is not declared",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None, [{"vars": ["X"], "in": []}]),
            "admits nothing",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None, [{"vars": ["X"]}]),
            "has either in or not_in",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None, [{"vars": "X", "in": []}]),
            "vars is a list of logical",
        ),
        (lambda b: b.parfactor("g", ["Sick(X)"], None, {"vras": []}), "a constraint has no 'vras'"),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None, 7),
            "constraints of 'g' are texts in a list, not 7",
        ),
        (
            lambda b: b.parfactor("g", ["Sick(X)"], None).parfactor("g", ["Epid"], None),
            "parfactor 'g' is declared twice",
        ),
    ],
)
def test_mistakes_are_reported_where_they_are_made(act, message):
    builder = start()
    with pytest.raises(lifagu.ModelError, match=message):
        act(builder)
