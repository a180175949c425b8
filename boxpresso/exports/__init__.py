"""Nets as files of other programs: ONNX, torch and safetensors.

steps.py makes a list of steps of a Net, fold.py folds affine maps into weights; `onnx` reads these. `torch` makes modules of
the layers themselves. Nothing here is imported before it is used.
"""

from __future__ import annotations

from .onnx.files import Written, export_onnx
from .onnx.verify import Difference, verify
from .onnx.writer import Preprocess, onnx_model
from .tensors import convert_weights, read_safetensors, write_safetensors

__all__ = [
    "Difference", "Preprocess", "Written", "convert_weights", "export_onnx", "onnx_model", "read_safetensors", "verify",
    "write_safetensors",
]  # fmt: skip
