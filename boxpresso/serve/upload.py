"""The body of a request, read into memory and nowhere else: nothing of an upload is written to a disk."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from .options import Refusal

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
PARTS, HEADER = 16, 16 << 10  # of a multipart body: parts, and bytes of a part's headers
BOUNDARY = 70  # bytes, by RFC 2046
# Its remarks on each broken body go to whoever set a handler, not to the terminal: a client could fill that.
logging.getLogger("python_multipart").addHandler(logging.NullHandler())
ADVICE = "send a picture as the body with a Content-Type such as image/jpeg, or as a file of multipart/form-data"


class Left(Exception):
    """The client closed the connection."""


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes:
    """The body of a request, which must not be longer than `most` bytes, whatever it says.

    Raises
    ------
    Refusal
        413 for one that is too long: by its Content-Length before any of it is read, else as soon as it is.
    Left
        Where the client has gone.
    """
    too_large = Refusal(413, f"the upload is larger than {most} bytes, the limit of this server (--max-upload)")
    said = headers.get("content-length", "0")
    if not said.isdecimal():
        raise Refusal(400, "Content-Length is not a number")
    if len(said) > 18 or int(said) > most:
        raise too_large
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Left
        body += message.get("body", b"")
        if len(body) > most:
            raise too_large
        if not message.get("more_body"):
            return bytes(body)


def check_type(headers: Mapping[str, str]) -> None:
    """Refuses a body that cannot be a picture, by its headers alone. Raises Refusal with 415."""
    kind = media_type(headers)
    if headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        raise Refusal(415, "a body with a Content-Encoding is not read; send the file as it is")
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
    from python_multipart.multipart import MultipartParser, parse_options_header

    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise Refusal(400, "the Content-Type multipart/form-data has no boundary")
    if len(boundary) > BOUNDARY:
        raise Refusal(400, f"the boundary in the Content-Type has {len(boundary)} bytes; it may have {BOUNDARY}")
    parts: list[tuple[dict[bytes, bytes], bytearray]] = []
    name, value = bytearray(), bytearray()
    ended = False

    def begin() -> None:
        if len(parts) == PARTS:
            raise Refusal(413, f"the upload has more than {PARTS} parts")
        parts.append(({}, bytearray()))

    def add(to: bytearray, data: bytes, start: int, end: int) -> None:
        to += data[start:end]
        if len(name) + len(value) > HEADER:
            raise Refusal(413, f"a part of the upload has headers of more than {HEADER} bytes")

    def header() -> None:
        parts[-1][0][bytes(name).lower()] = bytes(value)
        if len(parts[-1][0]) > PARTS:
            raise Refusal(413, f"a part of the upload has more than {PARTS} headers")
        name.clear()
        value.clear()

    def part(data: bytes, start: int, end: int) -> None:
        parts[-1][1].extend(data[start:end])

    def end() -> None:
        nonlocal ended
        ended = True

    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": begin,
            "on_header_field": lambda data, start, end: add(name, data, start, end),
            "on_header_value": lambda data, start, end: add(value, data, start, end),
            "on_header_end": header,
            "on_part_data": part,
            "on_end": end,
        },
    )
    try:
        parser.write(body)
        parser.finalize()
    except Refusal:
        raise
    except Exception as error:  # MultipartParseError, whose place differs between versions
        raise Refusal(400, f"the multipart body cannot be read: {error}") from None
    if not ended:
        raise Refusal(400, "the multipart body ends too early")
    for headers, data in parts:
        options = parse_options_header(headers.get(b"content-disposition", b""))[1]
        if b"filename" in options or options.get(b"name") == b"file":
            return bytes(data)
    raise Refusal(422, "the multipart body has no file; call it file")
