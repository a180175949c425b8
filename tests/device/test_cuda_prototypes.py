"""What ctypes is told of NVIDIA's functions, against their headers: every name, every argument, every result.

cuda.h is the CUDA toolkit's, or of the wheels that the stand-in is built with; the libraries' headers are in their wheels.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from stand_in import run

from boxpresso.device import cublas, cuda, cudnn, graph, libraries, nccl, prototypes, side

TEXT = r"""
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include HEADER
template <class T> char letter() {
  if (std::is_void<T>::value) return 'v';
  if (std::is_same<T, const char*>::value) return 's';
  if (std::is_pointer<T>::value) return 'p';
  if (std::is_floating_point<T>::value) return sizeof(T) == 8 ? 'd' : 'f';
  if (std::is_class<T>::value) return sizeof(T) == 128 ? 'o' : '?';
  if (std::is_enum<T>::value) return sizeof(T) == 4 ? 'i' : '?';
  return sizeof(T) == 8 ? (std::is_signed<T>::value ? 'l' : 'x') : sizeof(T) == 4 ? (std::is_signed<T>::value ? 'i' : 'u') : '?';
}
template <class R, class... A> void tell(const char* name, R (*)(A...)) {
  const char letters[] = {letter<R>(), letter<A>()..., 0};
  printf("%s %s\n", name, letters);
}
#define TELL(name) tell(#name, static_cast<decltype(&name)>(nullptr));
int main() {
"""
LETTERS = {
    prototypes.P: "p", prototypes.C: "i", prototypes.U: "u", prototypes.D: "d", prototypes.L: "l", prototypes.X: "x",
    prototypes.S: "s", type(None): "v", prototypes.UniqueId: "o",
}  # fmt: skip


def toolkit() -> Path | None:
    """The folder of cuda.h, if there is one without a download."""
    nvcc = shutil.which("nvcc")
    places = [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    places += [Path("/usr/local/cuda/include"), *sorted(run.cache().glob("headers-*/nvidia/*/include"))]
    return next((place for place in places if (place / "cuda.h").exists()), None)


def wheel(name: str, header: str) -> Path | None:
    """The folder of a header of a wheel that is installed."""
    places = [folder.parent / "include" for folder in libraries.folders(name)]
    return next((place for place in places if (place / header).exists()), None)


KINDS = {
    "driver": ("cuda.h", prototypes.DRIVER, lambda: None),
    "cublas": ("cublas_v2.h", prototypes.CUBLAS, cublas.library),
    "cudnn": ("cudnn.h", prototypes.CUDNN, cudnn.library),
    "nccl": ("nccl.h", prototypes.NCCL, nccl.library),
}


# What the numbers that we pass are called.
CONSTANTS = {
    "driver": {
        "CU_STREAM_NON_BLOCKING": cuda.NON_BLOCKING, "(size_t)CU_STREAM_LEGACY": cuda.LEGACY,
        "CU_STREAM_CAPTURE_MODE_RELAXED": graph.RELAXED, "CU_EVENT_DISABLE_TIMING": 2,
        "CUDA_ERROR_NOT_READY": side.NOT_READY,
    },
    "nccl": {
        "ncclSuccess": nccl.SUCCESS, "ncclInProgress": nccl.IN_PROGRESS, "ncclSum": nccl.SUM,
        "ncclFloat32": nccl.TYPES[np.dtype(np.float32)], "ncclFloat64": nccl.TYPES[np.dtype(np.float64)],
        "sizeof(ncclUniqueId)": ctypes.sizeof(prototypes.UniqueId), "NCCL_API_MAGIC": nccl.MAGIC,
        "NCCL_VERSION(2,14,0)": nccl.VERSION,
        **{f"offsetof(ncclConfig_t,{name})": getattr(nccl.Config, name).offset for name, _ in nccl.Config._fields_},
    },
    "cublas": {"CUBLAS_TF32_TENSOR_OP_MATH": cublas.TF32, "CUBLAS_OP_N": 0, "CUBLAS_OP_T": 1, "MAJOR_VERSION": 0},
    "cudnn": {
        "CUDNN_DATA_FLOAT": cudnn.TYPES[np.dtype(np.float32)], "CUDNN_DATA_DOUBLE": cudnn.TYPES[np.dtype(np.float64)],
        "CUDNN_CROSS_CORRELATION": cudnn.CROSS_CORRELATION, "CUDNN_TENSOR_NCHW": cudnn.NCHW, "CUDNN_TENSOR_NHWC": cudnn.NHWC,
        "CUDNN_DETERMINISTIC": cudnn.DETERMINISTIC, "CUDNN_DEFAULT_MATH": cudnn.DEFAULT_MATH, "CUDNN_FMA_MATH": cudnn.FMA_MATH,
        "CUDNN_ACTIVATION_RELU": cudnn.RELU, "CUDNN_ACTIVATION_IDENTITY": cudnn.IDENTITY,
        "CUDNN_NOT_PROPAGATE_NAN": cudnn.DROP_NAN, "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM": cudnn.PRECOMPUTED,
        "CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER": cudnn.MISALIGNED, "CUDNN_STATUS_NOT_SUPPORTED": 3000,
        **{
            f"{operator}(cudnnConvolution{kind}AlgoPerf_t{member})": number
            for kind in ("Fwd", "BwdData", "BwdFilter")
            for operator, member, number in (
                ("sizeof", "", ctypes.sizeof(cudnn.Perf)),
                ("offsetof", ", memory", cudnn.Perf.memory.offset),
                ("offsetof", ", determinism", cudnn.Perf.determinism.offset),
                ("offsetof", ", mathType", cudnn.Perf.math.offset),
            )
        },
    },
}  # fmt: skip


@pytest.mark.skipif(shutil.which(os.environ.get("CXX", "g++")) is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_declared_is_what_the_header_has(kind, tmp_path):
    header, declared, _ = KINDS[kind]
    main = toolkit()
    place = main if kind == "driver" else wheel(kind, header)
    if main is None or place is None:
        pytest.skip(f"{header} is not here")
    source = tmp_path / "ask.cpp"
    statements = [f"  TELL({name})\n" for name in declared]
    statements += [
        f'  printf("{name.replace(" ", "")} {{{number}}} %llu\\n", (unsigned long long)({name}));\n'
        for name, number in CONSTANTS[kind].items()
    ]
    source.write_text(TEXT + "".join(statements) + "}\n")
    command = [os.environ.get("CXX", "g++"), "-std=c++17", f"-I{place}", f"-I{main}", f'-DHEADER="{header}"', "-w"]
    done = subprocess.run([*command, str(source), "-o", str(tmp_path / "ask")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    said = subprocess.run([str(tmp_path / "ask")], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in said.splitlines()]
    assert not [line for line in lines if len(line) == 3 and line[1] != f"{{{line[2]}}}"]
    assert sum(len(line) == 3 for line in lines) == len(CONSTANTS[kind])
    seen = dict(line for line in lines if len(line) == 2)
    assert seen == {name: "".join(LETTERS[type_] for type_ in types) for name, types in declared.items()}


@pytest.mark.parametrize("kind", ["cublas", "cudnn", "nccl"])
def test_the_libraries_have_all_that_is_called(kind):
    """Those of the wheels, or the stand-ins."""
    library = libraries.find(kind, (13, 12, 9, 8, 2), KINDS[kind][1])
    if library is None:
        pytest.skip(f"{kind} is not here")
    assert not [name for name in KINDS[kind][1] if not hasattr(library, name)]


def test_a_library_that_lacks_a_function_is_not_used():
    with pytest.raises(OSError, match="no function cuOfTomorrow"):
        prototypes.declare(ctypes.CDLL(None), {"cuOfTomorrow": (prototypes.C,)})
