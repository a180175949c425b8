"""Matrix products on either device: our packed gemm on the CPU, cuBLAS or a tiled kernel on a GPU."""

from __future__ import annotations
