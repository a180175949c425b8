"""ImageData: batches of pictures and labels from a list of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.folders import read_list
from ...data.loader import Loader, RecordSource
from ...data.picture import decode, resize
from ...data.transform import Transform
from ...device import Blob
from .batches import BatchLayer, Numpy, stack


@dataclass
class FileSource(RecordSource):
    """Pictures and labels of a list of files."""

    lines: list[tuple[str, int]]
    param: Any  # an ImageDataParameter
    transform: Transform
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, int]:
        path, label = self.lines[index]
        picture = decode(Path(self.param.root_folder + path), self.param.is_color)
        if self.param.new_height:
            picture = resize(picture, self.param.new_width, self.param.new_height)
        return self.transform(picture, rng)[0], label

    def collate(self, samples: Sequence[tuple[Numpy, int]]) -> list[Numpy]:
        pictures = stack([picture for picture, _ in samples], self.layer)
        return [pictures, np.array([label for _, label in samples], np.float32)][: self.tops]

    def name(self, index: int) -> str:
        return self.lines[index][0]


class ImageData(BatchLayer, type="ImageData", param=("image_data_param", "transform_param"), bottoms=0, tops=(1, 2)):
    """Batches of pictures and labels from a list of files.

    Pictures come in the order of the list, round after round; `shuffle` draws another order for each round. A picture
    that cannot be read is named in a warning and left out. The pictures are opened when the first batch is asked for,
    or when only they know a shape.

    Parameters
    ----------
    image_data_param
        `source` (required): a text file; each line is a path and a label. `root_folder` (""): goes before each path.
        `batch_size` (1). `shuffle` (false). `rand_skip` (0): start at a line whose number is drawn below it.
        `new_height`, `new_width` (0): the size to resize to, both or none. `is_color` (true): false makes pictures
        grey.
    transform_param
        As for Data.

    Returns
    -------
    top 0
        (batch, channels, height, width), the pictures.
    top 1
        Optional. (batch), the labels.

    Raises
    ------
    LayerError
        For a missing source, parameters that do not fit, or a list that cannot be read.

    Source
    ------
    Caffe.

    Examples
    --------
    The shapes are known before the pictures are opened:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "ImageData" top: "data" top: "label"
    ...     image_data_param { source: "list.txt" root_folder: "images/" batch_size: 32 new_height: 256 new_width: 256 }
    ...     }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((32, 3, 256, 256), (32,))
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.image_data_param
        self.need(param.source, "give image_data_param { source: .. }, the list of pictures")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.need(bool(param.new_height) == bool(param.new_width), "new_height and new_width go together")
        self.transform = self.make_transform()
        self.count = len(top)
        channels = 3 if param.is_color else 1
        shape = self.transform.shape(channels)
        if shape is None and param.new_height and self.transform.resize is None:
            shape = (channels, param.new_height, param.new_width)
        if shape is None:
            shape = self.first()[0].shape  # its pictures tell
        top[0].reshape(param.batch_size, *shape)
        if len(top) > 1:
            top[1].reshape(param.batch_size)

    def open(self) -> Loader:
        param = self.param.image_data_param
        lines = read_list(param.source)
        source = FileSource(lines, param, self.transform, str(self), self.count)
        order = self.make_order(len(lines), param.shuffle, param.rand_skip)
        return self.make_loader(source, order, param.batch_size)
