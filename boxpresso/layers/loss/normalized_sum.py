"""What losses share: their normaliser, and the sum over many items. The kernels' half is loss.h."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...device.kernel import Kernels
from ..core.layer import Layer

KERNELS = Kernels(Path(__file__).with_name("loss.cu"))
FORKS = ("label_smoothing", "weight_by_label_freqs", "class_weighting")


def normalization(layer: Layer, default: str) -> str:
    """The NormalizationMode that loss_param asks for; the older `normalize: true` is VALID, false is BATCH_SIZE."""
    p = layer.param.loss_param
    for fork in FORKS:
        layer.need(not getattr(p, fork), f"loss_param: {fork} of a fork is not supported; remove it")
    fixed = p.pre_fixed_normalizer
    mode = default
    if p.HasField("normalization"):
        mode = p.NormalizationMode.Name(p.normalization)
    elif p.HasField("normalize"):
        mode = "VALID" if p.normalize else "BATCH_SIZE"
    layer.need(mode != "PRE_FIXED" or fixed > 0, f"pre_fixed_normalizer must be above 0, got {fixed:g}")
    return mode


def divisor(layer: Layer, mode: str, items: int, batch: int) -> float:
    """What the sum is divided by, 1 at least; 0 stands for the items that count."""
    fixed = layer.param.loss_param.pre_fixed_normalizer
    sizes = {"FULL": items, "BATCH_SIZE": batch, "NONE": 1, "PRE_FIXED": fixed}
    return 0 if mode == "VALID" else max(1, sizes[mode])


class Sum:
    """The sum of the losses of `items` items: a kernel fills `partial` with piece_of_loss, `join` adds up."""

    kernels = KERNELS

    def __init__(self, layer: Layer, items: int) -> None:
        self.layer, self.blocks = layer, -(-items // KERNELS.constants["PIECE"])
        self.partial = layer.device.empty((3 * max(1, self.blocks),), np.float64)
        self.result = layer.device.empty((2,), layer.dtype)  # after join: the divisor, and how many labels are wrong

    def join(self, top: Any, divisor: float) -> None:
        KERNELS.on(self.layer.device).join(1, self.partial, top, self.result, self.blocks, divisor)

    def check_labels(self, label: Any, channels: int, ignored: int | None = None) -> None:
        """Raises LayerError naming the first label that is none of the channels, if join has found one."""
        if not np.asarray(self.result)[1]:
            return
        labels = np.asarray(label).ravel()
        wrong = ~((labels > -1) & (labels < channels))
        if ignored is not None:
            wrong &= ~(np.trunc(labels) == ignored)
        at = int(np.argmax(wrong))
        self.layer.need(False, f"label {labels[at]:g} at {at} is none of the {channels} channels, 0 to {channels - 1}")
