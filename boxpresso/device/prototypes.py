"""What the functions of NVIDIA's libraries take, as their headers have it: ctypes would pass every number as 32 bits.

tests/device/test_cuda_prototypes.py compares this with cuda.h, cublas_v2.h, cudnn.h and nccl.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

P, C, U = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint  # a pointer or handle, an int or enumeration, an unsigned
Z, D, L, X = ctypes.c_size_t, ctypes.c_double, ctypes.c_longlong, ctypes.c_ulonglong
S = ctypes.c_char_p


class UniqueId(ctypes.Structure):
    """ncclUniqueId: by what the ranks of a communicator find each other. It is passed by value."""

    _fields_ = [("internal", ctypes.c_byte * 128)]


Prototypes = Mapping[str, tuple[type, ...]]  # by name: the result, then the arguments

DRIVER: Prototypes = {
    "cuDriverGetVersion": (C, P),
    "cuCtxSetCurrent": (C, P),
    "cuCtxPushCurrent_v2": (C, P),
    "cuCtxGetCurrent": (C, P),
    "cuCtxPopCurrent_v2": (C, P),
    "cuGetErrorString": (C, C, P),
    "cuEventCreate": (C, P, U),
    "cuEventQuery": (C, P),
    "cuEventRecord": (C, P, P),
    "cuEventDestroy_v2": (C, P),
    "cuStreamWaitEvent": (C, P, P, U),
    "cuStreamQuery": (C, P),
    "cuStreamIsCapturing": (C, P, P),
    "cuPointerGetAttribute": (C, P, C, X),
    "cuStreamBeginCapture_v2": (C, P, C),
    "cuStreamEndCapture": (C, P, P),
    "cuGraphGetNodes": (C, P, P, P),
    "cuGraphInstantiateWithFlags": (C, P, P, X),
    "cuGraphLaunch": (C, P, P),
    "cuGraphDestroy": (C, P),
    "cuGraphExecDestroy": (C, P),
}

GEMM = (C, P, C, C, C, C, C, P, P, C, P, C, P, P, C)
BATCHED = (C, P, C, C, C, C, C, P, P, C, L, P, C, L, P, P, C, L, C)
CUBLAS: Prototypes = {
    "cublasCreate_v2": (C, P),
    "cublasDestroy_v2": (C, P),
    "cublasSetStream_v2": (C, P, P),
    "cublasSetWorkspace_v2": (C, P, P, Z),
    "cublasSetMathMode": (C, P, C),
    "cublasGetProperty": (C, C, P),
    "cublasGetStatusString": (S, C),
    "cublasSgemm_v2": GEMM,
    "cublasDgemm_v2": GEMM,
    "cublasSgemmStridedBatched": BATCHED,
    "cublasDgemmStridedBatched": BATCHED,
}

CHOICE = (C, P, P, P, P, P, C, P, P)
SPACE = (C, P, P, P, P, P, C, P)
CONVOLVE = (C, P, P, P, P, P, P, P, C, P, Z, P, P, P)
KINDS = ("Forward", "BackwardData", "BackwardFilter")
DESCRIPTORS = ("Tensor", "Filter", "Convolution", "Activation")  # what cuDNN describes apart
CUDNN: Prototypes = {
    "cudnnGetVersion": (Z,),
    "cudnnGetCudartVersion": (Z,),
    "cudnnGetErrorString": (S, C),
    "cudnnGetLastErrorString": (type(None), P, Z),
    "cudnnCreate": (C, P),
    "cudnnDestroy": (C, P),
    "cudnnSetStream": (C, P, P),
    **{f"cudnnCreate{kind}Descriptor": (C, P) for kind in DESCRIPTORS},
    **{f"cudnnDestroy{kind}Descriptor": (C, P) for kind in DESCRIPTORS},
    "cudnnSetTensorNdDescriptor": (C, P, C, C, P, P),
    "cudnnSetFilterNdDescriptor": (C, P, C, C, C, P),
    "cudnnSetConvolutionNdDescriptor": (C, P, C, P, P, P, C, C),
    "cudnnSetConvolutionGroupCount": (C, P, C),
    "cudnnSetConvolutionMathType": (C, P, C),
    "cudnnSetActivationDescriptor": (C, P, C, C, D),
    **{f"cudnnGetConvolution{kind}Algorithm_v7": CHOICE for kind in KINDS},
    **{f"cudnnFindConvolution{kind}Algorithm": CHOICE for kind in KINDS},
    **{f"cudnnGetConvolution{kind}WorkspaceSize": SPACE for kind in KINDS},
    **{f"cudnnConvolution{kind}": CONVOLVE for kind in KINDS},
    "cudnnConvolutionBiasActivationForward": (C, P, P, P, P, P, P, P, C, P, Z, P, P, P, P, P, P, P, P),
}
NCCL: Prototypes = {
    "ncclGetVersion": (C, P),
    "ncclGetUniqueId": (C, P),
    "ncclCommInitRankConfig": (C, P, C, UniqueId, C, P),
    "ncclCommGetAsyncError": (C, P, P),
    "ncclCommAbort": (C, P),
    "ncclGetErrorString": (S, C),
    "ncclGetLastError": (S, P),
    "ncclGroupStart": (C,),
    "ncclGroupEnd": (C,),
    "ncclAllReduce": (C, P, P, Z, C, C, P, P),
}
LATER = ("cublasGetStatusString", "cudnnGetLastErrorString")  # what older versions do not have


def declare(library: ctypes.CDLL, prototypes: Prototypes) -> ctypes.CDLL:
    """Tells ctypes what the functions of a library take. Raises OSError where one is missing."""
    for name, (result, *arguments) in prototypes.items():
        function = getattr(library, name, None)
        if function is None:
            if name in LATER:
                continue
            raise OSError(f"{library._name} has no function {name}: it is not a version that can be used")
        function.restype, function.argtypes = (None if result is type(None) else result), arguments
    return library


NVRTC: Prototypes = {
    "nvrtcVersion": (C, P, P),
    "nvrtcGetNumSupportedArchs": (C, P),
    "nvrtcGetSupportedArchs": (C, P),
    "nvrtcGetErrorString": (S, C),
    "nvrtcCreateProgram": (C, P, S, S, C, P, P),
    "nvrtcCompileProgram": (C, P, C, P),
    "nvrtcDestroyProgram": (C, P),
    "nvrtcGetProgramLogSize": (C, P, P),
    "nvrtcGetProgramLog": (C, P, P),
    "nvrtcGetCUBINSize": (C, P, P),
    "nvrtcGetCUBIN": (C, P, P),
    "nvrtcGetPTXSize": (C, P, P),
    "nvrtcGetPTX": (C, P, P),
}
