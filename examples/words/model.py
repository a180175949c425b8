"""Writes train.prototxt, deploy.prototxt and solver.prototxt: a net that reads the words in rotated regions.

    python -m examples.words.model      # from the repository's root; writes the files beside this one

Two convolutions see the scene at its own resolution. ROIAlignRotated takes each region out of what they give and turns it
upright, 12 x 48 pixels, twelve for a letter's cell; the recognition branch reads the four cells with the same weights.

Inputs: data (N, 3, 160, 160), B, G, R, 0 to 255; rois (K, 6): image, centre x and y, width, height in pixels of the image,
and the angle in radians, counter-clockwise. For training text (K, 1, 4): the letters, A is 0.
Output: prob (K, 26, 1, 4): which letter stands in each of the four cells.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec
from boxpresso.proto import TEST

from ..trunks import Writer
from .scenes import LENGTH, LETTERS, SIZE, WORDS

SCENES = 8  # of a batch
HEIGHT, WIDTH = 12, 48  # what a region becomes


def net(kind: str, scenes: int = SCENES) -> NetSpec:
    w = Writer("words", kind)
    n = w.n
    regions = scenes * WORDS
    n.data = L.Input(shape=dict(dim=[scenes, 3, SIZE, SIZE]))
    n.rois = L.Input(shape=dict(dim=[regions, 6]))
    if w.train:
        n.text = L.Input(shape=dict(dim=[regions, 1, LENGTH]))
    n.centred = L.Power(n.data, scale=1 / 128, shift=-1)
    top = w.conv("conv1", n.centred, 8, relu="relu1", filler=dict(type="msra"))
    top = w.conv("conv2", top, 8, relu="relu2", filler=dict(type="msra"))
    n.upright = L.ROIAlignRotated(
        top, n.rois, pooled_h=HEIGHT, pooled_w=WIDTH, spatial_scale=1, sampling_ratio=1, aligned=True
    )
    top = block(w, "read1", n.upright, 32)
    top = w.pool("pool1", top)  # 6 x 24
    top = block(w, "read2", top, 64)
    top = block(w, "read3", top, 64)
    top = w.pool("pool2", top)  # 3 x 12: three columns for a cell
    top = block(w, "read4", top, 128)
    top = w.conv("letters", top, len(LETTERS), 3, pad=0, stride=3)
    if w.train:
        n.loss = L.SoftmaxWithLoss(top, n.text)
        n.letters_right = L.Accuracy(top, n.text, axis=1, include=dict(phase=TEST))
    else:
        n.prob = L.Softmax(top)
    return n


def block(w: Writer, name: str, bottom: Any, outputs: int) -> Any:
    """A 3 x 3 convolution, BatchNorm, Scale and ReLU; the statistics follow the last fifty batches."""
    top = w.conv(name, bottom, outputs, bias=False, filler=dict(type="msra"))
    w.n[f"{name}/bn"] = L.BatchNorm(top, in_place=True, moving_average_fraction=0.98)
    w.n[f"{name}/scale"] = L.Scale(w.n[f"{name}/bn"], in_place=True, bias_term=True)
    return w.relu(f"{name}/relu", w.n[f"{name}/scale"])


SOLVER = """# Adam, with a rate that falls to 0 along a line.
net: "train.prototxt"
type: "Adam"
base_lr: 0.003
momentum: 0.9
momentum2: 0.999
lr_policy: "poly"
power: 1
max_iter: 1200
weight_decay: 0.0001
test_iter: 4
test_interval: 200
test_initialization: false
display: 50
average_loss: 50
random_seed: 1
"""
FILES = {
    "train.prototxt": str(net("train")),
    "deploy.prototxt": str(net("deploy", 1)),
    "solver.prototxt": SOLVER,
}

if __name__ == "__main__":
    for name, text in FILES.items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
