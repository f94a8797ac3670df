"""Templates whose tables are learned: what there is to learn, ranges from data, and writing."""

import itertools
import json
import random
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import lifagu
from lifagu.data.templates import load_template
from lifagu.formats import contents, learned_json
from lifagu.graph.bins import BinLabels
from lifagu.graph.table_support import TableSupport
from lifagu.questions.storage import load
from lifagu.questions.writing_learned import write_learned
from lifagu.relational.learned_tables import with_tables
from lifagu.relational.learning_task import LearnedModel, LearnedTable
from support.helpers import SCHEMA
from support.naive import templates as naive
from support.small_hospital import KINDS, made, written

STAYS = "SELECT stay AS s, hospital, ward FROM stays"
TEMPLATE = {
    "format": "lifagu/1",
    "source": "data.duckdb",
    "ranges": {"illness": {"sql": "SELECT DISTINCT dx FROM stays"}},
    "domains": {"Stay": {"sql": "SELECT stay FROM stays"}},
    "relations": [
        {"name": "Flu"},
        {"name": "Age", "of": ["Stay"], "range": {"bins": 3}},
        {"name": "Sex", "of": ["Stay"], "range": ["m", "f"]},
        {"name": "Dx", "of": ["Stay"], "range": "illness"},
        {"name": "Kind", "of": ["Stay"], "range": {"cohorts": 2}},
    ],
    "tables": {"season": [4, 1]},
    "parfactors": [
        {"name": "pair", "args": ["Age(S)", "Sex(S)"], "table": "learn"},
        {
            "name": "here",
            "args": ["Age(S)"],
            "rows": {"sql": STAYS},
            "table": {"learn": True, "by": ["hospital", "ward"]},
        },
        {
            "name": "dx",
            "args": ["Age( S )", "Dx(S)"],
            "table": {"learn": True, "given": ["Age(S)"], "comment": "directed"},
        },
        {"name": "kind", "args": ["Kind(S)", "Dx(S)"], "table": {"learn": True}},
        {"name": "flu", "args": ["Flu"], "table": "season"},
        {"name": "sex", "args": ["Flu", "Sex(S)"], "table": [1, 2, 3, 4]},
    ],
    "evidence": {
        "Age": {"sql": "SELECT stay, age FROM stays"},
        "Sex": {"sql": "SELECT stay, sex FROM stays"},
        "Dx": {"sql": "SELECT stay, dx FROM stays"},
    },
}
COLUMNS = {
    "stay": "INTEGER",
    "hospital": "VARCHAR",
    "ward": "VARCHAR",
    "age": "FLOAT8",
    "sex": "VARCHAR",
    "dx": "VARCHAR",
}


def stays(seed, count=40):
    """Stays in some hospitals with wards, some cells and some groups NULL."""
    rng = random.Random(seed)
    rows = []
    for stay in rng.sample(range(1, 5 * count), count):
        hospital = rng.choice(["h2", "h10", "h9", None])
        ward = rng.choice(["a", "b", None])
        age = rng.choice([None, *range(20, 90, 5), 33.5])
        rows.append((stay, hospital, ward, age, rng.choice("mmf"), rng.choice(["x", "y", None])))
    return {"stays": (COLUMNS, rows)}


def changed(**sections):
    return {**json.loads(json.dumps(TEMPLATE)), **sections}


def parfactors(number, **settings):
    """The parfactors with one of them changed; None leaves out what it says."""
    items = json.loads(json.dumps(TEMPLATE["parfactors"]))
    items[number] = {
        key: value for key, value in {**items[number], **settings}.items() if value is not None
    }
    return items


@pytest.fixture
def loads(tmp_path):
    """Loads a template on some stays, without learning."""
    numbers = itertools.count()

    def loading(template=TEMPLATE, tables=None):
        address = made("duckdb", tables or stays(0), tmp_path, f"data{next(numbers)}")
        return load(written(template, tmp_path), address, learn=False)

    return loading


# ---- the task


def plain(task):
    """A task as plain values."""
    return {
        "relations": [
            (each.relation, list(each.labels), each.values.tolist()) for each in task.relations
        ],
        "tables": [
            (
                each.name,
                each.given,
                [(slot.relation, slot.cells.tolist()) for slot in each.slots],
                each.in_stack.tolist(),
                each.above.tolist(),
                [list(level.keys) for level in each.levels],
            )
            for each in task.tables
        ],
        "fixed": [
            (
                each.name,
                [(slot.relation, slot.cells.tolist()) for slot in each.slots],
                each.tables.tolist(),
                each.table_of.tolist(),
            )
            for each in task.fixed
        ],
        "asked": sorted(task.asked),
    }


def expected_task(rows):
    """The same in plain Python."""
    rows = sorted(rows)
    ages = sorted(row[3] for row in rows if row[3] is not None)
    edges = [ages[-(-k * len(ages) // 3) - 1] for k in (1, 2)]
    edges = [each for each in dict.fromkeys(edges) if each < ages[-1]]
    age = [-1 if row[3] is None else sum(row[3] > edge for edge in edges) for row in rows]
    sex = ["mf".index(row[4]) for row in rows]
    dx = [-1 if row[5] is None else "xy".index(row[5]) for row in rows]
    wards = [tuple(each for each in row[1:3]) for row in rows]
    first = sorted({key[:1] for key in wards if key[0]})
    second = sorted({key for key in wards if key[0] and key[1]})
    stack = [(), *first, *second]
    mine = [key if all(key) else key[:1] if key[0] else () for key in wards]
    every = list(range(len(rows)))
    return {
        "relations": [
            ("Flu", ["false", "true"], [-1]),
            ("Age", list(BinLabels.of(edges)), age),
            ("Sex", ["m", "f"], sex),
            ("Dx", ["x", "y"], dx),
            ("Kind", ["1", "2"], [-1] * len(rows)),
        ],
        "tables": [
            ("pair", (), [(1, every), (2, every)], [0] * len(rows), [-1], []),
            (
                "here",
                (),
                [(1, every)],
                [stack.index(each) for each in mine],
                [-1, *(stack.index(each[:-1]) for each in stack[1:])],
                [first, second],
            ),
            ("dx", (0,), [(1, every), (3, every)], [0] * len(rows), [-1], []),
            ("kind", (), [(4, every), (3, every)], [0] * len(rows), [-1], []),
        ],
        "fixed": [("sex", [(0, [0] * len(rows)), (2, every)], [[1, 2, 3, 4]], [0] * len(rows))],
        "asked": [each for each, values in ((1, age), (3, dx)) if -1 in values],
    }


@pytest.mark.parametrize("seed", range(8))
def test_the_task_is_what_plain_python_says_in_all_databases(seed, tmp_path):
    tables = stays(seed)
    path = written(TEMPLATE, tmp_path)
    expected = expected_task(tables["stays"][1])
    for kind in KINDS:
        loaded = load(path, made(kind, tables, tmp_path), learn=False)
        assert plain(loaded.task) == expected, kind


def test_postgresql_gives_the_same_task(tmp_path, new_database):
    tables = stays(5)
    path = written(TEMPLATE, tmp_path)
    loaded = load(path, naive.in_postgresql(tables, new_database()), learn=False)
    assert plain(loaded.task) == expected_task(tables["stays"][1])
    assert loaded.model == load(path, made("duckdb", tables, tmp_path), learn=False).model


def test_the_order_of_rows_means_nothing(loads):
    columns, rows = stays(3)["stays"]
    turned = {"stays": (columns, rows[::-1])}
    assert plain(loads(tables=turned).task) == plain(loads(tables=stays(3)).task)


def test_learned_factors_are_unknown_until_then(loads):
    loaded = loads()
    assert len(loaded.model.unknown) == 4 * 40
    assert loaded.task.tables[1].place.endswith("parfactors[1]")
    assert loaded.learned is None
    assert loaded.learned_at == (0, 40, 80, 120)


def test_what_is_asked_comes_from_queries(loads):
    assert loads(changed(queries=["Sex"])).task.asked == {2}
    assert loads(changed(queries=["Kind"])).task.asked == {4}
    assert loads(changed(queries=["Flu"])).task.asked == {1, 3}  # it has no learned table
    full = [row for row in stays(0)["stays"][1] if None not in row]
    assert loads(tables={"stays": (COLUMNS, full)}).task.asked == {1, 2, 3}


def test_hidden_cells_are_not_seen_but_stay_evidence(tmp_path):
    path = written(TEMPLATE, tmp_path)
    tables = stays(0)
    made("duckdb", tables, tmp_path)
    template = contents(path).template({})
    whole = load_template(template)
    numbers = np.arange(0, 40, 3)[:, None]
    hidden = load_template(template, hidden={"Age": numbers})
    rows = enumerate(sorted(tables["stays"][1]))
    seen = [row if place % 3 else (*row[:3], None, *row[4:]) for place, row in rows]
    assert plain(hidden.task)["relations"] == expected_task(seen)["relations"]
    observed = [name for name in whole.evidence if name.startswith("Age")]
    assert [name for name in hidden.evidence if name.startswith("Age")] == observed


def test_where_and_domains_by_hand_without_a_database(tmp_path):
    """Literal evidence is data as well."""
    template = {
        "format": "lifagu/1",
        "domains": {"P": ["al", "bo", "cy"]},
        "relations": [
            {"name": "Age", "of": ["P"], "range": {"bins": 2}},
            {"name": "Ill", "of": ["P"]},
        ],
        "parfactors": [
            {"name": "f", "args": ["Age(X)", "Ill(Y)"], "where": ["X != Y"], "table": "learn"}
        ],
        "evidence": {"Age(al)": 30, "Age(bo)": "41.5", "Ill(cy)": True},
        "queries": ["Ill"],
    }
    SCHEMA.validate(template)
    loaded = load(written(template, tmp_path), learn=False)
    assert plain(loaded.task)["relations"] == [
        ("Age", ["up to 30", "over 30"], [0, 1, -1]),
        ("Ill", ["false", "true"], [-1, -1, 1]),
    ]
    assert len(loaded.task.tables[0]) == 6
    template["evidence"]["Ill"] = {"sql": "SELECT 1"}
    with pytest.raises(lifagu.FormatError, match="there is no database to ask"):
        load(written(template, tmp_path), learn=False)


def test_plain_variables_are_relations_with_one_cell(loads):
    template = changed(variables=[{"name": "Year"}])
    template["parfactors"].append({"name": "year", "args": ["Year", "Sex(S)"], "table": "learn"})
    task = loads(template).task
    assert task.relations[5].relation == "Year"
    assert task.tables[4].slots[0].relation == 5
    assert not task.tables[4].slots[0].cells.any()


def test_unknown_factors_are_fixed_without_a_table(loads):
    template = changed(parfactors=parfactors(5, table=None))
    template["parfactors"][5]["table"] = None
    fixed = loads(template).task.fixed
    assert [set(each.table_of.tolist()) for each in fixed] == [{-1}]


def test_a_literal_table_called_learn_wins_with_a_warning(loads):
    template = changed(tables={"season": [4, 1], "learn": [1, 2, 3, 4, 5, 6]})
    loaded = loads(template)
    assert [each.name for each in loaded.task.tables] == ["here", "dx", "kind"]
    assert len(loaded.warnings) == 1
    assert (
        "parfactors[0].table: 'learn' is taken to be the table of that name" in loaded.warnings[0]
    )


def test_a_table_of_what_was_never_observed_is_warned_about(loads):
    evidence = {"Sex": TEMPLATE["evidence"]["Sex"]}
    warnings = loads(changed(evidence=evidence)).warnings
    assert [each.partition(": ")[2].partition(" has")[0] for each in warnings] == [
        "parfactors[1]: 'here'",
        "parfactors[2]: 'dx'",
    ]


# ---- ranges


def ages(*values, bins=4, sort="FLOAT8"):
    rows = [(number, None, None, value, "m", "x") for number, value in enumerate(values, 1)]
    relations = json.loads(json.dumps(TEMPLATE["relations"]))
    relations[1]["range"] = bins if isinstance(bins, dict) else {"bins": bins}
    return changed(relations=relations), {"stays": ({**COLUMNS, "age": sort}, rows)}


def test_bins_have_equally_many_numbers(loads):
    cells = loads(*ages(*range(1, 101))).task.relations[1]
    assert cells.labels == ("up to 25", "25–50", "50–75", "over 75")
    assert np.bincount(cells.values).tolist() == [25, 25, 25, 25]


def test_ties_make_fewer_bins_and_a_constant_one(loads):
    cells = loads(*ages(*[0] * 60, *range(1, 41))).task.relations[1]
    assert cells.labels == ("up to 0", "0–15", "over 15")
    cells = loads(*ages(65, 65, None)).task.relations[1]
    assert (cells.labels, cells.values.tolist()) == (("any",), [0, 0, -1])


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_may_be_texts_and_infinite(kind, tmp_path):
    values = ["7", "-inf", "8.5", "inf", None, "9"]
    if kind == "csv":  # it would find out that these are numbers
        values.append("1e1")
    template, tables = ages(*values, bins={"edges": [7, 8.5]}, sort="VARCHAR")
    cells = load(written(template, tmp_path), made(kind, tables, tmp_path), learn=False)
    assert cells.task.relations[1].values.tolist()[:6] == [0, 0, 1, 2, -1, 2]


def test_edges_are_those_of_pandas_cut(loads):
    template, tables = ages(60, 60.5, 72.5, 73, bins={"bins": [60, 72.5]})
    SCHEMA.validate(template)
    cells = loads(template, tables).task.relations[1]
    assert cells.values.tolist() == [0, 1, 1, 2]


def test_labels_of_bins_read_well():
    assert BinLabels.of([-5.5, 0, 1234567.25]) == (
        "up to -5.5", "-5.5 to 0", "0–1234567", "over 1234567",
    )  # fmt: skip
    assert BinLabels.of([0.12345, 0.12346]) == ("up to 0.12345", "0.12345–0.12346", "over 0.12346")
    assert BinLabels.of([1e-9, 1e20]) == ("up to 1e-09", "1e-09 to 1e+20", "over 1e+20")


def test_bins_with_equal_labels_and_other_edges_are_told_apart(loads):
    template, tables = ages(*(60.001 + number for number in range(4)), bins=2)
    template["relations"].append({"name": "Later", "of": ["Stay"], "range": {"bins": 2}})
    template["evidence"]["Later"] = {"sql": "SELECT stay, age + 0.001 FROM stays"}
    template["parfactors"].append({"name": "l", "args": ["Later(S)", "Age(S)"], "table": "learn"})
    relations = loads(template, tables).task.relations
    assert relations[1].labels != relations[5].labels
    assert relations[5].labels.edges == (60.001 + 1 + 0.001,)


def test_a_named_range_has_the_numbers_of_all_its_relations(loads):
    template, tables = ages(1, 2, 3, 4, bins=2)
    template["ranges"]["age"] = {"bins": 2}
    template["relations"][1]["range"] = "age"
    template["relations"].append({"name": "Later", "of": ["Stay"], "range": "age"})
    template["evidence"]["Later"] = {"sql": "SELECT stay, age + 10 FROM stays"}
    template["parfactors"].append({"name": "l", "args": ["Later(S)", "Age(S)"], "table": "learn"})
    SCHEMA.validate(template)
    relations = loads(template, tables).task.relations
    assert relations[1].labels == relations[5].labels == ("up to 4", "over 4")


def test_a_number_as_evidence_falls_into_its_bin(loads):
    template, tables = ages(*range(1, 101))
    template["evidence"]["Age(7)"] = 80.5
    loaded = loads(template, tables)
    assert loaded.evidence["Age(7)"] == "over 76"
    graph = loaded.model
    assert graph.observations({"Age(3)": "50"})["Age(3)"] == "26–51"
    assert graph.observations({"Age(3)": 52})["Age(3)"] == "51–76"
    assert graph.observations({"Age(3)": "over 76"})["Age(3)"] == "over 76"
    with pytest.raises(
        lifagu.ModelError, match=r"'Age\(3\)' has no value 'old'; give a number, or"
    ):
        graph.evidence({"Age(3)": "old"})


def test_labels_by_a_query_are_in_order(loads):
    template, tables = ages(1, 2, 3)
    template["ranges"]["illness"]["sql"] = "SELECT unnest([10, 9, NULL, 10])"
    template["evidence"].pop("Dx")
    assert loads(template, tables).task.relations[3].labels == ("9", "10")


# ---- tables put in


def guessed(loaded, seed=0, conditions=()):
    """Tables as if they had been learned; conditions: numbers of tables whose first argument is."""
    rng = np.random.default_rng(seed)
    tables = []
    for number, each in enumerate(loaded.task.tables):
        shape = list(loaded.task.shape(each))
        told = (0,) if number in conditions else ()
        shape[0] += len(told)
        size = each.starts[-1]
        stack = rng.random((size, int(np.prod(shape))))
        records = rng.integers(0, 99, size) / 4
        scales = (0.5,) * len(each.levels)
        tables.append(LearnedTable(each.name, stack, records, "guessed", 2.5, scales, 0.01, told))
    return with_tables(loaded, LearnedModel(tuple(tables)))


def test_learned_tables_are_put_into_the_graph(loads):
    loaded = loads()
    filled = guessed(loaded)
    found, task = filled.learned.tables, loaded.task
    graph = filled.model
    assert not len(graph.unknown)
    for number, (table, start) in enumerate(zip(task.tables, loaded.learned_at, strict=True)):
        for row in range(len(table)):
            factor = graph.factors[start + row]
            which = int(table.in_stack[row])
            assert factor.table.reshape(-1).tolist() == found[number].stack[which].tolist()
            records = (float(found[number].records[which]),)
            assert factor.support == TableSupport(records, table.given)
    assert graph.factor("flu").support is None
    assert graph.evidence(filled.evidence)
    assert filled.task is loaded.task


def test_a_label_order_of_its_own(loads):
    """Sex is m, f, and Dx may have the same labels in another order; tables follow each."""
    relations = json.loads(json.dumps(TEMPLATE["relations"]))
    relations[3]["range"] = ["y", "x"]
    relations.append({"name": "Again", "of": ["Stay"], "range": ["x", "y"]})
    template = changed(relations=relations)
    template["parfactors"].append({"name": "a", "args": ["Dx(S)", "Again(S)"], "table": "learn"})
    template["evidence"]["Again"] = {"sql": "SELECT stay, dx FROM stays"}
    filled = guessed(loads(template))
    table = filled.model.factors[filled.learned_at[4]].table
    assert table.reshape(-1).tolist() == filled.learned.tables[4].stack[0].tolist()
    known, again = (filled.task.relations[each].values for each in (3, 5))
    assert (known[known >= 0] == 1 - again[known >= 0]).all()


# ---- writing


@pytest.mark.parametrize("most", [200, 2])
@pytest.mark.parametrize("conditions", [(), (0, 1)])
def test_what_is_written_reads_back_bit_by_bit(most, conditions, tmp_path, monkeypatch):
    monkeypatch.setattr(learned_json, "MOST_GROUPS", most)
    made("duckdb", stays(0), tmp_path)
    loaded = load(written(TEMPLATE, tmp_path), learn=False)
    filled = guessed(loaded, conditions=conditions)
    out = tmp_path / "else" / "where"
    out.mkdir(parents=True)
    write_learned(filled, out / "learned.json")
    files = {each.name for each in out.iterdir()}
    assert files == {"learned.json", *(["learned.here.parquet"] if most == 2 else [])}
    said = json.loads((out / "learned.json").read_text())
    SCHEMA.validate(said)
    assert list(said) == list(TEMPLATE)
    assert said["source"] == "../../data.duckdb"
    assert said["relations"][1]["range"]["edges"] == list(loaded.task.relations[1].labels.edges)
    assert said["ranges"] == {"illness": ["x", "y"]}
    assert said["parfactors"][2]["given"] == ["Age( S )"]
    assert said["parfactors"][0]["learned"]["method"] == "guessed"
    again = load(out / "learned.json", learn=False)
    assert again.task is None
    assert again.template.were_learned == ("pair", "here", "dx", "kind")
    assert again.model == filled.model
    assert again.evidence == filled.evidence
    write_learned(filled, tmp_path / "twice.json")
    before = (tmp_path / "twice.json").read_bytes()
    write_learned(filled, tmp_path / "twice.json")
    assert (tmp_path / "twice.json").read_bytes() == before


def test_a_written_template_keeps_its_bins_when_the_data_changes(tmp_path):
    made("duckdb", stays(0), tmp_path)
    filled = guessed(load(written(TEMPLATE, tmp_path), learn=False))
    write_learned(filled, tmp_path / "learned.json")
    other = made("duckdb", stays(1), tmp_path, "other")
    again = load(tmp_path / "learned.json", other)
    stay = stays(1)["stays"][1][0][0]
    assert again.model.variable(f"Age({stay})").range == filled.task.relations[1].labels
    # a hospital that nobody had seen has the common table
    rows = [(1, "h77", "a", 50.0, "m", "x")]
    new = made("duckdb", {"stays": (COLUMNS, rows)}, tmp_path, "new")
    table = load(tmp_path / "learned.json", new).model.factor("here(1)").table
    assert table.tolist() == filled.learned.tables[1].stack[0].tolist()


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me@host/db"),
        ("/data/x.duckdb", "/data/x.duckdb"),
        ("${HERE}/x.duckdb", "${HERE}/x.duckdb"),
        ("sqlite:///x.sqlite", "sqlite:///../x.sqlite"),
        ("data/", "../data/"),
    ],
)
def test_the_source_is_found_from_the_new_place(address, seen, tmp_path):
    made("duckdb", stays(0), tmp_path)
    filled = guessed(load(written(TEMPLATE, tmp_path), learn=False))
    moved = replace(filled, source=replace(filled.source, address=address))
    said = json.loads(learned_json.learned_template(moved, tmp_path / "out/t.json").text)
    assert said["source"] == seen


def test_only_json_is_written_and_only_what_was_learned(loads, tmp_path):
    with pytest.raises(lifagu.FormatError, match="a learned template is written as .json"):
        write_learned(guessed(loads()), tmp_path / "x.uai")
    with pytest.raises(lifagu.ModelError, match="nothing was learned"):
        write_learned(loads(), tmp_path / "x.json")


# ---- tables by group


def by_group(**settings):
    table = {
        "by": ["hospital", "ward"],
        "common": [1, 2],
        "support": 9,
        "groups": [
            {"key": ["h2"], "table": [3, 4], "support": 5},
            {"key": ["h2", "a"], "table": [5, 6]},
            {"key": [9, "b"], "table": [7, 8]},
        ],
    }
    return parfactors(1, args=["Sex(S)"], table={**table, **settings})


HERE = [("h2", "a"), ("h2", "b"), ("h2", None), ("9", "a"), ("9", "b"), (None, "a"), ("h3", "a")]


def in_wards():
    rows = [(number, *key, 1.0, "m", "x") for number, key in enumerate(HERE, 1)]
    return {"stays": (COLUMNS, rows)}


def test_a_row_has_the_table_of_its_finest_listed_group(loads):
    template = changed(parfactors=by_group())
    SCHEMA.validate(template)
    graph = loads(template, in_wards()).model
    factors = [graph.factor(f"here({number})") for number in range(1, 8)]
    assert [each.table.tolist() for each in factors] == [
        [5, 6], [3, 4], [3, 4], [1, 2], [7, 8], [1, 2], [1, 2],
    ]  # fmt: skip
    assert [each.support and each.support.records for each in factors] == [
        None, (5,), (5,), (9,), None, (9,), (9,),
    ]  # fmt: skip


def test_without_a_common_table_others_are_unknown(loads):
    graph = loads(changed(parfactors=by_group(common=None, support=None)), in_wards()).model
    assert graph.factor("here(4)").table is None
    assert graph.factor("here(1)").table.tolist() == [5, 6]


# ---- pooled counts


def test_counted_tables_may_be_pooled(loads, tmp_path):
    rows = [("h1", "a")] * 30 + [("h1", "b")] * 4 + [("h2", "a")] * 2 + [("h2", "b")] * 30
    rows += [("h3", "a"), (None, "b")]
    tables = in_wards() | {"history": ({"h": "VARCHAR", "dx": "VARCHAR"}, rows)}
    counted = {"learn": True, "records": {"sql": "SELECT dx, h AS hospital FROM history"}}
    template = changed(
        tables={},
        ranges={"illness": ["a", "b"]},
        parfactors=parfactors(1, args=["Dx(S)"], table={**counted, "by": ["hospital"]}),
        evidence={"Sex": TEMPLATE["evidence"]["Sex"]},
    )
    template["parfactors"] = [
        each for each in template["parfactors"] if each["name"] in ("pair", "here")
    ]
    template["relations"][1]["range"] = ["x"]
    SCHEMA.validate(template)
    key = [("h1", None), ("h2", None), ("h3", None), ("h4", None), (None, None)]
    stays_of = [(number, *each, 1.0, "m", None) for number, each in enumerate(key, 1)]
    tables["stays"] = (COLUMNS, stays_of)
    graph = loads(template, tables).model
    found = [graph.factor(f"here({number})").table for number in range(1, 6)]
    assert found[0][0] > 0.8
    assert found[1][0] < 0.2
    assert found[3].tolist() == found[4].tolist()  # a group without records has the common one
    assert found[3][0] < found[2][0] < 1
    counts = graph.support.counts(graph, np.arange(5, 10))
    np.testing.assert_allclose(counts[:3], [[30, 4], [2, 30], [1, 0]], atol=1e-9)
    assert graph.factor("here(4)").support.records == (68,)


# ---- what can be wrong

LEARN = {"learn": True}
MISTAKES = [
    (
        {"parfactors": parfactors(0, table={"learn": False})},
        r"parfactors\[0\].table: learn is true",
    ),
    (
        {"parfactors": parfactors(0, table={**LEARN, "by": ["ward"]})},
        "the table is learned by ward; give the parfactor rows with such columns",
    ),
    (
        {"parfactors": parfactors(1, table={**LEARN, "by": ["floor"]})},
        "parfactor 'here' needs a column 'floor', which is not among s, hospital, ward",
    ),
    (
        {"parfactors": parfactors(0, table={**LEARN, "given": ["Age(S)", "Sex(S)"]})},
        "given has all",
    ),
    ({"parfactors": parfactors(0, table={**LEARN, "given": ["Dx(S)"]})}, r"given has 'Dx\(S\)'"),
    ({"parfactors": parfactors(0, table={**LEARN, "prior": 1})}, "prior is for tables that are"),
    ({"parfactors": parfactors(0, table={**LEARN, "pool": True})}, "has no 'pool'"),
    ({"parfactors": parfactors(0, support=3)}, "'pair' is learned, and brings its own support"),
    ({"parfactors": parfactors(0, given=["Age(S)"])}, "given belongs into the table"),
    (
        {"parfactors": parfactors(0, args=["Sex(X)", "Sex(Y)"])},
        r"two arguments of pair\(\d+,\d+\) are the same variable.*where X != Y",
    ),
    (
        {"parfactors": parfactors(1, rows={"sql": STAYS + " UNION ALL " + STAYS})},
        r"rows 1 and 41: \(\d+\) stands twice",
    ),
    ({"parfactors": parfactors(1, rows={"sql": STAYS + " WHERE false"})}, "the query gives no row"),
    ({"evidence": {}}, "nothing to learn from: .*never observed"),
    (
        {"evidence": {"Dx": {"sql": "SELECT stay, NULL FROM stays"}}},
        "nothing to learn from: Age, Dx, Kind, Sex were never observed; give evidence",
    ),
    (
        {"evidence": {"Age": {"sql": "SELECT stay, '> 89' FROM stays"}}},
        r"evidence.Age: row 1 \(\d+, > 89\): '> 89' is no number, and relation 'Age' has bins",
    ),
    (
        {"evidence": {"Age": {"sql": "SELECT stay, DATE '2020-02-03' FROM stays"}}},
        "'2020-02-03' is no number",
    ),
    ({"evidence": {"Age": {"sql": "SELECT stay, 'nan'::DOUBLE FROM stays"}}}, "'nan' is no number"),
    (
        {
            "evidence": {
                "Age": {"sql": "SELECT stay, 1 FROM stays UNION ALL SELECT stay, 2 FROM stays"}
            }
        },
        r"Age\(\d+\) is observed twice; keep one value",
    ),
    ({"evidence": {"Kind": {"sql": "SELECT stay, 1 FROM stays"}}}, "cohorts are hidden"),
    ({"ranges": {"illness": {"bins": 1}}}, "ranges.illness: bins is how many there are to be"),
    ({"ranges": {"illness": {"edges": [3, 1]}}}, "each greater than the one before"),
    ({"ranges": {"illness": {"edges": [1], "labels": ["a"]}}}, "give a label for each bin"),
    ({"ranges": {"illness": {"cohorts": 0}}}, "cohorts is how many there are to be, 1 to 1000"),
    ({"ranges": {"illness": {}}}, "with one of bins, edges, sql and cohorts"),
    ({"ranges": {"illness": {"sql": "SELECT NULL"}}}, "the query gives no value"),
    ({"ranges": {"illness": {"sql": "SELECT ''"}}}, "an empty text is no label"),
    ({"parfactors": by_group(by=[])}, "by names the columns of rows that tell groups"),
    ({"parfactors": by_group(groups=[{"key": [], "table": [1, 2]}])}, "key is a list of values"),
    ({"parfactors": by_group(common=[1, 2, 3])}, "common has a table of 3 potentials"),
    ({"parfactors": by_group(common=[0, 0])}, "only zero potentials"),
    ({"parfactors": by_group(groups={"file": "none.parquet"})}, "there is no such file"),
    (
        {"parfactors": by_group(groups=[{"key": ["h2"], "table": [1, 2]}] * 2)},
        r"groups\[1\]: the group h2 is listed twice",
    ),
]


@pytest.mark.parametrize(("sections", "said"), MISTAKES)
def test_mistakes_are_one_line(sections, said, loads):
    with pytest.raises(lifagu.LifaguError, match=said) as caught:
        loads(changed(**sections))
    assert "\n" not in str(caught.value)
    assert "hospital.json" in str(caught.value)


def test_tables_that_are_too_large_are_refused_beforehand(loads):
    template = changed()
    for number, name in ((2, "Sex"), (3, "Dx")):
        labels = [str(each) for each in range(10_000)]
        template["relations"][number]["range"] = labels
        template["evidence"].pop(name)
    template["ranges"].clear()
    template["parfactors"] = parfactors(0, args=["Sex(S)", "Dx(S)"])[:1]
    template["evidence"]["Sex(1)"] = "7"
    tables = {"stays": (COLUMNS, [(1, None, None, 1.0, None, None)])}
    with pytest.raises(lifagu.TooLargeError, match=r"'pair' would have 100,000,000 potentials"):
        loads(template, tables)


def test_a_value_seen_once_and_a_group_of_one_are_fine(loads):
    rows = [
        (1, "h1", "a", 5.0, "m", "x"),
        (2, "h2", None, 5.0, "m", "y"),
        (3, None, None, *[None] * 3),
    ]
    task = loads(tables={"stays": (COLUMNS, rows)}).task
    assert [list(level.keys) for level in task.tables[1].levels] == [
        [("h1",), ("h2",)],
        [("h1", "a")],
    ]
    assert task.tables[1].in_stack.tolist() == [3, 2, 0]


def test_the_schema_knows_what_is_learned():
    SCHEMA.validate(TEMPLATE)
    SCHEMA.validate(changed(parfactors=by_group(groups={"file": "x.parquet"})))
    for wrong in (
        changed(parfactors=parfactors(0, table={"learn": False})),
        changed(parfactors=by_group(group=1)),
        changed(ranges={"illness": {"bins": 3, "edges": [1]}}),
    ):
        with pytest.raises(jsonschema.ValidationError):
            SCHEMA.validate(wrong)
