"""DecodeBBox: regions moved by what a detector says of them, for the next stage of a cascade."""

from __future__ import annotations

import numpy as np

from ...device import Blob
from ..core import Layer


class DecodeBBox(Layer, type="DecodeBBox", param=("decode_bbox_param", "bbox_reg_param"), bottoms=(2, 3), tops=1):
    """Bottoms: offsets (R, 8), class-agnostic, of which the last four are read; regions (R, 5): image, xmin, ymin, xmax,
    ymax; in TRAIN, if given, the matched true boxes (R, C), whose last number is their overlap with the region.

    top (K, 5): the regions at offset * std + mean, their centre at the middle of the first and last pixel. In TRAIN those
    whose end lies before their start are left out, and those whose overlap is gt_iou_thr or more: true boxes themselves.
    bbox_reg_param { bbox_mean bbox_std }, four each; decode_bbox_param { gt_iou_thr: 0.95 }. No gradient. makefile/frcnn's
    form, with offsets (R, 4 C), scores (R, C) and regions as bottoms, takes those of the best class but the background; that
    program takes the last class with a score above the first one's instead.
    Sources: Cai and Vasconcelos 2018 (Cascade R-CNN) and its Caffe; there, that no region is left is an error.
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p = self.param.bbox_reg_param
        self.mean, self.std = np.zeros(4), np.ones(4)
        if p.bbox_mean and p.bbox_std:
            self.need(
                len(p.bbox_mean) == len(p.bbox_std) == 4 and min(p.bbox_std) > 0,
                f"bbox_mean and bbox_std must be four numbers each, std above 0; got {list(p.bbox_mean)}, {list(p.bbox_std)}",
            )
            self.mean, self.std = np.array(p.bbox_mean), np.array(p.bbox_std)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = [(*blob.shape, 1)[:2] for blob in bottom]
        count = rows[0][0]
        self.by_score = len(bottom) == 3 and rows[1][1] * 4 == rows[0][1] and rows[2][1] == 5
        regions = rows[2 if self.by_score else 1]
        self.need(regions == (count, 5), f"the regions must be ({count}, 5), got {regions}")
        if self.by_score:
            self.need(rows[1][1] > 1, f"scores must be of two classes or more, got {rows[1]}")
        else:
            self.need(rows[0][1] == 8, f"bottom 0, the offsets, must be (R, 8), got {bottom[0].shape}")
            self.need(len(bottom) == 2 or self.phase == "TRAIN", "a third bottom is for TRAIN alone")
        self.need(all(row[0] == count for row in rows), f"bottoms must have the same number of rows, got {rows}")
        top[0].reshape(*bottom[2 if self.by_score else 1].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        arrays = [np.asarray(blob.data).reshape(len(blob.data), -1) for blob in bottom]
        offsets, regions = arrays[0].reshape(len(arrays[0]), -1, 4), arrays[2 if self.by_score else 1]
        which = arrays[1][:, 1:].argmax(1) + 1 if self.by_score else np.ones(len(regions), int)
        by = offsets[np.arange(len(regions)), which] * self.std.astype(self.dtype) + self.mean.astype(self.dtype)
        size = regions[:, 3:] - regions[:, 1:3] + 1
        with np.errstate(over="ignore", invalid="ignore"):
            grown = size * np.exp(by[:, 2:])
            start = by[:, :2] * size + (regions[:, 1:3] + regions[:, 3:]) / 2 - (grown - 1) / 2
            boxes = np.concatenate([start, start + grown - 1], 1)
        keep = np.ones(len(boxes), bool)
        if self.phase == "TRAIN":
            keep = ~((boxes[:, 0] > boxes[:, 2]) | (boxes[:, 1] > boxes[:, 3]))
            if len(arrays) == 3 and not self.by_score:
                keep &= arrays[2][:, -1] < self.param.decode_bbox_param.gt_iou_thr
        top[0].reshape(int(keep.sum()), *top[0].shape[1:])
        top[0].data[...] = np.concatenate([regions[keep, :1], boxes[keep]], 1).reshape(top[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return False
