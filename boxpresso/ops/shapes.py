"""The shapes of operators' results from those of their inputs alone, for libraries that trace."""

from __future__ import annotations

from typing import Any

from .operator import Operator
from .parameters import pair

IN_THEIR_CHANNELS = ("ps_roi_pool", "ps_roi_align")


def name_of(op: Operator[...]) -> str:
    return str(op.__name__)  # type: ignore[attr-defined]


def shape_of(op: Operator[...], inputs: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    """The shape of a result, (N, C, H, W) for an image, from those of the inputs, which may be symbols."""
    name, x = name_of(op), inputs[op.inputs[0]]
    if name == "permute":
        return [x.shape[axis] for axis in options["dims"]]
    if name == "multi_scale_deformable_attn":
        return [x.shape[0], inputs["attention_weights"].shape[1], x.shape[2] * x.shape[3]]
    if name == "point_sample":
        return [*x.shape[:2], *inputs["points"].shape[1:-1]]
    if name == "carafe":
        return [*x.shape[:2], *inputs["masks"].shape[2:]]
    if name == "corner_pool":
        return list(x.shape)
    if name == "correlation":
        patch, reach = 2 * options["max_displacement"] + 1, options["dilation"] * (options["kernel_size"] - 1) + 1
        size = [(n + 2 * options["padding"] - reach) // options["stride"] + 1 for n in x.shape[2:]]
        return [x.shape[0], patch, patch, *size]
    channels, *image = x.shape[3:] + x.shape[1:3] if options["layout"] == "NHWC" else x.shape[1:]
    if name == "deform_conv2d":
        weight = inputs["weight"]
        kernel = zip(image, weight.shape[2:], *(pair(options[key], key) for key in ("stride", "padding", "dilation")))
        size = [(n + 2 * pad - (dilation * (k - 1) + 1)) // stride + 1 for n, k, stride, pad, dilation in kernel]
        return [x.shape[0], weight.shape[0], *size]
    if name == "deformable_psroi_pool":
        return [inputs["rois"].shape[0], options["output_dim"], options["pooled_size"], options["pooled_size"]]
    if name == "crop_and_resize":
        return [inputs["boxes"].shape[0], channels, *pair(options["crop_size"], "crop_size")]
    bins = pair(options["output_size"])
    return [inputs["rois"].shape[0], channels // (bins[0] * bins[1]) if name in IN_THEIR_CHANNELS else channels, *bins]
