"""FPNProposal, PyramidRegions: regions of interest from the levels of a feature pyramid, and sorted by its levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ...device import Blob, Kernels
from ..core import Trait
from ..core.doubt import warn_of_nan
from ..core.param_str import settings
from . import proposal_choice, pyramid, pyramid_choice, suppress
from .choosing import Choosing
from .proposal_choice import ProposalChoice
from .proposal_limits import limits
from .pyramid_choice import LevelChoice
from .rcnn import Upright


class FPNProposal(
    Choosing,
    type="FPNProposal",
    param=("python_param", "module_param"),
    bottoms=(3, None),
    tops=(1, None),
    traits=Trait.PROPOSES,
):
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
    files = *proposal_choice.FILES, pyramid_choice.kernels
    choice: ProposalChoice | None = None
    by_level: LevelChoice | None = None  # where there are further tops

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        self.need(len(bottom) % 2 == 1, f"takes two bottoms for each level and im_info, got {len(bottom)}")
        defaults: dict[str, Any] = {
            "feat_stride": None, "feat_strides": None, "anchor_scales": None, "anchor_ratios": None, "scales": None,
            "ratios": (0.5, 1, 2), **limits(self.phase == "TRAIN"),
        }  # fmt: skip
        s = self.settings = settings(self, defaults)
        self.levels, self.outputs = len(bottom) // 2, len(top) - 1
        self.trailing = (1, 1) if self.param.module_param.type else ()
        self.strides = pyramid.strides(self, s, self.levels)
        score = self.parts(bottom)[1][0].shape
        self.anchors = pyramid.level_anchors(
            self.strides, s, bool(self.trailing), score[1] // 2 if len(score) > 1 else 0
        )

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
            for subject, blob, each in (("scores", score, 2), ("offsets", offset, 4)):
                wanted = (1, each * count, height, width)
                self.need(
                    blob.shape == wanted,
                    f"the {subject} of level {level} must be {wanted} for {count} anchors, got {blob.shape}",
                )
        self.need(info.shape[:1] == (1,) and info.count >= 3, f"im_info must be (1, 3), got {info.shape}")
        self.shape(top, 1)  # forward knows how many there are
        sizes = [(score.shape[2], score.shape[3]) for score in scores]
        self.choice = self.choice or ProposalChoice(self, self.settings, Upright, self.anchors, self.strides)
        self.choice.reshape(1, sizes, (1, info.count))
        if self.outputs:
            self.by_level = self.by_level or LevelChoice(self, self.outputs, self.trailing)
            self.by_level.reshape(self.choice.rows)
            self.choice.scratch.ask("regions", (self.choice.rows + 1, 5), self.dtype)

    def shape(self, top: Sequence[Blob], rows: int) -> None:
        for blob in top:
            blob.reshape(rows, 5, *self.trailing)

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        choice, levels = self.choice, self.by_level
        if choice is None or not choice.rows:
            return False
        info, scores, offsets = self.parts(bottom)
        if levels is None:
            self.shape(top, choice.rows + 1)
            choice.launch(scores, offsets, info, top[0].data, None)
        else:
            regions = choice.scratch["regions"]
            choice.launch(scores, offsets, info, regions, None)
            levels.launch(regions, choice.count, top)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        assert self.choice is not None
        if self.by_level is not None:
            count = self.by_level.finish(top)
        else:
            count = self.shape_by_count(top, self.choice.rows)
        if not count:
            warn_of_nan(self, bottom)

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        if self.by_level is not None:
            self.by_level.empty(top)
        else:
            self.shape(top, 0)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        choice = self.by_level or self.choice
        return choice.rows + choice.tail if choice is not None and choice.rows else 0


class PyramidRegions(Choosing, type="PyramidRegions", bottoms=1, tops=(2, None)):
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

    replaces = ("rpn.as_rois.As_roisLayer", "rpn.as_rois_mrcnn.As_rois_MergeRcnnLayer")
    files = pyramid_choice.FILES
    by_level: LevelChoice | None = None

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient, self.outputs = True, len(top) - 1

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(
            shape[1:2] == (5,) and bottom[0].count == 5 * shape[0],
            f"bottom 0, the regions, must be (R, 5), got {shape}",
        )
        for blob in top:
            blob.reshape(1, 5)  # forward knows how many there are
        self.by_level = self.by_level or LevelChoice(self, self.outputs)
        self.by_level.reshape(shape[0])

    def forward_launch(self, bottom: list[Blob], top: list[Blob]) -> bool:
        if self.by_level is None or not self.by_level.rows:
            return False
        self.by_level.launch(bottom[0].data, None, top)
        return True

    def forward_finish(self, bottom: list[Blob], top: list[Blob]) -> None:
        assert self.by_level is not None
        self.by_level.finish(top)

    def forward_empty(self, bottom: list[Blob], top: list[Blob]) -> None:
        assert self.by_level is not None
        self.by_level.empty(top)

    def most_rows(self, bottom: Sequence[Blob]) -> int:
        choice = self.by_level
        return choice.rows + choice.tail if choice is not None and choice.rows else 0
