"""DetectionEvaluate: which detections are right, by hand; Caffe's own numbers are in test_golden_caffe.py."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso import LayerError

TEXT = 'type: "DetectionEvaluate" detection_evaluate_param {{ num_classes: 3 {} }}'


def found(*rows):
    return np.array(rows, float).reshape(1, 1, -1, 7)


def truth(*rows):
    return np.array(rows, float).reshape(1, 1, -1, 8)


def evaluate(detections, boxes, param="", device="cpu"):
    rig = Rig(TEXT.format(param), [detections, boxes], device=device)
    assert rig.top[0].shape[:2] == (1, 1)
    return rig.forward()[0][0, 0]


def test_by_hand(device):
    boxes = truth([0, 1, 0, 0, 0, 0.4, 0.4, 0], [0, 1, 1, 0.5, 0.5, 0.9, 0.9, 0], [2, 2, 0, 0, 0, 1, 1, 0])
    rows = evaluate(
        found(
            [1, 1, 0.3, 0, 0, 0.4, 0.4],  # an image without true boxes
            [0, 1, 0.5, 0, 0, 0.4, 0.4],  # right, but the better one has it
            [0, 1, 0.9, 0, 0, 0.4, 0.39],
            [0, 1, 0.8, 0.5, 0.5, 0.9, 0.6],  # overlaps by a quarter
            [0, 2, 0.7, 0, 0, 1, 1],  # a label without true boxes
            [2, 2, 0.6, 0, 0, 1, 0.5],  # just the threshold
        ),
        boxes, device=device,
    )  # fmt: skip
    close(rows[:2], [[-1, 1, 2, -1, -1], [-1, 2, 1, -1, -1]])
    close(rows[2:], [[0, 1, 0.9, 1, 0], [0, 1, 0.8, 0, 1], [0, 1, 0.5, 0, 1], [0, 2, 0.7, 0, 1], [1, 1, 0.3, 0, 1],
                     [2, 2, 0.6, 1, 0]])  # fmt: skip


def test_difficult_boxes(device):
    boxes = truth([0, 1, 0, 0, 0, 1, 1, 1], [0, 1, 0, 2, 2, 3, 3, 0])
    detections = found([0, 1, 0.9, 0, 0, 1, 1], [0, 1, 0.8, 0, 0, 1, 1], [0, 1, 0.7, 2, 2, 3, 3])
    close(
        evaluate(detections, boxes, device=device)[:, 2:],
        [[2, -1, -1], [0, -1, -1], [0.9, 1, 0], [0.8, 0, 1], [0.7, 1, 0]],
    )
    easy = evaluate(detections, boxes, "evaluate_difficult_gt: false", device)
    close(easy[:, 2:], [[1, -1, -1], [0, -1, -1], [0.9, 0, 0], [0.8, 0, 0], [0.7, 1, 0]])


def test_nothing_found_and_no_true_boxes(device):
    assert len(evaluate(found([0, -1, -1, -1, -1, -1, -1]), truth([0, 1, 0, 0, 0, 1, 1, 0]), device=device)) == 2
    rows = evaluate(found([0, 2, 0.5, 0, 0, 1, 1]), truth([-1] * 8), device=device)
    close(rows[:, 2:], [[0, -1, -1], [0, -1, -1], [0.5, 0, 1]])
    assert len(evaluate(np.zeros((1, 1, 0, 7)), np.zeros((1, 1, 0, 8)), device=device)) == 2


def test_reading_ends_at_the_first_row_without_an_image():
    boxes = truth([0, 1, 0, 0, 0, 1, 1, 0], [-1] * 8, [0, 1, 0, 2, 2, 3, 3, 0])
    rows = evaluate(found([0, 1, 0.9, 2, 2, 3, 3]), boxes)
    close(rows[:, 2:], [[1, -1, -1], [0, -1, -1], [0.9, 0, 1]])


def test_background_elsewhere():
    rows = evaluate(found([0, 0, 0.9, 0, 0, 1, 1]), truth([0, 0, 0, 0, 0, 1, 1, 0]), "background_label_id: 2")
    close(rows, [[-1, 0, 1, -1, -1], [-1, 1, 0, -1, -1], [0, 0, 0.9, 1, 0]])


def test_in_pixels_of_each_image(tmp_path, device):
    """2 x 10 pixels: with the last pixel counted boxes of 0.5 and 1 image overlap by more than in parts of it."""
    path = tmp_path / "sizes.txt"
    path.write_text("a 100 100\nb 2 10\n")
    boxes = truth([0, 1, 0, 0, 0, 1, 1, 0], [1, 1, 0, 0, 0, 1, 1, 0])
    detections = found([0, 1, 0.9, 0, 0, 1, 0.5], [1, 1, 0.8, 0, 0, 1, 0.5])
    param = f'overlap_threshold: 0.6 name_size_file: "{path.as_posix()}"'
    rig = Rig(TEXT.format(param), [detections, boxes], device=device)
    assert rig.forward()[0][0, 0, 2:, 3].tolist() == [0, 1]  # 51/101 and 2/3
    assert rig.forward()[0][0, 0, 2:, 3].tolist() == [0, 1]  # from the start again
    path.write_text("a 100\n")
    with pytest.raises(LayerError, match="name height width"):
        Rig(TEXT.format(param), [detections, boxes])


def test_what_is_wrong_is_said():
    with pytest.raises(LayerError, match="num_classes"):
        Rig('type: "DetectionEvaluate"', [np.zeros((1, 1, 1, 7)), np.zeros((1, 1, 1, 8))])
    with pytest.raises(LayerError, match="overlap_threshold"):
        Rig(TEXT.format("overlap_threshold: 0"), [np.zeros((1, 1, 1, 7)), np.zeros((1, 1, 1, 8))])
    with pytest.raises(LayerError, match=r"bottom 1.*\(1, 1, N, 8\)"):
        Rig(TEXT.format(""), [np.zeros((1, 1, 1, 7)), np.zeros((1, 1, 1, 7))])
    with pytest.raises(LayerError, match="background"):
        evaluate(found([0, 0, 0.9, 0, 0, 1, 1]), truth([0, 1, 0, 0, 0, 1, 1, 0]))


@pytest.mark.filterwarnings("error")
def test_boxes_without_an_end_are_wrong_and_warn_of_nothing():
    """As an SSD has them in the test of its first iterations."""
    inf = np.inf
    odd = [[0, 0, inf, 0], [inf, 0, inf, 9], [-inf, -inf, inf, inf], [0, 0, 3e38, 3e38], [np.nan, 0, 1, 1]]
    detections = found(*([0, 1, 0.9 - i / 10, *box] for i, box in enumerate(odd)), [0, 1, 0.1, 0, 0, 1, 1])
    rows = evaluate(detections.astype(np.float32), truth([0, 1, 0, 0, 0, 1, 1, 0]).astype(np.float32))
    close(rows[2:, 3:], [[0, 1]] * len(odd) + [[1, 0]])
