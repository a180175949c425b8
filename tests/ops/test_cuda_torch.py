"""Torch's own CUDA tensors: results, gradients, streams, memory that torch gives away again, and a Net in the same process.

What a stand-in for torch can show is in test_cuda_ops.py; these need a GPU and a torch that uses it.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest
from harness import close
from test_ops import CASES, IDS, IMAGES, RNG, ROIS, X, gradients

from boxpresso import Net, ops
from boxpresso.proto import parse_net

pytestmark = pytest.mark.cuda
PLACE = "cuda"


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if PLACE == "cuda" and not torch.cuda.is_available():
        pytest.skip("this torch has no GPU")
    return torch


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_results_and_gradients(torch, name, inputs, options, text):
    from boxpresso.ops import torch as differentiable

    names = gradients(name, inputs)
    tensors = {n: torch.tensor(a, device=PLACE, requires_grad=n in names) for n, a in inputs.items()}
    result = getattr(differentiable, name)(**tensors, **options)
    wanted = getattr(ops, name)(**inputs, **options)
    assert result.device == next(iter(tensors.values())).device
    close(result.detach().cpu().numpy(), wanted, rtol=1e-9, atol=1e-9, title=name)
    grad = RNG.standard_normal(result.shape)
    (result * torch.tensor(grad, device=PLACE)).sum().backward()
    for key, value in getattr(ops, name).backward(grad, **inputs, **options).items():
        close(tensors[key].grad.cpu().numpy(), value, rtol=1e-9, atol=1e-9, title=f"{name}, gradient of {key}")


@pytest.mark.parametrize(("name", "inputs", "options", "text"), IMAGES, ids=[case[0] for case in IMAGES])
def test_channels_last(torch, name, inputs, options, text):
    tensors = {n: torch.tensor(a, device=PLACE) for n, a in inputs.items()}
    x = tensors["x"].contiguous(memory_format=torch.channels_last)
    result = getattr(ops, name)(**{**tensors, "x": x}, **options)
    assert result.is_contiguous(memory_format=torch.channels_last)
    close(result.cpu().numpy(), getattr(ops, name)(**inputs, **options), rtol=1e-9, atol=1e-9, title=name)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_types(torch, dtype):
    x = torch.tensor(X, device=PLACE, dtype=getattr(torch, dtype))
    rois = torch.tensor(ROIS, device=PLACE, dtype=torch.float32)
    result = ops.roi_align(x, rois, 3, 0.5, sampling_ratio=2)
    assert result.dtype == x.dtype
    wanted = ops.roi_align(
        x.double().cpu().numpy(), ROIS.astype(np.float32).astype(np.float64), 3, 0.5, sampling_ratio=2
    )
    tolerance = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1e-5}[dtype]
    close(result.double().cpu().numpy(), wanted, rtol=tolerance, atol=tolerance, title=dtype)


def wide(torch, seed):
    """Maps and regions that take a GPU long enough for a missing wait to be seen."""
    random = np.random.default_rng(seed)
    corners = random.uniform(0, 90, (200, 2))
    rois = np.concatenate([np.zeros((200, 1)), corners, corners + random.uniform(5, 30, (200, 2))], 1)
    return (
        torch.tensor(random.standard_normal((1, 64, 96, 96)), dtype=torch.float32),
        torch.tensor(rois, dtype=torch.float32),
    )


def test_streams_of_torch_are_waited_for_in_both_directions(torch):
    """What torch does before on its stream is seen, and what it does next sees the result, without a wait of the host."""
    stream = torch.cuda.Stream() if PLACE == "cuda" else None
    x, rois = wide(torch, 0)
    wanted = ops.roi_align(x * 9 - 1, rois, 7, sampling_ratio=2) * 2
    image, regions = x.to(PLACE), rois.to(PLACE)
    with torch.cuda.stream(stream):
        for _ in range(20):
            made = image
            for _ in range(8):
                made = made + image
            result = ops.roi_align(made - 1, regions, 7, sampling_ratio=2) * 2
            close(result.cpu().numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4, title="on a stream")


def test_memory_that_torch_gives_away_again_was_read_first(torch):
    """Tensors that live for the call alone: torch's allocator hands their memory to the next, on its own stream."""
    pairs = [wide(torch, seed) for seed in range(3)]
    wanted = [ops.roi_align(x + 1, rois, 7, sampling_ratio=2).numpy() for x, rois in pairs]
    there = [(x.to(PLACE), rois.to(PLACE)) for x, rois in pairs]
    results = [ops.roi_align(x + 1, rois * 1, 7, sampling_ratio=2) for _ in range(10) for x, rois in there]
    for i, result in enumerate(results):
        close(result.cpu().numpy(), wanted[i % 3], rtol=1e-4, atol=1e-5, title=f"call {i}")


def test_gradients_have_the_same_bits_every_time(torch):
    from boxpresso.ops import torch as differentiable

    x, rois = (tensor.to(PLACE) for tensor in wide(torch, 1))
    slopes = []
    for _ in range(4):
        leaf = x.clone().requires_grad_()
        differentiable.roi_align(leaf, rois, 7, sampling_ratio=2).square().sum().backward()
        slopes.append(leaf.grad)
    assert all(torch.equal(slopes[0], slope) for slope in slopes[1:])


def test_as_torchvision_on_the_gpu(torch):
    from boxpresso.ops import torch as ours

    try:
        import torchvision
        from torchvision.ops import roi_align  # noqa: F401  its kernels
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision: {error}")

    x, rois = (tensor.double().to(PLACE) for tensor in wide(torch, 2))
    for name, options in (
        ("roi_align", dict(output_size=7, spatial_scale=0.5, sampling_ratio=2, aligned=True)),
        ("roi_align", dict(output_size=(3, 2), spatial_scale=0.25, sampling_ratio=-1, aligned=False)),
        ("roi_pool", dict(output_size=7, spatial_scale=0.5)),
        ("ps_roi_pool", dict(output_size=4, spatial_scale=0.5)),
        ("ps_roi_align", dict(output_size=4, spatial_scale=0.5, sampling_ratio=2)),
    ):
        results, slopes = [], []
        for library in (ours, torchvision.ops):
            leaf = x.clone().requires_grad_()
            results.append(getattr(library, name)(leaf, rois, **options))
            results[-1].square().sum().backward()
            slopes.append(leaf.grad.cpu().numpy())
        close(*(r.detach().cpu().numpy() for r in results), rtol=1e-9, atol=1e-9, title=name)
        close(*slopes, rtol=1e-8, atol=1e-8, title=f"{name}, gradient")
    boxes, scores = rois[:, 1:].contiguous(), torch.rand(len(rois), device=PLACE, dtype=torch.float64)
    assert torch.equal(ops.nms(boxes, scores, 0.4), torchvision.ops.nms(boxes, scores, 0.4))


NET = """
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 dim: 16 dim: 16 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c"
  convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }"""


def test_a_net_beside_torch(torch, monkeypatch):
    """Work in turns, on one GPU in one process: torch's current GPU and its tensors stay, and so do the net's."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    net = Net(parse_net(NET), device=PLACE, seed=3)
    x = RNG.standard_normal((1, 3, 16, 16)).astype(np.float32)
    weights, bias = (torch.tensor(np.array(blob.data)).to(PLACE) for blob in net.params["c"])
    for _ in range(5):  # from the third forward on the net is a graph
        theirs = torch.relu(torch.nn.functional.conv2d(torch.tensor(x, device=PLACE), weights, bias))
        ours = net.forward(x=x)["c"]
        close(np.array(ours), theirs.cpu().numpy(), rtol=1e-4, atol=1e-5, title="the same convolution")
        if PLACE == "cuda":
            assert torch.cuda.current_device() == 0
    del net
    gc.collect()
    assert float((weights * 0).sum()) == 0.0  # torch's context still works
