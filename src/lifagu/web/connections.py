"""Connections of clients: how long each may keep the server waiting, and which goes if many come.

A request is computed only when its headers are there, so all of this costs nothing but connections:
headers that never end, silence, replies that nobody reads. Bodies have their own time, in the app.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PIECE = 2**14  # bytes that are looked at together, so that headers are bounded before they are read
AT_ONCE = struct.pack("ii", 1, 0)  # how a socket lingers that is closed: not at all
NO_HTTP = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True)
class Patience:
    """For how many seconds a client is waited for, and how many connections may be open.

    headers: from their first byte to their end; also for the rest of a body that nobody wants.
    idle: without a request. reading: without taking any of its reply.
    """

    headers: float = 10.0
    idle: float = 30.0
    reading: float = 30.0
    connections: int = 1000


class Connection(H11Protocol):
    """One connection, closed when its client lets it wait for too long."""

    def __init__(self, patience: Patience, **given: Any) -> None:
        super().__init__(**given)
        self._patience = patience
        self._since = 0.0
        self._owed = ""  # what the client has to send now: a request, or the rest of one
        self._waiting: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    @property
    def _is_answered(self) -> bool:
        """Whether no request is under way: it is the client's turn."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _unread(self) -> int:
        """Bytes of replies that the client has not taken yet."""
        return self.transport.get_write_buffer_size()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a connection in; if there are too many, one goes."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._look()
        if len(self.connections) > self._patience.connections:
            self._make_place()

    def _make_place(self) -> None:
        """Of the client with the most connections those go that wait, longest first, else this one.

        A few go at once, so that looking for them costs little for each that comes. Never one whose
        request is being computed.
        """
        most: int = self._patience.connections
        others: list[Any] = [each for each in self.connections if not each.transport.is_closing()]
        if len(others) <= most:
            return
        count = Counter(each._address for each in others)
        going = sorted(
            ((-count[each._address], rank, each._since), place)
            for place, each in enumerate(others)
            if (rank := each._rank()) is not None and each is not self
        )
        alike = [place for (*order, _), place in going if order == list(going[0][0][:2])]
        chosen = [others[place] for place in alike[: max(most // 20, 1)]]
        for each in chosen or [self]:
            each.transport.abort()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _rank(self) -> int | None:
        """Who goes first: silent ones, then those that read or send slowly; None for nobody."""
        if self._is_answered:
            return 1 if self._unread else 0
        return 2 if self.cycle.more_body or self._unread else None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        for each in (self._waiting, self._reading):
            if each is not None:
                each.cancel()
        super().connection_lost(exc)

    # ---- what the client sends

    def data_received(self, data: bytes) -> None:
        """Take what came, in pieces."""
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            if self._is_answered and not self._is_amid:
                self._since = self.loop.time()
            super().data_received(data[start : start + PIECE])
        self._look()

    @property
    def _is_amid(self) -> bool:
        """Whether a part of a request is there, and the rest is not."""
        return self.conn.their_state is not h11.IDLE or bool(self.conn.trailing_data[0])

    def _look(self) -> None:
        """Begin to wait for what the client owes now, unless that has begun already."""
        owed = ("rest" if self._is_amid else "request") if self._is_answered else ""
        if owed == self._owed:
            return
        self._owed = owed
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if owed:
            seconds = self._patience.headers if owed == "rest" else self._patience.idle
            self._waiting = self.loop.call_later(seconds, self.transport.close)

    def send_400_response(self, msg: str) -> None:
        """Say that this is no HTTP, unless a reply is on its way already."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(NO_HTTP)
        self.transport.close()
        self._watch_reader()

    # ---- what the client reads

    def on_response_complete(self) -> None:
        """The reply is written; now the client has to take it and may ask the next."""
        self._since = self.loop.time()
        super().on_response_complete()
        self._look()
        self._watch_reader()

    def pause_writing(self) -> None:
        """The client takes less than is written."""
        super().pause_writing()
        self._watch_reader()

    def _watch_reader(self) -> None:
        if self._reading is None and (unread := self._unread):
            self._reading = self.loop.call_later(
                self._patience.reading, self._look_at_reader, unread
            )

    def _look_at_reader(self, before: int) -> None:
        """Hang up on a client that took nothing since the last look."""
        self._reading = None
        if self._unread >= before:
            if sys.platform != "win32":  # nor does the system keep what it has of the reply
                line = self.transport.get_extra_info("socket")
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.transport.abort()
        else:
            self._watch_reader()

    def shutdown(self) -> None:
        """The server ends."""
        try:
            super().shutdown()
        except h11.LocalProtocolError:
            self.transport.abort()
