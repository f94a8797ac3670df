"""BLOG: its table orders, models written and read back, and what is said about broken files."""

import json
import math
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.formats.blog import contents
from lifagu.formats.blog_writer import format_blog
from support.helpers import ROOT, run_cli
from support.relational_models import LIFTED, people, random_relational, relational
from support.strategies import graphs

HOSPITAL = """
// the hospital, with a fever
type Person;  type Fever;
guaranteed Person alice, bob, p[2];  /* four
people */
guaranteed Fever low, high;
random Boolean Epid;
random Boolean Sick(Person);
random Fever Temp(Person);
random Boolean Friends(Person, Person);
factor MultiArrayPotential[[0.6, .4]] (Epid);
factor MultiArrayPotential[[1e-3, 2, 3, 4]] (Sick(alice), Epid);
parfactor Person X, Person Y : X != Y & bob != X. MultiArrayPotential[[1, 2, 3, 4, 5, 6, 7, 8]]
  (Friends(X, Y), Sick(X), Sick(Y));
parfactor Person x. MultiArrayPotential[[1, 2, 0, 3, 4, 0]] (Sick(x), Temp(x));
parfactor Person Y. MultiArrayPotential[[1, 2, 3, 4]] (#(Person X : X != Y)[Friends(X, Y)]);
obs Sick(bob) = true;
obs Temp(p2) = high;
query Epid;
query Temp(p1);
"""


def parse_blog(text):
    return contents(text, "<text>").model()


def parse_evidence(text):
    return contents(text, "<text>").evidence()


def parse_queries(text):
    return contents(text, "<text>").queries()


def by_place(graph):
    """Ground factors with numbered variables and axes by sorted labels: names do not matter."""
    found = Counter()
    for number, factor in enumerate(graph.factors):
        table = factor.table
        for axis, name in enumerate(factor.arguments):
            labels = graph.variable(name).range
            table = np.take(table, [labels.index(each) for each in sorted(labels)], axis)
        found[tuple(graph.scope(number)), tuple(table.reshape(-1).tolist())] += 1
    return found


def same_grounding(one, two):
    one, two = lifagu.ground(one), lifagu.ground(two)
    assert len(one.variable_names) == len(two.variable_names)
    assert by_place(one) == by_place(two)


# ---- what the format means


def test_the_first_argument_is_slowest_and_true_comes_first():
    graph = parse_blog(
        "random Boolean A; random Boolean B; factor MultiArrayPotential[[8, 4, 2, 1]] (A, B);"
    )
    assert isinstance(graph, lifagu.FactorGraph)
    assert lifagu.query(graph, "A")["true"] == pytest.approx(12 / 15)
    assert lifagu.query(graph, "B")["true"] == pytest.approx(10 / 15)
    assert graph.factor("f1").table.tolist() == [[1, 2], [4, 8]]


def test_a_counted_argument_goes_from_all_true_down_and_its_entries_are_of_single_assignments():
    model = parse_blog(
        "type P; guaranteed P p[3]; random Boolean S(P); factor MultiArrayPotential[[5, 3, 2, 1]] "
        "(#(P X)[S(X)]);"
    )
    graph = lifagu.ground(model)
    weights = {3: 5, 2: 3, 1: 2, 0: 1}
    total = sum(math.comb(3, true) * weight for true, weight in weights.items())
    assert lifagu.log_partition(graph) == pytest.approx(math.log(total))
    some = sum(math.comb(2, true - 1) * weights[true] for true in (1, 2, 3))
    assert lifagu.query(graph, "S(p2)")["true"] == pytest.approx(some / total)


def test_a_range_that_is_a_type_has_an_entry_for_null():
    text = (
        "type L; guaranteed L low, mid, high; random L T; random Boolean A; factor "
        "MultiArrayPotential[[{}]] (A, T);"
    )
    graph = parse_blog(text.format("1, 2, 3, 0, 4, 5, 6, 0"))
    assert graph.variable("T").range == ("low", "mid", "high")
    assert graph.factor("f1").table.tolist() == [[4, 5, 6], [1, 2, 3]]
    with pytest.raises(lifagu.FormatError, match=r":1: the table gives null a weight"):
        parse_blog(text.format("1, 2, 3, 0, 4, 5, 6, 7"))
    with pytest.raises(
        lifagu.FormatError,
        match="6 potentials, but the arguments span 8 states .a range that is a type",
    ):
        parse_blog(text.format("1, 2, 3, 4, 5, 6"))


def test_a_whole_file():
    model = parse_blog(HOSPITAL)
    assert repr(model) == "<ParfactorGraph: 1 domain, 4 relations, 3 parfactors, 2 ground factors>"
    assert model.domains[0].constants == ("alice", "bob", "p1", "p2")
    assert [str(each) for each in model.parfactors] == [
        "g1: Friends(X,Y), Sick(X), Sick(Y) where X != Y, X != bob",
        "g2: Sick(X), Temp(X)",
        "g3: #X[Friends(X,Y)] where X != Y",
    ]
    assert parse_evidence(HOSPITAL) == {"Sick(bob)": "true", "Temp(p2)": "high"}
    assert parse_queries(HOSPITAL) == ["Epid", "Temp(p1)"]
    text = format_blog(model, parse_evidence(HOSPITAL))
    assert parse_blog(text) == model
    assert parse_evidence(text) == parse_evidence(HOSPITAL)
    assert format_blog(parse_blog(text), parse_evidence(text)) == text


# ---- round trips


def blog_name(case, name):
    """A ground name over numbered domains as BLOG has it: ``Sick(3)`` of X is ``Sick(x3)``."""
    relation, _, inner = name.rstrip(")").partition("(")
    of = next(each.get("of", []) for each in case["model"]["relations"] if each["name"] == relation)
    terms = [f"{domain.lower()}{each}" for domain, each in zip(of, inner.split(","), strict=False)]
    return f"{relation}({','.join(terms)})" if terms else relation


@pytest.mark.parametrize("path", LIFTED, ids=lambda path: path.stem)
def test_closed_forms_survive(path):
    asked = 0
    for case in json.loads(path.read_text())["cases"]:
        if math.prod(case["model"]["domains"].values()) > 60:
            continue
        model = lifagu.io.from_json(json.dumps(case["model"]))
        text = format_blog(model, case["evidence"])
        back = lifagu.ground(parse_blog(text))
        questions = [blog_name(case, name) for name in case["query"]]
        answer = lifagu.query(back, *questions, evidence=parse_evidence(text))
        labels = [
            model.relations[model.vocabulary.relation_names.number(name.split("(")[0])].range
            for name in case["query"]
        ]
        orders = [
            [answer_labels.index(each) for each in mine]
            for mine, answer_labels in zip(
                labels, (back.variable(name).range for name in questions), strict=True
            )
        ]
        found = answer.probabilities[np.ix_(*orders)].reshape(-1)
        np.testing.assert_allclose(found, list(map(float, case["answer"])), atol=1e-9)
        assert answer.log_partition == pytest.approx(case["log_partition"], rel=1e-9)
        asked += 1
    assert asked > 5


def known(parts):
    """The same model with tables for its unknown parfactors."""
    rng = random.Random(json.dumps(parts))
    for each in parts["parfactors"]:
        span = math.prod(3 if arg.startswith("R") else 2 for arg in each["args"])
        each["table"] = each["table"] or [rng.randint(1, 9) for _ in range(span)]
    return parts


@pytest.mark.parametrize("seed", range(120))
def test_relational_models_come_back(seed):
    model = relational(**known(random_relational(random.Random(seed))))
    text = format_blog(model)
    back = parse_blog(text)
    same_grounding(model, back)
    assert format_blog(back).count("\n") == text.count("\n")


@pytest.mark.parametrize("order", [["false", "true"], ["true", "false"]])
@pytest.mark.parametrize(
    ("args", "where", "states"),
    [
        (["#X[Friends(X,Y)]", "Sick(Y)"], [], 8),
        (["#X[Friends(X,Y)]", "Sick(Y)"], ["X != Y"], 6),
        (["#X[Friends(X,Y)]", "Sick(Y)"], ["Y != X", "Y = 2", "X != 1"], 4),
        (["Epid", "#X[Sick(X)]", "Sick(Y)"], ["X != 3", {"vars": ["Y"], "not_in": [[3]]}], 12),
        (
            ["#X[Friends(X,Y)]", "Sick(Y)", "Sick(Z)"],
            [{"vars": ["Y", "Z"], "in": [[1, 1], [1, 2]]}],
            16,
        ),
    ],
)
def test_counting_formulas_come_back(args, where, states, order):
    parts = people(
        3,
        parfactors=[
            {"name": "g", "args": args, "where": where, "table": list(range(1, states + 1))}
        ],
    )
    for each in parts["relations"]:
        each["range"] = order
    model = relational(**parts)
    same_grounding(model, parse_blog(format_blog(model)))


@settings(max_examples=150)
@given(graphs(unknown=False, estimated=False))
def test_factor_graphs_come_back(graph):
    """Whatever variables and labels are called."""
    assume(all(factor.arguments for factor in graph.factors))
    back = parse_blog(format_blog(graph))
    assert isinstance(back, lifagu.FactorGraph) or not len(graph.variable_names)
    assert len(back.variable_names) == len(graph.variable_names)
    for mine, theirs in zip(graph.variables, back.variables, strict=True):
        assert len(mine.range) == len(theirs.range)
    assert (back.sizes == graph.sizes).all()
    if all(set(each.range) != {"true", "false"} for each in graph.variables):
        first = {
            frozenset(labels): labels
            for labels in reversed([each.range for each in graph.variables])
        }
        for mine, theirs in zip(graph.factors, back.factors, strict=True):
            table = mine.table
            for axis, name in enumerate(mine.arguments):
                labels = graph.variable(name).range
                table = np.take(
                    table, [labels.index(each) for each in first[frozenset(labels)]], axis
                )
            np.testing.assert_array_equal(table, theirs.table)


def test_names_that_cannot_be_kept():
    parts = {
        "domains": {"Person": 2, "person": ["1", "Person1", "true", "a b"]},
        "relations": [
            {"name": "Is ill", "of": ["Person", "person"]},
            {"name": "type", "range": ["0", "1", "2"]},
        ],
        "parfactors": [
            {
                "name": "g",
                "args": ["Is ill(X,Y)", "type"],
                "where": ['Y != "a b"'],
                "table": list(range(1, 7)),
            },
            {"name": "h\n// ;", "args": ["type"], "table": [1, 2, 3]},
        ],
    }
    model = relational(**parts)
    text = format_blog(model, {"type": "2", "Is ill(2,Person1)": "false"})
    same_grounding(model, parse_blog(text))
    assert "random Boolean Is_ill(Person, person);  // Is ill" in text
    assert "// 1, Person1, true, a b" in text
    assert list(parse_evidence(text).values()) == ["v2", "false"]


@pytest.mark.parametrize(
    "names",
    [
        ["person1", "person12", "person", "p1", "person_2", "personc1"],
        ["true", "null", "type", "Type", "TYPE", "7", "_7", "?", "!", "x y", "x_y", "x_y_2"],
        ["X", "x", "Y", "Sick", "Person", "Friends", "c1", "v1", "Ä", "ä", "a.b", "a\nb"],
    ],
)
def test_every_name_gets_an_identifier_of_its_own(names):
    """Whatever is written for constants, variables and labels beside a numbered domain."""
    model = relational(
        domains={"Person": 12, "person": names, "P1": 3},
        relations=[{"name": "Friends", "of": ["Person", "person"], "range": names}],
        variables=[{"name": f"Sick {each}", "range": names[::-1]} for each in names],
        factors=[{"name": "f", "args": [f"Sick {names[0]}"], "table": [*range(len(names))]}],
        parfactors=[
            {"name": each, "args": ["Friends(X,Y)"], "table": [*range(len(names))], "where": where}
            for each, where in (("g", []), ("h", ["X != 3"]))
        ],
    )
    text = format_blog(model)
    same_sizes = lifagu.ground(model).sizes.tolist()
    assert lifagu.ground(parse_blog(text)).sizes.tolist() == same_sizes
    words = re.findall(r"guaranteed \w+ ([^;]*);", text)
    objects = [each for listed in words for each in listed.split(", ")]
    assert len(set(objects)) == len(objects)
    assert not any(re.fullmatch("person[0-9]+", each) for each in objects)


def test_an_object_is_no_logical_variable_of_the_other_case():
    text = (
        "type P; guaranteed P x, y; random Boolean F(P, P); "
        "parfactor P X. MultiArrayPotential[[1, 2]] (F(X, x));"
    )
    graph = lifagu.ground(parse_blog(text))
    assert [factor.arguments for factor in graph.factors] == [("F(x,x)",), ("F(y,x)",)]


def test_constraints_on_listed_and_other_variables():
    """What is listed leaves an inequality with what is not."""
    parfactor = {"name": "g", "args": ["Sick(Y)", "Friends(X,Y)"], "table": [8, 3, 6, 3]}
    model = relational(**people(3, parfactors=[{**parfactor, "where": ["X != Y", "X = 1"]}]))
    text = format_blog(model)
    assert "parfactor Person Y : Y != person1. Multi" in text
    same_grounding(model, parse_blog(text))


def test_original_names_are_left_out():
    parts = people(
        ["al", "eve"],
        parfactors=[
            {
                "name": "g",
                "args": ["Sick.eve", "Sick(X)", "Season"],
                "where": ["X != eve"],
                "table": [*range(12)],
            }
        ],
        variables=[{"name": "Season", "range": ["dry", "wet", "odd"]}],
        factors=[{"name": "f", "args": ["Sick.eve", "Season"], "table": [1, 2, 3, 4, 5, 6]}],
    )
    parts["relations"][1]["names"] = [["eve", "Sick.eve"]]
    text = format_blog(relational(**parts), {"Sick.eve": "true", "Season": "odd"})
    assert "(Sick(eve), Sick(X), Season);  // g" in text
    assert "(Sick(eve), Season);  // f" in text
    assert parse_evidence(text) == {"Sick(eve)": "true", "Season": "odd"}
    model = relational(**parts)
    answer = lifagu.query(lifagu.ground(model), "Sick(al)", evidence={"Season": "odd"})
    back = lifagu.query(lifagu.ground(parse_blog(text)), "Sick(al)", evidence={"Season": "odd"})
    np.testing.assert_allclose(answer.probabilities, back.probabilities, rtol=1e-12)
    assert answer.log_partition == pytest.approx(back.log_partition)


def test_few_listed_tuples_become_statements():
    rows = {"vars": ["X", "Y"], "in": [[1, 2], [2, 2], [1, 2]]}
    model = relational(
        **people(
            3,
            parfactors=[
                {
                    "name": "g",
                    "args": ["Sick(X)", "Sick(Y)", "Epid"],
                    "where": [rows],
                    "table": [*range(8)],
                }
            ],
        )
    )
    text = format_blog(model)
    assert text.count("factor MultiArrayPotential") == 2
    assert "[[7, 6, 1, 0]] (Sick(person2), Epid)" in text, "arguments that are the same become one"
    same_grounding(model, parse_blog(text))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"parfactors": [{"name": "g", "args": ["Sick(X)"], "table": None}]},
            "no unknown factors, but g are unknown",
        ),
        (
            {"factors": [{"name": "f", "args": ["Sick(1)"], "table": None}]},
            "no unknown factors, but f are unknown",
        ),
        (
            {"factors": [{"name": "f", "args": [], "table": [2]}]},
            "'f' has no arguments, which BLOG cannot say",
        ),
        (
            {
                "parfactors": [
                    {"name": "g", "args": ["#X[Sick(X)]"], "where": ["X = 1"], "table": [1, 2]}
                ]
            },
            "lists what it counts or",
        ),
        (
            {
                "domains": {"Person": 40, "Drug": []},
                "parfactors": [
                    {
                        "name": "g",
                        "args": ["Friends(X,Y)"],
                        "where": [{"vars": ["X", "Y"], "not_in": [[1, 1]]}],
                        "table": [1, 2],
                    }
                ],
            },
            "constants for more than 1000 statements",
        ),
        (
            {
                "relations": [{"name": "R", "of": ["Person"], "range": ["a", "b", "c"]}],
                "parfactors": [{"name": "g", "args": ["#X[R(X)]"], "table": list(range(10))}],
            },
            "counts R.X., whose values are not true and false",
        ),
        (
            {"parfactors": [{"name": "g", "args": ["Sick(X)", "Sick(X)"], "table": [0, 1, 1, 0]}]},
            "has only zero potentials.* where its arguments are the same",
        ),
    ],
)
def test_what_blog_cannot_say_is_refused(change, message):
    with pytest.raises(lifagu.FormatError, match=message):
        format_blog(relational(**{**people(3), **change}))


def test_evidence(tmp_path):
    model = lifagu.read(ROOT / "examples/smokers.json")
    lifagu.write(
        model, tmp_path / "m.blog.gz", {"Smokes(2..3)": "true", "Friends(1..2,1..2)": "false"}
    )
    assert lifagu.io.read_evidence(tmp_path / "m.blog.gz") == {
        "Smokes(person2)": "true",
        "Smokes(person3)": "true",
        "Friends(person1,person2)": "false",
        "Friends(person2,person1)": "false",
    }
    with pytest.raises(lifagu.FormatError, match=r"'Smokes\(1\)' has soft evidence"):
        format_blog(model, {"Smokes(1)": {"true": 1, "false": 2}})
    graph = lifagu.FactorGraph.build().variable("A", ["x", "y"]).factor("f", "A", [1, 2]).graph()
    lifagu.write(graph, tmp_path / "g.blog", {"A": "y"})
    assert lifagu.io.read_evidence(tmp_path / "g.blog") == {"A": "y"}
    assert lifagu.io.read_queries(tmp_path / "g.blog") == []
    with pytest.raises(lifagu.FormatError, match="soft evidence"):
        lifagu.write(graph, tmp_path / "h.blog", {"A": {"x": 1, "y": 2}})
    assert not (tmp_path / "h.blog").exists()


def test_questions_in_the_file(capsys, tmp_path):
    path = tmp_path / "m.blog"
    path.write_text(HOSPITAL)
    status, out, _ = run_cli(capsys, "query", path, "--json")
    assert status == 0
    assert [each["query"] for each in json.loads(out)["answers"]] == [["Epid"], ["Temp(p1)"]]
    _, out, _ = run_cli(capsys, "query", path, "Sick(p1)", "--json")
    assert [each["query"] for each in json.loads(out)["answers"]] == [["Sick(p1)"]]
    path.write_text("random Boolean A;")
    assert run_cli(capsys, "query", path) == (
        2,
        "",
        f"error: name the variables to ask about; {path} asks about none itself\n",
    )


# ---- mistakes

START = """type Person; type Drug;
guaranteed Person alice, bob;
random Boolean Epid;
random Boolean Sick(Person);
random Boolean Takes(Person, Drug);
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("types Person;", r"m\.blog:6: 'types' begins no statement; .* did you mean 'type'"),
        (
            "factor MultiArrayPotential[[1, 2]] (Epid)",
            r"m\.blog:6: the file ends where ';' should be",
        ),
        (
            "\n\nfactor\n  MultiArrayPotential[[1, 2]]\n  (Epd);",
            r"m\.blog:10: there is no random function 'Epd'; did",
        ),
        (
            "factor TabularPotential[[1, 2]] (Epid);",
            "'TabularPotential' stands where 'MultiArrayPotential' should be",
        ),
        (
            "factor MultiArrayPotential[[1,\n 2., 3]] (Epid);",
            r"m\.blog:7: a potential is a number.* not '2.'",
        ),
        (
            "factor MultiArrayPotential[[1, -2]] (Epid);",
            "a potential is a number, 0 or more.* not '-2'",
        ),
        ("factor MultiArrayPotential[[1 2]] (Epid);", "a potential is a number.* not '1 2'"),
        ("factor MultiArrayPotential[[]] (Epid);", "a potential is a number.* not ''"),
        ("factor MultiArrayPotential[[1, 1e999]] (Epid);", "the table has the potential inf"),
        ("factor MultiArrayPotential[[0, 0]] (Epid);", "the table has only zero potentials"),
        (
            "factor MultiArrayPotential[[1, 2, 3]] (Epid);",
            "there are 3 potentials, but the arguments span 2 states",
        ),
        (
            "factor MultiArrayPotential[[[1, 2], [3, 4]]] (Epid, Sick(bob));",
            "stands where a table as in .* should be",
        ),
        ("factor MultiArrayPotential[[1, 2]] (Sick(X));", "'X' is not a constant of domain Person"),
        ("factor MultiArrayPotential[[1, 2]] (Sick);", "relation .Sick. has 0 terms, but is of 1"),
        ("factor MultiArrayPotential[[1, 2, 3, 4]] (Epid, Epid);", "argument Epid twice"),
        (
            "parfactor Person X. MultiArrayPotential[[1, 2]]\n(Sick(X, X));",
            r"m\.blog:7: relation 'Sick' has 2 terms",
        ),
        (
            "parfactor Person X. MultiArrayPotential[[1, 2, 3]] (Sick(X));",
            "3 potentials, but the arguments span 2",
        ),
        (
            "parfactor Person X. MultiArrayPotential[[1, 2]] (Epid);",
            "X is declared as Person, but stands in no argument",
        ),
        (
            "parfactor Drug X. MultiArrayPotential[[1, 2]] (Sick(X));",
            "X is declared as Drug, but stands for Person",
        ),
        (
            "parfactor Persn X. MultiArrayPotential[[1, 2]] (Sick(X));",
            "there is no type 'Persn'; did you mean 'Person'",
        ),
        (
            "parfactor Person X, Person X. MultiArrayPotential[[1, 2]] (Sick(X));",
            "X is declared twice",
        ),
        (
            "parfactor Person X : X = bob. MultiArrayPotential[[1, 2]] (Sick(X));",
            "for X = eve write eve instead of X",
        ),
        (
            "parfactor Person X : X != zoe. MultiArrayPotential[[1, 2]] (Sick(X));",
            "'zoe' is not a constant of domain",
        ),
        (
            "parfactor Person X : bob != alice. MultiArrayPotential[[1, 2]] (Sick(X));",
            "compares no logical variable",
        ),
        (
            "parfactor Person X : X != X. MultiArrayPotential[[1, 2]] (Sick(X));",
            "compares X with itself",
        ),
        (
            "parfactor Person X, Drug D :\nX != D. MultiArrayPotential[[1, 2]] (Takes(X, D));",
            r"m\.blog:7: 'X != D' compares domain Person with domain Drug",
        ),
        (
            "parfactor Person X MultiArrayPotential[[1, 2]] (Sick(X));",
            "where '.' should be, before MultiArrayPotential",
        ),
        (
            "factor MultiArrayPotential[[1, 2, 3]] (#(Drug X)[Sick(X)]);",
            "X is declared as Drug, but stands for Person",
        ),
        (
            "factor MultiArrayPotential[[1, 2, 3]] (#(Person X)[Epid]);",
            "counts X, which does not occur in Epid",
        ),
        (
            "factor MultiArrayPotential[[1, 2]] (#(Person X)[Sick(X)]);",
            "2 potentials, but the arguments span 3",
        ),
        (
            "type L; guaranteed L a; random L R(Person); "
            "factor MultiArrayPotential[[1]] (#(Person X)[R(X)]);",
            "R is counted, but its range is a type, not Boolean",
        ),
        ("random Boolean Sick;", "'Sick' is declared twice; give each"),
        ("random Integer Age;", "there is no type 'Integer'"),
        ("random Drug Best;", "relation 'Best' has an empty range"),
        ("random Boolean R(Persn);", "there is no type 'Persn'; did you mean"),
        (
            "random Boolean R ~ Bernoulli(0.5);",
            "'R' has a dependency statement; say it with a factor",
        ),
        ("type Boolean;", "'Boolean' is declared twice"),
        (
            "parfactor Person x, Person X. MultiArrayPotential[[1, 2]] (Sick(X));",
            "X is declared twice",
        ),
        ("type Person;", "'Person' is declared twice"),
        ("guaranteed Person bob;", "'bob' is declared twice"),
        ("guaranteed Person p[3], p2;", "'p2' is declared twice"),
        ("guaranteed Person p[1e3];", "'1e3' is not a number of objects"),
        (
            "guaranteed Person p[9999999999999999999];",
            "'9999999999999999999' is not a number of objects below",
        ),
        ("guaranteed Nobody x;", "there is no type 'Nobody'"),
        ("obs Sick(bob);", "where '=' should be, as in: obs Sick.bob. = true;"),
        ("obs Sick(bob) = maybe;", "variable 'Sick.bob.' has no value 'maybe'"),
        (
            "obs Sick(bob) = true;\nobs Sick(bob) = false;",
            r"m\.blog:7: Sick.bob. is observed twice",
        ),
        ("obs Sick(X) = true;", "'X' is not a constant of domain Person"),
        ("query Sick(zoe);", "'zoe' is not a constant of domain Person"),
        ("query Sik(bob);", "there is no random function 'Sik'"),
        ("/* never closed", "a comment begins with /. here and is never closed"),
        ("type Ärzte;", "'Ä' cannot stand here"),
    ],
)
def test_broken_files(tmp_path, text, message):
    path = tmp_path / "m.blog"
    path.write_text(START + text)

    def read():
        return lifagu.read(path), lifagu.io.read_evidence(path), lifagu.io.read_queries(path)

    with pytest.raises(lifagu.FormatError, match=message) as caught:
        read()
    assert re.match(rf"{re.escape(str(path))}:\d+: ", str(caught.value))


def everything(text):
    """All readers on a text; only lifagu's own errors may come out, of one line."""
    for parse in (parse_blog, parse_evidence, parse_queries):
        message = ""
        try:
            parse(text)
        except lifagu.LifaguError as error:
            message = str(error)
        assert "\n" not in message


def test_odd_blanks_between_numbers():
    """A separator of files is a blank to a pattern, and none to float."""
    everything(HOSPITAL.replace("[[0.6, .4]]", "[[\x1c0.6\x1f,\u3000.4]]"))


def test_truncated_files():
    for end in range(len(HOSPITAL)):
        everything(HOSPITAL[:end])


@settings(max_examples=200)
@given(st.data())
def test_hostile_files(data):
    words = re.findall(r"\[\[.*?\]\]|\w+|\s+|\S", HOSPITAL)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words) - 1))
        other = data.draw(
            st.sampled_from(words)
            | st.text(max_size=3)
            | st.sampled_from(["[[", "]]", "#", "/*", "9" * 5000])
        )
        action = data.draw(st.sampled_from(["replace", "insert", "delete"]))
        words[place : place + (action != "insert")] = [] if action == "delete" else [other]
    everything("".join(words))
