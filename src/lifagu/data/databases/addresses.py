"""What the address of a source means, and how to speak of it without giving away what is secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from lifagu.basics.inputs import from_home, real_path
from lifagu.data.databases.environment import Expanded, expanded, values_unshown
from lifagu.data.databases.urls import PLAIN, check_foreign, shown_path, shown_url, split_url
from lifagu.errors import FormatError, Remedy
from lifagu.relational.source import USUAL_ACCESS, Access, LayeredTable, Source, scrubbed

Kind = Literal["duckdb", "files", "frames", "sqlite", "postgresql"]
DUCKDB = (".duckdb", ".ddb")
SQLITE = (".sqlite", ".sqlite3", ".db")
FILES = (".csv", ".csv.gz", ".tsv", ".parquet")
_SCHEMES: dict[str, Kind] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}


@dataclass(frozen=True)
class Address:
    """What a source means: target is the path or the whole URL, never shown; shown is.

    files: the path of each table, for the kind files; secrets: what must not appear in messages;
    frames: tables that are in memory already; held: a connection that is open already; access: what
    queries may; settings: of the connection, beside those in the URL; is_foreign: a template names
    the server, and nothing of this machine is sent there.
    """

    kind: Kind
    target: str
    shown: str
    files: Mapping[str, Path] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    frames: Mapping[str, Any] = field(default_factory=dict)
    held: Any = None
    access: Access = USUAL_ACCESS
    settings: Mapping[str, str] = field(default_factory=dict)
    is_foreign: bool = False
    layers: tuple[LayeredTable, ...] = ()

    def masked(self, text: str) -> str:
        """A driver's message on one line, without what is secret."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return " ".join(scrubbed(text).split())

    def __repr__(self) -> str:
        return f"<Address: {self.kind} {self.shown}>"


def address_of(source: Source) -> Address:
    """What a source means: a URL by its scheme, a path by its ending, a folder as files."""
    if isinstance(source.address, Mapping):
        files = {
            name: _existing(_path(path, source), source) for name, path in source.address.items()
        }
        for name, path in files.items():
            _check_table(name, path, source)
        return Address("files", "", f"{len(files)} files", files)
    given = expanded(source)
    with values_unshown(source, given.secrets):
        return _meant(given, source)


def _meant(given: Expanded, source: Source) -> Address:
    scheme, sign, _ = given.address.partition("://")
    if sign:
        return _url(given, scheme, source)
    path = _path(given.address, source)
    name, secrets = path.name.lower(), given.secrets
    shown = given.written
    if os.path.isdir(path):  # noqa: PTH112 - that of Path fails where a name is too long
        return Address("files", "", shown, _tables_in(path, source), secrets=secrets)
    if name.endswith((*DUCKDB, *SQLITE)):
        target = str(_existing(path, source))
        return Address("duckdb" if name.endswith(DUCKDB) else "sqlite", target, shown, {}, secrets)
    if name.endswith(FILES):
        files = {path.name.partition(".")[0]: _existing(path, source)}
        return Address("files", "", shown, files, secrets)
    raise FormatError(
        f"{source.place}: '{shown_path(shown)}' is no database that can be read; "
        f"name a file ({', '.join((*DUCKDB, *SQLITE))}), data files ({', '.join(FILES)}) "
        "or a URL postgresql://user@host/database"
    )


def without_password(url: str) -> str:
    """A URL as it may be written into a file: PostgreSQL finds the password elsewhere.

    >>> without_password("postgresql://eve:secret@host/wards?password=secret&sslmode=require")
    'postgresql://eve@host/wards?sslmode=require'
    """
    bare = re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", url)
    bare = re.sub(r"([?&])(?:ssl)?password=[^&]*&?", r"\1", bare)
    return bare.rstrip("?&")


def _url(given: Expanded, scheme: str, source: Source) -> Address:
    address = given.address
    kind = _SCHEMES.get(scheme.partition("+")[0].lower())
    if kind is None:
        raise FormatError(
            f"{source.place}: the scheme of the URL tells no known database; "
            f"known are {', '.join(_SCHEMES)}"
        )
    if kind != "postgresql":  # sqlite:///relative and sqlite:////absolute
        _, sign, file = address.partition(":///")
        if not sign:
            raise FormatError(f"{source.place}: the URL names no file; write {kind}:///path")
        path = _existing(_path(file, source), source)
        return Address(kind, str(path), given.written, {}, given.secrets)
    parts = split_url(address, source.place)
    if given.is_foreign:
        check_foreign(parts, source.place)
    shown = given.written  # all of it may be a value, which is not shown
    if "://" in shown:
        shown = "postgresql" + shown_url(shown, source.place)[len(scheme) :]
    target = "postgresql" + address[len(scheme) :]
    password = parts.password
    hidden = {address, target, *([password, unquote(password)] if password else [])}
    hidden |= {unquote(each) for each in re.split("[&=]", parts.query)} - set(PLAIN)
    hidden = (hidden - {parts.username}) | set(given.secrets)
    longest_first = tuple(sorted(hidden - {""}, key=lambda each: (-len(each), each)))
    has_password = bool(password) or "password=" in parts.query
    allowed = "" if has_password or not given.is_foreign else source.access.env.get("PGPASSWORD")
    settings = {"password": allowed} if allowed else {}
    secrets = (*longest_first, *settings.values())
    is_foreign = given.is_foreign
    return Address(kind, target, shown, {}, secrets, settings=settings, is_foreign=is_foreign)


def _path(text: str, source: Source) -> Path:
    return Path(source.folder) / from_home(text)


def _existing(path: Path, source: Source) -> Path:
    """A file that is there; a template's is what its name says, wherever a link in it leads."""
    if not os.path.isfile(path):  # noqa: PTH113 - as above
        raise FormatError(f"{source.place}: there is no such file: {shown_path(path)}")
    real = real_path(path)
    known = real.name.lower().endswith((*DUCKDB, *SQLITE, *FILES))
    if source.is_foreign and not known and not real.is_relative_to(real_path(source.folder)):
        raise FormatError(
            f"{source.place}: {path} leads to something else than data, elsewhere",
            remedy=Remedy.NAME_DATABASE,
        )
    return path


def _tables_in(folder: Path, source: Source) -> dict[str, Path]:
    """All data files of a folder, each a table called by its name without the ending.

    Files that are hidden by a dot are not there: so some programs write before they rename.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        if name and path.is_file() and path.name.lower().endswith(FILES):
            if name in found:
                raise FormatError(
                    f"{source.place}: {found[name]} and {path} would both be the table '{name}'"
                )
            found[name] = _existing(path, source)
    if not found:
        raise FormatError(
            f"{source.place}: the folder {folder} holds no data files ({', '.join(FILES)})"
        )
    return found


def _check_table(name: str, path: Path, source: Source) -> None:
    if not name:
        raise FormatError(f"{source.place}: {path} has an empty name for its table")
    if not path.name.lower().endswith(FILES):
        raise FormatError(
            f"{source.place}: {path} is no data file; those end in {', '.join(FILES)}"
        )
