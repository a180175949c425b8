"""Second derivatives under torch, against differences of the kernels' gradients, and the forms that they come from."""

from __future__ import annotations

import numpy as np
import pytest

from boxpresso import ops

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("default")  # torch's own warnings

RNG = np.random.default_rng(5)
X, MAPS = RNG.standard_normal((2, 2, 6, 7)), RNG.standard_normal((2, 8, 6, 7))
ROIS = np.column_stack([[0, 1, 0], RNG.uniform(1, 3, (3, 2)), RNG.uniform(7, 10, (3, 2))])
TURNED = np.array([[0, 6.13, 5.21, 5.1, 6.2, 0.4], [1, 7.3, 6.1, 4.2, 3.3, -1.1], [1, 6.4, 5.7, 6.1, 5.2, 2.5]])
MOVES, MASK = RNG.uniform(-0.5, 0.5, (3, 2, 2, 2)), RNG.uniform(0.1, 1, (3, 1, 2, 2))
CROPS = np.column_stack([RNG.uniform(0.1, 0.3, (3, 2)), RNG.uniform(0.5, 0.9, (3, 2))])
HALF, MOVED = (
    dict(output_size=2, spatial_scale=0.5),
    dict(output_size=2, spatial_scale=0.5, sampling_ratio=2, gamma=0.2),
)

# An operator, its arrays, its options, and the arrays that are differentiated; of regions, all but the number of the image.
CASES = [
    ("roi_align", {"x": X, "rois": ROIS}, {**HALF, "sampling_ratio": 2}, ("x", "rois")),
    ("roi_align", {"x": X, "rois": ROIS}, {**HALF, "aligned": False}, ("x", "rois")),
    ("roi_align", {"x": X, "rois": ROIS}, {**HALF, "sampling_ratio": 2, "pool_mode": "max"}, ("x",)),
    ("roi_align_rotated", {"x": X, "rois": TURNED}, {**HALF, "sampling_ratio": 2}, ("x", "rois")),
    ("riroi_align_rotated", {"x": MAPS, "rois": TURNED}, {**HALF, "num_samples": 2, "num_orientations": 4}, ("x", "rois")),
    ("roi_pool", {"x": X, "rois": ROIS}, HALF, ("x",)),
    ("roi_pool", {"x": X, "rois": ROIS}, {**HALF, "mmcv": True}, ("x",)),
    ("rotate_roi_pool", {"x": X, "rois": TURNED * [1, 1, 1, 1, 1, 20], "image_info": np.array([[14.0, 16, 1]])}, HALF, ("x",)),
    ("ps_roi_pool", {"x": MAPS, "rois": ROIS}, HALF, ("x",)),
    ("ps_roi_align", {"x": MAPS, "rois": ROIS}, HALF, ("x",)),
    ("prroi_pool", {"x": X, "rois": ROIS}, HALF, ("x", "rois")),
    ("deform_roi_pool", {"x": X, "rois": ROIS, "offset": MOVES}, MOVED, ("x", "offset")),
    ("modulated_deform_roi_pool", {"x": X, "rois": ROIS, "offset": MOVES, "mask": MASK}, MOVED, ("x", "offset", "mask")),
    (
        "deformable_psroi_pool", {"x": MAPS, "rois": ROIS, "trans": MOVES},
        dict(spatial_scale=0.5, output_dim=2, group_size=2, pooled_size=2, sample_per_part=2, trans_std=0.1), ("x", "trans"),
    ),
    (
        "deform_conv2d",
        {
            "x": X, "offset": RNG.uniform(-0.4, 0.4, (2, 2 * 2 * 4, 5, 6)), "weight": RNG.standard_normal((2, 1, 2, 2)),
            "bias": RNG.standard_normal(2), "mask": RNG.uniform(0.1, 1, (2, 8, 5, 6)),
        },
        {}, ("x", "offset", "weight", "bias", "mask"),
    ),
    (
        "multi_scale_deformable_attn",
        {
            "value": RNG.standard_normal((2, 14, 2, 2)), "spatial_shapes": np.array([[3.0, 4], [1, 2]]),
            "level_start_index": np.array([0.0, 12]), "sampling_locations": RNG.uniform(0.1, 0.9, (2, 2, 2, 2, 2, 2)),
            "attention_weights": RNG.uniform(0.1, 1, (2, 2, 2, 2, 2)),
        },
        {}, ("value", "sampling_locations", "attention_weights"),
    ),
    (
        "crop_and_resize", {"x": X, "boxes": CROPS, "box_indices": np.array([0.0, 1, 1])},
        dict(crop_size=(3, 2), extrapolation_value=0.5), ("x", "boxes"),
    ),
    ("point_sample", {"x": X, "points": RNG.uniform(0.05, 0.95, (2, 3, 2))}, {}, ("x", "points")),
    ("carafe", {"x": X, "masks": RNG.uniform(0.1, 1, (2, 9, 12, 14))}, dict(kernel_size=3), ("x", "masks")),
    ("corner_pool", {"x": X}, dict(mode="left"), ("x",)),
    ("corner_pool", {"x": X}, dict(mode="bottom"), ("x",)),
    ("correlation", {"x": X, "other": X[::-1].copy()}, {}, ("x", "other")),
    ("permute", {"x": X}, dict(dims=(0, 2, 3, 1)), ("x",)),
]  # fmt: skip
IDS = [f"{i}-{case[0]}" for i, case in enumerate(CASES)]


def as_function(op, inputs: dict, options: dict, names: tuple):
    """`op` as a function of the arrays of those names, and these."""
    fixed = {name: torch.tensor(value) for name, value in inputs.items()}

    def function(*values):
        arrays = {**fixed, **dict(zip(names, values))}
        if "rois" in names:
            arrays["rois"] = torch.cat([fixed["rois"][:, :1], arrays["rois"]], 1)
        return op(**arrays, **options)

    return function, [fixed[n][:, 1:].clone() if n == "rois" else fixed[n].clone() for n in names]


def test_every_operator_has_a_case():
    assert {case[0] for case in CASES} == set(ops.OPERATORS)


@pytest.mark.parametrize(("name", "inputs", "options", "names"), CASES, ids=IDS)
def test_gradgradcheck(name, inputs, options, names):
    from boxpresso.ops import torch as ours

    function, values = as_function(getattr(ours, name), inputs, options, names)
    values = [value.requires_grad_() for value in values]
    torch.manual_seed(0)
    assert torch.autograd.gradgradcheck(function, values, fast_mode=True)


@pytest.mark.parametrize(("name", "arrays", "options", "names"), CASES, ids=IDS)
def test_forms(name, arrays, options, names):
    """What second derivatives come from gives the kernels' results and gradients."""
    from boxpresso.ops import forms

    op = getattr(ops, name)
    if name not in forms.FORMS:
        pytest.skip("it is linear in each of its inputs: its second derivatives need no form")
    inputs, rest = op.bind(**{n: torch.tensor(v, requires_grad=n in names) for n, v in arrays.items()}, **options)
    result = forms.compute(name, op.inputs, inputs, rest)
    wanted = op(**arrays, **options)
    assert np.allclose(result.detach().numpy(), wanted, rtol=1e-9, atol=1e-9)
    grad = np.random.default_rng(1).standard_normal(wanted.shape)
    result.backward(torch.tensor(grad))
    for key, value in op.backward(grad, **arrays, **options, wanted=names).items():
        assert np.allclose(inputs[op.inputs.index(key)].grad.numpy(), value, rtol=1e-8, atol=1e-8), key


@pytest.mark.parametrize("name", ["roi_align", "point_sample", "deform_conv2d"])
def test_a_derivative_of_third_order(name):
    """Through an operator that is linear in its image by the kernels, and through places by the form."""
    from boxpresso.ops import torch as ours

    _, arrays, options, names = next(case for case in CASES if case[0] == name)
    function, values = as_function(getattr(ours, name), arrays, options, names)
    values = [value.requires_grad_() for value in values]

    def second(*inputs):
        (one,) = torch.autograd.grad(function(*inputs).pow(2).sum(), inputs[1], create_graph=True)
        return torch.autograd.grad(one.sin().sum(), inputs[0], create_graph=True)

    torch.manual_seed(0)
    assert torch.autograd.gradcheck(second, values, fast_mode=True)


def test_images_with_channels_last_and_in_16_bits():
    """The same second derivatives whatever the layout, and rounded where the image is."""
    from boxpresso.ops import torch as ours

    def penalty(x, corners, layout="NCHW"):
        rois = torch.cat([torch.tensor(ROIS[:, :1]).to(corners), corners], 1)
        result = ours.roi_align(x, rois, 2, 0.5, 2, layout=layout)
        (slope,) = torch.autograd.grad(result.float().pow(2).sum(), corners, create_graph=True)
        return torch.autograd.grad(slope.pow(2).sum(), [x, corners])

    x, corners = torch.tensor(X, dtype=torch.float32), torch.tensor(ROIS[:, 1:], dtype=torch.float32)
    wanted = penalty(x.requires_grad_(), corners.requires_grad_())
    last = x.detach().permute(0, 2, 3, 1).contiguous().requires_grad_()
    turned = penalty(last, corners, "NHWC")
    assert torch.allclose(turned[0].permute(0, 3, 1, 2), wanted[0], rtol=1e-4, atol=1e-5)
    assert torch.allclose(turned[1], wanted[1], rtol=1e-4, atol=1e-5)
    low = penalty(x.detach().bfloat16().requires_grad_(), corners)
    assert low[0].dtype == torch.bfloat16
    assert torch.allclose(low[1], wanted[1], rtol=0.1, atol=0.1 * float(wanted[1].abs().max()))


FEW = [case for case in CASES if case[0] in ("roi_align", "roi_pool", "deform_conv2d", "multi_scale_deformable_attn")]


@pytest.mark.parametrize(("name", "inputs", "options", "names"), CASES, ids=IDS)
def test_forward_mode(name, inputs, options, names):
    """torch.func.jvp against the gradient: sum(grad * jvp) is the sum of direction * gradient over the inputs."""
    from boxpresso.ops import torch as ours

    function, values = as_function(getattr(ours, name), inputs, options, names)
    rng = np.random.default_rng(2)
    directions = [torch.tensor(rng.standard_normal(value.shape)) for value in values]
    result, along = torch.func.jvp(function, tuple(values), tuple(directions))
    grad = torch.tensor(rng.standard_normal(result.shape))
    _, pull = torch.func.vjp(function, *values)
    wanted = sum((slope * direction).sum() for slope, direction in zip(pull(grad), directions))
    assert torch.allclose((along * grad).sum(), wanted, rtol=1e-9)
    assert wanted.abs() > 1e-3


@pytest.mark.parametrize(
    ("name", "inputs", "options", "names"), FEW, ids=[f"{i}-{case[0]}" for i, case in enumerate(FEW)]
)
def test_transforms(name, inputs, options, names):
    """vmap is a loop; a Hessian is the same by reverse over reverse and forward over reverse, alone and under vmap."""
    from boxpresso.ops import torch as ours

    function, values = as_function(getattr(ours, name), inputs, options, names)
    batch = [torch.stack([value, value.flip(0), value * 0.75]) for value in values]
    assert torch.equal(torch.vmap(function)(*batch), torch.stack([function(*one) for one in zip(*batch)]))
    axes = (0, *(None for _ in names[1:]))
    assert torch.equal(
        torch.vmap(function, axes)(batch[0], *values[1:]), torch.stack([function(x, *values[1:]) for x in batch[0]])
    )

    def along(t, x):  # of one number, so that the Hessian is one
        return function(x * (1 + t), *values[1:]).sin().sum()

    start, step = torch.tensor(0.1, dtype=torch.float64), 1e-5
    slopes = [
        torch.vmap(outer(torch.func.grad(along)), (None, 0))(start, batch[0])
        for outer in (torch.func.jacfwd, torch.func.grad)
    ]
    first = torch.func.grad(along)
    differences = torch.stack([(first(start + step, x) - first(start - step, x)) / (2 * step) for x in batch[0]])
    assert torch.allclose(slopes[0], slopes[1], rtol=1e-9)
    assert torch.allclose(slopes[0], differences, rtol=1e-5)
