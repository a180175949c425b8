"""Data: batches of pictures and labels from an LMDB of Caffe's Datum records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...data.loader import Loader, Source
from ...data.records import Records, open_records, parse, picture_of
from ...data.transform import Transform
from ...device import Blob
from ...proto import Datum
from .batches import BatchLayer, Numpy, stack


@dataclass
class DatumSource(Source):
    """Pictures and labels of an LMDB of Datum records."""

    records: Records
    transform: Transform
    layer: str
    tops: int

    def load(self, index: int, rng: np.random.Generator) -> tuple[Numpy, int]:
        what = self.name(index)
        datum = parse(Datum(), self.records[index], what)
        return self.transform(picture_of(datum, self.transform.color, what), rng)[0], datum.label

    def collate(self, samples: Sequence[tuple[Numpy, int]]) -> list[Numpy]:
        pictures = stack([picture for picture, _ in samples], self.layer)
        return [pictures, np.array([label for _, label in samples], np.float32)][: self.tops]

    def name(self, index: int) -> str:
        return self.records.name(index)


class Data(BatchLayer, type="Data", param=("data_param", "transform_param"), bottoms=0, tops=(1, 2)):
    """Pictures (batch, channels, height, width), and labels (batch).

    data_param { source: "train_lmdb" backend: LMDB batch_size: 64 }: records in the order of their keys, round and round;
    `shuffle: true` (of NVIDIA's fork) draws another order for each round, rand_skip starts at one drawn below it. prefetch:
    how many batches are made ahead. transform_param: mean, scale, crop, mirror, and SSD's resize and noise. A record that
    cannot be read is named in a warning and left out. Source: Caffe.
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
