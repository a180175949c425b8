"""InfogainLoss: the cross entropy with a matrix that says what each confusion of classes costs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...device import AnyArray, Blob, Kernels
from ...proto.binary import read_blob
from ..core import Layer, Trait, softmax
from ..core.normalizer import divisor, normalization, refuse_forks
from .normalized_sum import KERNELS, Sum


class InfogainLoss(
    Layer,
    type="InfogainLoss",
    param=("infogain_loss_param", "loss_param"),
    bottoms=(2, 3),
    tops=(0, 2),
    loss=True,
    traits=Trait.CLASS_LABELS,
):
    """top = -sum(H[label, k] log(p[k])) over all positions and channels k, divided by a normaliser.

    Two layers have this name. With infogain_loss_param { axis }, or a loss_param, or a second top, it is that of later
    Caffes: bottom 0 holds scores, and their softmax along `axis` is p. Otherwise it is the plain one: bottom 0 holds
    the probabilities p, and the normaliser is N. In both, probabilities below 1e-20 count as 1e-20. The labels and H
    have no gradient.

    Parameters
    ----------
    bottom 0
        Plain: probabilities (N, ...), where the axes behind the first are one row of K channels. Otherwise scores, with
        K channels at `axis`.
    bottom 1
        Plain: N whole labels. Otherwise a label for each position of the other axes.
    bottom 2
        Optional: H, K x K, a row for each label.
    infogain_loss_param
        `source`: the file of H, a .binaryproto or .npy, where there is no bottom 2. `axis` (1): the axis of the
        channels.
    loss_param
        `ignore_label` (none), `normalization` (VALID), `normalize` and `pre_fixed_normalizer` (1), as for
        SoftmaxWithLoss.

    Returns
    -------
    top 0
        A single number.
    top 1
        Optional: the probabilities, in the shape of bottom 0.

    Raises
    ------
    LayerError
        A label that is not a channel and not ignored; H is missing or not K x K; bottom 1 does not have as many labels
        as are needed; an empty batch of the plain layer; no channels; an axis that the scores lack; a
        pre_fixed_normalizer that is not above 0 with PRE_FIXED; label_smoothing, weight_by_label_freqs or
        class_weighting of forks; a gradient of the labels or of H is asked for.
    ModelError
        The file of H cannot be read.

    Source
    ------
    Caffe, but a label that is not a channel raises LayerError.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> H = [[1, 0], [0, 1]]
    >>> round(run_layer('type: "InfogainLoss"', [[0.25, 0.75]], [0], H).item(), 3)
    1.386

    Scores in place of probabilities:

    >>> text = 'type: "InfogainLoss" infogain_loss_param { axis: 1 }'
    >>> round(run_layer(text, [[0, 0]], [0], H).item(), 3)
    0.693
    """

    kernels, sum_kernels, softmax_kernels = Kernels("infogain_loss.cu"), KERNELS, softmax.kernels

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, loss = self.param.infogain_loss_param, self.param.loss_param
        self.scores = p.HasField("axis") or self.param.HasField("loss_param") or len(top) > 1
        self.mode = "BATCH_SIZE"
        if self.scores:
            refuse_forks(self, loss)
            self.mode = normalization(self, loss)
        self.ignored = int(loss.HasField("ignore_label")), loss.ignore_label
        self.probability = Blob((), self.dtype, self.device)
        self.table = Blob((), self.dtype, self.device)
        if len(bottom) < 3:
            self.need(p.source, "needs the matrix H: a third bottom, or infogain_loss_param { source: FILE }")
            values = read_blob(p.source)
            self.table.reshape(*values.shape)
            self.table.data[...] = values

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        shape = bottom[0].shape
        axis = self.axis(bottom[0], self.param.infogain_loss_param.axis) if self.scores else 1
        self.need(shape, "bottom 0 must be (N, ...), got a single number")
        outer, inner = prod(shape[:axis]), prod(shape[axis + 1 :]) if self.scores else 1
        channels = shape[axis] if self.scores else prod(shape[1:])
        self.need(self.scores or outer, f"a loss over an empty batch (shape {shape}) has no value")
        self.need(channels > 0, f"bottom 0 of shape {shape} has no channels")
        self.need(
            bottom[1].count == outer * inner,
            f"bottom 0 of shape {shape} needs {outer * inner} labels, bottom 1 has the shape {bottom[1].shape}",
        )
        table = bottom[2] if len(bottom) > 2 else self.table
        self.need(
            table.count == channels**2,
            f"H must be {channels} x {channels}, a row for each label, got shape {table.shape}",
        )
        self.sizes = outer, channels, inner
        top[0].reshape()
        self.sum = Sum(self, outer * inner)
        self.divisor = divisor(self.param.loss_param, self.mode, outer * inner, outer)
        self.row_sums = self.device.empty((channels,), self.dtype)
        self.probability.reshape(*shape)
        if len(top) > 1:
            self.pass_on_memory(self.probability, top[1])

    def operands(self, bottom: list[Blob]) -> tuple[AnyArray, AnyArray, AnyArray]:
        """The probabilities, the labels, the matrix."""
        table = bottom[2] if len(bottom) > 2 else self.table
        return (self.probability if self.scores else bottom[0]).data, bottom[1].data, table.data

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        _, channels, inner = self.sizes
        if self.scores and bottom[0].count:
            softmax.forward(self.device, bottom[0].data, self.probability.data, *self.sizes)
        if len(top) > 1:
            self.pass_on_data(self.probability, top[1])
        probability, label, table = self.operands(bottom)
        self.kernels.gains(
            self.sum.blocks, probability, label, table, self.sum.partial, bottom[1].count, channels, inner,
            *self.ignored,
        )  # fmt: skip
        self.sum.join(top[0].data, self.divisor)
        self.sum.check_labels(label, channels, self.ignored)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        self.need(not any(propagate_down[1:]), "labels and H have no gradient; set propagate_down: false for them")
        if not propagate_down[0]:
            return
        outer, channels, inner = self.sizes
        data, loss_diff = self.operands(bottom), (top[0].diff, self.sum.result)
        sums = None
        if self.scores:
            sums = self.row_sums
            self.kernels.sum_rows(channels, data[2], sums)
        blocks = outer * channels if inner else 0
        self.kernels.gains_backward(blocks, *data, sums, *loss_diff, bottom[0].diff, channels, inner, *self.ignored)

    def allow_force_backward(self, index: int) -> bool:
        return index == 0
