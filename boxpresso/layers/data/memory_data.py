"""MemoryData: batches from arrays that the caller gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.errors import DataError
from ...data.transform import Transform
from ...device import Blob
from ..core import Layer
from .batches import Numpy


class MemoryData(Layer, type="MemoryData", param=("memory_data_param", "transform_param"), bottoms=0, tops=(1, 2)):
    """Batches from arrays that the caller gives, in turn, round after round.

    `set_input_arrays` gives the arrays as they are to be, like pycaffe's; `add_pictures` takes pictures through
    transform_param, like Caffe's AddMatVector.

    Parameters
    ----------
    memory_data_param
        `batch_size`, `channels`, `height`, `width` (required).
    transform_param
        As for Data; only for `add_pictures`.

    Returns
    -------
    top 0
        (batch, channels, height, width), the pictures.
    top 1
        Optional. (batch), the labels.

    Raises
    ------
    LayerError
        For a size that is missing, arrays that do not fit, a number of pictures that is no multiple of batch_size, or a
        forward pass without data.

    Source
    ------
    Caffe.

    Examples
    --------
    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "MemoryData" top: "data" top: "label"
    ...     memory_data_param { batch_size: 2 channels: 1 height: 1 width: 1 } }'''), device="cpu")
    >>> net.layers[0].set_input_arrays([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [5, 6, 7, 8])
    >>> [net.forward()["label"].tolist() for _ in range(3)]
    [[5.0, 6.0], [7.0, 8.0], [5.0, 6.0]]
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.memory_data_param
        self.batch_size = param.batch_size
        self.shape = (param.channels, param.height, param.width)
        self.need(
            self.batch_size > 0 and min(self.shape) > 0,
            f"give batch_size, channels, height and width, each 1 or more; got {self.batch_size} and {self.shape}",
        )
        try:
            self.transform = Transform(self.param.transform_param, self.phase)
        except DataError as error:
            self.need(False, str(error))
        self.data: Numpy | None = None
        self.labels: Numpy | None = None
        self.position = 0
        top[0].reshape(self.batch_size, *self.shape)
        if len(top) > 1:
            top[1].reshape(self.batch_size)

    def set_input_arrays(self, data: Numpy, labels: Numpy | None = None) -> None:
        """data: (N, channels, height, width); labels: N numbers, 0 for none. N must be a multiple of batch_size."""
        data = np.asarray(data)
        labels = np.zeros(len(data)) if labels is None else np.asarray(labels)
        self.need(data.shape[1:] == self.shape, f"the data must have the shape {('N', *self.shape)}, got {data.shape}")
        self.need(labels.size == len(data), f"there are {len(data)} pictures and {labels.size} labels")
        self.need(
            len(data) and len(data) % self.batch_size == 0,
            f"the number of pictures must be a multiple of batch_size {self.batch_size}, got {len(data)}",
        )
        self.data, self.labels, self.position = data, labels.reshape(-1), 0

    def add_pictures(self, pictures: list[Numpy], labels: Numpy | None = None) -> None:
        """Pictures uint8 (H, W, C), blue, green, red, that go through transform_param; they replace those before."""
        try:
            values = [self.transform(picture, self.rng)[0] for picture in pictures]
        except DataError as error:
            self.need(False, str(error))
        shapes = {each.shape for each in values}
        self.need(
            shapes == {self.shape}, f"transformed pictures must have the shape {self.shape}, got {sorted(shapes)}"
        )
        self.set_input_arrays(np.stack(values), labels)

    @property
    def batch_number(self) -> int:
        """The number of the next batch in the arrays; set it to resume."""
        return self.position // int(self.batch_size)

    @batch_number.setter
    def batch_number(self, number: int) -> None:
        self.position = number * self.batch_size % max(1, 0 if self.data is None else len(self.data))

    def resume(self, passes: int) -> None:
        super().resume(passes)
        self.batch_number = passes

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """The tops keep the shapes of memory_data_param."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        self.need(self.data is not None, "there are no data yet; call set_input_arrays of this layer before forward")
        assert self.data is not None
        assert self.labels is not None
        rows = slice(self.position, self.position + self.batch_size)
        top[0].data[...] = self.data[rows]
        if len(top) > 1:
            top[1].data[...] = self.labels[rows]
        self.position = (self.position + self.batch_size) % len(self.data)

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is no bottom."""
