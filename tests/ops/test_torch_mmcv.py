"""Our operators in the place of mmcv's and detectron2's, whose Python is stood in for by packages of a few lines."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from boxpresso.proto.errors import BoxpressoError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # torch's own warnings

RNG = np.random.default_rng(7)
X = torch.tensor(RNG.standard_normal((2, 8, 12, 14)))
LOW = RNG.uniform(0, 8, (6, 2))
ROIS = torch.tensor(np.column_stack([np.arange(6) % 2, LOW, LOW + RNG.uniform(2, 9, (6, 2))]))
TURNED = torch.tensor(np.column_stack([np.arange(6) % 2, LOW + 4, RNG.uniform(3, 8, (6, 2)), RNG.uniform(-1, 1, 6)]))
GRAD = torch.tensor(RNG.standard_normal((6, 8, 3, 2)))
MOVES = torch.tensor(RNG.uniform(-0.5, 0.5, (6, 2, 3, 2)))
SIZE, SCALE = {"pooled_height": 3, "pooled_width": 2}, {"spatial_scale": 0.5}

MMCV = {
    "mmcv/__init__.py": "",
    "mmcv/ops/__init__.py": "from . import multi_scale_deform_attn",
    "mmcv/ops/multi_scale_deform_attn.py": (
        "from importlib import import_module\next = import_module('mmcv._ext')\n"
        "def multi_scale_deformable_attn_pytorch(*args):\n    return 'theirs'\n"
        "def attend(*args):\n    return multi_scale_deformable_attn_pytorch(*args)\n"
    ),
}
DETECTRON2 = {
    "detectron2/__init__.py": "",
    "detectron2/layers/__init__.py": "",
    "detectron2/layers/deform_conv.py": "from detectron2 import _C\n",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package of some files, which is gone after the test."""
    names = ("mmcv", "detectron2")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        monkeypatch.delitem(sys.modules, name)

    def make(files: dict[str, str]) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        importlib.invalidate_caches()

    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        del sys.modules[name]


@pytest.fixture
def own():
    import boxpresso.torch

    yield boxpresso.torch
    for name in ("mmcv", "detectron2"):
        boxpresso.torch.restore(name)


@pytest.fixture
def mmcv(package, own):
    package(MMCV)
    with own.replacing("mmcv"):
        yield importlib.import_module("mmcv._ext")


def slopes(function, *tensors):
    """A result, and the gradients of sum(GRAD * result) in what is given."""
    values = [value.clone().requires_grad_() for value in tensors]
    result = function(*values)
    return [result.detach(), *torch.autograd.grad(result, values, GRAD.reshape(result.shape))]


def same(*pairs):
    for one, other in pairs:
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("aligned", [True, False])
def test_roi_align(mmcv, own, mode, aligned):
    how = {
        "aligned_height": 3,
        "aligned_width": 2,
        **SCALE,
        "sampling_ratio": 2,
        "aligned": aligned,
        "pool_mode": int(mode == "avg"),
    }
    output, places, back = torch.zeros_like(GRAD), [torch.zeros_like(GRAD) for _ in range(2)], torch.zeros_like(X)
    mmcv.roi_align_forward(X, ROIS, output, *places, **how)
    mmcv.roi_align_backward(GRAD, ROIS, *places, back, **how)
    result, slope = slopes(lambda x: own.roi_align(x, ROIS, (3, 2), 0.5, 2, aligned, mode), X)
    same((output, result), (back, slope))


def test_regions(mmcv, own):
    output, back, places = torch.zeros_like(GRAD), torch.zeros_like(X), torch.zeros_like(GRAD, dtype=torch.int32)
    mmcv.roi_pool_forward(X, ROIS, output, places, **SIZE, **SCALE)
    mmcv.roi_pool_backward(GRAD, ROIS, places, back, **SIZE, **SCALE)
    same(*zip((output, back), slopes(lambda x: own.roi_pool(x, ROIS, (3, 2), 0.5, mmcv=True), X)))

    turn = {**SIZE, **SCALE, "sampling_ratio": 2, "aligned": True, "clockwise": True}
    mmcv.roi_align_rotated_forward(X, TURNED, output, **turn)
    mmcv.roi_align_rotated_backward(GRAD, TURNED, back, **turn)
    same(*zip((output, back), slopes(lambda x: own.roi_align_rotated(x, TURNED, (3, 2), 0.5, 2, True, True), X)))

    turn = {**SIZE, **SCALE, "num_samples": 2, "num_orientations": 4, "clockwise": False}
    mmcv.riroi_align_rotated_forward(X, TURNED, output, **turn)
    mmcv.riroi_align_rotated_backward(GRAD, TURNED, back, **turn)
    same(*zip((output, back), slopes(lambda x: own.riroi_align_rotated(x, TURNED, (3, 2), 0.5, 2, 4), X)))

    rows = torch.zeros_like(ROIS)
    mmcv.prroi_pool_forward(X, ROIS, output, **SIZE, **SCALE)
    mmcv.prroi_pool_backward(GRAD, ROIS, back, **SIZE, **SCALE)
    mmcv.prroi_pool_coor_backward(output, GRAD, X, ROIS, rows, **SIZE, **SCALE)
    same(*zip((output, back, rows), slopes(lambda x, r: own.prroi_pool(x, r, (3, 2), 0.5), X, ROIS)))

    how, moved = {**SIZE, **SCALE, "sampling_ratio": 2, "gamma": 0.2}, torch.zeros_like(MOVES)
    mmcv.deform_roi_pool_forward(X, ROIS, MOVES, output, **how)
    mmcv.deform_roi_pool_backward(GRAD, X, ROIS, MOVES, back, moved, **how)
    same(
        *zip((output, back, moved), slopes(lambda x, m: own.deform_roi_pool(x, ROIS, m, (3, 2), 0.5, 2, 0.2), X, MOVES))
    )
    none = torch.zeros(0, dtype=X.dtype)
    mmcv.deform_roi_pool_forward(X, ROIS, none, output, **how)
    mmcv.deform_roi_pool_backward(GRAD, X, ROIS, none, back, none, **how)
    same(*zip((output, back), slopes(lambda x: own.deform_roi_pool(x, ROIS, 0 * MOVES, (3, 2), 0.5, 2), X)))


def test_images(mmcv, own):
    weight, offset = torch.tensor(RNG.standard_normal((4, 8, 3, 3))), torch.tensor(RNG.uniform(-1, 1, (2, 18, 12, 14)))
    mask, bias = torch.tensor(RNG.uniform(0, 1, (2, 9, 12, 14))), torch.tensor(RNG.standard_normal(4))
    grad, empty = torch.tensor(RNG.standard_normal((2, 4, 12, 14))), torch.zeros(0)
    inputs = X, offset, weight, bias, mask

    def reference(*values):
        values = [value.clone().requires_grad_() for value in values]
        x, moves, filters, *rest = values
        result = own.deform_conv2d(x, moves, filters, *rest[:1], padding=1, mask=rest[1] if rest else None)
        return [result.detach(), *torch.autograd.grad(result, values, grad)]

    names = ("dW", "dH", "padW", "padH", "dilationW", "dilationH", "group", "deformable_group")
    how = {"kW": 3, "kH": 3, **dict.fromkeys(names, 1), "im2col_step": 2}
    output, *back = torch.zeros_like(grad), *(torch.zeros_like(value) for value in inputs)
    mmcv.deform_conv_forward(X, weight, offset, output, empty, empty, **how)
    mmcv.deform_conv_backward_input(X, offset, grad, back[0], back[1], weight, empty, **how)
    mmcv.deform_conv_backward_parameters(X, offset, grad, back[2], empty, empty, scale=1, **how)
    same(*zip((output, *back[:3]), reference(X, offset, weight)))
    sides = {f"{name}_{side}": 1 for name in ("stride", "pad", "dilation") for side in "hw"}
    how = {"kernel_h": 3, "kernel_w": 3, **sides, "group": 1, "deformable_group": 1, "with_bias": True}
    mmcv.modulated_deform_conv_forward(X, weight, bias, empty, offset, mask, output, empty, **how)
    ordered = back[0], back[2], back[3], back[1], back[4]
    mmcv.modulated_deform_conv_backward(X, weight, bias, empty, offset, mask, empty, *ordered, grad, **how)
    same(*zip((output, *back), reference(*inputs)))

    masks = torch.tensor(RNG.uniform(0, 1, (2, 9, 24, 28)))
    how, wide = (
        {"kernel_size": 3, "group_size": 1, "scale_factor": 2},
        torch.tensor(RNG.standard_normal((2, 8, 24, 28))),
    )
    values = [value.clone().requires_grad_() for value in (X, masks)]
    result = own.carafe(*values, 3, 1, 2)
    wanted = torch.autograd.grad(result, values, wide)
    for name in ("carafe", "carafe_naive"):
        output, features, back = torch.zeros_like(wide), torch.zeros_like(X), [torch.zeros_like(v) for v in (X, masks)]
        spare = [torch.zeros_like(v) for v in (wide, wide, X, masks)]
        first, middle = ([features, *spare[:2]], spare) if name == "carafe" else ([], [])
        getattr(mmcv, f"{name}_forward")(X, masks, *first, output, **how)
        getattr(mmcv, f"{name}_backward")(wide, features if first else X, masks, *middle, *back, **how)
        same((output, result.detach()), *zip(back, wanted))


def test_suppression_and_attention(mmcv, own):
    boxes, scores = ROIS[:, 1:].contiguous(), torch.tensor(RNG.uniform(0, 1, 6))
    assert torch.equal(mmcv.nms(boxes, scores, iou_threshold=0.3, offset=0), own.nms(boxes, scores, 0.3))
    turned, none = TURNED[:, 1:].contiguous(), torch.zeros(0)
    order = mmcv.nms_rotated(turned, scores, none, none, none, 0.2, False)
    assert torch.equal(order, own.nms_rotated(turned, scores, 0.2))
    labels = torch.arange(6)
    labelled = torch.cat([turned, labels[:, None]], 1)
    assert torch.equal(mmcv.nms_rotated(labelled, scores, none, none, labels, 0.2, True), order)  # as mmcv's kernels
    dets = torch.zeros(6, 5, dtype=boxes.dtype)
    inds = mmcv.softnms(boxes, scores, dets, iou_threshold=0.3, sigma=0.5, min_score=1e-3, method=0, offset=0)
    assert torch.equal(dets[: len(inds), :4], boxes[inds])
    ious = torch.zeros(36, dtype=boxes.dtype)
    mmcv.box_iou_rotated(turned, turned, ious, mode_flag=0, aligned=False)
    same((ious.reshape(6, 6).diagonal(), torch.ones(6, dtype=boxes.dtype)))

    module = importlib.import_module("mmcv.ops.multi_scale_deform_attn")
    shapes, value = torch.tensor([[4, 5], [2, 3]]), torch.tensor(RNG.standard_normal((1, 26, 2, 4)), requires_grad=True)
    where, weights = (
        torch.tensor(RNG.uniform(0, 1, (1, 3, 2, 2, 2, 2))),
        torch.tensor(RNG.uniform(0, 1, (1, 3, 2, 2, 2))),
    )
    result = module.attend(value, shapes, where, weights)
    result.sum().backward()
    starts = torch.tensor([0, 20])
    direct = mmcv.ms_deform_attn_forward(value, shapes, starts, where, weights, im2col_step=64)
    back = [torch.zeros_like(v) for v in (value, where, weights)]
    mmcv.ms_deform_attn_backward(value, shapes, starts, where, weights, torch.ones_like(direct), *back, im2col_step=64)
    same((result.detach(), direct), (back[0], value.grad))


def test_correlation(mmcv, own):
    values = [value.clone().requires_grad_() for value in (X, X.flip(3))]
    result = own.correlation(*values, max_displacement=2)
    wanted = torch.autograd.grad(result.sum(), values)
    names = ("kH", "kW", "dilationH", "dilationW", "dilation_patchH", "dilation_patchW", "dH", "dW")
    how = {**dict.fromkeys(names, 1), "patchH": 5, "patchW": 5, "padH": 0, "padW": 0}
    output, back = torch.zeros_like(result), [torch.zeros_like(X) for _ in range(2)]
    mmcv.correlation_forward(X, X.flip(3), output, **how)
    mmcv.correlation_backward(torch.ones_like(result), X, X.flip(3), *back, **how)
    same((output, result.detach()), *zip(back, wanted))


def test_without_its_library_and_back(package, own):
    """What Boxpresso has not is an error that names it; restored, mmcv.ops cannot be imported as before."""
    package(MMCV)
    with pytest.raises(ModuleNotFoundError, match="_ext"):
        importlib.import_module("mmcv.ops")
    own.replace("mmcv")
    extension = importlib.import_module("mmcv._ext")
    with pytest.raises(NotImplementedError, match="Boxpresso has no ball_query_forward"):
        extension.ball_query_forward(X)
    with pytest.raises(RuntimeError, match=r"boxes must be of shape \(N, 4\)"):
        extension.nms(ROIS, ROIS[:, 0], iou_threshold=0.5, offset=0)
    own.restore("mmcv")
    with pytest.raises(ModuleNotFoundError, match="_ext"):
        importlib.import_module("mmcv.ops")


def test_beside_its_library(package, own):
    """Functions of a library that is there are ours, and its own again; what Boxpresso has not stays its own."""
    package(
        {
            **MMCV,
            "mmcv/_ext.py": "def nms(*args, **how):\n    return 'theirs'\ndef ball_query_forward():\n    return 'theirs'\n",
        }
    )
    module = importlib.import_module("mmcv.ops.multi_scale_deform_attn")
    with own.replacing("mmcv"):
        assert torch.is_tensor(module.ext.nms(ROIS[:, 1:], ROIS[:, 0], iou_threshold=0.5, offset=0))
        assert module.ext.ball_query_forward() == "theirs"
    assert module.ext.nms() == "theirs"
    assert module.attend() == "theirs"


def test_detectron2(package, own):
    with pytest.raises(BoxpressoError, match="detectron2 cannot be replaced"):
        own.replace("detectron2")
    package(DETECTRON2)
    try:
        importlib.import_module("torchvision")
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision: {error}")
    degrees, radians = TURNED.clone(), TURNED
    degrees[:, 5] *= 180 / np.pi
    scores = torch.tensor(RNG.uniform(0, 1, 6))
    with own.replacing("detectron2"):
        assert "torchvision" in own.replaced
        assert "detectron2._C" not in sys.modules
        x = X.clone().requires_grad_()
        output = torch.ops.detectron2.roi_align_rotated_forward(x, degrees, 0.5, 3, 2, 2)
        (through,) = torch.autograd.grad(output, x, GRAD)
        back = torch.ops.detectron2.roi_align_rotated_backward(GRAD, degrees, 0.5, 3, 2, *X.shape, 2)
        result, slope = slopes(lambda x: own.roi_align_rotated(x, radians, (3, 2), 0.5, 2), X)
        same((output.detach(), result), (back, slope), (through, slope))
        chosen = torch.ops.detectron2.nms_rotated(degrees[:, 1:], scores, 0.2)
        assert torch.equal(chosen, own.nms_rotated(radians[:, 1:].contiguous(), scores, 0.2, False))
        ious = torch.ops.detectron2.box_iou_rotated(degrees[:, 1:], degrees[:, 1:])
        same((ious.diagonal(), torch.ones(6, dtype=ious.dtype)))
    assert "torchvision" not in own.replaced
