"""What every request passes before the application, and every answer after it: whom the server talks to, and how it is shown.

A page of another site may make a browser send requests to this server, and a name of its own may lead to this machine's
address (DNS rebinding). So the server answers only to names that are its own, and only pages of its own, unless the user
names others.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from ..hosts import LOCAL, host_of
from .options import Options, Refusal, address_of

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; media-src blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(self), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
WILD = ("0.0.0.0", "::", "")  # addresses that mean all of this machine's


class Guard:
    """An ASGI application around another.

    Parameters
    ----------
    app
        The other.
    options
        Which hosts and origins are allowed.
    """

    def __init__(self, app: Application, options: Options) -> None:
        self.app = app
        self.origins = tuple(origin.rstrip("/").lower() for origin in options.allow_origins)
        self.any_address = options.host in WILD
        names = [*LOCAL, options.host, *options.allow_hosts]
        self.hosts = {name.strip("[]").lower() for name in names if name not in WILD}
        if self.any_address:
            self.hosts.add(socket.gethostname().lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        more = dict(HEADERS)
        try:
            origin = self.check(scope["method"], scope["path"], scope["headers"])
        except Refusal as refusal:
            await answer(send, refusal.status, {"error": str(refusal)}, more)
            return
        if origin:
            more.update({"access-control-allow-origin": origin, "vary": "Origin"})
            del more["cross-origin-resource-policy"]
        if scope["method"] == "OPTIONS":
            if origin:
                more["access-control-allow-methods"] = "GET, POST"
                more["access-control-allow-headers"] = "content-type"
            await answer(send, 204, None, more)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                added = [(n.encode(), v.encode()) for n, v in more.items() if n.encode() not in own]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        if scope["method"] == "HEAD":  # GET's answer, of which the server sends no body
            scope = {**scope, "method": "GET"}
        await self.app(scope, receive, send_with_headers)

    def check(self, method: str, path: str, headers: Headers) -> str | None:
        """The origin of a page elsewhere that may use this server, None for the server's own page and for programs.

        Raises Refusal with 403 for a Host that is not this server's, and for a page that may not use it.
        """
        host = one(headers, b"host")
        if host_of(host) not in self.hosts and not (self.any_address and address_of(host_of(host))):
            raise Refusal(403, f"this server is not called {host_of(host)!r}: start it with --allow-host NAME if it is")
        origin, site = one(headers, b"origin"), one(headers, b"sec-fetch-site")
        if origin and origin.lower() in self.origins:
            return origin
        if origin and origin.lower() != f"http://{host.lower()}":
            raise Refusal(403, f"pages of {origin} may not use this server: start it with --allow-origin {origin}")
        if site in ("cross-site", "same-site") and (method not in ("GET", "HEAD") or path != "/"):
            raise Refusal(403, "pages of other sites may not use this server: start it with --allow-origin ORIGIN")
        return None


def one(headers: Headers, name: bytes) -> str:
    """A header's value, "" where it is missing; Raises Refusal with 400 where it is there twice."""
    values = [value for key, value in headers if key.lower() == name]
    if len(values) > 1:
        raise Refusal(400, f"the header {name.decode()} is there twice")
    return values[0].decode("latin-1").strip() if values else ""


async def answer(send: Send, status: int, content: object, headers: dict[str, str]) -> None:
    """Sends an answer of JSON, or without a body for None."""
    body = b"" if content is None else json.dumps(content).encode()
    own = {} if content is None else {"content-type": "application/json"}
    own["content-length"] = str(len(body))
    pairs = [(n.encode(), v.encode("latin-1", "replace")) for n, v in {**own, **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
