"""DeformableConvolution and ModulatedDeformableConvolution: an independent numpy, torchvision where it is installed, gradients."""

from __future__ import annotations

from itertools import product
from math import floor

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso.proto.errors import LayerError

PLAIN = 'type: "DeformableConvolution" deformable_convolution_param { %s }'
MASKED = 'type: "ModulatedDeformableConvolution" deformable_convolution_param { %s }'
RANDOM = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" }'
FORMS = {
    "3x3": dict(kernel=(3, 3), pad=(1, 1)),
    "strides": dict(kernel=(3, 2), stride=(2, 1), pad=(2, 0), dilation=(1, 2)),
    "groups": dict(kernel=(2, 2), group=2, parts=2),
    "1x1": dict(kernel=(1, 1), parts=4),
    "no bias": dict(kernel=(1, 3), dilation=(1, 2), pad=(0, 2), bias=False, parts=2),
}


def prototxt(form: dict, outputs: int = 6) -> str:
    f = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1), "group": 1, "parts": 1, "bias": True, **form}
    two = [
        f"{word}: {n}"
        for word, name in (("kernel_size", "kernel"), ("stride", "stride"), ("pad", "pad"), ("dilation", "dilation"))
        for n in f[name]
    ]
    tail = f"group: {f['group']} deformable_group: {f['parts']} bias_term: {str(f['bias']).lower()}"
    return f"num_output: {outputs} {' '.join(two)} {tail} {RANDOM}"


def inputs(
    form: dict, seed: int = 0, batch: int = 2, channels: int = 4, size: tuple = (6, 7), reach: float = 1.5
) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    f = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1), "parts": 1, **form}
    out = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(size, f["pad"], f["dilation"], f["kernel"], f["stride"])
    ]
    rows = f["parts"] * f["kernel"][0] * f["kernel"][1]
    shapes = (batch, channels, *size), (batch, 2 * rows, *out), (batch, rows, *out)
    return [rng.standard_normal(shapes[0]), rng.uniform(-reach, reach, shapes[1]), rng.uniform(0, 1, shapes[2])]


def sample(plane: np.ndarray, y: float, x: float) -> float:
    """The bilinear value of a map that goes on with zeros."""
    total = 0.0
    for row, column in product((floor(y), floor(y) + 1), (floor(x), floor(x) + 1)):
        if 0 <= row < plane.shape[0] and 0 <= column < plane.shape[1]:
            total += (1 - abs(y - row)) * (1 - abs(x - column)) * plane[row, column]
    return total


def reference(x, offset, mask, weights, bias, form: dict) -> np.ndarray:
    f = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1), "group": 1, "parts": 1, **form}
    (batch, channels), (outputs, inner, kh, kw) = x.shape[:2], weights.shape
    top = np.zeros((batch, outputs, *offset.shape[2:]))
    for i, o, c, r, s, py, px in product(*map(range, (batch, outputs, inner, kh, kw, *offset.shape[2:]))):
        channel = o // (outputs // f["group"]) * inner + c
        row = channel // (channels // f["parts"]) * kh * kw + r * kw + s
        y = py * f["stride"][0] - f["pad"][0] + r * f["dilation"][0] + offset[i, 2 * row, py, px]
        across = px * f["stride"][1] - f["pad"][1] + s * f["dilation"][1] + offset[i, 2 * row + 1, py, px]
        value = sample(x[i, channel], y, across) * (1 if mask is None else mask[i, row, py, px])
        top[i, o, py, px] += weights[o, c, r, s] * value
    return top if bias is None else top + bias[:, None, None]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forward(form, device):
    arrays = inputs(form)
    for text, bottoms in ((PLAIN, 2), (MASKED, 3)):
        r = Rig(text % prototxt(form), arrays[:bottoms], device=device, dtype=np.float64)
        blobs = [np.array(b.data) for b in r.layer.blobs]
        weights, bias = blobs[0], blobs[1] if len(blobs) > 1 else None
        mask = arrays[2] if bottoms == 3 else None
        close(r.forward()[0], reference(arrays[0], arrays[1], mask, weights, bias, form), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_without_offsets_it_is_convolution(form, device):
    x, offset, mask = inputs(form)
    text = prototxt(form)
    plain = Rig(
        f'type: "Convolution" convolution_param {{ {text} }}'.replace(f"deformable_group: {form.get('parts', 1)}", ""),
        [x],
        device=device,
    )
    blobs = [np.array(b.data) for b in plain.layer.blobs]
    r = Rig(MASKED % text, [x, 0 * offset, 1 + 0 * mask], device=device, params=blobs)
    close(r.forward()[0], plain.forward()[0])
    diff = np.random.default_rng(1).standard_normal(r.top[0].shape)
    close(r.backward([diff], [True, False, False])[0], plain.backward([diff])[0])
    for got, wanted in zip(r.param_diffs(), plain.param_diffs()):
        close(got, wanted)


@pytest.mark.later(but=2)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_gradient(form, device):
    for text, bottoms in ((PLAIN, 2), (MASKED, 3)):
        r = Rig(text % prototxt(form), inputs(form)[:bottoms], device=device, dtype=np.float64)
        check_gradient(r, range(bottoms))
    check_gradient(r, [1])  # the columns' gradient alone


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_as_torchvision(form):
    try:
        import torch
        from torchvision.ops import deform_conv2d
    except (ImportError, RuntimeError) as error:  # not there, or without its kernels
        pytest.skip(f"torchvision: {error}")

    f = {"stride": (1, 1), "pad": (0, 0), "dilation": (1, 1), **form}
    arrays = inputs(form, reach=4)
    r = Rig(MASKED % prototxt(form), arrays, dtype=np.float64)
    top = r.forward()[0]
    diff = np.random.default_rng(2).standard_normal(top.shape)
    diffs = r.backward([diff])
    x, offset, mask = (torch.tensor(a, requires_grad=True) for a in arrays)
    blobs = [torch.tensor(b.data, requires_grad=True) for b in r.layer.blobs]
    bias = blobs[1] if len(blobs) > 1 else None
    out = deform_conv2d(x, offset, blobs[0], bias, f["stride"], f["pad"], f["dilation"], mask)
    out.backward(torch.tensor(diff))
    close(top, out.detach().numpy(), rtol=1e-10, atol=1e-12)
    for got, tensor in zip(diffs + r.param_diffs(), [x, offset, mask, *blobs]):
        close(got, tensor.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_one_tap_by_hand(device):
    x = np.arange(12.0).reshape(1, 1, 3, 4)  # v = 4 y + x
    offset = np.zeros((1, 2, 3, 4))
    offset[0, :, 0, 0] = 0.5, 0.25  # 4 * 0.5 + 0.25
    offset[0, :, 1, 3] = 0, 0.5  # half of the pixel 7, half of nothing
    offset[0, :, 2, 0] = 1, 0  # one whole pixel outside
    offset[0, :, 2, 1] = np.nan, np.inf
    text = (
        'num_output: 1 kernel_size: 1 deformable_group: 1 bias_term: false weight_filler { type: "constant" value: 2 }'
    )
    top = Rig(PLAIN % text, [x, offset], device=device).forward()[0][0, 0] / 2
    assert top.tolist() == [[2.25, 1, 2, 3], [4, 5, 6, 3.5], [0, 0, 10, 11]]


def test_four_deformable_groups_unless_said():
    form = dict(kernel=(1, 1), parts=4)
    r = Rig(PLAIN % prototxt(form).replace("deformable_group: 4", ""), inputs(form)[:2])
    assert r.layer.parts == 4


def test_modulated_reads_a_parameter_of_its_own():
    form = FORMS["3x3"]
    text = (MASKED % prototxt(form)).replace("deformable_convolution_param", "modulated_deformable_convolution_param")
    assert Rig(text, inputs(form)).forward()[0].shape == (2, 6, 6, 7)


def test_reshape_and_no_images(device):
    form = FORMS["groups"]
    arrays = inputs(form)
    r = Rig(MASKED % prototxt(form), arrays, device=device)
    first = r.forward()[0]
    for other in (inputs(form, batch=1, size=(3, 9)), inputs(form, batch=0)):
        for i, value in enumerate(other):
            r.set_bottom(i, value)
        assert r.forward()[0].shape == (*other[0].shape[:1], 6, *other[1].shape[2:])
        r.backward([np.ones(r.top[0].shape)])
    for i, value in enumerate(arrays):
        r.set_bottom(i, value)
    assert np.array_equal(r.forward()[0], first)


def test_the_same_for_any_number_of_threads(monkeypatch):
    form = FORMS["3x3"]
    arrays = inputs(form, size=(20, 21), channels=8)
    r = Rig(MASKED % prototxt(form, 12), arrays)
    diff = np.random.default_rng(3).standard_normal(r.top[0].shape)
    results = []
    for workers in (1, 2, 5):
        monkeypatch.setattr(r.device, "workers", workers)
        results.append([r.forward()[0], *r.backward([diff]), *r.param_diffs()])
    for other in results[1:]:
        for a, b in zip(results[0], other):
            assert np.array_equal(a, b)


def test_only_what_is_asked_for_is_written():
    r = Rig(MASKED % prototxt(FORMS["3x3"]), inputs(FORMS["3x3"]))
    r.layer.param_propagate_down = [False, False]
    r.forward()
    diffs = r.backward([np.ones(r.top[0].shape)], [False, False, True])
    assert np.isnan(diffs[0]).all()
    assert np.isnan(diffs[1]).all()
    assert np.isfinite(diffs[2]).all()
    assert not any(d.any() for d in r.param_diffs())


@pytest.mark.parametrize(
    ("change", "shapes", "message"),
    [
        ("", ((2, 4, 6), None, None), "4 axes"),
        ("", (None, (2, 9, 6, 7), None), "offsets"),
        ("", (None, (2, 18, 5, 7), None), "offsets"),
        ("", (None, None, (2, 18, 6, 7)), "mask"),
        ("", (None, None, (1, 9, 6, 7)), "mask"),
        ("deformable_group: 3", (None, None, None), "deformable_group 3"),
        ("deformable_group: 0", (None, None, None), "deformable_group 0"),
        ("num_output: 0", (None, None, None), "num_output"),
        ("axis: 2", (None, None, None), "axis must be 1"),
        ("pad: 0", ((2, 4, 2, 7), None, None), "does not fit"),
    ],
)
def test_errors(change, shapes, message):
    arrays = [a if s is None else np.zeros(s) for a, s in zip(inputs(FORMS["3x3"]), shapes)]
    text = prototxt(FORMS["3x3"])
    if change:
        word = change.split(":")[0] + ":"
        words = text.split()
        for at in [i for i, w in enumerate(words) if w == word][::-1]:
            del words[at : at + 2]
        text = f"{change} {' '.join(words)}"
    with pytest.raises(LayerError, match=message):
        Rig(MASKED % text, arrays)
