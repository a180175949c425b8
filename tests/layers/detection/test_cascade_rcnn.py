"""DecodeBBox and BoxGroupOutput: regions for the next stage of a cascade."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Rig, close

from boxpresso import LayerError

RNG = np.random.default_rng(14)


def test_decode_bbox(device):
    regions = np.array([[0, 10, 10, 19, 29], [1, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    offsets = np.zeros((3, 8))
    offsets[:, :4] = np.nan  # the background's are not read
    offsets[0, 4:] = [1, -1, 0, np.log(2) / 0.2]
    zeros, stds = "bbox_mean: 0 " * 4, "bbox_std: 0.1 bbox_std: 0.1 bbox_std: 0.2 bbox_std: 0.2"
    text = f'type: "DecodeBBox" bbox_reg_param {{ {zeros} {stds} }}'
    moved = Rig(text, [offsets, regions], device=device).forward()[0]
    close(moved, [[0, 11, -2, 20, 37], [1, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    overlaps = np.array([[0, 0.95], [0, 0.94], [0, 0.1]])
    offsets[2, 6] = -50  # a width of 0: its end is 1 before its start
    train = Rig(text, [offsets, regions, overlaps], device=device, phase="TRAIN").forward()[0]
    close(train, [[1, 0, 0, 9, 9]])
    with pytest.raises(LayerError, match="TRAIN alone"):
        Rig(text, [offsets, regions, overlaps])


def test_decode_bbox_of_the_best_class(device):
    offsets = np.zeros((2, 12))
    offsets[0, 4], offsets[1, 8] = 0.5, 0.5
    scores = np.array([[0.8, 0.15, 0.05], [0.1, 0.2, 0.7]])
    regions = np.array([[0, 0, 0, 9, 9], [0, 0, 0, 9, 9]])
    moved = Rig('type: "DecodeBBox"', [offsets, scores, regions], device=device).forward()[0]
    close(moved, [[0, 5, 0, 14, 9], [0, 5, 0, 14, 9]])


GROUPS = """type: "BoxGroupOutput" box_group_output_param { fg_thr: 0.3 iou_thr: 0.5 min_size: 2 %s
    box_group_param { field_w: 8 field_h: 8 stride: 8 } box_group_param { field_w: 16 field_h: 16 stride: 16 } }"""


def test_box_group_output(device):
    background = np.full((2, 2, 2, 2), 0.9)
    background[0, 0, 0, 0], background[0, 0, 0, 1], background[1, 0, 1, 1] = 0.2, 0.4, 0.5
    offsets = np.zeros((2, 4, 2, 2))
    offsets[0, :, 0, 0] = [9, 0, 0, -9]  # bounded: half a field, half its size
    coarse = np.full((2, 1, 1, 1), 0.95)
    coarse[0] = 0.65
    bottoms = [background, offsets, coarse, np.zeros((2, 4, 1, 1))]
    regions, scored = Rig(GROUPS % "", bottoms, device=device, tops=2).forward()
    close(regions[:, :, 0, 0], [[0, 4, 2, 11, 5], [0, 8, 0, 15, 7], [0, 0, 0, 15, 15], [1, 8, 8, 15, 15]])
    close(scored[:, 5, 0, 0], [0.8, 0.6, 0.35, 0.5])
    assert len(Rig(GROUPS % "max_nms_num: 1", bottoms, device=device).forward()[0]) == 2
    bottoms[0] = np.ones_like(background)
    bottoms[2] = np.ones_like(coarse)
    assert Rig(GROUPS % "", bottoms, device=device).forward()[0].shape == (0, 5, 1, 1)
    with pytest.raises(LayerError, match="2 box_group_param"):
        Rig(GROUPS.replace("box_group_param { field_w: 8 field_h: 8 stride: 8 }", "") % "", bottoms)
