"""ImageLabelData: batches of images and of maps of labels, from two lists of files or from two data bases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.lines import read_lines
from ...data.loader import Loader, RecordSource
from ...data.picture import decode, pad, resize
from ...data.records import Records, open_records, parse, picture_of
from ...data.transform import Transform
from ...device import Blob
from ...proto import Datum
from ...proto.limits import LIMITS
from .batches import BatchLayer, Numpy, stack
from .pairs import crop_of, need_same_size, windows, without_geometry

NO_LABEL = 255  # of pixels beyond the image
Items = Union[Sequence[str], Records]


def bordered(picture: Numpy, size: tuple[int, int], margin: tuple[int, int], fill: int | None, centred: bool) -> Numpy:
    """A margin on all sides, then a border where it is smaller than `size`; fill: of what value, None mirrors the image.

    >>> bordered(np.ones((1, 2, 1), np.uint8), (2, 3), (0, 0), 9, True)[..., 0].tolist()
    [[9, 1, 1], [9, 9, 9]]
    """
    mode, value = ("MIRRORED" if fill is None else "CONSTANT"), np.array([fill or 0])
    if any(margin):
        picture = pad(picture, margin[0], margin[0], margin[1], margin[1], mode, value)
    high, wide = (max(0, wanted - side) for wanted, side in zip(size, picture.shape))
    if high or wide:
        # Where it is not even, the larger part is below and on the left.
        top, left = (high // 2, wide - wide // 2) if centred else (0, 0)
        picture = pad(picture, top, high - top, left, wide - left, mode, value)
    return picture


@dataclass
class LabelledImages(RecordSource):
    """Images and maps of labels, each of them a file of a list or a record of a data base."""

    images: Items
    labels: Items
    folders: tuple[str, str]
    param: Any  # an ImageLabelDataParameter
    geometry: Any  # a TransformationParameter
    crop: tuple[int, int]
    part: tuple[slice, slice]  # of a map of labels, that the top has
    transform: Transform  # mean and scale
    train: bool
    layer: str

    def read(self, items: Items, index: int, folder: str, labels: bool) -> Numpy:
        if isinstance(items, Records):
            name = items.name(index)
            datum = parse(Datum(), items[index], name)
            picture = picture_of(datum, None if labels else self.transform.color, name)
            return picture[..., :1] if labels else picture
        color = not labels and self.transform.color is not False
        return decode(Path(folder + items[index]), color, labels=labels)

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy]:
        p, (first, second) = self.param, self.folders
        image, labels = self.read(self.images, index, first, False), self.read(self.labels, index, second, True)
        need_same_size(image, self.name(index), labels, f"of {self.name(index)}")
        if p.rand_scale:
            factor = rng.uniform(p.min_scale, p.max_scale)
            height, width = (max(1, round(side * factor)) for side in image.shape[:2])
            if height * width > LIMITS.picture_pixels:
                raise BrokenRecord(f"{self.name(index)} becomes {width}x{height} by the scale {factor:g}")
            image = resize(image, width, height, "CUBIC" if factor > 1 else "AREA")
            labels = resize(labels, width, height, "NEAREST")
        margin = tuple([*p.label_slice.offset, 0, 0][:2])
        filled = 0 if p.padding == p.ZERO else None
        image = bordered(image, self.crop, margin, filled, p.pad_centre)
        labels = bordered(labels, self.crop, margin, NO_LABEL, p.pad_centre)
        rows, columns = windows(image.shape, self.crop, rng if self.train else None)
        mirror = bool(self.geometry.mirror and rng.integers(2))
        step = slice(None, None, -1 if mirror else 1)
        image, labels = (np.ascontiguousarray(each[rows, columns][:, step]) for each in (image, labels))
        values = self.transform(image, rng)[0]
        return values, labels[self.part].transpose(2, 0, 1).astype(np.float32)

    def collate(self, samples: Sequence[tuple[Numpy, Numpy]]) -> list[Numpy]:
        return [stack([sample[i] for sample in samples], self.layer) for i in (0, 1)]

    def name(self, index: int) -> str:
        return self.images.name(index) if isinstance(self.images, Records) else self.images[index]


class ImageLabelData(
    BatchLayer, type="ImageLabelData", param=("image_label_data_param", "transform_param"), bottoms=0, tops=2
):
    """Batches of images and of maps with a label for each pixel, from two lists of files or from two data bases.

    Pairs come in the order of the lists, round after round; `shuffle` draws another order for each round. An image and its map
    are scaled by one factor, get a margin of label_slice's offset on all sides, and a border where the crop is larger, of 255
    in the labels; then they are cut and mirrored alike, in TRAIN at random, in TEST in the middle. What `label_slice` says of
    the crop of the map is the top. Labels are the values of a grey picture.

    Parameters
    ----------
    image_label_data_param
        `image_list_path` and `label_list_path` (required): text files with one path in each line; or, where `backend` is given,
        LMDBs of Datums. `image_dir` and `label_dir`, or `data_dir` for both: go before each path. `batch_size` (1), `shuffle`
        (false), `rand_skip` (0). `rand_scale` (false): images are scaled by a number from `min_scale` (1) to `max_scale` (1),
        by cubic interpolation or, below 1, by areas; labels to the nearest pixel. `padding` (REFLECT): of margins and borders
        of images, which ZERO makes 0. `pad_centre` (true): whether a border lies on all sides, or below and on the right.
        `label_slice { dim: H dim: W stride: 8 stride: 8 offset: 93 offset: 93 }`: every `stride`th row and column of the crop
        from `offset` on; the whole crop without it. `threads` has no effect.
    transform_param
        `crop_size`, or `crop_height` and `crop_width`; `mirror` (false), in both phases; `mean_value` or `mean_file`, and
        `scale`, of the image alone.

    Returns
    -------
    top 0
        (batch, channels, height, width), the images.
    top 1
        (batch, 1, H, W), the labels.

    Raises
    ------
    LayerError
        For a missing list, lists of different lengths, parameters that do not fit, a file that cannot be read, or labels of
        another size.

    Source
    ------
    fyu/caffe-dilation (Yu and Koltun 2016) and its copies; caffe-jacinto of Texas Instruments for data bases;
    torrvision/caffe-tvg, whose changes of colours and rotations are passed over with a warning.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "ImageLabelData" top: "data" top: "label"
    ...     transform_param { crop_size: 500 mirror: true mean_value: 104 }
    ...     image_label_data_param { image_list_path: "train_image.txt" label_list_path: "train_label.txt" batch_size: 2
    ...         label_slice { dim: 40 dim: 40 stride: 8 stride: 8 offset: 93 offset: 93 } } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((2, 3, 500, 500), (2, 1, 40, 40))
    """

    _refuse_broken = True

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.image_label_data_param, self.param.transform_param
        self.need(
            p.image_list_path and p.label_list_path,
            "give image_label_data_param { image_list_path: .. label_list_path: .. }, the lists of images and of labels",
        )
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(0 < p.min_scale <= p.max_scale < 1e4, "min_scale must be above 0, and max_scale no less")
        self.need(not t.resize_param and not t.noise_param, "transform_param takes no resize_param or noise_param here")
        try:
            self.crop, self.plain = crop_of(t), Transform(without_geometry(t), "TEST")
        except DataError as error:
            self.need(False, str(error))
        part = p.label_slice
        for name in ("dim", "stride", "offset"):
            self.need(len(getattr(part, name)) in (0, 2), f"label_slice: give {name} twice, for rows and for columns")
        begins, steps = [*part.offset, 0, 0][:2], [*part.stride, 1, 1][:2]
        self.need(not part.dim or all([*part.dim, *steps]), "label_slice: dim and stride must be 1 or more")
        ends = [begin + step * dim for begin, step, dim in zip(begins, steps, part.dim)] or [None, None]
        self.part = slice(begins[0], ends[0], steps[0]), slice(begins[1], ends[1], steps[1])
        channels = 1 if self.plain.color is False else 3
        shape = (channels, *self.crop) if self.crop[0] else self.first()[0].shape  # else its images tell
        labels = tuple(len(range(side)[cut]) for side, cut in zip(shape[1:], self.part))
        self.need(
            not part.dim or labels == tuple(part.dim),
            f"label_slice of {list(part.dim)} reaches beyond images of {shape[1]}x{shape[2]}",
        )
        top[0].reshape(p.batch_size, *shape)
        top[1].reshape(p.batch_size, 1, *labels)

    def items(self, path: str) -> Items:
        """What a list names, or the records of a data base."""
        if self.param.image_label_data_param.HasField("backend"):
            return open_records(path)
        return [word for line in read_lines(path, "the list", "a path in each line") for word in line.split()]

    def open(self) -> Loader:
        p = self.param.image_label_data_param
        images, labels = self.items(p.image_list_path), self.items(p.label_list_path)
        if len(images) != len(labels):
            raise DataError(
                f"{p.image_list_path} has {len(images)} images, {p.label_list_path} has {len(labels)} maps of labels"
            )
        both = p.data_dir if not (p.image_dir or p.label_dir) else ""
        source = LabelledImages(
            images, labels, (p.image_dir or both, p.label_dir or both), p, self.param.transform_param, self.crop, self.part,
            self.plain, self.phase == "TRAIN", str(self),
        )  # fmt: skip
        return self.make_loader(source, self.make_order(len(images), p.shuffle, p.rand_skip), p.batch_size)
