"""Writes train.prototxt and deploy.prototxt of two nets, which read the fields of plates from the boxes around them.

    python -m examples.sheared.model      # from the repository's root; writes plain/ and deformable/

Both see the scene with the same three convolutions and take 4 x 4 bins from a plate's box, as ROIAlign does; two fully connected
layers say for each field whether it is dark. In the deformable net (Dai et al. 2017) a branch looks at the 4 x 4 bins first and
says where each should move, and DeformROIPooling takes them from there. The offsets are 0 at the start. The plain net gets the
weights of that branch for its own layers, so that it has as many.

Inputs: data (N, 3, 128, 128), B, G, R, 0 to 255; rois (K, 5): image, x1, y1, x2, y2 in pixels of the image. For training fields
(K, 16), 1 where a field is dark. Output: prob (K, 16). offset (K, 32): by how many tenths of its box a bin moves, all x, then all y.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from boxpresso import L, NetSpec

from ..trunks import Writer
from .scenes import FIELDS, PLATES, SIZE

SCENES = 8  # of a batch
BRANCH, HEAD, CHANNELS = 128, 128, 24  # neurons of the branch and of the head, channels of a bin
GAMMA = 0.1  # what an offset of 1 moves a bin by, in parts of its box


def net(model: str, kind: str, scenes: int = SCENES) -> NetSpec:
    w = Writer(model, kind)
    n = w.n
    n.data = L.Input(shape=dict(dim=[scenes, 3, SIZE, SIZE]))
    n.centred = L.Power(n.data, scale=1 / 128, shift=-1)
    top = w.conv("conv1", n.centred, 16, stride=2, relu="relu1", filler=dict(type="msra"))
    top = w.conv("conv2", top, CHANNELS, relu="relu2", filler=dict(type="msra"))
    top = w.conv("conv3", top, CHANNELS, relu="relu3", filler=dict(type="msra"))
    # Inputs come where they are needed: up to here both nets have the same layers, and so the same weights at the start.
    n.rois = L.Input(shape=dict(dim=[scenes * PLATES, 5]))
    if w.train:
        n.fields = L.Input(shape=dict(dim=[scenes * PLATES, FIELDS**2]))
    n.bins = pool(top, n.rois)
    if model == "deformable":
        dense(w, "branch", n.bins, BRANCH)
        still = dict(weight_filler=dict(type="constant"), bias_filler=dict(type="constant"))
        n.offset = L.InnerProduct(n.branch, num_output=2 * FIELDS**2, **still)
        n.moved = pool(top, n.rois, n.offset)
        dense(w, "head", n.moved, HEAD)
    else:
        dense(w, "head", n.bins, HEAD + BRANCH)
    n.logit = L.InnerProduct(n.head, num_output=FIELDS**2, weight_filler=dict(type="xavier"))
    if w.train:
        n.loss = L.SigmoidCrossEntropyLoss(n.logit, n.fields, normalization="FULL")
    else:
        n.prob = L.Sigmoid(n.logit)
    return n


def pool(*bottoms: Any) -> Any:
    """4 x 4 bins of the regions; without offsets this is ROIAlign with `aligned`."""
    return L.DeformROIPooling(
        *bottoms, pooled_h=FIELDS, pooled_w=FIELDS, spatial_scale=0.5, sampling_ratio=3, gamma=GAMMA
    )


def dense(w: Writer, name: str, bottom: Any, outputs: int) -> None:
    w.n[name] = L.InnerProduct(bottom, num_output=outputs, weight_filler=dict(type="msra"))
    w.n[f"{name}/relu"] = L.ReLU(w.n[name], in_place=True)


SOLVER = """# Adam, with a rate that falls to 0 along a line.
net: "train.prototxt"
type: "Adam"
base_lr: 0.002
momentum: 0.9
momentum2: 0.999
lr_policy: "poly"
power: 1
max_iter: 1000
weight_decay: 0.0001
display: 50
average_loss: 50
test_iter: 4
test_interval: 100
random_seed: 1
"""
MODELS = ("plain", "deformable")
FILES = {
    f"{model}/{name}.prototxt": text
    for model in MODELS
    for name, text in (
        ("train", str(net(model, "train"))),
        ("deploy", str(net(model, "deploy", 1))),
        ("solver", SOLVER),
    )
}

if __name__ == "__main__":
    for name, text in FILES.items():
        path = Path(__file__).parent / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
