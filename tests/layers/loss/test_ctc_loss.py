"""CTCLoss beside every path spelled out in numpy."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest
from harness import Rig, check_gradient

from boxpresso import LayerError

RNG = np.random.default_rng(11)
SCORES = RNG.standard_normal((5, 3, 4)) * 2  # steps, sequences, classes
LABELS = np.array([[1, 2, 0], [3, 3, 0], [2, 0, 0]])  # 0 is the blank
RUNNING = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 1]])
TIMED = np.array([[0, 2, 1], [1, 2, 3], [-1, 3, 0], [0, 0, 0], [2, -1, -1]])  # 3, the last class, is the blank
TWO, THREE = [SCORES, LABELS], [SCORES, RUNNING, TIMED]
LAUNCHES: list[tuple] = [  # for tests/device/test_threaded.py
    ('type: "CTCLoss"', TWO, [True, False]),
    ('type: "CTCLoss"', THREE, [True, False, False]),
]


def cost(scores: np.ndarray, word: list[int], blank: int) -> float:
    """-log of the summed probability of all paths that spell a word."""
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    total = 0.0
    for path in product(range(p.shape[1]), repeat=len(p)):
        if [c for c, _ in groupby(path) if c != blank] == word:
            total += np.prod([p[t, c] for t, c in enumerate(path)])
    return -np.log(total) if total else np.inf


def test_labels_of_each_sequence(device):
    wanted = np.mean([cost(SCORES[:, n], [c for c in LABELS[n] if c], 0) for n in range(3)])
    rig = Rig('type: "CtcLoss"', TWO, device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10)
    check_gradient(rig)
    short = Rig('type: "CtcLoss" ctc_loss_param { time_step: 4 alphabet_size: 4 blank_label: 3 }', [SCORES, [[1], [2], [0]]],
                device=device, dtype=np.float64)  # fmt: skip
    wanted = np.mean([cost(SCORES[:4, n], [c], 3) for n, c in enumerate((1, 2, 0))])
    np.testing.assert_allclose(short.forward()[0], wanted, rtol=1e-10)
    assert not short.backward([np.ones(())], [True, False])[0][4].any()


def test_sequences_that_end(device):
    words, steps = [[0, 1], [2, 2], [1]], [5, 4, 3]
    wanted = np.mean([cost(SCORES[:end, n], word, 3) for n, (word, end) in enumerate(zip(words, steps))])
    rig = Rig('type: "CTCLoss"', THREE, device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], wanted, rtol=1e-10)
    check_gradient(rig)
    assert not rig.backward([np.ones(())], [True, False, False])[0][3:, 2].any()


def test_too_few_steps_cost_infinity_and_have_no_gradient(device):
    rig = Rig('type: "CTCLoss"', [SCORES[:2, :1], [[1, 1]]], device=device)  # 1 blank 1 needs three
    assert np.isinf(rig.forward()[0])
    assert not rig.backward([np.ones(())], [True, False])[0].any()


def test_large_scores(device):
    rig = Rig('type: "CTCLoss"', [SCORES * 1000, LABELS], device=device, dtype=np.float64)
    assert np.isfinite(rig.forward()[0])
    assert np.isfinite(rig.backward([np.ones(())], [True, False])[0]).all()


@pytest.mark.parametrize(
    ("bottoms", "fields", "words"),
    [
        ([SCORES, LABELS[:2]], "", "bottom 1 must hold labels of the 3 sequences"),
        (TWO, "alphabet_size: 9", "alphabet_size is 9"),
        (TWO, "blank_label: 4", "the blank, 4, is none"),
        (TWO, "time_step: 6", "time_step is 6, bottom 0 has 5"),
        (TWO, "output_delay: 1", "output_delay is not supported"),
        ([*THREE[:2], LABELS], "", "bottom 2 must be"),
    ],
)
def test_what_it_refuses(bottoms, fields, words):
    with pytest.raises(LayerError, match=words):
        Rig(f'type: "CTCLoss" ctc_loss_param {{ {fields} }}', bottoms)


def test_a_label_that_is_no_class():
    with pytest.raises(LayerError, match="label 7 at 1 is none of the 4 channels"):
        Rig('type: "CTCLoss"', [SCORES, [[1, 7], [0, 0], [2, 2]]]).forward()


def test_warp_ctc_is_the_mean_of_what_can_be_spelled_with_the_gradient_of_the_sum(device):
    """caffe_ocr's: three labels alike need five steps; of four there are too few."""
    labels = np.array([[1, 2, 0], [3, 3, 3], [2, 0, 0]])
    scores = SCORES[:4]
    costs = [cost(scores[:, n], [c for c in labels[n] if c], 0) for n in range(3)]
    assert np.isinf(costs[1])
    rig = Rig('type: "WarpCTCLoss"', [scores, labels], device=device, dtype=np.float64)
    np.testing.assert_allclose(rig.forward()[0], (costs[0] + costs[2]) / 2, rtol=1e-10)
    diff = rig.backward([np.array(2.0)], [True, False])[0]
    plain = Rig('type: "CTCLoss"', [scores, labels], device=device, dtype=np.float64)
    plain.forward()
    np.testing.assert_allclose(diff, 3 * plain.backward([np.array(2.0)], [True, False])[0], rtol=1e-10)
    assert not diff[:, 1].any()
    own = Rig(
        'type: "WarpCTCLoss" ctc_loss_param { blank_index: -1 }',
        [SCORES, [[1], [2], [0]]],
        device=device,
        dtype=np.float64,
    )
    wanted = np.mean([cost(SCORES[:, n], [c], 3) for n, c in enumerate((1, 2, 0))])
    np.testing.assert_allclose(own.forward()[0], wanted, rtol=1e-10)
