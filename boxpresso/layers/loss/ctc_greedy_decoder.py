"""CTCGreedyDecoder: the labels that the best class of each step spells."""

from __future__ import annotations

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer


class CTCGreedyDecoder(Layer, type="CTCGreedyDecoder", param="ctc_decoder_param", bottoms=(1, 3), tops=(1, 3)):
    """top 0 = for each sequence the best class of its steps, equal neighbours merged and blanks left out, then -1.

    There is no gradient. The tops behind the first are what the number of bottoms says: the costs with two; the accuracy
    with three, or costs and accuracy.

    Two further forms are those of caffe_ocr, whose sequences have all T steps: with one bottom the top is as above; with
    two, of which the second has rows of labels, (N, ...), the only top holds accuracies.

    Parameters
    ----------
    bottom 0
        (T, N, C), scores of C classes at each of T steps of N sequences.
    bottom 1
        (T, N), whether a step goes on with the sequence: the first 0 behind step 0 ends it; or (N, ...), labels that are
        wanted, where blanks do not count.
    bottom 2
        Optional: (T, N), the labels that are wanted; the first negative one ends them.
    ctc_decoder_param
        `blank_index` (-1: the last class; 0 in caffe_ocr's forms): the class that is the blank. `ctc_merge_repeated` (true).

    Returns
    -------
    top 0
        (N, T, 1, 1).
    costs
        (N, 1, 1, 1), minus the sum of the best scores.
    accuracies
        (1, 2, 1, 1): accuracy, and the share of sequences that are wholly right.
    accuracy
        (1, 1, 1, 1), 1 - the mean of how many labels must be changed, put in or left out, over the longer length.

    Raises
    ------
    LayerError
        Shapes that do not fit one another, an empty batch, a blank that is no class, tops that the bottoms cannot give.

    Source
    ------
    TextBoxes++'s Caffe (MhLiao), caffe_latte; senlinuc/caffe_ocr.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> scores = [[[9, 0, 0]], [[9, 0, 0]], [[0, 0, 9]], [[0, 9, 0]]]
    >>> run_layer('type: "CTCGreedyDecoder"', scores, [[0], [1], [1], [1]]).ravel().tolist()
    [0.0, 1.0, -1.0, -1.0]
    """

    kernels = Kernels("sequences.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(
            len(top) <= len(bottom), f"{len(bottom)} bottoms give at most as many tops, the prototxt has {len(top)}"
        )
        behind = top[1:]
        self.accuracy = behind.pop() if len(bottom) == 3 and behind else None
        self.costs = behind[0] if behind else None

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, shape = self.param.ctc_decoder_param, bottom[0].shape
        self.need(len(shape) == 3 or shape[3:] == (1,), f"bottom 0 must be (T, N, C), got shape {shape}")
        self.need(bottom[0].count > 0, f"an empty batch (shape {shape}) spells nothing")
        self.steps, self.batch, classes = shape[:3]
        rows = bottom[-1].shape
        self.labelled = len(bottom) == 2 and len(top) == 1 and rows[:1] == (self.batch,) and rows[:2] != shape[:2]
        for i, blob in enumerate(bottom[1:] if not self.labelled else (), 1):
            self.need(
                blob.count == self.steps * self.batch,
                f"bottom {i} must be ({self.steps}, {self.batch}), got {blob.shape}",
            )
        usual = p.blank_index if p.HasField("blank_index") or not (self.labelled or len(bottom) == 1) else 0
        blank = self.blank = classes - 1 if usual < 0 else usual
        self.need(blank < classes, f"blank_index {blank} is none of the {classes} classes")
        top[0].reshape(*((1, 2, 1, 1) if self.labelled else (self.batch, self.steps, 1, 1)))
        if self.costs is not None:
            self.costs.reshape(self.batch, 1, 1, 1)
        table = 1
        self.most = bottom[1].count // self.batch if self.labelled else self.steps
        if self.accuracy is not None:
            self.accuracy.reshape(1, 1, 1, 1)
        if self.accuracy is not None or self.labelled:
            table = (self.steps + 1) * (self.most + 1)
            self.need(self.batch * table < 2**31, "there are too many pairs of labels: the square of the steps")
        self.seen, self.wanted, self.table = (
            self.device.empty((self.batch, size), np.int32) for size in (self.steps, max(1, self.most), table)
        )
        self.lengths = [self.device.empty((self.batch,), np.int32) for _ in range(2)]
        self.edits = self.device.empty((self.batch, 4), np.float64)
        self.means = self.device.empty((6,), self.dtype)
        self.form = self.kernels.struct(
            "Sequences", steps=self.steps, batch=self.batch, classes=classes, blank=blank,
            merges=p.ctc_merge_repeated, time_first=1,
        )  # fmt: skip

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        kernels, (seen, wanted) = self.kernels, self.lengths
        costs = None if self.costs is None else self.costs.data
        running = None if self.labelled or len(bottom) == 1 else bottom[1].data
        kernels.greedy_words(self.batch, bottom[0].data, running, self.seen, seen, costs, self.form)
        if not self.labelled:
            kernels.words_as_top(top[0].count, self.seen, top[0].data)
        if self.accuracy is None and not self.labelled:
            return
        how = (self.most, 2, 0, self.blank) if self.labelled else (self.steps, 1, 1, 0)
        kernels.given_words(self.batch, bottom[-1].data, self.wanted, wanted, *how)
        kernels.edits(self.batch, self.seen, seen, self.wanted, wanted, self.table, self.edits, self.steps, self.most)
        kernels.sequence_means(1, self.edits, self.means, self.batch)
        if self.accuracy is not None:
            self.accuracy.data[...] = self.device.part(self.means, 5, (1, 1, 1, 1))
        else:
            means = np.asarray(self.means)
            top[0].data[...] = np.array([means[5], means[0]], means.dtype).reshape(1, 2, 1, 1)
