"""Connections: how long each may wait for its client, and which makes way when there are too many."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from .options import Options

CONNECTIONS = 256  # at a time
SPARE = 32  # more, which are being closed, or answered, before the server refuses some
KERNEL = (
    1 << 17
)  # bytes of an answer that the kernel may hold, which look as if they were taken; its own choice is megabytes
PATIENCE = 10.0  # seconds for the headers of a request, and for a part of an answer to be taken


def protocol(options: Options) -> type[asyncio.Protocol]:
    """uvicorn's protocol, which has no deadlines, with some; of one server.

    - The headers of a request must be there PATIENCE seconds after the connection was made, or the last answer.
    - That its body must come, and the answer be ready, within `options.timeout` is for the application, which says so to the
      client; here it has PATIENCE more.
    - Of an answer the client must take something every PATIENCE seconds.
    - When there are CONNECTIONS, the oldest whose client has not sent a whole request makes way for a new one, so that any
      number of them keeps nobody out.

    A connection that is late is closed at once.
    """
    waiting: dict[Any, None] = {}  # connections whose client has to send something, the oldest first
    base: Any = AutoHTTPProtocol

    class Connection(base):  # type: ignore[misc]
        unsent = 0  # bytes of an answer, when it was last looked at
        deadline: asyncio.TimerHandle | None = None
        request: Any = None  # the one whose headers are there, until it is answered

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL)
            if len(self.connections) >= CONNECTIONS and waiting:
                oldest = next(iter(waiting))
                del waiting[oldest]
                oldest.transport.abort()
            waiting[self] = None
            self.limit(min(PATIENCE, options.timeout))

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.follow()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.follow()

        def connection_lost(self, error: Exception | None) -> None:
            waiting.pop(self, None)
            self.limit(None)
            super().connection_lost(error)

        def follow(self) -> None:
            """Sets what the connection waits for now: its client, or the answer to a request."""
            request = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
            if request is not self.request:
                self.request = request
                self.unsent = self.transport.get_write_buffer_size()
                self.limit(min(PATIENCE, options.timeout) + (0 if request is None else options.timeout))
            if request is not None and not request.more_body:
                waiting.pop(self, None)
            elif not self.transport.is_closing():
                waiting.setdefault(self)

        def limit(self, seconds: float | None) -> None:
            """Ends the wait after so many seconds, in place of when it was to end until now; None: never."""
            if self.deadline is not None:
                self.deadline.cancel()
            self.deadline = None if seconds is None else self.loop.call_later(seconds, self.late)

        def late(self) -> None:
            """Closes the connection, but for one whose client is taking the answer."""
            unsent, self.unsent = self.unsent, self.transport.get_write_buffer_size()
            if 0 < self.unsent < unsent:
                self.limit(min(PATIENCE, options.timeout))
            else:
                self.transport.abort()

    return Connection
