"""AbsVal: the absolute value."""

from __future__ import annotations

from ...device import Kernels
from .neuron_base import Neuron


class AbsVal(Neuron, type="AbsVal", bottoms=1, tops=1, in_place=True):
    """top = |bottom|, element by element; the gradient at 0 is 0. Source: Caffe, which refuses it in place."""

    kernels = Kernels("absval.cu")
