"""Fixed-point layers of Xilinx's Caffe, against their formulas in numpy: where the point goes, and what is rounded how."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError

RNG = np.random.default_rng(8)
X = RNG.standard_normal((3, 4, 30, 47)) * 3
NEURON = 'type: "FixedNeuron" fixed_param { bit_width: 5 fixed_method: %s }'
WEIGHTS, FIXED = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }', "fixed_param { bit_width: 5 } "
CONVOLUTION = f"convolution_param {{ num_output: 4 kernel_size: 3 {WEIGHTS} }}"
PLAIN = {
    "Convolution": CONVOLUTION,
    "Deconvolution": CONVOLUTION,
    "InnerProduct": f"inner_product_param {{ num_output: 4 {WEIGHTS} }}",
    "Scale": 'scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } }',
    "Normalize": 'norm_param { channel_shared: false scale_filler { type: "gaussian" } }',
    "PReLU": 'prelu_param { filler { type: "gaussian" } }',
}
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (NEURON % "DIFF_S_SIGMOID", [X], None, {"phase": "TRAIN"}),
    ('type: "FixedNeuron" fixed_param { follow_data_layer: true }', [X]),
    (f'type: "ScaleFixed" {FIXED} {PLAIN["Scale"]}', [X]),
]


def held(x, place, bits=5):
    """Halves away from 0."""
    whole = np.sign(x) * np.floor(np.abs(x) * 2.0**place + 0.5)
    return np.clip(whole, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) / 2.0**place


def point(x, method, bits=5):
    """By the text of the program: the last place without an overflow, and from there the least error."""
    step = max(x.min() / (-(2 ** (bits - 1)) - 0.5), x.max() / (2 ** (bits - 1) - 0.5))
    first = int(np.floor(np.log2(1 / step)))
    if method == "OVER_FLOW":
        return first
    same = (lambda v: np.exp(-np.logaddexp(0, -v))) if method == "DIFF_S_SIGMOID" else (lambda v: v)
    errors = [((same(x) - same(held(x, first + k, bits))) ** 2).sum() for k in range(10 if "SIG" in method else 5)]
    return first + int(np.argmin(errors))


@pytest.mark.parametrize("method", ["OVER_FLOW", "DIFF_S", "DIFF_A", "DIFF_S_SIGMOID"])
@pytest.mark.parametrize("scale", [1, 1e-5, 700])
def test_the_point_goes_by_the_numbers(method, scale, device):
    """17 000 numbers: several blocks."""
    x = X * scale
    rig = Rig(NEURON % method, [x], device=device, dtype=np.float64, phase="TRAIN")
    got, place = rig.forward()[0], point(x, method)
    assert float(np.asarray(rig.layer.blobs[0].data)[0]) == place
    np.testing.assert_array_equal(got, held(x, place))
    top = RNG.standard_normal(x.shape)
    np.testing.assert_array_equal(rig.backward([top], [True])[0], top)
    assert len(np.unique(got)) <= 32


def test_the_parameter_counts_at_test_and_holds_what_was_most_often_in_train(device):
    halves = np.array([0.5, 1.5, -0.5, -1.5, 9.0, -20.0, 0.26])
    rig = Rig(NEURON % "DIFF_S", [halves], device=device, params=[[0.9]])
    wanted = np.array([1, 2, 0, -1, 9, -16, 0])  # below 0 halves go up, as the machine's
    np.testing.assert_array_equal(rig.forward()[0], wanted)
    data = Rig(
        'type: "FixedNeuron" fixed_param { bit_width: 5 follow_data_layer: true }',
        [halves],
        device=device,
        params=[[1]],
    )
    np.testing.assert_array_equal(data.forward()[0], [0.5, 1.5, -0.5, -1.5, 9, -20, 0])  # cut, without a limit
    train = Rig(NEURON % "OVER_FLOW", [halves], device=device, phase="TRAIN")
    for scale, often in ((1, -1), (4, -3), (4, -3), (1, -3)):  # of two as often the lower
        train.set_bottom(0, halves * scale)
        np.testing.assert_array_equal(train.forward()[0], held(halves * scale, point(halves * scale, "OVER_FLOW")))
        assert np.asarray(train.layer.blobs[0].data)[0] == often
    nothing = Rig(NEURON % "DIFF_S", [np.zeros(5)], device=device, phase="TRAIN")
    assert not nothing.forward()[0].any()
    assert np.asarray(nothing.layer.blobs[0].data)[0] == 32767
    assert not Rig(NEURON % "DIFF_S", [halves], device=device, params=[[32767]]).forward()[0].any()
    off = Rig('type: "FixedNeuron" fixed_param { enable: false }', [halves], device=device)
    np.testing.assert_array_equal(off.forward()[0], halves.astype(np.float32))


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("method", ["OVER_FLOW", "DIFF_S"])
def test_parameters_are_rounded_forward_and_not_backward(kind, method, device):
    x = X[:, :, :6, :7]
    options = {"device": device, "dtype": np.float64}
    text = f'type: "{kind}Fixed" {PLAIN[kind]} fixed_param {{ bit_width: 5 fixed_method: {method} }}'
    rig = Rig(text, [x], **options)
    params = [RNG.standard_normal(blob.shape) * (1 + 8 * i) for i, blob in enumerate(rig.layer.blobs)]
    rounded = [held(values, point(values, method)) for values in params]
    rig = Rig(text, [x], params=params, **options)
    with_rounded = Rig(f'type: "{kind}" {PLAIN[kind]}', [x], params=rounded, **options)
    plain = Rig(f'type: "{kind}" {PLAIN[kind]}', [x], params=params, **options)
    wanted = with_rounded.forward()[0]
    np.testing.assert_array_equal(rig.forward()[0], wanted)
    assert not np.array_equal(wanted, plain.forward()[0])
    top = RNG.standard_normal(wanted.shape)
    np.testing.assert_array_equal(rig.backward([top], [True])[0], plain.backward([top], [True])[0])
    for own, other in zip(rig.param_diffs(), plain.param_diffs()):
        np.testing.assert_array_equal(own, other)
    for blob, values in zip(rig.layer.blobs, params):
        np.testing.assert_array_equal(np.asarray(blob.data), values)
    off = Rig(text.replace("bit_width: 5", "enable: false"), [x], params=params, **options)
    np.testing.assert_array_equal(off.forward()[0], plain.forward()[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'type: "ScaleFixed" {PLAIN["Scale"]}', "without fixed_param"),
        (
            f'type: "ScaleFixed" {PLAIN["Scale"]} fixed_param {{ fixed_method: DIFF_A }}',
            "DIFF_A is of FixedNeuron alone",
        ),
        ('type: "FixedNeuron" fixed_param { bit_width: 0 }', "bit_width must be from 1 to 24, got 0"),
    ],
)
def test_refused(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(text, [X])
