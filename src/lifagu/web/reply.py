"""What comes back from a computation, sent between processes: a status, a type, and bytes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from lifagu.errors import LifaguError, Remedy, TooLargeError

PROGRESS, RESULT = b"p", b"r"
JSON = "application/json"
HIGHER = "start lifagu serve with a higher --memory-limit"
# what to do about tables that are hardly better than a guess
SURER = "let all competing tables count"
KNOBS = {  # what to do about errors, in the words of the page, as far as they can come up there
    Remedy.MORE_MEMORY: HIGHER,
    Remedy.LARGER_LIMIT: HIGHER,
    Remedy.ASK_FOR_LESS: f"observe some variables, ask for less at once, or {HIGHER}",
    Remedy.ASK_TRANSFER: "choose the winning tables",
    Remedy.EXACT_ENGINE: "choose an exact engine",
    Remedy.ASK_ALL: "name one of its variables",
}


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
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return Reply(status, JSON, text.encode(errors="backslashreplace"))  # half characters, escaped


def error_reply(status: int, message: str, exit_status: int = 2) -> Reply:
    """A refusal in one line, with the exit status that the command line would have had."""
    return json_reply({"error": " ".join(message.split()), "exit_status": exit_status}, status)


def refusal(error: LifaguError) -> Reply:
    """What lifagu refuses, with what to do about it on the page."""
    return error_reply(422, error.told(KNOBS), error.exit_status)


def too_large(message: str) -> Reply:
    """What does not fit into the limits of this server."""
    return error_reply(422, message, TooLargeError.exit_status)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


OWN_MISTAKE = error_reply(500, "something went wrong inside lifagu; its terminal says what")
