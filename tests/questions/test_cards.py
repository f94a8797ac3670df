"""Cards of individuals: known, filled, predicted, why, links and likeness, held against answers."""

import json
import sqlite3

import pytest

import lifagu
from support.helpers import ROOT


def epidemic():
    return lifagu.open(ROOT / "examples/epidemic.json")


def factory():
    return lifagu.open(ROOT / "examples/factory.json")


def by_variable(card):
    return {each.variable: each for each in card.predicted}


def test_predictions_are_those_of_ask_beside_those_of_others():
    case = epidemic().add("eve", like="alice").observe({"Treat.eve.m1": "true"})
    card = case.show("eve")
    assert [(each.variable, each.value) for each in card.known] == [("Treat.eve.m1", "true")]
    assert set(by_variable(card)) == {"Travel.eve", "Sick.eve", "Treat.eve.m2"}
    for name, said in by_variable(card).items():
        answer = case.ask(name)
        assert said.probabilities == pytest.approx([answer[label] for label in said.labels])
        assert list(said.probabilities) == sorted(said.probabilities, reverse=True)
        others = [name.replace("eve", each) for each in ("alice", "bob")]
        if name != "Treat.eve.m2":
            mean = sum(case.ask(each)[said.labels[0]] for each in others) / 2
            assert said.usual[0] == pytest.approx(mean)
            assert (said.usual_of, said.usual_is) == (2, "predicted")
        assert (said.rests_on, said.weakest_share) == (3, 1.0)


def test_filled_tables_say_from_whom_and_links_what_is_shared():
    card = epidemic().add("eve", like="alice").show("eve")
    assert [each.factor for each in card.filled] == ["f1.eve", "f2.eve.m1", "f2.eve.m2"]
    assert {each.donor for each in card.filled} == {"f1.alice", "f2.alice.m1", "f2.alice.m2"}
    assert card.filled_count == 3
    assert [(each.by, each.nearest[0].individual) for each in card.alike] == [("donors", "alice")]
    assert {(each.by, each.sort, each.names) for each in card.links} == {
        ("f1", "shared", ("Epid",)),
        ("f2", "shared", ("Epid",)),
    }


def test_usual_is_what_was_observed_where_enough_was():
    case = factory()
    card = case.show("m149")
    oil = by_variable(card)["Oil(m149)"]
    seen = [value for name, value in case.evidence.items() if name.startswith("Oil(")]
    assert oil.usual_is == "observed"
    assert oil.usual_of == len(seen)
    assert oil.usual[0] == pytest.approx(seen.count(oil.labels[0]) / len(seen))
    age = card.known[0]
    ages = [value for name, value in case.evidence.items() if name.startswith("Age(")]
    assert age.share == pytest.approx(ages.count(age.value) / len(ages))
    assert [each.variable for each in card.why] == ["Oil(m149)", "Failed(m149)"]
    assert any(each.sort == "group" and each.by == "hall" for each in card.links)


def test_who_is_alike_shares_rare_labels():
    card = factory().show("m149", like=3)
    (alike,) = [each for each in card.alike if each.by == "observations"]
    evidence = factory().evidence
    own = {name: evidence[f"{name}(m149)"] for name in ("Age", "Vibration")}
    assert len(alike.nearest) == 3
    for each in alike.nearest:
        assert set(each.same) == {"Age", "Vibration"}
        assert each.likeness == pytest.approx(1.0)
        for name in each.same:
            assert evidence[f"{name}({each.individual})"] == own[name]
    same = [
        name
        for name in factory().graph.individuals
        if name != "m149" and all(evidence.get(f"{r}({name})") == v for r, v in own.items())
    ]
    assert alike.as_near == len(same)


def people(**evidence):
    builder = lifagu.FactorGraph.build()
    for each in ("a", "b", "c", "d"):
        builder = builder.variable(f"Hair({each})", kind="Hair", individual=each)
        builder = builder.variable(f"Eyes({each})", kind="Eyes", individual=each)
        builder = builder.factor(f"f({each})", [f"Hair({each})", f"Eyes({each})"], [4, 1, 1, 3])
    return lifagu.open(builder.graph()).observe(evidence)


def test_a_rare_label_counts_more_than_a_common_one():
    seen = {"Hair(a)": "true", "Hair(b)": "true", "Hair(c)": "true", "Hair(d)": "false"}
    eyes = {"Eyes(a)": "true", "Eyes(b)": "false", "Eyes(c)": "false", "Eyes(d)": "true"}
    (alike,) = people(**seen, **eyes).show("a").alike
    assert [each.individual for each in alike.nearest] == ["d", "b", "c"]
    assert alike.nearest[0].same == ("Eyes",)
    assert alike.nearest[0].differs == ("Hair",)


def test_where_nothing_tells_individuals_apart_nobody_is_like():
    card = people().show("a")
    assert card.alike == ()
    assert "nobody in particular" in str(card)
    assert "nothing was observed" in str(card)


def test_soft_evidence_is_said_to_be_unsure():
    card = people(**{"Hair(a)": {"false": 1.0, "true": 3.0}}).show("a")
    (fact,) = card.known
    assert (fact.value, fact.certain, fact.share) == ("true", False, None)
    assert "Hair(a)" in by_variable(card)


def test_relations_of_two_are_known_and_linked():
    case = lifagu.open(ROOT / "examples/smokers.json").observe({"Friends(2,3)": "true"})
    card = case.show("2")
    assert card.domain == "Person"
    assert [(each.variable, each.others) for each in card.known] == [("Friends(2,3)", ("3",))]
    assert by_variable(card)["Friends(3,2)"].others == ("3",)
    assert [(each.by, each.count) for each in card.links if each.sort == "relation"] == [
        ("Friends", 3)
    ]


def smokers(size):
    text = (ROOT / "examples/smokers.json").read_text().replace('"Person": 4', f'"Person": {size}')
    return text


def test_a_million_individuals_are_not_listed(tmp_path):
    path = tmp_path / "smokers.json"
    path.write_text(smokers(1_000_000))
    case = lifagu.open(path).observe({"Ill(7)": "true", "Smokes(1..300)": "true"})
    card = case.show("Person:7")
    assert [(each.variable, each.value) for each in card.known] == [
        ("Smokes(7)", "true"),
        ("Ill(7)", "true"),
    ]
    assert sum(each.count for each in card.predicted) == 2 * 999_999
    first = card.predicted[0]
    assert first.probabilities[0] == pytest.approx(case.ask("Friends(1,7)")[first.labels[0]])
    (alike,) = lifagu.open(path).show("7", like=2).alike
    assert (alike.by, alike.as_near) == ("everything", 999_998 + 1)
    assert [each.individual for each in alike.nearest] == ["1", "2"]
    with pytest.raises(lifagu.ModelError, match="no individual 'eve'"):
        case.show("eve")


def test_cells_and_lists_say_the_same(tmp_path, monkeypatch):
    from lifagu.questions.cards import over_cells

    path = tmp_path / "smokers.json"
    path.write_text(smokers(6))
    case = lifagu.open(path).observe({"Smokes(1..3)": "true", "Friends(2,5)": "true"})
    listed = by_variable(case.show("2"))
    monkeypatch.setattr(over_cells, "MOST_GROUNDED", 1)
    for each in case.show("2").predicted:
        if each.count == 1:
            own = listed[each.variable]
            assert each.probabilities == pytest.approx(own.probabilities)
            assert each.usual == pytest.approx(own.usual)


def two_domains():
    return (
        lifagu.ParfactorGraph.build()
        .domain("Machine", ["M-200", "M-201"])
        .domain("Part", ["M-200", 'P, "1" ü'])
        .relation("Failed", "Machine")
        .relation("Worn", "Part")
        .parfactor("f", ["Failed(X)"], [3, 1])
        .parfactor("g", ["Worn(X)"], [1, 2])
        .model()
    )


def test_a_name_in_two_domains_is_refused_without_its_domain():
    case = lifagu.open(two_domains())
    with pytest.raises(lifagu.ModelError, match="say Machine:M-200 or Part:M-200"):
        case.show("M-200")
    assert list(by_variable(case.show("Part:M-200"))) == ["Worn(M-200)"]
    assert case.show("M-201").individual == "Machine:M-201"
    odd = case.show('P, "1" ü')
    assert odd.predicted[0].labels == ("true", "false")
    with pytest.raises(lifagu.ModelError, match="did you mean 'Machine:M-201'"):
        case.show("m-201")


def test_who_is_not_there_is_refused_in_one_line():
    with pytest.raises(lifagu.ModelError, match="no individual 'alise'.*did you mean 'alice'"):
        epidemic().show("alise")
    plain = lifagu.open(lifagu.FactorGraph.build().variable("A").factor("f", ["A"], [1, 2]).graph())
    with pytest.raises(lifagu.ModelError, match="names no individuals"):
        plain.show("A")


def test_what_has_no_answer_says_why():
    builder = lifagu.FactorGraph.build().range("three", ["a", "b", "c"])
    builder = builder.variable("A", "three", individual="eve").variable("B", individual="eve")
    graph = builder.factor("f", ["A"], None).factor("g", ["B"], [1, 3]).graph()
    card = lifagu.open(graph).show("eve")
    said = by_variable(card)
    assert said["B"].probabilities == (0.75, 0.25)
    assert "no answer" in said["A"].no_answer
    assert card.filled[0].status == "no_candidate"
    assert "stays unknown" in str(card)
    assert lifagu.open(graph).unfilled().show("eve").filled == ()


def machines(path):
    """A database with gaps, odd names and a new machine of which nothing is known but its hall."""
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE machine (id TEXT PRIMARY KEY, hall TEXT, oil TEXT, bad TEXT)"
        )
        rows = [
            (f"m, {n}'" if n % 7 == 0 else f"m{n}", "AB"[n % 2], oil, bad)
            for n in range(40)
            for oil, bad in [(["clear", "dark", None][n % 3], ["no", "yes"][n % 3 == 1])]
        ]
        database.executemany(
            "INSERT INTO machine VALUES (?, ?, ?, ?)", [*rows, ("new", "A", None, None)]
        )
    return {
        "format": "lifagu/1",
        "source": str(path),
        "domains": {"Machine": {"sql": "SELECT id FROM machine"}},
        "relations": [
            {"name": "Oil", "of": ["Machine"], "range": ["clear", "dark"]},
            {"name": "Bad", "of": ["Machine"], "range": ["no", "yes"]},
        ],
        "parfactors": [
            {"name": "oil", "args": ["Oil(M)", "Bad(M)"], "table": "learn"},
            {
                "name": "hall",
                "args": ["Bad(M)"],
                "rows": {"sql": "SELECT id AS m, hall FROM machine"},
                "table": {"learn": True, "by": ["hall"]},
            },
        ],
        "evidence": {
            "Oil": {"sql": "SELECT id, oil FROM machine"},
            "Bad": {"sql": "SELECT id, bad FROM machine"},
        },
    }


def test_a_new_machine_of_a_database_of_ones_own(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(machines(tmp_path / "m.sqlite")))
    case = lifagu.open(path)
    card = case.show("new")
    assert card.known == ()
    assert set(by_variable(card)) == {"Oil(new)", "Bad(new)"}
    (hall,) = [each for each in card.links if each.sort == "group"]
    assert (hall.by, hall.names, hall.count) == ("hall", ("A",), 20)
    odd = case.show("m, 7'")
    assert odd.individual == "m, 7'"
    assert json.loads(json.dumps(odd.json()))["individual"] == "m, 7'"


@pytest.mark.parametrize("fill", ["auto", "extended"])
def test_whoever_is_admitted_has_a_card_as_anybody_else(fill):
    case = epidemic().fill(by=fill)
    guests = case.admit("zoe", like="alice").admit("eve", like="alice")
    for name, example in [("zoe", "zoe"), ("eve", "zoe"), ("bob", "bob")]:
        alone = case if name == "bob" else case.admit(example, like="alice")
        card, other = guests.show(name), alone.show(example)
        assert card.individual == name
        assert card.json()["alike"] == other.json()["alike"]
        taken = [(each.donor, each.share) for each in card.filled]
        assert taken == [(each.donor, each.share) for each in other.filled]
        for each, same in zip(card.predicted, other.predicted, strict=True):
            assert each.probabilities == pytest.approx(same.probabilities)


def test_the_card_of_somebody_admitted_to_a_database_of_ones_own(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(machines(tmp_path / "m.sqlite")))
    case = lifagu.open(path).admit("brand new", like="m, 7'")
    assert set(by_variable(case.show("brand new"))) == {'Oil("brand new")', 'Bad("brand new")'}
    dark = case.observe({'Oil("brand new")': "dark"}).show("brand new")
    assert [each.variable for each in dark.known] == ['Oil("brand new")']


def test_keys_of_databases_may_be_whole_numbers():
    case = lifagu.open(ROOT / "examples/smokers.json")
    assert case.show(1).json() == case.show("1").json()
    assert case.add(9, like=1).show(9).individual == "9"
    assert case.admit(9, like=1).show(9).individual == "9"
    with pytest.raises(lifagu.ModelError, match="has the name True"):
        case.show(True)


def test_a_card_is_shown_in_words_in_notebooks_and_as_json():
    card = factory().show("m149")
    assert repr(card) == "<Card: m149; 2 known, 2 predicted>"
    assert "<table>" in card._repr_html_()
    assert all(len(line) <= 100 for line in str(card).split("\n"))
    values = json.loads(json.dumps(card.json(), allow_nan=False))
    assert values["predicted"][0]["labels"][0] == card.predicted[0].labels[0]
    assert str(factory().show("m149")) == str(card)
