# ruff: noqa: C408  (messages are dict(name=value))
"""Nets that propose regions of their own: Faster R-CNN (Ren et al. 2015) and R-FCN (Dai et al. 2016).

`propose`, `finish`, `vote` and `mined` write the parts that the published nets have, and the examples too. `faster_rcnn` and
`rfcn` write whole nets over VGG16, MobileNet or a small trunk for `boxpresso new`. They read the same data as SSD, and end in
the same DetectionOutput: its priors are the proposed regions, so that a net is tested, used and exported as an SSD is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..device.functions import exp, log
from ..layers.core import Trait
from ..layers.detection.rcnn import Upright
from ..net import Net
from ..net_spec import L, NetSpec
from ..proto import TEST, NetParameter
from .ssd import VOC, Task, data, evaluated, limited
from .trunks import Writer, mobilenet, resnet18, vgg16

ANCHORS = 9  # three scales, three ratios
STANDARD = (
    (0.15, 0.3, 0.6),
    (0.5, 1.0, 2.0),
)  # sides of anchors as parts of the input's, and their ratios height / width
WEIGHTS = "'bbox_inside_weights': [10, 10, 5, 5]"  # offsets count in parts of 0.1 and 0.2, but are said whole
MSRA = dict(type="msra")
SMALL_TRUNK = ((16, 2), (32, 2), (32, 1), (64, 2), (64, 1), (96, 1))  # channels and strides of conv1, conv2 ..
HARD = 48  # regions that R-FCN learns from
COVERED = 0.6  # of an object, in a patch: more than a half, so that its centre lies there


# Parts of published nets


def propose(
    w: Writer,
    feature: Any,
    channels: int,
    objects: str = "'num_classes': 21",
    offsets: str = "'bbox_normalize_targets_precomputed': True",
    anchors: str = "'feat_stride': 16",
    drawn: str = "",
    proposals: str = "",
    filler: dict[str, Any] | None = None,
    count: int = ANCHORS,
    rotated: bool = False,
) -> Any:
    """A region proposal network over a feature map: the regions, and in training its two losses and the regions' targets.

    It reads the blobs data, im_info and, in training, gt_boxes of the writer's net.

    Parameters
    ----------
    w, feature
        The writer, and the feature map.
    channels
        Of the 3 x 3 convolution.
    objects, offsets
        Settings of ProposalTarget.
    anchors
        Settings of AnchorTarget and Proposal.
    drawn
        Settings of AnchorTarget alone.
    proposals
        Settings of Proposal alone.
    filler
        Of the 3 x 3 convolution.
    count
        The anchors of a place.
    rotated
        Whether boxes are (RRPN).
    """
    n = w.n
    kind, columns = ("Rotate", 5) if rotated else ("", 4)
    small: dict[str, Any] = dict(filler=dict(type="gaussian", std=0.01))
    top = w.conv("rpn_conv/3x3", feature, w.wide(channels), relu="rpn_relu/3x3", filler=filler or small["filler"])
    w.conv("rpn_cls_score", top, 2 * count, 1, **small)
    w.conv("rpn_bbox_pred", top, columns * count, 1, **small)
    # Two channels, background and object, so that a softmax runs over them.
    n.rpn_cls_score_reshape = L.Reshape(n.rpn_cls_score, shape=dict(dim=[0, 2, -1, 0]))
    if w.train:
        tops = ("rpn_labels", "rpn_bbox_targets", "rpn_bbox_inside_weights", "rpn_bbox_outside_weights")
        bottoms = n.rpn_cls_score, n.gt_boxes, n.im_info, n.data
        outputs = getattr(L, f"{kind}AnchorTarget")(
            *bottoms, name="rpn-data", ntop=4, python_param=said(anchors, drawn)
        )
        for name, top in zip(tops, outputs):
            n[name] = top
        n.rpn_loss_cls = L.SoftmaxWithLoss(
            n.rpn_cls_score_reshape, n.rpn_labels, propagate_down=[True, False], ignore_label=-1, normalize=True
        )
        n.rpn_loss_bbox = L.SmoothL1Loss(n.rpn_bbox_pred, *(n[name] for name in tops[1:]), sigma=3)
    n.rpn_cls_prob = L.Softmax(n.rpn_cls_score_reshape)
    n.rpn_cls_prob_reshape = L.Reshape(n.rpn_cls_prob, shape=dict(dim=[0, 2 * count, -1, 0]))
    regions = getattr(L, f"{kind}Proposal")(
        n.rpn_cls_prob_reshape, n.rpn_bbox_pred, n.im_info, name="proposal", python_param=said(anchors, proposals)
    )
    if not w.train:
        n.rois = regions
        return n.rois
    n.rpn_rois = regions
    settings = f"{{{objects}, 'bg_thresh_lo': 0.0, {offsets}}}"
    targets = ("rois", "labels", "bbox_targets", "bbox_inside_weights", "bbox_outside_weights")
    outputs = getattr(L, f"{kind}ProposalTarget")(
        n.rpn_rois, n.gt_boxes, name="roi-data", ntop=5, python_param=dict(param_str=settings)
    )
    for name, top in zip(targets, outputs):
        n[name] = top
    return n.rois


def said(*settings: str) -> dict[str, str]:
    """python_param of these settings; those that are empty say nothing.

    >>> said("'feat_stride': 16", "", "'rpn_min_size': 4")
    {'param_str': "'feat_stride': 16, 'rpn_min_size': 4"}
    """
    return dict(param_str=", ".join(filter(None, settings)))


def two_dense(w: Writer, top: Any, outputs: int = 4096) -> Any:
    """Fc6 and fc7 with Dropout, as ZF and VGG16 end."""
    for i in (6, 7):
        w.dense(f"fc{i}", top, w.wide(outputs), std=0.005, relu=f"relu{i}")
        w.n[f"drop{i}"] = top = L.Dropout(w.n[f"relu{i}"], in_place=True, dropout_ratio=0.5)
    return top


def two_small(w: Writer, top: Any, outputs: int = 128) -> Any:
    """Fc6 and fc7 by He's rule, without Dropout."""
    for i in (6, 7):
        w.n[f"fc{i}"] = L.InnerProduct(top, num_output=outputs, **w.learning(True, True, MSRA))
        top = w.relu(f"relu_fc{i}", w.n[f"fc{i}"])
    return top


def finish(
    w: Writer, top: Any, classes: int = 21, columns: int = 4, fresh: str = "", weighted: dict[str, Any] | None = None
) -> NetSpec:
    """Scores and offsets of each region, `columns` for a box; their losses, or the probabilities.

    fresh: the end of the names of the two layers, which depend on the classes. weighted: as `Task.weighted`.
    """
    n = w.n
    score = w.dense(f"cls_score{fresh}", top, classes)
    offsets = w.dense(f"bbox_pred{fresh}", top, columns * classes, std=0.001)
    if not w.train:
        n.cls_prob = L.Softmax(score)
        return n
    fields = dict(loss_param=weighted) if weighted else {}
    n.loss_cls = L.SoftmaxWithLoss(score, n.labels, propagate_down=[True, False], loss_weight=1, **fields)
    n.loss_bbox = L.SmoothL1Loss(offsets, n.bbox_targets, n.bbox_inside_weights, n.bbox_outside_weights, loss_weight=1)
    return n


def vote(
    w: Writer, label: str, feature: Any, regions: Any, outputs: int, deformable: bool = False, bins: int = 7,
    stride: int = 16, fresh: str = "",
) -> None:  # fmt: skip
    """`outputs` numbers for each region: the mean of its bins x bins bins, each of which has channels of its own.

    label: "cls" writes the blob cls_score, "bbox" bbox_pred. fresh: the end of the name of a convolution that depends on the
    classes. In the deformable form the bins are moved by what a first pooling says: for scores every class moves by itself.
    """
    n, name = w.n, {"cls": "cls_score", "bbox": "bbox_pred"}[label]
    top = w.conv(f"rfcn_{label}{fresh}", feature, bins * bins * outputs, 1, filler=dict(type="gaussian", std=0.01))
    fields: dict[str, Any] = dict(group_size=bins, spatial_scale=1 / stride)
    if deformable:
        moves = 2 * outputs if label == "cls" else 2
        zero = dict(type="constant", value=0)
        w.conv(f"rfcn_{label}_offset_t", feature, bins * bins * moves, 1, filler=zero)
        fields |= dict(pooled_size=bins, part_size=bins, sample_per_part=4)
        n[f"rfcn_{label}_offset"] = L.DeformablePSROIPooling(
            n[f"rfcn_{label}_offset_t"], regions, output_dim=moves, no_trans=True, **fields
        )
        moved = n[f"rfcn_{label}_offset"]
        pooled = L.DeformablePSROIPooling(top, regions, moved, output_dim=outputs, trans_std=0.1, **fields)
    else:
        pooled = L.PSROIPooling(top, regions, output_dim=outputs, **fields)
    n[f"psroipooled_{label}_rois"] = pooled
    n[f"ave_{label}_rois"] = L.Pooling(pooled, pool="AVE", kernel_size=bins, stride=bins)
    n[name] = L.Reshape(n[f"ave_{label}_rois"], shape=dict(dim=[-1, outputs]))


def mined(w: Writer, hard: int = HARD, weighted: dict[str, Any] | None = None) -> None:
    """The losses of the `hard` regions that have the greatest, as R-FCN's own train nets write them."""
    n = w.n

    def still(count: int) -> dict[str, Any]:
        return dict(propagate_down=[False] * count)

    n.temp_loss_cls, n.temp_prob_cls, n.per_roi_loss_cls = L.SoftmaxWithLossOHEM(
        n.cls_score, n.labels, name="per_roi_loss_cls", ntop=3, loss_weight=[0, 0, 0], **still(2)
    )
    n.temp_loss_bbox, n.per_roi_loss_bbox = L.SmoothL1LossOHEM(
        n.bbox_pred,
        n.bbox_targets,
        n.bbox_inside_weights,
        name="per_roi_loss_bbox",
        ntop=2,
        loss_weight=[0, 0],
        **still(3),
    )
    n.per_roi_loss = L.Eltwise(n.per_roi_loss_cls, n.per_roi_loss_bbox, **still(2))
    n.labels_ohem, n.bbox_loss_weights_ohem = L.BoxAnnotatorOHEM(
        n.rois,
        n.per_roi_loss,
        n.labels,
        n.bbox_inside_weights,
        name="annotator_detector",
        ntop=2,
        roi_per_img=hard,
        **still(4),
    )
    n.silence = L.Silence(n.bbox_outside_weights, n.temp_loss_cls, n.temp_prob_cls, n.temp_loss_bbox, ntop=0)
    n.loss_cls = L.SoftmaxWithLoss(
        n.cls_score,
        n.labels_ohem,
        propagate_down=[True, False],
        loss_weight=1,
        loss_param=dict(ignore_label=-1) | (weighted or {}),
    )
    n.loss_bbox = L.SmoothL1LossOHEM(
        n.bbox_pred, n.bbox_targets, n.bbox_loss_weights_ohem, propagate_down=[True, False, False], loss_weight=1,
        loss_param=dict(normalization="PRE_FIXED", pre_fixed_normalizer=hard),
    )  # fmt: skip


# Whole nets


class Trunk(NamedTuple):
    """A trunk and how the two kinds of nets go on from it.

    Attributes
    ----------
    net
        Writes it over the blob data; returns the feature map.
    title
        A part of the net's name.
    transform
        What the data layer subtracts and multiplies by.
    stride
        Pixels of the input between the places of the feature map.
    channels
        Of the region proposal network.
    regions
        The regions proposed {"train": before suppression, after; "test": the same}.
    batch
        (anchors, regions) that a picture is learned from.
    head
        Faster R-CNN's layers over a region.
    reduced, bins
        R-FCN's channels before its votes, and the bins of a side.
    filler
        Of the convolutions over the trunk.
    """

    net: Callable[[Writer, Task], Any]
    title: str
    transform: dict[str, Any]
    stride: int
    channels: int
    regions: dict[str, tuple[int, int]]
    batch: tuple[int, int]
    head: Callable[[Writer, Any, Any, int], Any]
    reduced: int
    bins: int
    filler: dict[str, Any] | None


def small_trunk(w: Writer, task: Task) -> Any:
    """Six convolutions without BatchNorm, for a batch is one picture."""
    w.n.centred = top = L.Power(w.n.data, scale=1 / 64, shift=-2)
    for i, (channels, stride) in enumerate(SMALL_TRUNK, 1):
        top = w.conv(f"conv{i}", top, w.wide(channels), stride=stride, relu=f"relu{i}", filler=MSRA)
    return top


def aligned(w: Writer, feature: Any, rois: Any, stride: int) -> Any:
    w.n.roi_align = L.ROIAlign(
        feature, rois, pooled_h=7, pooled_w=7, spatial_scale=1 / stride, sampling_ratio=2, aligned=True
    )
    return w.n.roi_align


def small_head(w: Writer, feature: Any, rois: Any, stride: int) -> Any:
    """Fc6 and fc7 of 128 outputs over 7 x 7 bins."""
    return two_small(w, aligned(w, feature, rois, stride), w.wide(128))


def mobile_head(w: Writer, feature: Any, rois: Any, stride: int) -> Any:
    """128 channels, then fc6 and fc7 of 512 outputs over 7 x 7 bins: conv12 and conv13 for each region would take most time."""
    narrow = w.conv("conv_new_1", feature, w.wide(128), 1, relu="conv_new_1_relu", filler=MSRA)
    return two_small(w, aligned(w, narrow, rois, stride), w.wide(512))


def vgg_head(w: Writer, feature: Any, rois: Any, stride: int) -> Any:
    """Fc6 and fc7 of VGG16 over 7 x 7 bins."""
    w.n.roi_pool5 = L.ROIPooling(feature, rois, pooled_h=7, pooled_w=7, spatial_scale=1 / stride)
    return two_dense(w, w.n.roi_pool5)


SMALL = Trunk(
    small_trunk, "Small", {}, 8, 96, {"train": (600, 100), "test": (300, 50)}, (128, 48), small_head, 128, 3, MSRA
)
MOBILE = Trunk(
    lambda w, task: mobilenet(w, w.n.data, last=11), "MobileNet", dict(mean_value=[127.5], scale=0.007843), 16, 256,
    {"train": (2000, 300), "test": (1000, 100)}, (256, 64), mobile_head, 256, 7, MSRA,
)  # fmt: skip
RESNET = Trunk(
    lambda w, task: resnet18(w, w.n.data, last=4), "ResNet18", dict(mean_value=[104, 117, 123]), 16, 256,
    {"train": (2000, 300), "test": (1000, 100)}, (256, 64), mobile_head, 256, 7, MSRA,
)  # fmt: skip
VGG = Trunk(
    lambda w, task: vgg16(w, w.n.data, frozen=2 if task.still else 0), "VGG", dict(mean_value=[104, 117, 123]), 16, 512,
    {"train": (12000, 2000), "test": (6000, 300)}, (256, 128), vgg_head, 1024, 7, None,
)  # fmt: skip


def faster_rcnn(kind: str, size: int, width: float = 1.0, task: Task = VOC, *, trunk: Trunk = SMALL) -> NetSpec:
    """Faster R-CNN of pictures of one size.

    Parameters
    ----------
    kind
        "train", "test" or "deploy".
    size
        The sides of the input.
    width
        Multiplies the channels.
    task
        Classes and data; its anchors are sides as parts of the input's, and ratios.
    trunk
        `SMALL`, `MOBILE`, `RESNET` or `VGG`.

    Returns
    -------
    NetSpec
        deploy has one input, data (1, 3, size, size), and one output, detection_out, as SSD's.

    Examples
    --------
    >>> net = faster_rcnn("deploy", 160, task=Task(classes=4)).to_proto()
    >>> [layer.type for layer in net.layer if layer.name in ("proposal", "roi_align", "detection_out")]
    ['Proposal', 'ROIAlign', 'DetectionOutput']
    """
    w = writer("Faster_RCNN", kind, size, width, task, trunk)
    feature, rois = begin(w, size, task, trunk, f"'num_classes': {task.classes}, 'batch_size': {trunk.batch[1]}")
    finish(w, trunk.head(w, feature, rois, trunk.stride), task.classes, fresh=task.fresh, weighted=task.weighted)
    return w.n if w.train else detected(w, size, task, w.n[f"bbox_pred{task.fresh}"], own=True)


def rfcn(kind: str, size: int, width: float = 1.0, task: Task = VOC, *, trunk: Trunk = SMALL) -> NetSpec:
    """R-FCN of pictures of one size: of all regions those with the greatest losses are learned from. Parameters as for
    `faster_rcnn`.

    Examples
    --------
    >>> net = rfcn("train", 160, task=Task(classes=4)).to_proto()
    >>> [layer.name for layer in net.layer if layer.type in ("PSROIPooling", "BoxAnnotatorOHEM")]
    ['psroipooled_cls_rois', 'psroipooled_bbox_rois', 'annotator_detector']
    """
    w = writer("RFCN", kind, size, width, task, trunk)
    feature, rois = begin(w, size, task, trunk, "'num_classes': 2, 'batch_size': -1")
    top = w.conv("conv_new_1", feature, w.wide(trunk.reduced), 1, relu="conv_new_1_relu", filler=MSRA)
    vote(w, "cls", top, rois, task.classes, bins=trunk.bins, stride=trunk.stride, fresh=task.fresh)
    vote(w, "bbox", top, rois, 8, bins=trunk.bins, stride=trunk.stride)
    if w.train:
        mined(w, trunk.batch[1], task.weighted)
        return w.n
    w.n.cls_prob = L.Softmax(w.n.cls_score)
    w.n.bbox_of_background, w.n.bbox_of_object = L.Slice(w.n.bbox_pred, name="bbox", ntop=2, axis=1, slice_point=[4])
    w.n.bbox_silence = L.Silence(w.n.bbox_of_background, ntop=0)
    return detected(w, size, task, w.n.bbox_of_object, own=False)


def writer(name: str, kind: str, size: int, width: float, task: Task, trunk: Trunk) -> Writer:
    """The Writer of a net over a trunk."""
    name = f"{trunk.title}_{task.name}_{name}_{size}x{size}_{kind}"
    return Writer(name, kind, width, task.folded, task.average, task.still)


def begin(w: Writer, size: int, task: Task, trunk: Trunk, objects: str) -> tuple[Any, Any]:
    """Data, the trunk and the region proposal network: the feature map and the regions."""
    data(w, size, trunk.transform, task, patches(task.patches))
    n = w.n
    n.size = L.DummyData(shape=dict(dim=[1, 2]), data_filler=dict(type="constant", value=size))
    n.enlarged = L.DummyData(shape=dict(dim=[1, 1]), data_filler=dict(type="constant", value=1))
    n.im_info = L.Concat(n.size, n.enlarged, axis=1)
    if w.train:
        true_boxes(w, size)
    feature = trunk.net(w, task)
    before, after = trunk.regions["train" if w.train else "test"]
    sides, ratios = task.anchors or STANDARD
    anchors = f"'feat_stride': {trunk.stride}, 'base_size': {trunk.stride}, "
    anchors += f"'scales': {[round(size * side / trunk.stride, 3) for side in sides]}, 'ratios': {list(ratios)}"
    rois = propose(
        w, feature, trunk.channels, objects=f"{objects}, 'fg_fraction': 0.5", offsets=WEIGHTS, anchors=anchors,
        drawn=f"'allowed_border': {size // 4}, 'rpn_batchsize': {trunk.batch[0]}",
        proposals=f"'rpn_min_size': 4, 'rpn_pre_nms_top_n': {before}, 'rpn_post_nms_top_n': {after}", filler=trunk.filler,
    )  # fmt: skip
    return feature, rois


def patches(smallest: float) -> list[dict[str, Any]]:
    """The whole image, or a patch that holds most of an object, so that no picture is without one."""
    limits = [dict(min_object_coverage=share) for share in (COVERED, 0.8, 1.0)]
    return limited(smallest, limits)


def true_boxes(w: Writer, size: int) -> None:
    """gt_boxes (objects, 5), pixels of corners and the label, of the data layer's rows of fractions (1, 1, objects, 8)."""
    n = w.n
    parts = ("truth_picture", "truth_class", "truth_instance", "truth_low", "truth_high", "truth_difficult")
    for part, top in zip(parts, L.Slice(n.label, name="truth", ntop=6, axis=3, slice_point=[1, 2, 3, 5, 7])):
        n[part] = top
    n.truth_first = L.Power(n.truth_low, scale=size)
    n.truth_last = L.Power(n.truth_high, scale=size, shift=-1)  # the last pixel inside
    n.truth_rows = L.Concat(n.truth_first, n.truth_last, n.truth_class, axis=3)
    n.gt_boxes = L.Reshape(n.truth_rows, shape=dict(dim=[-1, 5]))
    n.truth_silence = L.Silence(n.truth_picture, n.truth_instance, n.truth_difficult, ntop=0)


def detected(w: Writer, size: int, task: Task, offsets: Any, own: bool) -> NetSpec:
    """DetectionOutput over regions as priors, and its evaluation; own: whether each class has offsets of its own."""
    n = w.n
    parts = ("rois_picture", "rois_first", "rois_last")
    for part, top in zip(parts, L.Slice(n.rois, name="rois_parts", ntop=3, axis=1, slice_point=[1, 3])):
        n[part] = top
    n.rois_silence = L.Silence(n.rois_picture, ntop=0)
    n.rois_low = L.Power(n.rois_first, scale=1 / size)
    n.rois_high = L.Power(n.rois_last, scale=1 / size, shift=1 / size)  # behind the last pixel
    n.rois_corners = L.Concat(n.rois_low, n.rois_high, axis=1)
    n.rois_flat = L.Reshape(n.rois_corners, shape=dict(dim=[1, 1, -1]))
    n.rois_priors = L.Concat(n.rois_flat, n.rois_flat, axis=1)  # variances are not asked for
    n.bbox_pred_flat = L.Reshape(offsets, shape=dict(dim=[1, -1]))
    n.cls_prob_flat = L.Reshape(n.cls_prob, shape=dict(dim=[1, -1]))
    n.detection_out = L.DetectionOutput(
        n.bbox_pred_flat, n.cls_prob_flat, n.rois_priors, include=dict(phase=TEST),
        num_classes=task.classes, share_location=not own, background_label_id=0, code_type="CENTER_SIZE",
        variance_encoded_in_target=True, nms_param=dict(nms_threshold=0.3, top_k=400), keep_top_k=100,
        confidence_threshold=0.01,
    )  # fmt: skip
    return evaluated(w, task)


# What `boxpresso new` looks at


def anchors_of(net: Net) -> np.ndarray:
    """The anchors of a net, everywhere: corners (A, 4) as parts of the input."""
    at = next(i for i, layer in enumerate(net.layers) if Trait.PROPOSES in layer.traits)
    layer: Any = net.layers[at]
    _, _, height, width = net.blobs[net.bottom_names[layer.name][0]].shape
    return placed(layer.anchors, height, width, layer.settings["feat_stride"], net.blobs["data"].shape[2:])


def placed(anchors: np.ndarray, height: int, width: int, stride: float, size: tuple[int, ...]) -> np.ndarray:
    """Anchors (A, 4), the last pixel inside, at all places of a map: corners as parts of an input of size (height, width)."""
    corners = Upright.everywhere(anchors, height, width, stride) + np.array([0, 0, 1, 1])
    return np.asarray(corners / np.tile(size[::-1], 2))


def fit_anchors(boxes: np.ndarray, size: int, stride: int, covered: Callable[[np.ndarray], float]) -> Any:
    """The sides and ratios of anchors for boxes (N, 4), corners as parts of the picture.

    Those of `STANDARD`, unless those that k-means finds cover more boxes. Of boxes of one centre and one shape the intersection
    over union depends on the quotient of their areas alone, of one area on that of their ratios nearly: so the three sides and
    the three ratios are found in their logarithms.

    Parameters
    ----------
    boxes
        Of the objects.
    size, stride
        The sides of the input, and the pixels between places.
    covered
        The share of boxes that such anchors (A, 4) overlap, as parts of the input, by 0.5.
    """
    wide, high = np.maximum(boxes[:, 2:] - boxes[:, :2], 1 / size).T
    fitted = three_means(np.sqrt(wide * high)), three_means(high / wide)
    places = -(-size // stride)

    def share(sides: tuple[float, ...], ratios: tuple[float, ...]) -> float:
        anchors = Upright.anchors(stride, ratios, [round(size * side / stride, 3) for side in sides])
        return covered(placed(anchors, places, places, stride, (size, size)))

    return max((STANDARD, fitted), key=lambda both: share(*both))


def three_means(values: np.ndarray, rounds: int = 100) -> tuple[float, ...]:
    """The centres of three clusters of numbers above 0 by their logarithms (Lloyd 1982), from quantiles on; all differ.

    >>> three_means(np.array([1, 1.1, 9, 10, 11, 80, 99.0]))
    (1.049, 9.967, 88.994)
    """
    logs = log(values)
    centres = np.quantile(logs, (1 / 6, 0.5, 5 / 6))
    for _ in range(rounds):
        nearest = np.abs(logs[:, None] - centres).argmin(1)
        moved = np.array([logs[nearest == i].mean() if (nearest == i).any() else c for i, c in enumerate(centres)])
        if np.allclose(moved, centres):
            break
        centres = moved
    centres.sort()
    centres[0], centres[2] = min(centres[0], centres[1] - 0.1), max(centres[2], centres[1] + 0.1)
    return tuple(round(float(centre), 3) for centre in exp(centres))


def notes(net: NetParameter, matched: float, fresh: str) -> dict[str, str]:
    """{name of a layer: the comment before it} for the prototxt of a net."""
    last = next((layer.name for layer in net.layer if layer.name in (f"cls_score{fresh}", f"rfcn_cls{fresh}")), "")
    return {
        "size": "im_info: the height and width of the input, and that it is not enlarged.",
        "truth": "The true boxes, from parts of the picture to pixels.",
        "rpn_conv/3x3": "The region proposal network: for each anchor of each place, whether it is an object and how it is to "
        f"be moved. Anchors are base_size times scales, by ratios; {matched:.1%} of the objects overlap one by 0.5 or more.",
        "roi-data": "The regions that are learned from: at most half overlap an object by 0.5; the others are background.",
        last: "What each region is, and how its box is to be moved.",
        "annotator_detector": "Of all regions those with the greatest losses are learned from.",
        "rois_parts": "From regions to detections: DetectionOutput's priors are the regions.",
        "detection_eval": "Detections against the truth; the solver computes the mAP from it. Difficult objects do not count.",
    }
