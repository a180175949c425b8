"""What layers share that read images with a map of labels each: lists, settings, and crops that are alike for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.lines import read_lines, words_of
from ...data.loader import Loader, RecordSource
from ...data.picture import decode, resize
from ...data.transform import Transform
from ...device import Blob
from ...proto import TransformationParameter
from .batches import BatchLayer, Numpy, stack

GEOMETRY = ("crop_size", "crop_h", "crop_w", "crop_width", "crop_height", "mirror", "scale_factors")


def read_pairs(source: str, second: str = "labels") -> list[tuple[str, str]]:
    """The two words of each line of a text; `second` says what the second is, and where it is empty, it may be missing.

    Raises
    ------
    DataError that names file and line.
    """
    form = f"image {second}".rstrip()
    pairs = []
    for number, line in enumerate(read_lines(source, "the list", f"list `{form}` in each line"), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2 and (second or len(words) > 2):
            raise DataError(f"{source}, line {number}: it must be `{form}`, it is {words_of(line)}")
        pairs.append((words[0], words[1] if len(words) > 1 else ""))
    if not pairs:
        raise DataError(f"the list {source!r} is empty")
    return pairs


def without_geometry(param: Any) -> Any:
    """A TransformationParameter that leaves sizes as they are: mean and scale alone."""
    plain = TransformationParameter()
    plain.CopyFrom(param)
    for name in GEOMETRY:
        plain.ClearField(name)
    return plain


def crop_of(param: Any) -> tuple[int, int]:
    """Height and width of the crop that a TransformationParameter asks for; 0 and 0 for none. Raises DataError."""
    pairs = [(param.crop_height, param.crop_width), (param.crop_h, param.crop_w)]
    if any(bool(height) != bool(width) for height, width in pairs):
        raise DataError("transform_param: crop_height and crop_width go together")
    sizes = [pair for pair in [(param.crop_size, param.crop_size), *pairs] if pair[0]]
    if len(sizes) > 1:
        raise DataError("transform_param: give crop_size, or crop_height and crop_width")
    return sizes[0] if sizes else (0, 0)


def read_pair(image: str, labels: str, param: Any) -> tuple[Numpy, Numpy]:
    """An image and its labels (H, W, 1), of the size that an ImageDataParameter asks for. Raises BrokenRecord."""
    picture, map_ = decode(Path(image), param.is_color), decode(Path(labels), False, labels=True)
    need_same_size(picture, image, map_, labels)
    return resized(picture, param), resized(map_, param)


def resized(picture: Numpy, param: Any) -> Numpy:
    """Of new_width and new_height where they are given, linear, labels too, as Caffe's readers do."""
    return resize(picture, param.new_width, param.new_height) if param.new_height else picture


def need_same_size(picture: Numpy, image: str, map_: Numpy, labels: str) -> None:
    (height, width), (high, wide) = picture.shape[:2], map_.shape[:2]
    if (height, width) != (high, wide):
        raise BrokenRecord(f"{image} is {width}x{height}, its labels {labels} are {wide}x{high}")


def windows(shape: tuple[int, ...], size: tuple[int, int], rng: np.random.Generator | None) -> tuple[slice, slice]:
    """The rows and columns of a crop: drawn, or central without a generator; all of them without a size."""
    if not size[0]:
        return slice(None), slice(None)
    room = [side - part for side, part in zip(shape, size)]
    y, x = (int(rng.integers(free + 1)) if rng is not None else free // 2 for free in room)
    return slice(y, y + size[0]), slice(x, x + size[1])


@dataclass
class PairSource(RecordSource):
    """Images of a list, and what the list says of their pixels. A subclass's `load` gives both first."""

    pairs: list[tuple[str, str]]
    param: Any  # an ImageDataParameter
    geometry: Any  # a TransformationParameter
    crop: tuple[int, int]
    transform: Transform  # mean and scale
    layer: str

    def cut(self, parts: Sequence[Numpy], mirror: bool, rng: np.random.Generator | None) -> list[Numpy]:
        """The same window of all parts (C, H, W), drawn, or central without a generator."""
        rows, columns = windows(parts[0].shape[1:], self.crop, rng)
        step = slice(None, None, -1) if mirror else slice(None)
        return [np.ascontiguousarray(part[:, rows, columns][..., step]) for part in parts]

    def collate(self, samples: Sequence[Sequence[Any]]) -> list[Numpy]:
        return [stack([sample[i] for sample in samples], self.layer) for i in (0, 1)]

    def name(self, index: int) -> str:
        return self.pairs[index][0]


class PairData(BatchLayer):
    """Batches of images and maps of labels, by image_data_param and transform_param."""

    listed: ClassVar[str] = "pairs"  # what the list is of
    _refuse_broken = True  # as the layers that these are taken from

    def check(self) -> None:
        """Raises LayerError for settings that the layer does not take."""

    def make_source(self) -> PairSource:
        """Reads the list."""
        raise NotImplementedError(f"{self} has no make_source")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.image_data_param, self.param.transform_param
        self.need(p.source, f"give image_data_param {{ source: .. }}, the list of {self.listed}")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(bool(p.new_height) == bool(p.new_width), "new_height and new_width go together")
        self.check()
        try:
            self.crop, self.plain = crop_of(t), Transform(without_geometry(t), "TEST")
        except DataError as error:
            self.need(False, str(error))
        self.count = len(top)
        size = self.crop if self.crop[0] else () if t.scale_factors else (p.new_height, p.new_width)
        if not size or not size[0]:
            size = self.first()[0].shape[1:]  # its images tell
        for blob, shape in zip(top, ((3 if p.is_color else 1, *size), (1, *size), (1, 1, 2))):
            blob.reshape(p.batch_size, *shape)

    def open(self) -> Loader:
        p, source = self.param.image_data_param, self.make_source()
        return self.make_loader(source, self.make_order(len(source.pairs), p.shuffle, p.rand_skip), p.batch_size)
