"""DenseBlock of DenseNet against its transitions one by one in numpy, and gradients by differences."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso.proto.errors import LayerError

X = np.random.default_rng(9).standard_normal((2, 3, 4, 5))
FIELDS = """numTransition: 2 growthRate: 2 Filter_Filler { type: "gaussian" std: 0.5 } BN_Scaler_Filler { type: "uniform" min: 0.5 max: 1.5 }
    BN_Bias_Filler { type: "uniform" min: -0.3 max: 0.7 } use_BC: %s"""
BLOCK = 'type: "DenseBlock" denseblock_param { ' + FIELDS + " }"
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (BLOCK % "true", [X], None, {"phase": "TRAIN"}), (BLOCK % "false", [X]),
]  # fmt: skip


def turned(x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """A convolution in the mathematical sense, 3 x 3 with a border of zeros: the filters go over the image turned."""
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    total = np.zeros((len(x), len(filters), *x.shape[2:]))
    for i, j in np.ndindex(3, 3):
        part = wide[:, :, 2 - i : 2 - i + x.shape[2], 2 - j : 2 - j + x.shape[3]]
        total += np.einsum("nchw,oc->nohw", part, filters[:, :, i, j])
    return total


def normal(x: np.ndarray, blobs: list[np.ndarray], train: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The normalised, scaled maps above 0; the mean and the unbiased variance of the batch."""
    scale, bias, mean, variance = blobs
    own = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    used = own if train else (mean, variance)
    count = x[:, 0].size
    return np.maximum(scale * (x - used[0]) / np.sqrt(used[1] + 1e-5) + bias, 0), own[0], own[1] * count / (count - 1)


def run(x: np.ndarray, blobs: list[np.ndarray], bottleneck: bool, train: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """The top, and the parameters afterwards."""
    after = [blob.copy() for blob in blobs]
    for t in range(2):
        source = x
        for second in range(1 + bottleneck):
            at = [(5 * second + i) * 2 + t for i in (1, 2, 3, 4)]
            made, mean, variance = normal(source, [blobs[i] for i in at], train)
            if train:
                after[at[2]], after[at[3]] = 0.9 * blobs[at[2]] + 0.1 * mean, 0.9 * blobs[at[3]] + 0.1 * variance
            if bottleneck and not second:
                source = np.einsum("nchw,oc->nohw", made, blobs[10 + t][:, :, 0, 0])
        x = np.concatenate([x, turned(made, blobs[t])], 1)
    return x, after


@pytest.mark.parametrize("bottleneck", [False, True])
@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_each_transition_reads_all_before_it(device, phase, bottleneck):
    rig = Rig(BLOCK % str(bottleneck).lower(), [X], device=device, dtype=np.float64, phase=phase)
    rng = np.random.default_rng(4)
    for i, blob in enumerate(rig.layer.blobs):
        if i // 2 in (3, 8):  # means, and variances behind them
            blob.data[...] = rng.uniform(-0.5, 0.5, blob.shape)
        elif i // 2 in (4, 9):
            blob.data[...] = rng.uniform(0.5, 2, blob.shape)
    blobs = [np.array(blob.data) for blob in rig.layer.blobs]
    assert len(blobs) == (21 if bottleneck else 11)
    top, after = run(X, blobs, bottleneck, phase == "TRAIN")
    np.testing.assert_allclose(rig.forward()[0], top, rtol=1e-9, atol=1e-12)
    for blob, wanted in zip(rig.layer.blobs, after):
        np.testing.assert_allclose(blob.data, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("bottleneck", [False, True])
@pytest.mark.parametrize("phase", ["TRAIN", "TEST"])
def test_gradient(device, phase, bottleneck):
    """Along a way of all that is learned, and of the image, the reference above grows as the gradients say."""
    rig = Rig(BLOCK % str(bottleneck).lower(), [X], device=device, dtype=np.float64, phase=phase)
    blobs = [np.array(blob.data) for blob in rig.layer.blobs]
    learned = [i for i in range(len(blobs) - 1) if i // 2 not in (3, 4, 8, 9)]
    assert [i for i, learns in enumerate(rig.layer.param_propagate_down) if learns] == learned
    rng = np.random.default_rng(7)
    weights = rng.standard_normal(rig.forward()[0].shape)
    diffs = [*rig.backward([weights]), *rig.param_diffs()]
    for i in [-1, *learned]:
        way = rng.standard_normal(X.shape if i < 0 else blobs[i].shape)

        def at(step: float, i: int = i, way: np.ndarray = way) -> float:
            moved = [blob + step * way if j == i else blob for j, blob in enumerate(blobs)]
            top, _ = run(X + step * way if i < 0 else X, moved, bottleneck, phase == "TRAIN")
            return float((top * weights).sum())

        slope = (at(1e-6) - at(-1e-6)) / 2e-6
        np.testing.assert_allclose((diffs[i + 1] * way).sum(), slope, rtol=1e-4, atol=1e-5)
    check_gradient(rig, params=False, samples=20)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("filter_H: 5", r"filter_H, .* must be 3, 3, 1, 1, 1 and 1, got \(5, 3, 1, 1, 1, 1\)"),
        ("growthRate: 0", "must be at least 1"),
        ("use_dropout: true dropout_amount: 0.2", "use_dropout is not supported"),
    ],
)
def test_refused(text, message):
    with pytest.raises(LayerError, match=message):
        Rig(f'type: "DenseBlock" denseblock_param {{ {text} }}', [X], phase="TRAIN")
