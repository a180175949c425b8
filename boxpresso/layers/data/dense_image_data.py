"""DenseImageData: batches of images and of maps of labels, from a list of pairs of files."""

from __future__ import annotations

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
from ...proto import TransformationParameter
from .batches import BatchLayer, Numpy, stack


@dataclass
class PairSource(RecordSource):
    """Images and maps of labels of a list of pairs of files."""

    pairs: list[tuple[str, str]]
    param: Any  # a DenseImageDataParameter
    crop: tuple[int, int]  # height and width, 0 for none
    mirror: bool
    train: bool
    transform: Transform  # mean and scale
    layer: str

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy]:
        p, (first, second) = self.param, self.pairs[index]
        image = decode(Path((p.root_folder_image or p.root_folder) + first), p.is_color)
        label = decode(Path((p.root_folder_label or p.root_folder) + second), False, labels=True)
        if p.new_height:
            image = resize(image, p.new_width, p.new_height)
            label = resize(label, p.new_width, p.new_height, "NEAREST")
        if image.shape[:2] != label.shape[:2]:
            raise BrokenRecord(f"{first} has {image.shape[:2]} pixels, its labels {second} have {label.shape[:2]}")
        if self.crop[0]:
            rows, columns = image.shape[0] - self.crop[0], image.shape[1] - self.crop[1]
            if rows < 0 or columns < 0:
                raise BrokenRecord(f"{first} of {image.shape[:2]} pixels is smaller than the crop {self.crop}")
            y, x = (rng.integers(rows + 1), rng.integers(columns + 1)) if self.train else (rows // 2, columns // 2)
            image, label = (v[y : y + self.crop[0], x : x + self.crop[1]] for v in (image, label))
        if self.mirror and rng.random() < 0.5:
            image, label = image[:, ::-1], label[:, ::-1]
        if p.label_divide_factor > 1:
            height, width = (side // p.label_divide_factor for side in label.shape[:2])
            label = resize(np.ascontiguousarray(label), max(1, width), max(1, height), "NEAREST")
        values = self.transform(np.ascontiguousarray(image), rng)[0]
        return values, label.reshape(1, *label.shape[:2]).astype(np.float32)

    def collate(self, samples: Sequence[tuple[Numpy, Numpy]]) -> list[Numpy]:
        return [stack([sample[i] for sample in samples], self.layer) for i in (0, 1)]

    def name(self, index: int) -> str:
        return self.pairs[index][0]


class DenseImageData(
    BatchLayer, type="DenseImageData", param=("dense_image_data_param", "transform_param"), bottoms=0, tops=2
):
    """Batches of images and of maps with a label for each pixel, from a list of pairs of files.

    Pairs come in the order of the list, round after round; `shuffle` draws another order for each round. An image and its
    labels are cut and mirrored alike: in TRAIN at random, in TEST a crop is central; `mirror` counts in both phases. Labels
    are the values of a grey picture; they are resized to the nearest pixel. A pair that cannot be read is named in a warning
    and left out.

    Parameters
    ----------
    dense_image_data_param
        `source` (required): a text file; each line holds the paths of an image and of its labels. `root_folder` (""), or
        `root_folder_image` and `root_folder_label`: go before the paths. `batch_size` (1), `shuffle` (false), `rand_skip`
        (0), `new_height` and `new_width` (0), `is_color` (true), `crop_height` and `crop_width` (0), `mirror` (false),
        `label_divide_factor` (1): how many times smaller the labels' sides are.
    transform_param
        `crop_size` and `mirror` as above; `mean_value`, `mean_file` and `scale`, of the image alone.

    Returns
    -------
    top 0
        (batch, channels, height, width), the images.
    top 1
        (batch, 1, height, width), the labels.

    Raises
    ------
    LayerError
        For a missing source, parameters that do not fit, or a list that cannot be read.

    Source
    ------
    SegNet's Caffe; ENet's for crop_height, label_divide_factor and the two folders. SegNet's refuses crops and mirroring.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "DenseImageData" top: "data" top: "label"
    ...     dense_image_data_param { source: "train.txt" batch_size: 4 new_height: 360 new_width: 480 } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((4, 3, 360, 480), (4, 1, 360, 480))
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.dense_image_data_param, self.param.transform_param
        self.need(p.source, "give dense_image_data_param { source: .. }, the list of pairs")
        self.batch = p.batch_size or 1
        self.need(bool(p.new_height) == bool(p.new_width), "new_height and new_width go together")
        self.need(bool(p.crop_height) == bool(p.crop_width), "crop_height and crop_width go together")
        self.need(p.label_divide_factor > 0, "label_divide_factor must be 1 or more")
        self.need(not t.resize_param and not t.noise_param, "transform_param takes no resize_param or noise_param here")
        self.crop = (p.crop_height or t.crop_h or t.crop_size, p.crop_width or t.crop_w or t.crop_size)
        self.mirror = p.mirror or t.mirror
        plain = TransformationParameter()
        plain.CopyFrom(t)
        for name in ("crop_size", "crop_h", "crop_w", "mirror"):
            plain.ClearField(name)
        if p.mean_file and not plain.mean_file:
            plain.mean_file = p.mean_file
        try:
            self.plain = Transform(plain, "TEST")
        except DataError as error:
            self.need(False, str(error))
        size = self.crop if self.crop[0] else (p.new_height, p.new_width)
        channels = 3 if p.is_color else 1
        if size[0]:
            few = [side // p.label_divide_factor for side in size]
            shapes = [(channels, *size), (1, *few)]
        else:
            shapes = [part.shape for part in self.first()]  # its images tell
        for blob, shape in zip(top, shapes):
            blob.reshape(self.batch, *shape)

    def open(self) -> Loader:
        p = self.param.dense_image_data_param
        pairs = []
        for number, line in enumerate(read_lines(p.source, "the list", "list `image labels` in each line"), 1):
            parts = line.split()
            if parts and len(parts) != 2:
                raise DataError(f"{p.source}, line {number}: it must be `image labels`, it is {words_of(line)}")
            if parts:
                pairs.append((parts[0], parts[1]))
        train = self.phase == "TRAIN"
        source = PairSource(pairs, p, self.crop, self.mirror, train, self.plain, str(self))
        return self.make_loader(source, self.make_order(len(pairs), p.shuffle, p.rand_skip), self.batch)
