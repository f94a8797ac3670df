"""What the address of a source means, and how to speak of it without giving away what is secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

from lifagu.errors import FormatError
from lifagu.relational.source import Source

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
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Address:
    """What a source means: target is the path or the whole URL, never shown; shown is.

    files: the path of each table, for the kind files; secrets: what must not appear in messages;
    frames: tables that are in memory already; held: a connection that is open already.
    """

    kind: Kind
    target: str
    shown: str
    files: Mapping[str, Path] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    frames: Mapping[str, Any] = field(default_factory=dict)
    held: Any = None

    def masked(self, text: str) -> str:
        """A driver's message on one line, without what is secret."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return " ".join(text.split())

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
    shown = str(source.address)
    address, secrets = _expanded(shown, source.place)
    scheme, sign, _ = address.partition("://")
    if sign:
        return _url(address, scheme, secrets, source)
    path = _path(address, source)
    name = path.name.lower()
    if path.is_dir():
        return Address("files", "", shown, _tables_in(path, source))
    if name.endswith(DUCKDB):
        return Address("duckdb", str(_existing(path, source)), shown)
    if name.endswith(SQLITE):
        return Address("sqlite", str(_existing(path, source)), shown)
    if name.endswith(FILES):
        return Address("files", "", shown, {path.name.partition(".")[0]: _existing(path, source)})
    raise FormatError(
        f"{source.place}: '{shown}' is no database that can be read; "
        f"name a file ({', '.join((*DUCKDB, *SQLITE))}), data files ({', '.join(FILES)}) "
        "or a URL postgresql://user@host/database"
    )


def without_password(url: str) -> str:
    """A URL as it may be written into a file: PostgreSQL finds the password elsewhere.

    >>> without_password("postgresql://eve:secret@host/wards?password=secret&sslmode=require")
    'postgresql://eve@host/wards?sslmode=require'
    """
    bare = re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", url)
    bare = re.sub(r"([?&])password=[^&]*&?", r"\1", bare)
    return bare.rstrip("?&")


def _expanded(address: str, place: str) -> tuple[str, tuple[str, ...]]:
    """The address with ${NAME} replaced by environment variables, and their values."""
    secrets: list[str] = []

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise FormatError(f"{place}: the environment variable {match[1]} is not set")
        secrets.append(os.environ[match[1]])
        return quote(secrets[-1], safe="") if "://" in address else secrets[-1]

    return _VARIABLE.sub(value, address), tuple(secrets)


def _url(address: str, scheme: str, secrets: tuple[str, ...], source: Source) -> Address:
    kind = _SCHEMES.get(scheme.partition("+")[0].lower())
    if kind is None:
        raise FormatError(
            f"{source.place}: the scheme '{scheme}' tells no known database; "
            f"known are {', '.join(_SCHEMES)}"
        )
    if kind != "postgresql":  # sqlite:///relative and sqlite:////absolute
        path = _existing(_path(address.partition(":///")[2], source), source)
        return Address(kind, str(path), str(path))
    try:
        parts = urlsplit(address)
        password, host, port = parts.password, parts.hostname, parts.port
    except ValueError:
        raise FormatError(
            f"{source.place}: the URL cannot be read; write postgresql://user@host:5432/database"
        ) from None
    where = f"{host or ''}{f':{port}' if port else ''}"
    shown = f"postgresql://{f'{parts.username}@' if parts.username else ''}{where}{parts.path}"
    target = "postgresql+psycopg" + address[len(scheme) :]
    hidden = {address, target, *secrets, *([password, unquote(password)] if password else [])}
    hidden |= {unquote(each) for each in re.findall(r"password=([^&]*)", parts.query)}
    longest_first = sorted(hidden - {"", parts.username}, key=len, reverse=True)
    return Address(kind, target, shown, secrets=tuple(longest_first))


def _path(text: str, source: Source) -> Path:
    return Path(source.folder) / Path(text).expanduser()


def _existing(path: Path, source: Source) -> Path:
    if not path.is_file():
        raise FormatError(f"{source.place}: there is no such file: {path}")
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
            found[name] = path
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
