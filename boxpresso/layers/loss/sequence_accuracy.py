"""SequenceAccuracy: how many sequences of labels are spelled without an error, and how far the others are from it."""

from __future__ import annotations

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import rows_of


class SequenceAccuracy(
    Layer,
    type=("SequenceAccuracy", "LabelsequenceAccuracy"),
    param=("Sequence_accuracy_param", "labelsequence_accuracy_param"),
    bottoms=2,
    tops=(1, 3),
):
    """top 0 = the share of the sequences whose labels are those that are wanted, all of them, in order. There is no gradient.

    Bottom 0 holds labels, or the scores of each step: the best class of a step is its label, equal labels of neighbouring
    steps are one, and blanks are left out.

    Parameters
    ----------
    bottom 0
        (N, T, C), scores; or (N, T), labels, which the first negative one ends.
    bottom 1
        (N, L), the labels that are wanted: without blanks beside scores, up to the first negative one beside labels.
    labelsequence_accuracy_param, Sequence_accuracy_param
        `blank_label` (0): the class that is the blank, of scores.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: (3,), means over the sequences: how many labels must be changed, put in or left out, how many are wanted and
        how many were seen.
    top 2
        Optional: a single number, the mean of how many labels are right.

    Raises
    ------
    LayerError
        An empty batch; a bottom 1 of other sequences; a blank that is no class.

    Source
    ------
    dlunion/CaffeLSTM-OCR (LabelsequenceAccuracy); SequenceAccuracy is of a Caffe whose decoder gives labels, and of
    LPAIS/HDSR-with-RNN, whose source is not public: its scores are taken as the first's.

    Examples
    --------
    Three steps spell 1 2, once with a blank between.

    >>> from boxpresso.layers.core import run_layer
    >>> scores = [[[0, 9, 0], [9, 0, 0], [0, 0, 9]]]
    >>> run_layer('type: "LabelsequenceAccuracy"', scores, [[1, 2, 0]]).item()
    1.0
    >>> [top.tolist() for top in run_layer('type: "SequenceAccuracy"', [[1, 2, -1]], [[1, 3, 2]], tops=3)]
    [0.0, [1.0, 3.0, 2.0], 2.0]
    """

    kernels = Kernels("sequences.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        named = self.param.HasField("labelsequence_accuracy_param")
        p = self.param.labelsequence_accuracy_param if named else self.param.Sequence_accuracy_param
        self.blank = p.blank_label

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        self.batch, _ = rows_of(self, bottom[0])
        self.scores = len(shape) == 3
        labels = len(shape) > 1 and bottom[0].count == self.batch * shape[1]
        self.need(self.scores or labels, f"bottom 0 must be (N, T, C) or (N, T), got shape {shape}")
        self.steps, self.classes = shape[1], shape[2] if self.scores else 0
        self.need(
            bottom[1].shape[:1] == (self.batch,) and bottom[1].count,
            f"bottom 1 must hold labels of the {self.batch} sequences of bottom 0, got {bottom[1].shape}",
        )
        self.need(
            not self.scores or 0 <= self.blank < self.classes,
            f"blank_label {self.blank} is none of the {self.classes} classes of bottom 0",
        )
        self.most = bottom[1].count // self.batch
        table = (self.steps + 1) * (self.most + 1) if len(top) > 1 else 0
        self.need(self.batch * table < 2**31, "there are too many pairs of labels: steps times wanted labels")
        for blob, form in zip(top, ((), (3,), ())):
            blob.reshape(*form)
        self.seen, self.wanted, self.table = (
            self.device.empty((self.batch, size), np.int32) for size in (self.steps, self.most, max(1, table))
        )
        self.lengths = [self.device.empty((self.batch,), np.int32) for _ in range(2)]
        self.edits = self.device.empty((self.batch, 4), np.float64)
        self.means = self.device.empty((6,), self.dtype)
        self.form = self.kernels.struct(
            "Sequences",
            steps=self.steps,
            batch=self.batch,
            classes=self.classes,
            blank=self.blank,
            merges=1,
            time_first=0,
        )

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        kernels, (seen, wanted), scores = self.kernels, self.lengths, bottom[0].data
        if self.scores:
            kernels.greedy_words(self.batch, scores, None, self.seen, seen, None, self.form)
        else:
            kernels.given_words(self.batch, scores, self.seen, seen, self.steps, 1, 0, self.blank)
        kernels.given_words(self.batch, bottom[1].data, self.wanted, wanted, self.most, not self.scores, 0, self.blank)
        table = self.table if len(top) > 1 else None
        kernels.edits(self.batch, self.seen, seen, self.wanted, wanted, table, self.edits, self.steps, self.most)
        kernels.sequence_means(1, self.edits, self.means, self.batch)
        for blob, (first, size) in zip(top, ((0, 1), (1, 3), (4, 1))):
            blob.data[...] = self.device.part(self.means, first, (size,) if blob.shape else ())
