"""Names and rows of constants as arrays: they behave as their texts do, and are found as fast."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifagu
from lifagu.basics.arrays import by_value
from lifagu.basics.names import ChosenNames, Names, NumberedNames
from lifagu.relational.domains import ConstantRows, Domain, NamedRows
from lifagu.relational.original_names import Originals
from lifagu.relational.parfactor_graph import ParfactorGraph, Relation
from lifagu.relational.parfactors import Parfactor
from lifagu.relational.relations import Vocabulary
from lifagu.relational.terms import Logical, Membership

PERSON, DRUG = Domain("Person", 30), Domain.of("Drug", ["m1", "m2"])
X = NumberedNames("variable", "x", 100)


def both(numbers, which, names=X, domains=(PERSON,)):
    """A relation with its original names as arrays, and the same with texts."""
    matrix = np.array(list(numbers), dtype=np.int64).reshape(len(which), len(domains))
    rows = NamedRows(domains, matrix, names, np.array(which, dtype=np.int64))
    of = tuple(each.name for each in domains)
    return Relation("R", of, names=rows), Relation("R", of, names=tuple(rows))


@given(st.lists(st.integers(0, 29), unique=True, max_size=8), st.integers(0, 99))
def test_names_by_arrays_are_names_by_texts(constants, seed):
    which = random.Random(seed).sample(range(100), len(constants))
    arrays, texts = both(constants, which)
    assert arrays == texts
    assert (
        list(arrays.names)
        == list(texts.names)
        == [(str(c + 1), f"x{w}") for c, w in zip(constants, which, strict=True)]
    )
    one, two = (Vocabulary((PERSON,), (each,)) for each in (arrays, texts))
    for name in [*(f"x{number}" for number in range(101)), "x007", "R(3)", "R(31)", "R(2..4)", "y"]:
        assert one.find(name) == two.find(name)
        assert one.meant_by([name]) == two.meant_by([name])
        assert one.is_original(name) == two.is_original(name)
    for number in range(30):
        assert one.ground_name(0, (number,)) == two.ground_name(0, (number,))
        assert one.find(one.ground_name(0, (number,))) == (0, (number,))
    assert (
        one.places_in(X)
        == two.places_in(X)
        == {
            w: (0, (c,))
            for c, w in sorted(zip(constants, which, strict=True), key=lambda pair: pair[1])
        }
    )


def test_models_with_names_by_arrays():
    arrays, texts = both([[0, 1], [4, 0]], [7, 3], domains=(PERSON, DRUG))
    parfactor = Parfactor.of("g", ["R(X,M)"], [1, 2])
    one, two = (ParfactorGraph((PERSON, DRUG), (each,), (parfactor,)) for each in (arrays, texts))
    assert one == two
    assert lifagu.io.to_json(one) == lifagu.io.to_json(two)
    assert lifagu.ground(one) == lifagu.ground(two)
    names = lifagu.ground(one).variable_names
    assert [names[1], names.number("x7"), names.number("R(1,m2)"), names.find("x8")] == [
        "x7",
        1,
        1,
        None,
    ]
    assert names.find_each(["x3", "nobody", "R(30,m2)"]).tolist() == [8, -1, 59]


@pytest.mark.parametrize(
    ("numbers", "which", "names", "message"),
    [
        ([1, 1], [3, 4], X, "names one of its variables twice"),
        ([1, 2], [3, 3], X, "variable 'x3' is declared twice"),
        (
            [1, 2],
            [0, 1],
            Names("variable", ["a", "R(7)"]),
            r"renames one of its variables 'R\(7\)', which is the name of",
        ),
    ],
)
def test_wrong_names_by_arrays(numbers, which, names, message):
    for relation in both(numbers, which, names):
        with pytest.raises(lifagu.ModelError, match=message):
            Vocabulary((PERSON,), (relation,))


def test_names_are_unique_across_relations_and_lists():
    first, _ = both([1], [3])
    second = Relation("S", ("Person",), names=(("1", "x3"),))
    with pytest.raises(lifagu.ModelError, match="variable 'x3' is declared twice"):
        Vocabulary((PERSON,), (first, second))
    with pytest.raises(lifagu.ModelError, match="variable 'x3' is declared twice"):
        Vocabulary((PERSON,), (first, Relation("x3")))
    assert Vocabulary((PERSON,), (first, Relation("x4"))).find("x3") == (0, (1,))


def test_names_by_arrays_of_other_domains_are_read_as_texts():
    other = Domain.of("Person", ["5", "6"])
    relation = Relation(
        "R", ("Person",), names=NamedRows((other,), np.array([[1]]), X, np.array([9]))
    )
    assert Vocabulary((PERSON,), (relation,)).find("x9") == (0, (5,))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), unique=True, max_size=12),
    st.booleans(),
)
def test_originals_are_a_mapping(keys, large):
    """Also where constants are so many that a row does not fit into one number."""
    scale = 2**40 if large else 1
    rows = np.array(keys, dtype=np.int64).reshape(len(keys), 2) * scale
    originals = Originals(rows, X, np.arange(len(keys)))
    expected = {(a * scale, b * scale): f"x{place}" for place, (a, b) in enumerate(keys)}
    assert dict(originals) == expected
    asked = [(a * scale, b * scale) for a in range(6) for b in range(6)]
    assert [originals.get(key) for key in asked] == [expected.get(key) for key in asked]
    found = originals.which_of(np.array(asked))
    assert [X[each] if each >= 0 else None for each in found.tolist()] == [
        expected.get(key) for key in asked
    ]


@given(st.lists(st.integers(0, 99), unique=True, max_size=10))
def test_chosen_names_are_names(numbers):
    chosen = ChosenNames(X, np.array(numbers, dtype=np.int64))
    plain = Names("variable", [X[each] for each in numbers])
    assert chosen == plain
    assert list(chosen[1:4]) == list(plain[1:4])
    asked = ["x3", "x99", "x100", "y", *plain]
    assert [chosen.find(each) for each in asked] == [plain.find(each) for each in asked]
    assert chosen.find_each(asked).tolist() == plain.find_each(asked).tolist()
    again = ChosenNames(chosen, np.arange(len(numbers))[::-1])
    assert list(again) == list(plain)[::-1]
    assert again.names is X


def test_names_are_read_as_they_are_written():
    """Fast or slow, a comma parts two constants unless it is quoted."""
    domain = Domain.of("D", ["a", "b", "a,b", "1..2", "ü", "x y"])
    words = Vocabulary((domain, PERSON), (Relation("R", ("D",)), Relation("S", ("D", "Person"))))
    expected = {
        "R(a)": (0, (0,)),
        " R ( a ) ": (0, (0,)),
        "R(a,b)": None,
        'R("a,b")': (0, (2,)),
        "R(1..2)": None,
        'R("1..2")': (0, (3,)),
        "R(ü)": (0, (4,)),
        "R(x y)": None,
        'R("x y")': (0, (5,)),
        "R()": None,
        "R(a": None,
        "R(a))": None,
        "S(b,7)": (1, (1, 6)),
        "S(b, 7)": (1, (1, 6)),
        "S(b,07)": None,
        "S(b,7,)": None,
        "S(,7)": None,
        "S(7,b)": None,
        "S(b,²)": None,
        "S(b)": None,
    }
    assert {name: words.find(name) for name in expected} == expected


def test_numbers_that_mean_nothing_are_refused():
    with pytest.raises(
        lifagu.ModelError, match="rows hold constant 2 of domain 'Drug', which has 2 from 0"
    ):
        ConstantRows((DRUG,), np.array([[0], [2]]))
    with pytest.raises(
        lifagu.ModelError, match="1 rows need as many numbers of names, each below 100"
    ):
        NamedRows((DRUG,), np.array([[0]]), X, np.array([100]))


def test_parentheses_are_found_without_making_names():
    given = Names("variable", ["a", "b(c)", "(d"])
    assert list(given.with_parentheses()) == [1, 2]
    assert list(ChosenNames(given, np.array([2, 0])).with_parentheses()) == [0]
    assert list(NumberedNames("variable", "x", 10**9).with_parentheses()) == []
    assert len(NumberedNames("variable", "x(", 5).with_parentheses()) == 5


def test_lists_of_constants_by_arrays():
    rows = ConstantRows((PERSON, DRUG), np.array([[3, 1], [0, 0]]))
    assert rows == (("4", "m2"), ("1", "m1")) == tuple(rows[:])
    assert rows != (("4", "m2"),)
    where = Membership((Logical("X"), Logical("M")), rows)
    assert where == Membership((Logical("X"), Logical("M")), tuple(rows))
    relations = (Relation("R", ("Person", "Drug")),)
    one, two = (
        ParfactorGraph((PERSON, DRUG), relations, (Parfactor.of("g", ["R(X,M)"], [1, 2], [each]),))
        for each in (where, Membership(where.variables, tuple(rows)))
    )
    assert one == two
    assert lifagu.ground(one) == lifagu.ground(two)
    assert lifagu.io.to_json(one) == lifagu.io.to_json(two)
    with pytest.raises(lifagu.ModelError, match="has 2 constants for the variables X"):
        Membership((Logical("X"),), rows)


def test_many_observations_are_found_and_checked():
    arrays, _ = both(range(30), range(30, 60))
    ground = lifagu.FactorGraph.build().variable("Plain", ["a", "b"]).graph()
    model = ParfactorGraph(
        (PERSON, DRUG),
        (arrays, Relation("S", ("Person",)), Relation("T", ("Person", "Drug"))),
        (),
        ground,
    )
    evidence = {
        "x41": "true",
        "S(7)": "false",
        "T(3,m2)": "true",
        "S(8..9)": "true",
        "Plain": "b",
        "S( 10 )": "true",
    }
    observed = model.observations(evidence)
    assert [(each.relation, each.variable, each.spans) for each in observed] == [
        (0, -1, ((11, 11),)),
        (1, -1, ((6, 6),)),
        (2, -1, ((2, 2), (1, 1))),
        (1, -1, ((7, 8),)),
        (-1, 0, ()),
        (1, -1, ((9, 9),)),
    ]
    assert [each.name for each in observed if each.is_range] == ["S(8..9)"]
    assert [model.place_of(each) for each in ("x41", "Plain")] == [(0, (11,)), (-1, (0,))]
    for wrong, message in (
        ({"S(1)": "true", "S(2)": "maybe"}, r"variable 'S\(2\)' has no value 'maybe'"),
        ({"x41": "true", "Plain": "true"}, "variable 'Plain' has no value 'true'"),
        ({"x42": {"true": 1}}, "lacks a likelihood for false"),
        ({"x99": "true"}, "there is no variable 'x99' in the model"),
    ):
        with pytest.raises(lifagu.ModelError, match=message):
            model.observations(wrong)


@given(
    st.lists(
        st.one_of(
            st.integers(0, 4), st.lists(st.sampled_from(["1", "2", "4", "a", "b"]), unique=True)
        ),
        max_size=4,
    )
)
def test_which_domains_share_constants(given):
    words = Vocabulary(tuple(Domain.of(f"D{place}", each) for place, each in enumerate(given)), ())
    constants = [set(each.texts(range(each.size))) for each in words.domains]
    expected = {
        one
        for one in range(len(given))
        for two in range(len(given))
        if one != two and constants[one] & constants[two]
    }
    assert words.overlapping == expected


@given(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 10**9))))
def test_first_places_by_value(values):
    ids = np.array(values, dtype=np.int64)
    first, place = by_value(ids)
    assert ids[first].tolist() == sorted(set(values))
    assert ids[first][place].tolist() == values
    assert all(values.index(values[each]) == each for each in first.tolist())


def test_printed_models_are_cut_where_they_are_long():
    model = lifagu.io.from_json(
        json.dumps(
            {
                "format": "lifagu/1",
                "domains": {"Person": 1000000, "Drug": [f"m{each}" for each in range(20)]},
                "relations": [
                    {"name": "S", "of": ["Person"]},
                    {"name": "T", "of": ["Drug"], "range": ["lo", "hi"]},
                ],
                "parfactors": [
                    {
                        "name": "g",
                        "args": ["S(X)", "T(M)"],
                        "where": ["X != 7", {"vars": ["M"], "in": [["m1"]]}],
                        "table": None,
                    },
                    {"name": "h", "args": ["#X[T(X)]"], "where": ["X = m3"], "table": [1, 2]},
                ],
                "variables": [{"name": f"v{each}"} for each in range(50)],
                "factors": [
                    {"name": f"f{each}", "args": [f"v{each}"], "table": None} for each in range(50)
                ],
            }
        )
    )
    assert str(model).splitlines()[:12] == [
        "domains      |Person| = 1000000",
        "             |Drug| = 20: m0, m1, m2, m3, m4, m5, m6, m7, … (20 in all)",
        "relations    S(Person) ∈ {false, true}",
        "             T(Drug) ∈ {lo, hi}",
        "parfactors   g = φ0(S(X), T(M)) | X ≠ 7, M ∈ {m1}",
        "             h = φ1(#X[T(X)]) | X = m3",
        "tables       φ0 = unknown",
        "             φ1 = 1, 2",
        "ground part  v0, v1, v2, v3, v4, v5, v6, v7, … (50 in all)",
        "             f0(v0) unknown",
        "             f1(v1) unknown",
        "             f2(v2) unknown",
    ]
    assert str(model).splitlines()[-1] == "             … and 11 more"


def test_classes_go_by_names_that_the_user_has_given(tmp_path):
    model = {
        "format": "lifagu/1",
        "domains": {"Person": ["eve", "bob"]},
        "relations": [{"name": "Likes", "of": ["Person", "Person"]}, {"name": "Epid"}],
        "parfactors": [
            {"name": "g", "args": ["Likes(X,X)"], "table": [1, 2]},
            {"name": "h", "args": ["Likes(X,Y)", "Epid"], "where": ["X != Y"], "table": None},
        ],
    }
    (tmp_path / "m.json").write_text(json.dumps(model))
    found = lifagu.open(tmp_path / "m.json").fill(by="extended").marginals()
    assert [each.members for each in found.classes] == ["Likes(eve,eve), Likes(bob,bob)"]
    assert set(found.left_out) == {"Likes(eve,bob), Likes(bob,eve)", "Epid"}
    assert set(found.expanded().left_out) == {"Likes(eve,bob)", "Likes(bob,eve)", "Epid"}
    model["domains"]["Person"] = 30
    (tmp_path / "m.json").write_text(json.dumps(model))
    many = lifagu.open(tmp_path / "m.json").fill(by="extended").marginals()
    assert set(many.left_out) == {"Likes(1,2) and 869 more", "Epid"}
    assert len(many.expanded().left_out) == 871
