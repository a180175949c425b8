"""boxpresso.ops with torch's tensors, and boxpresso.ops.torch: results, gradients, and torchvision's."""

from __future__ import annotations

import copy
import ctypes
import importlib
import pickle
from functools import partial

import numpy as np
import pytest
from harness import close
from test_ops import CASES, IDS, IMAGES, MAPS, MASK, OFFSET, RNG, ROIS, ROTATED, X, gradients

from boxpresso import ops
from boxpresso.device import open_device
from boxpresso.device.signature import BFLOAT16
from boxpresso.ops import arrays
from boxpresso.proto.errors import BoxpressoError

BFLOAT = ("roi_align", "permute", "prroi_pool")  # cases in bfloat16 that every run has


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_torch(torch, name, inputs, options, text):
    op = getattr(ops, name)
    result = op(**{n: torch.tensor(a) for n, a in inputs.items()}, **options)
    assert isinstance(result, torch.Tensor)
    assert np.array_equal(result.numpy(), op(**inputs, **options))
    x = torch.tensor(X)
    assert ctypes.c_void_p(arrays.take(x, open_device("cpu")).ctypes.data).value == x.data_ptr()


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_torch_autograd(torch, name, inputs, options, text):
    from boxpresso.ops import torch as differentiable

    names = gradients(name, inputs)
    tensors = {n: torch.tensor(a, requires_grad=n in names) for n, a in inputs.items()}
    result = getattr(differentiable, name)(**tensors, **options)
    grad = RNG.standard_normal(result.shape)
    (result * torch.tensor(grad)).sum().backward()
    for key, value in getattr(ops, name).backward(grad, **inputs, **options).items():
        assert np.array_equal(tensors[key].grad.numpy(), value), key


@pytest.mark.parametrize(("name", "inputs", "options", "text"), IMAGES, ids=[case[0] for case in IMAGES])
def test_torch_channels_last(torch, name, inputs, options, text):
    """torch's memory format of an image is that of the result and of the gradient."""
    from boxpresso.ops import torch as differentiable

    inputs = {n: torch.tensor(a) for n, a in inputs.items()}
    x = inputs["x"].contiguous(memory_format=torch.channels_last).requires_grad_()
    result = getattr(differentiable, name)(**{**inputs, "x": x}, **options)
    assert result.is_contiguous(memory_format=torch.channels_last)
    wanted = getattr(ops, name)(**inputs, **options)
    assert torch.equal(result, wanted)
    result.backward(wanted)
    assert torch.equal(x.grad, getattr(ops, name).backward(wanted, **inputs, **options)["x"])


def test_torch_gradcheck(torch):
    from boxpresso.ops import torch as differentiable

    x, rois = torch.tensor(X[:, :2], requires_grad=True), torch.tensor(ROIS[:3])
    assert torch.autograd.gradcheck(lambda a: differentiable.roi_align(a, rois, 2, 0.5), (x,))
    moved = torch.tensor(OFFSET[:3] / 4, requires_grad=True), torch.tensor(MASK[:3], requires_grad=True)
    pool = differentiable.modulated_deform_roi_pool
    assert torch.autograd.gradcheck(lambda a, o, m: pool(a, rois, o, m, (3, 2), 0.5, 2), (x, *moved))


def test_torch_gradcheck_of_regions(torch):
    from boxpresso.ops import torch as differentiable

    x, index = torch.tensor(X[:, :2]), torch.tensor(ROIS[:3, :1])
    corners = torch.tensor(ROIS[:3, 1:] + 0.3, requires_grad=True)
    for align in (differentiable.roi_align, differentiable.prroi_pool):
        options = {"sampling_ratio": 2} if align is differentiable.roi_align else {}
        assert torch.autograd.gradcheck(
            lambda c, f=align, o=options: f(x, torch.cat([index, c], 1), 2, 0.5, **o), (corners,)
        )
    sides = torch.tensor(ROTATED[:3, 1:] + 0.3, requires_grad=True)
    rotated = differentiable.roi_align_rotated
    assert torch.autograd.gradcheck(lambda c: rotated(x, torch.cat([index, c], 1), 2, 0.5, 2), (sides,))


def test_torch_says_when_a_gradient_would_be_lost(torch):
    with pytest.raises(BoxpressoError, match=r"boxpresso\.ops\.torch"):
        ops.roi_align(torch.tensor(X, requires_grad=True), torch.tensor(ROIS), 2)


def test_torch_sees_a_change_in_place(torch):
    from boxpresso.ops import torch as differentiable

    x = torch.tensor(X, requires_grad=True)
    y = x * 1
    result = differentiable.roi_align(y, torch.tensor(ROIS), 2)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


@pytest.mark.parametrize("pool", ["roi_pool", "roi_align"])
def test_a_graph_goes_backward_again_behind_another(torch, pool):
    """Where the maxima of another graph's map lie is not where this one's do. The second map is the first turned over."""
    from boxpresso.ops import torch as differentiable

    options = {"pool_mode": "max", "sampling_ratio": 2} if pool == "roi_align" else {}
    maps = [torch.tensor(x, requires_grad=True) for x in (X, -X)]
    run = partial(getattr(differentiable, pool), rois=torch.tensor(ROIS), output_size=2, spatial_scale=0.5, **options)
    result = run(maps[0])
    first = torch.autograd.grad(result.sum(), maps[0], retain_graph=True)[0]
    torch.autograd.grad(run(maps[1]).sum(), maps[1])
    again = torch.autograd.grad(result.sum(), maps[0])[0]
    assert first.any()
    assert torch.equal(again, first)


def test_arrays_and_lists_beside_what_asks_for_a_gradient(torch):
    from boxpresso.ops import torch as differentiable

    x = torch.tensor(X, requires_grad=True)
    slopes = [
        torch.autograd.grad(differentiable.roi_align(x, rois, 2).sum(), x)[0] for rois in (ROIS, torch.tensor(ROIS))
    ]
    assert torch.equal(*slopes)
    value, place = torch.ones(1, 4, 1, 1, requires_grad=True), torch.full((1, 1, 1, 1, 1, 2), 0.5)
    attention, weights = differentiable.multi_scale_deformable_attn, torch.ones(1, 1, 1, 1, 1)
    slope = torch.func.grad(lambda value: attention(value, [[2, 2]], [0], place, weights).sum())(value.detach())
    attention(value, [[2, 2]], [0], place, weights).sum().backward()
    assert slope.flatten().tolist() == value.grad.flatten().tolist() == [0.25] * 4
    with pytest.raises(
        BoxpressoError, match="roi_align: x must be a tensor where an input asks for a gradient, got ndarray"
    ):
        differentiable.roi_align(X, torch.tensor(ROIS, requires_grad=True), 2)


def test_operators_are_pickled_by_name(torch):
    from boxpresso.ops import torch as differentiable

    functions = [differentiable.roi_align, differentiable.nms, ops.roi_align, ops.nms]
    assert pickle.loads(pickle.dumps(functions)) == functions
    assert copy.deepcopy(ops.roi_align) is ops.roi_align


def test_what_cannot_be_taken_is_named(torch):
    from boxpresso.ops import torch as differentiable

    rois = torch.tensor(ROIS)
    with pytest.raises(BoxpressoError, match=r"this Tensor cannot be taken: .*meta"):
        differentiable.roi_align(torch.ones(1, 1, 4, 4, device="meta"), rois, 2)
    with pytest.raises(BoxpressoError, match=r"an array of torch\.float8_e4m3fn cannot be taken"):
        differentiable.roi_align(torch.ones(1, 1, 4, 4).to(torch.float8_e4m3fn), rois, 2)
    with pytest.raises(BoxpressoError, match="features has no level"):
        differentiable.multi_scale_roi_align([], rois, 2)
    with pytest.raises(BoxpressoError, match="rois must be an array, got None"):
        differentiable.multi_scale_roi_align([torch.tensor(X)], None, 2)


def test_views_of_negative_numbers(torch):
    """Their bits are those of the other sign."""
    from boxpresso.ops import torch as differentiable

    for dtype in (torch.float32, torch.bfloat16):
        x = torch.tensor(X).to(dtype)
        assert torch.equal(differentiable.roi_align(torch._neg_view(-x), ROIS, 2), differentiable.roi_align(x, ROIS, 2))


@pytest.fixture
def torchvision(torch):
    try:
        import torchvision
        from torchvision.ops import roi_align  # noqa: F401  its kernels
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision: {error}")
    return torchvision.ops


def test_as_torchvision(torch, torchvision):
    from boxpresso.ops import torch as ours

    rois = torch.tensor(ROIS[:3])
    for name, maps, options in (
        ("roi_align", X, dict(output_size=(3, 2), spatial_scale=0.5, sampling_ratio=2, aligned=True)),
        ("roi_align", X, dict(output_size=2, spatial_scale=0.25, sampling_ratio=-1, aligned=False)),
        ("roi_pool", X, dict(output_size=(3, 2), spatial_scale=0.5)),
        ("ps_roi_pool", MAPS, dict(output_size=2, spatial_scale=0.5)),
        ("ps_roi_align", MAPS, dict(output_size=2, spatial_scale=0.5)),
    ):
        results, slopes = [], []
        for library in (ours, torchvision):
            x = torch.tensor(maps, requires_grad=True)
            results.append(getattr(library, name)(x, rois, **options))
            grad = torch.tensor(np.random.default_rng(1).standard_normal(results[0].shape))
            (results[-1] * grad).sum().backward()
            slopes.append(x.grad.numpy())
        close(results[0].detach().numpy(), results[1].detach().numpy(), rtol=1e-9, atol=1e-9, title=name)
        close(*slopes, rtol=1e-9, atol=1e-9, title=f"{name}, gradient")
    low = torch.rand(500, 2) * 40
    boxes, scores, classes = (
        torch.cat([low, low + 1 + torch.rand(500, 2) * 20], 1),
        torch.rand(500),
        torch.arange(500) % 4,
    )
    for threshold in (0.1, 0.5, 0.9):
        assert torch.equal(ops.nms(boxes, scores, threshold), torchvision.nms(boxes, scores, threshold))
    assert torch.equal(
        ops.batched_nms(boxes, scores, classes, 0.4), torchvision.batched_nms(boxes, scores, classes, 0.4)
    )


@pytest.mark.parametrize(
    ("name", "inputs", "options", "text"),
    [pytest.param(*c, id=i, marks=[] if c[0] in BFLOAT else pytest.mark.slow) for c, i in zip(CASES, IDS)],
)
def test_bfloat16_is_rounded_once(torch, name, inputs, options, text):
    """Images in bfloat16 give what the same numbers in float32 give, rounded to nearest, and so do their gradients."""
    ours = importlib.import_module("boxpresso.ops.torch")
    image = next(iter(inputs))
    wide = {n: torch.tensor(a, dtype=torch.float32) for n, a in inputs.items()}
    wide[image] = wide[image].bfloat16().float()
    low = {**wide, image: wide[image].bfloat16()}
    for tensors in (wide, low):
        for n in gradients(name, inputs):
            tensors[n] = tensors[n].detach().requires_grad_()
    results = [getattr(ours, name)(**tensors, **options) for tensors in (wide, low)]
    assert results[1].dtype == torch.bfloat16
    assert torch.equal(results[1].detach(), results[0].detach().bfloat16())
    grad = torch.tensor(np.random.default_rng(2).standard_normal(results[0].shape)).bfloat16()
    for result in results:
        result.backward(grad.to(result.dtype))
    assert low[image].grad.dtype == torch.bfloat16
    assert torch.equal(low[image].grad, wide[image].grad.bfloat16())
    plain = getattr(ops, name)(**{n: a.detach() for n, a in low.items()}, **options)
    assert torch.equal(plain, results[1].detach())


def test_bfloat16_of_channels_last_and_of_other_operators(torch):
    ours = importlib.import_module("boxpresso.ops.torch")
    x, rois = torch.tensor(X).bfloat16(), torch.tensor(ROIS).float()
    one = ours.roi_align(x, rois, 2, 0.5)
    last = ours.roi_align(x.contiguous(memory_format=torch.channels_last), rois, 2, 0.5)
    assert torch.equal(one, last)
    assert last.is_contiguous(memory_format=torch.channels_last)
    pyramid = ops.multi_scale_roi_align([x, x[:, :, ::2, ::2]], rois, 2, (0.5, 0.25))
    assert pyramid.dtype == torch.bfloat16
    masks, boxes = torch.rand(4, 5, 6).bfloat16(), rois[:, 1:]
    pasted = ops.paste_masks(masks, boxes, (20, 22), None)
    assert torch.equal(pasted, ops.paste_masks(masks.float(), boxes, (20, 22), None).bfloat16())
    scores = torch.tensor([0.5, 0.25, 0.75, 1])
    assert (
        ops.nms(boxes.bfloat16(), scores.bfloat16(), 0.5).tolist()
        == ops.nms(boxes.bfloat16().float(), scores, 0.5).tolist()
    )
    wild = torch.tensor([[1, np.nan, np.inf, -np.inf, 3.4e38, 1e-40, 65535]], dtype=torch.float32)
    bits = torch.tensor(arrays.cast_to(wild.numpy(), BFLOAT16).view(np.int16)).view(torch.bfloat16)
    assert np.array_equal(bits.float().numpy(), wild.bfloat16().float().numpy(), equal_nan=True)
    permuted = ops.permute(wild.bfloat16(), (1, 0))
    assert np.array_equal(permuted.float().numpy(), wild.bfloat16().float().numpy().T, equal_nan=True)


def test_lists_of_boxes_in_16_bits_and_of_no_images(torch):
    """The number of an image is exact where its boxes are of 16 bits; no images have no regions."""
    ours = importlib.import_module("boxpresso.ops.torch")
    x = torch.zeros(300, 1, 4, 4, dtype=torch.bfloat16)
    x[299] = 1
    boxes = [torch.zeros(0, 4, dtype=torch.bfloat16)] * 299 + [torch.tensor([[0, 0, 4, 4]], dtype=torch.bfloat16)]
    for library in (ours, ops):
        assert library.roi_align(x, boxes, 1).item() == 1
        for name in ("roi_align", "roi_pool", "roi_align_rotated", "rotate_roi_pool"):
            more = [torch.ones(1, 3)] if name == "rotate_roi_pool" else []
            assert getattr(library, name)(x[:0], [], *more, 2).shape == (0, 1, 2, 2), name
        assert library.multi_scale_roi_align([x[:0], x[:0]], [], 2, (1, 0.5)).shape == (0, 1, 2, 2)
    empty = x[:0].requires_grad_()
    ours.roi_align(empty, [], 2).sum().backward()
    assert empty.grad.shape == (0, 1, 4, 4)


def test_bfloat16_of_numpy():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    x = X.astype(ml_dtypes.bfloat16)
    result = ops.roi_align(x, ROIS, 2, 0.5)
    assert result.dtype == ml_dtypes.bfloat16
    assert np.array_equal(result, ops.roi_align(x.astype(np.float32), ROIS, 2, 0.5).astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_autocast_leaves_operators_as_they_are(torch, name, inputs, options, text):
    """Results and gradients are those outside, of arrays of 16 bits beside float32 too: arithmetic is in float32 anyway."""
    ours = importlib.import_module("boxpresso.ops.torch")
    first = next(iter(inputs))
    for dtype in (torch.float32, torch.bfloat16):
        tensors = {n: torch.tensor(a).to(dtype if n == first else torch.float32) for n, a in inputs.items()}
        tensors[first].requires_grad_()
        results = []
        for enabled in (False, True):
            tensors[first].grad = None
            with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
                result = getattr(ours, name)(**tensors, **options)
            result.float().square().sum().backward()
            results.append((result.detach(), tensors[first].grad))
        assert results[0][0].dtype == dtype
        for one, other in zip(*results):
            assert torch.equal(one, other)


def test_dlpack_both_ways(torch):
    """What comes in, and what comes out, lies in one memory for torch and numpy."""
    ours = importlib.import_module("boxpresso.ops.torch")
    x, rois = X.astype(np.float32), ROIS.astype(np.float32)
    want = ops.roi_align(x, rois, 2, 0.5)
    there = torch.from_dlpack(want)
    assert there.data_ptr() == want.ctypes.data
    tensors = torch.from_dlpack(x), torch.from_dlpack(rois)
    assert tensors[0].data_ptr() == x.ctypes.data
    for _ in range(4):  # also of a call that is known
        result = ours.roi_align(*tensors, 2, 0.5)
        back = np.from_dlpack(result)
        assert back.ctypes.data == result.data_ptr()
        assert np.array_equal(back, want)
