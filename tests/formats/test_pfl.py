"""PFL: the order of its tables, constraints against a naive reading of goals, and mistakes."""

import itertools
import math
import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifagu
from lifagu.formats.pfl import contents, parse_pfl
from support.helpers import run_cli
from support.relational_models import scopes

ALARM = """
:- use_module(library(pfl)).
:- set_solver(hve).
%:- set_solver(lve).

bayes burglary::[t,f] ; [0.001, 0.999] ; [].
bayes earthquake::[t,f] ; [0.002, 0.998] ; [].
bayes alarm::[t,f], burglary, earthquake ; alarm_table ; [].
bayes john::[t,f], alarm ; [0.9, 0.05, 0.1, 0.95] ; [].
bayes mary::[t,f], alarm ; [0.7, 0.01, 0.3, 0.99] ; [].

alarm_table(
/*        b,e   b,-e  -b,e  -b,-e */
/* t */ [ 0.95, 0.94, 0.29, 0.001,
/* f */   0.05, 0.06, 0.71, 0.999 ]).

mary(t).
john(t).
?- burglary(X).
"""

FRIENDS = """
:- use_module(library(pfl)), clpbn_horus:set_solver(fove).
:- multifile person/1, likes/2.
person @ 3.
person('Eve').
pair(X,Y) :- person(X), person(Y), X \\== Y.
likes(p1,p2).  likes(p2,p3).  likes(p1,p2).  % the third says nothing new
likes(p3, 7).
markov smokes(X)::[t,f] ; [1.5, 4.0] ; [person(X)].
markov friends(X,Y)::[no,yes,often], smokes(X), smokes(Y) ;
  [1,2,3,4,5,6,7,8,9,10,11,12] ; [pair(X,Y)].
markov smokes(A), series::[t,f] ; table(2) ; [likes(A,_)].
markov smokes(Joe), smokes(_B) ; [1, 2, 3, 4] ; [Joe = p1, likes(p2,_B)].
markov smokes(p2) ; [1, 2] ; [likes(p1,p2)].
table(1, [5, 6, 7, 8]).
table(2, [1, 2, 3, 4]).
report(X) :- findall(Y, (friends(X,Y,often) ; true), L), write(L), nl.
friends('Eve',p2,often).
smokes(p3,f).
"""


def parse_evidence(text):
    return contents(text, "<text>").evidence()


def test_the_first_term_is_slowest_and_the_child_stands_first():
    """The burglary network of Russell & Norvig: P(burglary | john, mary) = 0.284."""
    graph = parse_pfl(ALARM)
    assert isinstance(graph, lifagu.FactorGraph)
    assert lifagu.query(graph, "burglary", evidence=parse_evidence(ALARM))["t"] == pytest.approx(
        0.2841718, abs=1e-7
    )
    assert lifagu.log_partition(graph) == pytest.approx(0, abs=1e-12)


def test_a_whole_file():
    model = parse_pfl(FRIENDS)
    assert [(each.name, each.constants) for each in model.domains] == [
        ("person", ("p1", "p2", "p3", "Eve"))
    ]
    assert [str(each) for each in model.parfactors] == [
        "g1: smokes(X)",
        "g2: friends(X,Y), smokes(X), smokes(Y) where X != Y",
        "g3: smokes(A), series where (A) in 3 tuples",
        "g4: smokes(Joe), smokes(V_B) where (V_B) in 1 tuples, Joe = p1",
    ]
    assert model.parfactors[2].table.tolist() == [1, 2, 3, 4]
    assert [each.arguments for each in model.ground_part.factors] == [("smokes(p2)",)]
    assert parse_evidence(FRIENDS) == {"friends(Eve,p2)": "often", "smokes(p3)": "f"}
    graph = lifagu.ground(model)
    factor = graph.factor("g2(p2,p1)")
    assert factor.table.reshape(-1).tolist() == list(range(1, 13)), "row-major, as listed"
    assert graph.variable("friends(p2,p1)").range == ("no", "yes", "often")
    assert lifagu.io.from_json(lifagu.io.to_json(model)) == model


def test_constants_in_quotes_are_no_variables():
    model = parse_pfl("p('X'). p(y). markov a(X)::[t,f], a('X') ; [1,2,3,4] ; [p(X), X \\= 'X'].")
    assert str(model.parfactors[0]) == 'g1: a(X), a("X") where X != "X"'
    assert scopes(lifagu.ground(model)) == {("g1(y)", ("a(y)", "a(X)"), (1, 2, 3, 4)): 1}


def test_files_and_the_command_line(tmp_path, capsys):
    (tmp_path / "m.pfl").write_text(FRIENDS)
    status, out, _ = run_cli(capsys, "check", tmp_path / "m.pfl")
    assert (status, out.split(": ", 1)[1]) == (
        0,
        "ok, 1 domain, 3 relations, 4 parfactors, 1 ground factor, 2 observed\n",
    )
    status, out, _ = run_cli(capsys, "convert", tmp_path / "m.pfl", tmp_path / "m.json")
    assert status == 0
    assert lifagu.read(tmp_path / "m.json") == lifagu.read(tmp_path / "m.pfl")
    assert lifagu.io.read_evidence(tmp_path / "m.json") == lifagu.io.read_evidence(
        tmp_path / "m.pfl"
    )
    status, _, err = run_cli(capsys, "convert", tmp_path / "m.json", tmp_path / "n.pfl")
    assert (status, err.split("n.pfl: ")[1]) == (
        2,
        ".pfl is only read; write .json, .uai, .fg, .blog\n",
    )


# ---- constraints against a naive reading


def random_program(rng):
    """Facts, and parfactors as (formulas, goals, table), formulas and goals as (name, terms)."""
    constants = ["a", "b", "c"]
    facts = {
        "one": [(each,) for each in rng.sample(constants, rng.randint(1, 3))],
        "two": [tuple(rng.choice(constants) for _ in range(2)) for _ in range(rng.randint(1, 6))],
    }
    both = [
        [("two", "X", "Y")],
        [("two", "Y", "X"), ("one", "X")],
        [("one", "X"), ("one", "Y"), ("\\=", "X", "Y")],
        [("two", "X", "_"), ("two", "_", "Y"), ("\\==", "X", "a")],
        [("one", "X"), ("two", "X", "Y"), ("two", "Y", "L")],
        [("=", "X", "b"), ("one", "Y")],
        [("pair", "Y", "X")],
    ]
    single = [
        [("one", "X")],
        [("two", "X", "X")],
        [("two", "L", "X"), ("=", "L", "a")],
        [("two", "_", "X")],
    ]
    single += [[("=", "c", "X")], [("two", "a", "X"), ("one", "X")]]
    parfactors = []
    for _ in range(rng.randint(1, 4)):
        formulas = rng.choice(
            [
                [("r", "X")],
                [("r", "X"), ("t",)],
                [("s", "X", "Y")],
                [("s", "Y", "X"), ("r", "Y"), ("t",)],
            ]
        )
        goals = rng.choice(both if any("Y" in each for each in formulas) else single)
        span = math.prod(3 if each[0] == "r" else 2 for each in formulas)
        parfactors.append((formulas, goals, [rng.randint(1, 9) for _ in range(span)]))
    return facts, parfactors


def shown(term):
    name, *terms = term
    return f"{name}({','.join(terms)})" if terms else name


def program_text(facts, parfactors):
    ranges = {"r": "[x,y,z]", "s": "[t,f]", "t": "[t,f]"}
    lines = [f"{shown((name, *row))}." for name, rows in facts.items() for row in rows]
    lines.append("pair(A,B) :- two(A,B), one(A), A \\= B.")
    for formulas, goals, table in parfactors:
        written = ", ".join(f"{shown(each)}::{ranges[each[0]]}" for each in formulas)
        conditions = [
            f"{each[1]} {each[0]} {each[2]}" if each[0][0] in "=\\" else shown(each)
            for each in goals
        ]
        lines.append(f"markov {written} ; {table} ; [{', '.join(conditions)}].")
    return "\n".join(lines)


def naive_scopes(facts, parfactors):
    """One ground factor per distinct substitution for which all goals have a solution."""
    rows = {name: set(each) for name, each in facts.items()}
    rows["pair"] = {(one, two) for one, two in rows["two"] if (one,) in rows["one"] and one != two}
    found = Counter()
    for formulas, goals, table in parfactors:
        goals = [
            tuple(f"_{place}{spot}" if each == "_" else each for spot, each in enumerate(goal))
            for place, goal in enumerate(goals)
        ]
        names = sorted(
            {
                each
                for term in (*formulas, *goals)
                for each in term[1:]
                if each[0].isupper() or each[0] == "_"
            }
        )
        kept = {each for term in formulas for each in term[1:]}
        admitted = set()
        for values in itertools.product("abc", repeat=len(names)):
            world = dict(zip(names, values, strict=True))
            if all(holds(goal, world, rows) for goal in goals):
                admitted.add(tuple(sorted((name, world[name]) for name in kept)))
        for each in admitted:
            world = dict(each)
            found[
                tuple(shown((name, *(world[term] for term in terms))) for name, *terms in formulas),
                tuple(table),
            ] += 1
    return found


def holds(goal, world, rows):
    name, *terms = goal
    values = tuple(world.get(term, term) for term in terms)
    if name[0] in "=\\":
        return (values[0] == values[1]) == (name == "=")
    return values in rows[name]


@pytest.mark.parametrize("seed", range(150))
def test_constraints_are_the_naive_ones(seed):
    facts, parfactors = random_program(random.Random(seed))
    expected = naive_scopes(facts, parfactors)
    problem = None
    try:
        model = parse_pfl(program_text(facts, parfactors))
    except lifagu.FormatError as error:
        problem = str(error)
    if problem:  # what admits nothing may be refused, and nothing else
        assert not all(naive_scopes(facts, [each]) for each in parfactors)
        assert re.search("stands for nothing|contradict", problem)
        return
    found = Counter()
    for (_, arguments, table), count in scopes(lifagu.ground(model)).items():
        found[arguments, table] += count
    assert found == expected


# ---- mistakes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "markov a ; [1,2] ; [].",
            r"m\.pfl:1: no range is declared for a; versions of PFL differ .* write a…::\[t,f\]",
        ),
        ("\nmarkov a::[t,f], b ; [1,2,3,4] ; [].", r"m\.pfl:2: no range is declared for b"),
        (
            "markov a::[t,f] ; [1,2] ; [].\nmarkov a::[f,t] ; [1,2].",
            r"m\.pfl:2: a has another range above: \[t, f\]",
        ),
        ("markov a::tf ; [1,2] ; [].", "a range is a list of constants"),
        ("markov a::[t,t] ; [1,2] ; [].", "has the label 't' twice"),
        ("markov a::[t,f] ; [1,2,3] ; [].", "has 3 potentials but its arguments .a. span 2 states"),
        ("markov a::[t,f] ; [1,x] ; [].", "a potential is a number, 0 or more, not 'x'"),
        ("markov a::[t,f] ; [1,-2] ; [].", "'-' stands where a term should be"),
        ("markov a::[t,f] ; [0,0] ; [].", "has only zero potentials"),
        ("markov a::[t,f] ; phi ; [].", r"there is no fact phi\(\[…\]\) with the table"),
        ("markov a::[t,f] ; 7 ; [].", "'7' stands where a table should be"),
        (
            "markov a::[t,f] ; [1,2] ; []",
            "the file ends where the dot at the end of the clause should be",
        ),
        (
            "bayes rate(C)::[h,l], Sats ; avg ; [course(C,Sats)].",
            "'Sats' is not a random variable; aggregates are not",
        ),
        (
            "p(x).\nmarkov a(X)::[t,f] ; [1,2] ; [].",
            r"m\.pfl:2: X is bound by no goal of the constraint",
        ),
        ("p(x). markov a(_)::[t,f] ; [1,2] ; [p(_)].", "_ is bound by no goal of the constraint"),
        (
            "markov a(X)::[t,f] ; [1,2] ; [person(X)].",
            "there are no facts for person/1; list them in this file",
        ),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [p(X), p(X,Y)].", "there are no facts for p/2"),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [p(X), X @> b].", "a goal is a call as in person"),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [\\+ p(X)].", r"'\\\+' stands where a term should be"),
        (
            "p(x). markov a(X,Y)::[t,f] ; [1,2] ; [X \\= Y, p(X), p(Y)].",
            "X is not bound before this inequality",
        ),
        (
            "p(x). markov a(X,Y)::[t,f] ; [1,2] ; [p(X), p(Y), X = Y].",
            "for X = Y write X in both places",
        ),
        (
            "p(x). markov a(X)::[t,f] ; [1,2] ; [p(X), X = y].",
            "the constraints on X contradict each other",
        ),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [p(X), X \\= X].", "compares X with itself"),
        (
            "p(x,y). markov a(X)::[t,f] ; [1,2] ; [p(X,L), p(L,X)].",
            "L joins goals, but is in no formula",
        ),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [p(X), p(zoe)].", "no fact for p/1 fits this goal"),
        (
            "p(x). p(X) :- q(X). markov a(X)::[t,f] ; [1,2] ; [p(X)].",
            "p/1 has several rules, facts beside a rule",
        ),
        ("p(X) :- p(X). markov a(X)::[t,f] ; [1,2] ; [p(X)].", "a rule that comes back to it"),
        (
            "p(X,x) :- q(X). markov a(X)::[t,f] ; [1,2] ; [p(X,Y)].",
            "needs a variable of its own in each place",
        ),
        ("p(X) :- q(X) ; r(X). markov a(X)::[t,f] ; [1,2] ; [p(X)].", "a goal is a call"),
        (
            "p(f(x)). markov a(X)::[t,f] ; [1,2] ; [p(X)].",
            "this fact for p/1 holds more than constants",
        ),
        ("p(x). markov a(f(X))::[t,f] ; [1,2] ; [p(X)].", "variables and constants as arguments"),
        (
            "p(x). markov a(X)::[t,f], a::[t,f] ; [1,2,3,4] ; [p(X)].",
            "a has 0 arguments here and 1 above",
        ),
        (
            "p(x). markov p(X)::[t,f] ; [1,2] ; [p(X)].",
            "p is a random variable; a constraint calls listed facts",
        ),
        (
            "p @ x.\nmarkov a(X)::[t,f] ; [1,2] ; [p(X)].",
            r"m\.pfl:1: the number of entities should stand here",
        ),
        (
            "p @ 9999999999999999999. markov a(X)::[t,f] ; [1,2] ; [p(X)].",
            "is not a number of entities",
        ),
        (":- consult(data).", "the directive 'consult . data .' is not read"),
        (":- use_module(data).", "the directive 'use_module . data .' is not read"),
        (":- [tables].", "the directive '. tables .' is not read"),
        (":- set_solver(hve), assert(p(x)).", "the directive 'assert"),
        ("markov a::[t,f] ; [1,2] ; []. a(maybe).", "variable 'a' has no value 'maybe'"),
        ("markov a::[t,f] ; [1,2] ; [].\na(t).\na(f).", r"m\.pfl:3: a is observed twice"),
        (
            "a(t).\nmarkov a::[t,f] ; [1,2] ; [].",
            r"m\.pfl:1: this observation stands before the first parfactor with a",
        ),
        ("p(x). markov a(X)::[t,f] ; [1,2] ; [p(X)]. a(y,t).", "'y' is not a constant of domain p"),
        (
            "p(x). markov a(X)::[t,f] ; [1,2] ; [p(X)]. a(X,t).",
            "an observation holds constants only",
        ),
        (
            "p(x). markov a(X)::[t,f] ; [1,2] ; [p(X)]. a(x).",
            "a is a random variable; observe its value",
        ),
        (
            'p(x). markov a(X)::[t,f] ; [1,2] ; [p(X)].\na("x",t).',
            r"m\.pfl:2: '\"x\"' stands where a term should be",
        ),
        ("markov " + "a(" * 99, "nested too deeply"),
        ("markov ä::[t,f] ; [1,2].", "'ä' cannot stand here"),
        ("/* never", "is never closed"),
    ],
)
def test_broken_files(tmp_path, text, message):
    path = tmp_path / "m.pfl"
    path.write_text(text)

    def read():
        return lifagu.read(path), lifagu.io.read_evidence(path)

    with pytest.raises(lifagu.FormatError, match=message) as caught:
        read()
    assert re.match(rf"{re.escape(str(path))}:\d+: ", str(caught.value))


def everything(text):
    """Both readers on a text; only lifagu's own errors may come out, of one line."""
    for parse in (parse_pfl, parse_evidence):
        message = ""
        try:
            parse(text)
        except lifagu.LifaguError as error:
            message = str(error)
        assert "\n" not in message


@pytest.mark.parametrize("text", [ALARM, FRIENDS])
def test_truncated_files(text):
    for end in range(len(text)):
        everything(text[:end])


@settings(max_examples=200)
@given(st.data())
def test_hostile_files(data):
    words = re.findall(r"\w+|\s+|\S", FRIENDS)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words) - 1))
        other = data.draw(
            st.sampled_from(words)
            | st.text(max_size=3)
            | st.sampled_from(["(", "[", "'", "9" * 5000, "X"])
        )
        action = data.draw(st.sampled_from(["replace", "insert", "delete"]))
        words[place : place + (action != "insert")] = [] if action == "delete" else [other]
    everything("".join(words))
