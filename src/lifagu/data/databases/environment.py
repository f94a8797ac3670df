"""``${NAME}`` in the address of a source: which values stand for it, and where it may stand."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from lifagu.data.databases.urls import split_url
from lifagu.errors import FormatError, LifaguError, Remedy
from lifagu.relational.source import Source

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PLACES = ("host", "hostaddr", "port")  # settings in a URL that say where a server is


@dataclass(frozen=True)
class Expanded:
    """An address with values in place of ``${NAME}``; written: before that, as it may be shown.

    secrets: the values, as they are and as they stand in a URL; is_foreign: whether the address is
    a template's, and no value that whoever opens it has given for all of it.
    """

    address: str
    written: str
    secrets: tuple[str, ...]
    is_foreign: bool

    def __repr__(self) -> str:
        return f"<Expanded: {len(self.secrets)} secrets>"


@contextmanager
def values_unshown(source: Source, secrets: Iterable[str]) -> Iterator[None]:
    """Errors without values, as in paths that were made of them; the template itself is named."""
    try:
        yield
    except LifaguError as error:
        file = source.place.partition(":")[0]
        start = len(file) if error.message.startswith(file) else 0
        said = error.message[start:]
        for secret in secrets:
            said = said.replace(secret, "***")
        raise error.saying(error.message[:start] + said) from None


def expanded(source: Source) -> Expanded:
    """The address of a source; what a template names must have been allowed to it."""
    written = str(source.address)
    values = {name: _value(name, source) for name in _VARIABLE.findall(written)}
    whole = _VARIABLE.fullmatch(written) is not None
    is_url = "://" in written
    if values and source.is_foreign:
        if is_url:
            _refuse_in_host(written, source)
        elif not whole and any("://" in value for value in values.values()):
            raise FormatError(
                f"{source.place}: a variable that holds a URL stands alone in a source, as "
                '"${DATABASE_URL}"'
            )
    quoted = {name: quote(value, safe="") for name, value in values.items()}
    put = quoted if is_url else values
    address = _VARIABLE.sub(lambda match: put[match[1]], written)
    secrets = {*values.values(), *quoted.values()} - {""}
    longest_first = tuple(sorted(secrets, key=lambda each: (-len(each), each)))
    return Expanded(address, written, longest_first, source.is_foreign and not whole)


def _value(name: str, source: Source) -> str:
    """The value of one variable: of the environment, or what a template is allowed."""
    if source.is_foreign:
        if name not in source.access.env:
            raise FormatError(
                f"{source.place}: the source names ${{{name}}}, which a template may not take by "
                "itself",
                remedy=Remedy.ALLOW_ENV,
                about=name,
            )
        return source.access.env[name]
    if name not in os.environ:
        raise FormatError(f"{source.place}: the environment variable {name} is not set")
    return os.environ[name]


def _refuse_in_host(written: str, source: Source) -> None:
    """Where a template sends something is to be read in it, and not to be made of a secret."""
    parts = split_url(written, source.place)
    places = [parts.scheme, parts.netloc.rpartition("@")[2]]
    for setting in parts.query.split("&"):
        key, _, value = setting.partition("=")
        places += [key, value if key in _PLACES else ""]
    if any("${" in each for each in places):
        raise FormatError(
            f"{source.place}: ${{…}} may stand for a user, a password or a database, never for "
            "(part of) a host or a port; write them out"
        )
