"""What a server allows and refuses, and the error that says so."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field

from ..net import Net
from ..proto.errors import BoxpressoError


@dataclass(frozen=True)
class Options:
    """The limits of a server.

    Attributes
    ----------
    host
        The address that it listens on.
    max_upload
        Bytes of the body of a request.
    timeout
        Seconds that a request may take, from the end of its headers to the answer.
    waiting
        How many requests, whose bodies are there, may wait while one runs.
    allow_hosts
        Further names that a request may call the server by, beside this machine's own.
    allow_origins
        Origins of pages elsewhere that may use it, such as "https://example.org".
    examples, beside
        A folder whose pictures the page offers; None for those that lie beside `beside`, the path of a model, and are called
        example, sample, scene or demo, or for none.
    batch
        Pictures of requests of the Open Inference Protocol that go through the net together.
    max_model
        Bytes of the files of a model that is chosen on the page of a server that began without one.
    grpc_port
        Where the Open Inference Protocol is spoken over gRPC, 0 for any port that is free; None for nowhere.
    report
        Makes the report of a net, called as the second says, a page of HTML that needs no other file; None for no such page.
    """

    host: str = "127.0.0.1"
    max_upload: int = 32 << 20
    timeout: float = 60.0
    waiting: int = 8
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = field(default=())
    examples: str | None = None
    beside: str | None = None
    batch: int = 8
    grpc_port: int | None = None
    max_model: int = 1 << 30
    report: Callable[[Net, str], str] | None = None


class Refusal(BoxpressoError):
    """A request that gets no answer but this error, with a status of HTTP, and the seconds after which to try again.

    Examples
    --------
    >>> Refusal(413, "it is too large").status
    413
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "192.168.1.2")]
    [True, True, True, False, False]
    """
    if host.lower() == "localhost":
        return True
    address = address_of(host)
    return address is not None and address.is_loopback


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host of a URL is, None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
