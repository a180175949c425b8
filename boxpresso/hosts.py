"""Whom a request is sent to, by its Host header: both servers of this package answer only to names that are their own."""

from __future__ import annotations

import re

LOCAL = ("localhost", "127.0.0.1", "::1")  # names of this machine
HOST = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::\d*)?")


def host_of(header: str) -> str:
    """The name or address in a Host header, without its port and brackets; "" where it is none.

    Examples
    --------
    >>> host_of("localhost:8090"), host_of("[::1]:8090"), host_of("Example.org."), host_of("[::1].example.org")
    ('localhost', '::1', 'example.org', '')
    """
    match = HOST.fullmatch(header.strip().lower())
    return (match[1] or match[2] or "").rstrip(".") if match else ""
