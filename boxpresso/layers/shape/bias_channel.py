"""BiasChannel, AdaptiveBiasChannel, UniqueLabel: which labels an image has, and scores that are raised for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...device import Blob, Kernels
from ...device.records import Numbers
from ..core import Layer, Trait
from ..core.checked import checked_by

NONE = -1  # in a list of labels: nothing


def refuse(layer: Layer, wrong: Numbers) -> None:
    """Raises LayerError for a label that is no channel: its place, its value, the number of channels."""
    channels = int(wrong[2])
    layer.need(False, f"label {wrong[1]:g} at {int(wrong[0])} is none of the {channels} channels, 0 to {channels - 1}")


class BiasChannel(Layer, type="BiasChannel", param="bias_channel_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL):
    """top = bottom 0, with bg_bias or fg_bias added to the scores of the channels that labels name.

    With labels of images (IMAGE), bg_bias is added at all places of channel 0, where it is among an image's labels, and fg_bias
    to each other channel that is. With a label for each pixel (PIXEL), fg_bias is added to the channel of its label; where a
    background_label or a bg_bias is given, bg_bias is added to the background's channel at all pixels that are not left out,
    and fg_bias to no background. The gradient passes through.

    Parameters
    ----------
    bottom 0
        Scores (N, C, H, W).
    bottom 1
        Labels: (N, L, 1, 1) or (N, L), -1 for none; or (N, 1, H, W) with PIXEL.
    bias_channel_param
        `label_type` (IMAGE): IMAGE or PIXEL. `bg_bias` (1), `fg_bias` (2): what is added. `ignore_label`, once or often:
        such labels count for nothing, nor does -1. `background_label` (0).

    Returns
    -------
    top 0
        In the shape of bottom 0.

    Raises
    ------
    LayerError
        Labels of another shape; a bias below 0; a label that is no channel and not left out; a gradient of the labels is
        asked for.

    Source
    ------
    DeepLab's Caffe (Papandreou et al. 2015), as PSPNet has it.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "BiasChannel"', [[[[0.5]], [[0.5]], [[0.5]]]], [[0, 2]]).ravel().tolist()
    [1.5, 0.5, 2.5]
    """

    kernels = Kernels("bias_channel.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.bias_channel_param
        self.need(
            p.bg_bias >= 0 and p.fg_bias >= 0,
            f"bg_bias and fg_bias must be 0 or more, got {p.bg_bias:g}, {p.fg_bias:g}",
        )
        self.of_pixels = p.label_type == p.PIXEL
        self.left_out = sorted({NONE, *p.ignore_label})
        self.ignored = self.device.table(self.left_out)
        self.has_background = self.of_pixels and (p.HasField("background_label") or p.HasField("bg_bias"))

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.bias_channel_param, self.axes(bottom[0], 4, "bottom 0")
        labels = bottom[1].shape
        fits = labels == (shape[0], 1, *shape[2:])
        if not self.of_pixels:
            fits = len(labels) > 1 and labels[0] == shape[0] and prod(labels[2:]) == 1
        self.need(
            fits,
            f"bottom 1 must be {(shape[0], 1, *shape[2:]) if self.of_pixels else f'({shape[0]}, labels)'}, got {labels}",
        )
        self.need(0 <= p.background_label < max(1, shape[1]), f"background_label {p.background_label} is no channel")
        self.rule = self.kernels.struct(
            "Raised", channels=shape[1], size=prod(shape[2:]), labels=1 if self.of_pixels else labels[1],
            ignored=len(self.left_out), of_pixels=int(self.of_pixels), has_background=int(self.has_background),
            background=p.background_label,
        )  # fmt: skip
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, label, items = self.param.bias_channel_param, bottom[1].data, bottom[1].count
        if self.device.kind == "cpu":
            values, channels = np.ravel(label), bottom[0].shape[1]
            wrong = ~((values > -1) & (values < channels)) & ~np.isin(np.trunc(values), self.left_out)
            if wrong.any():
                at = int(np.argmax(wrong))
                refuse(self, np.array([at, values[at], channels], np.float64))
        else:
            check = checked_by(self, refuse)
            self.kernels.tell_label(min(items, 1), label, self.ignored, check.record, items, self.rule, check.mark)
        how = self.rule, p.bg_bias, p.fg_bias
        self.kernels.raise_channels(top[0].count, bottom[0].data, label, self.ignored, top[0].data, *how)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not propagate_down[1], "labels have no gradient; set propagate_down: false for bottom 1")
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class AdaptiveBiasChannel(
    Layer, type="AdaptiveBiasChannel", param="adaptive_bias_channel_param", bottoms=2, tops=1, traits=Trait.WRITES_ALL
):
    """top = bottom 0, with so much added to the channels of an image's labels that each is highest at a share of the places.

    First, with suppress_others, scores of other channels that are above the lowest of the labels' are set to it, less
    margin_others. Then, num_iter times, for each label (the background, 0, first, the others in an order that is drawn) the
    smallest number is added that makes its channel the highest at bg_portion or fg_portion of the places. At last one number is
    added to all channels of the image, so that the mean of the highest scores is as before. An image without labels is as it
    was. It is computed on the host. There is no gradient: nets take the highest channel as a label.

    Parameters
    ----------
    bottom 0
        Scores (N, C, H, W).
    bottom 1
        Labels (N, L, 1, 1) or (N, L), -1 for none.
    adaptive_bias_channel_param
        `num_iter` (1), `bg_portion` (0.2), `fg_portion` (0.2), `suppress_others` (true), `margin_others` (1e-5).

    Returns
    -------
    top 0
        In the shape of bottom 0.

    Raises
    ------
    LayerError
        Labels of another shape; fewer than two channels or no places; a portion that is not from 0 to 1; a num_iter of 0; a
        label that is no channel.

    Source
    ------
    DeepLab's Caffe (Papandreou et al. 2015, EM-Adapt), as PSPNet has it.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> scores = [[[[4, 4, 4, 4]], [[3, 2, 1, 0]]]]
    >>> text = 'type: "AdaptiveBiasChannel" adaptive_bias_channel_param { fg_portion: 0.25 }'
    >>> run_layer(text, scores, [[0, 1]])[0, :, 0].tolist()
    [[3.75, 3.75, 3.75, 3.75], [4.75, 3.75, 2.75, 1.75]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.no_gradient = self.param.adaptive_bias_channel_param, True
        self.need(p.num_iter > 0, f"num_iter must be 1 or more, got {p.num_iter}")
        self.need(p.margin_others >= 0, f"margin_others must be 0 or more, got {p.margin_others:g}")
        for name in ("bg_portion", "fg_portion"):
            self.need(0 <= getattr(p, name) <= 1, f"{name} must be from 0 to 1, got {getattr(p, name):g}")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape, labels = self.axes(bottom[0], 4, "bottom 0"), bottom[1].shape
        self.need(shape[1] > 1 and prod(shape[2:]), f"needs two channels and a place at least, got {shape}")
        fits = len(labels) > 1 and labels[0] == shape[0] and prod(labels[2:]) == 1
        self.need(fits, f"bottom 1 must be ({shape[0]}, labels), got {labels}")
        top[0].reshape(*shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores = np.array(bottom[0].data)
        labels, draws = np.trunc(np.asarray(bottom[1].data)).reshape(bottom[1].shape[:2]), self.draws()
        wrong = np.flatnonzero(~((labels >= NONE) & (labels < scores.shape[1])))
        if wrong.size:
            refuse(self, np.array([wrong[0], labels.flat[wrong[0]], scores.shape[1]], np.float64))
        for of_image, own in zip(scores, labels.astype(int)):
            present = np.unique(own[own != NONE])
            if present.size:
                self.adapt(of_image.reshape(len(of_image), -1), present, draws)
        top[0].data[...] = scores

    def adapt(self, scores: Any, labels: Any, draws: np.random.Generator) -> None:
        """Changes the scores (C, places) of an image with these labels."""
        p, places = self.param.adaptive_bias_channel_param, scores.shape[1]
        others = np.setdiff1d(np.arange(len(scores)), labels)
        if p.suppress_others and others.size:
            lowest = scores[labels].min(0)
            scores[others] = np.where(
                scores[others] > lowest, lowest - scores.dtype.type(p.margin_others), scores[others]
            )
        highest = scores[labels].max(0)
        before = highest.mean(dtype=np.float64)
        first = int(labels[0] == 0)
        for _ in range(p.num_iter):
            for label in (*labels[:first], *draws.permutation(labels[first:])):
                rank = min(int((p.fg_portion if label else p.bg_portion) * places), places - 1)
                scores[label] += np.partition(highest - scores[label], rank)[rank]
                np.maximum(highest, scores[label], out=highest)
        scores += scores.dtype.type(before - highest.mean(dtype=np.float64))


class UniqueLabel(Layer, type="UniqueLabel", param="unique_label_param", bottoms=1, tops=1, traits=Trait.WRITES_ALL):
    """top[n] = the different labels of image n, from low to high, then -1. It is computed on the host, without a gradient.

    Parameters
    ----------
    bottom 0
        Maps of labels (N, 1, ...).
    unique_label_param
        `max_labels` (required): how many the top has room for. `ignore_label`, which may be repeated: labels that are left out.
        `force_label`, which may be repeated: labels that each image has.

    Returns
    -------
    top 0
        (N, max_labels, 1, 1).

    Raises
    ------
    LayerError
        More than one channel; more labels than max_labels; no room for another than the forced ones.

    Source
    ------
    DeepLab's Caffe (Papandreou et al. 2015), as PSPNet has it.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "UniqueLabel" unique_label_param { max_labels: 4 ignore_label: 255 force_label: 0 }'
    >>> run_layer(text, [[[7, 255, 7, 3]]]).ravel().tolist()
    [0.0, 3.0, 7.0, -1.0]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, self.no_gradient = self.param.unique_label_param, True
        forced = len(set(p.force_label))
        self.need(
            p.max_labels > forced, f"max_labels must be above the {forced} labels that are forced, got {p.max_labels}"
        )

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.need(len(shape) > 1 and shape[1] == 1, f"its bottom must be (N, 1, ...), got {shape}")
        top[0].reshape(shape[0], self.param.unique_label_param.max_labels, 1, 1)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, rows = self.param.unique_label_param, np.full(top[0].shape[:2], NONE, self.dtype)
        labels = np.asarray(bottom[0].data).reshape(len(rows), bottom[0].count // max(1, len(rows)))
        for i, (row, of_image) in enumerate(zip(rows, labels)):
            own = np.setdiff1d(of_image, np.array(p.ignore_label, self.dtype))
            own = np.union1d(own, np.array(p.force_label, self.dtype))
            self.need(len(own) <= p.max_labels, f"image {i} has {len(own)} labels, max_labels allows {p.max_labels}")
            row[: len(own)] = own
        top[0].data[...] = rows.reshape(top[0].shape)
