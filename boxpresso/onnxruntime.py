"""The region operators in onnxruntime on the CPU: files that mmcv and mmdeploy have exported run without their libraries.

    import onnxruntime
    import boxpresso.onnxruntime

    options = onnxruntime.SessionOptions()
    boxpresso.onnxruntime.register(options)
    session = onnxruntime.InferenceSession("rotated_faster_rcnn.onnx", options)

docs/operators.md says which operators there are.
"""

from __future__ import annotations

from typing import Any

from .ops import ort
from .ops.ort import NODES as _NODES

OPERATORS = tuple(_NODES)


def register(options: Any) -> None:
    """Adds the operators to the options of a session, in the domains mmcv and mmdeploy.

    Parameters
    ----------
    options : an onnxruntime.SessionOptions, of onnxruntime 1.16 or later.

    Raises
    ------
    DeviceError: Boxpresso is no wheel, and there is no C++ compiler.
    """
    options.register_custom_ops_library(ort.library())


__all__ = ["OPERATORS", "register"]
