"""Online hard example mining: BoxAnnotatorOHEM and the losses beside it."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(13)


def test_box_annotator_ohem(device):
    regions = np.zeros((5, 5))
    regions[3:, 0] = 1
    losses, labels = np.array([1, 3, 3, 0.5, 2]), np.arange(1, 6)
    text = 'type: "BoxAnnotatorOHEM" box_annotator_ohem_param { roi_per_img: 1 ignore_label: -1 }'
    rig = Rig(text, [regions, losses, labels, np.ones((5, 8))], device=device, tops=2)
    hard_labels, weights = rig.forward()
    assert hard_labels.shape == (5, 1, 1, 1)
    assert hard_labels.ravel().tolist() == [-1, 2, -1, -1, 5]
    assert weights.shape == (5, 8, 1, 1)
    assert weights.sum((1, 2, 3)).tolist() == [0, 8, 0, 0, 8]
    with pytest.raises(LayerError, match="roi_per_img"):
        Rig('type: "BoxAnnotatorOHEM"', [regions, losses, labels, np.ones((5, 8))], tops=2)
    with pytest.raises(LayerError, match="bottom 1"):
        Rig(text, [regions, np.ones(4), labels, np.ones((5, 8))], tops=2)


@pytest.mark.parametrize(
    ("param", "divisor"),
    [("", 12), ("normalization: BATCH_SIZE", 3), ("normalization: NONE", 1), ("normalize: false", 3),
     ("normalization: PRE_FIXED pre_fixed_normalizer: 128", 128)],
)  # fmt: skip
def test_smooth_l1_loss_ohem(param, divisor, device):
    a, b = RNG.normal(0, 1.5, (2, 3, 5, 2, 2))
    weights = RNG.integers(0, 3, a.shape).astype(float)
    d = np.abs((a - b) * weights)
    each = np.where(d < 1, d * d / 2, d - 0.5)
    text = f'type: "SmoothL1LossOHEM" loss_param {{ {param} }}'
    rig = Rig(text, [a, b, weights], device=device, tops=2)
    total, regions = rig.forward()
    close(total, each.sum() / divisor)
    close(regions, each.sum(1, keepdims=True))
    one = Rig(text, [a, b, weights], device=device, dtype=np.float64)
    check_gradient(one, bottoms=(0, 1))
    two = Rig(text, [a[:0], b[:0]], device=device)
    assert two.forward()[0] == 0


@pytest.mark.parametrize("param", ["", "ignore_label: 1", "normalization: FULL ignore_label: 1", "normalization: NONE"])
def test_softmax_loss_ohem(param, device):
    scores = RNG.normal(0, 2, (4, 3, 2, 2))
    labels = RNG.integers(0, 3, (4, 1, 2, 2)).astype(float)
    plain = Rig(f'type: "SoftmaxWithLoss" loss_param {{ {param} }}', [scores, labels], device=device, tops=2)
    rig = Rig(f'type: "SoftmaxWithLossOHEM" loss_param {{ {param} }}', [scores, labels], device=device, tops=3)
    wanted, (total, probability, each) = plain.forward(), rig.forward()
    close(total, wanted[0])
    close(probability, wanted[1])
    logs = -np.log(np.take_along_axis(wanted[1], labels.astype(int), 1))
    close(each, np.where((labels == 1) & ("ignore" in param), 0, logs))
    up = [np.float32(1.7), np.zeros_like(scores), np.zeros_like(labels)]
    close(rig.backward(up, [True, False])[0], plain.backward(up[:2], [True, False])[0])
    check_gradient(
        Rig(f'type: "SoftmaxWithLossOHEM" loss_param {{ {param} }}', [scores, labels], device=device, dtype=np.float64)
    )
    rig.set_bottom(1, labels + 2)
    with pytest.raises(LayerError, match="none of the 3 channels"):
        rig.forward()
