"""What stands before every request: whose it may be, and what browsers must keep to.

A page elsewhere must not be able to use this server through its visitor's browser: requests that
come under another name (DNS rebinding) or from another page (cross-site requests) are refused, on
the loopback interface as well.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
ELSEWHERE = "this server does not answer to that name; use the address that lifagu serve printed"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    message: str


NOT_LET_IN = Refusal(
    401, "a token is needed: open the address that lifagu serve printed, which ends with it"
)
TWO_LENGTHS = Refusal(400, "the body's length is told in two ways")


@dataclass(frozen=True)
class Gate:
    """Which names this server answers to.

    host, port: where it listens; open: others than this machine may come.
    """

    host: str
    port: int
    open: bool

    def refusal(self, method: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request with these headers (names in lower case) is refused, None if it is not."""
        # what a proxy in front may read as one request and this side as two
        if "content-length" in headers and "transfer-encoding" in headers:
            return TWO_LENGTHS
        host = headers.get("host", "")
        if not self.answers_to(host):
            return Refusal(421, ELSEWHERE)
        elsewhere = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        # a link to here is welcome
        followed = method in SAFE and headers.get("sec-fetch-dest") == "document"
        # perhaps behind a proxy
        own = {f"http://{host}", f"https://{host}"} if self.open else {f"http://{host}"}
        foreign = method not in SAFE and headers.get("origin", f"http://{host}") not in own
        if foreign or (elsewhere and not followed):
            return Refusal(403, "this request comes from another page")
        return None

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this server; where others may come, any (a token guards it).

        >>> Gate("127.0.0.1", 8350, False).answers_to("evil.example:8350")
        False
        """
        if not host or len(host) > 300:
            return False
        names = {"localhost", "127.0.0.1", "[::1]", in_address(self.host)}
        return self.open or host.lower() in {f"{name}:{self.port}" for name in names}


def in_address(host: str) -> str:
    """A host as addresses write it.

    >>> in_address("localhost"), in_address("::1")
    ('localhost', '[::1]')
    """
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
