"""InclinedProposalTarget, ViewpointProposalTarget, MaskProposalTarget: ProposalTarget with the targets of a further
branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...device import Blob
from ...device.functions import log
from ..core import Layer
from ..core.param_str import settings
from .rcnn import Upright
from .target_base import RegionTargets, give, put

UNKNOWN = -10.0  # of a viewpoint, which losses ignore
BLOCK = 2**16  # pixels that are looked at together


class InclinedProposalTarget(
    RegionTargets,
    type="InclinedProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=3,
    tops=8,
):
    """ProposalTarget of R2CNN: upright boxes, and inclined ones by two corners and a height.

    This is R2CNN's ProposalTargetLayer with eight tops. All is as in ProposalTarget. The inclined targets of an object
    are, for a region with the centre (cx, cy), the width w and the height h,

        (x1 - cx) / w, (y1 - cy) / h, (x2 - cx) / w, (y2 - cy) / h, log(|p2 - p3| / h)

    of the corners p1, p2 and p3 of its true quadrilateral; they lie at place 1 whatever the class. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1
        As of ProposalTarget: regions and true boxes.
    bottom 2
        (G, 8) or (G, 9), the quadrilaterals of the true boxes: x1, y1, ..., x4, y4, and a label, which is not read.
    python_param
        `param_str` as in ProposalTarget, and `inclined_rect_inside_weights` (1, 1, 1, 1, 1),
        `inclined_rect_normalize_means` (0, 0, 0, 0, 0) and `inclined_rect_normalize_stds` (0.1, 0.1, 0.1, 0.1, 0.2),
        which count with `bbox_normalize_targets_precomputed`.

    Returns
    -------
    top 0
        (D, 5, 1, 1), the regions drawn, objects first.
    top 1
        (D, 1, 1, 1), their labels, 0 for background.
    top 2, top 3
        (D, 4 C, 1, 1) and (D, 5 C, 1, 1): offsets, inclined targets.
    top 4, top 5
        Their weights inside the loss.
    top 6, top 7
        Their weights outside the loss.

    Raises
    ------
    LayerError
        As ProposalTarget, and for quadrilaterals that are not one for each true box.

    Source
    ------
    Jiang et al. 2017 (R2CNN), and beacandler/R2CNN.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "InclinedProposalTarget" python_param { param_str: "num_classes: 2" }'
    >>> quad = [[0, 0, 10, 0, 10, 10, 0, 10]]
    >>> tops = run_layer(text, [[0, 0, 0, 9, 9]], [[0, 0, 9, 9, 1]], quad, tops=8)
    >>> tops[3].shape, tops[3][0, 5:].ravel().tolist()
    ((2, 10, 1, 1), [-0.5, -0.5, 0.5, -0.5, 0.0])
    """

    trailing = (1, 1)
    inclined: ClassVar[dict[str, Any]] = {
        "inclined_rect_inside_weights": (1.0,) * 5, "inclined_rect_normalize_means": (0.0,) * 5,
        "inclined_rect_normalize_stds": (0.1, 0.1, 0.1, 0.1, 0.2),
    }  # fmt: skip
    extra: ClassVar[dict[str, Any]] = {**RegionTargets.extra, **inclined}

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.read_settings()
        for name in self.inclined:
            self.need(np.shape(self.settings[name]) == (5,), f"{name} must have 5 numbers, got {self.settings[name]!r}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.check_bottoms(bottom)
        rows, shape = bottom[1].shape[0], bottom[2].shape
        self.need(
            shape[:1] == (rows,) and shape[1:2] in ((8,), (9,)) and bottom[2].count == rows * shape[1],
            f"bottom 2, the quadrilaterals, must be ({rows}, 8), one for each true box; got {shape}",
        )
        for blob, few in zip(top, (5, 1, *(columns * self.classes for columns in (4, 5) * 3))):
            blob.reshape(1, few, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn, s = self.sample(bottom), self.settings
        quads = np.asarray(bottom[2].data).astype(np.float64).reshape(bottom[2].shape[:2])[:, :8]
        self.need(np.isfinite(quads).all(), "a true quadrilateral holds NaN or infinity")
        rows = np.flatnonzero(drawn.labels > 0)
        values = inclined(drawn.regions[rows, 1:].astype(np.float64), quads[drawn.matched[rows]])
        if s["bbox_normalize_targets_precomputed"]:
            values = values - np.asarray(s["inclined_rect_normalize_means"])
            values = values / np.asarray(s["inclined_rect_normalize_stds"])
        self.give(drawn, [*top[:2], *top[2::2]])
        inside, place = s["inclined_rect_inside_weights"], np.ones(len(rows), int)
        self.give_places(top[3::2], len(drawn.labels), rows, place, values, inside)


def inclined(boxes: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """The targets (N, 5) of regions (N, 4) for quadrilaterals (N, 8)."""
    size = boxes[:, 2:] - boxes[:, :2] + 1
    centre = boxes[:, :2] + 0.5 * size
    first, second = (quads[:, :2] - centre) / size, (quads[:, 2:4] - centre) / size
    side = np.sqrt(np.square(quads[:, 2:4] - quads[:, 4:6]).sum(1))
    with np.errstate(divide="ignore"):
        high = log(side / size[:, 1])
    return np.column_stack([first, second, np.maximum(high, -20)])  # of no height: small, but a number


class ViewpointProposalTarget(
    RegionTargets,
    type="ViewpointProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=(2, 3),
    tops=7,
):
    """ProposalTarget of LSI-Faster R-CNN: with the bin of each object's viewpoint, and regions that are not to be learned.

    This is the ProposalTargetLayer of LSI-Faster R-CNN with seven tops. All that is not said here is as in ProposalTarget.
    A true box with a label below 0 is one that nothing is to be learned of: a region that overlaps it most is no object,
    and one that overlaps such a box by more than `dontcare_overlap` is no background. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 5), regions: image, xmin, ymin, xmax, ymax.
    bottom 1
        (G, 6), true boxes: xmin, ymin, xmax, ymax, label, viewpoint in radians (-10: not known).
    bottom 2
        Optional: the image. It is not read.
    python_param
        `param_str` as in ProposalTarget, and `viewp_bins` (8), `viewp_offset` (0) in radians, `dontcare_overlap` (0.1).

    Returns
    -------
    top 0, ..., top 4
        As of ProposalTarget, with axes of 1 after them.
    top 5
        (D, 1, 1, 1), the bin of each viewpoint, floor((angle + offset) / (2 pi / bins)); -10 for background.
    top 6
        (D, bins C, 1, 1), 1 at the bins of its class; of background and of an unknown viewpoint at those of class 0.

    Raises
    ------
    LayerError
        As ProposalTarget.

    Source
    ------
    Guindel et al. 2018 (LSI-Faster R-CNN) and its code, in the form of its published nets: bins, not angles.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ViewpointProposalTarget" python_param { param_str: "{num_classes: 2, viewp_bins: 4}" }'
    >>> tops = run_layer(text, [[0, 0, 0, 9, 1]], [[0, 0, 9, 9, 1, 1.6]], tops=7)
    >>> tops[5].ravel().tolist(), tops[6][0].ravel().tolist()
    ([1.0, -10.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    """

    trailing = (1, 1)
    extra: ClassVar[dict[str, Any]] = {
        **RegionTargets.extra, "viewp_bins": 8, "viewp_offset": 0.0, "dontcare_overlap": 0.1
    }  # fmt: skip

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.read_settings()
        self.bins = self.settings["viewp_bins"]
        self.need(type(self.bins) is int and self.bins > 0, f"viewp_bins must be above 0, got {self.bins!r}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        for i, columns, subject in ((0, 5, "the regions"), (1, 6, "the true boxes")):
            shape = bottom[i].shape
            self.need(
                shape[1:2] == (columns,) and bottom[i].count == shape[0] * columns,
                f"bottom {i}, {subject}, must be (R, {columns}), got {shape}",
            )
        each = 4 * self.classes
        for blob, few in zip(top, (5, 1, each, each, each, 1, self.bins * self.classes)):
            blob.reshape(1, few, 1, 1)

    def truth(self, blob: Blob) -> np.ndarray:
        return np.asarray(blob.data).reshape(-1, 6)[:, :5]

    def check_truth(self, truth: np.ndarray) -> None:
        known = truth.copy()
        known[:, 4] = np.maximum(known[:, 4], 0)
        super().check_truth(known)

    def draw(self, boxes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        s, draws = self.settings, self.drawn
        matched, most = self.boxes.nearest(self.device, boxes, truth[:, :-1])
        nothing = truth[matched, 4] < 0 if len(truth) else np.zeros(len(boxes), bool)
        known = np.where(nothing, 0, most)
        _, ignored = self.boxes.nearest(self.device, boxes, truth[truth[:, 4] < 0, :-1])
        left = ignored <= s["dontcare_overlap"]
        objects = np.flatnonzero(known >= s["fg_thresh"])
        others = np.flatnonzero((known < s["bg_thresh_hi"]) & (known >= s["bg_thresh_lo"]) & left)
        count = self.drawn_of(len(objects), s["fg_fraction"], self.whole)
        objects = draws.choice(objects, size=count, replace=False) if len(objects) else objects
        rest = int(min(self.whole - count, len(others)))
        others = draws.choice(others, size=rest, replace=False) if len(others) else others
        chosen = np.append(objects, others)
        return chosen, matched[chosen], count

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn = self.sample(bottom)
        views = np.asarray(bottom[1].data).reshape(-1, 6)[:, 5].astype(np.float64)
        count, place = len(drawn.labels), np.zeros(len(drawn.labels), int)
        angles = np.full((count, 1), UNKNOWN)
        mine = np.arange(drawn.objects)
        view = views[drawn.matched[mine]]
        mine, view = mine[view != UNKNOWN], view[view != UNKNOWN]
        self.need(np.isfinite(view).all(), "a viewpoint is NaN or infinity")
        view = np.where(view < 0, view + 2 * np.pi, view)
        number = np.floor((view + self.settings["viewp_offset"]) / (2 * np.pi / self.bins))
        angles[mine, 0] = np.where(number > self.bins - 1, 0, number)
        place[mine] = np.minimum(drawn.labels[mine], self.classes - 1)
        self.give(drawn, top)
        give(top[5], angles, self.trailing)
        top[6].reshape(count, self.classes * self.bins, *self.trailing)
        put(top[6], self.bins, np.arange(count), place, np.ones(1))


class CropAngles(Layer, type="CropAngles", param="python_param", bottoms=2, tops=1):
    """Of each row the values whose weight is above 0: the scores of the viewpoints of one class.

    This is the CropAnglesLayer of LSI-Faster R-CNN's fast_rcnn.crop_angles. The gradient goes back to where the values came
    from; bottom 1 gets none.

    Parameters
    ----------
    bottom 0
        (D, S) or (D, S, 1, 1), scores.
    bottom 1
        (D, S, 1, 1), weights, of which as many in each row are above 0.
    python_param
        `param_str` may hold `viewp_bins` (8): how many that is.

    Returns
    -------
    top 0
        (D, viewp_bins, 1, 1).

    Raises
    ------
    LayerError
        For bottoms of different shapes, or a row with another number of weights above 0.

    Source
    ------
    Guindel et al. 2018 (LSI-Faster R-CNN) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "CropAngles" python_param { param_str: "viewp_bins: 2" }'
    >>> run_layer(text, [[1, 2, 3, 4]], [[0, 0, 1, 1]]).ravel().tolist()
    [3.0, 4.0]
    """

    replaces = ("fast_rcnn.crop_angles.CropAnglesLayer",)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.bins = settings(self, {"viewp_bins": 8})["viewp_bins"]
        self.need(type(self.bins) is int and self.bins > 0, f"viewp_bins must be above 0, got {self.bins!r}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        a, b = (blob.shape for blob in bottom)
        self.need(
            bottom[0].count == bottom[1].count and a[:2] == b[:2] and len(a) > 1 and np.prod(a[2:]) == 1,
            f"the scores {a} and the weights {b} must both be (D, S)",
        )
        top[0].reshape(a[0], self.bins, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        table = bottom[0].shape[:2]
        self.at = np.asarray(bottom[1].data).reshape(table) > 0
        wrong = np.flatnonzero(self.at.sum(1) != self.bins)
        if len(wrong):
            self.need(
                False,
                f"row {wrong[0]} has {self.at[wrong[0]].sum()} weights above 0, viewp_bins is {self.bins}; "
                "give viewp_bins in param_str",
            )
        top[0].data[...] = np.asarray(bottom[0].data).reshape(table)[self.at].reshape(top[0].shape)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "bottom 1 has no gradient; set propagate_down: false for it")
        if propagate_down[0]:
            diff = np.zeros(self.at.shape, self.dtype)
            diff[self.at] = np.asarray(top[0].diff).ravel()
            bottom[0].diff[...] = diff.reshape(bottom[0].shape)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class MaskProposalTarget(
    RegionTargets,
    type="MaskProposalTarget",
    param=("proposal_target_param", "bbox_reg_param", "python_param"),
    bottoms=3,
    tops=7,
):
    """ProposalTarget of Mask R-CNN: with the regions of the mask branch, and the masks that it learns.

    This is the ProposalTargetLayer of py-mask-rcnn. All that is not said here is as in ProposalTarget. Objects and background
    are drawn with repetition, so that there are always `batch_size` regions; where there is none of one kind, all are of the
    other. The mask of an object is
    that of the instance whose box overlaps it most, cut out at the region, its sides rounded outwards, and resized to the
    nearest pixel. Without objects there is one region of the mask branch, of the background, with a mask of -1, which losses
    ignore. There is no gradient.

    Parameters
    ----------
    bottom 0, bottom 1
        As of ProposalTarget: regions and true boxes.
    bottom 2
        (1, 1 or more, H, W), the number of the instance of each pixel, 0 for none; only the first channel is read.
    python_param
        `param_str` as in ProposalTarget, with `batch_size` 16; `out_size` (required), the side of a mask.

    Returns
    -------
    top 0, ..., top 4
        As of ProposalTarget, with axes of 1 after them.
    top 5
        (M, 5, 1, 1), the regions of objects.
    top 6
        (M, 1, out_size, out_size), their masks: 1, 0, or -1 where no instance is known.

    Raises
    ------
    LayerError
        As ProposalTarget, for an `out_size` that is not above 0, and instances that are not one image.

    Source
    ------
    He et al. 2017 (Mask R-CNN), and VitoChien/py-mask-rcnn, where without objects there are fewer regions, and the first of
    them keep the label of the true box next to them; here they have 0.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "MaskProposalTarget" python_param { param_str: "{num_classes: 2, out_size: 2, batch_size: 4}" }'''
    >>> instances = np.zeros((1, 1, 8, 8))
    >>> instances[0, 0, :4, :4] = 1
    >>> *_, masks = run_layer(text, [[0, 0, 0, 3, 7]], [[0, 0, 3, 3, 1]], instances, tops=7)
    >>> masks[0].tolist()
    [[[1.0, 1.0], [1.0, 1.0]]]
    """

    trailing, fills_up = (1, 1), True
    extra: ClassVar[dict[str, Any]] = {**RegionTargets.extra, "batch_size": 16, "out_size": 0}

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.read_settings()
        self.side = self.settings["out_size"]
        self.need(type(self.side) is int and self.side > 0, f"param_str must give out_size, above 0; got {self.side!r}")
        self.need(self.settings["batch_size"] > 0, "batch_size must be above 0")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.check_bottoms(bottom)
        images, *_ = self.axes(bottom[2], 4, "bottom 2, the instances,")
        self.need(
            images == 1 and bottom[2].count, f"bottom 2, the instances, must be (1, 1, H, W), got {bottom[2].shape}"
        )
        each, rows = 4 * self.classes, self.settings["batch_size"]
        for blob, few in zip(top, (5, 1, each, each, each, 5)):
            blob.reshape(rows, few, 1, 1)
        top[6].reshape(rows, 1, self.side, self.side)

    def draw(self, boxes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        s, draws = self.settings, self.drawn
        matched, most = self.boxes.nearest(self.device, boxes, truth[:, :-1])
        objects = np.flatnonzero(most >= s["fg_thresh"])
        others = np.flatnonzero((most < s["bg_thresh_hi"]) & (most >= s["bg_thresh_lo"]))
        whole = int(s["batch_size"])
        count = int(np.round(s["fg_fraction"] * whole)) if len(objects) else 0
        count = count if len(others) else whole * (len(objects) > 0)
        if count:
            objects = draws.choice(objects, size=count)
        if len(others):
            others = draws.choice(others, size=whole - count)
        chosen = np.append(objects[:count], others).astype(int)
        return chosen, matched[chosen], count

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        drawn = self.sample(bottom)
        objects = drawn.regions[drawn.labels > 0]
        regions = objects if len(objects) else drawn.regions[:1] if len(drawn.regions) else np.zeros((1, 5))
        self.give(drawn, top)
        give(top[5], regions, self.trailing)
        top[6].reshape(len(regions), 1, self.side, self.side)
        masks = top[6].data
        masks[...] = -1
        instances = np.asarray(bottom[2].data)[0, 0]
        numbers, boxes = extents(self, instances)
        if len(numbers) and len(objects):
            corners = objects[:, 1:].astype(np.float64)
            nearest = Upright.nearest(self.device, corners, boxes)[0]
            fill_masks(masks.reshape(-1, self.side, self.side), instances, corners, numbers[nearest])


def extents(layer: Layer, instances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers (N,) of the instances that pixels are of, without 0, and the boxes (N, 4) around each."""
    width = instances.shape[1]
    numbers, boxes = instances[0, :0], np.zeros((0, 4), int)
    rows = max(1, BLOCK // width)
    for first in range(0, len(instances), rows):
        part = instances[first : first + rows].ravel()
        y, x = np.divmod(np.arange(first * width, first * width + part.size), width)
        here, around = united(part, np.stack([x, y, x, y], 1))
        numbers, boxes = united(np.append(numbers, here), np.concatenate([boxes, around]))
        layer.need(
            len(numbers) <= BLOCK,
            f"bottom 2 holds more than {BLOCK} numbers of instances; are its pixels whole numbers?",
        )
    return numbers, boxes.astype(np.float64)


def united(numbers: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each number but 0, NaN and infinity once, and the box around all that have it."""
    valid = np.flatnonzero((numbers != 0) & np.isfinite(numbers))
    order = valid[np.argsort(numbers[valid], kind="stable")]
    numbers, boxes = numbers[order], boxes[order]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
    if not len(starts):
        return numbers, boxes
    low, high = np.minimum.reduceat(boxes[:, :2], starts), np.maximum.reduceat(boxes[:, 2:], starts)
    return numbers[starts], np.concatenate([low, high], 1)


def fill_masks(masks: np.ndarray, instances: np.ndarray, regions: np.ndarray, numbers: np.ndarray) -> None:
    """Fills masks (R, side, side) of regions (R, 4), each of the instance of that number."""
    (height, width), side = instances.shape, masks.shape[1]
    for i, region in enumerate(np.nan_to_num(regions)):
        x0, x1 = cut(region[0], region[2], width)
        y0, y1 = cut(region[1], region[3], height)
        rows = y0 + (np.arange(side) * (y1 - y0)) // side
        columns = x0 + (np.arange(side) * (x1 - x0)) // side
        masks[i] = instances[np.ix_(rows, columns)] == numbers[i]


def cut(first: float, last: float, size: int) -> tuple[int, int]:
    """A range of pixels that is inside of `size` and has one at least."""
    start = int(np.clip(np.floor(first), 0, size - 1))
    return start, max(start + 1, int(np.clip(np.ceil(last), 0, size)))
