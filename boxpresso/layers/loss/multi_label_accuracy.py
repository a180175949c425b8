"""MultiLabelAccuracy: recall, precision and their like of yes-or-no labels, of which a row has several."""

from __future__ import annotations

import numpy as np

from ...device import Blob, Kernels
from ..core import Layer, Trait


class MultiLabelAccuracy(Layer, type="MultiLabelAccuracy", bottoms=2, tops=1, traits=Trait.COMPARES | Trait.WRITES_ALL):
    """top = recall, specificity, the harmonic mean of both, precision, F1: of labels of yes (1), no (-1), or not known (0).

    A score of 0 or more says yes. TP counts labels of yes with such a score, FN other labels of yes, TN labels of no with a
    score below 0, FP other labels of no. The five are TP / (TP + FN), TN / (TN + FP), 2 / (1 / recall + 1 / specificity),
    TP / (TP + FP) and 2 TP / (2 TP + FP + FN); one without a value is 0. There is no gradient.

    Parameters
    ----------
    bottom 0
        Scores, of any shape; a negative one says no.
    bottom 1
        As many labels: 1 or more for yes, -1 or less for no, others count for neither.

    Returns
    -------
    top 0
        (1, 5, 1, 1).

    Raises
    ------
    LayerError
        Not as many labels as scores: those that are numbers of classes go with Accuracy; a gradient is asked for.

    Source
    ------
    kevinlin311tw/caffe-multilabel, xiaomi646/caffe_2d_mlabel, lxx1991/caffe_mpi and others, after a pull request to BVLC/caffe
    of 2014. senlinuc/caffe_ocr and ywchao/caffe have others of this name.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> shares = run_layer('type: "MultiLabelAccuracy"', [[2, -1, 3, -2, 9]], [[1, 1, -1, -1, 0]])
    >>> shares.ravel().tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5]
    """

    kernels = Kernels("multi_label_accuracy.cu")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        scores, labels = bottom[0].shape, bottom[1].shape
        self.need(
            bottom[1].count == bottom[0].count,
            f"needs a yes-or-no label for each score, got scores {scores} and labels {labels}; numbers of classes go with "
            "Accuracy",
        )
        top[0].reshape(1, 5, 1, 1)
        each = self.kernels.constants["LABELS_OF_BLOCK"]
        self.blocks = -(-bottom[0].count // each)
        self.partial = self.device.empty((self.kernels.constants["COUNTS"] * max(1, self.blocks),), np.float64)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.kernels.count_signs(self.blocks, bottom[0].data, bottom[1].data, self.partial, bottom[0].count)
        self.kernels.shares_of_signs(1, self.partial, top[0].data, self.blocks)
