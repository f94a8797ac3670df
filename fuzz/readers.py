"""Everything that reads, each with the commands by which it is tried and what lies beside it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MODEL = ("info IN", "check IN", "logz IN --json", "marginals IN --json", "lift IN --json")
CONVERT = "convert IN OUT"
PEOPLE = "id,ward,age,sick\np1,a,30,true\np2,a,,false\np3,b,71,true\np4,b,44,\n"
PLACES = ("A1", "B1", "A2", "B2", "A3", "B3")
BLOG = (
    "type person; guaranteed person p[3]; random Boolean sick(person); random Boolean ill;\n"
    "parfactor person P. MultiArrayPotential[[0.7, 0.3, 1, 2]] (sick(P), ill);\n"
)
GROUND = json.dumps(
    {
        "format": "lifagu/1",
        "variables": [{"name": each, "kind": each[0], "individual": each[1]} for each in PLACES],
        "factors": [
            {"name": f"f{n}", "args": ["A" + n, "B" + n], "table": table}
            for n, table in zip("123", ([1, 2, 3, 4], [1, 2, 3, 5], None), strict=True)
        ],
    }
)
PARQUET = ("variables", "factors", "arguments", "tables")
PRIOR = {"name": "p", "args": ["Sick(Person)"], "table": [1, 2]}


class UnpreparedError(Exception):
    """What was drawn cannot be put into place, so that there is nothing to be read."""


@dataclass(frozen=True)
class Reader:
    """A sort of input: the file that it becomes, and commands with IN in its place.

    weight: how often it is drawn; seconds: how long reading one may take, for readers that begin
    others; rows: whether it is lines of cells; plain: whether `lifagu.open` reads it alone;
    beside: other files of its folder; prepare: puts an input into the folder in another way;
    typed: whether it is itself the words of a command, as a JSON list.
    """

    name: str
    file: str
    commands: tuple[str, ...]
    weight: float
    seconds: float = 10
    rows: bool = False
    plain: bool = False
    beside: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Path, bytes], None] | None = None
    typed: bool = False

    def put(self, folder: Path, raw: bytes, packed: bool = False) -> Path:
        """Write an input, and what lies beside it; the path that commands are given."""
        for name, text in self.beside.items():
            (folder / name).write_text(text)
        path = folder / f"{self.file}{'.gz' * packed}"
        if self.prepare is not None:
            self.prepare(folder, raw)
        else:
            path.write_bytes(raw)
        return path

    def words(self, command: str, folder: Path, path: Path) -> list[str]:
        """The words of a command on an input in a folder."""
        if self.typed:
            return _typed(path)
        places = {"IN": str(path), "OUT": f"{folder}/out.json"}
        words = [places.get(word, word) for word in command.split()]
        return [word.replace("FOLDER", str(folder), 1) for word in words]


def _typed(path: Path) -> list[str]:
    """Words that somebody typed; none leads out of the folder, or waits for somebody."""
    with suppress(ValueError, RecursionError):  # such as words that no system hands over
        words = json.loads(path.read_bytes())
        if isinstance(words, list) and words and all(isinstance(word, str) for word in words):
            inside = [word.replace("/", "_").replace("\0", "") for word in words]
            os.fsencode("".join(inside))
            if not any(word in TOO_LONG or "spark" in word for word in inside):
                return inside
    raise UnpreparedError


TOO_LONG = ("serve", "demo")


def template(source: Any, **more: Any) -> str:
    """A small template on people, some of whom may be sick."""
    return json.dumps(
        {
            "format": "lifagu/1",
            "source": source,
            "domains": {"Person": {"sql": "SELECT id FROM people"}},
            "relations": [
                {"name": "Sick", "of": ["Person"]},
                {"name": "Age", "of": ["Person"], "range": {"edges": [40, 60]}},
            ],
            "parfactors": [PRIOR],
            "evidence": {
                "Sick": {"sql": "SELECT id, sick FROM people"},
                "Age": {"sql": "SELECT id, age FROM people"},
            },
            "queries": [{"sql": "SELECT id FROM people", "relation": "Sick"}],
            **more,
        }
    )


def _parquet(folder: Path, raw: bytes) -> None:
    """A folder of Parquet tables from a JSON object of rows by table."""
    import duckdb

    try:
        tables = json.loads(raw)
        for name, rows in tables.items():
            if not name.isidentifier() or len(name) > 40:
                raise UnpreparedError
            lines, target = folder / f"{name}.rows", folder / f"{name}.parquet"
            lines.write_text(json.dumps(rows))
            with duckdb.connect(config={"threads": 1}) as made:
                made.execute(f"COPY (FROM read_json('{lines}')) TO '{target}'")
            lines.unlink()
    except (ValueError, AttributeError, RecursionError, OSError, duckdb.Error) as error:
        raise UnpreparedError from error


@cache
def parquet() -> dict[str, bytes]:
    """The tables of a small model as files, to be broken."""
    import lifagu

    with TemporaryDirectory() as folder:
        (Path(folder) / "small.blog").write_text(BLOG)
        model = lifagu.ground(lifagu.read(Path(folder) / "small.blog"))
        lifagu.write(model, Path(folder) / "small")
        return {name: (Path(folder) / "small" / f"{name}.parquet").read_bytes() for name in PARQUET}


def _one_broken(name: str, folder: Path, raw: bytes) -> None:
    for each, good in parquet().items():
        (folder / f"{each}.parquet").write_bytes(raw if each == name else good)


@cache
def sqlite() -> bytes:
    """A small database of people, to be broken."""
    with TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/people.db")) as made:
        made.execute("CREATE TABLE people (id TEXT PRIMARY KEY, age REAL, sick TEXT)")
        made.executemany(
            "INSERT INTO people VALUES (?, ?, ?)",
            [
                (f"p{each}", each * 7 or None, ("true", "false", None)[each % 3])
                for each in range(9)
            ],
        )
        made.commit()
        return Path(folder, "people.db").read_bytes()


CSV = {"files": {"people": "people.csv"}}
ASKED = ("check IN", "query IN --json", "impute IN --json", "info IN")
NETWORK = ("info IN", CONVERT)
READERS = (
    Reader("json", "input.json", (*MODEL, CONVERT, "map IN --json"), 30, plain=True),
    Reader("uai", "input.uai", (*MODEL, CONVERT), 14, plain=True),
    Reader("fg", "input.fg", (*MODEL, CONVERT), 12, plain=True),
    Reader("blog", "input.blog", (*MODEL, CONVERT, "query IN"), 16, plain=True),
    Reader(
        "evid",
        "input.evid",
        ("logz FOLDER/model.uai --evidence-file IN",),
        8,
        beside={"model.uai": "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n1 2 3 4\n6\n1 1 2 3 5 8\n"},
    ),
    Reader(
        "evidence",
        "input.json",
        ("marginals FOLDER/model.blog --evidence-file IN --json",),
        4,
        beside={"model.blog": BLOG},
    ),
    Reader(
        "template", "input.json", (*ASKED, "learn IN --json"), 1.5, beside={"people.csv": PEOPLE}
    ),
    Reader(
        "csv",
        "people.csv",
        ("query FOLDER/template.json --json", "check FOLDER/template.json"),
        1,
        rows=True,
        beside={"template.json": template(CSV)},
    ),
    Reader(
        "command",
        "words.json",
        ("",),
        6,
        beside={"t.json": template(CSV), "people.csv": PEOPLE, "m.blog": BLOG, "g.json": GROUND},
        typed=True,
    ),
    Reader("drafted", "people.csv", ("init IN --out OUT",), 0.3, rows=True),
    Reader(
        "hidden",
        "hidden.csv",
        ("validate FOLDER/template.json --hidden IN --json",),
        0.5,
        rows=True,
        beside={"template.json": template(CSV), "people.csv": PEOPLE},
    ),
    Reader(
        "result",
        "input.json",
        ("compare IN FOLDER/other.json", "compare FOLDER/other.json IN --json"),
        4,
        beside={
            "other.json": '{"log_partition": 1.5, "marginals": {"A": {"no": 0.25, "yes": 0.75}}}'
        },
    ),
    Reader(
        "sqlite",
        "people.db",
        ("query FOLDER/template.json --json", "init IN --out OUT", "check FOLDER/template.json"),
        1,
        beside={"template.json": template("people.db")},
    ),
    Reader("parquet", "", ("info FOLDER", "logz FOLDER --json"), 0.5, prepare=_parquet),
    *(
        Reader(
            f"parquet {name}",
            "",
            ("info FOLDER", "lift FOLDER --json"),
            0.2,
            prepare=partial(_one_broken, name),
        )
        for name in PARQUET
    ),
    *(
        Reader(kind, f"input.{kind}", NETWORK, 0.1, seconds=20)
        for kind in ("bif", "bifxml", "xdsl", "net", "dsl", "o3prm")
    ),
)
