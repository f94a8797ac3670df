"""Names found as one types: against a search through all of them, one by one."""

import random
import re

import pytest

import lifagu
from lifagu.basics.searched_texts import SearchedTexts, folded_text
from lifagu.questions.ground_atoms import ConstantTexts, GroundAtoms
from lifagu.relational.domains import Domain
from support.page_databases import make_patients

LETTERS = "aAbB1 -_.éß"


def naive_how(name: str, typed: str) -> int | None:
    """How a text is found in a name: 0 equal, 1 it begins so, 2 a word does, 3 inside."""
    name, typed = folded_text(name), folded_text(typed)
    if not typed or typed not in name:
        return None
    if name == typed:
        return 0
    if name.startswith(typed):
        return 1
    starts = [each.start() for each in re.finditer(f"(?={re.escape(typed)})", name)]
    return 2 if any(not name[at - 1].isalnum() and typed[0].isalnum() for at in starts) else 3


def naive(names: list[str], typed: str) -> list[tuple[int, int]]:
    found = [(naive_how(name, typed), number) for number, name in enumerate(names)]
    return [(number, how) for how, number in sorted(each for each in found if each[0] is not None)]


@pytest.mark.parametrize("seed", range(60))
def test_texts_are_found_as_one_by_one(seed):
    rng = random.Random(seed)
    names = ["".join(rng.choices(LETTERS, k=rng.randint(1, 6))) for _ in range(rng.randint(0, 40))]
    texts = SearchedTexts(names)
    for _ in range(30):
        typed = "".join(rng.choices(LETTERS, k=rng.randint(1, 3)))
        assert list(texts.search(typed)) == naive(names, typed), (names, typed)
        folded = folded_text(typed)
        begin = [n for n, each in enumerate(names) if folded_text(each).startswith(folded)]
        assert list(texts.with_prefix(folded)) == begin


@pytest.mark.parametrize("seed", range(40))
def test_ground_variables_are_found_as_one_by_one(seed):
    rng = random.Random(seed)
    constants = sorted({"".join(rng.choices("aAb,(7", k=rng.randint(1, 3))) for _ in range(6)})
    domains = [Domain.of("A", constants), Domain("B", rng.choice([3, 25]))]
    width = rng.randint(1, 2)
    rows = sorted({tuple(rng.randrange(each.size) for each in domains[:width]) for _ in range(20)})
    given = None if seed % 2 else rows
    if given is None:
        sizes = [range(each.size) for each in domains[:width]]
        rows = (
            [(a,) for a in sizes[0]] if width == 1 else [(a, b) for a in sizes[0] for b in sizes[1]]
        )
    own = [ConstantTexts(each, quoted=True) for each in domains[:width]]
    atoms = GroundAtoms("No Be", own, None if given is None else _array(given))
    names = [f"No Be({','.join(d.text(n) for d, n in zip(own, row, strict=True))})" for row in rows]
    for name in names:
        cut = rng.randint(1, len(name))
        for typed in (name[:cut], name[3:cut], name[4:], name.upper()[: cut + 2]):
            if "(" not in typed:
                assert not list(atoms.search(typed.casefold()))
                continue
            head, inner = typed.casefold().split("(", 1)
            fits = [
                each
                for each in names
                if each.casefold().split("(", 1)[1].startswith(inner) and "no be".endswith(head)
            ]
            found = list(atoms.search(typed.casefold()))
            assert [each for _, each in found] == fits
            assert all(how == naive_how(each, typed) for how, each in found)


def _array(rows):
    import numpy as np

    return np.array(rows, dtype=np.int64)


def test_very_many_constants_without_names_are_never_listed():
    texts = ConstantTexts(Domain("Person", 10**12))
    found = texts.search("17")
    assert [(texts.text(n), how) for n, how in (next(found), next(found), next(found))] == [
        ("17", 0),
        ("170", 1),
        ("171", 1),
    ]
    assert not list(texts.search("017"))
    assert not list(texts.search("x"))


def test_patients_of_a_template(tmp_path):
    case = lifagu.open(make_patients(tmp_path, 40))
    (found,) = case.find("P17")
    assert found.json() == {"kind": "individual", "name": "p17", "of": "Patient", "label": ""}
    relation, *values = case.find("sick")
    assert (relation.kind, relation.name, relation.of) == ("relation", "Sick", "Patient")
    assert [(each.kind, each.label) for each in values] == [("value", "false"), ("value", "true")]
    (value,) = case.find("sick=T")
    assert (value.kind, value.name, value.label) == ("value", "Sick", "true")
    some = case.find("sick(p1", most=3)
    assert [each.name for each in some] == ["Sick(p1)", "Sick(p10)", "Sick(p11)"]
    assert {(each.kind, each.name) for each in case.find("ep")} == {
        ("variable", "Epid"),
        ("value", "Epid"),
    }
    assert len(case.find("p")) == 12
    assert case.find("zzz") == case.find(" ") == []
    added = case.add("paul", like="p17")
    assert added.find("pau")[0].name == "paul"
    assert case.find("pau") == []


def test_ground_graphs_with_and_without_individuals():
    case = lifagu.open("epidemic")
    assert [(each.kind, each.name) for each in case.find("alice", most=3)] == [
        ("individual", "alice"),
        ("variable", "Travel.alice"),
        ("variable", "Sick.alice"),
    ]
    graph = lifagu.FactorGraph.build().variables(["Rain", "Wet grass"])
    graph = graph.factor("f", ["Rain", "Wet grass"], [1, 2, 3, 4]).graph()
    found = lifagu.open(graph).find("gr")
    assert [each.label for each in found] == ["false", "true", ""]
    with pytest.raises(lifagu.ModelError, match="most"):
        case.find("a", most=0)
    with pytest.raises(lifagu.ModelError, match="a text to look for"):
        case.find(7)


def test_relational_models_with_anonymous_domains():
    case = lifagu.open("smokers")
    assert [(each.kind, each.name, each.of) for each in case.find("3")] == [
        ("individual", "3", "Person")
    ]
    assert [each.name for each in case.find("friends(2,", most=2)] == [
        "Friends(2,1)",
        "Friends(2,2)",
    ]
    for each in case.find("smo") + case.find("smokes(4"):
        if each.kind == "variable":
            assert case.ask(each.name)
