# ruff: noqa: C408  (messages are dict(name=value))
"""SSD (Liu et al. 2016) over VGG16, MobileNet, or a small net that learns from scratch in minutes.

Sizes, ratios and steps of the priors are the paper's, those of MobileNet chuanqi305's. Inputs are B, G, R; VGG16's less (104,
117, 123), MobileNet's less 127.5 and times 0.007843, the small net's as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..net import Net
from ..net_spec import L, NetSpec
from ..proto import TEST, TRAIN, NetParameter
from .trunks import Writer, mobilenet, normed, resnet18, vgg16


class Head(NamedTuple):
    """A feature map and its priors: sizes in pixels (the second one may be absent), ratios, pixels between centres, and
    further pairs of sizes."""

    feature: str
    small: float
    large: float | None
    ratios: tuple[int, ...]
    step: int | None = None
    further: tuple[tuple[float, float], ...] = ()

    @property
    def priors(self) -> int:
        return (1 + (self.large is not None) + 2 * len(self.ratios)) * (1 + len(self.further))


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
RESNET_300 = [
    Head("res4b", 60, None, (2,)),
    Head("res5b", 105, 150, (2, 3)),
    Head("conv6_2", 150, 195, (2, 3)),
    Head("conv7_2", 195, 240, (2, 3)),
    Head("conv8_2", 240, 285, (2, 3)),
    Head("conv9_2", 285, 300, (2, 3)),
]
SMALL_SIDE, SMALL_STEP = 128, 8  # of the input, and between the places of its first map
SMALL_128 = [
    Head("conv5", 18, 34, (2,)),
    Head("conv6", 34, 60, (2,)),
    Head("conv7", 60, 90, (2,)),
    Head("conv8", 90, 122, (2,)),
]
# Maps of 16, 8, 8 and 4 places a side: objects of half the picture and more lie between the places of a map of 2.
SMALL_TRUNK: tuple[tuple[str, int, int], ...] = (
    ("conv1", 16, 2), ("conv2", 24, 2), ("conv3", 32, 1), ("conv4", 48, 2), ("conv5", 48, 1), ("conv6", 80, 2),
    ("conv7", 80, 1), ("conv8", 96, 2),
)  # fmt: skip
# Of larger inputs, which the last of eight do not see as a whole. They take longer to learn.
DEEP_TRUNK: tuple[tuple[str, int, int], ...] = (
    ("conv1", 16, 2), ("conv2", 24, 2), ("conv3", 32, 1), ("conv4", 48, 2), ("conv5", 48, 1), ("conv6", 48, 1),
    ("conv7", 80, 2), ("conv8", 80, 1), ("conv9", 80, 1), ("conv10", 80, 1), ("conv11", 96, 2), ("conv12", 96, 1),
)  # fmt: skip
DEEP_HEADS = ("conv6", "conv8", "conv10", "conv12")


@dataclass(frozen=True)
class Task:
    """What an SSD learns, and from what.

    Attributes
    ----------
    name
        Of the data, a part of the net's name.
    classes
        How many, the background included.
    sources
        The LMDBs {kind: path}.
    label_map
        The names of the classes.
    batches
        {kind: pictures in a batch}.
    fresh
        The end of the names of the layers whose shape depends on the classes, so that no public weights fit them.
    expand
        How much a picture is shrunk in training, at most; 1 is not at all.
    patches
        The smallest part of a picture that is cut out in training.
    class_weights
        What the loss of each label counts for, the background first; empty: 1.
    mirror, distort
        Whether pictures are mirrored in training, and their brightness, contrast, hue and saturation changed.
    mosaic, mixup
        How often, from 0 to 1, a picture is made of parts of four in training, and how often another one lies over it.
    records
        Whether records are any pictures, grey ones too, and come in a new order each time round.
    folded, average, still
        As for `trunks.Writer`.
    anchors
        Of a net that proposes regions: sides as parts of the input's, and ratios height / width; None for the usual ones.
    smaller
        Of `small`: further sizes of its first map's priors, as parts of the input's side.
    """

    name: str = "VOC0712"
    classes: int = 21
    sources: tuple[str, str] = ("VOC0712_train_lmdb", "VOC0712_test_lmdb")
    label_map: str = "labelmap_voc.prototxt"
    batches: tuple[int, int] = (32, 1)
    fresh: str = ""
    expand: float = 4
    patches: float = 0.3
    mirror: bool = True
    distort: bool = True
    mosaic: float = 0
    mixup: float = 0
    records: bool = False
    folded: bool = False
    average: float | None = None
    still: bool = False
    anchors: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    smaller: tuple[tuple[float, float], ...] = ()
    class_weights: tuple[float, ...] = ()

    @property
    def weighted(self) -> dict[str, Any]:
        """The fields of a loss_param with which labels count so."""
        return dict(weight_by_label_freqs=True, class_weighting=list(self.class_weights)) if self.class_weights else {}


VOC = Task()


def vgg(kind: str, size: int = 300, width: float = 1.0, task: Task = VOC) -> NetSpec:
    """SSD over VGG16 with the names of the paper's models; from 512 pixels on with its seventh feature map.

    Parameters
    ----------
    kind
        "train", "test" or "deploy".
    size
        The sides of the input; the priors grow with it.
    width
        Multiplies the channels.
    task
        Classes and data.

    Examples
    --------
    >>> net = vgg("deploy", task=Task(classes=3)).to_proto()
    >>> next(layer.convolution_param.num_output for layer in net.layer if layer.name == "fc7_mbox_conf")
    18
    """
    w = Writer(f"VGG_{task.name}_SSD_{size}x{size}_{kind}", kind, width)
    data(w, size, dict(mean_value=[104, 117, 123]), task)
    vgg16(w, w.n.data)
    w.pool("pool5", w.n.relu5_3, 3, 1, pad=1)
    w.conv("fc6", w.n.pool5, w.wide(1024), pad=6, dilation=6, relu="relu6")
    top = w.conv("fc7", w.n.relu6, w.wide(1024), 1, relu="relu7")
    narrow: dict[str, Any] = dict(stride=1, pad=0)
    halved: dict[str, Any] = dict(stride=2, pad=1)
    # Each further block halves the map; the last ones of the small net have no more than 5 x 5 and 3 x 3 places.
    whole = size < 512
    blocks = [(6, 512, halved), (7, 256, halved), (8, 256, narrow if whole else halved)]
    blocks += [(9, 256, narrow)] if whole else [(9, 256, halved), (10, 256, dict(pad=1))]
    for block, channels, shape in blocks:
        top = w.conv(f"conv{block}_1", top, w.wide(channels // 2), 1, relu=f"conv{block}_1_relu")
        kernel = 4 if block == 10 else 3
        top = w.conv(f"conv{block}_2", top, w.wide(channels), kernel, relu=f"conv{block}_2_relu", **shape)
    filler = dict(scale_filler=dict(type="constant", value=20))
    w.n.conv4_3_norm = L.Normalize(w.n.relu4_3, across_spatial=False, channel_shared=False, **filler)
    return finish(w, scaled(VGG_300, size / 300) if whole else scaled(VGG_512, size / 512), task)


def mobile(kind: str, size: int = 300, width: float = 1.0, task: Task = VOC) -> NetSpec:
    """SSD over MobileNet, with the names of chuanqi305's models. Parameters as for `vgg`.

    Examples
    --------
    >>> names = [layer.name for layer in mobile("deploy").to_proto().layer]
    >>> [name for name in names if name.startswith("conv1/")]
    ['conv1/dw', 'conv1/dw/bn', 'conv1/dw/scale', 'conv1/dw/relu', 'conv1/bn', 'conv1/scale', 'conv1/relu']
    """
    w = Writer(f"MobileNet_{task.name}_SSD_{size}x{size}_{kind}", kind, width, task.folded, task.average)
    data(w, size, dict(mean_value=[127.5], scale=0.007843), task)
    top = mobilenet(w, w.n.data)
    for block, channels in ((14, 512), (15, 256), (16, 256), (17, 128)):
        top = normed(w, f"conv{block}_1", top, w.wide(channels // 2), 1)
        top = normed(w, f"conv{block}_2", top, w.wide(channels), 3, stride=2)
    return finish(w, scaled(MOBILENET_300, size / 300), task, kernel=1)


def resnet(kind: str, size: int = 300, width: float = 1.0, task: Task = VOC) -> NetSpec:
    """SSD over ResNet-18, with the names of HolmesShuan's model. Parameters as for `vgg`.

    Examples
    --------
    >>> names = [layer.name for layer in resnet("deploy").to_proto().layer]
    >>> [name for name in names if name.startswith("res3b")]
    ['res3b_branch2a', 'res3b_branch2a_relu', 'res3b_branch2b', 'res3b', 'res3b_relu']
    """
    w = Writer(f"ResNet18_{task.name}_SSD_{size}x{size}_{kind}", kind, width, average=task.average)
    data(w, size, dict(mean_value=[104, 117, 123]), task)
    top = resnet18(w, w.n.data)
    for block, channels in ((6, 512), (7, 256), (8, 256), (9, 128)):
        top = normed(w, f"conv{block}_1", top, w.wide(channels // 2), 1)
        top = normed(w, f"conv{block}_2", top, w.wide(channels), 3, stride=2)
    return finish(w, scaled(RESNET_300, size / 300), task, kernel=1)


def small(kind: str, size: int = SMALL_SIDE, width: float = 1.0, task: Task = VOC) -> NetSpec:
    """SSD over eight convolutions with BatchNorm, twelve for inputs above 128 pixels, which learns from scratch.

    Parameters as for `vgg`.

    Its input is 0 to 255 as it is; the first layer brings it to -1 to 1.

    Examples
    --------
    >>> small("deploy", task=Task(classes=4)).to_proto().layer[1].name
    'centred'
    """
    w = Writer(f"Small_{task.name}_SSD_{size}x{size}_{kind}", kind, width, task.folded, task.average)
    data(w, size, {}, task)
    w.n.centred = L.Power(w.n.data, scale=1 / 128, shift=-1)
    top = w.n.centred
    trunk, heads = SMALL_TRUNK, scaled(SMALL_128, size / SMALL_SIDE)
    if size > SMALL_SIDE:
        trunk = DEEP_TRUNK
        heads = [head._replace(feature=name) for head, name in zip(heads, DEEP_HEADS)]
    for name, channels, stride in trunk:
        top = normed(w, name, top, w.wide(channels), 3, stride=stride)
    first, *others = heads
    further = tuple((round(low * size, 2), round(high * size, 2)) for low, high in task.smaller)
    return finish(w, [first._replace(further=further), *others], task)


def scaled(heads: list[Head], factor: float) -> list[Head]:
    """Heads for an input that is `factor` times as large; the steps of another size follow from the maps.

    >>> scaled([Head("conv5", 18, 34, (2,), 8)], 2)
    [Head(feature='conv5', small=36, large=68, ratios=(2,), step=None, further=())]
    """
    if factor == 1:
        return heads
    grown = [(round(h.small * factor, 2), None if h.large is None else round(h.large * factor, 2)) for h in heads]
    return [head._replace(small=small, large=large, step=None) for head, (small, large) in zip(heads, grown)]


def data(
    w: Writer, size: int, transform: dict[str, Any], task: Task, sampled: list[dict[str, Any]] | None = None
) -> None:
    """Images (N, 3, size, size) and, unless for deploy, the truth (1, 1, objects, 8). sampled: in place of SSD's patches."""
    if w.kind == "deploy":
        w.n.data = L.Input(shape=dict(dim=[1, 3, size, size]))
        return
    annotated: dict[str, Any] = dict(label_map_file=task.label_map)
    resize: dict[str, Any] = dict(prob=1, resize_mode="WARP", height=size, width=size, interp_mode=["LINEAR"])
    more: dict[str, Any] = dict(force_color=True) if task.records else {}
    records: dict[str, Any] = dict(shuffle=True) if task.records and w.train else {}
    if w.train:
        resize.update(interp_mode=["LINEAR", "AREA", "NEAREST", "CUBIC", "LANCZOS4"])
        more |= dict(mirror=task.mirror)
        if task.distort:
            more["distort_param"] = dict(
                brightness_prob=0.5, brightness_delta=32, contrast_prob=0.5, contrast_lower=0.5, contrast_upper=1.5,
                hue_prob=0.5, hue_delta=18, saturation_prob=0.5, saturation_lower=0.5, saturation_upper=1.5,
            )  # fmt: skip
        more |= dict(emit_constraint=dict(emit_type="CENTER"))
        if task.expand > 1:
            more["expand_param"] = dict(prob=0.5, max_expand_ratio=task.expand)
        annotated |= {
            f"{name}_prob": value for name, value in (("mosaic", task.mosaic), ("mixup", task.mixup)) if value
        }
        annotated["batch_sampler"] = samplers(task.patches) if sampled is None else sampled
    source, batch = task.sources[not w.train], task.batches[not w.train]
    w.n.data, w.n.label = L.AnnotatedData(
        ntop=2,
        include=dict(phase=TRAIN if w.train else TEST),
        transform_param=transform | more | dict(resize_param=resize),
        data_param=dict(source=source, backend="LMDB", batch_size=batch) | records,
        annotated_data_param=annotated,
    )


def samplers(smallest: float = 0.3) -> list[dict[str, Any]]:
    """The whole image, or a patch that overlaps an object by 0.1, 0.3, .. at least, or any patch."""
    limits = [dict(min_jaccard_overlap=o) for o in (0.1, 0.3, 0.5, 0.7, 0.9)] + [dict(max_jaccard_overlap=1.0)]
    return limited(smallest, limits)


def limited(smallest: float, limits: list[dict[str, float]]) -> list[dict[str, Any]]:
    """The whole image, or a patch within one of the limits."""
    patch = dict(min_scale=smallest, max_scale=1, min_aspect_ratio=0.5, max_aspect_ratio=2)
    tried = [dict(sampler=patch, sample_constraint=limit, max_trials=50, max_sample=1) for limit in limits]
    return [dict(max_trials=1, max_sample=1), *tried]


def finish(w: Writer, heads: list[Head], task: Task, kernel: int = 3) -> NetSpec:
    """The predictions of all heads, end to end, and the loss or the detections."""
    n, classes = w.n, task.classes
    for kind, values, end in (("loc", 4, ""), ("conf", classes, task.fresh)):
        flat = [flat_head(w, head, f"{head.feature}_mbox_{kind}{end}", values, kernel) for head in heads]
        n[f"mbox_{kind}"] = L.Concat(*flat, axis=1)
    for head in heads:
        sizes = [(head.small, head.large), *head.further]
        fields: dict[str, Any] = {} if head.large is None else {"max_size": [large for _, large in sizes]}
        fields |= {} if head.step is None else {"step": head.step}
        n[f"{head.feature}_mbox_priorbox"] = L.PriorBox(
            n[head.feature], n.data, min_size=[small for small, _ in sizes], aspect_ratio=list(head.ratios), flip=True,
            clip=False, variance=[0.1, 0.1, 0.2, 0.2], offset=0.5, **fields,
        )  # fmt: skip
    n.mbox_priorbox = L.Concat(*(n[f"{head.feature}_mbox_priorbox"] for head in heads), axis=2)
    if w.train:
        n.mbox_loss = L.MultiBoxLoss(
            n.mbox_loc, n.mbox_conf, n.mbox_priorbox, n.label,
            include=dict(phase=TRAIN), propagate_down=[True, True, False, False],
            loss_param=dict(normalization="VALID") | task.weighted,
            multibox_loss_param=dict(
                loc_loss_type="SMOOTH_L1", conf_loss_type="SOFTMAX", loc_weight=1, num_classes=classes, share_location=True,
                match_type="PER_PREDICTION", overlap_threshold=0.5, use_prior_for_matching=True, background_label_id=0,
                use_difficult_gt=True, mining_type="MAX_NEGATIVE", neg_pos_ratio=3, neg_overlap=0.5, code_type="CENTER_SIZE",
            ),
        )  # fmt: skip
        return n
    n.mbox_conf_reshape = L.Reshape(n.mbox_conf, shape=dict(dim=[0, -1, classes]))
    n.mbox_conf_softmax = L.Softmax(n.mbox_conf_reshape, axis=2)
    n.mbox_conf_flatten = L.Flatten(n.mbox_conf_softmax, axis=1)
    n.detection_out = L.DetectionOutput(
        n.mbox_loc, n.mbox_conf_flatten, n.mbox_priorbox, include=dict(phase=TEST),
        num_classes=classes, share_location=True, background_label_id=0, code_type="CENTER_SIZE",
        nms_param=dict(nms_threshold=0.45, top_k=400), keep_top_k=200, confidence_threshold=0.01,
    )  # fmt: skip
    return evaluated(w, task)


def evaluated(w: Writer, task: Task) -> NetSpec:
    """The net, with the evaluation of detection_out where it is one for testing."""
    if w.kind == "test":
        w.n.detection_eval = L.DetectionEvaluate(
            w.n.detection_out, w.n.label, include=dict(phase=TEST), num_classes=task.classes, background_label_id=0,
            overlap_threshold=0.5, evaluate_difficult_gt=False,
        )  # fmt: skip
    return w.n


def priors_of(net: Net) -> np.ndarray:
    """The priors of a net: corners (P, 4) as parts of the input. They follow from the shapes alone."""
    first = next(layer.name for layer in net.layers if layer.type == "PriorBox")
    net.forward(start=first, end="mbox_priorbox")
    return np.array(net.blobs["mbox_priorbox"].data[0, 0], np.float32).reshape(-1, 4)


def notes(net: NetParameter, matched: float, fresh: str) -> dict[str, str]:
    """{name of a layer: the comment before it} for a net's prototxt; matched: the share of objects that overlap a prior."""
    first = next(layer.name for layer in net.layer if layer.name.endswith("_mbox_loc"))
    prior = next(layer.name for layer in net.layer if layer.type == "PriorBox")
    return {
        first: "What each feature map predicts: 4 numbers for the box (loc) and a score for each class (conf) of each prior "
        "of each place.",
        prior: "The priors: boxes of these sizes in pixels of the input, at each place of a feature map. "
        f"{matched:.1%} of the objects overlap one by 0.5 or more.",
        "mbox_loss": "The loss: priors that overlap an object by 0.5 learn it; of the others the 3 worst for each of these "
        "learn the background.",
        "mbox_conf_reshape": "From predictions to detections.",
        "detection_eval": "Detections against the truth; the solver computes the mAP from it. Difficult objects do not count.",
    }


def flat_head(w: Writer, head: Head, name: str, values: int, kernel: int) -> Any:
    """A convolution with `values` numbers for each prior of each place, brought to (N, places * priors * values)."""
    top = w.conv(name, w.n[head.feature], head.priors * values, kernel)
    w.n[f"{name}_perm"] = L.Permute(top, order=[0, 2, 3, 1])
    w.n[f"{name}_flat"] = L.Flatten(w.n[f"{name}_perm"], axis=1)
    return w.n[f"{name}_flat"]
