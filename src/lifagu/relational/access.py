"""What a template may use of whoever opens it, and how long each of its queries may take."""

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
    queries may run as a role of PostgreSQL that is allowed more than to read tables.
    """

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    query_timeout: float | None = USUAL_TIMEOUT
    trust_role: bool = False

    def __reduce__(self) -> tuple[object, ...]:  # a view of a mapping cannot be pickled
        return Access, (dict(self.env), self.query_timeout, self.trust_role)


USUAL_ACCESS = Access()


def access_of(env: object, query_timeout: object, trust_role: object) -> Access:
    """What is allowed, as it was handed in.

    >>> access_of({"DB_PASSWORD": "secret"}, 0, False)
    Access(query_timeout=None, trust_role=False)
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
