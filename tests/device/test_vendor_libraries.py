"""NVIDIA's own cuBLAS and cuDNN, where they are installed, as far as they go without a GPU: found, and descriptors accepted."""

from __future__ import annotations

import ctypes
import gc
from types import SimpleNamespace

import numpy as np
import pytest
import stand_in

from boxpresso.device import cublas, cudnn
from boxpresso.layers.dense.columns import CudnnConvolution
from boxpresso.layers.dense.part_of_top import PartOfTop
from boxpresso.layers.dense.sizes import Sizes

pytestmark = pytest.mark.skipif(
    stand_in.active() or cudnn.library() is None or cublas.library() is None,
    reason="needs NVIDIA's cuBLAS and cuDNN (pip install 'boxpresso[cuda13]')",
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("fast", [False, True])
def test_cudnn_takes_our_descriptors_and_gives_our_shapes(axes, dtype, fast):
    device = SimpleNamespace(fast_math=fast, deterministic=False)
    numbers = {"image": 11, "map": 4, "kernel": 3, "stride": 2, "pad": 1, "dilation": 3}
    window = {name: (n,) * axes for name, n in numbers.items()}
    made = cudnn.Convolution(device, np.dtype(dtype), 2, 6, 9, 3, **window)
    shape = (ctypes.c_int * (axes + 2))()
    cudnn.call("cudnnGetConvolutionNdForwardOutputDim", made.by, made.x, made.w, axes + 2, shape)
    assert list(shape) == [2, 9, *window["map"]]
    del made
    gc.collect()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [2, 3])
def test_cudnn_takes_images_that_are_further_apart(axes, dtype):
    """As a concatenation of several images has them."""
    one = (1,) * axes
    sizes = Sizes(3, 6, 9, 3, (11,) * axes, (11,) * axes, one, one, (0,) * axes, one)
    device = SimpleNamespace(fast_math=False, deterministic=False)
    convolution = SimpleNamespace(sizes=sizes, device=device, by_axis=CudnnConvolution.by_axis)
    step = 20 * 11**axes
    made = PartOfTop(convolution, np.dtype(dtype), step)  # type: ignore[arg-type]
    count, kind, arrays = ctypes.c_int(), ctypes.c_int(), [(ctypes.c_int * (axes + 2))() for _ in range(2)]
    cudnn.call("cudnnGetTensorNdDescriptor", made.by.y, axes + 2, ctypes.byref(kind), ctypes.byref(count), *arrays)
    assert list(arrays[0]) == [3, 9, *(11,) * axes]
    assert list(arrays[1]) == [step, *(11**n for n in range(axes, -1, -1))]


@pytest.mark.parametrize("group", [1, 3, 6])
def test_cudnn_takes_channels_last(group):
    device = SimpleNamespace(fast_math=False, deterministic=False)
    window = {"image": (11, 10), "map": (4, 10), "kernel": (3, 1), "stride": (2, 1), "pad": (1, 0), "dilation": (3, 2)}
    made = cudnn.Convolution(device, np.dtype(np.float32), 2, 6, 12, group, **window, last=True)
    shape, steps = (ctypes.c_int * 4)(), (ctypes.c_int * 4)()
    cudnn.call("cudnnGetConvolutionNdForwardOutputDim", made.by, made.x, made.w, 4, shape)
    assert list(shape) == [2, 12, 4, 10]
    kind, count = ctypes.c_int(), ctypes.c_int()
    refs = (ctypes.byref(kind), ctypes.byref(count))
    cudnn.call("cudnnGetTensorNdDescriptor", made.x, 4, *refs, shape, steps)
    assert (list(shape), list(steps)) == ([2, 6, 11, 10], [660, 1, 60, 6])
    form = ctypes.c_int()
    cudnn.call(
        "cudnnGetFilterNdDescriptor", made.w, 4, ctypes.byref(kind), ctypes.byref(form), ctypes.byref(count), shape
    )
    assert (form.value, list(shape)) == (cudnn.NHWC, [12, 6 // group, 3, 1])


def test_all_that_is_called_is_there():
    kinds = [f"cudnnConvolution{kind}" for kind in (*cudnn.KINDS, "BiasActivationForward")]
    chosen = [f"cudnnGetConvolution{kind}Algorithm_v7" for kind in cudnn.KINDS]
    chosen += [f"cudnnFindConvolution{kind}Algorithm" for kind in cudnn.KINDS]
    for name in (*kinds, *chosen, "cudnnCreate", "cudnnDestroy", "cudnnSetStream", "cudnnGetErrorString"):
        assert hasattr(cudnn.library(), name), name
    for name in (
        "Create_v2",
        "Destroy_v2",
        "SetStream_v2",
        "SetWorkspace_v2",
        "SetMathMode",
        "SgemmStridedBatched",
        "GetProperty",
    ):
        assert hasattr(cublas.library(), f"cublas{name}"), name
    assert all(part.isdigit() for part in (*cudnn.version().split("."), *cublas.version().split(".")))
