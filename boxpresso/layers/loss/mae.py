"""MAE: how far ages are on the mean from those that scores tell."""

from __future__ import annotations

from math import prod

from ...device import Blob, Kernels
from ..core import Layer
from .normalized_sum import rows_of


class MAE(Layer, type="MAE", param="mae_param", bottoms=2, tops=1):
    """top = the mean over rows of |a - b|, a and b being what a row of bottom 0 and of bottom 1 tells. There is no gradient.

    A row of one number tells it; a row of several tells the place of its largest, the first of equal ones. With `ordinal`
    scores 2k and 2k + 1 of bottom 0 say that an age is below rank k and that it is not: a is in how many ranks the second is
    the higher, and bottom 1 holds whole numbers. A net sets it by itself where an OrdinalRegressionLoss reads the same scores.

    Parameters
    ----------
    bottom 0
        (N, C), or (N, C, 1, 1); with `ordinal` (N, 2 K, ...).
    bottom 1
        (N) or (N, C'); with `ordinal` a label for each row and place of bottom 0.
    mae_param
        `ordinal` (false). `ignore_label` (none): of `ordinal`, labels of this value do not count.

    Returns
    -------
    top 0
        A single number; NaN where no label counts.

    Raises
    ------
    LayerError
        An empty batch; another number of rows or labels; an odd number of scores with `ordinal`; ignore_label without it.

    Source
    ------
    Three Caffes that tell ages have a layer of this name: one for values and distributions, one for distributions alone and
    one for ranks.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "MAE"', [[0.1, 0.2, 0.7], [0.9, 0.1, 0]], [4, 1]).item()  # 2 and 0
    1.5
    >>> run_layer('type: "MAE" mae_param { ordinal: true }', [[0, 1, 0, 1, 1, 0]], [0]).item()
    2.0
    """

    kernels = Kernels("mae.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.mae_param
        self.need(p.ordinal or not p.HasField("ignore_label"), "ignore_label goes with ordinal: true alone")

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        (batch, length), shape = rows_of(self, bottom[0]), bottom[0].shape
        channels, self.inner = (shape[1], prod(shape[2:])) if self.param.mae_param.ordinal else (length, 1)
        self.rows, labels = batch * self.inner, bottom[1].count
        self.need(
            labels == self.rows or (labels and not self.param.mae_param.ordinal and bottom[1].shape[:1] == (batch,)),
            f"bottom 1 of shape {bottom[1].shape} has not what belongs to the {self.rows} rows of bottom 0, {shape}",
        )
        self.channels, self.label_channels = channels, labels // self.rows
        odd = self.param.mae_param.ordinal and channels % 2
        self.need(not odd, f"ordinal: true needs two scores for each rank, got {channels}")
        top[0].reshape()
        self.errors = self.device.empty((self.rows,), self.dtype)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, arrays = self.param.mae_param, (bottom[0].data, bottom[1].data, self.errors)
        if p.ordinal:
            ignored = int(p.HasField("ignore_label")), p.ignore_label
            self.kernels.rank_errors(self.rows, *arrays, self.channels // 2, self.inner, *ignored)
        else:
            self.kernels.row_errors(self.rows, *arrays, self.channels, self.label_channels)
        self.kernels.mean_error(1, self.errors, top[0].data, self.rows)
