"""The kernels of batch normalisation, for BatchNorm and for the BN of other Caffes."""

from __future__ import annotations

from ...device.kernel import Kernels

kernels = Kernels("batch_norm.cu")
