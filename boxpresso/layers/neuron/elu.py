"""ELU: the exponential linear unit."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class ELU(Neuron, type="ELU", param="elu_param", bottoms=1, tops=1, in_place=True):
    """top = x above 0, alpha * (exp(x) - 1) from 0 down, times lambda; element by element.

    elu_param { alpha: 1 lambda: 1 }; lambda is NVIDIA's, and makes it SELU. Source: Caffe; Clevert et al. 2015.
    """

    kernels = Kernels("elu.cu")

    def read(self) -> tuple[float, ...]:
        p = self.param.elu_param
        return p.alpha, getattr(p, "lambda")
