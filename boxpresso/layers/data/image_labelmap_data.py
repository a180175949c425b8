"""ImageLabelmapData: HED's batches of images and of maps of edges, from a list of pairs of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.loader import Loader, Source
from ...data.transform import Transform
from ...device import Blob
from ..core.param_str import settings
from .batches import BatchLayer, Numpy, stack
from .pairs import read_pair, read_pairs, windows, without_geometry

SCALES = (1, 10, 26, 60, 150)  # DeepSkeleton's: from which value on a pixel has the label 1, 2, 3, 4, and 0 again
RULES = ("hed", "rcf", "skeleton")


def marks(values: Numpy, rule: str) -> Numpy:
    """The labels of the bytes of a map.

    >>> values = np.array([0, 1, 127, 128, 255], np.uint8)
    >>> marks(values, "hed").tolist(), marks(values, "skeleton").tolist()
    ([0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 4.0, 4.0, 0.0])
    """
    if rule == "hed":
        return np.asarray(values >= 128, np.float32)  # v / 255, rounded
    if rule == "rcf":
        return np.asarray(values / np.float32(255), np.float32)
    labels: Numpy = np.array([0, 1, 2, 3, 4, 0], np.float32)[np.searchsorted(SCALES, values, "right")]
    return labels


@dataclass
class LabelmapSource(Source):
    """Images and maps of labels of a list of pairs of files."""

    pairs: list[tuple[str, str]]
    param: Any  # an ImageDataParameter
    crop: int
    mirror: bool
    rule: str
    transform: Transform  # mean and scale
    layer: str

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Numpy]:
        paths = [self.param.root_folder + name for name in self.pairs[index]]
        image, labels = read_pair(paths[0], paths[1], self.param)
        mirror = self.mirror and bool(rng.integers(2))
        if self.crop and min(image.shape[:2]) < self.crop:
            raise BrokenRecord(f"{paths[0]} of {image.shape[1]}x{image.shape[0]} is smaller than the crop {self.crop}")
        rows, columns = windows(image.shape[:2], (self.crop, self.crop), rng)
        step = slice(None, None, -1) if mirror else slice(None)
        parts = self.transform(image, rng)[0], marks(labels, self.rule).transpose(2, 0, 1)
        values, wanted = (np.ascontiguousarray(part[:, rows, columns][..., step]) for part in parts)
        return values, wanted

    def collate(self, samples: Sequence[tuple[Numpy, Numpy]]) -> list[Numpy]:
        return [stack([sample[i] for sample in samples], self.layer) for i in (0, 1)]

    def name(self, index: int) -> str:
        return self.pairs[index][0]


class ImageLabelmapData(
    BatchLayer,
    type="ImageLabelmapData",
    param=("image_data_param", "transform_param", "python_param"),
    bottoms=0,
    tops=2,
):
    """Batches of images and of maps of edges, from a list of pairs of files.

    Pairs come in the order of the list, round after round; `shuffle` draws another order for each round. An image and its
    map are resized (linearly), cut and mirrored alike; a crop is drawn in both phases. A file that cannot be used is
    an error that names it.

    Parameters
    ----------
    image_data_param
        `source` (required): a text file; each line holds the paths of an image and of its map. `root_folder` (""): goes
        before each path. `batch_size` (1), `shuffle` (false), `rand_skip` (0), `new_height`, `new_width` (0),
        `is_color` (true).
    transform_param
        `crop_size`, `mirror` (false); `mean_value` or `mean_file`, and `scale`, of the image alone.
    python_param
        Optional. `param_str` such as "{'labels': 'rcf'}", for the programs whose layers of this name differ: `labels`
        ("hed"): what a grey value v means. hed: an edge (1) where v / 255 rounds to 1; rcf: v / 255; skeleton:
        DeepSkeleton's scales, 1 from 1, 2 from 10, 3 from 26, 4 from 60, and 0 from 150.

    Returns
    -------
    top 0
        (batch, channels, height, width), the images.
    top 1
        (batch, 1, height, width), the labels.

    Raises
    ------
    LayerError
        For a missing source, parameters that do not fit, a list that cannot be read, a picture that cannot be read, a
        map of another size, or an image smaller than the crop.

    Source
    ------
    HED's Caffe; RCF's and DeepSkeleton's by `labels`.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "ImageLabelmapData" top: "data" top: "label"
    ...     image_data_param { source: "train_pair.lst" root_folder: "HED-BSDS/" new_height: 400 new_width: 600 } }'''),
    ...     device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((1, 3, 400, 600), (1, 1, 400, 600))
    """

    _refuse_broken = True  # as the layer that it is taken from

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        p, t = self.param.image_data_param, self.param.transform_param
        self.need(p.source, "give image_data_param { source: .. }, the list of pairs")
        self.need(p.batch_size > 0, f"batch_size must be 1 or more, got {p.batch_size}")
        self.need(bool(p.new_height) == bool(p.new_width), "new_height and new_width go together")
        others = t.resize_param or t.noise_param or t.crop_h or t.crop_height or t.scale_factors
        self.need(not others, "transform_param takes crop_size, mirror, mean_value, mean_file and scale here")
        self.rule = settings(self, {"labels": "hed"})["labels"]
        self.need(self.rule in RULES, f"labels must be one of {', '.join(RULES)}, got {self.rule!r}")
        try:
            self.plain = Transform(without_geometry(t), "TEST")
        except DataError as error:
            self.need(False, str(error))
        size = (t.crop_size, t.crop_size) if t.crop_size else (p.new_height, p.new_width)
        if not size[0]:
            size = self.first()[0].shape[1:]  # its images tell
        for blob, channels in zip(top, (3 if p.is_color else 1, 1)):
            blob.reshape(p.batch_size, channels, *size)

    def open(self) -> Loader:
        p, t = self.param.image_data_param, self.param.transform_param
        pairs = read_pairs(p.source, "map")
        source = LabelmapSource(pairs, p, t.crop_size, t.mirror, self.rule, self.plain, str(self))
        return self.make_loader(source, self.make_order(len(pairs), p.shuffle, p.rand_skip), p.batch_size)
