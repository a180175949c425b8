"""Parameter: a learned blob as a top."""

from __future__ import annotations

from collections.abc import Sequence

from ...device import Blob, Kernels
from ..core import Layer


class Parameter(Layer, type="Parameter", param="parameter_param", bottoms=0, tops=1):
    """The top is the layer's one parameter, of the shape that is given; its gradient is the top's.

    parameter_param { shape { dim: 3 dim: 4 } blob_filler {} }; the filler is happynear's, without it the blob is 0 at
    first. Source: Caffe, but the gradient is added, as for every parameter.
    """

    kernels = Kernels("parameter.cu")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p = self.param.parameter_param
        filled = {"filler": p.blob_filler} if p.HasField("blob_filler") else {"value": 0}
        self.parameter(0, tuple(p.shape.dim), **filled)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        top[0].share_data(self.blobs[0])
        top[0].reshape(*self.blobs[0].shape)

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.reshape(bottom, top)  # a Net that shares parameters gives them other memory

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        if self.param_propagate_down[0]:
            self.kernels.parameter_backward(top[0].count, top[0].diff, self.blobs[0].diff)
