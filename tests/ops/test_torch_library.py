"""The operators as torch's own: schema, shapes without data, gradients; torch.compile and torch.export take them whole."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from test_ops import CASES, IDS, IMAGES, ROIS, X, gradients

from boxpresso import ops

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # torch's own warnings


def tensors(name: str, inputs: dict) -> dict:
    return {n: torch.tensor(a, requires_grad=n in gradients(name, inputs)) for n, a in inputs.items()}


def listed(options: dict) -> dict:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}


@pytest.fixture
def ours():
    from boxpresso.ops import torch as module

    return module


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_opcheck(ours, name, inputs, options, text):
    result = torch.library.opcheck(getattr(torch.ops.boxpresso, name), (), {**tensors(name, inputs), **listed(options)})
    assert set(result.values()) == {"SUCCESS"}


@pytest.mark.parametrize("name", ["roi_align", "deform_conv2d"])
def test_opcheck_of_two(ours, name):
    _, inputs, options, _ = next(case for case in CASES if case[0] == name)
    result = torch.library.opcheck(getattr(torch.ops.boxpresso, name), (), {**tensors(name, inputs), **listed(options)})
    assert set(result.values()) == {"SUCCESS"}


def test_no_operator_is_part_of_a_cuda_graph_of_torchs(ours):
    """torch.compile(mode="reduce-overhead") asks the tag, and leaves such operators between two graphs."""
    tag = getattr(torch._C.Tag, "cudagraph_unsafe", None)
    if tag is None or "tags" not in inspect.signature(torch.library.custom_op).parameters:
        pytest.skip(f"torch {torch.__version__} takes no such tag of an operator")
    names = torch._C._dispatch_get_all_op_names()
    operators = {name.partition("::")[2].partition(".")[0] for name in names if name.startswith("boxpresso::")}
    assert {
        *ops.OPERATORS,
        "nms",
        "batched_nms",
        "nms_rotated",
        "layer",
        "layer_backward",
        "roi_align_backward",
    } <= operators
    assert all(tag in getattr(torch.ops.boxpresso, name).default.tags for name in operators)
    utils = pytest.importorskip("torch._inductor.utils")
    x, rois = torch.tensor(X, requires_grad=True), torch.tensor(ROIS)

    def step(x, rois):
        return torch.autograd.grad(torch.ops.boxpresso.roi_align(x * 2, rois, [3, 3]).square().sum(), x)[0]

    graph = torch.fx.experimental.proxy_tensor.make_fx(step)(x, rois)
    unsafe = [str(node.target) for node in graph.graph.nodes if utils.is_cudagraph_unsafe_fx_node(node)]
    assert unsafe == ["boxpresso.roi_align.default", "boxpresso.roi_align_backward.default"]


@pytest.mark.parametrize(("name", "inputs", "options", "text"), CASES, ids=IDS)
def test_results_and_gradients(ours, name, inputs, options, text):
    """Those of boxpresso.ops, bit for bit."""
    arrays = tensors(name, inputs)
    result = getattr(torch.ops.boxpresso, name)(**arrays, **options)
    assert np.array_equal(result.detach().numpy(), getattr(ops, name)(**inputs, **options))
    grad = np.random.default_rng(1).standard_normal(result.shape)
    (result * torch.tensor(grad)).sum().backward()
    for key, value in getattr(ops, name).backward(grad, **inputs, **options).items():
        assert np.array_equal(arrays[key].grad.numpy(), value), key


@pytest.mark.parametrize(("name", "inputs", "options", "text"), IMAGES, ids=[case[0] for case in IMAGES])
def test_shapes_without_data(ours, name, inputs, options, text):
    """Shape, dtype and steps in memory are those of the real result, for both layouts and both formats of memory."""
    for layout in ("NCHW", "NHWC", "channels_last"):
        arrays = {n: torch.tensor(a, dtype=torch.float32) for n, a in inputs.items()}
        how = {**listed(options), "layout": "NHWC" if layout == "NHWC" else "NCHW"}
        if layout == "NHWC":
            arrays["x"] = arrays["x"].permute(0, 2, 3, 1).contiguous()
        elif layout == "channels_last":
            arrays["x"] = arrays["x"].contiguous(memory_format=torch.channels_last)
        real = getattr(torch.ops.boxpresso, name)(**arrays, **how)
        with torch._subclasses.FakeTensorMode() as mode:
            fake = getattr(torch.ops.boxpresso, name)(**{n: mode.from_tensor(a) for n, a in arrays.items()}, **how)
        assert (fake.shape, fake.dtype, fake.stride()) == (real.shape, real.dtype, real.stride()), layout


def test_compile_does_not_break_the_graph(ours):
    x, rois = torch.tensor(X, requires_grad=True), torch.tensor(ROIS)

    def head(features, regions):
        pooled = ours.roi_align(features * 2, regions, (3, 2), spatial_scale=0.5, sampling_ratio=2)
        return torch.relu(pooled).sum(), ours.nms(regions[:, 1:], regions[:, 0], 0.5)

    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    compiled = torch.compile(head, fullgraph=True, backend="aot_eager")
    loss, chosen = compiled(x, rois)
    loss.backward()
    own, x.grad = x.grad, None
    wanted, order = head(x, rois)
    wanted.backward()
    assert torch.equal(loss, wanted)
    assert torch.equal(chosen, order)
    assert torch.equal(own, x.grad)


def test_export_keeps_the_operators(ours):
    class Head(torch.nn.Module):
        def forward(self, features, regions):
            return ours.roi_pool(features, regions, 2, 0.5)

    x, rois = torch.tensor(X), torch.tensor(ROIS)
    program = torch.export.export(Head(), (x, rois), strict=False)
    assert any("boxpresso.roi_pool" in str(node.target) for node in program.graph.nodes)
    assert torch.equal(program.module()(x, rois), ours.roi_pool(x, rois, 2, 0.5))


def test_boxes_as_torchvision_lists_them(ours):
    x = torch.tensor(X, requires_grad=True)
    rows = torch.tensor(ROIS[:3])
    boxes = [rows[rows[:, 0] == i, 1:] for i in range(2)]
    by_image = torch.cat([rows[rows[:, 0] == i] for i in range(2)])
    assert torch.equal(ours.roi_align(x, boxes, 2, 0.5), ours.roi_align(x, by_image, 2, 0.5))
    assert torch.equal(ours.roi_pool(x, rois=tuple(boxes), output_size=2), ours.roi_pool(x, by_image, 2))
    assert ours.roi_align(x, [boxes[0], boxes[1][:0]], 2).shape == (len(boxes[0]), X.shape[1], 2, 2)


def test_suppression(ours):
    rng = np.random.default_rng(3)
    low = rng.uniform(0, 40, (60, 2))
    boxes, scores = np.concatenate([low, low + rng.uniform(1, 20, (60, 2))], 1), rng.uniform(0, 1, 60)
    classes, turned = np.arange(60) % 3, np.concatenate([boxes[:, :2], np.abs(boxes[:, 2:]), boxes[:, :1]], 1)
    args = [torch.tensor(v) for v in (boxes, scores, classes, turned)]
    assert ours.nms(*args[:2], 0.3).tolist() == ops.nms(boxes, scores, 0.3).tolist()
    assert ours.nms(*args[:2], 0.3, 1).tolist() == ops.nms(boxes, scores, 0.3, 1).tolist()
    assert ours.batched_nms(*args[:3], 0.3).tolist() == ops.batched_nms(boxes, scores, classes, 0.3).tolist()
    assert ours.nms_rotated(args[3], args[1], 0.3).tolist() == ops.nms_rotated(turned, scores, 0.3).tolist()
    own, (asks, *rest) = torch.ops.boxpresso, (value.clone().requires_grad_() for value in (args[0], *args[1:2]))
    for chosen in (own.nms(*args[:2], 0.3), ours.nms(boxes=asks, scores=rest[0], iou_threshold=0.3)):
        assert chosen.tolist() == ops.nms(boxes, scores, 0.3).tolist()
        assert not chosen.requires_grad
    for name, inputs in (("batched_nms", args[:3]), ("nms_rotated", [args[3], args[1]])):
        assert torch.equal(getattr(own, name)(*inputs, 0.3), getattr(ours, name)(*inputs, 0.3))


@pytest.mark.slow
def test_opcheck_of_suppression(ours):
    boxes = torch.tensor([[0.0, 0, 4, 4], [1, 0, 4, 4], [7, 7, 9, 9]])
    scores, turned = torch.tensor([0.5, 0.9, 0.1]), torch.cat([boxes, boxes[:, :1]], 1)
    for name, inputs in (
        ("nms", (boxes, scores, 0.5)),
        ("batched_nms", (boxes, scores, torch.tensor([0, 0, 1]), 0.5)),
        ("nms_rotated", (turned, scores, 0.5)),
    ):
        result = torch.library.opcheck(getattr(torch.ops.boxpresso, name), inputs)
        assert set(result.values()) == {"SUCCESS"}, name
