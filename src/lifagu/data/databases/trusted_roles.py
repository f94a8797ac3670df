"""Roles of PostgreSQL that a template's queries do not run as: they reach beyond tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifagu.errors import FormatError, Remedy

_POWERS = "'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'"
# of the role that logged in, which any query could go back to by set_config('role', …)
_LOGIN = "(SELECT usesysid FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid())"
_REACHING = f"""
    SELECT CASE WHEN l.rolsuper THEN 'is a superuser'
                ELSE 'is a member of ' || r.rolname END AS why,
           l.rolname
    FROM pg_catalog.pg_roles l, pg_catalog.pg_roles r
    WHERE l.oid = {_LOGIN}
      AND (r.rolsuper OR r.rolname IN ({_POWERS}))
      AND pg_has_role(l.oid, r.oid, 'MEMBER')
    UNION ALL
    SELECT 'may call dblink', l.rolname
    FROM pg_catalog.pg_roles l, pg_catalog.pg_proc p
    JOIN pg_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_catalog.pg_extension e ON e.oid = d.refobjid AND e.extname = 'dblink'
    WHERE l.oid = {_LOGIN}
      AND d.classid = 'pg_catalog.pg_proc'::regclass
      AND has_function_privilege(l.oid, p.oid, 'EXECUTE')
    ORDER BY why
    LIMIT 1
"""


def refuse_reaching(rows: Callable[[str], list[tuple[Any, ...]]], shown: str) -> None:
    """Refuse a connection whose role could read files of the server, or run programs on it."""
    for why, role in rows(_REACHING):
        raise FormatError(
            f"{shown}: the role '{role}' {why}, so that a template's queries could reach beyond "
            "the tables",
            remedy=Remedy.TRUST_ROLE,
        )
