"""CTCLoss and WarpCTCLoss: how unlikely a sequence of labels is whose places in time are not known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import KERNELS, Sum, check_labels


class CTCLoss(Layer, type="CTCLoss", param="ctc_loss_param", bottoms=(2, 3), tops=(0, 1), loss=True):
    """top = the mean over sequences of -log p(labels | scores): connectionist temporal classification.

    p is the sum over all paths, a class for each step, that become the labels once equal neighbours are merged and blanks
    are left out; a class has the probability that the softmax of its step's scores gives it. A sequence that has too few
    steps for its labels costs infinity and has no gradient.

    Two programs have a layer of this name: with two bottoms it is CtcLoss of warpctc-caffe, with three CTCLoss of
    caffe_latte.

    Parameters
    ----------
    bottom 0
        (T, N, C), scores of C classes at each of T steps of N sequences.
    bottom 1
        Of two bottoms (N, ...), labels of each sequence, among which blanks do not count. Of three (T, N), whether a step
        goes on with the sequence: the first 0 behind step 0 ends it.
    bottom 2
        (T, N), labels; the first that is negative, or C - 1 and more, ends them.
    ctc_loss_param
        `blank_label` (0), of two bottoms, or `blank_index` (-1: the last class), of three: the class that is the blank.
        `time_step` (0: all), of two bottoms: steps that count. `alphabet_size`: C, where it is given.

    Returns
    -------
    top 0
        A single number.

    Raises
    ------
    LayerError
        Shapes that do not fit one another; an empty batch; a blank that is no class; a label that is no class; an
        alphabet_size that is not C; `output_delay`, `loss_calculation_t`, `preprocess_collapse_repeated` or
        `ctc_merge_repeated: false`; a gradient of other bottoms than the first is asked for.

    Source
    ------
    Graves et al. 2006; xmfbit/warpctc-caffe and fireae/caffe_latte.

    Examples
    --------
    Two steps, a blank and one letter, all equally likely: three of four paths spell the letter.

    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> round(float(np.exp(-run_layer('type: "CTCLoss"', [[[0, 0]], [[0, 0]]], [[1]]))), 4)
    0.75
    """

    kernels, sum_kernels = Kernels("ctc_loss.cu"), KERNELS
    finite = False  # whether sequences that cost infinity do not count, and the gradient is that of a sum

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.ctc_loss_param
        for name in ("output_delay", "loss_calculation_t", "preprocess_collapse_repeated"):
            self.need(not getattr(p, name), f"ctc_loss_param: {name} is not supported; remove it")
        self.need(p.ctc_merge_repeated, "ctc_merge_repeated: false is not supported; remove it")
        self.timed = len(bottom) == 3

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.ctc_loss_param, bottom[0].shape
        self.need(len(shape) == 3 or shape[3:] == (1,), f"bottom 0 must be (T, N, C), got shape {shape}")
        steps, batch, classes = shape[:3]
        self.need(bottom[0].count > 0, f"a loss over an empty batch (shape {shape}) has no value")
        self.need(
            p.alphabet_size in (0, classes), f"alphabet_size is {p.alphabet_size}, bottom 0 has {classes} classes"
        )
        if self.timed:
            for i in (1, 2):
                self.need(
                    bottom[i].count == steps * batch, f"bottom {i} must be ({steps}, {batch}), got {bottom[i].shape}"
                )
            most = steps
        else:
            fits = bottom[1].shape[:1] == (batch,) and bottom[1].count > 0
            self.need(fits, f"bottom 1 must hold labels of the {batch} sequences of bottom 0, got {bottom[1].shape}")
            most = bottom[1].count // batch
        self.need(p.time_step <= steps, f"time_step is {p.time_step}, bottom 0 has {steps} steps")
        self.counting = steps if self.timed else p.time_step or steps
        blank = self.blank(classes)
        self.need(0 <= blank < classes, f"the blank, {blank}, is none of the {classes} classes")
        self.need(batch * steps * (2 * most + 1) < 2**31, "there are too many paths: steps times labels")
        top[0].reshape()
        self.geometry = self.kernels.struct(
            "Ctc",
            steps=self.counting,
            batch=batch,
            classes=classes,
            most=most,
            blank=blank,
            timed=self.timed,
            divisor=1 if self.finite else batch,
        )
        self.steps, self.batch, self.classes, wide = steps, batch, classes, 2 * most + 1
        self.sum = Sum(self, batch)
        self.words, self.lengths = (self.device.empty((batch, n), np.int32) for n in (most, 2))
        self.logs, self.ahead, self.behind, self.costs = (
            self.device.empty(size, np.float64)
            for size in (shape[:3], (batch, steps, wide), (batch, 2, wide), (batch,))
        )

    def blank(self, classes: int) -> int:
        """The class that is the blank."""
        p = self.param.ctc_loss_param
        return int(p.blank_index % classes if self.timed else p.blank_label)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        label = bottom[-1].data
        kernels, word = self.kernels, (self.words, self.lengths)
        kernels.ctc_words(self.batch, label, bottom[1].data, *word, self.geometry)
        kernels.ctc_logs(self.steps * self.batch, bottom[0].data, self.logs, self.classes)
        kernels.ctc_costs(self.batch, self.logs, *word, self.ahead, self.costs, self.geometry)
        kernels.ctc_losses(self.sum.blocks, self.costs, self.lengths, self.sum.partial, self.batch, int(self.finite))
        self.sum.join(top[0].data, 0.0 if self.finite else float(self.batch))
        wrong = self.device.part(self.sum.result, 1, (1,))
        check_labels(self, wrong, label, bottom[-1].count, self.classes)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "labels have no gradient; set propagate_down: false for them")
        if not propagate_down[0]:
            return
        if self.counting < self.steps:
            bottom[0].diff.fill(0)
        self.kernels.ctc_diffs(
            self.batch, self.logs, self.words, self.lengths, self.ahead, self.costs, self.behind, top[0].diff,
            bottom[0].diff, self.geometry,
        )  # fmt: skip

    def allow_force_backward(self, index: int) -> bool:
        return index == 0


class WarpCTCLoss(CTCLoss, type="WarpCTCLoss", param="ctc_loss_param", bottoms=2, tops=(0, 1), loss=True):
    """top = the mean of CTCLoss's costs over those sequences that have steps enough for their labels.

    The gradient is that of its program: of the sum of the costs, not their mean, times the loss weight.

    Parameters
    ----------
    bottom 0
        (T, N, C), scores of C classes at each of T steps of N sequences.
    bottom 1
        (N, ...), labels of each sequence, among which blanks do not count.
    ctc_loss_param
        `blank_index` (0): the class that is the blank.

    Returns
    -------
    top 0
        A single number; 0 where no sequence has steps enough.

    Raises
    ------
    LayerError
        As of CTCLoss. Forms with three and four bottoms are not supported.

    Source
    ------
    senlinuc/caffe_ocr; Baidu's warp-ctc.

    Examples
    --------
    >>> import numpy as np
    >>> from boxpresso.layers.core import run_layer
    >>> round(float(np.exp(-run_layer('type: "WarpCTCLoss"', [[[0, 0]], [[0, 0]]], [[1]]))), 4)
    0.75
    """

    finite = True

    def blank(self, classes: int) -> int:
        p = self.param.ctc_loss_param
        return int(p.blank_index % classes) if p.HasField("blank_index") else 0
