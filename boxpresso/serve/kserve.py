"""The Open Inference Protocol (KServe v2, Triton's): its tensors, requests over HTTP, and batches of what waits.

A request has pictures, as files (`image`, BYTES) or as pixels (`pixels`, UINT8), and gets the detections of all of them, one
below the other: `boxes`, `scores`, `class_ids`, `class_names`, and `picture`, which of the request's pictures each is of.
`rpc` has the same over gRPC.

Source
------
The Open Inference Protocol, https://github.com/kserve/open-inference-protocol; the extension for binary tensors is Triton's.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import __version__
from ..data.inputs import Numpy
from ..decoders.detections import Detections
from .model import Model, Wanted
from .options import Refusal

JSON_LENGTH = "inference-header-content-length"
INPUTS = (("image", "BYTES", [-1]), ("pixels", "UINT8", [-1, -1, -1, 3]))
OUTPUTS = (
    ("boxes", "FP32", [-1, 4]), ("scores", "FP32", [-1]), ("class_ids", "INT64", [-1]), ("class_names", "BYTES", [-1]),
    ("picture", "INT32", [-1]),
)  # fmt: skip
DTYPES = {"FP32": np.float32, "INT64": np.int64, "INT32": np.int32, "UINT8": np.uint8}
VERSION = "1"  # the only one of the model
PICTURES = 64  # of one request
AXES = 4  # of an input
ONE_INPUT = "a request has one input: image (BYTES, files of pictures) or pixels (UINT8, N x H x W x 3, RGB)"


@dataclass
class Asked:
    """What a request asks: pictures, settings, and which outputs, each as JSON (False) or bytes (True)."""

    pictures: list[Numpy | bytes]
    wanted: Wanted
    outputs: dict[str, bool]
    id: str | None = None


@dataclass
class Ticket:
    """A request that waits for its detections."""

    read: Callable[[], Asked]
    asked: Asked | None = None
    pixels: list[Numpy] = field(default_factory=list)
    detections: list[Detections] | None = None


class Batcher:
    """Runs the pictures of requests that wait together in one pass of the net.

    Nothing is waited for: requests that came while another ran are taken together. `answer` runs in the worker's thread.

    Parameters
    ----------
    model
        What is served.
    most
        Pictures in one pass.
    """

    def __init__(self, model: Model, most: int) -> None:
        self.model, self.most = model, most
        self.waiting: list[Ticket] = []
        self.lock = threading.Lock()

    def enter(self, read: Callable[[], Asked]) -> Ticket:
        """A ticket for a request, which `leave` must be given."""
        ticket = Ticket(read)
        with self.lock:
            self.waiting.append(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """The request is answered, or nobody waits for it any more."""
        with self.lock:
            if ticket in self.waiting:
                self.waiting.remove(ticket)

    def answer(self, ticket: Ticket) -> tuple[Asked, list[Detections]]:
        """The detections of a ticket: found already with those of another, or now, with others that wait."""
        if ticket.detections is None:
            self.prepare(ticket)
            others = self.companions(ticket)
            try:
                self.detect([ticket, *others])
            except Exception:
                if not others:
                    raise
                self.detect([ticket])  # what fails may be another's: it gets its answer when its turn comes
        if ticket.asked is None or ticket.detections is None:
            raise RuntimeError("a ticket without an answer")
        return ticket.asked, ticket.detections

    def detect(self, together: Sequence[Ticket]) -> None:
        """The detections of tickets that ask the same of them."""
        pixels = [each for one in together for each in one.pixels]
        wanted = together[0].asked.wanted if together[0].asked else Wanted()
        detections = self.model.batch(pixels, wanted, self.most)
        for one in together:
            one.detections, detections = detections[: len(one.pixels)], detections[len(one.pixels) :]

    def prepare(self, ticket: Ticket) -> None:
        """Reads a ticket's pictures. Raises Refusal."""
        if ticket.asked is None:
            asked = ticket.read()
            ticket.pixels = [self.model.read(p).pixels if isinstance(p, bytes) else p for p in asked.pictures]
            ticket.asked = asked

    def companions(self, ticket: Ticket) -> list[Ticket]:
        """Others that wait, ask the same of the detections, and fit into the pass."""
        with self.lock:
            others = [one for one in self.waiting if one is not ticket and one.detections is None]
        result: list[Ticket] = []
        room = self.most - len(ticket.pixels)
        for one in others:
            if room <= 0:
                break
            try:
                self.prepare(one)
            except Exception:  # it gets its answer when its turn comes
                continue
            if one.asked and ticket.asked and one.asked.wanted == ticket.asked.wanted and len(one.pixels) <= room:
                result.append(one)
                room -= len(one.pixels)
        return result


def check_model(known: str, name: str, version: str) -> None:
    """Raises Refusal with 404 for another model or version than the one that is served."""
    if name != known or version not in (VERSION, ""):
        raise Refusal(
            404, f"there is no model {name!r} of version {version or VERSION}; there is {known!r} of {VERSION}"
        )


def server_metadata() -> dict[str, Any]:
    """The answer of /v2."""
    return {"name": "boxpresso", "version": __version__, "extensions": ["binary_tensor_data"]}


def model_metadata(name: str) -> dict[str, Any]:
    """The answer of /v2/models/NAME."""

    def tensors(of: Sequence[tuple[str, str, list[int]]]) -> list[dict[str, Any]]:
        return [{"name": n, "datatype": d, "shape": s} for n, d, s in of]

    return {
        "name": name, "versions": [VERSION], "platform": "boxpresso", "inputs": tensors(INPUTS), "outputs": tensors(OUTPUTS),
    }  # fmt: skip


def read_request(body: bytes, headers: Mapping[str, str]) -> Asked:
    """What a request asks. Raises Refusal with 400 and 422 for what is not of the protocol."""
    length = headers.get(JSON_LENGTH)
    if length is not None and not (length.isdecimal() and len(length) < 12 and int(length) <= len(body)):
        raise Refusal(400, f"{JSON_LENGTH} is {length[:40]!r}, of a body of {len(body)} bytes")
    end = len(body) if length is None else int(length)
    try:
        request = json.loads(body[:end])
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the request is not JSON: {error}") from None
    inputs = request.get("inputs") if isinstance(request, dict) else None
    if not isinstance(inputs, list) or len(inputs) != 1 or not isinstance(inputs[0], dict):
        raise Refusal(422, ONE_INPUT)
    tensor = inputs[0]
    size = parameter(tensor, "binary_data_size")
    if size is not None:
        if length is None or not isinstance(size, int) or size != len(body) - end:
            raise Refusal(400, f"binary_data_size is {str(size)[:40]}, but {len(body) - end} bytes come after the JSON")
        data: Any = body[end:]
    else:
        data = tensor.get("data")
    return Asked(
        pictures_of(tensor.get("name"), tensor.get("datatype"), tensor.get("shape"), data),
        wanted_of(request),
        outputs_of(request),
        request.get("id") if isinstance(request.get("id"), str) else None,
    )


def pictures_of(name: Any, kind: Any, shape: Any, data: Any) -> list[Numpy | bytes]:
    """The pictures of a request's input.

    Parameters
    ----------
    name, kind, shape
        As the request has them.
    data
        Of `image` the bytes of files, each behind its length, or a list of them, as bytes or as texts of base64. Of `pixels`
        bytes, or lists of numbers.

    Raises Refusal.
    """
    known = {name: kind for name, kind, _ in INPUTS}
    if not isinstance(name, str) or known.get(name, "") != kind:
        raise Refusal(422, f"the input is {name!r} of {kind!r}; it must be image of BYTES or pixels of UINT8")
    if not isinstance(shape, list) or len(shape) > AXES or not all(type(n) is int and 0 < n < 1 << 31 for n in shape):
        raise Refusal(
            422, f"the shape of {name} is {str(shape)[:80]}; it is a list of at most {AXES} whole numbers from 1"
        )
    pictures = files(data, shape) if name == "image" else pixels(data, shape)
    if len(pictures) > PICTURES:
        raise Refusal(413, f"a request has at most {PICTURES} pictures, this one {len(pictures)}")
    return pictures


def wanted_of(request: Mapping[str, Any]) -> Wanted:
    """What a request's parameters ask of the detections. Raises Refusal."""
    return Wanted(share(request, "threshold"), share(request, "overlap"))


def parameter(of: Mapping[str, Any], name: str) -> Any:
    """A parameter of a request, an input or an output; None where it is missing."""
    values = of.get("parameters")
    return values.get(name) if isinstance(values, dict) else None


def share(request: Mapping[str, Any], name: str) -> float | None:
    """A parameter from 0 to 1. Raises Refusal."""
    value = parameter(request, name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1):
        raise Refusal(422, f"the parameter {name} is {str(value)[:40]}, not a number from 0 to 1")
    return value


def files(data: Any, shape: list[int]) -> list[Numpy | bytes]:
    """The bytes of files: each behind its length in 4 bytes, or a list of them, in JSON as base64."""
    result: list[Numpy | bytes] = []
    if isinstance(data, bytes):
        at = 0
        while at < len(data):
            if at + 4 > len(data):
                raise Refusal(400, "the bytes of image end within a length")
            (count,) = struct.unpack_from("<I", data, at)
            if at + 4 + count > len(data):
                raise Refusal(400, f"a file of image has {count} bytes, but {len(data) - at - 4} come")
            result.append(data[at + 4 : at + 4 + count])
            at += 4 + count
    else:
        for text in flat(data):
            if isinstance(text, bytes):
                result.append(text)
                continue
            try:
                result.append(base64.b64decode(text if isinstance(text, str) else "?", validate=True))
            except (binascii.Error, ValueError):
                raise Refusal(422, "an image in JSON is a file in base64; or send binary tensors") from None
    if len(result) != math.prod(shape):
        raise Refusal(422, f"image has the shape {shape}, but {len(result)} files")
    return result


def pixels(data: Any, shape: list[int]) -> list[Numpy | bytes]:
    """Pictures of a tensor (N, H, W, 3) or (H, W, 3)."""
    if len(shape) == 3:
        shape = [1, *shape]
    if len(shape) != 4 or shape[3] != 3:
        raise Refusal(422, f"pixels has the shape {shape}; it must be N x H x W x 3, or H x W x 3")
    if isinstance(data, bytes):
        values = np.frombuffer(data, np.uint8)
    else:
        numbers = flat(data)
        if not all(type(value) is int and 0 <= value <= 255 for value in numbers):
            raise Refusal(422, "pixels are whole numbers from 0 to 255")
        values = np.array(numbers, np.uint8)
    if values.size != math.prod(shape):
        raise Refusal(422, f"pixels has the shape {shape}, but {values.size} numbers")
    return list(values.reshape(shape))


def flat(data: Any) -> list[Any]:
    """The values of a list, or of lists in it, row by row. Raises Refusal with 422 for what is none."""
    if not isinstance(data, list):
        raise Refusal(422, "the input has no data: a list in JSON, or bytes after it with binary_data_size")
    values: list[Any] = data
    while values and isinstance(values[0], list):
        if not all(isinstance(row, list) for row in values):
            raise Refusal(422, "data is a list of values or of lists, not of both")
        values = [value for row in values for value in row]
    return values


def outputs_of(request: Mapping[str, Any]) -> dict[str, bool]:
    """The outputs that are asked for, all by default, and whether each is sent as bytes. Raises Refusal."""
    names = [name for name, _, _ in OUTPUTS]
    binary = parameter(request, "binary_data_output") is True
    rows = request.get("outputs")
    if not rows:
        return dict.fromkeys(names, binary)
    result = {}
    for row in rows if isinstance(rows, list) else [None]:
        name = row.get("name") if isinstance(row, dict) else None
        if name not in names or not isinstance(row, dict):
            raise Refusal(422, f"there is no output {name!r}; there are {', '.join(names)}")
        own = parameter(row, "binary_data")
        result[name] = binary if own is None else own is True
    return result


@dataclass
class Tensor:
    """An output: its values row by row, of BYTES a list of bytes, and the same as the protocol's bytes."""

    name: str
    kind: str
    shape: list[int]
    values: Numpy | list[bytes]

    def tobytes(self) -> bytes:
        """Little-endian; each text behind its length in 4 bytes."""
        if isinstance(self.values, list):
            return b"".join(struct.pack("<I", len(text)) + text for text in self.values)
        return self.values.astype(self.values.dtype.newbyteorder("<")).tobytes()

    def tolist(self) -> list[Any]:
        """Flat, as JSON has it."""
        return (
            [text.decode() for text in self.values] if isinstance(self.values, list) else self.values.ravel().tolist()
        )


def tensors(asked: Asked, detections: Sequence[Detections]) -> list[Tensor]:
    """The outputs that a request asks for, in the protocol's order."""
    values: dict[str, Any] = {
        "boxes": np.concatenate([each.boxes for each in detections]),
        "scores": np.concatenate([each.scores for each in detections]),
        "class_ids": np.concatenate([each.class_ids for each in detections]),
        "class_names": [(one or "").encode() for each in detections for one in each.class_names],
        "picture": np.repeat(np.arange(len(detections)), [len(each) for each in detections]),
    }
    result = []
    for name, kind, shape in OUTPUTS:
        if name in asked.outputs:
            value = values[name]
            plain = value if kind == "BYTES" else np.ascontiguousarray(value, DTYPES[kind])
            result.append(Tensor(name, kind, [len(value), *shape[1:]], plain))
    return result


def answer(name: str, asked: Asked, detections: Sequence[Detections]) -> tuple[bytes, dict[str, str]]:
    """The body of an answer over HTTP, and its headers."""
    rows, tail = [], b""
    for tensor in tensors(asked, detections):
        row: dict[str, Any] = {"name": tensor.name, "datatype": tensor.kind, "shape": tensor.shape}
        if asked.outputs[tensor.name]:
            data = tensor.tobytes()
            row["parameters"] = {"binary_data_size": len(data)}
            tail += data
        else:
            row["data"] = tensor.tolist()
        rows.append(row)
    head: dict[str, Any] = {"model_name": name, "model_version": VERSION, "outputs": rows}
    if asked.id is not None:
        head["id"] = asked.id
    text = json.dumps(head).encode()
    if not any(asked.outputs.values()):
        return text, {"content-type": "application/json"}
    return text + tail, {"content-type": "application/octet-stream", JSON_LENGTH: str(len(text))}
