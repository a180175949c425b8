"""PReLUFixed: slopes of few bits, as an FPGA holds them."""

from __future__ import annotations

from ...device import Blob
from ..core import Trait
from ..core.fixed_point import FixedParameters
from .prelu import PReLU


class PReLUFixed(
    FixedParameters,
    PReLU,
    type="PReLUFixed",
    param=("prelu_param", "fixed_param"),
    bottoms=1,
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """PReLU whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of PReLU with the parameters as they are.

    Learned parameters: those of PReLU, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of PReLU.
    prelu_param
        As of PReLU.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of PReLU.

    Raises
    ------
    LayerError
        As of PReLU; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "PReLUFixed" fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'
    >>> run_layer(text, [[-1, -10]], params=[[1.4, 0.6]]).tolist()
    [[-1.5, -5.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)
