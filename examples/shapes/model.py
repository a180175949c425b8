"""Writes train.prototxt, test.prototxt and deploy.prototxt: a small SSD over a 128 x 128 image.

Seven convolutions, each with BatchNorm, Scale and ReLU, and three heads (16 x 16, 8 x 8 and 4 x 4 cells) that look for
shapes of about 20, 40 and 70 pixels.

    python model.py      # writes the files beside this one
"""

from __future__ import annotations

from pathlib import Path

SIZE, CLASSES = 128, 4
BATCH = {"train": 16, "test": 20, "deploy": 1}
WORK = "examples/shapes/work"  # where train.py puts records, seen from the repository's root
TRUNK = [("conv1", 16, 2), ("conv2", 24, 2), ("conv3", 32, 1), ("conv4", 48, 2), ("conv5", 48, 1), ("conv6", 80, 2),
         ("conv7", 80, 2)]  # fmt: skip
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


# What is drawn anew each time that a picture is learned from: the mirror image, other light, and one of the picture and a part.
AUGMENTATION = """
    mirror: true
    distort_param {
      brightness_prob: 0.5 brightness_delta: 20 contrast_prob: 0.5 contrast_lower: 0.7 contrast_upper: 1.3
      random_order_prob: 0.5
    }
    emit_constraint { emit_type: CENTER }"""
SAMPLERS = """
  annotated_data_param {
    batch_sampler { max_sample: 1 max_trials: 1 }
    batch_sampler {
      sampler { min_scale: 0.6 max_scale: 1 min_aspect_ratio: 0.75 max_aspect_ratio: 1.33 }
      sample_constraint { min_object_coverage: 1 } max_sample: 1 max_trials: 10
    }
  }"""


def data(kind: str) -> str:
    """Pictures (N, 3, 128, 128) as they are, 0 to 255, B, G, R, and, unless for deploy, the boxes that are in them."""
    if kind == "deploy":
        return f'layer {{ name: "data" type: "Input" top: "data" input_param {{ shape {{ dim: 1 dim: 3 dim: {SIZE} dim: {SIZE} }} }} }}'
    train = kind == "train"
    return f"""layer {{
  name: "data" type: "AnnotatedData" top: "data" top: "label"
  data_param {{ source: "{WORK}/{kind}_lmdb" backend: LMDB batch_size: {BATCH[kind]}{" shuffle: true" if train else ""} }}
  transform_param {{
    resize_param {{ resize_mode: WARP height: {SIZE} width: {SIZE} interp_mode: LINEAR }}{AUGMENTATION if train else ""}
  }}{SAMPLERS if train else ""}
}}"""


LOSS = f"""
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
DETECTIONS = f"""
layer {{
  name: "conf_rows" type: "Reshape" bottom: "conf" top: "conf_rows"
  reshape_param {{ shape {{ dim: 0 dim: -1 dim: {CLASSES} }} }}
}}
layer {{ name: "conf_softmax" type: "Softmax" bottom: "conf_rows" top: "conf_softmax" softmax_param {{ axis: 2 }} }}
layer {{ name: "conf_flat" type: "Flatten" bottom: "conf_softmax" top: "conf_flat" }}
layer {{
  name: "detection_out" type: "DetectionOutput" bottom: "loc" bottom: "conf_flat" bottom: "prior" top: "detection_out"
  detection_output_param {{
    num_classes: {CLASSES} nms_param {{ nms_threshold: 0.45 top_k: 100 }} keep_top_k: 50 confidence_threshold: 0.01
    code_type: CENTER_SIZE
  }}
}}
"""
EVALUATION = f"""layer {{
  name: "detection_eval" type: "DetectionEvaluate" bottom: "detection_out" bottom: "label" top: "detection_eval"
  detection_evaluate_param {{ num_classes: {CLASSES} }}
}}
"""
TAILS = {"train": LOSS, "test": DETECTIONS + EVALUATION, "deploy": DETECTIONS}


def net(kind: str) -> str:
    """The text of the net. kind: train, test or deploy."""
    parts = [
        f'name: "shapes"\n{data(kind)}',
        '\nlayer { name: "centred" type: "Power" bottom: "data" top: "centred" power_param { scale: 0.0078125 shift: -1 } }',
    ]
    bottom = "centred"
    for name, outputs, stride in TRUNK:
        parts.append(block(name, bottom, outputs, stride))
        bottom = name
    for feature, sizes in HEADS.items():
        parts += [head(feature, "loc", 4), head(feature, "conf", CLASSES), prior(feature, *sizes)]
    parts += [concat("loc", 1), concat("conf", 1), concat("prior", 2), TAILS[kind]]
    return "".join(parts)


if __name__ == "__main__":
    for kind in TAILS:
        Path(__file__).with_name(f"{kind}.prototxt").write_text(net(kind))
