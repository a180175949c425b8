"""Boxes at all places, and from one stage to the next: what chooses nothing is written in torch's own operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .table import Run, Tensor, Work, factory, import_torch


@factory("TextProposal")
def text_proposal(w: Work) -> Run:
    """CTPN's boxes: height and centre move, the sides stay."""
    layer, torch = w.layer, import_torch()
    count, (height, width) = len(layer.anchors), w.bottom_shapes[0][2:]
    own = layer.boxes.everywhere(layer.anchors, height, width, layer.stride)
    parts = [own[:, :1], own[:, 2:3], own[:, 3:] - own[:, 1:2] + 1, (own[:, 1:2] + own[:, 3:]) / 2]
    tables = [torch.from_numpy(part.astype(np.float32)) for part in parts]

    def run(p: Any, scores: Tensor, offsets: Tensor, info: Tensor) -> list[Tensor]:
        left, right, tall, centre = (table.to(offsets) for table in tables)
        by = offsets.permute(0, 2, 3, 1).reshape(-1, 2)
        size = by[:, 1:].exp() * tall
        first = by[:, :1] * tall + centre - size / 2
        boxes = clipped(torch.cat([left, first, right, first + size], 1), info)
        return [boxes, scores[:, count:].permute(0, 2, 3, 1).reshape(-1, 1)]

    return run


@factory("MNCStageBridge")
def mnc_stage_bridge(w: Work) -> Run:
    """The regions moved by the offsets of the class with the greatest score, and clipped."""
    w.need(len(w.step.outputs) == 1, "it is one that trains")
    classes, torch = int(w.layer.columns), import_torch()

    def run(p: Any, regions: Tensor, offsets: Tensor, scores: Tensor, info: Tensor) -> Tensor:
        best = scores.reshape(-1, classes).argmax(1)
        by = offsets.reshape(-1, classes, 4).gather(1, best[:, None, None].expand(-1, 1, 4)).squeeze(1)
        boxes = regions.reshape(-1, 5)[:, 1:]
        size = boxes[:, 2:] - boxes[:, :2] + 1
        place, half = by[:, :2] * size + boxes[:, :2] + size / 2, by[:, 2:].exp() * size / 2
        moved = clipped(torch.cat([place - half, place + half], 1), info)
        return torch.cat([torch.zeros_like(moved[:, :1]), moved], 1)

    return run


@factory("MNCMask")
def mnc_mask(w: Work) -> Run:
    w.need(len(w.step.outputs) == 1, "it is one that trains")
    shape = w.top_shapes[0][1:]
    return lambda p, x: x.reshape(-1, *shape)


def clipped(boxes: Tensor, info: Tensor) -> Tensor:
    """Boxes (N, 4) with every corner on a pixel of the image of info: height, width."""
    height, width = info.reshape(-1)[0] - 1, info.reshape(-1)[1] - 1
    torch = import_torch()
    return torch.minimum(boxes, torch.stack([width, height, width, height])).clamp(min=0)
