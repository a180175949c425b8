"""LabelSpecificRescale beside its formula in numpy, score by score."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, check_gradient, close

from boxpresso import LayerError

RNG = np.random.default_rng(8)
ROWS, LABELS = RNG.standard_normal((7, 5)), np.array([0, 4, 2, 2, 1, 3, 9])  # the last is no score's number
KINDS = (
    "positive_weight: 1.5",
    "positive_weight: 0.75 negative_weight: 2",
    "positive_weight: 1.5 bias_fix: true",
    "positive_weight: 3 power_on_positive: true negative_weight: 0.5",
    "positive_weight: 0.75 for_ip: true bias_fix: true",
)


def text(fields: str) -> str:
    return f'type: "LabelSpecificRescale" label_specific_rescale_param {{ {fields} }}'


LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    (text(KINDS[3]), [ROWS, LABELS], [True, False], {"phase": "TRAIN"}),
]


def rescaled(fields: str) -> np.ndarray:
    words = fields.replace(":", "").split()
    values = dict(zip(words[::2], words[1::2]))
    weight, others = float(values["positive_weight"]), float(values.get("negative_weight", 1))
    result = ROWS * others
    for row, label in enumerate(LABELS):
        if label > 4:
            continue
        score = ROWS[row, label]
        if "for_ip" in values and score <= 0:
            result[row, label] = score
        elif "power_on_positive" in values:
            result[row, label] = np.sign(score) * np.abs(score) ** weight
        else:
            result[row, label] = score * weight + (1 - weight if "bias_fix" in values else 0)
    return result


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("fields", KINDS)
def test_scores_and_gradient(fields, in_place, device):
    rig = Rig(text(fields), [ROWS, LABELS], device=device, phase="TRAIN", dtype=np.float64, in_place=in_place)
    close(rig.forward()[0], rescaled(fields), rtol=1e-12)
    check_gradient(Rig(text(fields), [ROWS, LABELS], device=device, phase="TRAIN", dtype=np.float64, in_place=in_place))


def test_in_test_only_on_demand(device):
    for more, wanted in (("", ROWS), (" rescale_test: true", rescaled(KINDS[1]))):
        rig = Rig(text(KINDS[1] + more), [ROWS, LABELS], device=device, phase="TEST", dtype=np.float64)
        close(rig.forward()[0], wanted, rtol=1e-12)
        diff = rig.backward([np.ones((7, 5))], [True, False])[0]
        assert diff[1, 4] == (0.75 if more else 1)
        assert diff[1, 0] == (2 if more else 1)


def test_a_weight_that_changes(device):
    """base (1 + gamma i)^-power, i from iteration + 1 on; the second top says what it was."""
    fields = (
        "positive_weight_base: 4 gamma: 0.5 power: 2 iteration: 1 positive_weight_min: 0.5 positive_weight_max: 0.9"
    )
    rig = Rig(text(fields), [ROWS, LABELS], tops=2, device=device, phase="TRAIN", dtype=np.float64)
    for wanted in (0.9, 0.64, 0.5, 0.5):  # 4 / 2^2, 4 / 2.5^2, 4 / 3^2, ..
        scores, weight = rig.forward()
        close(weight, [wanted], rtol=1e-6)
        close(scores[1, 4], ROWS[1, 4] * wanted, rtol=1e-6)
    still = Rig(text(fields), [ROWS, LABELS], tops=2, device=device, phase="TEST", dtype=np.float64)
    assert still.forward()[1].tolist() == [1]


def test_refused():
    with pytest.raises(LayerError, match="positive_lower_bound does nothing in its program; remove it"):
        Rig(text("positive_lower_bound: 0.1"), [ROWS, LABELS])
    with pytest.raises(LayerError, match="a label for each of the 7 rows"):
        Rig(text(""), [ROWS, LABELS[:3]])
    rig = Rig(text(""), [ROWS, LABELS])
    rig.forward()
    with pytest.raises(LayerError, match="labels have no gradient"):
        rig.backward([ROWS], [True, True])
