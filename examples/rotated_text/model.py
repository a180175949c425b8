"""Writes a text spotter in the manner of FOTS (Liu et al. 2018): where text is, and what rotated regions say.

    python -m examples.rotated_text.model     # from the repository's root; writes fots/train.prototxt and so on

Inputs: data (1, 3, H, W); rois (R, 6): image, centre x, centre y, width, height in pixels of the image, and the angle in radians.
Outputs, at a quarter of the image: score (1, 1, H / 4, W / 4), whether there is text; geometry (1, 5, ..), the distances to the top,
right, bottom and left of the text in pixels and its angle. For each region text_prob (R, CHARACTERS, 1, STEPS): what is written at
STEPS places from left to right, where character 0 is nothing. FOTS reads with an LSTM and CTC; here each place is a class of its own.
"""

from __future__ import annotations

from typing import Any

from boxpresso import L, NetSpec
from boxpresso.proto import TEST, TRAIN

from ..trunks import Writer, resnet50_last, resnet50_stem, write

CHARACTERS = 37  # nothing, 26 letters, 10 digits
HEIGHT, STEPS = 8, 32  # what a region becomes
REGIONS = 16


def net(kind: str, width: float = 1.0, size: tuple[int, int] = (512, 512), regions: int = REGIONS) -> NetSpec:
    w = Writer("FOTS", kind, width)
    n = w.n
    inputs(w, *size, regions)
    shared = merge(w)
    small: dict[str, Any] = dict(filler=dict(type="gaussian", std=0.01))
    w.conv("score_logit", shared, 1, 1, **small)
    w.conv("geometry", shared, 5, 1, **small)
    read(w, shared)
    if w.train:
        n.loss_score = L.SigmoidCrossEntropyLoss(n.score_logit, n.score_map)
        n.loss_geometry = L.SmoothL1Loss(n.geometry, n.geometry_map, n.geometry_mask, n.geometry_mask)
        n.loss_text = L.SoftmaxWithLoss(n.text_logit, n.text, ignore_label=-1)
        return n
    n.score = L.Sigmoid(n.score_logit)
    n.text_prob = L.Softmax(n.text_logit)
    return n


def inputs(w: Writer, height: int, width: int, regions: int) -> None:
    """The image and the regions to read; with them for training and testing the truth, made by the program that feeds the net."""
    n, rule = w.n, {} if w.kind == "deploy" else dict(include=dict(phase=TRAIN if w.train else TEST))
    n.data = L.Input(shape=dict(dim=[1, 3, height, width]), **rule)
    n.rois = L.Input(shape=dict(dim=[regions, 6]), **rule)
    if w.train:
        cells = [height // 4, width // 4]
        n.score_map = L.Input(shape=dict(dim=[1, 1, *cells]), **rule)
        n.geometry_map = L.Input(shape=dict(dim=[1, 5, *cells]), **rule)
        n.geometry_mask = L.Input(shape=dict(dim=[1, 5, *cells]), **rule)
    if w.kind != "deploy":
        n.text = L.Input(shape=dict(dim=[regions, 1, 1, STEPS]), **rule)


def merge(w: Writer) -> Any:
    """Features at a quarter of the image: those of ResNet-50's last stage, enlarged and joined with each finer one in turn."""
    n = w.n
    top = resnet50_last(w, resnet50_stem(w, n.data))
    for stage, finer, channels in ((4, "res4f", 128), (3, "res3d", 64), (2, "res2c", 32)):
        enlarged = n[f"up{stage}"] = L.Upsample(top, scale=2)
        n[f"join{stage}"] = L.Concat(enlarged, n[finer], axis=1)
        top = w.conv(f"merge{stage}_1", n[f"join{stage}"], w.wide(channels), 1, relu=f"merge{stage}_1_relu")
        top = w.conv(f"merge{stage}_2", top, w.wide(channels), relu=f"merge{stage}_2_relu")
    return w.conv("shared", top, w.wide(32), relu="shared_relu")


def read(w: Writer, shared: Any) -> None:
    """Scores of CHARACTERS at STEPS places of each region, which ROIAlignRotated has turned upright."""
    n = w.n
    n.upright = L.ROIAlignRotated(
        shared,
        n.rois,
        pooled_h=HEIGHT,
        pooled_w=STEPS,
        spatial_scale=0.25,
        sampling_ratio=2,
        aligned=True,
        clockwise=True,
    )
    top = n.upright
    for i, channels in enumerate((64, 128, 256), 1):  # each halves the height: 8, 4, 2, 1
        top = w.conv(f"text{i}", top, w.wide(channels), relu=f"text{i}_relu")
        n[f"text_pool{i}"] = top = L.Pooling(top, pool="MAX", kernel_h=2, kernel_w=1, stride_h=2, stride_w=1)
    w.conv("text_logit", top, CHARACTERS, 1, filler=dict(type="gaussian", std=0.01))


NETS = {"fots": net}

if __name__ == "__main__":
    write(__file__, NETS)
