"""What answers rest on where tables compete, and what stays unknown."""

import numpy as np
import pytest

import lifagu
from support.helpers import ROOT, graph_of

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


def individuals(*receivers):
    """Donors disagree about both tables; P(S), P(T) are .75, .9 with a's and .25, .1 with b's."""
    variables = " ".join(f"{v}.{name}:{v}:{name}" for name in ("a", "b", *receivers) for v in "ST")
    factors = {"f.a(S.a)": [1, 3], "g.a(T.a)": [1, 9], "f.b(S.b)": [3, 1], "g.b(T.b)": [9, 1]}
    return variables, factors | {
        f"{f}.{name}({v}.{name})": None for name in receivers for f, v in ("fS", "gT")
    }


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


def support(moved, *question, **evidence):
    answer = lifagu.query(moved, *question, evidence=evidence)
    return answer.rests_on, answer.weakest_share


def test_an_answer_rests_on_the_transferred_factors_of_its_connected_part():
    moved = moved_from(*BRIDGE)
    assert support(moved, "C") == (("u", "w"), 0.5)
    assert support(moved, "A1") == ((), None)
    assert support(moved, "A1", "D") == (("u", "w"), 0.5)
    soft = {"D": {"false": 1, "true": 2}}
    assert support(moved, "C", **soft) == (("u", "w"), 0.5)


def test_evidence_cuts_off_what_an_answer_rests_on():
    moved = moved_from(*BRIDGE)
    assert support(moved, "C", D="true") == (("u",), 2 / 3)
    assert support(moved, "D", C="true") == (("w",), 0.5)
    assert support(moved, "C", C="true") == ((), None)
    assert support(moved, "C", "D", C="true") == (("w",), 0.5)


# ---- What stays unknown


def test_a_class_below_theta_stays_unknown():
    moved = moved_from(*BRIDGE, theta=0.6)
    for question in (("C",), ("D",), ("A1", "D")):
        with pytest.raises(lifagu.NoAnswerError, match=r"\bw\b"):
            lifagu.query(moved, *question)
    with pytest.raises(lifagu.NoAnswerError):
        lifagu.log_partition(moved)
    elsewhere = lifagu.query(moved, "A1")
    assert elsewhere["true"] == pytest.approx(lifagu.query(moved_from(*BRIDGE), "A1")["true"])
    assert elsewhere.log_partition is None


def test_what_evidence_cuts_off_from_unknown_factors_is_answered():
    moved = moved_from(*BRIDGE, theta=0.6)
    seen = {"D": "false"}  # then l gives C 3 to 1; f1 1 to 3, f3 2 to 1
    assert lifagu.query(moved, "C", evidence=seen)["true"] == pytest.approx(1 / 2)


def test_models_at_the_edge():
    """Nothing unknown, everything unknown, no factors, and factors without arguments."""
    sure = lifagu.query(moved_from("A", {"f(A)": [1, 3]}), "A")
    assert sure["true"] == 0.75
    assert lifagu.query(moved_from("A B", {}), "A")["true"] == 0.5
    lost = moved_from("A B", {"f(A)": None})
    assert lifagu.query(lost, "B")["true"] == 0.5
    assert lifagu.query(lost, "B", evidence={"A": "true"})["true"] == 0.5
    with pytest.raises(lifagu.NoAnswerError, match=r"\bf\b"):
        lifagu.query(lost, "A")
    constant = moved_from("A B C", PAIR | {"k()": [2], "l()": [5], "m()": None})
    assert lifagu.query(constant, "A")["true"] == 0.75
    missing = moved_from("A B C", PAIR | {"m()": None})
    assert lifagu.query(missing, "A", evidence={"C": "true"})["true"] == 0.75


def test_an_observed_variable_is_certain():
    moved = moved_from(*BRIDGE)
    assert lifagu.query(moved, "C", evidence={"C": "true"}).probabilities == shown([0, 1])
    joint = lifagu.query(moved, "C", "A1", evidence={"C": "true"})
    assert joint.probabilities[0] == shown([0, 0])
    assert joint.probabilities[1] == shown(lifagu.query(moved, "A1").probabilities)


# ---- What is impossible


def rows(*tables):
    """Pairs of variables with these tables, and one of which nothing is known: u(X,Y)."""
    names = [f"x{i}:x y{i}:y" for i in range(len(tables))]
    return " ".join([*names, "X:x Y:y"]), {f"f{i}(x{i},y{i})": t for i, t in enumerate(tables)} | {
        "u(X,Y)": None
    }


def test_evidence_impossible_under_all_tables_has_no_answer():
    moved = moved_from(*rows([0, 0, 1, 3], [0, 0, 2, 1]))
    with pytest.raises(lifagu.NoAnswerError, match="probability zero"):
        lifagu.query(moved, "Y", evidence={"X": "false"})


# ---- What was once wrong


# ---- What is used is said


def test_what_each_takes_by_cohorts_is_one_line_of_a_kind():
    case = lifagu.open(ROOT / "examples/wards.json").fill(by="auto")
    lent = case.impute(["Recovers.p9"]).lent
    assert [(each.factors, each.count, each.takes, each.unit) for each in lent] == [
        ("r(Severe, Recovers, Staffed)", 2, "the tables of all cohorts", "cohort"),
        ("r(Severe, Recovers, Staffed)", 1, "the table of r.p1", "individual"),
        ("s(Severe)", 1, "the tables of all cohorts", "cohort"),
    ]
