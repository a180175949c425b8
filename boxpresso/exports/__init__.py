"""Nets as files of other programs: ONNX, torch and safetensors.

operations.py makes operations of a net's plan, with affine maps folded into weights for `onnx`; `torch` makes modules of
the layers themselves. Nothing here is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .onnx.files import Written, export_onnx
from .onnx.verify import Difference, verify
from .onnx.writer import Preprocess, onnx_model
from .tensors import convert_weights, read_safetensors, rows_of_net, write_safetensors

if TYPE_CHECKING:
    from .torch.files import export_torch
    from .torch.module import load_state, to_torch

__all__ = [
    "Difference", "Preprocess", "Written", "convert_weights", "export_onnx", "export_torch", "load_state", "onnx_model",
    "read_safetensors", "rows_of_net", "to_torch", "verify", "write_safetensors",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The functions that need torch, which is imported with the first of them."""
    if name in ("export_torch", "load_state", "to_torch"):
        from .torch import table

        table.import_torch()
        from .torch import files, module

        return getattr(files if name == "export_torch" else module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
