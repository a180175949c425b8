"""Writes train.prototxt and deploy.prototxt: a small SSD over a 128 x 128 image.

Seven convolutions, each with BatchNorm, Scale and ReLU, and three heads (16 x 16, 8 x 8 and 4 x 4 cells) that look for
shapes of about 20, 40 and 70 pixels.

    python model.py      # writes both files beside this one
"""

from __future__ import annotations

from pathlib import Path

SIZE, CLASSES, BATCH = 128, 4, 16
TRUNK = [("conv1", 16, 2), ("conv2", 24, 2), ("conv3", 32, 1), ("conv4", 48, 2), ("conv5", 48, 1), ("conv6", 64, 2),
         ("conv7", 64, 2)]  # fmt: skip
HEADS = {"conv5": (18, 34), "conv6": (34, 60), "conv7": (60, 90)}  # feature: smallest and largest prior in pixels
PRIORS = 4  # a square of each size, and 2:1 both ways


def convolution(name: str, bottom: str, outputs: int, stride: int = 1, bias: bool = True, top: str = "") -> str:
    return f"""
layer {{
  name: "{name}" type: "Convolution" bottom: "{bottom}" top: "{top or name}"
  convolution_param {{
    num_output: {outputs} kernel_size: 3 pad: 1 stride: {stride}{"" if bias else " bias_term: false"}
    weight_filler {{ type: "{"xavier" if bias else "msra"}" }}
  }}
}}"""


def block(name: str, bottom: str, outputs: int, stride: int) -> str:
    """Convolution, BatchNorm, Scale and ReLU, the last three in place."""
    return (
        convolution(name, bottom, outputs, stride, bias=False)
        + f"""
layer {{ name: "{name}/bn" type: "BatchNorm" bottom: "{name}" top: "{name}" batch_norm_param {{ moving_average_fraction: 0.98 }} }}
layer {{ name: "{name}/scale" type: "Scale" bottom: "{name}" top: "{name}" scale_param {{ bias_term: true }} }}
layer {{ name: "{name}/relu" type: "ReLU" bottom: "{name}" top: "{name}" }}"""
    )


def head(feature: str, kind: str, values: int) -> str:
    """A convolution that gives `values` numbers a prior, brought to (N, cells * priors * values)."""
    name = f"{feature}_{kind}"
    return (
        convolution(name, feature, PRIORS * values)
        + f"""
layer {{ name: "{name}_perm" type: "Permute" bottom: "{name}" top: "{name}_perm" permute_param {{ order: 0 order: 2 order: 3 order: 1 }} }}
layer {{ name: "{name}_flat" type: "Flatten" bottom: "{name}_perm" top: "{name}_flat" }}"""
    )


def prior(feature: str, small: int, large: int) -> str:
    return f"""
layer {{
  name: "{feature}_prior" type: "PriorBox" bottom: "{feature}" bottom: "data" top: "{feature}_prior"
  prior_box_param {{
    min_size: {small} max_size: {large} aspect_ratio: 2 flip: true clip: false
    variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2
  }}
}}"""


def concat(kind: str, axis: int) -> str:
    suffix = "prior" if kind == "prior" else f"{kind}_flat"
    bottoms = " ".join(f'bottom: "{feature}_{suffix}"' for feature in HEADS)
    return f'\nlayer {{ name: "{kind}" type: "Concat" {bottoms} top: "{kind}" concat_param {{ axis: {axis} }} }}'


TRAIN_TAIL = f"""
layer {{
  name: "loss" type: "MultiBoxLoss" bottom: "loc" bottom: "conf" bottom: "prior" bottom: "label" top: "loss"
  propagate_down: true propagate_down: true propagate_down: false propagate_down: false
  loss_param {{ normalization: VALID }}
  multibox_loss_param {{
    num_classes: {CLASSES} overlap_threshold: 0.5 mining_type: MAX_NEGATIVE neg_pos_ratio: 3 neg_overlap: 0.5
    code_type: CENTER_SIZE
  }}
}}
"""
DEPLOY_TAIL = f"""
layer {{
  name: "conf_rows" type: "Reshape" bottom: "conf" top: "conf_rows"
  reshape_param {{ shape {{ dim: 0 dim: -1 dim: {CLASSES} }} }}
}}
layer {{ name: "conf_softmax" type: "Softmax" bottom: "conf_rows" top: "conf_softmax" softmax_param {{ axis: 2 }} }}
layer {{ name: "conf_flat" type: "Flatten" bottom: "conf_softmax" top: "conf_flat" }}
layer {{
  name: "detection_out" type: "DetectionOutput" bottom: "loc" bottom: "conf_flat" bottom: "prior" top: "detection_out"
  detection_output_param {{
    num_classes: {CLASSES} nms_param {{ nms_threshold: 0.45 top_k: 100 }} keep_top_k: 50 confidence_threshold: 0.05
    code_type: CENTER_SIZE
  }}
}}
"""


def net(train: bool) -> str:
    """The text of the net. The image goes in as it is, 0 to 255, B, G, R; the first layer brings it to -1 to 1."""
    batch = BATCH if train else 1
    parts = [
        f'name: "shapes"\nlayer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ dim: {batch} dim: 3 dim: {SIZE} '
        f"dim: {SIZE} }} }} }}"
    ]
    if train:
        parts.append('\nlayer { name: "label" type: "Input" top: "label" input_param { shape { dim: 1 dim: 1 dim: 1 dim: 8 } } }')
    parts.append(
        '\nlayer { name: "centred" type: "Power" bottom: "data" top: "centred" power_param { scale: 0.0078125 shift: -1 } }'
    )
    bottom = "centred"
    for name, outputs, stride in TRUNK:
        parts.append(block(name, bottom, outputs, stride))
        bottom = name
    for feature, sizes in HEADS.items():
        parts += [head(feature, "loc", 4), head(feature, "conf", CLASSES), prior(feature, *sizes)]
    parts += [concat("loc", 1), concat("conf", 1), concat("prior", 2), TRAIN_TAIL if train else DEPLOY_TAIL]
    return "".join(parts)


if __name__ == "__main__":
    for name, train in (("train", True), ("deploy", False)):
        Path(__file__).with_name(f"{name}.prototxt").write_text(net(train))
