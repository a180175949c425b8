"""The data layers of FCN: pictures of five data sets with their labels for each pixel, one picture at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.lines import read_lines, words_of
from ...data.loader import Loader, Order, RecordSource
from ...data.mat import read_mat
from ...data.picture import decode, read_numbers
from ...device import Blob
from ..core.param_str import settings
from .batches import BatchLayer, Numpy

Reader = Callable[[str], Numpy]  # of a path: (channels, height, width)
Parts = dict[str, tuple[str, Reader]]  # by what a top is called: its files, with * for the name, and how one is read

VOID = 255  # the label of what belongs to no class
RENAMED = {"diningtable": "table", "bedcloth": "bedclothes", "clothes": "cloth"}  # the same class, of 59 and of all
CONTEXT_MEAN = np.array([104.007, 116.669, 122.679], np.float32)
COLOR_MEAN = np.array([116.190, 97.203, 92.318], np.float32)
HHA_MEAN = np.array([132.431, 94.076, 118.477], np.float32)
DEPTH_MEAN = np.array([7.844], np.float32)
SIFT_MEAN = np.array([114.578, 115.294, 108.353], np.float32)
SIFT_FOLDER = "spatial_envelope_256x256_static_8outdoorcategories"


class Drawn(Order):
    """Which record comes at a place: each is drawn from all, by Python's `random` with a seed."""

    def __init__(self, count: int, seed: int | float | str) -> None:
        super().__init__(count, True, 0)
        self.start = seed

    def __getitem__(self, place: int) -> int:
        return draws(self.start, self.count, place.bit_length())[place]


@lru_cache(8)
def draws(seed: int | float | str, count: int, bits: int) -> list[int]:
    """The first 2 ** bits numbers below `count`, as `random.randint` gives them after `random.seed(seed)`."""
    tool = random.Random(seed)
    return [tool.randint(0, count - 1) for _ in range(1 << bits)]


@dataclass
class FolderSource(RecordSource):
    """Pictures and labels of a data set, by the names of its split."""

    names: list[str]
    parts: Parts

    def load(self, index: int, rng: np.random.Generator) -> list[Numpy]:
        name, parts = self.names[index], {}
        for part_name, (path, read) in self.parts.items():
            before, _, after = path.rpartition("*")
            parts[part_name] = read(f"{before}{name}{after}")
        first, size = next((part_name, part.shape[1:]) for part_name, part in parts.items())
        for part_name, part in parts.items():
            if part.shape[1:] != size:
                height, width = part.shape[1:]
                raise BrokenRecord(f"{name}: its {part_name} is {width}x{height}, its {first} is {size[1]}x{size[0]}")
        return list(parts.values())

    def collate(self, samples: Sequence[list[Numpy]]) -> list[Numpy]:
        return [part[None] for part in samples[0]]

    def name(self, index: int) -> str:
        return self.names[index]


def read_image(mean: Numpy, path: str, bgr: bool = True) -> Numpy:
    """A picture (3, H, W) minus the mean, as blue, green, red or as it is stored."""
    pixels = decode(Path(path), True)
    values = (pixels if bgr else pixels[..., ::-1]).astype(np.float32)
    values -= mean
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def read_depth(path: str) -> Numpy:
    """The logarithm (1, H, W) of a map of depths, minus its mean."""
    values = read_numbers(Path(path)).astype(np.float32)
    if not (values > 0).all():
        raise BrokenRecord(f"{path} has the depth {values.min():g}, of which there is no logarithm")
    return (np.log(values) - DEPTH_MEAN)[None]


def read_labels(path: str) -> Numpy:
    """A map of labels (1, H, W) of a picture file."""
    return plain_labels(read_numbers(Path(path)), path)


def read_mat_labels(variables: tuple[str, ...], path: str, less: int = 0) -> Numpy:
    """The same of a variable of a MATLAB file; each `less` lower, below 0 is VOID."""
    return plain_labels(read_mat(path, *variables), f"{'.'.join(variables)} of {path}", less)


def plain_labels(values: Numpy, subject: str, less: int = 0) -> Numpy:
    """The same of the numbers. Raises BrokenRecord where they are no labels."""
    if values.ndim != 2:
        raise BrokenRecord(f"{subject} must have two dimensions, it has the shape {values.shape}")
    whole = (values == np.rint(values)) & (values >= 0) & (values <= VOID)
    if not whole.all():
        raise BrokenRecord(f"{subject} has the label {values[~whole][0]}; labels are whole numbers from 0 to {VOID}")
    return ((values.astype(np.int64) - less) % (VOID + 1))[None].astype(np.float32)


def read_geometry(path: str) -> Numpy:
    """SIFT Flow's geometric labels (1, H, W): 1 to 3 become 0 to 2, 0 and -1 VOID."""
    values = read_mat(path, "S")
    return plain_labels(np.where(values == -1, 0, values), f"S of {path}", 1)


def read_context(table: Numpy, path: str) -> Numpy:
    """PASCAL-Context's labels (1, H, W): of its 459 those of the task, 0 the others."""
    values = read_mat(path, "LabelMap")
    if values.ndim != 2:
        raise BrokenRecord(f"LabelMap of {path} must have two dimensions, it has the shape {values.shape}")
    known = (values == np.rint(values)) & (values >= 0) & (values < len(table))
    return np.where(known, table[np.where(known, values, 0).astype(np.int64)], 0)[None].astype(np.float32)


def context_table(folder: str) -> Numpy:
    """Which label of the task each label of PASCAL-Context is, from labels.txt and 59_labels.txt in its folder."""
    everything, task = (read_classes(f"{folder}/{name}") for name in ("labels.txt", "59_labels.txt"))
    table = np.zeros(len(everything) + 1, np.int64)
    for label, name in enumerate(task, 1):
        full = RENAMED.get(name, name)
        if full not in everything:
            raise DataError(f"{folder}/59_labels.txt has the class {name!r}, which is not in labels.txt")
        table[everything.index(full) + 1] = label
    return table


def read_classes(path: str) -> list[str]:
    """The names in lines `number: name`, without their blanks."""
    names = []
    for number, line in enumerate(read_lines(path, "the classes", "have lines `number: name`"), 1):
        if line.strip():
            _, colon, name = line.partition(":")
            if not colon:
                raise DataError(f"{path}, line {number}: it must be `number: name`, it is {words_of(line)}")
            names.append(name.replace(" ", "").strip())
    return names


def read_names(path: str) -> list[str]:
    """The names of the pictures of a split. Raises DataError that names the file."""
    names = [line.strip() for line in read_lines(path, "the list", "name a picture in each line") if line.strip()]
    if not names:
        raise DataError(f"the list {path!r} is empty")
    return names


class FCNData(BatchLayer):
    """What the five have in common: settings in param_str, the names of a split, and the order in which pictures come.

    A subclass has the settings that it requires beside `split`, the first of them its folder, and the list of a split in it.
    """

    required: ClassVar[tuple[str, ...]]
    split_list: ClassVar[str] = "{split}.txt"
    _refuse_broken = True  # as the layers of FCN do: who tests on a split counts on each of its pictures

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        needed = ("split", *self.required)
        options = self.settings = settings(self, {"randomize": True, "seed": None, **dict.fromkeys(needed)})
        for name in needed:
            self.need(options[name] not in (None, "", []), f"give {name!r} in param_str")
        seed = options["seed"]
        self.need(seed is None or isinstance(seed, (int, float, str)), f"seed must be a number, got {seed!r}")
        for blob, part in zip(top, self.first()):
            blob.reshape(1, *part.shape)

    def parts(self, folder: str) -> Parts:
        """What the tops are, of the pictures in a folder."""
        raise NotImplementedError(f"{self} has no parts")

    def open(self) -> Loader:
        options = self.settings
        folder = options[self.required[0]]
        names = read_names(f"{folder}/{self.split_list.format(split=options['split'])}")
        order = self.make_order(len(names), False)
        if "train" in str(options["split"]) and options["randomize"]:
            seed = int(self.rng.integers(2**31)) if options["seed"] is None else options["seed"]
            order = Drawn(len(names), seed)
        return self.make_loader(FolderSource(names, self.parts(folder)), order, 1)

    def mean(self) -> Numpy:
        """The setting `mean`."""
        value = self.settings["mean"]
        try:
            mean = np.array(value, np.float64)
        except (TypeError, ValueError):
            mean = np.zeros(0)
        self.need(mean.size in (1, 3) and mean.ndim < 2, f"mean must be three numbers, blue, green, red; got {value!r}")
        return mean


class VOCSegData(FCNData, type="VOCSegData", param=("python_param", "transform_param"), bottoms=0, tops=2):
    """Pictures of a PASCAL VOC folder and the classes of their pixels, one picture at a time.

    Each batch has the size of its picture. In a split whose name has "train" in it each picture is drawn from all;
    otherwise, or with `randomize: False`, they come in the order of the list, round after round. A file that cannot be
    used is an error that names it.

    Parameters
    ----------
    python_param
        Such as python_param { param_str: "{'voc_dir': 'VOC2011', 'split': 'train', 'seed': 1337, 'mean': (104.00699,
        116.66877, 122.67892)}" }. `param_str`: a text with the settings `voc_dir` (required): the folder that holds
        JPEGImages, SegmentationClass and ImageSets/Segmentation. `split` (required): the name of a list in
        ImageSets/Segmentation. `mean` (required): blue, green, red. `randomize` (True). `seed` (None): for Python's
        `random`, whose `randint` draws the pictures; None takes the seed of the net.

    Returns
    -------
    top 0
        (1, 3, height, width), the picture, blue, green, red, minus the mean.
    top 1
        (1, 1, height, width), the labels: what the PNG stores, of a palette its indices.

    Raises
    ------
    LayerError
        For settings that are missing or do not fit, a list that cannot be read, a picture or labels that cannot be
        read, or labels of another size.

    Source
    ------
    fcn.berkeleyvision.org, voc_layers.VOCSegDataLayer; with Python 3's `random`.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> Net(parse_net('''layer { name: "data" type: "VOCSegData" top: "data" top: "label"
    ...     python_param { param_str: "{'voc_dir': 'VOC2011', 'split': 'val', 'mean': (104, 117, 123)}" } }'''),
    ...     device="cpu")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    boxpresso.proto.errors.LayerError: ... cannot read the list 'VOC2011/ImageSets/Segmentation/val.txt': ...
    """

    replaces = ("voc_layers.VOCSegDataLayer",)
    required = ("voc_dir", "mean")
    split_list = "ImageSets/Segmentation/{split}.txt"

    def parts(self, folder: str) -> Parts:
        return {
            "picture": (f"{folder}/JPEGImages/*.jpg", partial(read_image, self.mean())),
            "labels": (f"{folder}/SegmentationClass/*.png", read_labels),
        }


class SBDDSegData(FCNData, type="SBDDSegData", param=("python_param", "transform_param"), bottoms=0, tops=2):
    """Pictures of the Semantic Boundaries Dataset and the classes of their pixels, one picture at a time.

    Pictures come as those of VOCSegData.

    Parameters
    ----------
    python_param
        `param_str` as of VOCSegData, with `sbdd_dir` (required): the folder `dataset`, which holds img, cls and the lists.

    Returns
    -------
    top 0, top 1
        As of VOCSegData; the labels are GTcls.Segmentation of the MATLAB file.

    Raises
    ------
    LayerError
        As VOCSegData.

    Source
    ------
    fcn.berkeleyvision.org, voc_layers.SBDDSegDataLayer; with Python 3's `random`.
    """

    replaces = ("voc_layers.SBDDSegDataLayer",)
    required = ("sbdd_dir", "mean")

    def parts(self, folder: str) -> Parts:
        return {
            "picture": (f"{folder}/img/*.jpg", partial(read_image, self.mean())),
            "labels": (f"{folder}/cls/*.mat", partial(read_mat_labels, ("GTcls", "Segmentation"))),
        }


class PASCALContextSegData(
    FCNData, type="PASCALContextSegData", param=("python_param", "transform_param"), bottoms=0, tops=2
):
    """Pictures of PASCAL VOC 2010 with the 59 classes of PASCAL-Context, one picture at a time.

    Pictures come as those of VOCSegData. A label of PASCAL-Context that is none of the 59 is 0.

    Parameters
    ----------
    python_param
        `param_str` as of VOCSegData, without `mean`; `voc_dir` (required) holds VOC2010, `split` (required) names a list
        in VOC2010/ImageSets/Main; `context_dir` (required): the folder that holds trainval, labels.txt and 59_labels.txt.

    Returns
    -------
    top 0, top 1
        As of VOCSegData, with the mean 104.007, 116.669, 122.679; the labels are LabelMap of the MATLAB file, its classes
        numbered as in 59_labels.txt.

    Raises
    ------
    LayerError
        As VOCSegData, and for a class of 59_labels.txt that is not in labels.txt.

    Source
    ------
    fcn.berkeleyvision.org, pascalcontext_layers.PASCALContextSegDataLayer; with Python 3's `random`.
    """

    replaces = ("pascalcontext_layers.PASCALContextSegDataLayer",)
    required = ("voc_dir", "context_dir")
    split_list = "VOC2010/ImageSets/Main/{split}.txt"

    def parts(self, folder: str) -> Parts:
        context = self.settings["context_dir"]
        return {
            "picture": (f"{folder}/VOC2010/JPEGImages/*.jpg", partial(read_image, CONTEXT_MEAN)),
            "labels": (f"{context}/trainval/*.mat", partial(read_context, context_table(context))),
        }


class NYUDSegData(FCNData, type="NYUDSegData", param=("python_param", "transform_param"), bottoms=0, tops=(1, 4)):
    """Pictures, depths and labels of NYUDv2, one picture at a time.

    Pictures come as those of VOCSegData.

    Parameters
    ----------
    python_param
        `param_str` as of VOCSegData, without `mean`, with `nyud_dir` (required): the folder that holds data/images,
        data/depth, data/hha, segmentation and the lists; `tops` (required): what each top is, of color, depth, hha and
        label.

    Returns
    -------
    top 0, ...
        In the order of `tops`. color: (1, 3, height, width), blue, green, red, minus 116.190, 97.203, 92.318. depth:
        (1, 1, height, width), the natural logarithm minus 7.844. hha: (1, 3, height, width), in the order of the file,
        minus 132.431, 94.076, 118.477. label: (1, 1, height, width), the 40 classes from 0, and 255 for none.

    Raises
    ------
    LayerError
        As VOCSegData, and for `tops` that are unknown or not as many as the layer has, or a depth of 0.

    Source
    ------
    fcn.berkeleyvision.org, nyud_layers.NYUDSegDataLayer; with Python 3's `random`.
    """

    replaces = ("nyud_layers.NYUDSegDataLayer",)
    required = ("nyud_dir", "tops")

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.count = len(top)
        super().setup(bottom, top)

    def parts(self, folder: str) -> Parts:
        tops, labels = self.settings["tops"], partial(read_mat_labels, ("segmentation",), less=1)
        known: Parts = {
            "color": (f"{folder}/data/images/img_*.png", partial(read_image, COLOR_MEAN)),
            "depth": (f"{folder}/data/depth/img_*.png", read_depth),
            "hha": (f"{folder}/data/hha/img_*.png", partial(read_image, HHA_MEAN, bgr=False)),
            "label": (f"{folder}/segmentation/img_*.mat", labels),
        }
        self.need(isinstance(tops, (list, tuple)), f"tops must be a list of {', '.join(known)}, got {tops!r}")
        wrong = [name for name in tops if name not in known]
        self.need(not wrong, f"tops has {wrong and wrong[0]!r}, it may have {', '.join(known)}")
        self.need(len(set(tops)) == len(tops), f"tops has one twice: {tops}")
        self.need(len(tops) == self.count, f"tops names {len(tops)} tops, the layer has {self.count}")
        return {name: known[name] for name in tops}


class SIFTFlowSegData(FCNData, type="SIFTFlowSegData", param=("python_param", "transform_param"), bottoms=0, tops=3):
    """Pictures of SIFT Flow with the classes and the geometry of their pixels, one picture at a time.

    Pictures come as those of VOCSegData.

    Parameters
    ----------
    python_param
        `param_str` as of VOCSegData, without `mean`, with `siftflow_dir` (required): the folder that holds Images,
        SemanticLabels, GeoLabels and the lists.

    Returns
    -------
    top 0
        As of VOCSegData, with the mean 114.578, 115.294, 108.353.
    top 1
        (1, 1, height, width), the 33 classes from 0, and 255 for none: S of the MATLAB file, less 1.
    top 2
        (1, 1, height, width), the three kinds of surface from 0, and 255 for none, which the file has as 0 or -1.

    Raises
    ------
    LayerError
        As VOCSegData.

    Source
    ------
    fcn.berkeleyvision.org, siftflow_layers.SIFTFlowSegDataLayer; with Python 3's `random`.
    """

    replaces = ("siftflow_layers.SIFTFlowSegDataLayer",)
    required = ("siftflow_dir",)

    def parts(self, folder: str) -> Parts:
        labels = partial(read_mat_labels, ("S",), less=1)
        return {
            "picture": (f"{folder}/Images/{SIFT_FOLDER}/*.jpg", partial(read_image, SIFT_MEAN)),
            "labels": (f"{folder}/SemanticLabels/{SIFT_FOLDER}/*.mat", labels),
            "geometric labels": (f"{folder}/GeoLabels/{SIFT_FOLDER}/*.mat", read_geometry),
        }
