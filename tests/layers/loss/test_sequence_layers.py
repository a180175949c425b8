"""Layers that read sequences of labels, against edit distances in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig

from boxpresso import LayerError

RNG = np.random.default_rng(11)
STEPS, BATCH, CLASSES = 9, 7, 4
SCORES = RNG.standard_normal((BATCH, STEPS, CLASSES))
SCORES[1, 2:5] = SCORES[1, 2]  # a class that stays
RUNNING = (np.arange(STEPS)[:, None] < RNG.integers(3, STEPS + 1, BATCH)).astype(float)
WANTED = np.where(
    np.arange(STEPS)[None] < RNG.integers(0, STEPS, BATCH)[:, None], RNG.integers(0, 3, (BATCH, STEPS)), -1
)
DECODER = 'type: "CTCGreedyDecoder" ctc_decoder_param { %s }'
LABELS, PLAIN = (
    'type: "LabelsequenceAccuracy" labelsequence_accuracy_param { blank_label: 3 }',
    'type: "SequenceAccuracy"',
)
LAUNCHES: list[tuple] = [
    (DECODER % "", [SCORES.transpose(1, 0, 2), RUNNING, WANTED.T], [], {"tops": 3}),
    (LABELS, [SCORES, WANTED], []),
    (PLAIN, [WANTED, WANTED[::-1].copy()], [], {"tops": 3}),
]


def spelled(scores: np.ndarray, blank: int, merges: bool = True) -> list[int]:
    best, word = scores.argmax(1), []
    for t, label in enumerate(best):
        if label != blank and not (merges and t and label == best[t - 1]):
            word.append(int(label))
    return word


def distance(a: list[int], b: list[int]) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(distance(a[1:], b[1:]) + (a[0] != b[0]), 1 + min(distance(a[1:], b), distance(a, b[1:])))


def until_negative(row: np.ndarray) -> list[int]:
    return [int(x) for x in row[: np.argmax(np.append(row, -1) < 0)]]


@pytest.mark.parametrize("merges", [True, False])
def test_greedy_decoder(merges, device):
    text = DECODER % f"ctc_merge_repeated: {str(merges).lower()} blank_index: 1"
    bottoms = [SCORES.transpose(1, 0, 2), RUNNING, WANTED.T]
    words, costs, accuracy = Rig(text, bottoms, tops=3, device=device, dtype=np.float64).forward()
    lengths = [int(np.argmin(np.append(RUNNING[1:, k], 0))) + 1 for k in range(BATCH)]
    shares = []
    for k, length in enumerate(lengths):
        word, truth = spelled(SCORES[k, :length], 1, merges), until_negative(WANTED[k])
        assert words[k].ravel().tolist() == word + [-1] * (STEPS - len(word))
        np.testing.assert_allclose(costs[k].ravel(), -SCORES[k, :length].max(1).sum())
        shares.append(distance(word, truth) / max(len(word), len(truth), 1))
    np.testing.assert_allclose(accuracy.ravel(), 1 - np.mean(shares))
    two = Rig(text, bottoms, tops=2, device=device, dtype=np.float64).forward()
    np.testing.assert_array_equal(two[1], accuracy)  # three bottoms and two tops: the accuracy, not the costs


def test_label_sequences(device):
    words = [spelled(row, 3) for row in SCORES]
    labels = np.full((BATCH, STEPS), 3)
    for k, word in enumerate(words):
        labels[k, STEPS - len(word) :] = word  # blanks do not count, wherever they are
    labels[2, -1] = (labels[2, -1] + 1) % 3
    assert words[2]
    top = Rig(LABELS, [SCORES, labels], device=device, dtype=np.float64).forward()[0]
    np.testing.assert_allclose(top, (BATCH - 1) / BATCH)


def test_decoded_sequences(device):
    seen, truth = [until_negative(row) for row in WANTED[::-1]], [until_negative(row) for row in WANTED]
    seen[0] = truth[0]
    decoded = np.full((BATCH, STEPS), -1)
    for k, word in enumerate(seen):
        decoded[k, : len(word)] = word
    share, lengths, right = Rig(PLAIN, [decoded, WANTED], tops=3, device=device, dtype=np.float64).forward()
    away = [distance(a, b) for a, b in zip(seen, truth)]
    np.testing.assert_allclose(share, np.mean([n == 0 for n in away]))
    wanted = [np.mean(away), np.mean([len(word) for word in truth]), np.mean([len(word) for word in seen])]
    np.testing.assert_allclose(lengths, wanted)
    # what is right is at most what neither word lacks, and at least what the distance leaves
    most = np.mean([min(len(a), len(b)) for a, b in zip(seen, truth)])
    assert np.mean([max(len(a), len(b)) - n for a, b, n in zip(seen, truth, away)]) <= right <= most + 1e-9
    tops = Rig(PLAIN, [[[5, 7, -1]], [[1, 5, 7]]], tops=3, device=device).forward()
    assert [top.tolist() for top in tops] == [0, [1, 3, 2], 2]


def test_sequences_that_are_refused():
    for text, bottoms, tops, message in (
        (LABELS, [SCORES[..., None, None], WANTED], 1, "bottom 0 must be"),
        (LABELS, [SCORES[:, :, :3], WANTED], 1, "blank_label 3 is none of the 3 classes"),
        (PLAIN, [WANTED, WANTED[:3]], 1, "labels of the 7 sequences"),
        (DECODER % "", [SCORES, RUNNING], 3, "2 bottoms give at most as many tops"),
        (DECODER % "blank_index: 4", [SCORES.transpose(1, 0, 2), RUNNING], 1, "blank_index 4"),
        (DECODER % "", [SCORES.transpose(1, 0, 2), RUNNING[:4]], 1, "bottom 1 must be"),
    ):
        with pytest.raises(LayerError, match=message):
            Rig(text, bottoms, tops=tops)


def test_a_decoder_with_one_bottom_and_one_with_rows_of_labels(device):
    """caffe_ocr's two forms: all steps count, class 0 is the blank, labels are filled up with blanks or end at the first below 0."""
    scores = np.random.default_rng(6).standard_normal((6, 4, 3))
    words = [spelled(scores[:, n], 0) for n in range(4)]
    top = Rig('type: "CTCGreedyDecoder"', [scores], device=device, dtype=np.float64).forward()[0]
    assert top.shape == (4, 6, 1, 1)
    assert [until_negative(row.ravel()) for row in top] == words
    labels = np.zeros((4, 7))
    for n, word in enumerate(words):
        labels[n, : len(word)] = word
    labels[1, 0], labels[2] = 1 + labels[1, 0] % 2, [2, 0, 1, -1, 1, 1, 1]
    right = [words[0], [int(x) for x in labels[1] if x], [2, 1], words[3]]
    shares = [distance(a, b) / max(len(a), len(b), 1) for a, b in zip(words, right)]
    accuracies = Rig('type: "CTCGreedyDecoder"', [scores, labels], device=device, dtype=np.float64).forward()[0]
    assert accuracies.shape == (1, 2, 1, 1)
    np.testing.assert_allclose(
        accuracies.ravel(), [1 - np.mean(shares), np.mean([a == b for a, b in zip(words, right)])]
    )
    last = Rig(
        'type: "CTCGreedyDecoder" ctc_decoder_param { blank_index: -1 }', [scores], device=device, dtype=np.float64
    )
    assert [until_negative(row.ravel()) for row in last.forward()[0]] == [spelled(scores[:, n], 2) for n in range(4)]
