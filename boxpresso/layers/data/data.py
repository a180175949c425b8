"""Data: batches of pictures and labels from an LMDB of Caffe's Datum records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.loader import Loader, RecordSource
from ...data.records import Records, open_records, parse, picture_of
from ...data.transform import Transform
from ...device import Blob
from ...proto import Datum
from .batches import BatchLayer, Numpy, stack


@dataclass
class DatumSource(RecordSource):
    """Pictures and labels of an LMDB of Datum records."""

    records: Records
    transform: Transform
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, int]:
        name = self.name(index)
        datum = parse(Datum(), self.records[index], name)
        return self.transform(picture_of(datum, self.transform.color, name), rng)[0], datum.label

    def collate(self, samples: Sequence[tuple[Numpy, int]]) -> list[Numpy]:
        pictures = stack([picture for picture, _ in samples], self.layer)
        return [pictures, np.array([label for _, label in samples], np.float32)][: self.tops]

    def name(self, index: int) -> str:
        return self.records.name(index)


class Data(BatchLayer, type="Data", param=("data_param", "transform_param"), bottoms=0, tops=(1, 2)):
    """Batches of pictures and labels from an LMDB of Caffe's Datum records.

    Records come in the order of their keys, round after round. `shuffle` draws another order for each round;
    `rand_skip` starts at a record whose number is drawn below it. A record that cannot be read is named in a warning
    and left out. The data are opened when the first batch is asked for, or when only they know a shape.

    Parameters
    ----------
    data_param
        `source` (required): the folder of the LMDB. `backend`: LMDB. `batch_size` (required). `shuffle` (false), of
        NVIDIA's fork. `rand_skip` (0). `prefetch` (4): how many batches are made ahead.
    transform_param
        `mean_file` or `mean_value`, `scale` (1), `crop_size` (0, no crop), `mirror` (false), and SSD's `resize_param`
        and `noise_param`.

    Returns
    -------
    top 0
        (batch, channels, height, width), the pictures.
    top 1
        Optional. (batch), the labels.

    Raises
    ------
    LayerError
        For a missing source or batch_size, parameters that do not fit, or an LMDB that cannot be read.

    Source
    ------
    Caffe.

    Examples
    --------
    The shapes are known before the data are opened:

    >>> from boxpresso import Net
    >>> from boxpresso.proto import parse_net
    >>> net = Net(parse_net('''layer { name: "data" type: "Data" top: "data" top: "label"
    ...     data_param { source: "train_lmdb" backend: LMDB batch_size: 64 }
    ...     transform_param { force_color: true crop_size: 32 mean_value: 128 } }'''), device="cpu")
    >>> net.blobs["data"].shape, net.blobs["label"].shape
    ((64, 3, 32, 32), (64,))
    """

    def setup(self, bottom: list[Blob], top: list[Blob]) -> None:
        param = self.param.data_param
        self.need(param.source, "give data_param { source: .. }, the LMDB to read")
        self.need(param.batch_size > 0, f"batch_size must be 1 or more, got {param.batch_size}")
        self.transform = self.make_transform()
        self.count = len(top)
        shape = self.transform.shape()
        if shape is None:
            shape = self.first()[0].shape  # its records tell
        top[0].reshape(param.batch_size, *shape)
        if len(top) > 1:
            top[1].reshape(param.batch_size)

    def open(self) -> Loader:
        param = self.param.data_param
        records = open_records(param.source)
        source = DatumSource(records, self.transform, str(self), self.count)
        order = self.make_order(len(records), param.shuffle, param.rand_skip)
        return self.make_loader(source, order, param.batch_size, param.prefetch)
