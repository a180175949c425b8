"""Writes SSD (Liu et al. 2016): VGG16 at 300 and 512 pixels, and MobileNet at 300, for the 20 classes of Pascal VOC.

    python -m examples.ssd.model     # from the repository's root; writes vgg16_300/train.prototxt and so on

Sizes, ratios and steps of the priors are the paper's. Inputs are B, G, R; VGG16's less (104, 117, 123), MobileNet's less 127.5 and
times 0.007843.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from boxpresso import L, NetSpec
from boxpresso.proto import TEST, TRAIN

from ..trunks import Writer, mobilenet, normed, vgg16, write

CLASSES = 21


class Head(NamedTuple):
    """A feature map and its priors: sizes in pixels (the second one may be absent), ratios, pixels between centres."""

    feature: str
    small: float
    large: float | None
    ratios: tuple[int, ...]
    step: int | None = None

    @property
    def priors(self) -> int:
        return 1 + (self.large is not None) + 2 * len(self.ratios)


VGG_300 = [
    Head("conv4_3_norm", 30, 60, (2,), 8),
    Head("fc7", 60, 111, (2, 3), 16),
    Head("conv6_2", 111, 162, (2, 3), 32),
    Head("conv7_2", 162, 213, (2, 3), 64),
    Head("conv8_2", 213, 264, (2,), 100),
    Head("conv9_2", 264, 315, (2,), 300),
]
VGG_512 = [
    Head("conv4_3_norm", 35.84, 76.8, (2,), 8),
    Head("fc7", 76.8, 153.6, (2, 3), 16),
    Head("conv6_2", 153.6, 230.4, (2, 3), 32),
    Head("conv7_2", 230.4, 307.2, (2, 3), 64),
    Head("conv8_2", 307.2, 384, (2, 3), 128),
    Head("conv9_2", 384, 460.8, (2,), 256),
    Head("conv10_2", 460.8, 537.6, (2,), 512),
]
MOBILENET_300 = [
    Head("conv11", 60, None, (2,)),
    Head("conv13", 105, 150, (2, 3)),
    Head("conv14_2", 150, 195, (2, 3)),
    Head("conv15_2", 195, 240, (2, 3)),
    Head("conv16_2", 240, 285, (2, 3)),
    Head("conv17_2", 285, 300, (2, 3)),
]


def vgg(kind: str, size: int = 300, width: float = 1.0) -> NetSpec:
    w = Writer(f"VGG_VOC0712_SSD_{size}x{size}_{kind}", kind, width)
    data(w, size, dict(mean_value=[104, 117, 123]))
    vgg16(w, w.n.data)
    w.pool("pool5", w.n.relu5_3, 3, 1, pad=1)
    w.conv("fc6", w.n.pool5, w.wide(1024), pad=6, dilation=6, relu="relu6")
    top = w.conv("fc7", w.n.relu6, w.wide(1024), 1, relu="relu7")
    narrow: dict[str, Any] = dict(stride=1, pad=0)
    halved: dict[str, Any] = dict(stride=2, pad=1)
    # Each further block halves the map; the last ones of the small net have no more than 5 x 5 and 3 x 3 places.
    blocks = [(6, 512, halved), (7, 256, halved), (8, 256, narrow if size == 300 else halved)]
    blocks += [(9, 256, narrow)] if size == 300 else [(9, 256, halved), (10, 256, dict(pad=1))]
    for block, channels, shape in blocks:
        top = w.conv(f"conv{block}_1", top, w.wide(channels // 2), 1, relu=f"conv{block}_1_relu")
        kernel = 4 if block == 10 else 3
        top = w.conv(f"conv{block}_2", top, w.wide(channels), kernel, relu=f"conv{block}_2_relu", **shape)
    filler = dict(scale_filler=dict(type="constant", value=20))
    w.n.conv4_3_norm = L.Normalize(w.n.relu4_3, across_spatial=False, channel_shared=False, **filler)
    return finish(w, VGG_300 if size == 300 else VGG_512)


def mobile(kind: str, size: int = 300, width: float = 1.0) -> NetSpec:
    w = Writer(f"MobileNet_VOC0712_SSD_{size}x{size}_{kind}", kind, width)
    data(w, size, dict(mean_value=[127.5], scale=0.007843))
    top = mobilenet(w, w.n.data)
    for block, channels in ((14, 512), (15, 256), (16, 256), (17, 128)):
        top = normed(w, f"conv{block}_1", top, w.wide(channels // 2), 1)
        top = normed(w, f"conv{block}_2", top, w.wide(channels), 3, stride=2)
    return finish(w, MOBILENET_300, kernel=1)


def data(w: Writer, size: int, transform: dict[str, Any]) -> None:
    """Images (N, 3, size, size) and, unless for deploy, the truth (1, 1, objects, 8)."""
    if w.kind == "deploy":
        w.n.data = L.Input(shape=dict(dim=[1, 3, size, size]))
        return
    annotated: dict[str, Any] = dict(label_map_file="labelmap_voc.prototxt")
    resize: dict[str, Any] = dict(prob=1, resize_mode="WARP", height=size, width=size, interp_mode=["LINEAR"])
    if w.train:
        resize.update(interp_mode=["LINEAR", "AREA", "NEAREST", "CUBIC", "LANCZOS4"])
        transform = transform | dict(
            mirror=True,
            distort_param=dict(
                brightness_prob=0.5, brightness_delta=32, contrast_prob=0.5, contrast_lower=0.5, contrast_upper=1.5,
                hue_prob=0.5, hue_delta=18, saturation_prob=0.5, saturation_lower=0.5, saturation_upper=1.5,
            ),
            expand_param=dict(prob=0.5, max_expand_ratio=4),
            emit_constraint=dict(emit_type="CENTER"),
        )  # fmt: skip
        annotated["batch_sampler"] = samplers()
    w.n.data, w.n.label = L.AnnotatedData(
        ntop=2,
        include=dict(phase=TRAIN if w.train else TEST),
        transform_param=transform | dict(resize_param=resize),
        data_param=dict(source=f"VOC0712_{w.kind}_lmdb", backend="LMDB", batch_size=32 if w.train else 1),
        annotated_data_param=annotated,
    )


def samplers() -> list[dict[str, Any]]:
    """The whole image, or a patch that overlaps an object by 0.1, 0.3, .. at least, or any patch."""
    patch = dict(min_scale=0.3, max_scale=1, min_aspect_ratio=0.5, max_aspect_ratio=2)
    limits = [dict(min_jaccard_overlap=o) for o in (0.1, 0.3, 0.5, 0.7, 0.9)] + [dict(max_jaccard_overlap=1.0)]
    tried = [dict(sampler=patch, sample_constraint=limit, max_trials=50, max_sample=1) for limit in limits]
    return [dict(max_trials=1, max_sample=1), *tried]


def finish(w: Writer, heads: list[Head], kernel: int = 3) -> NetSpec:
    """The predictions of all heads, end to end, and the loss or the detections."""
    n = w.n
    for kind, values in (("loc", 4), ("conf", CLASSES)):
        flat = [flat_head(w, head, kind, values, kernel) for head in heads]
        n[f"mbox_{kind}"] = L.Concat(*flat, axis=1)
    for head in heads:
        fields: dict[str, Any] = {} if head.large is None else {"max_size": head.large}
        fields |= {} if head.step is None else {"step": head.step}
        n[f"{head.feature}_mbox_priorbox"] = L.PriorBox(
            n[head.feature], n.data, min_size=head.small, aspect_ratio=list(head.ratios), flip=True, clip=False,
            variance=[0.1, 0.1, 0.2, 0.2], offset=0.5, **fields,
        )  # fmt: skip
    n.mbox_priorbox = L.Concat(*(n[f"{head.feature}_mbox_priorbox"] for head in heads), axis=2)
    if w.train:
        n.mbox_loss = L.MultiBoxLoss(
            n.mbox_loc, n.mbox_conf, n.mbox_priorbox, n.label,
            include=dict(phase=TRAIN), propagate_down=[True, True, False, False], loss_param=dict(normalization="VALID"),
            multibox_loss_param=dict(
                loc_loss_type="SMOOTH_L1", conf_loss_type="SOFTMAX", loc_weight=1, num_classes=CLASSES, share_location=True,
                match_type="PER_PREDICTION", overlap_threshold=0.5, use_prior_for_matching=True, background_label_id=0,
                use_difficult_gt=True, mining_type="MAX_NEGATIVE", neg_pos_ratio=3, neg_overlap=0.5, code_type="CENTER_SIZE",
            ),
        )  # fmt: skip
        return n
    n.mbox_conf_reshape = L.Reshape(n.mbox_conf, shape=dict(dim=[0, -1, CLASSES]))
    n.mbox_conf_softmax = L.Softmax(n.mbox_conf_reshape, axis=2)
    n.mbox_conf_flatten = L.Flatten(n.mbox_conf_softmax, axis=1)
    n.detection_out = L.DetectionOutput(
        n.mbox_loc, n.mbox_conf_flatten, n.mbox_priorbox, include=dict(phase=TEST),
        num_classes=CLASSES, share_location=True, background_label_id=0, code_type="CENTER_SIZE",
        nms_param=dict(nms_threshold=0.45, top_k=400), keep_top_k=200, confidence_threshold=0.01,
    )  # fmt: skip
    if w.kind == "test":
        n.detection_eval = L.DetectionEvaluate(
            n.detection_out, n.label, include=dict(phase=TEST), num_classes=CLASSES, background_label_id=0,
            overlap_threshold=0.5, evaluate_difficult_gt=False,
        )  # fmt: skip
    return n


def flat_head(w: Writer, head: Head, kind: str, values: int, kernel: int) -> Any:
    """A convolution with `values` numbers for each prior of each place, brought to (N, places * priors * values)."""
    name = f"{head.feature}_mbox_{kind}"
    top = w.conv(name, w.n[head.feature], head.priors * values, kernel)
    w.n[f"{name}_perm"] = L.Permute(top, order=[0, 2, 3, 1])
    w.n[f"{name}_flat"] = L.Flatten(w.n[f"{name}_perm"], axis=1)
    return w.n[f"{name}_flat"]


NETS = {"vgg16_300": vgg, "vgg16_512": partial(vgg, size=512), "mobilenet_300": mobile}

if __name__ == "__main__":
    write(__file__, NETS)
