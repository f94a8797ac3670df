"""One snapshot: model, evidence and questions are of one state, even while somebody replaces it."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import lifagu
from lifagu import formats
from lifagu.basics.atomic_files import BESIDE, OLD
from lifagu.basics.held_folders import held
from lifagu.data import snapshots
from lifagu.data.databases import opened
from lifagu.data.parquet.evidence import evidence_in
from lifagu.relational.source import Source
from lifagu.relational.template import Query
from lifagu.scale.engines.opening import open_engine
from lifagu.scale.folder_contents import names
from lifagu.scale.intake import take_in
from support import replacer

BLOG = "random Boolean A; factor MultiArrayPotential[[1, 2]] (A); obs A = true; query A;"
JSON = {
    "format": "lifagu/1",
    "variables": [{"name": "A"}],
    "factors": [{"name": "f", "args": ["A"], "table": [1, 2]}],
    "evidence": {"A": "true"},
}

# ---- files


@pytest.mark.parametrize("ending", [".json", ".blog", ".uai"])
@pytest.mark.parametrize("reads", [lifagu.io.load, lifagu.read, lifagu.io.read_evidence])
def test_a_file_is_read_and_parsed_once(ending, reads, tmp_path, monkeypatch):
    path = tmp_path / f"model{ending}"
    path.write_text(
        {".json": json.dumps(JSON), ".blog": BLOG}.get(ending, "MARKOV 1 2 1 1 0 2 1 2")
    )
    texts, parsed = [], []
    read_within, loads = formats.read_within, json.loads
    monkeypatch.setattr(
        formats, "read_within", lambda *given: texts.append(given) or read_within(*given)
    )
    monkeypatch.setattr(
        json, "loads", lambda *given, **options: parsed.append(1) or loads(*given, **options)
    )
    reads(path)
    assert len(texts) == (0 if ending == ".uai" and reads is lifagu.io.read_evidence else 1)
    assert len(parsed) == (ending == ".json")


def test_a_mistake_in_the_evidence_does_not_hide_the_model(tmp_path):
    path: Path = tmp_path / "model.json"
    path.write_text(json.dumps({**JSON, "evidence": 3}))
    assert len(lifagu.read(path).variable_names) == 1
    for reads in (lifagu.io.load, lifagu.io.read_evidence):
        with pytest.raises(lifagu.FormatError, match=r"model.json:1: evidence: an object"):
            reads(path)


# ---- while somebody replaces it


@contextmanager
def replaced_all_the_time(way, target, pause=0.0) -> Iterator[None]:
    """Another process replaces the target in this way, several times; pause: seconds between."""
    command = [sys.executable, replacer.__file__, way, str(target), str(pause)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        try:
            yield
        finally:
            told, _ = process.communicate("", timeout=60)
    assert process.returncode == 0
    assert int(told) > 1


def state_of(loaded: Any) -> str:
    """The mark that every name carries, in the model, the evidence and the questions."""
    parts = [
        loaded.model.variable_names,
        loaded.model.factor_names,
        loaded.evidence,
        loaded.queries,
    ]
    sizes = [replacer.COUNT, replacer.COUNT, len(loaded.evidence) or -1, len(loaded.queries)]
    assert [len(part) for part in parts] == sizes
    (mark,) = {mark for part in parts for name in part for mark in re.findall("old|new", name)}
    return mark


def check_states(path, loads, database=None) -> None:
    """Load so many times, and until both states were seen."""
    seen, until = list[str](), time.monotonic() + 60
    while len(seen) < loads or (set(seen) != set(replacer.MARKS) and time.monotonic() < until):
        seen.append(state_of(lifagu.io.load(path, database)))
    assert set(seen) == set(replacer.MARKS)


def loads(fast: int) -> Any:
    """How often to load: so many times, and ten times as often in long campaigns."""
    return pytest.mark.parametrize("loads", [fast, pytest.param(10 * fast, marks=pytest.mark.full)])


@loads(150)
def test_a_file_that_is_replaced(loads, tmp_path):
    for number, mark in enumerate(replacer.MARKS):
        replacer.beside(tmp_path / "model.json", number).write_text(
            json.dumps(replacer.model(mark))
        )
    replacer.file(tmp_path / "model.json", 0)
    with replaced_all_the_time("file", tmp_path / "model.json"):
        check_states(tmp_path / "model.json", loads)


@pytest.fixture(params=["big", pytest.param("big.parts", marks=pytest.mark.full)])
def folder(request, tmp_path) -> Path:
    """A folder of Parquet tables, with both states beside it."""
    target = tmp_path / request.param
    for number, mark in enumerate(replacer.MARKS):
        found = lifagu.io.from_json(json.dumps(replacer.model(mark)))
        beside = replacer.beside(target, number)
        lifagu.write(found, f"{beside}/", replacer.model(mark)["evidence"])
    replacer.folder(target, 0)
    return target


@loads(100)
def test_a_folder_that_is_replaced(loads, folder):
    with replaced_all_the_time("folder", folder, pause=0.005):
        check_states(folder, loads)


@loads(20)
def test_a_folder_whose_files_are_replaced(loads, folder):
    with replaced_all_the_time("one_by_one", folder, pause=1):
        check_states(folder, loads)


@pytest.fixture
def template(tmp_path) -> Path:
    """A template that asks four queries."""
    path: Path = tmp_path / "template.json"
    path.write_text(json.dumps({**replacer.TEMPLATE, "source": "nothing.sqlite"}))
    return path


@loads(20)
@pytest.mark.parametrize("way", ["in_duckdb", "file"])
def test_a_duckdb_file(loads, way, template, tmp_path):
    target = tmp_path / "data.duckdb"
    for number, mark in enumerate(replacer.MARKS):
        with duckdb.connect(str(replacer.beside(target, number))) as made:
            made.execute("; ".join(replacer.new_tables(mark)))
    replacer.file(target, 0)
    with replaced_all_the_time(way, target, pause=0.2):
        check_states(template, loads, str(target))


@loads(40)
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_an_sqlite_file(loads, mode, template, tmp_path):
    made = sqlite3.connect(tmp_path / "data.sqlite")
    made.execute(f"PRAGMA journal_mode = {mode}")
    made.executescript("; ".join(replacer.new_tables("old")))
    with replaced_all_the_time("in_sqlite", tmp_path / "data.sqlite", pause=0.005):
        check_states(template, loads, str(tmp_path / "data.sqlite"))
    made.close()


@loads(30)
def test_a_server(loads, template, new_database):
    url = new_database()
    with psycopg.connect(url) as made:
        for statement in replacer.new_tables("old"):
            made.execute(statement)
    with replaced_all_the_time("in_postgresql", url):
        check_states(template, loads, url)


@loads(8)
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_data_files(loads, ending, template, tmp_path):
    target = tmp_path / "data"
    for number, mark in enumerate(replacer.MARKS):
        replacer.beside(target, number).mkdir()
        with duckdb.connect() as made:
            for table in replacer.TABLES:
                rows = f"SELECT * FROM (VALUES {replacer.rows(mark)}) t(id)"
                made.execute(
                    f"COPY ({rows}) TO '{replacer.beside(target, number) / table}.{ending}'"
                )
    shutil.copytree(replacer.beside(target, 0), target)
    with replaced_all_the_time("one_by_one", target, pause=2):
        check_states(template, loads, str(target))


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_writer_that_commits_between_two_queries(mode, tmp_path):
    made = sqlite3.connect(tmp_path / "data.sqlite", timeout=0)
    made.execute(f"PRAGMA journal_mode = {mode}")
    made.executescript("; ".join(replacer.new_tables("old")))
    query = Query("SELECT id FROM people", "here")
    with opened(Source(str(tmp_path / "data.sqlite"))) as database:
        before = [column.texts() for (column,) in database.batches(query)]
        with suppress(sqlite3.OperationalError):  # without WAL, writers wait for readers
            made.executescript("; ".join(["BEGIN", *replacer.statements("new"), "COMMIT"]))
        assert [column.texts() for (column,) in database.batches(query)] == before
    made.close()


# ---- pinned folders


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def by_descriptor(request, monkeypatch) -> bool:
    """Whether files can be read through their descriptors."""
    if not request.param:
        monkeypatch.setattr(snapshots, "DESCRIPTORS", "/there/is/none")
    elif not Path(snapshots.DESCRIPTORS).exists():
        pytest.skip("descriptors have no paths here")
    return request.param


def changing(monkeypatch, change: Callable[[], None], times: int) -> list[int]:
    """Something changes just before evidence is read, so many times."""
    done: list[int] = []

    def read(pinned, duck):
        if len(done) < times:
            change()
            done.append(1)
        return evidence_in(pinned, duck)

    monkeypatch.setattr("lifagu.data.parquet.reading.evidence_in", read)
    return done


def test_a_folder_replaced_while_it_is_read(folder, by_descriptor, monkeypatch):
    done = changing(monkeypatch, lambda: replacer.folder(folder, 1), 1)
    assert state_of(lifagu.io.load(folder)) == ("old" if by_descriptor else "new"), (
        "read at once, or once again"
    )
    assert done


@pytest.mark.usefixtures("by_descriptor")
def test_a_file_replaced_or_written_while_it_is_read(folder, monkeypatch):
    def replace_all():
        replacer.one_by_one(folder, 1)

    def write_into():
        for each in replacer.beside(folder, 1).iterdir():
            shutil.copyfile(each, folder / each.name)

    monkeypatch.setattr(snapshots, "SETTLING", 60)
    for change in (replace_all, write_into):
        replacer.folder(folder, 0)
        with monkeypatch.context() as patch:
            assert changing(patch, change, 1) == []
            assert state_of(lifagu.io.load(folder)) == "new"


def test_a_file_replaced_later_on(folder, by_descriptor, monkeypatch):
    monkeypatch.setattr(snapshots, "SETTLING", -60)
    changing(monkeypatch, lambda: replacer.one_by_one(folder, 1), 1)
    assert state_of(lifagu.io.load(folder)) == ("old" if by_descriptor else "new"), (
        "read at once, or once again"
    )


@pytest.mark.usefixtures("by_descriptor")
def test_what_never_settles_is_refused(folder, monkeypatch):
    monkeypatch.setattr(snapshots, "WAITS", (0.0,) * 7)
    factors = folder / "factors.parquet"
    done = changing(
        monkeypatch,
        lambda: shutil.copyfile(replacer.beside(folder, 1) / factors.name, factors),
        10**6,
    )
    with pytest.raises(lifagu.FormatError) as caught:
        lifagu.io.load(folder)
    assert (
        str(caught.value)
        == f"{factors}: was changed while it was read; run again when nobody writes there"
    )
    assert len(done) == snapshots.ATTEMPTS


@pytest.mark.usefixtures("by_descriptor")
def test_a_file_cut_short_while_it_is_read(folder, monkeypatch):
    changing(monkeypatch, lambda: os.truncate(folder / "variables.parquet", 100), 1)
    with pytest.raises(
        lifagu.FormatError, match=r"variables.parquet: cannot be read as Parquet: .*No magic bytes"
    ):
        lifagu.io.load(folder)


def test_replaced_while_being_opened(folder, monkeypatch):
    real, turns = snapshots._opened, itertools.count()

    def opened_file(*given):
        found = real(*given)
        if next(turns) % 5 == 2:
            replacer.folder(folder, 1)
        return found

    monkeypatch.setattr(snapshots, "WAITS", (0.0,) * 7)
    monkeypatch.setattr(snapshots, "_opened", opened_file)
    with pytest.raises(
        lifagu.FormatError, match="is being replaced all the time; read it when nobody writes"
    ):
        lifagu.io.load(folder)


def test_a_moment_without_a_folder_is_waited_out(folder, monkeypatch):
    beside, real = folder.with_name(f".{folder.name}{BESIDE}"), time.sleep
    with held(beside):  # by a run that is alive
        folder.rename(beside / OLD)

        def sleep(seconds):
            if seconds and (beside / OLD).exists():
                (beside / OLD).rename(folder)
            real(seconds)

        monkeypatch.setattr(time, "sleep", sleep)
        assert state_of(lifagu.io.load(folder)) == "old"


def test_a_folder_that_a_killed_run_set_aside_is_put_back(folder):
    beside = folder.with_name(f".{folder.name}{BESIDE}")
    beside.mkdir()
    folder.rename(beside / OLD)
    assert state_of(lifagu.io.load(folder)) == "old"
    assert folder.is_dir()
    assert not beside.exists()


def test_errors_name_the_file_as_the_user_does(folder, by_descriptor):
    (folder / "tables.parquet").write_text("no table")
    with pytest.raises(lifagu.FormatError) as caught:
        lifagu.io.load(folder)
    assert str(caught.value).startswith(f"{folder / 'tables.parquet'}: cannot be read as Parquet: ")
    assert str(caught.value).count(str(folder / "tables.parquet")) == 2
    assert "/fd/" not in str(caught.value)


@pytest.mark.usefixtures("by_descriptor")
def test_links_pipes_and_folders_in_place_of_files(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    assert state_of(lifagu.io.load(tmp_path / "link")) == "old"
    (folder / "evidence.parquet").unlink()
    (folder / "evidence.parquet").mkdir()
    assert lifagu.io.load(folder).evidence == {}
    (folder / "tables.parquet").unlink()
    os.mkfifo(folder / "tables.parquet")
    with pytest.raises(lifagu.FormatError, match=r"tables.parquet: there is no such file"):
        lifagu.io.load(folder)


def test_nothing_stays_open(folder):
    lifagu.io.load(folder)
    before = sorted(Path("/dev/fd").iterdir())
    for _ in range(3):
        lifagu.io.load(folder)
    assert sorted(Path("/dev/fd").iterdir()) == before


# ---- engines


@pytest.mark.parametrize(
    "where", ["duckdb", pytest.param("spark=local[2]", marks=pytest.mark.full)]
)
def test_engines_read_what_was_pinned(where, folder, tmp_path):
    engine = open_engine(where, tmp_path / "work", 2**29)
    try:
        given = take_in(engine, folder)
        replacer.folder(folder, 1)
        if where == "duckdb":
            assert names(engine, given, "variables", [0, 3]) == ["old0", "old3"]
            assert names(engine, given, "factors", [5]) == ["old5"]
        else:
            with pytest.raises(
                lifagu.FormatError, match=r"parquet: was changed while it was read; run again"
            ):
                names(engine, given, "variables", [0])
    finally:
        engine.close()


def test_engines_refuse_files_that_are_written_into(folder, tmp_path):
    engine = open_engine("duckdb", tmp_path / "work", 2**29)
    try:
        given = take_in(engine, folder)
        shutil.copyfile(
            replacer.beside(folder, 1) / "variables.parquet", folder / "variables.parquet"
        )
        with pytest.raises(
            lifagu.FormatError, match=r"variables.parquet: was changed while it was read; run again"
        ):
            names(engine, given, "variables", [0])
    finally:
        engine.close()


def test_engines_name_the_file_as_the_user_does(folder, tmp_path):
    (folder / "tables.parquet").write_text("no table")
    engine = open_engine("duckdb", tmp_path / "work", 2**29)
    try:
        with pytest.raises(lifagu.FormatError) as caught:
            take_in(engine, folder)
    finally:
        engine.close()
    assert str(caught.value).startswith(f"{folder / 'tables.parquet'}: cannot be read as Parquet: ")
    assert "/fd/" not in str(caught.value)
