"""The kernels of batch normalisation, for BatchNorm and for the BN of other Caffes."""

from __future__ import annotations

from pathlib import Path

from ...device.kernel import Kernels

kernels = Kernels(Path(__file__).with_name("batch_norm.cu"))
