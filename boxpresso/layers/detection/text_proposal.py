"""TextProposal: the narrow boxes of CTPN, before they are joined to lines of text."""

from __future__ import annotations

import numpy as np

from ...device import UNFUSED, Blob, Kernels
from ..core import Layer, Trait
from ..core.param_str import settings
from .rcnn import Upright

HEIGHTS = (11, 16, 23, 33, 48, 68, 97, 139, 198, 283)


class TextProposal(Layer, type="TextProposal", param="python_param", bottoms=3, tops=2, traits=Trait.IMAGE_INFO):
    """All boxes of CTPN, of the width of one place, with their probabilities.

    This is CTPN's ProposalLayer of layers.text_proposal_layer. An anchor with the centre y and the height h becomes a box with
    the centre y + d0 h and the height h exp(d1); its sides stay. Boxes are clipped to the image, and neither sorted nor
    suppressed. There is no gradient.

    Parameters
    ----------
    bottom 0
        (1, 2 A, H, W), probabilities: first all backgrounds, then all texts.
    bottom 1
        (1, 2 A, H, W), offsets: d0 and d1 of each anchor in turn.
    bottom 2
        (1, 2 or more), height and width of the net's input.
    python_param
        `param_str` holds `feat_stride` (16): pixels per place; `heights` of the anchors (11, 16, 23, 33, 48, 68, 97, 139,
        198, 283); `base_size` (16), their width.

    Returns
    -------
    top 0
        (A H W, 4), boxes: xmin, ymin, xmax, ymax, by row, column and anchor.
    top 1
        (A H W, 1), the probabilities of texts.

    Raises
    ------
    LayerError
        For settings that are not above 0, or bottoms of the wrong shape.

    Source
    ------
    Tian et al. 2016 (CTPN) and its code, whose anchors are whole numbers, rounded towards 0.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "TextProposal" python_param { param_str: "heights: [16]" }'
    >>> boxes, scores = run_layer(text, [[[[0.25]], [[0.75]]]], [[[[0.5]], [[0]]]], [[32, 32]], tops=2)
    >>> boxes.tolist(), scores.tolist()
    ([[0.0, 7.5, 15.0, 23.5]], [[0.75]])
    """

    replaces = ("layers.text_proposal_layer.ProposalLayer",)
    kernels = Kernels("text_proposal.cu", UNFUSED)
    boxes = Upright

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True
        s = settings(self, {"feat_stride": 16, "heights": HEIGHTS, "base_size": 16})
        self.stride = s["feat_stride"]
        heights = np.asarray(s["heights"])
        self.need(
            heights.dtype.kind in "if" and heights.ndim == 1 and heights.size and (heights > 0).all(),
            f"heights must be a list of numbers above 0, got {s['heights']!r}",
        )
        for name in ("feat_stride", "base_size"):
            self.need(isinstance(s[name], (int, float)) and s[name] > 0, f"{name} must be above 0, got {s[name]!r}")
        centre = (s["base_size"] - 1) / 2
        half = np.column_stack([np.full(len(heights), s["base_size"] // 2), heights // 2])
        self.anchors = np.trunc(np.concatenate([centre - half, centre + half], 1))
        self.table = self.device.table(self.anchors, np.float64)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, count = self.axes(bottom[0], 4, "bottom 0, the probabilities,"), len(self.anchors)
        for i in (0, 1):
            wanted = (1, 2 * count, *shape[2:])
            self.need(
                bottom[i].shape == wanted, f"bottom {i} must be {wanted} for {count} anchors, got {bottom[i].shape}"
            )
        self.need(bottom[2].count >= 2, f"bottom 2, im_info, must be (1, 2), got {bottom[2].shape}")
        rows = count * shape[2] * shape[3]
        top[0].reshape(rows, 4)
        top[1].reshape(rows, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, offsets, info = (blob.data for blob in bottom)
        height, width = bottom[0].shape[2:]
        places = self.kernels.struct(
            "Texts", anchors=len(self.anchors), height=height, width=width, stride=float(self.stride)
        )
        self.kernels.text_boxes(top[0].shape[0], scores, offsets, info, self.table, top[0].data, top[1].data, places)

    def allow_force_backward(self, index: int) -> bool:
        return False
