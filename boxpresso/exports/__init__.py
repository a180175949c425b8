"""Nets as files of other programs: ONNX, torch and safetensors.

steps.py makes a list of steps of a Net, fold.py folds affine maps into weights; `onnx` and `torch` read these.
"""

from __future__ import annotations

from .onnx.writer import Preprocess, onnx_model

__all__ = ["Preprocess", "onnx_model"]
