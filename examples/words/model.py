"""Writes train.prototxt, deploy.prototxt and solver.prototxt: a net that finds words at any angle and reads them.

    python -m examples.words.model      # from the repository's root; writes the files beside this one

Two convolutions see the scene at its own resolution. A branch over them finds words, at a quarter of it, in the manner of FOTS
(Liu et al. 2018). ROIAlignRotated takes each region out of what the two give and turns it upright, 12 x 48 pixels, twelve for
a letter's cell; the recognition branch reads the four cells with the same weights, and says whether they stand on their head:
from afar the two ways to turn a word look alike.

Inputs: data (N, 3, 160, 160), B, G, R, 0 to 255; rois (K, 6): image, centre x and y, width, height in pixels of the image,
and the angle in radians, counter-clockwise. For training also text (K, 1, 4), letters from A = 0 or -1, turned (K), 1 for a
region on its head, and the maps that regions.py makes.
Outputs: score (N, 1, 40, 40), how likely the middle of a word is there, and geometry (N, 5, 40, 40), its region, as in
regions.py; prob (K, 26, 1, 4), which letter stands in each of the four cells; way (K, 2), upright or on their head.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec
from boxpresso.proto import TEST

from ..trunks import Writer
from .regions import STRIDE
from .scenes import LENGTH, LETTERS, SIZE, WORDS

SCENES = 8  # of a batch
HEIGHT, WIDTH = 12, 48  # what a region becomes
CELLS, GEOMETRY = (SIZE // STRIDE, SIZE // STRIDE), 5


def net(kind: str, scenes: int = SCENES) -> NetSpec:
    w = Writer("words", kind)
    n = w.n
    regions = scenes * WORDS
    n.data = L.Input(shape=dict(dim=[scenes, 3, SIZE, SIZE]))
    n.rois = L.Input(shape=dict(dim=[regions, 6]))
    if w.train:
        n.text = L.Input(shape=dict(dim=[regions, 1, LENGTH]))
        n.turned = L.Input(shape=dict(dim=[regions]))
        n.score_map = L.Input(shape=dict(dim=[scenes, 1, *CELLS]))
        n.geometry_map = L.Input(shape=dict(dim=[scenes, GEOMETRY, *CELLS]))
        n.middle = L.Input(shape=dict(dim=[scenes, GEOMETRY, *CELLS]))
    n.centred = L.Power(n.data, scale=1 / 128, shift=-1)
    top = w.conv("conv1", n.centred, 8, relu="relu1", filler=dict(type="msra"))
    top = w.conv("conv2", top, 8, relu="relu2", filler=dict(type="msra"))
    find(w, top)
    n.upright = L.ROIAlignRotated(
        top, n.rois, pooled_h=HEIGHT, pooled_w=WIDTH, spatial_scale=1, sampling_ratio=1, aligned=True
    )
    top = block(w, "read1", n.upright, 32)
    top = w.pool("pool1", top)  # 6 x 24
    top = block(w, "read2", top, 64)
    top = block(w, "read3", top, 64)
    top = w.pool("pool2", top)  # 3 x 12: three columns for a cell
    top = block(w, "read4", top, 128)
    n.letters = L.Convolution(top, num_output=len(LETTERS), kernel_size=3, stride=3, weight_filler=dict(type="xavier"))
    n.ways = L.InnerProduct(top, num_output=2, weight_filler=dict(type="xavier"))
    if w.train:
        n.loss_letters = L.SoftmaxWithLoss(n.letters, n.text, ignore_label=-1)
        n.loss_way = L.SoftmaxWithLoss(n.ways, n.turned)
        n.letters_right = L.Accuracy(n.letters, n.text, axis=1, ignore_label=-1, include=dict(phase=TEST))
    else:
        n.prob = L.Softmax(n.letters)
        n.way = L.Softmax(n.ways)
    return n


def find(w: Writer, bottom: Any) -> None:
    """score and geometry, from neurons that see 110 pixels of the scene around their place: a whole word."""
    n = w.n
    top = block(w, "find1", bottom, 16, stride=2)
    top = block(w, "find2", top, 32, stride=2)
    for i, dilation in enumerate((1, 2, 4, 6), 3):
        top = block(w, f"find{i}", top, 32, pad=dilation, dilation=dilation)
    n.score_logit = L.Convolution(top, num_output=1, kernel_size=1, weight_filler=dict(type="xavier"))
    n.geometry = L.Convolution(top, num_output=GEOMETRY, kernel_size=1, weight_filler=dict(type="xavier"))
    if w.train:
        n.loss_score = L.SigmoidCrossEntropyLoss(n.score_logit, n.score_map, normalization="VALID", ignore_label=-1)
        n.loss_geometry = L.SmoothL1Loss(n.geometry, n.geometry_map, n.middle, n.middle, loss_weight=0.03)
    else:
        n.score = L.Sigmoid(n.score_logit)


def block(w: Writer, name: str, bottom: Any, outputs: int, **fields: Any) -> Any:
    """A 3 x 3 convolution, BatchNorm, Scale and ReLU; the statistics follow the last fifty batches."""
    top = w.conv(name, bottom, outputs, bias=False, filler=dict(type="msra"), **fields)
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
max_iter: 1600
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
