"""What comes back from a computation: a status, a type, and bytes; written by one process, read by
another.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

PROGRESS, RESULT = b"p", b"r"
JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """An answer for a client; name: of the file, where it is one to keep."""

    status: int
    type: str
    body: bytes
    name: str | None = None

    def as_bytes(self) -> bytes:
        """The reply as one message.

        >>> Reply.from_bytes(Reply(200, JSON, b"{}").as_bytes())
        Reply(status=200, type='application/json', body=b'{}', name=None)
        """
        head = json.dumps([self.status, self.type, self.name]).encode()
        return RESULT + head + b"\n" + self.body

    @classmethod
    def from_bytes(cls, message: bytes) -> Reply:
        """The reply in such a message."""
        head, _, body = message[len(RESULT) :].partition(b"\n")
        status, kind, name = json.loads(head)
        return cls(status, kind, body, name)


def json_reply(value: Any, status: int = 200) -> Reply:
    """A value as JSON; infinite numbers and nan, which JSON lacks, are null."""
    return Reply(
        status, JSON, json.dumps(_finite(value), ensure_ascii=False, allow_nan=False).encode()
    )


def error_reply(status: int, message: str, exit_status: int = 2) -> Reply:
    """A refusal in one line, with the exit status that the command line would have had."""
    return json_reply({"error": " ".join(message.split()), "exit_status": exit_status}, status)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
