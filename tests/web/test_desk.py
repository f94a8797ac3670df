"""What an analyst asks of the page about a database: overview, search, cards, lists, what if."""

import csv
import io
import json

import numpy as np
import pytest

import lifagu
from lifagu.errors import LifaguError
from lifagu.examples.hospital import hospital as made_hospital
from lifagu.examples.installing import install_hospital
from lifagu.web.limits import Limits
from lifagu.web.sources import ModelSource
from lifagu.web.views import OPERATIONS
from lifagu.web.workbench import Workbench
from support.helpers import ROOT
from support.page_databases import make_factory, make_patients

QUIET = type("Quiet", (), {"stage": lambda *_: None, "__call__": lambda *_: None})()


def opened(path, folder):
    return Workbench.opened(ModelSource(path.name, path), Limits(), folder, QUIET)


def asked(bench, operation, **body):
    return json.loads(OPERATIONS[operation](bench, body).body)


@pytest.fixture(scope="module")
def factory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("factory")
    return opened(make_factory(folder), folder)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hospital")
    return opened(install_hospital(folder, made_hospital()), folder)


def test_the_overview_says_what_is_missing_and_where_tables_come_from(factory):
    found = asked(factory, "overview")
    case = factory.came
    for each in found["relations"]:
        names = [f"{each['name']}(M-{number})" for number in range(1, 201)]
        seen = sum(name in case.own_evidence for name in names)
        assert (each["total"], each["observed"], each["missing"]) == (200, seen, 200 - seen)
        assert each["of"] == ["Machine"]
    sources = {each["name"]: each["source"] for each in found["tables"]}
    assert sources["wear"] == "learned from what was observed"
    assert sources["floor"] == "learned from what was observed, by hall"
    assert found["questions"] == ["Failed(M-200)", "Failed"]
    assert found["checked_at_once"]
    told = asked(factory, "check")
    assert told["judgement"] == case.validate().judgement()


def test_a_card_is_what_show_says_and_what_if_moves_it(factory):
    found = asked(factory, "card", what="M-200")
    assert found == json.loads(json.dumps(factory.came.show("M-200", like=6).json()))
    moved = asked(factory, "card", what="M-200", evidence={"Oil(M-200)": "dark"})
    case = factory.came.observe({"Oil(M-200)": "dark"})
    assert moved == json.loads(json.dumps(case.show("M-200", like=6).json()))
    assert "Oil" in {each["relation"] for each in moved["known"]}


def test_what_was_observed_can_be_supposed_not_to_have_been(factory):
    known = next(name for name in factory.came.own_evidence if name.startswith("Failed("))
    left = {name: seen for name, seen in factory.came.own_evidence.items() if name != known}
    told = asked(factory, "ask", variables=[known], evidence={known: None})["answers"][0]
    answer = factory.came.forget().observe(left).ask(known)
    assert told["probabilities"] == pytest.approx(answer.probabilities.tolist())
    assert 0 < told["probabilities"][0] < 1
    other = {known: None, "Oil(M-200)": "dark"}
    both = asked(factory, "ask", variables=["Failed(M-200)"], evidence=other)["answers"][0]
    again = factory.came.forget().observe(left).observe({"Oil(M-200)": "dark"})
    expected = again.ask("Failed(M-200)").probabilities.tolist()
    assert both["probabilities"] == pytest.approx(expected)


def test_what_is_around_an_individual_is_drawn_two_steps_wide(factory, hospital):
    found = asked(factory, "around", what="M-200")
    assert {each["name"] for each in found["variables"]} == {
        f"{name}(M-200)" for name in ("Age", "Vibration", "Oil", "Failed")
    }
    assert all(each["more"] == 0 and each["central"] for each in found["variables"])
    who = hospital.came.graph.individuals[0]
    near = asked(hospital, "around", what=who)
    hubs = {each["name"]: each["more"] for each in near["variables"] if not each["central"]}
    name, more = max(hubs.items(), key=lambda each: each[1])
    assert more > 0
    wider = asked(hospital, "around", what=who, variables=[name])
    assert len(wider["factors"]) > len(near["factors"])
    graph = hospital.came.graph
    for each in wider["variables"]:
        number = graph.variable_names.number(each["name"])
        drawn = sum(each["name"] in scope for scope in _scopes(wider, graph))
        assert drawn + each["more"] == graph.degrees[number]


def _scopes(drawn, graph):
    for name in drawn["factors"]:
        scope = graph.scope(graph.factor_names.number(name))
        yield [graph.variable_names[each] for each in scope]


def test_lists_are_ranked_filtered_and_paged(factory):
    whole = factory.came.ask_all("Failed").ranked(None, "yes")
    first, second = (asked(factory, "ranked", what="Failed", offset=each) for each in (0, 50))
    names = [each["name"] for each in (*first["rows"], *second["rows"])]
    assert names == list(whole)[:100]
    assert (first["total"], first["value"], len(first["rows"])) == (200, "yes", 50)
    some = asked(
        factory,
        "ranked",
        what="Failed",
        unobserved=True,
        having=[["Oil", "dark"]],
        containing="m-1",
    )
    own = factory.came.own_evidence
    for each in some["rows"]:
        (who,) = each["individuals"]
        assert own[f"Oil({who})"] == "dark"
        assert each["name"] not in own
        assert "M-1" in who
    assert some["total"] == sum(
        own.get(f"Oil(M-{n})") == "dark" and f"Failed(M-{n})" not in own and "M-1" in f"M-{n}"
        for n in range(1, 201)
    )
    rows = csv.DictReader(
        io.StringIO(OPERATIONS["list"](factory, {"what": "Failed"}).body.decode())
    )
    kept = [row["variable"] for row in rows if row["value"] == "yes"]
    assert kept == list(whole)


def test_evidence_is_searched_a_page_at_a_time(factory):
    found = asked(factory, "observed", containing="(m-19")
    own = factory.came.own_evidence
    assert found["total"] == len(own)
    assert {each["name"]: each["value"] for each in found["rows"]} == {
        name: seen for name, seen in own.items() if "(M-19" in name
    }
    page = asked(factory, "observed", what="Oil", offset=100)
    assert page["matching"] == sum(name.startswith("Oil(") for name in own)
    assert len(page["rows"]) == min(50, page["matching"] - 100)
    supposed = asked(factory, "observed", evidence={"Oil(M-200)": "dark"}, containing="Oil(M-200)")
    assert [each["supposed"] for each in supposed["rows"]] == [True]


def test_scenarios_stand_side_by_side(factory):
    seen = {"Oil(M-200)": "dark"}
    found = asked(factory, "scenarios", variables=["Failed(M-200)"], scenarios={"dark oil": seen})
    assert found["scenarios"] == ["as it is", "dark oil"]
    (told,) = found["answers"]
    expected = factory.came.observe(seen).ask("Failed(M-200)").probabilities.tolist()
    assert told["probabilities"]["dark oil"] == pytest.approx(expected)


def test_search_completes_individuals_relations_and_values(factory):
    def kinds(text):
        return [
            (each["kind"], each["name"], each["label"])
            for each in asked(factory, "find", what=text)["found"]
        ]

    assert kinds("m-20")[:2] == [("individual", "M-20", ""), ("individual", "M-200", "")]
    assert kinds("fail")[:3] == [
        ("relation", "Failed", ""), ("value", "Failed", "no"), ("value", "Failed", "yes")
    ]  # fmt: skip
    assert kinds("dark")[0] == ("value", "Oil", "dark")
    assert kinds("   ") == kinds("nobody is called so") == []


def test_search_agrees_with_a_naive_one():
    rng = np.random.default_rng(5)
    names = ["".join(rng.choice(list("abAB- "), 4)).strip() or "z" for _ in range(300)]
    people = list(dict.fromkeys(names))
    build = lifagu.FactorGraph.build()
    for number, name in enumerate(people):
        build = build.variable(f"v{number}", kind="Sick", individual=name)
    case = lifagu.open(build.graph())
    for text in ("a", "ab", "b-", "ba b", "aa", people[17], "z"):
        found = [each.name for each in case.find(text, most=1000) if each.kind == "individual"]
        wanted = " ".join(text.casefold().split())
        assert set(found) == {
            name for name in people if wanted in " ".join(name.casefold().split())
        }
        begins = [" ".join(name.casefold().split()).startswith(wanted) for name in found]
        assert begins == sorted(begins, reverse=True)
        few = [each.name for each in case.find(text, most=3)]
        assert len(few) <= 3


def test_relational_models_are_listed_without_being_grounded(tmp_path):
    bench = opened(ROOT / "examples/smokers.json", tmp_path)
    found = asked(bench, "ranked", what="Smokes")
    ranked = [each["name"] for each in found["rows"]]
    assert ranked == list(bench.came.ask_all("Smokes").ranked(None))
    people = {who for each in found["rows"] for who in each["individuals"]}
    assert people <= {str(each) for each in range(1, 5)}
    large = tmp_path / "large.json"
    large.write_text(
        (ROOT / "examples/smokers.json").read_text().replace('"Person": 4', '"Person": 1000000')
    )
    bench = opened(large, tmp_path)
    assert asked(bench, "ranked", what="Smokes")["by_class"]
    with pytest.raises(LifaguError, match="leave the filters out"):
        asked(bench, "ranked", what="Smokes", containing="1")
    assert asked(bench, "around", what="17")["scene"] is None
    assert asked(bench, "card", what="17")["individual"] == "17"
    (smokes,) = (each for each in asked(bench, "overview")["relations"] if each["name"] == "Smokes")
    assert (smokes["total"], smokes["missing"]) == (10**6, 10**6)


def test_cards_are_prepared_or_not(factory, tmp_path):
    assert asked(factory, "prepare") == {}
    plain = opened(ROOT / "examples/figure3.json", tmp_path)
    assert asked(plain, "prepare") == {}


@pytest.mark.parametrize(
    "body",
    [
        {"offset": -1},
        {"offset": True},
        {"having": [["Oil"]]},
        {"having": [["Nobody", "dark"]]},
        {"unobserved": 1},
        {"scenarios": []},
        {"scenarios": {"a": {"Oil(M-1)": 3}}},
        {"value": 3},
        {"value": "blue"},
        {"containing": ["x"]},
        {"what": "Nobody"},
    ],
)
def test_wrong_requests_are_refused_in_a_line(factory, body):
    with pytest.raises(LifaguError) as refused:
        asked(factory, "ranked", **{"what": "Failed", **body})
    assert "\n" not in str(refused.value)


def test_nothing_ships_more_than_it_shows(tmp_path):
    bench = opened(make_patients(tmp_path, 20_000), tmp_path)
    assert OPERATIONS["open"](bench, {}).body.count(b"p17") == 0
    for operation, body, most in [
        ("open", {}, 3),
        ("overview", {}, 4),
        ("find", {"what": "p1"}, 3),
        ("card", {"what": "p17"}, 20),
        ("around", {"what": "p17"}, 30),
        ("ranked", {"what": "Sick"}, 20),
        ("observed", {}, 12),
    ]:
        size = len(OPERATIONS[operation](bench, body).body)
        assert size < most * 1024, (operation, size)
