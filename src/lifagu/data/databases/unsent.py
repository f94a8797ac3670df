"""What PostgreSQL's library would send to any server by itself, and does not to a template's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from lifagu.errors import FormatError, Remedy

_NOWHERE = os.path.join(os.devnull, "none")  # noqa: PTH118 - no file can be there
_FILES = ("passfile", "sslcert", "sslkey")  # else looked for in the home folder
_ALWAYS = ("PGSERVICE", "PGTZ", "PGDATESTYLE", "PGGEQO")  # sent whatever a connection says


def unsent(shown: str, known: Iterable[Any]) -> dict[str, str]:
    """Settings for a server that a template names, in place of all that is this machine's.

    Neither a variable of the environment nor a password, certificate or ticket of whoever opens it
    is sent. known: the library's settings, with the variables that stand for them.
    """
    for name in _ALWAYS:
        if name in os.environ:
            raise FormatError(
                f"{shown}: {name} is set, which would be sent to the server that the template "
                "names; unset it",
                remedy=Remedy.NAME_DATABASE,
            )
    names = {each.keyword.decode() for each in known}
    found = {
        each.keyword.decode(): (each.compiled or b"").decode()
        for each in known
        if each.envvar and each.envvar.decode() in os.environ
    }
    found |= dict.fromkeys(_FILES, _NOWHERE) | {"gssencmode": "disable"}
    return found | ({"require_auth": "!gss,!sspi"} if "require_auth" in names else {})
