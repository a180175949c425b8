"""YoloData: batches of images with a grid of what their cells have to find, as YOLO's first version learns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.lines import read_lines, words_of
from ...data.loader import Loader, RecordSource
from ...data.picture import decode, resize
from ...data.transform import Transform
from ...device import Blob
from .batches import BatchLayer, Numpy, stack

NUMBER = r"\s*([-+.\deE]+)\s*"
BOX = re.compile(rf"\s*\[{NUMBER},{NUMBER},{NUMBER},{NUMBER}\]\s+(-?\d+)(?=\s|$)")


def read_boxes(source: str) -> list[tuple[str, Numpy]]:
    """The path and the boxes (N, 5), x, y, width, height, class, of each line. Raises DataError that names file and line."""
    form = "`image [x, y, width, height] class [..] class ..`"
    items = []
    for number, line in enumerate(read_lines(source, "the list", f"have lines {form}"), 1):
        path, _, rest = line.strip().partition(" ")
        if not path:
            continue
        rows, at = [], 0
        while at < len(rest.rstrip()):
            match = BOX.match(rest, at)
            try:
                rows.append([float(word) for word in match.groups()] if match else [])
            except ValueError:
                match = None
            if match is None:
                raise DataError(f"{source}, line {number}: it must be {form}, it has {words_of(rest[at:])}")
            at = match.end()
        items.append((path, np.array(rows, np.float32).reshape(-1, 5)))
    if not items:
        raise DataError(f"the list {source!r} is empty")
    return items


@dataclass
class YoloSource(RecordSource):
    """Images and boxes of a list."""

    items: list[tuple[str, Numpy]]
    param: Any  # a YoloDataParameter
    transform: Transform  # mean and scale
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy]:
        p, (path, boxes) = self.param, self.items[index]
        image = decode(Path(p.root_folder + path), p.is_color)
        height, width = image.shape[:2]
        grid = np.zeros((5, p.num_sides, p.num_sides), np.float32)
        for x, y, wide, high, label in boxes:
            box = np.array([(x + wide / 2) / width, (y + high / 2) / height, wide / width, high / height], np.float32)
            column, row = np.floor(box[:2] * p.num_sides).astype(int)
            if not (0 <= column < p.num_sides and 0 <= row < p.num_sides):
                raise BrokenRecord(
                    f"{path} of {width}x{height} has the box [{x:g}, {y:g}, {wide:g}, {high:g}], whose centre is in no cell"
                )
            grid[:, row, column] = [label, *box]
        if p.new_height:
            image = resize(image, p.new_width, p.new_height)
        return self.transform(image, rng)[0], grid

    def collate(self, samples: Sequence[tuple[Numpy, Numpy]]) -> list[Numpy]:
        images = stack([image for image, _ in samples], self.layer)
        return [images, np.stack([grid for _, grid in samples])][: self.tops]

    def name(self, index: int) -> str:
        return self.items[index][0]


class YoloData(BatchLayer, type="YoloData", param=("yolo_data_param", "transform_param"), bottoms=0, tops=(1, 2)):
    """Batches of images and of grids, each cell of which has the box whose centre lies in it, and its class.

    Images come in the order of the list, round after round; `shuffle` draws another order for each round. Of two boxes in
    one cell, the later counts. A file that cannot be used is an error that names it.

    Parameters
    ----------
    yolo_data_param
        `source` (required): a text file; each line is `image [x, y, width, height] class [..] class ..`, in pixels.
        `root_folder` (""): goes before each path. `batch_size` (1), `shuffle` (false), `rand_skip` (0), `new_height`,
        `new_width` (0), `is_color` (true). `num_sides` (required): cells of each side. `num_predictions`: without effect.
    transform_param
        `mean_value` or `mean_file`, and `scale`. It may not crop, mirror or resize: boxes would not follow.

    Returns
    -------
    top 0
        (batch, channels, height, width), the images.
    top 1
        Optional. (batch, 5, num_sides, num_sides): class; x and y of the centre, width and height as fractions of the image;
        0 in cells without a box.

    Raises
    ------
    LayerError
        For a missing source or num_sides, parameters that do not fit, a list or a picture that cannot be read, or a box
        whose centre is outside its image.

    Source
    ------
    geshiming/caffe-yolo, which crops and mirrors images without their boxes.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "YoloData" top: "data" top: "label"
    ...     yolo_data_param { source: "list.txt" batch_size: 2 new_height: 448 new_width: 448 num_sides: 7 } }'''),
    ...     device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((2, 3, 448, 448), (2, 5, 7, 7))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.yolo_data_param, self.param.transform_param
        self.need(p.source, "give yolo_data_param { source: .. }, the list of images")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(p.num_sides > 0, f"num_sides must be 1 or more, got {p.num_sides}")
        self.need(bool(p.new_height) == bool(p.new_width), "new_height and new_width go together")
        moved = t.mirror or t.crop_size or t.crop_h or t.crop_height or t.resize_param or t.noise_param
        self.need(not moved, "transform_param may not crop, mirror or resize: the boxes would not follow")
        self.transform, self.count = self.make_transform(), len(top)
        shape = (3 if p.is_color else 1, p.new_height, p.new_width)
        if not p.new_height:
            shape = self.first()[0].shape  # its images tell
        for blob, own in zip(top, (shape, (5, p.num_sides, p.num_sides))):
            blob.reshape(p.batch_size, *own)

    def open(self) -> Loader:
        p = self.param.yolo_data_param
        items = read_boxes(p.source)
        source = YoloSource(items, p, self.transform, str(self), self.count)
        return self.make_loader(source, self.make_order(len(items), p.shuffle, p.rand_skip), p.batch_size)
