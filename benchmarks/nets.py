"""Whole nets, one forward pass of batch 1, against OpenCV's reader of the same files in the same run.

    python benchmarks/nets.py MODEL.prototxt [MODEL.prototxt ...]

Needs opencv-python-headless 4.x (OpenCV 5 has no Caffe importer). Weights are random and saved by Boxpresso, so that both
programs read the same caffemodel. The runs are interleaved and the table shows medians: on a shared machine only the
ratio means something. A forward pass of these nets is bound by arithmetic (its convolutions).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import cv2
import numpy as np

from boxpresso import Net
from boxpresso.device.host import threads
from boxpresso.net.prepare import select
from boxpresso.proto import parse_net, read_net, to_text


def deployed(path: str, folder: Path) -> Path:
    """The prototxt without data and evaluation layers: an Input of (1, 3, 300, 300) stands for a data layer."""
    net = select(read_net(path), "TEST")
    kept = [layer for layer in net.layer if layer.type not in ("AnnotatedData", "DetectionEvaluate")]
    made = net
    if len(kept) < len(net.layer):
        made = parse_net(
            'layer { name: "input" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 300 dim: 300 } } }'
        )
        made.layer.extend(kept)
    for layer in made.layer:
        layer.detection_output_param.ClearField("save_output_param")
        if layer.type != "DetectionOutput":
            layer.ClearField("detection_output_param")
    written = folder / "deploy.prototxt"
    written.write_text(to_text(made))
    return written


def prepare(path: str, folder: Path) -> tuple[Net, cv2.dnn.Net, np.ndarray]:
    """The net in both programs with the same small random weights, and an image for it."""
    model = deployed(path, folder)
    net = Net(model, device="cpu", seed=0)
    rng = np.random.default_rng(0)
    for layer in net.layers:
        for i, blob in enumerate(layer.blobs):
            if layer.type == "BatchNorm":
                blob.data[...] = [0, 1, 1][i]
            elif len(blob.shape) > 1:
                fan_in = blob.count / blob.shape[0]
                blob.data[...] = rng.standard_normal(blob.shape) * np.sqrt(2 / fan_in)
            else:
                blob.data[...] = 1 if layer.type in ("Scale", "Normalize") and i == 0 else 0
    saved = folder / "random.caffemodel"
    net.save(saved)
    image = rng.standard_normal(net.blobs[net.inputs[0]].shape).astype(np.float32)
    return net, cv2.dnn.readNetFromCaffe(str(model), str(saved)), image


def main(paths: list[str]) -> None:
    warnings.simplefilter("ignore")
    cv2.setNumThreads(threads())
    print(f"OpenCV {cv2.__version__}, numpy {np.__version__}, {threads()} threads")
    print(f"{'net':40} {'boxpresso ms':>13} {'OpenCV ms':>10} {'ratio':>6}")
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            net, peer, image = prepare(path, Path(folder))
            times: dict[str, list[float]] = {"mine": [], "peer": []}
            for turn in range(12):
                start = time.perf_counter()
                net.forward(**{net.inputs[0]: image})
                middle = time.perf_counter()
                peer.setInput(image)
                peer.forward()
                end = time.perf_counter()
                if turn > 1:
                    times["mine"].append(middle - start)
                    times["peer"].append(end - middle)
            mine, theirs = (statistics.median(times[k]) * 1e3 for k in ("mine", "peer"))
            print(f"{'/'.join(Path(path).parts[-2:]):40} {mine:13.1f} {theirs:10.1f} {mine / theirs:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
