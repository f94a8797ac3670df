"""What an engine finds is what memory finds: said, asked and written."""

import json
from pathlib import Path

import duckdb
import numpy as np
import pytest

import lifagu
from support.by_sql import cases
from support.parquet_folders import TABLES

COMPARED = (*TABLES, "evidence", "variable_groups", "factor_groups", "transfers")


def assert_same_groups(found, expected):
    for field in ("variable_count", "variables", "factor_count", "factors", "largest"):
        assert getattr(found, field) == getattr(expected, field), field
    assert (found.within is None, expected.within is None) == (True, False)


def assert_same_lift(found, expected):
    """What is said of a lift, whichever place did it."""
    assert (found.unknown, found.filled, found.way) == (
        expected.unknown,
        expected.filled,
        expected.way,
    )
    assert (found.lent, found.left, found.bound) == (expected.lent, expected.left, expected.bound)
    assert_same_groups(found.groups, expected.groups)


def assert_same_tables(folder, other):
    """Columns, types and rows in order are the same."""
    for table in COMPARED:
        files = [Path(each) / f"{table}.parquet" for each in (folder, other)]
        assert files[0].exists() == files[1].exists(), table
        if files[0].exists():
            one, two = map(typed_rows, files)
            assert one == two, table


def typed_rows(file, columns="*"):
    """Columns, types and rows of a file."""
    table = duckdb.sql(f"SELECT {columns} FROM '{file}'")
    return list(zip(table.columns, map(str, table.types), strict=True)), repr(table.fetchall())


def assert_same_answers(found, expected):
    """Everything but plans and engines; probabilities may differ by rounding."""
    if expected.log_partition is not None and found.log_partition is not None:
        assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-9, abs=1e-9)
    for mine, theirs in zip(found.answers, expected.answers, strict=True):
        assert (mine.variables, mine.ranges) == (theirs.variables, theirs.ranges)
        assert (mine.rests_on, mine.weakest_share) == (theirs.rests_on, theirs.weakest_share)
        assert mine.warnings == theirs.warnings
        np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=1e-9, atol=1e-12)


def assert_same_imputed(found, expected, folder, other):
    """Everything that is found, and all files; probabilities may differ by rounding."""
    assert (found.unknown, found.filled, found.offered) == (
        expected.unknown,
        expected.filled,
        expected.offered,
    )
    assert (found.lent, found.left, found.way) == (expected.lent, expected.left, expected.way)
    assert_same_groups(found.groups, expected.groups)
    assert_same_marginals(found.marginals, expected.marginals)
    for table in ("transfers", "tables"):
        mine, theirs = (typed_rows(each / f"{table}.parquet") for each in (folder, other))
        assert mine == theirs, table
    runs = [json.loads((each / "run.json").read_text()) for each in (folder, other)]
    assert all(runs[0][name] == runs[1][name] for name in ("filling", "unknown", "filled"))
    files = [each / "marginals.parquet" for each in (folder, other)]
    mine, theirs = (typed_rows(file, "* EXCLUDE probability") for file in files)
    assert mine == theirs
    mine, theirs = (
        duckdb.sql(f"SELECT probability FROM '{file}'").fetchnumpy()["probability"]
        for file in files
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def assert_same_marginals(found, expected):
    assert list(found.names) == list(expected.names)
    assert list(found.unanswered) == list(expected.unanswered)
    for name in expected.names:
        assert found[name] == pytest.approx(expected[name], rel=1e-9, abs=1e-12)
    for column in ("own", "own_weakest", "lent", "weakest", "guesses"):
        np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))
        assert getattr(found, column).dtype == getattr(expected, column).dtype


def assert_imputed_alike(place, queries=None, evidence=None, more=None, **ways):
    """A folder `big` imputed in memory and on DuckDB; returns what was found there."""
    memory, engine = cases(place / "big", evidence, ways, **(more or {}))
    try:
        expected = memory.impute(queries, out=place / "memory")
    except lifagu.NoAnswerError as error:
        with pytest.raises(
            lifagu.NoAnswerError, match="zero" if "zero" in str(error) else "unknown"
        ):
            engine.impute(queries)
        return None
    found = engine.impute(queries, out=place / "sql")
    assert_same_imputed(found, expected, place / "sql", place / "memory")
    return found


def assert_as_from_memory_or_refused(place, refused, **engine):
    """A folder `big` filled by default: all as from memory, or refused with nothing written."""
    memory, elsewhere = cases(place / "big", **engine)
    if refused:
        for verb in ("lift", "impute"):
            with pytest.raises(lifagu.ModelError, match="for the unknown factor.* in memory only"):
                getattr(elsewhere, verb)(out=place / "sql")
        for ask in (lambda: elsewhere.ask("Epid"), elsewhere.log_partition, elsewhere.groups):
            with pytest.raises(lifagu.ModelError, match=r'or name a rule such as by="extended"'):
                ask()
        assert not (place / "sql").exists()
        assert "temp" not in engine or not list(engine["temp"].iterdir())
        return
    expected = memory.lift(out=place / "lifted")
    assert_same_lift(elsewhere.lift(out=place / "lifted by sql"), expected)
    assert_same_tables(place / "lifted by sql", place / "lifted")
    assert_imputed_alike(place, more=engine)
    if not expected.left:
        questions = [["Epid"], ["Sick.p1"], ["Epid", "Sick.p0"]]
        assert_same_answers(elsewhere.plan(questions).run(), memory.plan(questions).run())
