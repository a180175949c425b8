"""The base of layers whose batches are made on the host, ahead of time: Data, AnnotatedData, ImageData, WindowData, RoIData."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.errors import BrokenRecord, DataError
from ...data.loader import Loader, Order, RecordSource
from ...data.transform import Transform
from ...device.blob import Blob
from ..core.layer import Layer

Numpy = np.ndarray[Any, Any]


class BatchLayer(Layer):
    """A layer whose batches a Loader makes, which the subclass's `open` returns.

    The data are opened when the first batch is asked for, or a shape that only they know, so that a net can be looked at
    without them.

    Attributes
    ----------
    waited
        The share of the time since the first batch that was spent waiting for one.
    broken
        The records that were skipped, {number: what was wrong}.
    batch_number
        The number of the next batch; set it to resume.
    workers
        Who makes batches: "processes:2", "threads", or 0 for this thread; it changes nothing but the speed. "auto" takes
        threads where a batch costs little, and processes where it costs more. The environment variable BOXPRESSO_WORKERS
        goes before it.
    refuse_broken
        Whether a broken record is an error; else the one after it takes its place, with a warning.
    """

    _workers: int | str = "auto"
    _refuse_broken = False
    _share = (0, 1)
    _loader: Loader | None = None

    def open(self) -> Loader:
        """Opens the data and returns their Loader, of `make_loader`."""
        raise NotImplementedError(f"{self} has no open")

    @property
    def loader(self) -> Loader:
        if self._loader is None:
            try:
                self._loader = self.open()
            except DataError as error:
                self.need(False, str(error))
        assert self._loader is not None
        return self._loader

    def make_loader(self, source: RecordSource, order: Order, batch: int, ahead: int = 4) -> Loader:
        self.need(order.count > 0, "there is no record to read")
        seed = int(self.rng.integers(2**31))
        loader = Loader(source, order, batch, seed=seed, ahead=ahead, workers=self._workers, refuse=self._refuse_broken)
        loader.set_share(*self._share)
        return loader

    def make_order(self, count: int, shuffle: bool, rand_skip: int = 0) -> Order:
        """Records in turn or shuffled; the first is drawn below rand_skip."""
        skip = int(self.rng.integers(rand_skip)) if rand_skip else 0
        return Order(count, shuffle, int(self.rng.integers(2**31)), skip)

    def make_transform(self) -> Transform:
        try:
            return Transform(self.param.transform_param, self.phase)
        except DataError as error:
            self.need(False, str(error))
            raise

    def first(self) -> Any:
        """The sample of the first record that can be read, for the shapes of what follows."""
        order, source, last = self.loader.maker.order, self.loader.maker.source, ""
        for place in range(order.count):
            try:
                return source.load(order[place], np.random.default_rng(0))
            except BrokenRecord as error:
                last = str(error)
                self.need(not self.refuse_broken, last)
            except DataError as error:
                self.need(False, f"{source.name(order[place])}: {error}")
        self.need(False, f"none of the {order.count} records can be read; the last one: {last}")

    @property
    def waited(self) -> float:
        return self._loader.waited if self._loader else 0.0

    @property
    def broken(self) -> dict[int, str]:
        return self._loader.broken if self._loader else {}

    @property
    def batch_number(self) -> int:
        return self._loader.batch if self._loader else 0

    @batch_number.setter
    def batch_number(self, number: int) -> None:
        self.loader.batch = number

    def share(self, rank: int, size: int) -> None:
        """Gives part `rank` of batches that are `size` times as large; the order of records is the same on all ranks."""
        self.need(0 <= rank < size, f"share takes a rank from 0 to below the number of ranks, got {rank} and {size}")
        self._share = rank, size
        if self._loader is not None:
            self._loader.set_share(rank, size)

    def reseed(self, seed: int | Sequence[int]) -> None:
        """Keeps its seed: what is drawn for a record depends on the record's place, and all ranks order them alike."""

    def resume(self, passes: int) -> None:
        super().resume(passes)
        self.batch_number = passes

    @property
    def workers(self) -> int | str:
        return self._workers

    @workers.setter
    def workers(self, workers: int | str) -> None:
        self._workers = workers
        if self._loader is not None:
            self._loader.set_workers(workers)

    @property
    def refuse_broken(self) -> bool:
        return self._refuse_broken

    @refuse_broken.setter
    def refuse_broken(self, refuse: bool) -> None:
        self._refuse_broken = refuse
        if self._loader is not None:
            self._loader.set_refuse(refuse)

    def reshape(self, bottom: list[Blob], top: list[Blob]) -> None:
        """Each batch brings its own shape."""

    def forward(self, bottom: list[Blob], top: list[Blob]) -> None:
        try:
            arrays = self.loader.next()
        except DataError as error:
            self.need(False, str(error))
        for blob, array in zip(top, arrays):
            blob.reshape(*array.shape)
            blob.data[...] = array

    def backward(self, top: list[Blob], propagate_down: Sequence[bool], bottom: list[Blob]) -> None:
        """There is no bottom."""

    def close(self) -> None:
        """Ends the workers."""
        if self._loader is not None:
            self._loader.close()


def stack(pictures: list[Numpy], layer: str) -> Numpy:
    """Pictures (C, H, W) as a batch. Raises DataError where their shapes differ."""
    shapes = {p.shape for p in pictures}
    if len(shapes) > 1:
        raise DataError(
            f"the pictures of one batch have the shapes {sorted(shapes)}; give {layer} a size (resize_param, crop_size, "
            "new_height and new_width), or batch_size: 1"
        )
    return np.stack(pictures)
