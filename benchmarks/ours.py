"""Boxpresso on a case: a function that computes it once and gives its results by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import boxpresso
from boxpresso import Blob, Net, ops
from boxpresso.device import open_device
from boxpresso.layers.core import make_layer
from boxpresso.proto import parse_net

from .cases import TRUNKS, Case, top_of, weights_of

PRODUCT = "eltwise_param { operation: PROD } propagate_down: true propagate_down: false"
Results = Mapping[str, Any]
Call = Callable[[], Results]


def make(program: str, case: Case, arrays: dict[str, np.ndarray], folder: Path, threads: int) -> tuple[Call, str]:
    """The call, and the version. The number of threads comes in $BOXPRESSO_THREADS."""
    kinds = {"net": net, "train": train, "region": region, "convolution": convolution, "permute": permute}
    return kinds[case["kind"]](case, arrays, folder), boxpresso.__version__


def net(case: Case, arrays: dict[str, np.ndarray], folder: Path) -> Call:
    model = Net(folder / "p.prototxt", folder / "w.caffemodel", phase="TEST", device="cpu")
    return lambda: model.forward(**arrays)


def trunk_of(name: str) -> str:
    """The prototxt of a trunk, whose loss is the sum of its top times given numbers."""
    batch, size, layers = TRUNKS[name]
    shapes = ("x", (batch, 3, size, size)), ("g", top_of(name))
    text = [
        f'layer {{ name: "{x}" type: "Input" top: "{x}" input_param {{ shape {{ {" ".join(f"dim: {d}" for d in shape)} }} }} }}'
        for x, shape in shapes
    ]
    bottom, number = "x", 0

    def add(type: str, parameter: str = "", in_place: bool = False) -> None:
        nonlocal bottom, number
        number += 1
        top = bottom if in_place else f"top{number}"
        text.append(f'layer {{ name: "layer{number}" type: "{type}" bottom: "{bottom}" top: "{top}" {parameter} }}')
        bottom = top

    def convolve(outputs: int, kernel: int = 3, stride: int = 1, group: int = 1, normalised: bool = True) -> None:
        fields = f"num_output: {outputs} kernel_size: {kernel} pad: {kernel // 2} stride: {stride} group: {group}"
        add("Convolution", f"convolution_param {{ {fields} bias_term: {str(not normalised).lower()} }}")
        if normalised:
            add("BatchNorm")
            add("Scale", "scale_param { bias_term: true }")
        add("ReLU", in_place=True)

    for layer in layers:
        if layer == "p":
            add("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
        elif layer[0] == "c":
            convolve(layer[1], normalised=False)
        elif layer[0] == "s":
            convolve(layer[1], stride=2)
        else:
            convolve(layer[1], stride=layer[3], group=layer[1])
            convolve(layer[2], kernel=1)
    text.append(f'layer {{ name: "product" type: "Eltwise" bottom: "{bottom}" bottom: "g" top: "product" {PRODUCT} }}')
    bottom = "product"
    add("Reduction", "loss_weight: 1 reduction_param { operation: SUM }")
    return "\n".join(text)


def train(case: Case, arrays: dict[str, np.ndarray], folder: Path) -> Call:
    """Forward and backward; the results are the loss and the gradient of the first convolution."""
    model = Net(parse_net(trunk_of(case["name"])), phase="TRAIN", device="cpu", seed=0)
    weights = iter(weights_of(case["name"]))
    convolutions = [layer for layer in model.layers if layer.type == "Convolution"]
    for layer in convolutions:
        for blob in layer.blobs:
            blob.data[...] = next(weights)
    for name in model.inputs:
        model.blobs[name].data[...] = arrays[name]

    def call() -> Results:
        model.clear_param_diffs()
        loss = next(iter(model.forward().values()))
        model.backward()
        return {"loss": loss, "gradient": convolutions[0].blobs[0].diff}

    return call


def region(case: Case, arrays: dict[str, np.ndarray], folder: Path) -> Call:
    x, rois, ratio = arrays["x"], arrays["rois"], case["ratio"]
    scale, name = case["scale"], case["op"]
    rest: dict[str, tuple[Any, ...]] = {
        "roi_align": (x, rois, 7, scale, ratio, True), "roi_align_max": (x, rois, 7, scale, ratio, True, "max"),
        "roi_align_rotated": (x, rois, 7, scale, ratio, True), "roi_pool": (x, rois, 7, scale),
        "prroi_pool": (x, rois, 7, scale), "ps_roi_pool": (x, rois, 7, scale), "roi_pool_channels_last": (x, rois, 7, scale),
        "deform_roi_pool": (x, rois, arrays.get("offset"), 7, scale, ratio),
    }  # fmt: skip
    operator = getattr(ops, {"roi_align_max": "roi_align", "roi_pool_channels_last": "roi_pool"}.get(name, name))
    options = {"layout": "NHWC"} if name == "roi_pool_channels_last" else {}
    if not case["backward"]:
        return lambda: {"top": operator(*rest[name], **options)}
    if name == "roi_pool":  # a training has the places from forward
        _, places = ops.roi_pool_argmax(*rest[name])
        return lambda: ops.roi_pool_backward(arrays["g"], *rest[name], argmax=places)
    return lambda: operator.backward(arrays["g"], *rest[name], **options)


def convolution(case: Case, arrays: dict[str, np.ndarray], folder: Path) -> Call:
    fields = {"num_output": "outputs", "kernel_size": "kernel", "stride": "stride", "pad": "pad", "dilation": "dilation",
              "group": "group"}  # fmt: skip
    text = " ".join(f"{field}: {case[name]}" for field, name in fields.items())
    device = open_device("cpu")
    layer = make_layer(
        parse_net(f'layer {{ type: "Convolution" convolution_param {{ {text} }} }}').layer[0], device=device
    )
    bottom, top = [Blob(arrays["x"].shape, device=device)], [Blob((), device=device)]
    bottom[0].data[...] = arrays["x"]
    layer.setup(bottom, top)
    layer.reshape(bottom, top)
    for blob, value in zip(layer.blobs, (arrays["w"], arrays["b"])):
        blob.data[...] = value
    top[0].diff[...] = arrays["g"]

    def call() -> Results:
        if case["want"] == "forward":
            layer.forward(bottom, top)
            return {"top": top[0].data}
        layer.param_propagate_down = [case["want"] == "weights"] * 2
        for blob in layer.blobs:
            blob.diff.fill(0)
        layer.backward(top, [case["want"] == "data"], bottom)
        return {"gradient": bottom[0].diff if case["want"] == "data" else layer.blobs[0].diff}

    layer.forward(bottom, top)  # a weight gradient may use what forward has prepared
    return call


def permute(case: Case, arrays: dict[str, np.ndarray], folder: Path) -> Call:
    return lambda: {"top": ops.permute(arrays["x"], (0, 2, 3, 1))}
