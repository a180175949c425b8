"""Boxpresso: Caffe detection models in today's Python.

    from boxpresso import Net
    net = Net("deploy.prototxt", "weights.caffemodel")
    out = net.forward(data=image)

Net runs a model, which consists of Layers and Blobs; devices() lists where it can run. NetSpec, with L and P, writes one.
Solver trains, Detector and detect find objects in pictures, and ops has the region operators as functions of arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import ops
    from .detection import Detection, Detections, Detector, detect
    from .device import Blob, Pictures, devices
    from .exports import to_torch as to_torch
    from .layers.core import Layer
    from .net import Net
    from .net_spec import L, NetSpec, P
    from .proto.errors import BoxpressoError, DeviceError, KernelError, LayerError, ModelError
    from .quantize.quantizer import quantize
    from .train import Solver

__version__ = "0.1.0"

_HOMES = {
    "Net": ".net", "Solver": ".train", "Layer": ".layers.core", "Blob": ".device", "Pictures": ".device", "devices": ".device",
    "Detection": ".detection", "Detections": ".detection", "Detector": ".detection", "detect": ".detection",
    "ops": ".ops", "quantize": ".quantize", "to_torch": ".exports",
    "NetSpec": ".net_spec", "L": ".net_spec", "P": ".net_spec",
    "BoxpressoError": ".proto.errors", "ModelError": ".proto.errors", "LayerError": ".proto.errors",
    "KernelError": ".proto.errors", "DeviceError": ".proto.errors",
}  # fmt: skip
__all__ = [
    "Blob",
    "BoxpressoError",
    "Detection",
    "Detections",
    "Detector",
    "DeviceError",
    "KernelError",
    "L",
    "Layer",
    "LayerError",
    "ModelError",
    "Net",
    "NetSpec",
    "P",
    "Pictures",
    "Solver",
    "detect",
    "devices",
    "ops",
    "quantize",
]  # fmt: skip  # and to_torch, by its name alone: `from boxpresso import *` does not need torch


def __getattr__(name: str) -> Any:
    """Imports on first use, so that `boxpresso --help` answers at once."""
    if name not in _HOMES:
        raise AttributeError(f"module 'boxpresso' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name], __name__)
    value = globals()[name] = home if name in ("ops", "quantize") else getattr(home, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
