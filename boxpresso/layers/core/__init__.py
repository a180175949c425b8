"""What layers are made of: blobs, kernels, devices, fillers, the Layer base and its registry."""

from . import blas
from .blob import Array, Blob, Buffer, strides
from .device import build_all, devices, open_device
from .filler import fill
from .kernel import Kernels
from .layer import REGISTRY, Layer, check_arity, discover, layer_class, make_layer

__all__ = [
    "REGISTRY", "Array", "Blob", "Buffer", "Kernels", "Layer", "blas", "build_all", "check_arity", "devices", "discover",
    "fill", "layer_class", "make_layer", "open_device", "strides",
]  # fmt: skip
