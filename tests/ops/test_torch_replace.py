"""boxpresso.torch: its names, and our operators in the place of torchvision's."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso.proto.errors import BoxpressoError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # torch's own warnings

RNG = np.random.default_rng(4)
X = torch.tensor(RNG.standard_normal((2, 8, 12, 14)))
LOW = RNG.uniform(0, 8, (6, 2))
ROIS = torch.tensor(np.column_stack([np.arange(6) % 2, LOW, LOW + RNG.uniform(2, 9, (6, 2))]))
TAPS, WEIGHT, MASK = (torch.tensor(RNG.standard_normal(s)) for s in ((2, 2 * 9, 12, 14), (4, 8, 3, 3), (2, 9, 12, 14)))

# A function of torchvision, its first arguments, and its others.
CALLS = [
    (
        "roi_align",
        (X, ROIS),
        dict(output_size=(3, 2), spatial_scale=0.5),
    ),  # aligned=False and adaptive, as torchvision has it
    ("roi_align", (X, ROIS), dict(output_size=2, sampling_ratio=2, aligned=True)),
    ("roi_pool", (X, ROIS), dict(output_size=(3, 2), spatial_scale=0.5)),
    ("ps_roi_align", (X, ROIS), dict(output_size=2, spatial_scale=0.5, sampling_ratio=2)),
    ("ps_roi_pool", (X, ROIS), dict(output_size=2, spatial_scale=0.5)),
    ("deform_conv2d", (X, TAPS, WEIGHT), dict(padding=1)),
    ("deform_conv2d", (X, TAPS, WEIGHT), dict(padding=1, mask=MASK)),
]


@pytest.fixture
def own():
    import boxpresso.torch

    return boxpresso.torch


@pytest.fixture
def torchvision():
    try:
        import torchvision
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"torchvision: {error}")
    return torchvision


def gradients(function, inputs, options) -> list:
    """The result, and the gradient of its squares in each argument but the regions."""
    values = [value.clone().requires_grad_(value is not ROIS) for value in inputs]
    result = function(*values, **options)
    result.pow(2).sum().backward()
    return [result.detach(), *(value.grad for value in values if value.grad is not None)]


def test_names(own):
    from boxpresso import ops

    assert {*ops.OPERATORS, "nms", "batched_nms", "nms_rotated", "replace", "restore"} <= set(own.__all__)
    assert all(callable(getattr(own, name)) for name in own.__all__)
    x = torch.tensor(X[:, :2].numpy(), requires_grad=True)
    own.roi_align(x, ROIS, 2).sum().backward()
    assert x.grad.abs().sum() > 0
    with pytest.raises(BoxpressoError, match=r"must be one of .*'torchvision'"):
        own.replace("torchvison")


@pytest.mark.parametrize(("name", "inputs", "options"), CALLS, ids=[f"{i}-{c[0]}" for i, c in enumerate(CALLS)])
def test_as_torchvision_itself(own, torchvision, name, inputs, options):
    function = getattr(torchvision.ops, name)
    theirs = gradients(function, inputs, options)
    with own.replacing("torchvision"):
        ours = gradients(function, inputs, options)
        x = inputs[0].clone().requires_grad_()
        (slope,) = torch.autograd.grad(function(x, *inputs[1:], **options).pow(2).sum(), x, create_graph=True)
        slope.pow(2).sum().backward()  # which torchvision refuses
        assert x.grad.abs().max() > 0
        with torch.inference_mode():
            assert torch.equal(function(*inputs, **options), ours[0])
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, rtol=1e-6, atol=1e-7)
    assert all(
        torch.equal(a, b) for a, b in zip(gradients(function, inputs, options), theirs)
    )  # torchvision's own again


def test_models_and_errors_of_torchvision(own, torchvision):
    boxes = [torch.tensor([[0.0, 0, 20, 20], [5, 5, 90, 80]])]
    maps = {"0": torch.rand(1, 2, 32, 32), "1": torch.rand(1, 2, 16, 16)}
    pool = torchvision.ops.MultiScaleRoIAlign(["0", "1"], 3, 2)
    theirs, chosen = pool(maps, boxes, [(128, 128)]), torchvision.ops.nms(boxes[0], torch.tensor([0.5, 0.6]), 0.01)
    with own.replacing("torchvision"):
        own.replace("torchvision")  # again: nothing
        assert torch.allclose(pool(maps, boxes, [(128, 128)]), theirs, atol=1e-5)
        assert torch.equal(torchvision.ops.nms(boxes[0], torch.tensor([0.5, 0.6]), 0.01), chosen)
        with pytest.raises(RuntimeError, match=r"mask\.shape\[1\] is not valid"):
            torchvision.ops.deform_conv2d(X, TAPS, WEIGHT, padding=1, mask=MASK[:, :3])
        with pytest.raises(RuntimeError, match="as high as wide"):
            torchvision.ops.ps_roi_pool(X, ROIS, (2, 4))
    own.restore("torchvision")  # nothing
    torchvision.ops.ps_roi_pool(X, ROIS, (2, 4))


def test_compiled_whole(own, torchvision):
    """torch.compile takes torchvision's function without a break, with ours in its place."""
    with own.replacing("torchvision"):
        torch._dynamo.reset()
        function = torch.compile(
            lambda x: torchvision.ops.roi_align(x * 2, ROIS, 2).sin(), fullgraph=True, backend="aot_eager"
        )
        x = X.clone().requires_grad_()
        function(x).sum().backward()
        wanted = gradients(lambda y: torchvision.ops.roi_align(y * 2, ROIS, 2).sin(), [X], {})
        torch.testing.assert_close(function(X), wanted[0])
    torch._dynamo.reset()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fasterrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn"])
def test_training_twice_gives_the_same_bits(own, torchvision, name):
    """Two steps of SGD of a detector of random weights, with deterministic algorithms asked for: all numbers are equal."""

    def train() -> list:
        torch.manual_seed(0)
        make = getattr(torchvision.models.detection, name)
        model = make(weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=96)
        solver = torch.optim.SGD(model.parameters(), lr=1e-3)
        images = [torch.rand(3, 64, 96) for _ in range(2)]
        boxes = torch.tensor([[4.0, 4, 40, 40], [20, 10, 90, 60]])
        masks = torch.zeros(2, 64, 96, dtype=torch.uint8)
        masks[0, 8:36, 8:36] = masks[1, 14:50, 30:80] = 1
        targets = [{"boxes": boxes, "labels": torch.tensor([1, 2]), "masks": masks} for _ in images]
        losses = []
        for _ in range(2):
            solver.zero_grad()
            loss = sum(model(images, targets).values())
            loss.backward()
            solver.step()
            losses.append(loss.detach())
        assert all(torch.isfinite(loss) for loss in losses)
        return [*losses, *model.state_dict().values()]

    asked = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        with own.replacing("torchvision"):
            assert all(torch.equal(one, other) for one, other in zip(train(), train(), strict=True))
    finally:
        torch.use_deterministic_algorithms(asked)
