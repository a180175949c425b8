"""Parameter: a learned blob as a top."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer, Trait


class Parameter(
    Layer, type="Parameter", param="parameter_param", bottoms=0, tops=1, traits=Trait.FILLED | Trait.CONSTANT
):
    """A learned blob as a top: the top is the layer's one parameter.

    The gradient of the parameter is that of the top.

    Parameters
    ----------
    parameter_param
        `shape`: of the blob. `blob_filler`: the filler of the blob, of happynear's fork; without it the blob is 0 at
        first.

    Returns
    -------
    top 0
        The parameter.

    Source
    ------
    Caffe; but the gradient is added to the parameter's diff, as for every parameter.

    Examples
    --------
    >>> from boxpresso.layers.core import run_layer
    >>> layer = 'type: "Parameter" parameter_param { shape { dim: 2 dim: 2 } }'
    >>> run_layer(layer, params=[[[1, 2], [3, 4]]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """

    kernels = Kernels("parameter.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.parameter_param
        filled = {"filler": p.blob_filler} if p.HasField("blob_filler") else {"value": 0}
        self.parameter(0, tuple(p.shape.dim), **filled)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.pass_on_memory(self.blobs[0], top[0])

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.reshape(bottom, top)  # a Net that shares parameters gives them other memory
        self.pass_on_data(self.blobs[0], top[0])

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.param_propagate_down[0]:
            self.kernels.parameter_backward(top[0].count, top[0].diff, self.blobs[0].diff)
