"""Inference in 8 bits: from a net in float and some pictures to scales, and which layers run by them.

    import boxpresso
    scales = boxpresso.quantize(net, ["a.jpg", "b.jpg"])
    boxpresso.quantize.save(net, scales, "int8.caffemodel")
    net = boxpresso.Net("deploy.prototxt", "int8.caffemodel")  # runs in 8 bits

docs/quantize.md says what is measured, and what is promised.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .quantizer import quantize, save

__all__ = ["quantize", "save"]


class _Room(ModuleType):
    """The room is called as its function is, for both have one name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return quantize(*args, **options)


sys.modules[__name__].__class__ = _Room
