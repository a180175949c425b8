"""ImageSegData: DeepLab's batches of images and of maps of labels, at random scales, with a margin where a crop is larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.picture import decode, resize
from ...proto.limits import LIMITS
from .batches import Numpy
from .pairs import PairData, PairSource, need_same_size, read_pairs, resized

Sample = tuple[Numpy, Numpy, tuple[int, int]]


@dataclass
class SegSource(PairSource):
    """Images of a list, and what the list says of their pixels."""

    train: bool
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> Sample:
        path, second = self.param.root_folder + self.pairs[index][0], self.pairs[index][1]
        image = resized(decode(Path(path), self.param.is_color), self.param)
        size = image.shape[:2]
        labels = self.labels(image, path, second)
        mirror = bool(self.geometry.mirror and rng.integers(2))
        if self.geometry.scale_factors:
            factor = np.float32(self.geometry.scale_factors[rng.integers(len(self.geometry.scale_factors))])
            height, width = (int(np.float32(side) * factor) for side in size)
            if height < 1 or width < 1 or height * width > LIMITS.picture_pixels:
                raise BrokenRecord(f"{path} of {size[1]}x{size[0]} becomes {width}x{height} by the scale {factor:g}")
            image, labels = resize(image, width, height), resize(labels, width, height, "NEAREST")
        values, marks = self.transform(image, rng)[0], labels.transpose(2, 0, 1).astype(np.float32)
        missing = [max(wanted - side, 0) for wanted, side in zip(self.crop, image.shape)]
        if any(missing):
            # Below and to the right; the mean of the image is 0 now.
            margin = (0, 0), (0, missing[0]), (0, missing[1])
            values = np.pad(values, margin)
            marks = np.pad(marks, margin, constant_values=min(max(self.param.ignore_label, 0), 255))
        values, marks = self.cut((values, marks), mirror, rng if self.train else None)
        return values, marks, (min(values.shape[1], size[0]), min(values.shape[2], size[1]))

    def labels(self, image: Numpy, path: str, second: str) -> Numpy:
        """(H, W, 1), bytes."""
        kind = self.param.label_type
        if kind == self.param.PIXEL:
            where = self.param.root_folder + second
            labels = resized(decode(Path(where), False, labels=True), self.param)
            need_same_size(image, path, labels, where)
            return labels
        value = int(second) if kind == self.param.IMAGE else self.param.ignore_label
        return np.full((*image.shape[:2], 1), min(max(value, 0), 255), np.uint8)

    def collate(self, samples: Sequence[Sequence[Any]]) -> list[Numpy]:
        sizes = np.array([sample[2] for sample in samples], np.float32).reshape(-1, 1, 1, 2)
        return [*super().collate(samples), sizes][: self.tops]


class ImageSegData(
    PairData, type="ImageSegData", param=("image_data_param", "transform_param"), bottoms=0, tops=(1, 3)
):
    """Batches of images and of maps with a label for each pixel, from a list.

    Images come in the order of the list, round after round; `shuffle` draws another order for each round. An image is
    resized to new_height and new_width, then by one of `scale_factors`; where the crop is larger, it gets a margin
    below and to the right, of the mean in the image and of `ignore_label` in the labels; then it is cut, in TRAIN at
    random, in TEST in the middle, and mirrored. Labels follow: new_height and new_width resize them linearly, as the
    image, scale_factors to the nearest pixel. Labels are the values of a grey picture; one with a palette is read by
    its colours, as OpenCV reads it. A file that cannot be used is an error that names it.

    Parameters
    ----------
    image_data_param
        `source` (required): a text file; each line holds the path of an image and, by `label_type`, PIXEL: that of a
        picture of its labels, IMAGE (the default): one label for all its pixels, NONE: nothing, and all pixels have
        `ignore_label` (255). `root_folder` (""): goes before each path. `batch_size` (1), `shuffle` (false),
        `rand_skip` (0), `new_height`, `new_width` (0), `is_color` (true).
    transform_param
        `crop_size`, or `crop_height` and `crop_width`; `scale_factors`, of which one is drawn; `mirror` (false), in
        both phases; `mean_value` and `scale`, of the image alone.

    Returns
    -------
    top 0
        (batch, channels, height, width), the images.
    top 1
        Optional. (batch, 1, height, width), the labels.
    top 2
        Optional. (batch, 1, 1, 2), height and width of each image before it was scaled, at most those of the top.

    Raises
    ------
    LayerError
        For a missing source, a `mean_file`, parameters that do not fit, a list that cannot be read, a picture that
        cannot be read, or labels of another size.

    Source
    ------
    DeepLab's Caffe, as PSPNet, ICNet and caffe_latte have it.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "ImageSegData" top: "data" top: "label"
    ...     image_data_param { source: "train.txt" root_folder: "VOC2012" batch_size: 4 label_type: PIXEL }
    ...     transform_param { crop_size: 321 mirror: true scale_factors: 0.5 scale_factors: 1 mean_value: 104 } }'''),
    ...     device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((4, 3, 321, 321), (4, 1, 321, 321))
    """

    listed = "images"

    def check(self) -> None:
        p, t = self.param.image_data_param, self.param.transform_param
        self.need(not t.mean_file, "takes no mean_file; give mean_value")
        self.need(not t.resize_param and not t.noise_param, "transform_param takes no resize_param or noise_param here")
        self.need(
            all(0 < v < 1e4 for v in t.scale_factors), f"scale_factors must be above 0, got {list(t.scale_factors)}"
        )
        channels = 3 if p.is_color else 1
        self.need(
            len(t.mean_value) in (0, 1, channels), f"give mean_value once, or for each of the {channels} channels"
        )

    def make_source(self) -> SegSource:
        p = self.param.image_data_param
        second = {p.PIXEL: "labels", p.IMAGE: "label", p.NONE: ""}[p.label_type]
        pairs = read_pairs(p.source, second)
        for number, (_, label) in enumerate(pairs if p.label_type == p.IMAGE else (), 1):
            if not label.lstrip("+-").isdecimal():
                raise DataError(
                    f"{p.source}: the label of picture {number} of the list is no number; is label_type PIXEL?"
                )
        train, geometry = self.phase == "TRAIN", self.param.transform_param
        return SegSource(pairs, p, geometry, self.crop, self.plain, str(self), train, self.count)
