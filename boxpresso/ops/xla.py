"""A function of Python as a handler of XLA's foreign function interface, over the memory of XLA's own buffers.

XLA calls a handler with a call frame, a struct of C (xla/ffi/api/c_api.h, of major version 0, which jaxlib brings), which
ctypes reads. Between XLA and Python stands xla.cpp, which refuses calls when the process ends. Written for the CPU.
"""

from __future__ import annotations

import atexit
import ctypes
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes  # jax brings it
import numpy as np

from ..device import Kernels
from ..device.host import entry_library
from ..proto.errors import BoxpressoError

ENTRY = Kernels(Path(__file__).with_name("xla.cpp"))
Size, Address = ctypes.c_size_t, ctypes.c_void_p
MAJOR = 0
METADATA = 1  # XLA_FFI_Extension_Metadata
EXECUTE = 3  # XLA_FFI_ExecutionStage_EXECUTE
STRING = 4  # XLA_FFI_AttrType_STRING
INVALID_ARGUMENT, INTERNAL = 3, 13  # XLA_FFI_Error_Code
DTYPES: dict[int, np.dtype[Any]] = {
    number: np.dtype(kind)
    for number, kind in {
        1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.uint8, 7: np.uint16, 8: np.uint32, 9: np.uint64,
        10: np.float16, 11: np.float32, 12: np.float64, 16: ml_dtypes.bfloat16,
    }.items()
}  # XLA_FFI_DataType  # fmt: skip


class Version(ctypes.Structure):
    """XLA_FFI_Api_Version."""

    _fields_ = [("size", Size), ("extension", Address), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Metadata(ctypes.Structure):
    """XLA_FFI_Metadata, as far as a handler without a state fills it."""

    _fields_ = [("size", Size), ("version", Version), ("traits", ctypes.c_uint32)]


class Extension(ctypes.Structure):
    """XLA_FFI_Metadata_Extension."""

    _fields_ = [("size", Size), ("kind", ctypes.c_int), ("next", Address), ("metadata", ctypes.POINTER(Metadata))]


class Buffer(ctypes.Structure):
    """XLA_FFI_Buffer."""

    _fields_ = [
        ("size", Size), ("extension", Address), ("dtype", ctypes.c_int), ("data", Address), ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class Buffers(ctypes.Structure):
    """XLA_FFI_Args and XLA_FFI_Rets."""

    _fields_ = [
        ("size", Size), ("extension", Address), ("count", ctypes.c_int64), ("kinds", Address),
        ("buffers", ctypes.POINTER(ctypes.POINTER(Buffer))),
    ]  # fmt: skip


class Span(ctypes.Structure):
    """XLA_FFI_ByteSpan."""

    _fields_ = [("text", Address), ("length", Size)]


class Attributes(ctypes.Structure):
    """XLA_FFI_Attrs."""

    _fields_ = [
        ("size", Size), ("extension", Address), ("count", ctypes.c_int64), ("kinds", ctypes.POINTER(ctypes.c_int)),
        ("names", ctypes.POINTER(ctypes.POINTER(Span))), ("values", ctypes.POINTER(Address)),
    ]  # fmt: skip


class Complaint(ctypes.Structure):
    """XLA_FFI_Error_Create_Args."""

    _fields_ = [("size", Size), ("extension", Address), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class Api(ctypes.Structure):
    """The beginning of XLA_FFI_Api."""

    _fields_ = [
        ("size", Size), ("extension", Address), ("version", Version), ("internal", Address),
        ("error", ctypes.CFUNCTYPE(Address, ctypes.POINTER(Complaint))),
    ]  # fmt: skip


class Frame(ctypes.Structure):
    """XLA_FFI_CallFrame."""

    _fields_ = [
        ("size", Size), ("extension", ctypes.POINTER(Extension)), ("api", ctypes.POINTER(Api)), ("context", Address),
        ("stage", ctypes.c_int), ("arguments", Buffers), ("results", Buffers), ("attributes", Attributes), ("future", Address),
    ]  # fmt: skip


handlers: list[Any] = []  # what XLA may call
Function = Callable[[bytes, Sequence[np.ndarray], Sequence[np.ndarray]], None]


def arrays_of(buffers: Buffers) -> list[np.ndarray]:
    """Buffers as arrays over their memory. Raises BoxpressoError for a dtype that numpy has not."""
    arrays = []
    for i in range(buffers.count):
        buffer = buffers.buffers[i].contents
        dtype = DTYPES.get(buffer.dtype)
        if dtype is None:
            raise BoxpressoError(f"an array of XLA's type number {buffer.dtype} cannot be taken")
        shape = buffer.dims[: buffer.rank]
        count = math.prod(shape)
        if count:
            memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(buffer.data)
            arrays.append(np.frombuffer(memory, np.uint8).view(dtype).reshape(shape))
        else:
            arrays.append(np.empty(shape, dtype))
    return arrays


def text_of(attributes: Attributes) -> bytes:
    """The text of a call's only attribute."""
    if attributes.count != 1 or attributes.kinds[0] != STRING:
        raise BoxpressoError("a handler of Boxpresso takes one attribute, a text")
    span = Span.from_address(attributes.values[0] or 0)
    return ctypes.string_at(span.text or 0, span.length)


def complaint(frame: Frame, error: BaseException) -> Any:
    """An exception as an error of XLA's."""
    code = INVALID_ARGUMENT if isinstance(error, (BoxpressoError, ValueError, TypeError)) else INTERNAL
    text = str(error) if isinstance(error, BoxpressoError) else f"{type(error).__name__}: {error}"
    args = Complaint(ctypes.sizeof(Complaint), None, text.encode("utf-8", "replace"), code)
    return frame.api.contents.error(ctypes.byref(args))


def handler(function: Function, finish: Callable[[], object]) -> Any:
    """A handler that calls function(text of the attribute, arguments, results), which writes into the results; the only one of
    a process. It is kept for as long as XLA may call it.

    finish: called when Python ends; calls that XLA makes after it are refused.

    Raises DeviceError where xla.cpp was not compiled ahead and there is no compiler.
    """

    def called(address: Any) -> Any:
        frame = address.contents
        if frame.extension and frame.extension.contents.kind == METADATA:  # which version this was written for
            metadata, api = frame.extension.contents.metadata.contents, frame.api.contents.version
            metadata.version.major, metadata.version.minor = MAJOR, api.minor if api.major == MAJOR else 0
            metadata.traits = 0
            return None
        try:
            if frame.stage == EXECUTE:
                function(text_of(frame.attributes), arrays_of(frame.arguments), arrays_of(frame.results))
        except BaseException as error:  # none may go through C
            return complaint(frame, error)
        return None

    library, entry = entry_library(ENTRY), ctypes.CFUNCTYPE(Address, ctypes.POINTER(Frame))(called)
    library.boxpresso_xla_connect(entry)
    handlers.append(entry)

    def end() -> None:
        try:
            finish()
        finally:
            library.boxpresso_xla_end()

    atexit.register(end)
    return library.boxpresso_xla_call
