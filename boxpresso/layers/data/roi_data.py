"""RoIData: VOC, COCO and WIDER FACE folders straight into Faster R-CNN, one picture at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import DataError
from ...data.folders import VOC_CLASSES, Scene, read_coco, read_voc, read_wider, wider_lists
from ...data.loader import Loader, RecordSource
from ...data.picture import bilinear, decode_annotated, short_side
from ...device import Blob
from ..core.param_str import settings
from .batches import BatchLayer, Numpy

DEFAULTS: dict[str, Any] = {
    "source": "",
    "split": "",
    "format": "",  # voc, coco or wider; seen from the folder when empty
    "classes": list(VOC_CLASSES),  # of VOC, label 1 first
    "scales": [600],
    "max_size": 1000,
    "means": [102.9801, 115.9465, 122.7717],
    "flipped": True,
    "difficult": False,
    "shuffle": True,
    "num_classes": 0,  # with the background; only checked
}


@dataclass
class SceneSource(RecordSource):
    """Pictures and boxes of annotated scenes."""

    scenes: list[Scene]
    sides: int  # 2 where each picture also comes flipped
    settings: dict[str, Any]  # as in DEFAULTS

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy, Numpy]:
        options, scene, flip = self.settings, self.scenes[index // self.sides], index % self.sides == 1
        scene.check()
        picture, _ = decode_annotated(scene.path, True, (scene.width, scene.height))
        height, width = picture.shape[:2]
        scale = short_side(width, height, options["scales"][rng.integers(len(options["scales"]))], options["max_size"])
        # Flipped first, and by the factor itself, not by the ratio of rounded sizes; values are not rounded. So are
        # images to detect on.
        size = max(1, round(width * scale)), max(1, round(height * scale))
        resized = bilinear(picture[:, ::-1] if flip else picture, *size, (scale, scale))
        chosen = keep(scene, options["difficult"])
        boxes = scene.corners[chosen] - [0, 0, 1, 1]  # the last pixel counts
        if flip:
            boxes = boxes * [-1, 1, -1, 1] + [width - 1, 0, width - 1, 0]
            boxes = boxes[:, [2, 1, 0, 3]]
        rows = np.concatenate([boxes * scale, np.array(scene.labels).reshape(-1, 1)[chosen]], 1)
        info = np.array([resized.shape[0], resized.shape[1], scale], np.float32)
        means = np.array(options["means"], np.float32)[:, None, None]
        return resized.transpose(2, 0, 1) - means, info, rows.astype(np.float32)

    def collate(self, samples: Sequence[tuple[Numpy, Numpy, Numpy]]) -> list[Numpy]:
        picture, info, boxes = samples[0]
        return [picture[None], info[None], boxes]

    def name(self, index: int) -> str:
        return str(self.scenes[index // self.sides].path)


class RoIData(
    BatchLayer,
    type=("RoIData", "RoIDataLayer"),
    param=("roi_data_param", "transform_param", "python_param"),
    bottoms=0,
    tops=(1, 3),
):
    """Pictures and their objects from a VOC, COCO or WIDER FACE folder for Faster R-CNN, one picture at a time.

    The shorter side of a picture becomes one of `scales`, drawn for each picture, unless the longer side would pass
    `max_size`. `means` are subtracted. In phase TRAIN each picture comes twice in a round, as it is and flipped left to
    right, in a new order, and pictures without an object are left out. In phase TEST all pictures come once, in turn.
    Objects marked difficult are left out unless `difficult` keeps them. Broken pictures and annotations are named in a
    warning and left out.

    Parameters
    ----------
    python_param
        Such as python_param { param_str: "{'source': 'VOCdevkit/VOC2007', 'split': 'trainval', 'scales': [600],
        'max_size': 1000}" }. `param_str`: a text with the settings `source`
        (required): the folder. `split` (""). `format` (""): voc, coco or wider; if empty, the folder tells. `classes` (VOC's):
        the classes of VOC, label 1 first. `scales` ([600]). `max_size` (1000). `means` ([102.9801, 115.9465,
        122.7717]): blue, green, red. `flipped` (True): add flipped pictures in TRAIN. `difficult` (False): keep objects
        marked difficult. `shuffle` (True): a new order for each round in TRAIN. `num_classes` (0): with the background;
        if it is given, all labels must be below it.
    roi_data_param
        `source`, `train_scale`, `max_size`, `use_flipped` and `pixel_mean`, which go before source, scales, max_size,
        flipped and means of param_str.

    Returns
    -------
    top 0
        (1, 3, height, width), the picture.
    top 1
        Optional. (1, 3), im_info: height, width and scale.
    top 2
        Optional. (objects, 5), gt_boxes: xmin, ymin, xmax, ymax in pixels of the resized picture, and the class.

    Raises
    ------
    LayerError
        For a missing source, settings that do not fit, or a folder that cannot be read or has nothing to learn.

    Source
    ------
    py-faster-rcnn's RoIDataLayer. roi_data_param: fireae/caffe_latte.

    Examples
    --------
    Before the first picture, tops have the largest shape that the settings allow:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "RoIData" top: "data" top: "im_info" top: "gt_boxes"
    ...     python_param { param_str: "{'source': 'VOCdevkit/VOC2007', 'split': 'trainval', 'scales': [480]}" } }'''),
    ...     device="cpu")
    >>> net.blobs["data"].shape, net.blobs["im_info"].shape, net.blobs["gt_boxes"].shape
    ((1, 3, 480, 1000), (1, 3), (1, 5))
    """

    replaces = ("roi_data_layer.layer.RoIDataLayer", "roi_data_layer_with_instance.layer.RoIDataLayer")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        options = self.settings = settings(self, DEFAULTS)
        own = self.param.roi_data_param  # of fireae/caffe_latte
        for name, field in (("source", "source"), ("max_size", "max_size"), ("flipped", "use_flipped")):
            if own.HasField(field):
                options[name] = getattr(own, field)
        options["scales"] = list(own.train_scale) or options["scales"]
        options["means"] = list(own.pixel_mean) or options["means"]
        self.need(options["source"], "give 'source' in param_str or roi_data_param, a VOC, COCO or WIDER FACE folder")
        self.need(
            options["format"] in ("", "voc", "coco", "wider"),
            f"format must be voc, coco or wider, got {options['format']!r}",
        )
        scales = options["scales"] if isinstance(options["scales"], (list, tuple)) else [options["scales"]]
        self.need(
            scales and min(scales) > 0 < options["max_size"], f"scales and max_size must be above 0, got {scales}"
        )
        self.need(len(options["means"]) == 3, f"give three means, blue, green, red; got {options['means']}")
        options["scales"], self.train = list(scales), self.phase == "TRAIN"
        for blob, shape in zip(top, ((1, 3, int(max(scales)), int(options["max_size"])), (1, 3), (1, 5))):
            blob.reshape(*shape)

    def scenes(self) -> list[Scene]:
        options, root = self.settings, Path(str(self.settings["source"]))
        seen = "coco" if os.path.isdir(root / "annotations") or root.suffix == ".json" else "voc"
        if root.suffix == ".txt" or wider_lists(root):
            seen = "wider"
        if (options["format"] or seen) in ("coco", "wider"):
            return (read_coco if (options["format"] or seen) == "coco" else read_wider)(root, options["split"])[0]
        return read_voc(root, options["split"], options["classes"])

    def open(self) -> Loader:
        options, train = self.settings, self.train
        scenes = [s for s in self.scenes() if s.wrong or not train or keep(s, options["difficult"]).any()]
        if not scenes:
            raise DataError(f"no picture of {options['source']!r} has an object to learn")
        highest = max((max(s.labels, default=0) for s in scenes), default=0)
        if options["num_classes"] and highest >= options["num_classes"]:
            raise DataError(
                f"{options['source']!r} has the label {highest}, but num_classes is {options['num_classes']}"
            )
        sides = 2 if train and options["flipped"] else 1
        order = self.make_order(len(scenes) * sides, bool(options["shuffle"]) and train)
        return self.make_loader(SceneSource(scenes, sides, options), order, 1)


def keep(scene: Scene, difficult: bool) -> Numpy:
    """Which objects of a scene are used."""
    return np.array([difficult or not hard for hard in scene.difficult], bool)
