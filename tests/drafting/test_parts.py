"""Parts of drafting on their own: columns, names, widths, cohorts, gaps, lists, large tables."""

import csv
import json

import numpy as np
import pytest

import lifagu
from lifagu.data.databases.cells import cells_of
from lifagu.drafting.columns import sort_of
from lifagu.drafting.seen import SeenColumn
from support.helpers import run_cli


def column(values, name="c", kind="text"):
    known = sum(value is not None for value in values)
    return SeenColumn(name, kind, cells_of(values), len(values), known)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 20, "label"),
        (["a"] * 40, "left out"),
        (["a", None] * 30, "left out"),
        ([None] * 40, "left out"),
        ([True, False] * 20, "label"),
        (list(range(100)), "left out"),
        ([n % 7 for n in range(100)], "label"),
        ([n % 14 for n in range(40)], "number"),
        ([n % 5 for n in range(20)], "label"),
        ([n * n * 100 + 2000 for n in range(50)], "number"),
        ([3 * n + 7000 for n in range(50)], "left out"),
        ([1961 + n for n in range(50)], "number"),
        ([*(str(n * 0.37) for n in range(30)), "NA"], "number"),
        (["1", "2", "3", "4"] * 20 + ["1OT", "2OT"], "label"),
        ([f"player {n % 20}" for n in range(30)], "group"),
        ([f"player {n % 20}" for n in range(22)], "left out"),
        ([f"player {n % 300}" for n in range(340)], "group"),
        ([n * 0.37 for n in range(100)], "number"),
        ([str(n * 0.5) for n in range(100)] + ["> 89"] * 5, "number"),
        ([f"2024-0{1 + n % 9}-1{n % 8}" for n in range(60)], "moment"),
        ([f"text number {n}" for n in range(100)], "left out"),
        ([f"ward {n // 3}" for n in range(300)], "group"),
        (["a"] * 60 + ["b"] * 50 + [f"rare {n}" for n in range(40)], "label"),
        (["a", "b", "", " ", "\t"] * 20, "label"),
        (["flu"] * 12 + ["burn"] * 8 + ["gout"] * 5 + [f"rare {n}" for n in range(60)], "label"),
        ([f"street {n // 5}" for n in range(300)], "group"),
        ([f"family {n // 4}" for n in range(100)] + ["smith"] * 6 + ["jones"] * 5, "group"),
        ([f"person {n}" for n in range(200)] + ["smith"] * 6, "left out"),
        (["a"] * 5 + ["b"] * 5 + [None] * 50, "left out"),
        (["a", "NA", "n/a"] * 20, "left out"),
        ([*(f"{n % 40}.5" for n in range(80)), "NA", "?", "NA", "?"], "number"),
        ([f"{c}{d}" for c in "ABCDEFGHIJKLMN" for d in "ABN"], "left out"),
    ],
)
def test_what_a_column_is(values, kind):
    found = sort_of(column(values), False)
    assert found.kind == kind, found
    assert found.why


def test_labels_are_in_the_order_that_people_expect():
    years = [f"year_{n}" for n in (10, 2, 1, 12)] * 10
    assert sort_of(column(years), False).labels == ("year_1", "year_2", "year_10", "year_12")
    assert sort_of(column([10, 9, 8] * 10), False).labels == ("8", "9", "10")
    assert (
        sort_of(column(["other", "a"] * 99 + [f"r{n}" for n in range(30)]), False).other
        == "(other)"
    )


def test_odd_texts_among_numbers_are_read_as_what_they_say():
    values = [str(n) for n in range(200)] + ["> 89", "<5", "90+", "unknown", "~7"] * 2
    odd = sort_of(column(values), False).odd
    assert odd == {"> 89": "inf", "<5": "-inf", "90+": "inf", "unknown": None, "~7": None}


def test_words_for_nothing_are_gaps(tmp_path):
    """Files that R writes have NA in them, and then numbers are texts."""
    rows = [
        [n, "NA" if n % 5 == 0 else n % 20 / 4, "NA" if n % 4 == 0 else "uv"[n % 2]]
        for n in range(80)
    ]
    draft = lifagu.draft(write(tmp_path / "t.csv", ["id", "x", "a"], rows))
    assert {each.name: (each.size, each.gaps) for each in draft.found.asked} == {
        "X": (3, 16),
        "A": (2, 20),
    }
    assert "- Is it right to read 'NA' as nothing in t.x, t.a?" in draft.report()
    once = [[n, "NA" if n == 3 else n % 20 / 4] for n in range(80)]
    (only,) = lifagu.draft(write(tmp_path / "t.csv", ["id", "x"], once)).found.asked
    assert only.gaps == 1


def test_a_word_for_nothing_may_be_a_name(tmp_path):
    rows = [
        [f"{one}{other}", "uv"[place % 2]]
        for place, one in enumerate("LMNOPQRSTU")
        for other in "ABC"
    ]
    draft = lifagu.draft(write(tmp_path / "t.csv", ["country", "a"], rows))
    assert draft.found.keys["t"].columns == ("country",)


def write(path, head, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def test_hidden_sorts_are_taken_where_they_tell_more(tmp_path):
    rng = np.random.default_rng(3)
    tables, sorts = rng.dirichlet([0.35] * 3, (10, 4)), rng.integers(0, 4, 900)
    rows = [
        [n, *("" if rng.random() < 0.15 else "abc"[rng.choice(3, p=each[sort])] for each in tables)]
        for n, sort in enumerate(sorts.tolist())
    ]
    path = write(tmp_path / "people.csv", ["id", *(f"q{n}" for n in range(10))], rows)
    draft = lifagu.draft(path)
    (trial,) = draft.found.trials
    assert trial.is_taken
    assert trial.sorts == 4
    assert '"range": {"cohorts": 4}' in draft.text()
    found = draft.validate()
    assert found.log_loss < found.baseline.log_loss.value - 0.15


def test_no_sorts_are_taken_where_others_are_told_by_the_same_columns(tmp_path):
    """Sorts can be learned in a network alone, and tables between people and visits are none."""
    rng = np.random.default_rng(3)
    tables, sorts = rng.dirichlet([0.35] * 3, (10, 4)), rng.integers(0, 4, 1800)
    answers = [["abc"[rng.choice(3, p=each[sort])] for each in tables] for sort in sorts.tolist()]
    people = [
        [n, *("" if rng.random() < 0.15 else each for each in answered)]
        for n, answered in enumerate(answers)
    ]
    visits = [
        [n, who, "" if rng.random() < 0.2 else answers[who][0]]
        for n, who in enumerate(rng.integers(0, 1800, 1500).tolist())
    ]
    write(tmp_path / "people.csv", ["id", *(f"q{n}" for n in range(10))], people)
    write(tmp_path / "visit.csv", ["id", "people_id", "r"], visits)
    draft = lifagu.draft(tmp_path)
    trial = next(each for each in draft.found.trials if each.subject.name == "people")
    assert trial.is_better
    assert not trial.is_taken
    assert "not taken, as others are told by the same columns" in draft.report()
    found = draft.validate()
    assert found.log_loss < found.baseline.log_loss.value - 0.15


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        (lambda number: "ct"[number * 7 % 11 % 2], "group"),
        (lambda number: "ct"[number > 60], "number"),
        (lambda number: "c" if number != 60 else "t", "number"),
    ],
    ids=["in no order", "a threshold", "one exception"],
)
@pytest.mark.parametrize("nothing", ["", "NA"])
def test_numbers_that_go_with_labels_in_no_order_name_groups(tmp_path, label, kind, nothing):
    rng = np.random.default_rng(5)
    rows = [
        [
            n,
            each if n >= 40 else nothing,
            label(each if n >= 40 else 20),
            "" if rng.random() < 0.2 else "uv"[n % 3 % 2],
        ]
        for n, each in enumerate(rng.integers(20, 100, 1200).tolist())
    ]
    draft = lifagu.draft(write(tmp_path / "t.csv", ["id", "code", "where", "a"], rows))
    assert draft.found.sorts["t"]["code"].kind == kind
    told = "- t.code, 40 gaps: its values are names of groups" in draft.report()
    assert told == (kind == "group")


def test_numbers_that_only_tell_have_more_bins(tmp_path):
    random = np.random.default_rng(2)
    year = random.uniform(1970, 2000, 4000)
    weight = np.sin(year) + 0.3 * random.normal(size=4000)
    lines = [
        f"{number},{one:.2f},{'' if random.random() < 0.1 else f'{other:.3f}'}"
        for number, (one, other) in enumerate(zip(year, weight, strict=True))
    ]
    path = tmp_path / "caught.csv"
    path.write_text("\n".join(["id,year,weight", *lines]))
    bins = {each.name: each.bins for each in lifagu.draft(path).found.used}
    assert bins == {"Year": 12, "Weight": 5}
    assert {each.bins for each in lifagu.draft(path, bins=4).found.used} == {4}


def test_noise_has_no_sorts_and_no_tables(tmp_path):
    rng = np.random.default_rng(7)
    rows = [
        [n, *("" if rng.random() < 0.2 else str(rng.integers(3)) for _ in range(8))]
        for n in range(500)
    ]
    draft = lifagu.draft(write(tmp_path / "noise.csv", ["id", *"abcdefgh"], rows))
    assert not any(trial.is_taken for trial in draft.found.trials)
    assert sum(len(each.choices) for each in draft.found.chosen) <= 1


def test_gaps_that_tell_do_so_and_do_not_tell_by_themselves(tmp_path):
    """Gusts are only recorded in strong wind: to sum over them as if by chance would mislead."""
    rng = np.random.default_rng(2)
    wind = rng.gamma(2.0, 5.0, 2000)
    gust = np.where(
        rng.random(2000) < 1 / (1 + np.exp(-(wind - 12) / 3)),
        wind * 1.4 + rng.normal(0, 2, 2000),
        np.nan,
    )
    rows = [
        [n, "" if rng.random() < 0.1 else round(w, 2), "" if np.isnan(g) else round(g, 2)]
        for n, (w, g) in enumerate(zip(wind.tolist(), gust.tolist(), strict=True))
    ]
    draft = lifagu.draft(write(tmp_path / "weather.csv", ["id", "wind", "gust"], rows))
    names = {each.name for each in draft.found.drafted}
    assert "Wind in finer bins and Gust is known" in names
    assert not any(name.count("Gust") > 1 for name in names)
    found = draft.validate(only=["Wind"])
    assert found.log_loss < found.baseline.log_loss.value - 0.1


def test_labels_that_stand_out_are_labels_though_most_are_rare():
    values = ["flu"] * 12 + ["burn"] * 8 + ["gout"] * 5 + [f"rare {n}" for n in range(60)]
    found = sort_of(column(values), False)
    assert found.labels == ("burn", "flu", "gout", "other")
    assert found.other == "other"


def test_columns_with_many_gaps_are_told_by_pairs_where_these_tell_more(tmp_path):
    """By many things that add up: a table given all of them would have few records for each."""
    rng = np.random.default_rng(5)
    rows = []
    for n in range(800):
        told = rng.integers(5, size=4)
        weight = "" if rng.random() < 0.5 else round(told.sum() + rng.normal(), 2)
        seen = [each if rng.random() < 0.9 else "" for each in told]
        rows.append([n, *("" if each == "" else "abcde"[each] for each in seen), weight])
    path = write(tmp_path / "animals.csv", ["id", "p", "q", "r", "s", "weight"], rows)
    drafted = lifagu.draft(path).found.drafted
    assert not any(each.is_given for each in drafted)
    assert {f"{each} and Weight" for each in "PQRS"} <= {each.name for each in drafted}


def test_a_list_has_one_table_for_all_its_values(tmp_path):
    rng = np.random.default_rng(6)
    ill = rng.random(300) < 0.5
    people = [[n, "" if n % 6 == 0 else "yes" if one else "no"] for n, one in enumerate(ill)]
    write(tmp_path / "person.csv", ["person", "ill"], people)
    drugs = [
        [n, f'{"ab"[int(one ^ (rng.random() < 0.1))]}, {rng.integers(50)} "mg"']
        for n, one in enumerate(ill)
        for _ in range(4)
    ]
    write(tmp_path / "drug.csv", ["person", "drug"], drugs)
    draft = lifagu.draft(tmp_path)
    (table,) = [each for each in draft.found.drafted if each.name == "Ill and each drug of drug"]
    assert draft.found.chosen[0].choices[0].candidate.told == "each drug of drug"
    assert table.by == ("drugdrug",)
    names = [each["name"] for each in json.loads(draft.text())["relations"]]
    assert "each drug of drug" in names
    assert draft.validate().log_loss < 0.3


def test_numbers_that_name_somebody_have_no_mean(tmp_path):
    rng = np.random.default_rng(4)
    numbers = rng.choice(3_000_000, 600, replace=False)
    rows = [[int(each), n % 60, "uv"[rng.integers(2)]] for n, each in enumerate(numbers)]
    write(tmp_path / "visit.csv", ["visit", "ward", "a"], rows)
    wards = [[n, "" if n % 5 == 0 else "xy"[n % 3 % 2]] for n in range(60)]
    write(tmp_path / "ward.csv", ["ward", "b"], wards)
    draft = lifagu.draft(tmp_path, keys={"visit": ["visit"]})
    assert not [each.name for each in draft.found.attributes if each.name.startswith("Mean")]


def test_long_tables_become_a_relation_for_each_attribute(tmp_path):
    rng = np.random.default_rng(1)
    ill = rng.random(300) < 0.5
    write(
        tmp_path / "patient.csv",
        ["id", "ill"],
        [[n, "" if rng.random() < 0.2 else "ny"[int(i)]] for n, i in enumerate(ill)],
    )
    values = [
        [n, what, round(float(rng.normal(level + 3 * i * telling, 1)), 2)]
        for n, i in enumerate(ill.tolist())
        for what, level, telling in (("pulse", 70, 1), ("height", 170, 0))
        if rng.random() < 0.9
    ]
    write(tmp_path / "measured.csv", ["patient", "what", "value"], values)
    draft = lifagu.draft(tmp_path)
    assert {"pulse", "height"} <= {each.name for each in draft.found.attributes}
    (ill_told,) = draft.found.chosen
    assert ill_told.choices[0].candidate.told == "pulse"


def test_wide_gaps_are_narrowed_until_answers_are_exact(tmp_path):
    rng = np.random.default_rng(4)
    base = rng.normal(size=700)
    rows = [
        [
            n,
            *(
                "" if rng.random() < 0.35 else round(float(b + rng.normal(0, 0.7)), 3)
                for _ in range(24)
            ),
        ]
        for n, b in enumerate(base.tolist())
    ]
    path = write(tmp_path / "wide.csv", ["id", *(f"c{n}" for n in range(24))], rows)
    draft = lifagu.draft(path)
    assert draft.found.width.entries <= 2**24
    told = draft.validate()
    assert told.first.answered.all()


def test_of_large_tables_the_gaps_are_taken_and_some_more(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        [n, "ab"[n % 2], "" if rng.random() < 0.02 else "uv"[(n % 2) ^ (rng.random() < 0.1)]]
        for n in range(6000)
    ]
    path = write(tmp_path / "big.csv", ["id", "a", "b"], rows)
    draft = lifagu.draft(path, individuals=1000, sample=500)
    (part,) = draft.found.parts
    gaps = sum(row[2] == "" for row in rows)
    assert (part.rows, part.with_gaps, part.asked) == (6000, gaps, gaps)
    case = draft.open()
    assert len(case.impute().marginals) == gaps
    assert 700 <= len(case.graph.variable_names) / 2 <= 1300
    few = lifagu.draft(path, individuals=100)
    assert few.found.parts[0].asked < gaps
    assert "a larger number of individuals" in few.report()


def test_all_of_it_is_told_to_scripts(tmp_path, capsys):
    path = write(
        tmp_path / "t.csv", ["id", "a"], [[n, "" if n % 5 == 0 else "uv"[n % 2]] for n in range(99)]
    )
    status, out, _ = run_cli(capsys, "init", path, "--json", "--validate")
    facts = json.loads(out)
    assert status == 0
    assert facts["tables"] == {"t": {"rows": 99, "sampled": 99, "key": ["id"]}}
    assert [each["name"] for each in facts["parfactors"]] == ["A alone"]
    assert facts["validation"]["hidden"] > 0
    status, out, err = run_cli(capsys, "init", path)
    assert json.loads(out)["relations"][0]["name"] == "A"
    assert "1 table, 99 rows" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "t.txt"], "t.txt: name a file that ends in .json"),
        (["--report", "r.html"], "r.html: name a file that ends in .md"),
        (["--key", "t"], "'t' is not of the form TABLE=COLUMN"),
        (["--link", "t=u"], "'t=u' is not of the form TABLE.COLUMN=TABLE"),
    ],
)
def test_mistakes_are_one_line(tmp_path, capsys, arguments, message):
    path = write(tmp_path / "t.csv", ["id", "a"], [[n, "uv"[n % 2]] for n in range(99)])
    status, _, err = run_cli(capsys, "init", path, *arguments)
    assert status == 2
    assert message in err


def test_nothing_to_predict_is_said(tmp_path, capsys):
    path = write(tmp_path / "t.csv", ["id", "a"], [[n, "always"] for n in range(99)])
    status, _, err = run_cli(capsys, "init", path)
    assert status == 2
    assert err.startswith(f"error: {path}: no column is left to predict")
    status, _, err = run_cli(capsys, "init", "")
    assert status == 2
    assert err.startswith("error: argument SOURCE: the name of a file or folder is empty")


def test_texts_lead_to_a_large_table_only_if_its_keys_are_there(tmp_path):
    """Of a large table not all keys are seen, and what was not seen is no reason for a link."""
    write(tmp_path / "parts.csv", ["code", "heavy"], [[f"p{n}", "ny"[n % 2]] for n in range(900)])
    rows = [[n, f"town {n % 7}", "" if n % 4 == 0 else "uv"[n % 2]] for n in range(200)]
    write(tmp_path / "people.csv", ["id", "town", "a"], rows)
    assert not lifagu.draft(tmp_path, sample=300).found.links


def test_a_column_that_is_left_out_is_no_key(tmp_path):
    path = write(tmp_path / "t.csv", ["id", "a"], [[n, "uv"[n % 2]] for n in range(99)])
    with pytest.raises(lifagu.ModelError, match=r"t\.id is left out"):
        lifagu.draft(path, keys={"t": ["id"]}, leave_out=["t.id"])


def test_nothing_to_be_predicted_is_a_level_of_groups(tmp_path):
    """A hidden cell would be told by itself: groups are read from the database as it is."""
    rows = [[n, visit, "sml"[n * n % 3], n % 5] for n in range(60) for visit in "abcd"]
    draft = lifagu.draft(write(tmp_path / "t.csv", ["person_id", "visit", "size", "x"], rows))
    asked = {each.column[1] for each in draft.found.asked}
    assert "size" in asked
    assert any("person_id" in table.by for table in draft.found.drafted)
    assert not any(asked & set(table.by) for table in draft.found.drafted)


def test_amounts_that_happen_to_differ_are_no_key(tmp_path):
    """The first column is a key where its numbers follow one another, or are rather names."""
    rng = np.random.default_rng(4)
    amounts = rng.permutation(40) ** 3 * 7 + 1000
    for numbers, key in ((amounts, ()), (np.sort(amounts), ("c",)), (rng.permutation(40), ("c",))):
        rows = [[n, "uv"[place % 2], place % 3] for place, n in enumerate(numbers.tolist())]
        write(tmp_path / "t.csv", ["c", "a", "b"], rows)
        as_texts = {"t": {"c": [str(n) for n, *_ in rows], "a": [a for _, a, _ in rows]}}
        for source in (tmp_path / "t.csv", as_texts):
            draft = lifagu.draft(source)
            assert draft.found.keys["t"].columns == key
            assert ("C" in {each.name for each in draft.found.asked}) == (not key)
