"""Proposal, FrcnnProposal, FPNProposal, RotateProposal: from the output of a region proposal network to regions of interest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from ...data.boxes import best
from ...device import Blob, Kernels
from ..core import Layer
from ..core.doubt import warn_of_nan
from ..core.param_str import given_names, settings
from . import proposal_device, pyramid, suppress
from .anchors import choose_anchors
from .order import ON_DEVICE
from .proposal_device import DeviceProposals
from .rcnn import Boxes, Rotated, Upright

OTHERS = (  # proposal_param of programs whose Proposal is another
    "stride", "im_min_w", "im_min_h", "top_num", "nms_num", "anchor_num", "anchor_base_size", "anchor_scale",
    "anchor_ratio", "max_rois", "base_h", "base_w", "feat_stride_h", "feat_stride_w", "pvanet_mode", "enable_softmax",
    "nproposal_mode", "im_h", "im_w", "nms_scale",
)  # fmt: skip


def away(x: np.ndarray) -> np.ndarray:
    """Rounded as C's round does: halves away from zero."""
    return np.floor(x + 0.5)


def least_above_0(limit: int, count: int) -> int:
    """The smaller of a limit, of which 0 and less are none, and a count."""
    return min(limit, count) if limit > 0 else count


class Proposal(Layer, type="Proposal", param=("proposal_param", "python_param"), bottoms=3, tops=(1, 2)):
    """Regions of interest from the output of a region proposal network: scores, box offsets, suppression.

    The anchors at each place are moved by the offsets and clipped to the image. Then the regions are chosen:

    1. Those with both sides of at least `min_size` * scale.
    2. Of these the `pre_nms_topn` best.
    3. Of these the first `post_nms_topn` that overlap no better one by `nms_thresh` or more.

    Among equal scores the first place, then the first anchor, wins. There is no gradient.

    Where the scores have another number of anchors than the settings make, and these do not give the scales, the
    anchors are those of `Net(..., anchors=)`. Without, the scales are as many halvings of the largest as the number
    asks for, with a warning; a number that no list of scales makes is an error.

    The settings are given in `proposal_param` (PVANET) or in `python_param` (as for the ProposalLayer of
    py-faster-rcnn's rpn.proposal_layer). The defaults of PVANET's form, written out:

    proposal_param { feat_stride: 16 base_size: 16 min_size: 16 ratio: 0.5 ratio: 1 ratio: 2 scale: 8 scale: 16
    scale: 32 pre_nms_topn: 6000 post_nms_topn: 300 nms_thresh: 0.7 }

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores of A anchors at each place: first all backgrounds, then all objects.
    bottom 1
        (N, 4 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale of the net's input. PVANET's has more numbers.
    proposal_param
        `feat_stride` (16): pixels per place; `base_size` (16); `min_size` (16), or `rpn_min_size`; `ratio` (0.5, 1, 2);
        `scale` (8, 16, 32); `pre_nms_topn` (6000); `post_nms_topn` (300); `nms_thresh` (0.7), or `rpn_nms_thresh`.
    python_param
        `param_str` holds settings by name: `feat_stride`, `scales`, `ratios`, `base_size` (16), and what
        py-faster-rcnn's cfg holds, with its defaults: `rpn_pre_nms_top_n` (12000 in TRAIN, 6000 in TEST),
        `rpn_post_nms_top_n` (2000 in TRAIN, 300 in TEST), `rpn_nms_thresh` (0.7), `rpn_min_size` (16).

    Returns
    -------
    top 0
        (R, 5), regions (image, xmin, ymin, xmax, ymax) in pixels of the net's input. R may be 0.
    top 1
        (R, 1), their scores.

    Raises
    ------
    LayerError
        For settings that are not numbers, a list of scales or ratios that is empty or has numbers that are not above
        0, a `feat_stride` or `base_size` that is not above 0, bottoms of the wrong shape, a `param_str` that cannot
        be read, or a field of `proposal_param` of other programs, such as `stride` or `anchor_scale`.

    Source
    ------
    Ren et al. 2015 (Faster R-CNN), py-faster-rcnn and PVANET. PVANET keeps the small regions, with a score of 0, and
    fills its top with what is left over.

    Examples
    --------
    One anchor of 16 x 16 pixels at two places, with offsets of 0:

    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "Proposal" proposal_param { ratio: 1 scale: 1 }'
    >>> scores, offsets = [[[[0.5, 0.25]], [[0.5, 0.75]]]], [[[[0, 0]]] * 4]
    >>> run_layer(text, scores, offsets, [[16, 32, 1]]).tolist()
    [[0.0, 16.0, 0.0, 31.0, 15.0], [0.0, 0.0, 0.0, 16.0, 15.0]]
    """

    boxes: ClassVar[Boxes] = Upright
    trailing: ClassVar[tuple[int, ...]] = ()  # further axes of the tops
    ratios: ClassVar[tuple[float, ...]] = (0.5, 1, 2)
    angles: ClassVar[tuple[float, ...]] = (0,)
    on_device: DeviceProposals | None = None  # on a GPU, of upright boxes
    suppression: ClassVar[Kernels] = suppress.kernels
    gpu_files = proposal_device.FILES

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        p, train = self.param.proposal_param, self.phase == "TRAIN"
        for name in OTHERS:
            seen = getattr(p, name)
            told = len(seen) if hasattr(seen, "__len__") else p.HasField(name)
            self.need(not told, f"proposal_param: {name} is another program's Proposal, which is not supported")
        defaults: dict[str, Any] = {
            "feat_stride": 16, "scales": (8, 16, 32), "ratios": self.ratios, "angles": self.angles, "base_size": 16,
            "rpn_pre_nms_top_n": 12000 if train else 6000, "rpn_post_nms_top_n": 2000 if train else 300,
            "rpn_nms_thresh": 0.7, "rpn_min_size": 16,
        }  # fmt: skip
        cpp = self.param.HasField("proposal_param")
        if cpp:
            defaults.update(rpn_pre_nms_top_n=p.pre_nms_topn, rpn_post_nms_top_n=p.post_nms_topn)
            defaults.update(feat_stride=p.feat_stride, base_size=p.base_size)
            defaults.update(scales=list(p.scale) or defaults["scales"], ratios=list(p.ratio) or defaults["ratios"])
            defaults.update(
                rpn_nms_thresh=p.rpn_nms_thresh if p.HasField("rpn_nms_thresh") else p.nms_thresh,
                rpn_min_size=p.rpn_min_size if p.HasField("rpn_min_size") else p.min_size,
            )
        s = self.settings = settings(self, defaults)
        for name in ("scales", "ratios", "angles"):
            values = np.asarray(s[name])
            self.need(
                values.dtype.kind in "if"
                and values.ndim == 1
                and len(values)
                and (name == "angles" or (values > 0).all()),
                f"{name} must be a list of numbers above 0, got {s[name]!r}",
            )
        for name in ("feat_stride", "base_size"):
            self.need(isinstance(s[name], (int, float)) and s[name] > 0, f"{name} must be above 0, got {s[name]!r}")
        for name in ("rpn_pre_nms_top_n", "rpn_post_nms_top_n", "rpn_nms_thresh", "rpn_min_size"):
            self.need(isinstance(s[name], (int, float)), f"{name} must be a number, got {s[name]!r}")
        told = given_names(self) | ({"scales"} if p.scale else set()) | ({"ratios"} if p.ratio else set())
        channels = bottom[0].shape[1] if len(bottom[0].shape) > 1 else 0
        self.anchors = choose_anchors(self, self.boxes, s, channels, told, away if cpp else np.round)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, offsets, info = bottom
        images, _, height, width = self.axes(scores, 4, "bottom 0, the scores,")
        count, columns = len(self.anchors), self.boxes.columns
        for i, blob, each in ((0, scores, 2), (1, offsets, columns)):
            wanted = (images, each * count, height, width)
            self.need(blob.shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {blob.shape}")
        self.need(
            info.shape[:1] in ((1,), (images,))
            and len(info.shape) > 1
            and info.shape[1] >= 3
            and info.count == info.shape[0] * info.shape[1],
            f"bottom 2, im_info, must be ({images}, 3): height, width, scale of each image; got {info.shape}",
        )
        if ON_DEVICE[self.device.kind] and columns == 4:
            self.on_device = self.on_device or DeviceProposals(self, self.settings, self.anchors)
            self.on_device.reshape(images, height, width, info.shape)
        top[0].reshape(1, columns + 1, *self.trailing)  # forward knows how many there are
        if len(top) > 1:
            top[1].reshape(1, 1, 1, 1)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        images, _, height, width = bottom[0].shape
        after = int(self.settings["rpn_post_nms_top_n"])
        return images * least_above_0(after, len(self.anchors) * height * width)

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        if self.on_device is None or not self.on_device.rows:
            return False
        self.on_device.launch(bottom, top, self.trailing)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.on_device is not None and not self.on_device.finish(top, self.trailing):
            warn_of_nan(self, bottom)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.forward_launch(bottom, top):
            self.forward_finish(bottom, top)
            return
        scores, offsets, info = (np.asarray(blob.data) for blob in bottom)
        info = info.reshape(info.shape[:2])
        count, columns = len(self.anchors), self.boxes.columns
        height, width = scores.shape[2:]
        anchors = self.boxes.everywhere(self.anchors, height, width, self.settings["feat_stride"])
        parts = [np.zeros((0, columns + 2), self.dtype)]
        for image in range(len(scores)):
            by_place = scores[image, count:].transpose(1, 2, 0).reshape(-1)
            moved = self.boxes.decode(anchors, offsets[image].transpose(1, 2, 0).reshape(-1, columns))
            chosen = self.choose(moved, by_place, info[image % len(info)])
            parts.append(np.column_stack([np.full(len(chosen), image, self.dtype), chosen]))
        rows = np.concatenate(parts)
        if not len(rows):
            warn_of_nan(self, bottom)
        top[0].reshape(len(rows), columns + 1, *self.trailing)
        top[0].data[...] = rows[:, :-1].reshape(top[0].shape)
        if len(top) > 1:
            top[1].reshape(len(rows), 1, *self.trailing)
            top[1].data[...] = rows[:, -1].reshape(top[1].shape)

    def choose(self, boxes: np.ndarray, scores: np.ndarray, info: np.ndarray) -> np.ndarray:
        """Of an image's boxes the chosen ones, best first, with their scores as a last column."""
        s = self.settings
        boxes = self.boxes.clip(boxes, info[0], info[1])
        large = np.flatnonzero(self.boxes.large(boxes, s["rpn_min_size"] * info[2]) & ~np.isnan(scores))
        before, after = int(s["rpn_pre_nms_top_n"]), int(s["rpn_post_nms_top_n"])
        order = large[best(scores[large], before if before > 0 else -1)]
        stay = order[self.boxes.suppress(self.device, boxes[order], s["rpn_nms_thresh"], after if after > 0 else -1)]
        return np.column_stack([boxes[stay], scores[stay]])

    def allow_force_backward(self, index: int) -> bool:
        return False


class FrcnnProposal(Proposal, type="FrcnnProposal", bottoms=3, tops=(1, 2)):
    """Proposal of makefile/frcnn: regions of interest with tops of four axes.

    All is as in Proposal, but the settings are different: in that program they are in a file beside the net, which
    is not read here. The numbers are therefore those of py-faster-rcnn, and `param_str` may change them. Of
    `proposal_param` only `feat_stride` counts; it takes precedence over that of `param_str`. There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores: first all backgrounds, then all objects.
    bottom 1
        (N, 4 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale.
    proposal_param
        `feat_stride` (16).
    python_param
        `param_str`, as in Proposal.

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax.
    top 1
        (R, 1, 1, 1), their scores.

    Raises
    ------
    LayerError
        As Proposal, for `param_str` and bottoms.

    Source
    ------
    makefile/frcnn, and py-faster-rcnn for the numbers.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "FrcnnProposal" python_param { param_str: "{scales: [1], ratios: [1]}" }'
    >>> regions = run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0]]] * 4], [[16, 16, 1]])
    >>> regions.shape, regions.ravel().tolist()
    ((1, 5, 1, 1), [0.0, 0.0, 0.0, 15.0, 15.0])
    """

    trailing = (1, 1)

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        stride = self.param.proposal_param.feat_stride
        self.param.ClearField("proposal_param")
        super().setup(bottom, top)
        if stride:
            self.settings["feat_stride"] = stride


class RotateProposal(Proposal, type="RotateProposal", bottoms=3, tops=(1, 2)):
    """Rotated regions of interest from the output of a region proposal network.

    This is the ProposalLayer of RRPN's rotation.rproposal_layer. Settings and choice are as in Proposal. Regions are
    not clipped to the image. A region is suppressed when it overlaps a better one by more than the threshold.
    There is no gradient.

    Parameters
    ----------
    bottom 0
        (N, 2 A, H, W), scores: first all backgrounds, then all objects.
    bottom 1
        (N, 5 A, H, W), offsets.
    bottom 2
        (N or 1, 3 or more), im_info: height, width and scale.
    proposal_param
        As in Proposal, with a default `ratio` of 0.2, 0.5, 1.
    python_param
        `param_str` as in Proposal, with `ratios` (0.2, 0.5, 1) and `angles` (-30, 0, 30, 60, 90, 120), in degrees.

    Returns
    -------
    top 0
        (R, 6), regions: image, centre x, centre y, height, width, angle in degrees from -45 to 135, anti-clockwise.
    top 1
        (R, 1), their scores.

    Raises
    ------
    LayerError
        As Proposal; `angles` must be a list of numbers.

    Source
    ------
    Ma et al. 2018 (RRPN) and its code.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "RotateProposal" python_param { param_str: "{scales: [1], ratios: [1], angles: [0]}" }'
    >>> run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0]]] * 5], [[16, 16, 1]]).tolist()
    [[0.0, 7.0, 7.0, 16.0, 16.0, 0.0]]
    """

    boxes = Rotated
    ratios = (0.2, 0.5, 1)
    angles = (-30, 0, 30, 60, 90, 120)


class FPNProposal(Layer, type="FPNProposal", param=("python_param", "module_param"), bottoms=(3, None), tops=(1, None)):
    """Regions of interest from the levels of a feature pyramid, chosen from all of them at once.

    Each level has anchors of its own, around squares of its stride. Then follows Proposal's choice over all levels.
    With further tops the regions are sorted by the level that their size belongs to, 4 + log2(root of the area / 224);
    a level without any has one region of zeros. There is no gradient.

    Parameters
    ----------
    bottom 0, ...
        Scores (1, 2 A, H, W) and offsets (1, 4 A, H, W) of each level in turn, then im_info (1, 3), as makefile/frcnn
        has them; or im_info, the offsets of all levels, then the scores of all levels, as unsky/FPN has them.
    python_param, module_param
        `param_str` as in Proposal, with these differences: `feat_stride` or `feat_strides` (4, 8, 16, 32, 64), one for
        each level; `anchor_scales` (8, 16) and `anchor_ratios` (0.5, 1, 2) of a Module; `scales` (16, 32) and `ratios`
        of a Python layer. Where no scales are given and the scores have fewer anchors, the first scales that make as many.

    Returns
    -------
    top 0
        (R, 5, 1, 1), regions: image, xmin, ymin, xmax, ymax; without axes of 1 of a Python layer. By level where there
        are further tops.
    top 1, ...
        Optional: the regions of each level.

    Raises
    ------
    LayerError
        For bottoms of the wrong number or shape, a number of strides that is not that of the levels, more than one
        image, or a `param_str` that cannot be read.

    Source
    ------
    unsky/FPN (a Python layer rpn.proposal_layer with more bottoms), which repeats regions until there are
    `rpn_post_nms_top_n` and counts a level's places from the size of the image; makefile/frcnn (a Module).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "FPNProposal" python_param { param_str: "{feat_strides: [16], scales: [1], ratios: [1]}" }'''
    >>> run_layer(text, [[16, 16, 1]], [[[[0]]] * 4], [[[[0.25]], [[0.75]]]]).tolist()
    [[0.0, 0.0, 0.0, 15.0, 15.0]]
    """

    suppression: ClassVar[Kernels] = suppress.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient, train = True, self.phase == "TRAIN"
        self.need(len(bottom) % 2 == 1, f"takes two bottoms for each level and im_info, got {len(bottom)}")
        defaults: dict[str, Any] = {
            "feat_stride": None, "feat_strides": None, "anchor_scales": None, "anchor_ratios": None, "scales": None,
            "ratios": (0.5, 1, 2), "rpn_pre_nms_top_n": 12000 if train else 6000,
            "rpn_post_nms_top_n": 2000 if train else 300, "rpn_nms_thresh": 0.7, "rpn_min_size": 16,
        }  # fmt: skip
        s = self.settings = settings(self, defaults)
        self.levels, self.module = len(bottom) // 2, bool(self.param.module_param.type)
        self.strides = pyramid.strides(self, s, self.levels)
        score = self.parts(bottom)[1][0].shape
        self.anchors = pyramid.level_anchors(self.strides, s, self.module, score[1] // 2 if len(score) > 1 else 0)

    def parts(self, bottom: list[Blob]) -> tuple[Blob, list[Blob], list[Blob]]:
        """im_info, and scores and offsets of each level."""
        if (
            len(bottom[-1].shape) == 4
            and bottom[0].count < 16
            and bottom[0].shape[:1] == (1,)
            and bottom[0].shape[1] < 6
        ):
            return bottom[0], bottom[self.levels + 1 :], bottom[1 : self.levels + 1]
        return bottom[-1], bottom[0:-1:2], bottom[1:-1:2]

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        info, scores, offsets = self.parts(bottom)
        for level, (score, offset, anchors) in enumerate(zip(scores, offsets, self.anchors)):
            images, _, height, width = self.axes(score, 4, f"the scores of level {level}")
            count = len(anchors)
            self.need(images == 1, f"takes one image at a time, got {images}")
            for what, blob, each in (("scores", score, 2), ("offsets", offset, 4)):
                wanted = (1, each * count, height, width)
                self.need(
                    blob.shape == wanted,
                    f"the {what} of level {level} must be {wanted} for {count} anchors, got {blob.shape}",
                )
        self.need(info.shape[:1] == (1,) and info.count >= 3, f"im_info must be (1, 3), got {info.shape}")
        for blob in top:
            blob.reshape(1, 5, *((1, 1) if self.module else ()))  # forward knows how many there are

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        _, scores, _ = self.parts(list(bottom))
        every = sum(len(anchors) * prod(score.shape[2:]) for anchors, score in zip(self.anchors, scores))
        return least_above_0(int(self.settings["rpn_post_nms_top_n"]), every)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        s, (info_blob, scores, offsets) = self.settings, self.parts(bottom)
        info = np.asarray(info_blob.data).reshape(-1)
        boxes, values = [], []
        for score, offset, anchors, stride in zip(scores, offsets, self.anchors, self.strides):
            height, width = score.shape[2:]
            every = Upright.everywhere(anchors, height, width, stride)
            by = np.asarray(offset.data)[0].transpose(1, 2, 0).reshape(-1, 4)
            boxes.append(Upright.clip(Upright.decode(every, by), info[0], info[1]))
            values.append(np.asarray(score.data)[0, len(anchors) :].transpose(1, 2, 0).reshape(-1))
        whole, score_of = np.concatenate(boxes), np.concatenate(values)
        large = np.flatnonzero(Upright.large(whole, s["rpn_min_size"] * info[2]) & ~np.isnan(score_of))
        before, after = int(s["rpn_pre_nms_top_n"]), int(s["rpn_post_nms_top_n"])
        order = large[best(score_of[large], before if before > 0 else -1)]
        stay = order[Upright.suppress(self.device, whole[order], s["rpn_nms_thresh"], after if after > 0 else -1)]
        if not len(stay):
            warn_of_nan(self, bottom)
        rows = np.column_stack([np.zeros(len(stay), self.dtype), whole[stay]])
        for blob, regions in zip(top, pyramid.split(rows, len(top) - 1)):
            blob.reshape(len(regions), 5, *((1, 1) if self.module else ()))
            blob.data[...] = regions.reshape(blob.shape)

    def allow_force_backward(self, index: int) -> bool:
        return False


class PyramidRegions(Layer, type="PyramidRegions", bottoms=1, tops=(2, None)):
    """Regions sorted by the level of a feature pyramid that their size belongs to, 4 + log2(root of the area / 224).

    A level without any has one region of zeros. There is no gradient.

    Parameters
    ----------
    bottom 0
        (R, 5), regions: image, xmin, ymin, xmax, ymax.

    Returns
    -------
    top 0
        (D, 5), all regions, by level.
    top 1, ...
        (K, 5), the regions of each level from 2 on.

    Raises
    ------
    LayerError
        For regions that are not (R, 5).

    Source
    ------
    unsky/FPN (the Python layers rpn.as_rois and rpn.as_rois_mrcnn). rpn.as_rois fills each level up with regions of
    zeros.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> whole, small, large = run_layer('type: "PyramidRegions"', [[0, 0, 0, 300, 300], [0, 0, 0, 9, 9]], tops=3)
    >>> small.tolist(), large.tolist()
    ([[0.0, 0.0, 0.0, 9.0, 9.0]], [[0.0, 0.0, 0.0, 300.0, 300.0]])
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(
            shape[1:2] == (5,) and bottom[0].count == 5 * shape[0],
            f"bottom 0, the regions, must be (R, 5), got {shape}",
        )
        for blob in top:
            blob.reshape(1, 5)  # forward knows how many there are

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        rows = np.asarray(bottom[0].data).reshape(-1, 5)
        for blob, regions in zip(top, pyramid.split(rows, len(top) - 1)):
            blob.reshape(*regions.shape)
            blob.data[...] = regions

    def allow_force_backward(self, index: int) -> bool:
        return False
