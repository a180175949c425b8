"""A small SSD whose detections can be told by looking at the picture, for the tests of what surrounds a net.

A picture of 32 x 32 pixels is 4 x 4 cells of 8 x 8. A cell whose mean blue is above 128 is an object of label 1 with exactly
the cell as its box, with the score 1 / (1 + exp(-(mean - 128) / 8)).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boxpresso import Net
from boxpresso.proto import parse_net

TINY = """
name: "tiny"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 32 dim: 32 } } }
layer { name: "feature" type: "Convolution" bottom: "data" top: "feature"
  convolution_param { num_output: 1 kernel_size: 8 stride: 8 } }
layer { name: "loc" type: "Convolution" bottom: "feature" top: "loc" convolution_param { num_output: 4 kernel_size: 1 } }
layer { name: "loc_perm" type: "Permute" bottom: "loc" top: "loc_perm" permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "loc_flat" type: "Flatten" bottom: "loc_perm" top: "loc_flat" }
layer { name: "conf" type: "Convolution" bottom: "feature" top: "conf" convolution_param { num_output: 2 kernel_size: 1 } }
layer { name: "conf_perm" type: "Permute" bottom: "conf" top: "conf_perm" permute_param { order: 0 order: 2 order: 3 order: 1 } }
layer { name: "conf_rows" type: "Reshape" bottom: "conf_perm" top: "conf_rows" reshape_param { shape { dim: 0 dim: -1 dim: 2 } } }
layer { name: "softmax" type: "Softmax" bottom: "conf_rows" top: "softmax" softmax_param { axis: 2 } }
layer { name: "conf_flat" type: "Flatten" bottom: "softmax" top: "conf_flat" }
layer { name: "priors" type: "PriorBox" bottom: "feature" bottom: "data" top: "priors"
  prior_box_param { min_size: 8 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 } }
layer { name: "found" type: "DetectionOutput" bottom: "loc_flat" bottom: "conf_flat" bottom: "priors" top: "found"
  detection_output_param { num_classes: 2 nms_param { nms_threshold: 0.45 } code_type: CENTER_SIZE
    keep_top_k: 100 confidence_threshold: 0.01 } }
"""


def tiny_net(channels: int = 3) -> Net:
    """The net; with one channel it looks at grey in place of blue."""
    param = parse_net(TINY)
    param.layer[0].input_param.shape[0].dim[1] = channels
    net = Net(param, device="cpu")
    net.params["feature"][0].data[...] = 0
    net.params["feature"][0].data[:, 0] = 1 / 64
    for name in ("loc", "conf", "feature"):
        net.params[name][1].data[...] = 0
    net.params["loc"][0].data[...] = 0
    net.params["conf"][0].data[...] = np.array([0, 1 / 8]).reshape(2, 1, 1, 1)
    net.params["conf"][1].data[...] = [0, -16]
    return net


def write_tiny(folder: Path) -> tuple[str, str]:
    """The paths of a prototxt and a .caffemodel with it."""
    model, weights = folder / "tiny.prototxt", folder / "tiny.caffemodel"
    model.write_text(TINY)
    tiny_net().save(weights)
    return str(model), str(weights)


def picture(scale: int = 1, cell: tuple[int, int] = (1, 2), colour: tuple[int, int, int] = (0, 0, 255)) -> np.ndarray:
    """Black pixels (RGB) with one cell (row, column) in a colour, each of `scale` pixels square."""
    pixels = np.zeros((32, 32, 3), np.uint8)
    row, column = cell
    pixels[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = colour
    return pixels.repeat(scale, 0).repeat(scale, 1)
