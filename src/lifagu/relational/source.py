"""Where the data of a template is, and what the template may use of whoever opens it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lifagu.basics.choices import USUAL_TIMEOUT
from lifagu.basics.inputs import by_name, flag, number
from lifagu.errors import ModelError

_NAME = re.compile(r"\w+")


@dataclass(frozen=True)
class Access:
    """What is allowed to a template, which somebody else may have written.

    env: the values of the ``${NAME}`` that its source may name, which are shown nowhere;
    query_timeout: seconds that a query may take, None for any number; trust_role: whether its
    queries may run as a role of PostgreSQL that is allowed more than to read tables; memory_limit:
    bytes that queries and their rows may take, None for three quarters of what is free.
    """

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    query_timeout: float | None = USUAL_TIMEOUT
    trust_role: bool = False
    memory_limit: int | None = None

    def __reduce__(self) -> tuple[object, ...]:  # a view of a mapping cannot be pickled
        return Access, (dict(self.env), self.query_timeout, self.trust_role, self.memory_limit)


USUAL_ACCESS = Access()


def access_of(env: object, query_timeout: object, trust_role: object) -> Access:
    """What is allowed, as it was handed in.

    >>> access_of({"DB_PASSWORD": "secret"}, 0, False)
    Access(query_timeout=None, trust_role=False, memory_limit=None)
    """
    given = by_name("env", env, '{"DB_PASSWORD": "…"}')
    for name, value in given.items():
        if not _NAME.fullmatch(name) or not isinstance(value, str):
            raise ModelError("env has a text for each name, as in {'DB_PASSWORD': '…'}")
    return Access(
        MappingProxyType(dict(given)), seconds_of(query_timeout), flag("trust_role", trust_role)
    )


def seconds_of(query_timeout: object) -> float | None:
    """How long a query may take, None for any time."""
    if query_timeout is None:
        return None
    found = number("query_timeout", query_timeout)
    if found < 0:
        raise ModelError("query_timeout is a number of seconds, or None for no limit")
    return found if 0 < found < float("inf") else None


@dataclass(frozen=True)
class LayeredTable:
    """A table that stands before one of the database, which is left as it is.

    name: in the catalogue, and alone, without its schema, in queries; rows: its rows, numbered, as
    they stand after FROM; number: what their number is called; columns: of the table; key: those
    that tell rows apart, none where their number does; hidden: by column the keys, as texts, of
    those whose value is NULL; flag: a further column that says whether a condition held before.
    """

    name: str
    rows: str
    number: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    hidden: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)
    flag: tuple[str, str] | None = None


@dataclass(frozen=True, repr=False)
class Source:
    """Where the data is: a path or URL as written, files as tables, or what is in memory already.

    Parameters
    ----------
    address : str, mapping, frame or connection
        The path or URL; a mapping from tables to files, to frames, or to mappings from columns to
        arrays; one frame, the table ``data``; or an open connection to DuckDB. A frame is whatever
        pandas, polars or pyarrow make a table of, or has ``__arrow_c_stream__``.
    folder : str
        What relative paths are relative to.
    place : str
        Where in which template it stands, for errors.
    access : Access
        What a template may use, and how long its queries may take; as `lifagu.open` is told.
    is_foreign : bool
        Whether a template names it, and not whoever opens it; then only what `access` allows
        stands for ``${NAME}``.
    layers : tuple of LayeredTable
        Tables that stand before those of the database while it is read.

    Notes
    -----
    Frames and connections are neither changed nor closed. All queries of one reading see one state:
    frames are copied; a connection gets a transaction for the time of reading, which cannot write
    and is rolled back, and an engine a connection of its own. If a transaction is open already, it
    is read in that one, with what was not committed, and the transaction goes on as it was; where
    its isolation lets others' changes through (PostgreSQL's ``READ COMMITTED``), queries may see
    several states. DuckDB knows no transaction within another, so a connection of it that has one
    open is refused; a result that is still being fetched from it is lost.
    """

    address: object
    folder: str = "."
    place: str = "source"
    access: Access = USUAL_ACCESS
    is_foreign: bool = False
    layers: tuple[LayeredTable, ...] = ()

    def __repr__(self) -> str:
        given = self.address
        known = isinstance(given, str | Mapping) and self.is_named
        told = scrubbed(repr(given)) if known else f"a {type(given).__name__}"
        return f"<Source: {told}>"

    @property
    def is_named(self) -> bool:
        """Whether names alone find it, so that a file can hold them; else it is in memory."""
        if isinstance(self.address, Mapping):
            return all(isinstance(each, str) for each in self.address.values())
        return isinstance(self.address, str)


def scrubbed(text: str) -> str:
    """A text in which no URL holds a user, a password or settings.

    >>> scrubbed("cannot reach postgresql://eve:secret@host/wards?password=secret now")
    'cannot reach postgresql://***@host/wards now'
    """
    urls = re.sub(r"(?<=://)\S*@", "***@", text)
    return re.sub(r"(://[^\s?#]*)[?#][^\s'\"]*", r"\1", urls)
