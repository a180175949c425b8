"""Writes a net for all programs: `python benchmarks/nets.py PROTOTXT CAFFEMODEL|- FOLDER`.

FOLDER gets p.prototxt, w.caffemodel, x.npz and, where this Boxpresso has an ONNX writer that knows the net's layers, m.onnx; if
not, m.txt says why. Data layers become an Input of batch 1, layers that evaluate are left out, and without a caffemodel weights
are random, so that values neither grow nor vanish.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from boxpresso import Net
from boxpresso.graph.prepare import select
from boxpresso.proto import NetParameter, parse_net, read_net, to_text

EVALUATE = ("AnnotatedData", "Data", "ImageData", "DetectionEvaluate", "Accuracy", "Silence")
INPUT = 'layer { name: "input" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 300 dim: 300 } } }'
WITHOUT = "onnxruntime and OpenVINO are left out: this Boxpresso has no ONNX writer (boxpresso.exports)"


def deployed(path: str) -> Any:
    """The net at TEST with inputs of batch 1 and without layers that read data or evaluate."""
    net = select(read_net(path), "TEST")
    layers = [layer for layer in net.layer if layer.type not in EVALUATE]
    made = net
    if len(layers) < len(net.layer):
        made = NetParameter() if any(layer.type == "Input" for layer in layers) else parse_net(INPUT)
        made.layer.extend(layers)
    for layer in made.layer:
        layer.detection_output_param.ClearField("save_output_param")
        if layer.type == "DetectionOutput":  # OpenCV wants fields that have defaults, too
            output = layer.detection_output_param
            output.share_location, output.background_label_id = output.share_location, output.background_label_id
            output.code_type, output.variance_encoded_in_target = output.code_type, output.variance_encoded_in_target
        else:
            layer.ClearField("detection_output_param")
        for shape in layer.input_param.shape:
            if len(shape.dim) == 4:
                shape.dim[0] = 1
    made.ClearField("state")
    return made


def fill(net: Net) -> None:
    """Random weights."""
    rng = np.random.default_rng(0)
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            if layer.type == "BatchNorm":
                blob.data[...] = [0, 1, 1][i]
            elif len(blob.shape) > 1:
                blob.data[...] = rng.standard_normal(blob.shape) * np.sqrt(2 / max(blob.count / blob.shape[0], 1))
            else:
                blob.data[...] = 1 if layer.type in ("Scale", "Normalize") and i == 0 else 0


def main(model: str, weights: str, folder: Path) -> None:
    param = deployed(model)
    (folder / "p.prototxt").write_text(to_text(param), encoding="utf-8")
    net = Net(folder / "p.prototxt", None if weights == "-" else weights, phase="TEST", device="cpu", seed=0)
    if weights == "-":
        fill(net)
    net.save(folder / "w.caffemodel")
    rng = np.random.default_rng(1)
    arrays = {}
    for name in net.inputs:
        shape = net.blobs[name].shape
        arrays[name] = rng.standard_normal(shape).astype(np.float32)
        if name == "im_info":  # else no region fits the image
            picture = next(net.blobs[n].shape for n in net.inputs if len(net.blobs[n].shape) == 4)
            arrays[name] = np.array([[*picture[2:], *[1.0] * (shape[-1] - 2)]], np.float32)
    np.savez(folder / "x.npz", **arrays)
    try:
        from boxpresso.exports import onnx_model
    except ImportError as error:
        own = (error.name or "").startswith("boxpresso")
        (folder / "m.txt").write_text(WITHOUT if own else f"no ONNX file: {error}")
        return
    try:
        made = onnx_model(net)
        (folder / "m.onnx").write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
    except Exception as error:  # the others are measured without
        (folder / "m.txt").write_text(f"not written as ONNX: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
