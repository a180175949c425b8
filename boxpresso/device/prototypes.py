"""What the functions of NVIDIA's libraries take, as their headers have it: ctypes would pass every number as 32 bits.

tests/test_gpu_prototypes.py compares this with cuda.h, cublas_v2.h and cudnn.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

P, I, U = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint  # a pointer or handle, an int or enumeration, an unsigned
Z, D, L, X = ctypes.c_size_t, ctypes.c_double, ctypes.c_longlong, ctypes.c_ulonglong
S = ctypes.c_char_p

Prototypes = Mapping[str, tuple[type, ...]]  # by name: the result, then the arguments

DRIVER: Prototypes = {
    "cuCtxSetCurrent": (I, P),
    "cuCtxPushCurrent_v2": (I, P),
    "cuCtxGetCurrent": (I, P),
    "cuCtxPopCurrent_v2": (I, P),
    "cuGetErrorString": (I, I, P),
    "cuEventCreate": (I, P, U),
    "cuEventRecord": (I, P, P),
    "cuEventDestroy_v2": (I, P),
    "cuStreamWaitEvent": (I, P, P, U),
    "cuStreamBeginCapture_v2": (I, P, I),
    "cuStreamEndCapture": (I, P, P),
    "cuGraphGetNodes": (I, P, P, P),
    "cuGraphInstantiateWithFlags": (I, P, P, X),
    "cuGraphLaunch": (I, P, P),
    "cuGraphDestroy": (I, P),
    "cuGraphExecDestroy": (I, P),
}

GEMM = (I, P, I, I, I, I, I, P, P, I, P, I, P, P, I)
BATCHED = (I, P, I, I, I, I, I, P, P, I, L, P, I, L, P, P, I, L, I)
CUBLAS: Prototypes = {
    "cublasCreate_v2": (I, P),
    "cublasDestroy_v2": (I, P),
    "cublasSetStream_v2": (I, P, P),
    "cublasSetWorkspace_v2": (I, P, P, Z),
    "cublasSetMathMode": (I, P, I),
    "cublasGetProperty": (I, I, P),
    "cublasGetStatusString": (S, I),
    "cublasSgemm_v2": GEMM,
    "cublasDgemm_v2": GEMM,
    "cublasSgemmStridedBatched": BATCHED,
    "cublasDgemmStridedBatched": BATCHED,
}

CHOICE = (I, P, P, P, P, P, I, P, P)
SPACE = (I, P, P, P, P, P, I, P)
CONVOLVE = (I, P, P, P, P, P, P, P, I, P, Z, P, P, P)
KINDS = ("Forward", "BackwardData", "BackwardFilter")
CUDNN: Prototypes = {
    "cudnnGetVersion": (Z,),
    "cudnnGetErrorString": (S, I),
    "cudnnGetLastErrorString": (type(None), P, Z),
    "cudnnCreate": (I, P),
    "cudnnDestroy": (I, P),
    "cudnnSetStream": (I, P, P),
    **{f"cudnnCreate{kind}Descriptor": (I, P) for kind in ("Tensor", "Filter", "Convolution", "Activation")},
    **{f"cudnnDestroy{kind}Descriptor": (I, P) for kind in ("Tensor", "Filter", "Convolution", "Activation")},
    "cudnnSetTensorNdDescriptor": (I, P, I, I, P, P),
    "cudnnSetFilterNdDescriptor": (I, P, I, I, I, P),
    "cudnnSetConvolutionNdDescriptor": (I, P, I, P, P, P, I, I),
    "cudnnSetConvolutionGroupCount": (I, P, I),
    "cudnnSetConvolutionMathType": (I, P, I),
    "cudnnSetActivationDescriptor": (I, P, I, I, D),
    **{f"cudnnGetConvolution{kind}Algorithm_v7": CHOICE for kind in KINDS},
    **{f"cudnnFindConvolution{kind}Algorithm": CHOICE for kind in KINDS},
    **{f"cudnnGetConvolution{kind}WorkspaceSize": SPACE for kind in KINDS},
    **{f"cudnnConvolution{kind}": CONVOLVE for kind in KINDS},
    "cudnnConvolutionBiasActivationForward": (I, P, P, P, P, P, P, P, I, P, Z, P, P, P, P, P, P, P, P),
}
LATER = ("cublasGetStatusString", "cudnnGetLastErrorString")  # what older versions do not have


def declare(library: ctypes.CDLL, prototypes: Prototypes) -> ctypes.CDLL:
    """Tells ctypes what the functions of a library take. Raises OSError where one is missing: the library is another version."""
    for name, (result, *arguments) in prototypes.items():
        function = getattr(library, name, None)
        if function is None:
            if name in LATER:
                continue
            raise OSError(f"{library._name} has no function {name}: it is not a version that can be used")
        function.restype, function.argtypes = (None if result is type(None) else result), arguments
    return library
