"""ContinuationIndicator: where the sequences of a recurrent layer begin."""

from __future__ import annotations

from ...device import Blob
from ..core import Layer, Trait


class ContinuationIndicator(
    Layer,
    type="ContinuationIndicator",
    param="continuation_indicator_param",
    bottoms=0,
    tops=1,
    traits=Trait.CONSTANT | Trait.FILLED | Trait.WRITES_ALL,
):
    """0 in the first time step and 1 in all others: the second bottom of an LSTM whose sequences all begin together.

    Parameters
    ----------
    continuation_indicator_param
        `time_step`: T, and `batch_size`: N, both required.

    Returns
    -------
    top 0
        (T, N).

    Raises
    ------
    LayerError
        A missing time_step or batch_size.

    Source
    ------
    Caffe for recognising text (xmfbit/warpctc-caffe and its like).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> run_layer('type: "ContinuationIndicator" continuation_indicator_param { time_step: 3 batch_size: 2 }').tolist()
    [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.no_gradient = True

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.continuation_indicator_param
        self.need(p.time_step and p.batch_size, f"needs time_step and batch_size, got {p.time_step} and {p.batch_size}")
        top[0].reshape(p.time_step, p.batch_size)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].data.fill(1)
        self.device.part(top[0].data, 0, (top[0].shape[1],)).fill(0)
