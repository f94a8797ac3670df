"""Mean, mixture and bounds against every combination of competing tables tried one by one, and what they refuse."""

import math
import random
from itertools import product

import numpy as np
import pytest

import lifagu
import naive
import naive_unsure as oracle
from helpers import graph_of, random_model

WAYS = ("one", "mean", "mixture", "bounds")
OPTIONS = {"share": {}, "structure only": {"structure_only": True}, "published": {"published": True}}
MOST = 24  # combinations tried one by one


# --- Comparing -------------------------------------------------------------------------------------------------------


def near(answer, values, expected):
    found = dict(zip(answer.values, np.asarray(values).reshape(-1).tolist(), strict=True))
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def reached(model, start, removed=()):
    """The variables connected with some others when the removed ones are taken out."""
    found = set(start) - set(removed)
    for _ in model["variables"]:
        scopes = (set(factor["args"]) - set(removed) for factor in model["factors"])
        found = found.union(*(scope for scope in scopes if scope & found))
    return found


def only(model, variables):
    """The part of a model on some variables: factors that mention no other one."""
    kept = [factor for factor in model["factors"] if set(factor["args"]) <= variables]
    return {**model, "variables": [v for v in model["variables"] if v["name"] in variables], "factors": kept}


def within(model, question, left, removed):
    """The model without the connected parts in which factors are left unknown; None if that concerns the question."""
    names = {variable["name"] for variable in model["variables"]}
    holes = [set(factor["args"]) - set(removed) for factor in model["factors"] if factor["name"] in left]
    lost = reached(model, set().union(*holes), removed)
    rest = only(model, names - lost)
    gone = {factor["name"] for factor in model["factors"] if set(factor["args"]) & lost} | set(left)
    kept = [factor for factor in model["factors"] if factor["name"] not in gone]
    return None if lost & set(question) else {**rest, "factors": kept}


def expected(model, classes, left, question, evidence):
    """Way -> what it answers: distributions (bounds: lower, upper), "missing", "impossible", or None (undecided)."""
    observed = [name for name, seen in evidence.items() if not isinstance(seen, dict)]
    kept = within(model, question, left, observed)
    if kept is None:
        return dict.fromkeys(WAYS, "missing")
    pairs = oracle.combinations(kept, classes)
    names = {variable["name"] for variable in kept["variables"]}
    every, evidence = evidence, {name: seen for name, seen in evidence.items() if name in names}
    outside = names - reached(model, question)
    alone = {name: seen for name, seen in evidence.items() if name in outside}
    if any(oracle.weight(only(each, outside), alone) == 0 for _, each in pairs):
        return dict.fromkeys(WAYS)  # see test_evidence_in_another_component_rules_out_tables
    answers = {
        "one": oracle.posterior(oracle.winning(kept, classes), question, evidence),
        "mean": oracle.posterior(oracle.mean(kept, classes), question, evidence),
    }
    low, high = (oracle.bound(pairs, question, evidence, pick) for pick in (min, max))
    answers["bounds"] = (low, high) if answers["one"] else None
    apart = within(model, question, left, ())
    if apart is not None and set(every) <= {variable["name"] for variable in apart["variables"]}:
        answers["mixture"] = oracle.mixture(oracle.combinations(apart, classes), question, every)
    answers = {way: "impossible" if answer is None else answer for way, answer in answers.items()}
    return dict.fromkeys(WAYS) | answers


def check(model, theta, evidence, questions, **options):
    """Ask every question in every way, unless too many tables compete."""
    moved = lifagu.transfer(graph_of(model), theta, None if soft(evidence) else evidence, **options)
    classes, left = oracle.competing(model, theta, evidence, **options)
    if math.prod(map(len, classes)) > MOST or not fits(model, classes):
        return
    assert left == [each.factor for each in moved.record if each.status != "transferred"]
    for question in questions:
        for way, answer in expected(model, classes, left, question, evidence).items():
            if answer in ("missing", "impossible"):
                with pytest.raises(lifagu.NoAnswerError) as refusal:
                    lifagu.query(moved, *question, evidence=evidence, unknown=way)
                assert answer == "impossible" or any(name in str(refusal.value) for name in left)
            elif answer is not None:
                compare(lifagu.query(moved, *question, evidence=evidence, unknown=way), way, answer)


def compare(found, way, answer):
    assert found.probabilities.sum() == pytest.approx(1)
    if way == "bounds":
        assert near(found, found.lower, answer[0])
        assert near(found, found.upper, answer[1])
        assert (found.lower <= found.probabilities).all()
        assert (found.probabilities <= found.upper).all()
    else:
        assert near(found, found.probabilities, answer)
        assert found.lower is None
        assert found.upper is None
    assert way in ("one", "mean") or found.log_partition is None


def soft(evidence):
    return any(isinstance(seen, dict) for seen in evidence.values())


def fits(model, classes):
    """Whether every competing table fits every receiver, which copies by position do not guarantee."""
    labels = {name: variable.labels for name, variable in naive.parse(model).variables.items()}
    scopes = {factor["name"]: [labels[name] for name in factor["args"]] for factor in model["factors"]}
    lent = [item for offers in classes for _, tables in offers for item in tables.items()]
    return all(set(table) == set(product(*scopes[name])) for name, table in lent)


# --- Random models ---------------------------------------------------------------------------------------------------


def look_alikes(seed):
    """Blocks with the same scopes and two or three tables for each, connected by a hub or not; and some evidence.

    Blocks list their arguments in different orders, have holes in different places, and are individuals at times.
    """
    rng = random.Random(seed)
    linked, kinds, individuals, zeros = (rng.random() < chance for chance in (0.5, 0.6, 0.4, 0.4))
    labels = {spot: rng.choice([("no", "yes"), ("no", "yes"), ("a", "b", "c")]) for spot in "xy"}
    scopes = [rng.sample("xy", rng.choice([1, 2])) for _ in range(rng.choice([2, 2, 3]))]
    drawn = [[naive.random_table(rng, [labels[s] for s in sc], 0.3 * zeros) for _ in range(3)] for sc in scopes]
    variables, factors = [{"name": "H"}] if linked else [], []
    for block in "pqrs"[: rng.choice([3, 4]) if set(labels.values()) == {("no", "yes")} else 3]:
        for spot in "xy":
            variables.append({"name": spot + block, "range": list(labels[spot])})
            variables[-1] |= {"kind": spot} if kinds else {}
            variables[-1] |= {"individual": block} if individuals else {}
        for number, (scope, tables) in enumerate(zip(scopes, drawn, strict=True)):
            order = rng.sample(range(len(scope)), len(scope))
            table = list(naive.reorder(rng.choice(tables), order).items())
            table.sort(key=lambda entry: entry[0])
            values = None if rng.random() < 0.3 else [value for _, value in table]
            factors.append({"name": f"{block}{number}", "args": [scope[i] + block for i in order], "table": values})
        if linked:
            values = [rng.randint(1, 5) for _ in range(2 * len(labels["x"]))]
            factors.append({"name": f"{block}H", "args": ["H", "x" + block], "table": values})
    model = {"format": "lifagu/1", "variables": variables, "factors": factors}
    observed = rng.sample(variables, rng.choice([0, 1, 2]))
    return model, {v["name"]: rng.choice(v.get("range", ["false", "true"])) for v in observed}


def questions_about(model, rng):
    names = [variable["name"] for variable in model["variables"]]
    return [(rng.choice(names),), tuple(rng.sample(names, min(2, len(names))))]


@pytest.mark.parametrize("theta", [0, 0.5, 1])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("seed", range(30))
def test_answers_equal_enumeration_of_combinations(seed, options, theta):
    rng = random.Random(seed)
    shape = {"unknown": rng.choice([0.2, 0.4]), "kinds": seed % 2 == 0, "individuals": seed % 3 == 0}
    model, evidence = random_model(seed, variables=6, **shape)
    check(model, theta, evidence, questions_about(model, rng), **options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("seed", range(100))
def test_look_alike_blocks(seed, options):
    """Many tables compete here; without a hub a class has members in several components."""
    model, evidence = look_alikes(seed)
    rng = random.Random(seed)
    check(model, rng.choice([0, 0, 0.5]), evidence, questions_about(model, rng), **options)


@pytest.mark.parametrize("seed", range(40))
def test_soft_evidence(seed):
    model, evidence = look_alikes(seed)
    rng = random.Random(seed)
    ranges = {v["name"]: v.get("range", ["false", "true"]) for v in model["variables"]}
    name = rng.choice(list(ranges))
    evidence[name] = {label: rng.choice([0.5, 1, 3]) for label in ranges[name]}
    check(model, 0, evidence, [(name,), *questions_about(model, rng)])


@pytest.mark.parametrize("seed", range(40))
def test_questions_asked_together_are_answered_as_alone(seed):
    model, evidence = look_alikes(seed)
    moved = lifagu.transfer(graph_of(model))
    rng = random.Random(seed)
    asked = questions_about(model, rng)
    classes, left = oracle.competing(model, 0, evidence)
    plain = all(None not in expected(model, classes, left, q, evidence).values() for q in asked)
    for way in WAYS:
        try:
            together = lifagu.queries(moved, asked, evidence=evidence, unknown=way)
        except lifagu.NoAnswerError:
            continue
        for question, answer in zip(asked, together, strict=True):
            alone = lifagu.query(moved, *question, evidence=evidence, unknown=way)
            if plain:
                assert near(answer, answer.probabilities, dict(alone.items()))
            assert (answer.rests_on, answer.weakest_share) == (alone.rests_on, alone.weakest_share)


@pytest.mark.parametrize("seed", range(40))
def test_log_partition(seed):
    model, evidence = look_alikes(seed)
    moved = lifagu.transfer(graph_of(model))
    classes, left = oracle.competing(model, 0, evidence)
    for way, fill in (("one", oracle.winning), ("mean", oracle.mean)):
        total = 0 if left else oracle.weight(fill(model, classes), evidence)
        if total:
            found = lifagu.log_partition(moved, evidence=evidence, unknown=way)
            assert found == pytest.approx(math.log(total), rel=1e-9, abs=1e-9)
            name = model["variables"][0]["name"]
            assert lifagu.query(moved, name, evidence=evidence, unknown=way).log_partition == pytest.approx(found)
        else:
            with pytest.raises(lifagu.NoAnswerError):
                lifagu.log_partition(moved, evidence=evidence, unknown=way)


# --- By hand ---------------------------------------------------------------------------------------------------------


def made(variables, factors):
    """A graph: "A B:kind" declares variables, factors are {"name(A,B)": table}."""
    declared = [dict(zip(("name", "kind", "individual"), each.split(":"), strict=False)) for each in variables.split()]
    listed = [(*key.rstrip(")").split("("), table) for key, table in factors.items()]
    return graph_of(
        {
            "variables": declared,
            "factors": [{"name": n, "args": [a for a in args.split(",") if a], "table": t} for n, args, t in listed],
        }
    )


def shown(values):
    return pytest.approx(np.asarray(values), rel=1e-12)


PAIR = {"f(A)": [1, 3], "g(B)": [9, 1], "u(C)": None}  # P(C = true) is .75 or .1, each with share 1/2


def test_four_ways_to_use_two_tables():
    moved = lifagu.transfer(made("A B C", PAIR))
    answers = {way: lifagu.query(moved, "C", unknown=way) for way in WAYS}
    assert {way: answer["true"] for way, answer in answers.items()} == pytest.approx(
        {"one": 0.75, "mean": 0.425, "mixture": 0.425, "bounds": 0.75}
    )
    assert answers["bounds"].lower == shown([0.25, 0.1])
    assert answers["bounds"].upper == shown([0.9, 0.75])
    assert answers["one"].log_partition == pytest.approx(math.log(4 * 10 * 4))
    assert answers["mean"].log_partition == pytest.approx(math.log(4 * 10))
    assert answers["mixture"].log_partition is answers["bounds"].log_partition is None


def test_evidence_in_another_component_informs_the_mixture():
    """u and v take the same table in every combination, so what was seen of D speaks about C."""
    moved = lifagu.transfer(made("A B C D", PAIR | {"v(D)": None}))
    seen = {"D": "true"}
    assert lifagu.query(moved, "C", evidence=seen, unknown="mixture")["true"] == pytest.approx(0.5725 / 0.85 * 1)
    assert lifagu.query(moved, "C", evidence=seen, unknown="mean")["true"] == pytest.approx(0.425)
    joint = lifagu.query(moved, "C", "D", unknown="mixture")
    assert joint["true", "true"] == pytest.approx((0.75**2 + 0.1**2) / 2)
    bounds = lifagu.query(moved, "C", "D", unknown="bounds")
    assert bounds.upper == shown([[0.81, 0.1875], [0.1875, 0.5625]])
    assert bounds.lower == shown([[0.0625, 0.09], [0.09, 0.01]])


def test_evidence_reaches_a_table_through_a_chain_of_classes():
    """The evidence on Y judges the tables of u2, those weigh v2 and so v, whose class is that of the question."""
    variables = "A:x B:x C:x D:x E:y F:y G:y H:y"
    factors = {"f(A)": [1, 3], "g(B)": [9, 1], "u(C)": None, "h(E)": [1, 1], "k(F)": [1, 7], "w(G)": None}
    linked = {"u2(D)": None, "w2(H)": None, "l(D,H)": [5, 1, 1, 5], "l1(A,E)": [1] * 4, "l2(B,F)": [1] * 4}
    more = {"l3(C,G)": [1] * 4}
    graph = made(variables, factors | linked | more)
    model = {
        "variables": [{"name": n.split(":")[0], "kind": n.split(":")[1]} for n in variables.split()],
        "factors": [
            {"name": key.split("(")[0], "args": key.rstrip(")").split("(")[1].split(","), "table": table}
            for key, table in (factors | linked | more).items()
        ],
    }
    for evidence in ({"H": "true"}, {"H": "false", "D": "true"}):
        classes, left = oracle.competing(model, 0, evidence)
        assert ([len(offers) for offers in classes], left) == ([2, 2], [])
        for question in (("C",), ("G", "C"), ("A",)):
            answers = expected(model, classes, left, question, evidence)
            for way, answer in answers.items():
                compare(lifagu.query(lifagu.transfer(graph), *question, evidence=evidence, unknown=way), way, answer)


def individuals(*receivers):
    """Donors a and b disagree about both of their tables; P(S), P(T) are .75, .9 with a's and .25, .1 with b's."""
    names = ("a", "b", *receivers)
    factors = {"f.a(S.a)": [1, 3], "g.a(T.a)": [1, 9], "f.b(S.b)": [3, 1], "g.b(T.b)": [9, 1]}
    holes = {f"{kind}.{name}({variable}.{name})": None for name in receivers for kind, variable in ("fS", "gT")}
    return made(" ".join(f"{v}.{n}:{v}:{n}" for n in names for v in "ST"), factors | holes)


def test_an_individual_takes_all_tables_from_one_donor():
    moved = lifagu.transfer(individuals("c"))
    bounds = lifagu.query(moved, "S.c", "T.c", unknown="bounds")
    assert bounds.probabilities == shown([[0.025, 0.225], [0.075, 0.675]])
    assert bounds.lower == shown([[0.025, 0.075], [0.075, 0.025]])
    assert bounds.upper == shown([[0.675, 0.225], [0.225, 0.675]])
    assert lifagu.query(moved, "S.c", "T.c", unknown="mixture").probabilities == shown([[0.35, 0.15], [0.15, 0.35]])
    assert lifagu.query(moved, "S.c", "T.c", unknown="mean").probabilities == shown([[0.25, 0.25], [0.25, 0.25]])
    assert lifagu.query(moved, "S.c", evidence={"T.c": "true"}, unknown="mixture")["true"] == pytest.approx(0.7)
    assert lifagu.query(moved, "S.c", evidence={"T.c": "true"}, unknown="mean")["true"] == pytest.approx(0.5)


def test_receivers_that_look_alike_take_the_same_donor():
    moved = lifagu.transfer(individuals("c", "d"))
    assert lifagu.query(moved, "S.c", evidence={"T.d": "true"}, unknown="mixture")["true"] == pytest.approx(0.7)
    assert lifagu.query(moved, "S.c", "S.d", unknown="bounds").upper == shown([[0.5625, 0.1875], [0.1875, 0.5625]])


def test_without_kinds_and_individuals_the_tables_are_chosen_apart_from_their_owners():
    """Structure alone: four tables compete for one class of two factors."""
    moved = lifagu.transfer(individuals("c"), structure_only=True)
    answer = lifagu.query(moved, "S.c", "T.c", unknown="mixture")
    assert answer["true", "true"] == pytest.approx((0.75**2 + 0.9**2 + 0.25**2 + 0.1**2) / 4)
    assert answer.weakest_share == 0.25


# --- What is refused, and what is skipped ----------------------------------------------------------------------------


def test_tables_that_make_the_evidence_impossible_are_skipped():
    moved = lifagu.transfer(made("A B C D", {"f(A)": [1, 3], "g(B)": [0, 1], "u(C)": None, "l(C,D)": [1, 2, 2, 1]} | LINKS))
    bounds = lifagu.query(moved, "D", evidence={"C": "false"}, unknown="bounds")
    assert bounds.lower == shown(bounds.upper)
    mixture = lifagu.query(moved, "C", evidence={"C": "false"}, unknown="mixture")
    assert mixture.probabilities == shown([1, 0])


LINKS = {"l1(A,A2)": [1] * 4}
