"""What data layers give, read from their fields alone: the shape of each top, and what its values mean.

It serves nets that are looked at without their data: `Net(..., data="shapes")`, and data layers whose file format is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...proto import LayerParameter
from ...proto.errors import LayerError
from .param_str import read_param_str

SIDE = 224  # of images whose size no field tells
REGION_IMAGE = (576, 960)  # of nets with regions, which say no size: multiples of 64, as pyramids need
REGIONS, OBJECTS = 8, 3  # how many of each a batch has
KNOWN = (("mnist", (1, 28, 28)), ("cifar", (3, 32, 32)))  # data sets that a source, a mean file or a net may name
VOLUME_SIDE = 64  # of the slices of volumes whose size no field tells
CAMVID = (360, 480)  # SegNet's pictures, which its DenseImageData takes as they are
FEATURES = 16  # of a vector whose length no field tells
BY_PLACE = {"data", "imagedata", "windowdata"}  # whose first top holds the images, whatever its name
SPATIAL = {
    "convolution",
    "pooling",
    "lrn",
    "deconvolution",
    "bn",
    "batchnorm",
    "convolutiondepthwise",
    "depthwiseconvolution",
}
# Whose second top is a map of labels
MAPS = {"denseimagedata", "imagesegdata", "imagelabelmapdata", "imagelabeldata", "segdata", "windowsegdata"}
BOXED = {"multiboxloss", "multiboxssdloss", "detectionevaluate"}  # which read SSD's rows of boxes
SPATIAL |= {"cudnnconvolution", "cudnnpooling", "cudnnlrn", "cudnnbatchnorm", "deformableconvolution", "roipooling"}


@dataclass(frozen=True)
class Top:
    """One top of a data layer.

    Attributes
    ----------
    shape
        Of its blob.
    role
        What its values mean: "image", "class", "boxes" (SSD's rows), "objects" (pixels and a class), "areas" (pixels),
        "polygons", "yolo", "cells" (BoxData's), "instances", "info", "sizes", "rois", "detectnet labels", "labels map",
        "detection map", "ones" or "numbers".
    certain
        Whether fields told the shape; if not, the layer that reads the top may.
    """

    shape: tuple[int, ...]
    role: str
    certain: bool = True


def data_tops(
    param: LayerParameter, readers: Sequence[Iterable[str]] = (), hint: str = "", channels: int = 0
) -> list[Top]:
    """The tops of a data layer, as far as its fields tell.

    Parameters
    ----------
    param
        The LayerParameter of a layer without bottoms.
    readers
        For each top the types of the layers that read it, lower-case; they tell an image from a vector where fields do
        not.
    hint
        Further text in which a known data set may be named, such as the name of the net.
    channels
        Of the images, where something else than the fields tells.

    Returns
    -------
    list of Top
        One for each top.

    Examples
    --------
    >>> from boxpresso.proto import parse_net
    >>> net = parse_net('''layer { name: "data" type: "Data" top: "data" top: "label"
    ...     data_param { batch_size: 8 } transform_param { crop_size: 227 } }''')
    >>> [top.shape for top in data_tops(net.layer[0])]
    [(8, 3, 227, 227), (8,)]
    """
    kind = param.type.lower()
    for names, rule in RULES:
        if kind in names:
            return rule(param, list(param.top))
    if kind == "python":
        return python_tops(param)
    batch, image, certain = batch_of(param), image_of(param, hint), bool(size_of(param))
    if channels:
        image = (channels, *image[1:])
    by_index = [{name.lower() for name in types} for types in readers] + [set()] * len(param.top)
    return [
        generic(param, name, i, batch, image, certain, by_index[i]) for i, name in enumerate(param.top)
    ]  # fmt: skip


def generic(
    param: LayerParameter, name: str, index: int, batch: int, image: tuple[int, ...], certain: bool, readers: set[str]
) -> Top:
    """A top of a layer that reads images and labels, or arrays."""
    kind = param.type.lower()
    if kind == "mcwindowdata" and name == "mask":
        side = param.mcwindow_data_param.mask_crop_size
        return Top((batch, 1, side, side), "ones", side > 0)
    named = by_name(name, batch, image, 2)
    if kind == "hdf5data" and not readers & SPATIAL:
        label = "label" in name or index == len(param.top) - 1 > 0
        labels = (batch, 1) if "flatten" in readers else (batch,)  # which takes two axes at least
        return Top(labels, "class", False) if label else Top((batch, FEATURES), "numbers", False)
    if index and param.HasField("multi_label_image_data_param"):
        return Top((batch, param.multi_label_image_data_param.label_num), "class")
    if kind == "memorydata" and index == 0 and param.memory_data_param.dim:
        return Top((batch, *map(int, param.memory_data_param.dim)), "image")
    if kind == "boxdata" and index:
        side = ([*param.data_param.side, *[7] * index])[index - 1]
        rows = Top((batch, 30, 5), "yolo")  # caffe-yolov2's BoxData, for its layers with anchors
        return rows if readers & {"regionloss", "regionevaldetection"} else Top((batch, 7 * side * side), "cells")
    if "detectnettransformation" in readers and "label" in name:
        return Top((batch, 1, 1 + OBJECTS, 16), "detectnet labels")
    if readers & BOXED:  # in a data layer of a project's own
        return Top((1, 1, OBJECTS, 8), "boxes")
    first = index == 0 and (kind in BY_PLACE or "label" not in name or len(param.top) == 1)
    if first and (named is None or named.role == "class"):
        return Top((batch, *image), "image", certain)
    if kind in ("annotateddata", "annotatedrdata", "lanedata"):
        return annotated(param, name, batch, image)
    if kind == "imagelabeldata" and param.image_label_data_param.label_slice.dim:
        return Top((batch, 1, *map(int, param.image_label_data_param.label_slice.dim)), "class")
    if kind in MAPS or "seg" in name:
        if kind == "imagesegdata" and index == 2:
            return Top((batch, 1, 1, 2), "sizes")
        divisor = param.dense_image_data_param.label_divide_factor
        return Top((batch, 1, *(side // divisor for side in image[1:])), "class", certain)
    if named is not None:
        return named
    if readers & SPATIAL:  # of labels a map, which a loss that it comes to gives sides and channels
        return Top((batch, 1, *image[1:]), "class", False) if "label" in name else Top((batch, *image), "image", False)
    labels = max(
        param.image_data_param.ndim_label, param.data_param.task_class_num, param.multi_image_data_param.class_num,
        param.image_data_param.task_class_num, param.video_data_param.num_of_labels,
    )  # fmt: skip
    return Top((batch, labels) if labels > 1 else (batch,), "class", False)


def annotated(param: LayerParameter, name: str, batch: int, image: tuple[int, ...]) -> Top:
    """A label of AnnotatedData or LaneData: rows of boxes, YOLO's boxes, or a map of classes."""
    p = param.annotated_data_param
    if "seg" in name:
        size = (p.seg_resize_height, p.seg_resize_width)
        own = size if all(size) else tuple(side // max(1, p.seg_scales) for side in image[1:])
        return Top((batch, 1, *own), "class", False)
    if p.yolo_data_type:
        return Top((batch, OBJECTS, 5), "yolo")
    rotated = param.type.lower() == "annotatedrdata"
    return Top((1, 1, OBJECTS, 9 if rotated else 8), "rotated rows" if rotated else "boxes")


def by_name(name: str, batch: int, image: tuple[int, ...], classes: int, columns: int = 5) -> Top | None:
    """A top by a name that programs of the R-CNN family share."""
    side = 21 if "target" in name or "weight" in name else 14  # MNC's
    table = {
        "rois": Top((REGIONS, 5), "rois"),
        "labels": Top((REGIONS,), "class"),
        "im_info": Top((1, 3), "info"),
        "gt_boxes": Top((OBJECTS, columns), "objects" if columns == 5 else "rotated objects"),
        "gt_ishard": Top((OBJECTS,), "numbers"),
        "dontcare_areas": Top((OBJECTS, 4), "areas"),
        "gt_rois": Top((OBJECTS, 6), "objects of images"),
        "gt_quads": Top((OBJECTS, 9), "polygons"),
        "gt_masks": Top((OBJECTS, 1, 14, 14), "ones", False),
        "mask_info": Top((OBJECTS, 2), "mask sizes"),
        "ins": Top((1, 1, *image[1:]), "instances"),
        "mask_rois": Top((REGIONS, 5), "rois"),
        "box_labels": Top((REGIONS, 1), "class"),
        "mask_labels": Top((REGIONS, 1), "class"),
        "masks": Top((REGIONS, 1, side, side), "ones"),
        "mask_targets": Top((REGIONS, side * side), "ones", False),
        "mask_weight": Top((REGIONS, side * side), "ones", False),
        "bbox_targets": Top((REGIONS, 4 * classes), "numbers", False),
        "bbox_inside_weights": Top((REGIONS, 4 * classes), "ones", False),
        "bbox_outside_weights": Top((REGIONS, 4 * classes), "ones", False),
        "bbox_loss_weights": Top((REGIONS, 4 * classes), "ones", False),
        "sample_weight": Top((batch,), "ones", False),
        "sample_weights": Top((batch,), "ones", False),
    }
    if name in table:
        return table[name]
    if name.startswith("cont"):
        return Top((batch,), "ones", False)
    return None


def python_tops(param: LayerParameter) -> list[Top]:
    """The tops of a Python layer that reads data, from its names and its param_str."""
    try:
        values: Any = read_param_str(param.python_param.param_str)
    except LayerError:
        values = {}
    values = {str(k).lower(): v for k, v in values.items()} if isinstance(values, dict) else {}
    classes, batch = values.get("num_classes", 2), values.get("batch_size", 1)
    classes = classes if isinstance(classes, int) and classes > 0 else 2
    batch = batch if isinstance(batch, int) and batch > 0 else 1
    rotated = param.python_param.module.startswith("rotation.")
    family = {"im_info", "gt_boxes", "rois", "bbox_targets"} & set(param.top)
    height, width = REGION_IMAGE if family else (SIDE, SIDE)
    size = values.get("im_shape", values.get("new_size", values.get("crop_size")))
    if isinstance(size, (list, tuple)) and len(size) >= 2 and all(isinstance(side, int) for side in size[-2:]):
        height, width = size[-2:]
    elif isinstance(size, int):
        height = width = size
    scales = values.get("scales")
    if family and isinstance(scales, (list, tuple)) and scales and all(isinstance(side, int) for side in scales):
        height, width = max(scales), max(scales) * 5 // 3
    result = []
    for i, name in enumerate(param.top):
        one = by_name(name, batch, (3, height, width), classes, 6 if rotated else 5)
        if name == "labels" and "rois" not in param.top:  # of images, or of their pixels
            one = Top((batch,), "class", False)
        if one is None and (name in ("label", "sem", "geo", "class") or ("label" in name and i)):
            one = Top((batch, 1, height, width), "class", False)
        if one is None:
            few = {"depth": 1, "hha": 3}.get(name, 3)
            one = Top((batch, few, height, width), "image", False)
        result.append(one)
    return result


# Fields


MESSAGES = (
    "data_param", "image_data_param", "window_data_param", "memory_data_param", "hdf5_data_param", "video_data_param",
    "dense_image_data_param", "yolo_data_param", "image_gt_data_param", "detection_data_param", "eval_data_param",
    "roi_data_param", "mcwindow_data_param", "multi_image_data_param", "pair_image_data_param", "csv_data_param",
    "datum_data_param", "multi_label_image_data_param", "image_label_data_param",
)  # fmt: skip


def messages(param: LayerParameter) -> list[Any]:
    """The messages of data layers that a layer gives."""
    return [getattr(param, name) for name in MESSAGES if param.HasField(name)]


def batch_of(param: LayerParameter) -> int:
    """The batch size that a field gives, or 1."""
    return next((p.batch_size for p in messages(param) if getattr(p, "batch_size", 0)), 1)


def size_of(param: LayerParameter) -> tuple[int, int] | None:
    """Height and width of the images, where fields give them: of crops before those of images that are resized."""
    t, data_params = param.transform_param, messages(param)
    if t.crop_size or next((p for p in data_params if getattr(p, "crop_size", 0)), None):
        side = t.crop_size or next(p.crop_size for p in data_params if getattr(p, "crop_size", 0))
        return side, side
    for high, wide in (("crop_h", "crop_w"), ("crop_height", "crop_width")):
        for p in (t, *data_params):
            if getattr(p, high, 0) and getattr(p, wide, 0):
                return getattr(p, high), getattr(p, wide)
    for resize in t.resize_param:
        if resize.height and resize.width:
            return resize.height, resize.width
    for high, wide in (("new_height", "new_width"), ("resize_height", "resize_width"), ("height", "width")):
        for p in data_params:
            if getattr(p, high, 0) and getattr(p, wide, 0):
                return getattr(p, high), getattr(p, wide)
    return None


def image_of(param: LayerParameter, hint: str = "") -> tuple[int, ...]:
    """(channels, height, width) of the images."""
    t, size, data_params = param.transform_param, size_of(param), messages(param)
    text = " ".join([hint, t.mean_file, *(getattr(p, "source", "") for p in data_params)]).lower()
    known = next((shape for word, shape in KNOWN if re.search(word, text)), None)
    color = next((p.channels for p in data_params if getattr(p, "channels", 0)), 0) or (known[0] if known else 3)
    video = param.video_data_param
    if param.type.lower() == "videodata" and param.HasField("video_data_param") and video.batch_size:
        flow = video.modality == video.FLOW  # x and y of each frame
        color = (2 if flow else 1 if video.grayscale else 3) * video.new_length * video.num_segments
    elif t.force_gray or any(p.HasField("is_color") and not p.is_color for p in data_params if hasattr(p, "is_color")):
        color = 1
    elif len(t.mean_value) > 1:
        color = len(t.mean_value)
    usual = CAMVID if param.type.lower() == "denseimagedata" else (SIDE, SIDE)
    return (color, *(size or (known[1:] if known else usual)))


# Data layers of forks, which have shapes of their own


def frcnn_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """makefile/frcnn and D-X-Y: one image; sizes are in a JSON file beside the net, those of its default file are
    taken."""
    tops = [Top((1, 3, *REGION_IMAGE), "image"), Top((1, 3), "info"), Top((OBJECTS, 5), "objects")]
    return tops[: len(names)]


def roi_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """RoIData: py-faster-rcnn's, or with a fourth top the masks of the objects (py-mask-rcnn)."""
    inner = LayerParameter(type="Python", top=names, python_param=param.python_param)
    own = param.roi_data_param
    tops = python_tops(inner)
    if own.train_scale:
        tops[0] = replace(tops[0], shape=(1, 3, max(own.train_scale), own.max_size))
    return tops


def map_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """mscnn's ImageGtData and Cascade R-CNN's DetectionData: images, a map of targets for each field, true boxes."""
    gt = param.type.lower() == "imagegtdata"
    p = param.image_gt_data_param if gt else param.detection_data_param
    batch = p.batch_size or 1
    height, width = (p.resize_height or 600, p.resize_width or 1000)
    if not gt:
        if p.short_size and p.long_size:
            width, height = p.short_size, p.long_size  # as that program lays its first batch out
        if p.crop_short_size and p.crop_long_size:
            width, height = p.crop_short_size, p.crop_long_size
    height, width = (p.crop_height or height, p.crop_width or width)
    strides = list(p.downsample_rate if gt else p.stride)
    tops = [Top((batch, 3, height, width), "image")]
    maps = [
        (int(height / s + 0.5), int(width / s + 0.5)) for s in strides if s
    ]  # rounded half up, as those programs do
    tops += [Top((batch, 2 + p.coord_num, *size), "detection map") for size in maps]
    rows = Top((OBJECTS, 7 if gt else 8, 1, 1), "object rows")
    return [*tops, *([rows] * len(names))][: len(names)]


def eval_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """Cascade R-CNN's EvalData: images, true boxes, and the sizes of the images."""
    p = param.eval_data_param
    batch = p.batch_size or 1
    height, width = (p.resize_height or 600, p.resize_width or 1000)
    if p.short_size and p.long_size:
        width, height = p.short_size, p.long_size
    tops = [Top((batch, 3, height, width), "image"), Top((OBJECTS, 8, 1, 1), "object rows")]
    return [*tops, Top((batch, 2, 1, 1), "sizes")][: len(names)]


def yolo_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """geshiming/caffe-yolo's YoloData: images, and for each cell four numbers of a box and its class."""
    p = param.yolo_data_param
    image = image_of(param)
    side = p.num_sides or 7
    return [Top((p.batch_size, *image), "image"), Top((p.batch_size, 5, side, side), "ones")][: len(names)]


def pose_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """CPMData of Convolutional Pose Machines and OpenPose: images, the former with a map of the person's centre, and for
    each part and background a map and a mask."""
    first = param.HasField("cpmdata_param")
    p = param.cpm_transform_param if param.HasField("cpm_transform_param") else param.transform_param
    batch = (param.cpmdata_param if first else param.data_param).batch_size or 1
    sides = p.crop_size_y or p.crop_size, p.crop_size_x or p.crop_size
    height, width = sides if all(sides) else (SIDE, SIDE)
    stride = max(1, p.stride)
    maps = Top((batch, 2 * (p.num_parts + 1), height // stride, width // stride), "ones", p.num_parts > 0)
    return [Top((batch, 4 if first else 3, height, width), "image", all(sides)), maps][: len(names)]


def clip_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """FlowVideoData and RgbVideoData of a fork of LRCN's: frames, of FlowVideoData many as channels, and for each its class
    and whether a clip goes on there."""
    p, batch, image = param.image_data_param, batch_of(param), image_of(param)
    if param.type.lower() == "flowvideodata":
        image = ((3 if p.is_color else 1) * p.frame_num * p.pair_size_sub, *image[1:])
    return [Top((batch, *image), "image", bool(size_of(param))), Top((batch, 2, 1, 1), "class")][: len(names)]


def volume_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """VideoDataSeg of a fork for volumes: slices, or frames, as a third axis, and a map of labels for each of them."""
    p, batch, (channels, *sides) = param.video_data_param, batch_of(param), image_of(param)
    sides = sides if size_of(param) else [VOLUME_SIDE] * 2
    whole = p.new_length, *sides
    known = bool(size_of(param))
    return [Top((batch, channels, *whole), "image", known), Top((batch, 1, *whole), "class", known)][: len(names)]


def heatmap_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """DataHeatmap of poses: images, a map for each joint, of which only the list of images says how many, and a class."""
    p = param.heatmap_data_param
    batch, side = p.batchsize or 1, p.outsize or SIDE
    image = Top((batch, p.num_channels, side, side), "image", p.outsize > 0)
    return [image, Top((batch, 1, p.label_height, p.label_width), "ones", False), Top((batch,), "class")][: len(names)]


def drive_tops(param: LayerParameter, names: list[str]) -> list[Top]:
    """DriveData: images, for each cell whether there is a box, its corners, sides and weight, and for each its type."""
    p, batch = param.drive_data_param, batch_of(param)
    sides = p.cropped_height, p.cropped_width
    height, width = sides if all(sides) else (SIDE, SIDE)
    tops = [Top((batch, 3, height, width), "image", all(sides))]
    for channels, cells, role in ((8, p.label_resolution, "ones"), (1, p.catalog_resolution, "class")):
        map_sides = p.tiling_height * cells, p.tiling_width * cells
        known = all(map_sides)
        tops.append(Top((batch, channels, *(map_sides if known else (1, 1))), role, known))
    return tops[: len(names)]


RULES = (
    ({"drivedata"}, drive_tops),
    ({"cpmdata"}, pose_tops),
    ({"dataheatmap"}, heatmap_tops),
    ({"flowvideodata", "rgbvideodata"}, clip_tops),
    ({"videodataseg"}, volume_tops),
    ({"frcnnroidata", "frcnnviddata"}, frcnn_tops),
    ({"roidata", "roidatalayer"}, roi_tops),
    ({"imagegtdata", "detectiondata"}, map_tops),
    ({"evaldata"}, eval_tops),
    ({"yolodata"}, yolo_tops),
)
