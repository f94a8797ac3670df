"""URLs of databases: read strictly, and never repeated when they are malformed."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, unquote, urlsplit

from lifagu.errors import FormatError, Remedy

SCHEMES = ("postgresql", "postgres", "sqlite", "duckdb")
FORM = "postgresql://user@host:5432/database"
# settings that name files of yours, or hand on what proves who you are
_YOURS = re.compile(
    "passfile|service.*|require.*|(gss|krb|oauth|scram).*|ssl(?!mode|rootcert|negotiation|sni).*"
)
PLAIN = ("dbname", "host", "options", "password", "port", "user")  # settings that may be told
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"([^\[\]:]*|\[[^\[\]]*\])(:[0-9]+)?")
_PASSWORD = re.compile(r"(passw(or)?d|pwd)\s*=", re.IGNORECASE)
_HIDING = re.compile(rf"@|://|^\w{{2,}}:|{_PASSWORD.pattern}", re.IGNORECASE)


def split_url(url: str, place: str) -> SplitResult:
    """The parts of a URL, where nobody could read others in it.

    >>> split_url("postgresql://eve:12/34@host/wards", "database")
    Traceback (most recent call last):
    lifagu.errors.FormatError: database: the URL cannot be read: a sign @ stands behind the host; \
write postgresql://user@host:5432/database, and in a password %40 for @, %2F for /, %23 for #
    """
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
        is_clear = _HOST.fullmatch(parts.netloc.rpartition("@")[2]) is not None
    except ValueError:
        is_clear = False
    if not is_clear:
        raise _malformed(place, "there is no host, or no port as a number")
    if _UNSEEN.search(url):
        raise _malformed(place, "it holds a line end or another sign that cannot be seen")
    if parts.netloc.count("@") > 1:
        raise _malformed(place, "there are several signs @")
    if "#" in url:
        raise _malformed(place, "it holds a sign #")
    if _PASSWORD.search(unquote(parts.path)):
        raise _malformed(place, "a setting stands in the name of the database, and not behind ?")
    if "@" in parts.path + parts.query:
        raise _malformed(place, "a sign @ stands behind the host")
    return parts


def _malformed(place: str, why: str) -> FormatError:
    signs = "and in a password %40 for @, %2F for /, %23 for #"
    return FormatError(f"{place}: the URL cannot be read: {why}; write {FORM}, {signs}")


def shown_url(url: str, place: str) -> str:
    """A URL, or a path, for errors: without a password and settings, which are not for everybody.

    >>> shown_url("postgresql://eve:secret@host/wards?password=secret", "your database")
    'postgresql://eve@host/wards'
    >>> shown_url("postgresql:/eve:secret@host/wards", "your database")
    'your database'
    """
    if "://" not in url:
        return place if may_hold_password(url) else url
    parts = split_url(url, place)
    if parts.scheme.partition("+")[0] not in SCHEMES:
        return place
    user, sign, host = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{user.partition(':')[0]}{sign}{host}{parts.path}"


def check_foreign(parts: SplitResult, place: str) -> None:
    """Refuse what a template would learn of whoever opens it: a file, a proof, the user's name."""
    pairs = [each.partition("=") for each in parts.query.split("&")]
    settings = {unquote(name): value for name, _, value in pairs}
    if any(map(_YOURS.fullmatch, settings)):
        raise FormatError(
            f"{place}: the URL has a setting that names your files or what proves who you are, "
            "which a template may not choose",
            remedy=Remedy.NAME_DATABASE,
        )
    if not settings.get("user", parts.username):
        raise FormatError(
            f"{place}: the URL names no user, and yours is not told to a server that a template "
            f"names; write {FORM}",
            remedy=Remedy.NAME_DATABASE,
        )


def may_hold_password(path: str) -> bool:
    """Whether a path looks like a URL that was mistyped."""
    return _HIDING.search(path) is not None


def shown_path(text: object) -> str:
    """A path for an error, unless it looks like a URL that was mistyped, which may hold a password.

    >>> shown_path("wards/beds.csv"), shown_path("postgresql:/eve:secret@host/wards")
    ('wards/beds.csv', 'what it names (not shown, as it may hold a password)')
    """
    hidden = "what it names (not shown, as it may hold a password)"
    return hidden if may_hold_password(str(text)) else str(text)
