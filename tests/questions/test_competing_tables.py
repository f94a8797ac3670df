"""Mean, mixture and bounds against all combinations of competing tables, and what they refuse."""

import math
import random
from itertools import product

import numpy as np
import pytest

import lifagu
from support.helpers import ROOT, graph_of, mostly_full, random_model, run_cli
from support.naive import competing_tables as oracle
from support.naive import graphs as naive

WAYS = ("one", "mean", "mixture", "bounds")
OPTIONS = {
    "share": {},
    "structure only": {"structure_only": True},
    "published": {"published": True},
}
MOST = 24  # combinations tried one by one


# ---- Comparing


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
    return {
        **model,
        "variables": [v for v in model["variables"] if v["name"] in variables],
        "factors": kept,
    }


def within(model, question, left, removed):
    """The model without parts in which factors stay unknown; None if that concerns the question."""
    names = {variable["name"] for variable in model["variables"]}
    holes = [
        set(factor["args"]) - set(removed) for factor in model["factors"] if factor["name"] in left
    ]
    lost = reached(model, set().union(*holes), removed)
    rest = only(model, names - lost)
    gone = {factor["name"] for factor in model["factors"] if set(factor["args"]) & lost} | set(left)
    kept = [factor for factor in model["factors"] if factor["name"] not in gone]
    return None if lost & set(question) else {**rest, "factors": kept}


def expected(model, classes, left, question, evidence):
    """Way -> answer: distributions (bounds: two), "missing", "impossible", None (undecided)."""
    observed = [name for name, seen in evidence.items() if not isinstance(seen, dict)]
    kept = within(model, question, left, observed)
    if kept is None:
        return dict.fromkeys(WAYS, "missing")
    pairs = oracle.combinations(kept, classes)
    names = {variable["name"] for variable in kept["variables"]}
    every, evidence = evidence, {name: seen for name, seen in evidence.items() if name in names}
    answers = {
        "one": oracle.posterior(oracle.winning(kept, classes), question, evidence),
        "mean": oracle.posterior(oracle.mean(kept, classes), question, evidence),
    }
    answers["bounds"] = oracle.bounds(pairs, question, evidence) if answers["one"] else None
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
    """Whether every competing table fits every receiver, as copies by position may not."""
    labels = {name: variable.labels for name, variable in naive.parse(model).variables.items()}
    scopes = {
        factor["name"]: [labels[name] for name in factor["args"]] for factor in model["factors"]
    }
    lent = [item for offers in classes for _, tables in offers for item in tables.items()]
    return all(set(table) == set(product(*scopes[name])) for name, table in lent)


# ---- Random models


def look_alikes(seed):
    """Blocks with the same scopes and two or three tables for each, maybe with a hub; evidence.

    Blocks list their arguments in different orders, have holes in different places, and are
    individuals at times.
    """
    rng = random.Random(seed)
    linked, kinds, individuals, zeros = (rng.random() < chance for chance in (0.5, 0.6, 0.4, 0.4))
    labels = {spot: rng.choice([("no", "yes"), ("no", "yes"), ("a", "b", "c")]) for spot in "xy"}
    scopes = [rng.sample("xy", rng.choice([1, 2])) for _ in range(rng.choice([2, 2, 3]))]
    drawn = [
        [naive.random_table(rng, [labels[s] for s in sc], 0.3 * zeros) for _ in range(3)]
        for sc in scopes
    ]
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
            factors.append(
                {
                    "name": f"{block}{number}",
                    "args": [scope[i] + block for i in order],
                    "table": values,
                }
            )
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
@pytest.mark.parametrize("seed", range(15))
def test_answers_equal_enumeration_of_combinations(seed, options, theta):
    rng = random.Random(seed)
    shape = {
        "unknown": rng.choice([0.2, 0.4]),
        "kinds": seed % 2 == 0,
        "individuals": seed % 3 == 0,
    }
    model, evidence = random_model(seed, variables=6, **shape)
    check(model, theta, evidence, questions_about(model, rng), **options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("seed", mostly_full(range(45), always=range(20)))
def test_look_alike_blocks(seed, options):
    """Many tables compete here; without a hub a class has members in several components."""
    model, evidence = look_alikes(seed)
    rng = random.Random(seed)
    check(model, rng.choice([0, 0, 0.5]), evidence, questions_about(model, rng), **options)


@pytest.mark.parametrize("seed", range(20))
def test_soft_evidence(seed):
    model, evidence = look_alikes(seed)
    rng = random.Random(seed)
    ranges = {v["name"]: v.get("range", ["false", "true"]) for v in model["variables"]}
    name = rng.choice(list(ranges))
    evidence[name] = {label: rng.choice([0.5, 1, 3]) for label in ranges[name]}
    check(model, 0, evidence, [(name,), *questions_about(model, rng)])


@pytest.mark.parametrize("seed", range(20))
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
                assert near(
                    answer,
                    answer.probabilities,
                    dict(zip(alone.values, alone.values(), strict=True)),
                )
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
            assert lifagu.query(
                moved, name, evidence=evidence, unknown=way
            ).log_partition == pytest.approx(found)
        else:
            with pytest.raises(lifagu.NoAnswerError):
                lifagu.log_partition(moved, evidence=evidence, unknown=way)


# ---- By hand


def made(variables, factors):
    """A model: "A=no/yes B:kind C:kind:individual" (a range if need be), {"name(A,B)": table}."""
    declared, listed = [], []
    for each in variables.split():
        (name, *labels), *known = (part.split("=") for part in each.split(":"))
        declared.append(
            {"name": name} | dict(zip(("kind", "individual"), (k[0] for k in known), strict=False))
        )
        declared[-1] |= {"range": labels[0].split("/")} if labels else {}
    for key, table in factors.items():
        name, scope = key.rstrip(")").split("(")
        listed.append(
            {"name": name, "args": [arg for arg in scope.split(",") if arg], "table": table}
        )
    return {"variables": declared, "factors": listed}


def moved_from(variables, factors, theta=0.0, **options):
    return lifagu.transfer(graph_of(made(variables, factors)), theta, **options)


def shown(values):
    return pytest.approx(np.asarray(values), rel=1e-12)


# P(C = true) is .75 or .1, each with share 1/2
PAIR = {"f(A)": [1, 3], "g(B)": [9, 1], "u(C)": None}


def test_four_ways_to_use_two_tables():
    moved = moved_from("A B C", PAIR)
    answers = {way: lifagu.query(moved, "C", unknown=way) for way in WAYS}
    assert {way: answer["true"] for way, answer in answers.items()} == pytest.approx(
        {"one": 0.75, "mean": 0.425, "mixture": 0.425, "bounds": 0.75}
    )
    assert answers["bounds"].lower == shown([0.25, 0.1])
    assert answers["bounds"].upper == shown([0.9, 0.75])
    assert answers["one"].log_partition == pytest.approx(math.log(4 * 10 * 4))
    assert answers["mean"].log_partition == pytest.approx(math.log(4 * 10))
    assert answers["mixture"].log_partition is None
    assert answers["bounds"].log_partition is None


def test_evidence_in_another_component_informs_the_mixture():
    """u and v take the same table in every combination, so what was seen of D speaks about C."""
    moved = moved_from("A B C D", PAIR | {"v(D)": None})
    seen = {"D": "true"}
    mixture = lifagu.query(moved, "C", evidence=seen, unknown="mixture")
    assert mixture["true"] == pytest.approx((0.75**2 + 0.1**2) / (0.75 + 0.1))
    assert lifagu.query(moved, "C", evidence=seen, unknown="mean")["true"] == pytest.approx(0.425)
    joint = lifagu.query(moved, "C", "D", unknown="mixture")
    assert joint["true", "true"] == pytest.approx((0.75**2 + 0.1**2) / 2)
    bounds = lifagu.query(moved, "C", "D", unknown="bounds")
    assert bounds.lower == shown([[0.0625, 0.09], [0.09, 0.01]])
    assert bounds.upper == shown([[0.81, 0.1875], [0.1875, 0.5625]])


@pytest.mark.parametrize("evidence", [{"D": "true", "K": "true"}, {"D": "true"}, {"K": "true"}])
def test_evidence_reaches_the_question_through_two_classes(evidence):
    """K speaks about the tables of the y's, those with D about the x's, of which one is C's."""
    unary = {"f(A)": [1, 3], "g(B)": [9, 1], "u(C)": None, "v(D)": None, "j(J)": [1, 3]}
    other = {"h(E)": [1, 1], "k(F)": [1, 7], "w(G)": [1, 1], "o(H)": None, "p(K)": None}
    links = {
        f"l{one}({one},{other})": [5, 1, 2, 5] for one, other in ("AE", "BF", "CG", "DH", "JK")
    }
    model = made("A:x B:x C:x D:x E:y F:y G:y H:y J:x K:y", unary | other | links)
    check(model, 0, evidence, [("C",), ("C", "H")])


def individuals(*receivers):
    """Donors disagree about both tables; P(S), P(T) are .75, .9 with a's and .25, .1 with b's."""
    variables = " ".join(f"{v}.{name}:{v}:{name}" for name in ("a", "b", *receivers) for v in "ST")
    factors = {"f.a(S.a)": [1, 3], "g.a(T.a)": [1, 9], "f.b(S.b)": [3, 1], "g.b(T.b)": [9, 1]}
    return variables, factors | {
        f"{f}.{name}({v}.{name})": None for name in receivers for f, v in ("fS", "gT")
    }


def test_an_individual_takes_all_tables_from_one_donor():
    moved = moved_from(*individuals("c"))
    bounds = lifagu.query(moved, "S.c", "T.c", unknown="bounds")
    assert bounds.probabilities == shown([[0.025, 0.225], [0.075, 0.675]])
    assert bounds.lower == shown([[0.025, 0.075], [0.075, 0.025]])
    assert bounds.upper == shown([[0.675, 0.225], [0.225, 0.675]])
    assert lifagu.query(moved, "S.c", "T.c", unknown="mixture").probabilities == shown(
        [[0.35, 0.15], [0.15, 0.35]]
    )
    assert lifagu.query(moved, "S.c", "T.c", unknown="mean").probabilities == shown(
        [[0.25, 0.25], [0.25, 0.25]]
    )
    seen = {"T.c": "true"}
    check(made(*individuals("c")), 0, seen, [("S.c",), ("T.c", "S.c"), ("S.a", "S.c")])
    assert lifagu.query(moved, "S.c", "T.c", evidence=seen, unknown="mean")[
        "true", "true"
    ] == pytest.approx(0.5)


def test_receivers_that_look_alike_take_the_same_donor():
    moved = moved_from(*individuals("c", "d"))
    assert lifagu.query(moved, "S.c", evidence={"T.d": "true"}, unknown="mixture")[
        "true"
    ] == pytest.approx(0.7)
    bounds = lifagu.query(moved, "S.c", "S.d", unknown="bounds")
    assert bounds.upper == shown([[0.5625, 0.1875], [0.1875, 0.5625]])


def test_a_receiver_with_a_known_table_has_fewer_donors():
    """d has a's table for S, so only a can lend; c and d are no class."""
    variables, factors = individuals("c", "d")
    model = made(variables, factors | {"f.d(S.d)": [1, 3]})
    check(model, 0, {"T.d": "false"}, [("S.c", "T.c"), ("T.c", "S.d")])
    moved = lifagu.transfer(graph_of(model))
    assert lifagu.query(moved, "S.c", evidence={"T.d": "false"}, unknown="mixture")[
        "true"
    ] == pytest.approx(0.5)
    assert lifagu.query(moved, "T.d", unknown="bounds").lower == shown([0.1, 0.9])


def test_unknown_factors_of_equal_role_are_averaged_in_list_order():
    """Two unknown factors of c look alike: each takes each donor's table of the same place."""
    factors = {"f.a(S.a)": [1, 3], "g.a(S.a)": [1, 9], "f.b(S.b)": [3, 1], "g.b(S.b)": [4, 1]}
    model = made("S.a:S:a S.b:S:b S.c:S:c", factors | {"f.c(S.c)": None, "g.c(S.c)": None})
    tables = lifagu.transfer(graph_of(model)).averaged()
    assert tables.factor("f.c").table == shown([0.5, 0.5])
    assert tables.factor("g.c").table == shown([0.45, 0.55])
    check(model, 0, {}, [("S.c",)])


def test_structure_alone_lets_tables_change_their_owner():
    """Without kinds and individuals four tables compete for one class of two factors."""
    moved = moved_from(*individuals("c"), structure_only=True)
    answer = lifagu.query(moved, "S.c", "T.c", unknown="mixture")
    assert answer["true", "true"] == pytest.approx((0.75**2 + 0.9**2 + 0.25**2 + 0.1**2) / 4)
    assert answer.weakest_share == 0.25


# ---- What an answer rests on

BRIDGE = (  # C and D are connected and transferred: u with share 2/3, w with share 1/2
    "A1:x A2:x A3:x C:x B1:y B2:y D:y Z",
    {
        "f1(A1)": [1, 3],
        "f2(A2)": [1, 3],
        "f3(A3)": [2, 1],
        "u(C)": None,
        "w(D)": None,
        "g1(B1)": [1, 5],
    }
    | {
        "g2(B2)": [1, 1],
        "l(C,D)": [3, 1, 1, 3],
        "l1(A1,A2)": [1, 2, 2, 1],
        "l2(A3,B1)": [1, 2, 2, 1],
    }
    | {"l3(B2,Z)": [1, 2, 2, 1]},
)


def support(moved, *question, way, **evidence):
    answer = lifagu.query(moved, *question, evidence=evidence, unknown=way)
    return answer.rests_on, answer.weakest_share


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_rests_on_the_transferred_factors_of_its_connected_part(way):
    moved = moved_from(*BRIDGE)
    assert support(moved, "C", way=way) == (("u", "w"), 0.5)
    assert support(moved, "A1", way=way) == ((), None)
    assert support(moved, "A1", "D", way=way) == (("u", "w"), 0.5)
    soft = {"D": {"false": 1, "true": 2}}
    assert support(moved, "C", way=way, **soft) == (("u", "w"), 0.5)


@pytest.mark.parametrize("way", ["one", "mean", "bounds"])
def test_evidence_cuts_off_what_an_answer_rests_on(way):
    moved = moved_from(*BRIDGE)
    assert support(moved, "C", way=way, D="true") == (("u",), 2 / 3)
    assert support(moved, "D", way=way, C="true") == (("w",), 0.5)
    assert support(moved, "C", way=way, C="true") == ((), None)
    assert support(moved, "C", "D", way=way, C="true") == (("w",), 0.5)


def test_a_mixture_rests_on_all_that_explains_the_evidence():
    assert support(moved_from(*BRIDGE), "C", way="mixture", D="true") == (("u", "w"), 0.5)


# ---- What stays unknown


@pytest.mark.parametrize("way", WAYS)
def test_a_class_below_theta_stays_unknown(way):
    moved = moved_from(*BRIDGE, theta=0.6)
    for question in (("C",), ("D",), ("A1", "D")):
        with pytest.raises(lifagu.NoAnswerError, match=r"\bw\b"):
            lifagu.query(moved, *question, unknown=way)
    with pytest.raises(lifagu.NoAnswerError):
        lifagu.log_partition(moved, unknown=way)
    elsewhere = lifagu.query(moved, "A1", unknown=way)
    assert elsewhere["true"] == pytest.approx(lifagu.query(moved_from(*BRIDGE), "A1")["true"])
    assert elsewhere.log_partition is None


def test_what_evidence_cuts_off_from_unknown_factors_is_answered():
    """Not by the mixture: how well its tables explain D cannot be said without w."""
    moved = moved_from(*BRIDGE, theta=0.6)
    seen = {"D": "false"}  # then l gives C 3 to 1; f1 1 to 3, f3 2 to 1
    assert lifagu.query(moved, "C", evidence=seen)["true"] == pytest.approx(1 / 2)
    mean = (3 * (2 / 3 / 4 + 1 / 3 * 2 / 3), 2 / 3 * 3 / 4 + 1 / 3 / 3)
    assert lifagu.query(moved, "C", evidence=seen, unknown="mean")["true"] == pytest.approx(
        mean[1] / sum(mean)
    )
    bounds = lifagu.query(moved, "C", evidence=seen, unknown="bounds")
    assert bounds.lower == shown([1 / 2, 1 / 7])
    assert bounds.upper == shown([6 / 7, 1 / 2])
    assert support(moved, "C", way="bounds", **seen) == (("u",), 2 / 3)
    with pytest.raises(lifagu.NoAnswerError, match=r"\bw\b"):
        lifagu.query(moved, "C", evidence=seen, unknown="mixture")


@pytest.mark.parametrize("way", WAYS)
def test_models_at_the_edge(way):
    """Nothing unknown, everything unknown, no factors, and factors without arguments."""
    sure = lifagu.query(moved_from("A", {"f(A)": [1, 3]}), "A", unknown=way)
    assert sure["true"] == 0.75
    assert way != "bounds" or (sure.lower == sure.upper).all()
    assert lifagu.query(moved_from("A B", {}), "A", unknown=way)["true"] == 0.5
    lost = moved_from("A B", {"f(A)": None})
    assert lifagu.query(lost, "B", unknown=way)["true"] == 0.5
    assert lifagu.query(lost, "B", evidence={"A": "true"}, unknown=way)["true"] == 0.5
    with pytest.raises(lifagu.NoAnswerError, match=r"\bf\b"):
        lifagu.query(lost, "A", unknown=way)
    constant = moved_from("A B C", PAIR | {"k()": [2], "l()": [5], "m()": None})
    check(made("A B C", PAIR | {"k()": [2], "l()": [5], "m()": None}), 0, {}, [("C",), ("A",)])
    assert lifagu.query(constant, "A", unknown=way)["true"] == 0.75
    missing = moved_from("A B C", PAIR | {"m()": None})
    assert lifagu.query(missing, "A", evidence={"C": "true"}, unknown=way)["true"] == 0.75


@pytest.mark.parametrize("way", WAYS)
def test_an_observed_variable_is_certain(way):
    moved = moved_from(*BRIDGE)
    assert lifagu.query(moved, "C", evidence={"C": "true"}, unknown=way).probabilities == shown(
        [0, 1]
    )
    joint = lifagu.query(moved, "C", "A1", evidence={"C": "true"}, unknown=way)
    assert joint.probabilities[0] == shown([0, 0])
    assert joint.probabilities[1] == shown(lifagu.query(moved, "A1").probabilities)


# ---- What is impossible, and what is too much


def rows(*tables):
    """Pairs of variables with these tables, and one of which nothing is known: u(X,Y)."""
    names = [f"x{i}:x y{i}:y" for i in range(len(tables))]
    return " ".join([*names, "X:x Y:y"]), {f"f{i}(x{i},y{i})": t for i, t in enumerate(tables)} | {
        "u(X,Y)": None
    }


USUAL, NEVER, OTHER = [1, 2, 3, 4], [0, 0, 1, 3], [3, 1, 1, 1]  # X = false is impossible with NEVER


def test_tables_that_make_the_evidence_impossible_are_skipped():
    moved = moved_from(*rows(USUAL, NEVER, USUAL, OTHER))
    bounds = lifagu.query(moved, "Y", evidence={"X": "false"}, unknown="bounds")
    assert bounds["true"] == pytest.approx(2 / 3)
    assert bounds.lower == shown([1 / 3, 1 / 4])
    assert bounds.upper == shown([3 / 4, 2 / 3])
    mixture = lifagu.query(moved, "Y", evidence={"X": "false"}, unknown="mixture")
    usual, other = 1 / 2 * 3 / 10, 1 / 4 * 4 / 6
    assert mixture["true"] == pytest.approx((usual * 2 / 3 + other * 1 / 4) / (usual + other))


def test_the_winning_tables_may_be_the_impossible_ones():
    """The mixture goes on without them; the other ways have no answer of their own to give."""
    moved = moved_from(*rows(NEVER, NEVER, OTHER))
    assert lifagu.query(moved, "Y", evidence={"X": "false"}, unknown="mixture")[
        "true"
    ] == pytest.approx(1 / 4)
    assert lifagu.query(moved, "Y", evidence={"X": "false"}, unknown="mean")[
        "true"
    ] == pytest.approx(1 / 4)
    for way in ("one", "bounds"):
        with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
            lifagu.query(moved, "Y", evidence={"X": "false"}, unknown=way)


@pytest.mark.parametrize("way", WAYS)
def test_evidence_impossible_under_all_tables_has_no_answer(way):
    moved = moved_from(*rows(NEVER, [0, 0, 2, 1]))
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        lifagu.query(moved, "Y", evidence={"X": "false"}, unknown=way)


# ---- What was once wrong


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_log_partition_does_not_exist_for_several_models(way):
    with pytest.raises(lifagu.NoAnswerError):
        lifagu.log_partition(moved_from("A B C", PAIR), unknown=way)


def test_evidence_in_another_component_rules_out_tables():
    """u and v take the same table, and D = false is impossible with one of the two."""
    moved = moved_from("A B C D", {"f(A)": [1, 3], "g(B)": [0, 1], "u(C)": None, "v(D)": None})
    bounds = lifagu.query(moved, "C", evidence={"D": "false"}, unknown="bounds")
    assert bounds.lower == shown([0.25, 0.75])
    assert bounds.upper == shown([0.25, 0.75])


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_impossible_evidence_in_another_component_is_noticed(way):
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        lifagu.query(moved_from("A B", {"f(A)": [0, 1]}), "B", evidence={"A": "false"}, unknown=way)


@pytest.mark.parametrize("way", ["mixture", "bounds"])
def test_an_answer_does_not_depend_on_what_else_is_asked(way):
    factors = {"f(A)": [2, 1], "g(B)": [0, 1], "u(C)": None, "v(D)": None, "d(D,E)": [1, 1, 0, 0]}
    links = {f"l{name}({name},{name}2)": [1, 1, 1, 1] for name in "ABC"}
    moved = moved_from("A:x B:x C:x D:x A2 B2 C2 E", factors | links)
    alone = lifagu.query(moved, "C", unknown=way)
    together = lifagu.queries(moved, ["C", "D"], unknown=way)[0]
    assert together.probabilities == shown(alone.probabilities)
    assert way == "mixture" or together.lower == shown(alone.lower)


def test_a_mixture_of_one_model_needs_no_weights():
    """The other ways answer both; f stays unknown, but evidence cuts it off."""
    moved = moved_from("A B", {"f(A)": None, "l(A,B)": [1, 2, 3, 4]})
    answers = [
        lifagu.query(moved, "B", evidence={"A": "true"}, unknown=way)["true"]
        for way in ("one", "mixture")
    ]
    assert answers == pytest.approx([4 / 7, 4 / 7])


def by_position(labels):
    """Two tables fit u as copies by position, a third does not: its ranges are turned round."""
    variables = " ".join(f"{name} {name}2={labels} {name}3" for name in "ABCD")
    size = 2 * len(labels.split("/"))
    tables = {
        "f(A,A2)": list(range(1, size + 1)),
        "g(B,B2)": list(range(1, size + 1)),
        "u(C,C2)": None,
    }
    links = {f"l{name}({name},{name}3)": [1, 2, 3, 4] for name in "ABCD"}
    return variables, tables | {"h(D2,D)": [9] + [1] * (size - 1)} | links


@pytest.mark.parametrize("labels", ["off/on", "a/b/c"])
def test_a_mean_never_adds_tables_of_different_ranges(labels):
    """A table that does not fit is left out or unknown: mean and mixture must agree on it."""
    moved = moved_from(*by_position(labels), published=True)
    refused = []
    for way in ("mean", "mixture"):
        try:
            lifagu.query(moved, "C", unknown=way)
        except lifagu.NoAnswerError:
            refused.append(way)
    assert refused in ([], ["mean", "mixture"])


def test_a_mixture_with_a_table_that_does_not_fit_is_answered_or_refused():
    moved = moved_from(*by_position("a/b/c"), published=True)
    try:
        answer = lifagu.query(moved, "C3", evidence={"C": "true"}, unknown="mixture")
    except lifagu.NoAnswerError:
        return
    assert answer["true"] == pytest.approx(4 / 7)


# ---- What is used is said


def wards(**settings):
    return lifagu.transfer(lifagu.read(ROOT / "examples/wards.json"), **settings)


@pytest.mark.parametrize("by", ["individuals", "cohorts"])
def test_functions_use_tables_as_the_transfer_says(by):
    moved = wards(by=by, unknown="mean")
    mean = lifagu.query(moved.averaged(), "Recovers.p9")["true"]
    best = lifagu.query(moved.graph, "Recovers.p9")["true"]
    assert abs(mean - best) > 0.01
    assert lifagu.query(moved, "Recovers.p9")["true"] == pytest.approx(mean)
    assert lifagu.marginals(moved)["Recovers.p9"]["true"] == pytest.approx(mean)
    assert lifagu.query(moved, "Recovers.p9", unknown="one")["true"] == pytest.approx(best)
    assert lifagu.query(wards(by=by, unknown="one"), "Recovers.p9")["true"] == pytest.approx(best)


@pytest.mark.parametrize(("way", "words"), [("mean", "take the mean"), ("mixture", "mix all")])
def test_groups_and_figures_say_that_answers_use_more(capsys, way, words):
    model = str(ROOT / "examples/wards.json")
    _, shown, _ = run_cli(capsys, "lift", model, "--fill", "individuals", "--unknown", way)
    assert f"best table of each hole; answers {words}" in shown
    assert "; answers" not in run_cli(capsys, "lift", model, "--fill", "individuals")[1]
    usual = "best table of each hole; answers sum over all that compete"
    assert usual in run_cli(capsys, "lift", model)[1]
    arrows = "arrow: the best of the tables it takes is that of the factor it comes from"
    assert arrows in lifagu.draw(wards(unknown=way), "transfers").notes
    assert arrows not in lifagu.draw(wards(), "transfers").notes


def test_what_each_takes_by_cohorts_is_one_line_of_a_kind():
    case = lifagu.open(ROOT / "examples/wards.json").fill(by="cohorts")
    lent = case.impute(["Recovers.p9"]).lent
    assert [(each.factors, each.count, each.takes, each.unit) for each in lent] == [
        ("r(Severe, Recovers, Staffed)", 3, "the tables of all cohorts", "cohort"),
        ("s(Severe)", 1, "the tables of all cohorts", "cohort"),
    ]
