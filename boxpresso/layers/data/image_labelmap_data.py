"""ImageLabelmapData: HED's batches of images and of maps of edges, from a list of pairs of files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.errors import BrokenRecord
from ..core.param_str import settings
from .batches import Numpy
from .pairs import PairData, PairSource, read_pair, read_pairs

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
class LabelmapSource(PairSource):
    """Images and maps of labels of a list of pairs of files."""

    rule: str

    def load(self, index: int, rng: np.random.Generator) -> list[Numpy]:
        paths = [self.param.root_folder + name for name in self.pairs[index]]
        image, labels = read_pair(paths[0], paths[1], self.param)
        mirror = self.geometry.mirror and bool(rng.integers(2))
        if min(image.shape[:2]) < self.crop[0]:
            size = f"{image.shape[1]}x{image.shape[0]}"
            raise BrokenRecord(f"{paths[0]} of {size} is smaller than the crop {self.crop[0]}")
        parts = self.transform(image, rng)[0], marks(labels, self.rule).transpose(2, 0, 1)
        return self.cut(parts, mirror, rng)


class ImageLabelmapData(
    PairData,
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

    def check(self) -> None:
        t = self.param.transform_param
        others = t.resize_param or t.noise_param or t.crop_h or t.crop_height or t.scale_factors
        self.need(not others, "transform_param takes crop_size, mirror, mean_value, mean_file and scale here")
        self.rule = settings(self, {"labels": "hed"})["labels"]
        self.need(self.rule in RULES, f"labels must be one of {', '.join(RULES)}, got {self.rule!r}")

    def make_source(self) -> LabelmapSource:
        p, t = self.param.image_data_param, self.param.transform_param
        return LabelmapSource(read_pairs(p.source, "map"), p, t, self.crop, self.plain, str(self), self.rule)
