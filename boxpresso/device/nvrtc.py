"""NVRTC, NVIDIA's compiler as a library: it compiles kernels for a GPU where there is no nvcc.

It needs neither a toolkit nor a host compiler, and torch's wheels for GPUs bring it.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from ..proto.errors import DeviceError, KernelError
from .libraries import find
from .prototypes import NVRTC
from .signature import HEADERS, UNFUSED, KernelFile, defines

FLAGS = ("-std=c++17", "--device-as-default-execution-space", "-w")
# There is no C library: what our texts take of its headers. Its functions are NVRTC's own.
LIMITS = """
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""
ALWAYS = """\
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
namespace std { using ::memcpy; }
"""
C_HEADERS = {"cfloat": LIMITS, "math.h": ""}


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library that is used (torch's, the pip wheel's or the toolkit's), None without one."""
    return find("nvrtc", (13, 12), NVRTC, lambda nvrtc: numbers(nvrtc)[0], "kernels are not compiled by it")


def numbers(nvrtc: ctypes.CDLL) -> tuple[int, int]:
    """The version of the CUDA that a library is of."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def version(nvrtc: ctypes.CDLL) -> str:
    """The same as a text."""
    return "NVRTC {}.{}".format(*numbers(nvrtc))


def architectures(nvrtc: ctypes.CDLL) -> list[int]:
    """The compute capabilities, such as 90, that it compiles for."""
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(known)
    return list(known)


def text_of(program: ctypes.c_void_p, size_of: Callable[..., int], read: Callable[..., int]) -> bytes:
    """What a program has: its log, its machine code, its PTX."""
    size = ctypes.c_size_t()
    if size_of(program, ctypes.byref(size)):
        return b""
    text = ctypes.create_string_buffer(max(1, size.value))
    read(program, text)
    return text.raw[: size.value]


def compiled(nvrtc: Any, kernels: KernelFile, real: str, arch: str, machine_code: bool) -> bytes:
    """A file of kernels for an architecture such as "sm_90": machine code, or PTX for one such as "compute_90".

    Raises KernelError for a text that does not compile, with NVRTC's own words, and DeviceError where NVRTC fails.
    """
    unfused = ("-fmad=false",) if UNFUSED in kernels.options else ()
    folders = (f"-I{HEADERS}", f"-I{kernels.path.parent}")
    words = [*FLAGS, f"--gpu-architecture={arch}", *unfused, *kernels.options, *defines(real), *folders]
    source = f'{ALWAYS}#line 1 "{kernels.path}"\n{kernels.path.read_text(encoding="utf-8")}'
    names = (ctypes.c_char_p * len(C_HEADERS))(*(name.encode() for name in C_HEADERS))
    texts = (ctypes.c_char_p * len(C_HEADERS))(*(text.encode() for text in C_HEADERS.values()))
    options = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    program = ctypes.c_void_p()

    def check(status: int) -> None:
        if status:
            said = nvrtc.nvrtcGetErrorString(status).decode(errors="replace")
            raise DeviceError(f"{nvrtc._name} does not compile {kernels.path.name}: {said}")

    name = kernels.path.name.encode()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name, len(C_HEADERS), texts, names))
    try:
        status = nvrtc.nvrtcCompileProgram(program, len(words), options)
        if status == 6:  # NVRTC_ERROR_COMPILATION
            log = text_of(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
            said = log.rstrip(b"\0").decode(errors="replace").strip()
            raise KernelError(f"{kernels.path} does not compile for {arch} with {version(nvrtc)}:\n{said}")
        check(status)
        if machine_code:
            return text_of(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        return text_of(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
