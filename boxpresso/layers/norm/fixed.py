"""ScaleFixed and NormalizeFixed: factors of few bits, as an FPGA holds them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...device import Blob
from ..core import Trait
from ..core.fixed_point import FixedParameters
from .normalize import Normalize
from .scale import Scale


class ScaleFixed(
    FixedParameters,
    Scale,
    type="ScaleFixed",
    param=("scale_param", "fixed_param"),
    bottoms=(1, 2),
    tops=1,
    in_place=True,
    traits=Trait.BY_CHANNEL | Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """Scale whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Scale with the parameters as they are.

    Learned parameters: those of Scale, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Scale.
    scale_param
        As of Scale.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Scale.

    Raises
    ------
    LayerError
        As of Scale; no fixed_param (fallingdust's layer of that name); a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = 'type: "ScaleFixed" fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'
    >>> run_layer(text, [[1, 10]], params=[[1.4, 0.6]]).tolist()
    [[1.5, 5.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)


class NormalizeFixed(
    FixedParameters,
    Normalize,
    type="NormalizeFixed",
    param=("norm_param", "normalize_param", "fixed_param"),
    bottoms=1,
    tops=1,
    traits=Trait.KEEPS_PLACES | Trait.WRITES_ALL,
):
    """Normalize whose parameters are rounded to what a fixed-point machine holds.

    Forward each parameter has numbers of few bits, as FixedNeuron has them, halves rounded away from 0, with a point of its
    own, which is found by `fixed_method`. The gradient is that of Normalize with the parameters as they are.

    Learned parameters: those of Normalize, not rounded.

    Parameters
    ----------
    bottom 0, ...
        As of Normalize.
    norm_param
        As of Normalize.
    fixed_param
        `bit_width` (8); `fixed_method` (DIFF_S): OVER_FLOW or DIFF_S, as of FixedNeuron; `enable` (true).

    Returns
    -------
    top 0, ...
        As of Normalize.

    Raises
    ------
    LayerError
        As of Normalize; normalize_param; no fixed_param; a bit_width of 0 or above 24; another fixed_method.

    Source
    ------
    Xilinx/Vitis-AI (caffe-xilinx).

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> text = '''type: "NormalizeFixed" norm_param { across_spatial: false channel_shared: false }
    ...     fixed_param { bit_width: 3 fixed_method: OVER_FLOW }'''
    >>> run_layer(text, [[3, 4]], params=[[1.4, 0.6]]).round(4).tolist()  # 0.6 * 1.5 and 0.8 * 0.5
    [[0.9, 0.4]]
    """

    @classmethod
    def stand_in(cls, param: Any, axes: Sequence[int], modules: Collection[str]) -> str:
        return ""

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(not self.param.HasField("normalize_param"), "normalize_param is another program's; remove it")
        super().setup(bottom, top)
        self.fix_parameters()

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.forward_fixed(super().forward, bottom, top)
