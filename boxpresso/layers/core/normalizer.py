"""What a loss is divided by: the normalization of Caffe's loss_param, for every loss that has it."""

from __future__ import annotations

from typing import Any

from .layer import Layer

FORKS = ("label_smoothing", "weight_by_label_freqs", "class_weighting")


def normalization(layer: Layer, p: Any, default: str = "VALID") -> str:
    """The name of the NormalizationMode that a loss_param `p` asks for; the older `normalize: true` is VALID, false BATCH_SIZE.

    Raises LayerError: PRE_FIXED with a pre_fixed_normalizer that is not above 0.
    """
    mode = default
    if p.HasField("normalization"):
        mode = p.NormalizationMode.Name(p.normalization)
    elif p.HasField("normalize"):
        mode = "VALID" if p.normalize else "BATCH_SIZE"
    fixed = p.pre_fixed_normalizer
    layer.need(mode != "PRE_FIXED" or fixed > 0, f"pre_fixed_normalizer must be above 0, got {fixed:g}")
    return mode


def divisor(p: Any, mode: str, full: int, batch: int, valid: int | None = None) -> float:
    """What the sum of a loss is divided by, 1 at least.

    Parameters
    ----------
    p, mode : a loss_param and its `normalization`.
    full : how many items there are.
    valid : how many of them count; None: the kernel counts them, and 0 is returned for VALID.
    batch : the size of the axes before that of the channels.
    """
    if mode == "VALID" and valid is None:
        return 0.0
    sizes = {"FULL": full, "VALID": valid, "BATCH_SIZE": batch, "NONE": 1, "PRE_FIXED": p.pre_fixed_normalizer}
    return max(1.0, float(sizes[mode]))


def refuse_forks(layer: Layer, p: Any, known: tuple[str, ...] = ()) -> None:
    """Raises LayerError for a loss_param with a field that weighs labels in a fork, and that the layer does not know."""
    for name in (fork for fork in FORKS if fork not in known):
        layer.need(not getattr(p, name), f"loss_param: {name} of a fork is not supported; remove it")
