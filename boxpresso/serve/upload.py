"""The body of a request, read into memory and nowhere else: nothing of an upload is written to a disk."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from .options import Refusal

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
PARTS, HEADER = 16, 16 << 10  # of a multipart body: parts, and bytes of a part's headers
BOUNDARY = 70  # bytes, by RFC 2046
ADVICE = "send a picture as the body with a Content-Type such as image/jpeg, or as a file of multipart/form-data"


class Left(Exception):
    """The client closed the connection."""


class Uploads:
    """The bodies of requests that are being received.

    Parameters
    ----------
    most
        Bytes that one may have.
    together
        Bytes that all of them may hold, before they are there as a whole.
    """

    def __init__(self, most: int, together: int) -> None:
        self.most, self.together = most, together
        self.held = 0  # bytes of the bodies that are not there as a whole yet

    async def read(self, receive: Receive, headers: Mapping[str, str]) -> bytes:
        """The body of a request, which must not be longer than `most` bytes, whatever it says.

        Raises
        ------
        Refusal
            413 for one that is too long: by its Content-Length before any of it is read, else as soon as it is; 503 where
            this and others hold too much.
        Left
            Where the client has gone.
        """
        too_large = Refusal(
            413, f"the upload is larger than {self.most} bytes, the limit of this server (--max-upload)"
        )
        said = headers.get("content-length", "0")
        if not said.isdecimal():
            raise Refusal(400, "Content-Length is not a number")
        if len(said) > 18 or int(said) > self.most:
            raise too_large
        body = bytearray()
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Left
                piece = message.get("body", b"")
                body += piece
                self.held += len(piece)
                if len(body) > self.most:
                    raise too_large
                if not message.get("more_body"):
                    return bytes(body)
                if self.held > self.together:
                    raise Refusal(503, "the server is receiving too many uploads; try again later")
        finally:
            self.held -= len(body)


def check_type(headers: Mapping[str, str], types: Sequence[str] | None = None) -> None:
    """Refuses a body of another type than these, or one that cannot be a picture, by its headers alone. Raises Refusal with
    415."""
    kind = media_type(headers)
    if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise Refusal(415, "a body with a Content-Encoding is not read; send the file as it is")
    if types is not None:
        if kind not in types:
            raise Refusal(415, f"a body of type {kind} is not read; send {' or '.join(filter(None, types))}")
        return
    if not (kind in ("", "multipart/form-data", "application/octet-stream") or kind.startswith("image/")):
        raise Refusal(415, f"a body of type {kind} is not read; {ADVICE}")


def media_type(headers: Mapping[str, str]) -> str:
    """The type of the body, without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def picture_of(body: bytes, headers: Mapping[str, str]) -> bytes:
    """The bytes of the picture's file: the body itself, or the first file of a multipart body.

    Raises Refusal with 400 for an empty or broken body, 422 for one without a file.
    """
    data = file_of(body, headers["content-type"]) if media_type(headers) == "multipart/form-data" else body
    if not data:
        raise Refusal(400, f"the upload is empty; {ADVICE}")
    return data


def file_of(body: bytes, content_type: str) -> bytes:
    """The first part of a multipart body that is a file: one with a file name, or called "file"."""
    for name, called, first, end in named_parts(body, content_type):
        if called is not None or name == "file":
            return body[first:end]
    raise Refusal(422, "the multipart body has no file; call it file")


def files_of(body: bytes, content_type: str) -> dict[str, bytes]:
    """{name: bytes} of the files of a multipart body, by the names that they have on the client's disk, without folders."""
    parts = [(called, first, end) for _, called, first, end in named_parts(body, content_type) if called]
    return {re.split(r"[\\/]", called)[-1]: body[first:end] for called, first, end in parts}


def named_parts(body: bytes, content_type: str) -> list[tuple[str, str | None, int, int]]:
    """Of each part of a multipart body its name, its file's name or None, and where its content begins and ends."""
    from python_multipart.multipart import parse_options_header

    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise Refusal(400, "the Content-Type multipart/form-data has no boundary")
    if len(boundary) > BOUNDARY:
        raise Refusal(400, f"the boundary in the Content-Type has {len(boundary)} bytes; it may have {BOUNDARY}")
    result = []
    for number, (head, first, end) in enumerate(parts_of(body, boundary)):
        if number == PARTS:
            raise Refusal(413, f"the upload has more than {PARTS} parts")
        options = parse_options_header(disposition(head))[1]
        name, called = options.get(b"name", b""), options.get(b"filename")
        result.append(
            (name.decode(errors="replace"), None if called is None else called.decode(errors="replace"), first, end)
        )
    return result


def parts_of(body: bytes, boundary: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The headers of each part of a multipart body, and where its content begins and ends.

    As RFC 2046 has it, each line that begins with the boundary ends a part. Only `find` looks at the bytes, once.
    Raises Refusal with 400 for a broken body, 413 for headers that are too long.
    """

    def broken(why: str) -> Refusal:
        return Refusal(400, f"the multipart body {why}")

    mark = b"\r\n--" + boundary
    if body.startswith(mark[2:]):
        at = len(mark) - 2
    else:
        at = body.find(mark) + len(mark)
        if at < len(mark):
            raise broken("cannot be read: its boundary is not there")
    while not body.startswith(b"--", at):
        line = body.find(b"\r\n", at, at + HEADER)
        if line < 0 or body[at:line].strip(b" \t"):
            raise broken(
                "ends too early" if len(body) - at < 2 else "cannot be read: a boundary is not at the end of its line"
            )
        blank = body.find(b"\r\n\r\n", line, line + HEADER + 4)
        if blank < 0 and len(body) - line > HEADER + 4:
            raise Refusal(
                413, f"a part of the upload has headers of more than {HEADER} bytes, or no line that ends them"
            )
        at = body.find(mark, max(blank, line))
        if at < 0:
            raise broken("ends too early")
        if blank < 0 or at < blank + 2:
            raise broken("cannot be read: a part has no empty line after its headers")
        yield body[line + 2 : blank], blank + 4, max(at, blank + 4)
        at += len(mark)


def disposition(head: bytes) -> bytes:
    """The Content-Disposition in the headers of a part, empty where there is none. Raises Refusal with 413 for too many."""
    lines = re.sub(rb"\r\n[ \t]+", b" ", head).split(b"\r\n", PARTS)
    if len(lines) > PARTS:
        raise Refusal(413, f"a part of the upload has more than {PARTS} headers")
    for line in lines:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-disposition":
            return value.strip()
    return b""
