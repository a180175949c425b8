"""ImageData, MultiLabelImageData: batches of pictures and labels from a list of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.errors import DataError
from ...data.folders import read_list
from ...data.lines import read_lines, words_of
from ...data.loader import Loader, RecordSource
from ...data.picture import decode, resize
from ...data.transform import Transform
from ...device import Blob
from .batches import BatchLayer, Numpy, stack


@dataclass
class FileSource(RecordSource):
    """Pictures and labels of a list of files."""

    lines: list[tuple[str, Any]]  # a path, and its label or labels
    param: Any  # an ImageDataParameter or a MultiLabelImageDataParameter
    transform: Transform
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, Any]:
        path, label = self.lines[index]
        picture = decode(Path(self.param.root_folder + path), self.param.is_color)
        if self.param.new_height:
            picture = resize(picture, self.param.new_width, self.param.new_height)
        return self.transform(picture, rng)[0], label

    def collate(self, samples: Sequence[tuple[Numpy, Any]]) -> list[Numpy]:
        pictures = stack([picture for picture, _ in samples], self.layer)
        return [pictures, np.array([label for _, label in samples], np.float32)][: self.tops]

    def name(self, index: int) -> str:
        return self.lines[index][0]


class ListedPictures(BatchLayer):
    """What layers share that read pictures and what belongs to them from a list of files."""

    message = ""  # the one whose fields say which list, and how its pictures are read

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = getattr(self.param, self.message)
        self.need(param.source, f"give {self.message} {{ source: .. }}, the list of pictures")
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
            top[1].reshape(param.batch_size, *self.label_shape())

    def label_shape(self) -> tuple[int, ...]:
        """The shape of what belongs to one picture."""
        return ()

    def lines(self) -> list[tuple[str, Any]]:
        """For each line of the list a path, and the label or labels of its picture."""
        raise NotImplementedError(f"{self} has no lines")

    def open(self) -> Loader:
        param, lines = getattr(self.param, self.message), self.lines()
        source = FileSource(lines, param, self.transform, str(self), self.count)
        order = self.make_order(len(lines), param.shuffle, param.rand_skip)
        return self.make_loader(source, order, param.batch_size)


class ImageData(
    ListedPictures, type="ImageData", param=("image_data_param", "transform_param"), bottoms=0, tops=(1, 2)
):
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

    message = "image_data_param"

    def lines(self) -> list[tuple[str, Any]]:
        return list(read_list(self.param.image_data_param.source))


class MultiLabelImageData(
    ListedPictures,
    type="MultiLabelImageData",
    param=("multi_label_image_data_param", "transform_param"),
    bottoms=0,
    tops=2,
):
    """Batches of pictures with several labels each, from a list of files.

    As ImageData, but that each line of the list is a path, without blanks, and `label_num` numbers: classes, or coordinates,
    which crops and mirroring do not move.

    Parameters
    ----------
    multi_label_image_data_param
        `label_num` (28), and the fields of ImageData's image_data_param.
    transform_param
        As for Data.

    Returns
    -------
    top 0
        (batch, channels, height, width), the pictures.
    top 1
        (batch, label_num), the labels.

    Raises
    ------
    LayerError
        For a missing source, parameters that do not fit, a list that cannot be read, or a line with another number of labels.

    Source
    ------
    mysee1989/PG-CNN. happynear/caffe-windows has another layer of this name, with its fields in image_data_param, which also
    turns and stretches faces.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "MultiLabelImageData" top: "data" top: "label"
    ...     multi_label_image_data_param { source: "list.txt" batch_size: 12 new_height: 224 new_width: 224 label_num: 49 }
    ...     }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((12, 3, 224, 224), (12, 49))
    """

    message = "multi_label_image_data_param"

    def label_shape(self) -> tuple[int, ...]:
        return (self.param.multi_label_image_data_param.label_num,)

    def lines(self) -> list[tuple[str, Any]]:
        p, items = self.param.multi_label_image_data_param, []
        wanted = f"`path` and {p.label_num} numbers"
        for number, line in enumerate(read_lines(p.source, "the list", f"have {wanted} in each line"), 1):
            path, *labels = line.split() or [""]
            try:
                values = [float(label) for label in labels]
            except ValueError:
                values = []
            if path and len(values) != p.label_num:
                raise DataError(f"{p.source}, line {number}: it must be {wanted}, it is {words_of(line)}")
            if path:
                items.append((path, values))
        if not items:
            raise DataError(f"the list {p.source!r} is empty")
        return items
