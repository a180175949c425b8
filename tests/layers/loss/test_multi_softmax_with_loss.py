"""MultiSoftmaxWithLoss beside numpy: classifiers at the places of a map, and in blocks of a row."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(12)
KIND, FROM_ONE = 'type: "MultiSoftmaxWithLoss"', 'type: "MultiSoftmaxLoss"'
MAPS, OF_MAPS = RNG.standard_normal((3, 4, 2, 5)) * 3, RNG.integers(0, 4, (3, 1, 2, 5))
ROWS, OF_ROWS = RNG.standard_normal((5, 12)) * 3, RNG.integers(0, 4, (5, 3))
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (KIND, [MAPS, OF_MAPS], [True, False]),
    (KIND, [ROWS, OF_ROWS], [True, False]),
    (FROM_ONE, [MAPS, OF_MAPS + 1], [True, False]),
]


def parted(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The scores of each classifier as a row, and its label."""
    if scores.ndim == 4:
        return scores.transpose(0, 2, 3, 1).reshape(-1, scores.shape[1]), labels.ravel()
    return scores.reshape(labels.size, -1), labels.ravel()


@pytest.mark.parametrize(("scores", "labels"), [(MAPS, OF_MAPS), (ROWS, OF_ROWS), (ROWS[:, :4], OF_ROWS[:, 0])])
def test_loss_and_gradient(scores, labels, device):
    rig = Rig(KIND, [scores, labels], tops=2, device=device, dtype=np.float64)
    loss, chances = rig.forward()
    rows, truth = parted(scores, labels)
    wanted = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
    close(loss, -np.log(wanted[np.arange(len(rows)), truth]).sum() / len(scores), rtol=1e-10)
    assert chances.shape == scores.shape
    close(parted(chances, labels)[0], wanted, rtol=1e-10)
    diff = wanted.copy()
    diff[np.arange(len(rows)), truth] -= 1
    got = rig.backward([np.array(2.0), np.zeros(scores.shape)], [True, False])[0]
    close(parted(got, labels)[0], 2 * diff / len(scores), rtol=1e-9, atol=1e-12)
    check_gradient(Rig(KIND, [scores, labels], device=device, dtype=np.float64))


@pytest.mark.parametrize(("scores", "labels"), [(MAPS, OF_MAPS), (ROWS, OF_ROWS)])
def test_labels_from_one(scores, labels, device):
    rig = Rig(FROM_ONE, [scores, labels + 1], device=device, dtype=np.float64)
    rows, truth = parted(scores, labels)
    chances = np.exp(rows) / np.exp(rows).sum(1, keepdims=True)
    close(rig.forward()[0], -np.log(chances[np.arange(len(rows)), truth]).sum() / len(scores), rtol=1e-10)
    check_gradient(rig, bottoms=[0])
    for wrong, seen in ((0, -1), (5, 4)):
        with pytest.raises(LayerError, match=f"label {seen} at 0 is none of the 4 channels"):
            Rig(FROM_ONE, [ROWS, [[wrong, 1, 1], *OF_ROWS[1:] + 1]]).forward()


def test_refused():
    for text, bottoms, message in (
        (
            KIND,
            [ROWS, OF_ROWS[:, :2].repeat(4, 1)],
            "take 5 labels, one for each place, or 5 times a number that parts 12",
        ),
        (KIND, [ROWS, ROWS], "has 60"),  # as many labels as scores: two other layers
        (KIND, [MAPS, OF_MAPS[:, :, :1]], "scores of shape .* take 30 labels"),
        (KIND + " loss_param { ignore_label: 1 }", [MAPS, OF_MAPS], "ignore_label is of another layer of this name"),
        (KIND + " softmax_param { axis: 2 }", [MAPS, OF_MAPS], "takes axis 1 alone, got 2"),
        (KIND + " mult_softmax_loss_param { learning_multiple: 2 }", [MAPS, OF_MAPS], "labels begin with 1"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms)
    with pytest.raises(LayerError, match="label 4 at 0 is none of the 4 channels"):
        Rig(KIND, [ROWS, [[4, 0, 0], *OF_ROWS[1:]]]).forward()
