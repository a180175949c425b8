"""cuBLAS and cuDNN, on the stand-ins for them (tests/stand_in), which check every argument: products, convolutions, their lives."""

from __future__ import annotations

import ctypes
import gc
import re
import warnings

import numpy as np
import pytest
import stand_in
from harness import Rig
from test_cuda_faults import MODEL

from boxpresso import Net
from boxpresso.device import blas, context, cublas, cuda, cudnn, open_device
from boxpresso.device import libraries as vendor
from boxpresso.device.cublas import Matrices
from boxpresso.device.libraries import find
from boxpresso.device.prototypes import CUBLAS
from boxpresso.layers.dense import columns
from boxpresso.proto import parse_net
from boxpresso.proto.errors import DeviceError, DeviceLost

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.usefixtures("libraries"),
    pytest.mark.skipif(not stand_in.active(), reason="needs the stand-in driver: python tests/stand_in/run.py"),
]
RNG = np.random.default_rng(11)
# Shape of the bottom, convolution_param.
CASES = {
    "plain": ((2, 3, 9, 8), "num_output: 5 kernel_size: 3"),
    "strided": ((1, 4, 11, 10), "num_output: 6 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 3 pad_h: 1 pad_w: 2"),
    "dilated": ((2, 2, 12, 12), "num_output: 5 kernel_size: 3 dilation: 2 pad: 2"),
    "groups": ((3, 6, 7, 7), "num_output: 9 group: 3 kernel_size: 3 pad: 1"),
    "depthwise": ((2, 6, 8, 8), "num_output: 6 group: 6 kernel_size: 3 pad: 1"),
    "one by one": ((2, 8, 5, 6), "num_output: 7 kernel_size: 1"),
    "without bias": ((2, 3, 7, 7), "num_output: 5 kernel_size: 3 bias_term: false"),
    "three axes": ((1, 2, 5, 6, 7), "num_output: 5 kernel_size: 3 pad: 1"),
    "one axis": ((2, 3, 17), "num_output: 5 kernel_size: 4 stride: 2"),
}


def rig(name: str, device: str, dtype=np.float32, type="Convolution", deterministic: bool = False) -> Rig:
    shape, text = CASES[name]
    rng = np.random.default_rng(3)
    made = Rig(
        f'type: "{type}" convolution_param {{ {text} weight_filler {{ type: "gaussian" }} }}',
        [rng.standard_normal(shape)], device=device, dtype=dtype, deterministic=deterministic,
    )  # fmt: skip
    for blob in made.layer.blobs:
        blob.data[...] = rng.standard_normal(blob.shape)
    return made


def results(made: Rig) -> list[np.ndarray]:
    """Tops, bottom diffs, parameter diffs."""
    tops = made.forward()
    upstream = np.random.default_rng(4).standard_normal(tops[0].shape)
    return [*tops, *made.backward([upstream]), *made.param_diffs()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("type", ["Convolution", "Deconvolution"])
@pytest.mark.parametrize("name", CASES)
def test_convolution_by_cudnn_is_the_cpus(name, type, dtype):
    before = stand_in.counts()
    made = rig(name, "cuda", dtype, type)
    assert isinstance(made.layer.convolution, columns.CudnnConvolution)
    ours = results(made)
    assert stand_in.since(before)["library_calls"] == 3, "cuDNN does each of the three products in one call"
    for actual, wanted in zip(ours, results(rig(name, "cpu", dtype, type)), strict=True):
        np.testing.assert_allclose(
            actual, wanted, rtol=0, atol=(2e-5 if dtype == np.float32 else 1e-12) * np.abs(wanted).max()
        )


def test_bias_and_relu_are_done_by_the_call_that_convolves():
    made = rig("plain", "cuda")
    made.forward()
    before = stand_in.counts()
    made.layer.forward(made.bottom, made.top)
    grown = stand_in.since(before)
    assert (grown["library_calls"], grown["launches"]) == (1, 0)
    x, w, b = made.bottom[0].data, made.layer.blobs[0].data, made.layer.blobs[1].data
    linear = np.array(made.top[0].data)
    other = made.device.table(RNG.standard_normal(linear.shape), np.float32)
    for after, wanted in [
        (columns.Finish(b, columns.RELU), np.maximum(linear, 0)),
        (columns.Finish(b, columns.RELU, other), np.maximum(linear + np.array(other), 0)),
        (columns.Finish(b, columns.NONE, other), linear + np.array(other)),
    ]:
        before = stand_in.counts()
        made.layer.convolution.apply(x, w, made.top[0].data, after)
        assert (stand_in.since(before)["library_calls"], stand_in.since(before)["launches"]) == (1, 0)
        np.testing.assert_allclose(made.top[0].data, wanted, rtol=1e-4, atol=1e-5)
    before = stand_in.counts()  # what cuDNN has no name for is one launch of ours behind it
    leaky = columns.Finish(b, columns.Activation("LEAKY", slope=0.25), other)
    made.layer.convolution.apply(x, w, made.top[0].data, leaky)
    assert (stand_in.since(before)["library_calls"], stand_in.since(before)["launches"]) == (1, 1)
    summed = linear + np.array(other)
    np.testing.assert_allclose(made.top[0].data, np.where(summed < 0, summed / 4, summed), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("deterministic", [False, True])
def test_algorithms_are_chosen_once_and_by_what_is_wanted(deterministic, monkeypatch):
    """The stand-in puts one first that needs a terabyte, and then one for gradients whose sums have no fixed order."""
    made = rig("plain", "cuda", deterministic=deterministic)
    results(made)
    chosen = dict(made.layer.convolution.by.chosen)
    backward = cudnn.PRECOMPUTED if deterministic else 0
    assert {kind: one[0] for kind, one in chosen.items()} == {
        "Forward": cudnn.PRECOMPUTED, "BackwardData": backward, "BackwardFilter": backward,
    }  # fmt: skip
    monkeypatch.setattr(
        made.layer.convolution.by, "chosen", Once(chosen)
    )  # kept by the device for all layers of the shape
    results(made)


class Once(dict):
    """A dictionary that nothing is added to."""

    def __setitem__(self, key, value):
        raise AssertionError(f"{key} is chosen again")


@pytest.mark.parametrize("fast", [False, True])
def test_tf32_is_for_fast_math_alone(fast):
    model = parse_net("""
        layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 16 dim: 8 dim: 8 } } }
        layer { name: "c" type: "Convolution" bottom: "x" top: "c"
                convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "xavier" } } }
        layer { name: "f" type: "InnerProduct" bottom: "c" top: "f"
                inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
    """)
    x = RNG.standard_normal((1, 16, 8, 8)).astype(np.float32)
    exact = Net(model, seed=1, device="cpu", dtype=np.float64).forward(x=x, blobs=["c"])
    output = Net(model, seed=1, device="cuda", fast_math=fast, optimize=False).forward(x=x, blobs=["c"])
    for name in ("c", "f"):
        error = np.abs(output[name] - exact[name]).max() / np.abs(exact[name]).max()
        assert (error > 2e-5) == fast
        assert error < 2e-3


def test_many_products_in_one_call():
    device = cuda.Cuda(0)
    a, b = RNG.standard_normal((3, 4, 6)), RNG.standard_normal((5, 7))  # 4 x 5 of each, and one 5 x 7 for all
    left, right = device.table(a, np.float32), device.table(b, np.float32)
    for library in (True, False):
        c = device.table(np.full((3, 4, 8), np.nan), np.float32)
        layouts = Matrices(6, 24), Matrices(7), Matrices(8, 32)
        before = stand_in.counts()
        (blas.products if library else blas.tiles)(device, False, False, 4, 7, 5, 1, left, right, 0, c, layouts, 3)
        assert stand_in.since(before)["library_calls"] == int(library)
        np.testing.assert_allclose(np.array(c)[..., :7], a[..., :5] @ b, rtol=1e-4, atol=1e-5)
        assert np.isnan(np.array(c)[..., 7]).all()


@pytest.mark.parametrize(("trans_a", "trans_b"), [(False, False), (False, True), (True, False), (True, True)])
def test_a_product_over_no_terms_is_beta_times_what_is_there(trans_a, trans_b, monkeypatch):
    """cuBLAS refuses the leading dimension of 0 that a matrix without columns has."""
    device = cuda.Cuda(0)
    empty, c = device.empty((0,), np.float32), device.table(np.ones((2, 3)), np.float32)
    blas.gemm(device, trans_a, trans_b, 2, 3, 0, 1, empty, empty, 2, c)
    np.testing.assert_array_equal(c, np.full((2, 3), 2))
    blas.gemm(device, trans_a, trans_b, 2, 3, 0, 1, empty, empty, 0, c)
    np.testing.assert_array_equal(c, np.zeros((2, 3)))
    known, one = cublas.handle(device), ctypes.byref(ctypes.c_float(1))
    at = ctypes.c_void_p(c.address(True))
    with device, pytest.raises(DeviceError, match=r"cublasSgemm_v2 of cuBLAS failed with status 7.*lda 0, needs 1"):
        cublas.call("cublasSgemm_v2", known, 1, 0, 3, 2, 0, one, at, 0, at, 1, one, at, 3)


def test_handles_descriptors_and_workspaces_end_with_their_net():
    gc.collect()
    before = stand_in.counts()
    for _ in range(3):
        net = Net(parse_net(MODEL), seed=1, device="cuda")
        net.forward(x=np.zeros((2, 3, 9, 9)))
        assert stand_in.since(before)["handles"] == 2
        assert stand_in.since(before)["descriptors"] > 0
        del net
        gc.collect()
        grown = stand_in.since(before)
        assert (grown["handles"], grown["descriptors"], grown["streams"]) == (0, 0, 0)
        assert grown["held"] == 0


def test_a_handle_is_not_used_after_its_end():
    device = cuda.Cuda(0)
    known = cublas.handle(device)
    with device:
        device.ends.pop()()
        with pytest.raises(DeviceError, match="the handle is destroyed"):
            cublas.call("cublasSetMathMode", known, 0)


def test_a_shorter_workspace_than_an_algorithm_needs_is_refused(monkeypatch):
    made = rig("plain", "cuda")
    made.forward()
    by = made.layer.convolution.by
    algorithm, size, math = by.others["Forward"][0]
    assert size > 0
    monkeypatch.setitem(by.others, "Forward", [(algorithm, size - 1, math)])
    with pytest.raises(DeviceError, match=r"cuDNN failed with status 2006.*a workspace of .* bytes, algorithm 1 needs"):
        made.layer.forward(made.bottom, made.top)


@pytest.fixture
def odd_cudnn():
    """Sets what cuDNN does, for one test, whose convolutions are its own."""
    open_device("cuda").memo.pop("convolutions", None)
    yield stand_in.cudnn
    stand_in.cudnn()
    open_device("cuda").memo.pop("convolutions", None)
    open_device("cuda").fast_math = False


@pytest.mark.parametrize("math", [0, 1, 2])
@pytest.mark.parametrize("fast", [False, True])
def test_an_algorithm_counts_whatever_math_cudnn_says_that_it_is_of(odd_cudnn, math, fast):
    """The manual does not say what a heuristic says of a descriptor of FMA. The descriptor decides what is computed: it is
    exact where that is wanted, with the workspace that the algorithm then needs."""
    odd_cudnn(math=math)
    open_device("cuda").fast_math = fast
    made = rig("plain", "cuda")
    before = stand_in.counts()
    ours = results(made)
    assert stand_in.since(before)["library_calls"] == 3
    for actual, wanted in zip(ours, results(rig("plain", "cpu")), strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=0, atol=(2e-3 if fast else 2e-5) * np.abs(wanted).max())


@pytest.mark.parametrize("status", [3000, 3010, 9, 2000, 4000, 5000, 5003, 8])  # of cuDNN 9, and 9 and 8 of 8
@pytest.mark.parametrize("fast", [False, True])
def test_an_algorithm_that_is_refused_when_it_runs_gives_way_to_the_next(odd_cudnn, status, fast):
    """A heuristic promises nothing. Where no algorithm is left, columns and products do it."""
    open_device("cuda").fast_math = fast
    made, warned = rig("plain", "cuda"), 0
    wanted = results(rig("plain", "cpu"))
    for refused in (cudnn.PRECOMPUTED, 0, 2, cudnn.PRECOMPUTED, 2, cudnn.PRECOMPUTED):
        odd_cudnn(refused=refused, status=status)
        before = stand_in.counts()
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ours = results(made)
        said = f"algorithm {refused} is left out for a convolution: .* failed with status {status}"
        assert all(re.match(said, str(each.message)) for each in seen)
        warned += len(seen)
        for actual, w in zip(ours, wanted, strict=True):
            np.testing.assert_allclose(actual, w, rtol=0, atol=(2e-3 if fast else 2e-5) * np.abs(w).max())
        left = {kind: {one[0] for one in algorithms} for kind, algorithms in made.layer.convolution.by.others.items()}
        if refused == 0:
            assert left["Forward"] == ({1, 2} if fast else {2})
            assert stand_in.since(before)["library_calls"] == 3
    assert not any(left.values())
    assert stand_in.since(before)["library_calls"] > 0  # cuBLAS's
    assert (warned > 0) == (status in cudnn.FAILED)


@pytest.mark.parametrize("error", [700, 716, 719])
def test_a_lost_gpu_is_not_the_fault_of_an_algorithm(odd_cudnn, error):
    made = rig("plain", "cuda")
    results(made)
    known = list(made.layer.convolution.by.others["Forward"])
    odd_cudnn(refused=known[0][0], status=5000)
    stand_in.lose(error)
    try:
        with pytest.raises(DeviceLost, match=f"status 5000: .*; {context.LOST}"):
            made.layer.convolution.by.forward(
                *(blob.data for blob in (made.bottom[0], made.layer.blobs[0], made.top[0]))
            )
    finally:
        stand_in.lose()
    assert made.layer.convolution.by.others["Forward"] == known


def test_tf32_is_asked_for_with_aligned_arrays_alone(odd_cudnn):
    """Tensor cores read 128 bits: cuDNN may refuse arrays at other addresses. The next array may be aligned again."""
    open_device("cuda").fast_math = True
    made = rig("plain", "cuda")
    device, by = made.device, made.layer.convolution.by
    shape = made.bottom[0].shape
    whole = device.table(RNG.standard_normal(int(np.prod(shape)) + 4), np.float32)
    for start in (0, 1, 0, 4):
        made.bottom[0].data[...] = np.asarray(device.part(whole, start, shape))
        (wanted,) = made.forward()
        image = device.part(whole, start, shape)
        rest = columns.convolved(
            by, image, made.layer.blobs[0].data, made.top[0].data, columns.Finish(made.layer.blobs[1].data)
        )
        columns.finish(device, made.top[0].data, rest, 5, 42)
        assert by.math == (cudnn.FMA_MATH if start == 1 else cudnn.DEFAULT_MATH)
        assert by.chosen["Forward"][0] == cudnn.PRECOMPUTED
        np.testing.assert_allclose(np.array(made.top[0].data), wanted, rtol=0, atol=2e-3 * np.abs(wanted).max())


def test_without_an_algorithm_the_columns_do_it(monkeypatch):
    made = rig("groups", "cuda")
    wanted = results(rig("groups", "cpu"))
    monkeypatch.setattr(made.layer.convolution.by, "chosen", dict.fromkeys(cudnn.KINDS))
    before = stand_in.counts()
    for actual, w in zip(results(made), wanted, strict=True):
        np.testing.assert_allclose(actual, w, rtol=0, atol=2e-5 * np.abs(w).max())
    assert stand_in.since(before)["launches"] > 3


def test_device_query_names_what_is_found_and_what_is_missing(monkeypatch, capsys):
    from boxpresso.__main__ import main

    assert main(["device_query"]) == 0
    output = capsys.readouterr().out
    assert "cuBLAS: 13.0.0, libcublas.so.13, for matrix products\n" in output
    assert "cuDNN: 9.20.0, libcudnn.so.9, for convolutions\n" in output
    for module in (cublas, cudnn):
        monkeypatch.setattr(module, "library", lambda: None)
    assert main(["device_query"]) == 0
    output = capsys.readouterr().out
    assert (
        "cuDNN: not found, convolutions are columns and matrix products; pip install 'boxpresso[cuda13]' brings it"
        in output
    )
    assert "cuBLAS: not found, our own kernel multiplies matrices" in output


def test_libraries_can_be_left_out(monkeypatch):
    monkeypatch.setenv("BOXPRESSO_LIBRARIES", "0")
    assert find("cublas", (13,), CUBLAS) is None
    monkeypatch.delenv("BOXPRESSO_LIBRARIES")
    assert find("cublas", (13,), CUBLAS) is not None


@pytest.fixture
def answers(monkeypatch):
    """What libraries have said of their GPUs is asked again, and their handles are made again."""
    monkeypatch.setattr(vendor, "answers", {})
    monkeypatch.setattr(vendor, "refused", {})
    monkeypatch.setattr(open_device("cuda"), "memo", {})
    yield
    stand_in.no_handles()


def test_a_library_that_is_not_for_the_gpu_gives_way_with_one_warning(answers, capsys):
    """As one whose wheel is newer than the GPU that it no longer serves: the handle is refused, not the work."""
    from boxpresso.__main__ import main

    stand_in.no_handles(3007)  # cuDNN's CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH
    with pytest.warns(UserWarning, match=r"libcudnn is not used, and convolutions are columns.*status 3007") as seen:
        ours = [rig("plain", "cuda") for _ in range(2)]
    assert len(seen) == 1
    stand_in.no_handles(8)  # CUBLAS_STATUS_ARCH_MISMATCH
    device, x = cuda.Cuda(0), np.ones((3, 3))
    a, c = device.table(x, np.float32), device.empty((3, 3), np.float32)
    with pytest.warns(UserWarning, match=r"libcublas is not used, and our own kernel multiplies.*status 8") as seen:
        blas.gemm(device, False, False, 3, 3, 3, 1, a, a, 0, c)
    np.testing.assert_array_equal(np.array(c), 3 * x)
    assert len(seen) == 1
    before = stand_in.counts()
    blas.gemm(device, False, False, 3, 3, 3, 1, a, a, 0, c)
    for one in ours:
        for actual, wanted in zip(results(one), results(rig("plain", "cpu")), strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
    assert stand_in.since(before)["library_calls"] == 0
    assert main(["device_query"]) == 0
    assert "cuDNN: not used, convolutions are columns and matrix products: cudnnCreate" in capsys.readouterr().out


def test_another_failure_of_a_handle_is_an_error(answers):
    stand_in.no_handles(3)  # CUBLAS_STATUS_ALLOC_FAILED
    with pytest.raises(DeviceError, match="cublasCreate_v2 of cuBLAS failed with status 3"):
        cublas.usable(cuda.Cuda(0))
    stand_in.no_handles()
    assert cublas.usable(cuda.Cuda(0))
