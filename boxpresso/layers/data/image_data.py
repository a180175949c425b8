"""ImageData: batches of pictures and labels from a list of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.folders import read_list
from ...data.loader import Loader, Source
from ...data.picture import decode, resize
from ...data.transform import Transform
from ...device import Blob
from .batches import BatchLayer, Numpy, stack


@dataclass
class FileSource(Source):
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
    """Pictures (batch, channels, height, width), and labels (batch).

    image_data_param { source: "list.txt" batch_size: 32 root_folder: "images/" shuffle: true new_height: 256 new_width: 256 }:
    each line of source is a path, which root_folder goes before, and a label. is_color: false makes them grey. transform_param
    as for Data. A picture that cannot be read is named in a warning and left out. Source: Caffe.
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
