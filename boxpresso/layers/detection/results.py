"""Detections written to files, as Caffe's DetectionOutput does for the VOC, COCO and ILSVRC servers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...proto import LabelMap, parse_text
from ...proto.errors import LayerError, ModelError
from ...proto.reading import read_file

FORMATS = ("VOC", "COCO", "ILSVRC")


class Results:
    """Collects detections image by image and writes them after every `num_test_image` images.

    param: a SaveOutputParameter. name_size_file names the images in the order in which they come, a line `name height
    width` each; label_map_file names the classes. VOC: prefix + class.txt for each class but the background, lines
    `image score xmin ymin xmax ymax` in whole pixels. ILSVRC: prefix.txt, lines `image label score xmin ...`. COCO:
    prefix.json, a list of {image_id, category_id, bbox: [x, y, width, height], score}. The directory is created when the
    first file is written; unlike Caffe nothing is removed from it. Raises LayerError for files that cannot be read.
    """

    def __init__(self, param: Any, background: int) -> None:
        self.param, self.background = param, background
        if param.output_format not in FORMATS:
            raise LayerError(f"output_format must be one of {', '.join(FORMATS)}, got {param.output_format!r}")
        try:
            text = read_file(param.label_map_file, "text_bytes")
            labels = parse_text(text, LabelMap(), source=param.label_map_file)
            lines = read_file(param.name_size_file).decode("utf-8").split()
        except (ModelError, UnicodeDecodeError) as error:
            raise LayerError(str(error)) from error
        self.labels = {item.label: item.name for item in labels.item}
        if len(lines) % 3 or not lines:
            raise LayerError(f"name_size_file {param.name_size_file!r} must hold lines `name height width`")
        rows = list(zip(*[iter(lines)] * 3, strict=True))
        if not all(is_size(height) and is_size(width) for _, height, width in rows):
            raise LayerError(f"name_size_file {param.name_size_file!r} must hold lines `name height width`")
        self.images = [(name, int(height), int(width)) for name, height, width in rows]
        self.period = param.num_test_image if param.HasField("num_test_image") else len(self.images)
        if not 0 < self.period <= len(self.images):
            raise LayerError(f"num_test_image is {self.period}, but {param.name_size_file!r} names {len(self.images)}")
        self.seen = 0
        self.detections: list[dict[str, Any]] = []

    def add(self, rows: Iterable[np.ndarray]) -> None:
        """The detections of the next image: rows (label, score, xmin, ymin, xmax, ymax) as fractions of it."""
        name, height, width = self.images[self.seen]
        for label, score, *corners in rows:
            box = self.in_image(np.array(corners, np.float32), height, width)
            box[2:] -= box[:2]
            if int(label) not in self.labels:
                raise LayerError(f"label {int(label)} is not in the label map {self.param.label_map_file!r}")
            self.detections.append(
                {
                    "image_id": name,
                    "category_id": int(label),
                    "bbox": [round(float(v), 2) for v in box],
                    "score": float(score),
                }
            )
        self.seen += 1
        if self.seen == self.period:
            self.write()
            self.seen, self.detections = 0, []

    def in_image(self, box: np.ndarray, height: int, width: int) -> np.ndarray:
        """The box in pixels of the original image, which resize_param may have fitted into another shape."""
        return in_image(box, height, width, self.param.resize_param if self.param.HasField("resize_param") else None)

    def write(self) -> None:
        """Writes the files of the detections that were added."""
        folder, prefix = Path(self.param.output_directory), self.param.output_name_prefix
        folder.mkdir(parents=True, exist_ok=True)

        def write(name: str, text: str) -> None:
            if Path(name).name != name:
                raise LayerError(f"detections are written into {folder}, but the file's name would be {name!r}")
            (folder / name).write_text(text, encoding="utf-8")

        if self.param.output_format == "COCO":
            named = [{**one, "category_id": number(self.labels[one["category_id"]])} for one in self.detections]
            text = json.dumps([{**one, "image_id": number(one["image_id"])} for one in named], indent=1)
            write(f"{prefix}.json", text + "\n")
        elif self.param.output_format == "ILSVRC":
            text = "".join(line(one, f"{one['category_id']} ") for one in self.detections)
            write(f"{prefix}.txt", text)
        else:
            for label, name in self.labels.items():
                if label != self.background:
                    text = "".join(line(one, "") for one in self.detections if one["category_id"] == label)
                    write(f"{prefix}{name}.txt", text)


def is_size(text: str) -> bool:
    """Whether a text is a number of pixels, from 1."""
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0


def in_image(box: np.ndarray, height: int, width: int, resize: Any = None) -> np.ndarray:
    """A box, as fractions of the net's input, in pixels of the original image, clipped to it.

    resize: the ResizeParameter that fitted the image into the input, or None for one that was stretched.
    """
    image = np.array([width, height] * 2, np.float32)
    if (
        resize is not None
        and resize.resize_mode == resize.FIT_SMALL_SIZE
        and resize.height_scale
        and resize.width_scale
    ):
        return np.asarray(np.clip(box * np.array([resize.width_scale, resize.height_scale] * 2, np.float32), 0, image))
    if resize is not None and resize.resize_mode == resize.FIT_LARGE_SIZE_AND_PAD:
        aspect, wanted = width / height, resize.width / resize.height
        used = np.array([min(1, aspect / wanted), min(1, wanted / aspect)] * 2, np.float32)
        box = (box - (1 - used) / 2) / used
    return np.asarray(np.clip(box, 0, 1) * image)


def line(detection: dict[str, Any], label: str) -> str:
    """A detection as VOC's and ILSVRC's files have it: corners in whole pixels."""
    x, y, width, height = map(int, detection["bbox"])
    return f"{detection['image_id']} {label}{detection['score']:.6g} {x} {y} {x + width} {y + height}\n"


def number(text: str) -> int | str:
    """COCO's ids are numbers; other names stay as they are."""
    return int(text) if text.isdecimal() else text
